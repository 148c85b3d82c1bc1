//! All factors of the mean field at one moment, and the update of each.
//!
//! Every update maximises the bound in its factor, all others held, so the bound never falls
//! (mathematics §6–§8).

use nalgebra::DVector;

use super::core::{Class, Core, Local};
use super::gamma::GammaFactor;
use super::gaussian::{Around, Gaussian};
use super::problem::Product;
use crate::dist::bound::Quadratic;
use crate::runtime::solution::Failure;

/// The factor, or the free parameter, of a row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum RowFactor {
    Nothing,
    /// q(λ_n)
    Scale(GammaFactor),
    /// Where the bound touches, and the bound.
    Contact(f64, Quadratic),
}

/// What a factor q(w) of a group does.
#[derive(Clone, Debug)]
pub(crate) struct GroupState {
    /// Its weights that are in the model: with a normal prior, and flat.
    pub penalised: Vec<usize>,
    pub flat: Vec<usize>,
    /// Prior precisions it was made with.
    pub precision: Vec<f64>,
    pub q: Option<Gaussian>,
    /// Its mean of f, n.
    pub f: DVector<f64>,
    /// Its variance of f, summed over the rows of each class.
    pub spread: Vec<f64>,
}

/// All factors.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// Which weights are in the model.
    pub active: Vec<bool>,
    /// ⟨w⟩, Var w and γ of each weight.
    pub mean: Vec<f64>,
    pub variance: Vec<f64>,
    pub gamma: Vec<f64>,
    pub groups: Vec<GroupState>,
    pub hypers: Vec<GammaFactor>,
    /// Point precisions whose weights have all been pruned.
    pub gone: Vec<bool>,
    pub rows: Vec<RowFactor>,
    pub jitter: f64,
}

impl State {
    /// Factors with these expectations of the hyperparameters and of the rows (⟨λ⟩, or where the bound
    /// touches); q(w) is not made yet.
    pub fn new(core: &Core, hypers: &[f64], rows: &[f64]) -> State {
        let m = core.weights.len();
        let group = |weights: &Vec<usize>| GroupState {
            penalised: Vec::new(),
            flat: weights.iter().copied().filter(|&i| core.weights[i].is_none()).collect(),
            precision: Vec::new(),
            q: None,
            f: DVector::zeros(core.y.len()),
            spread: vec![0.0; core.classes.len()],
        };
        let mut state = State {
            active: core.usable.clone(),
            mean: vec![0.0; m],
            variance: vec![0.0; m],
            gamma: vec![0.0; m],
            groups: core.groups.iter().map(group).collect(),
            hypers: Vec::new(),
            gone: vec![false; core.hypers.len()],
            rows: Vec::new(),
            jitter: 0.0,
        };
        for (h, hyper) in core.hypers.iter().enumerate() {
            state.gone[h] = hyper.point && state.scales_nothing(core, h);
        }
        state.hypers = core
            .hypers
            .iter()
            .zip(hypers)
            .enumerate()
            .map(|(h, (hyper, mean))| {
                let shape = state.shape(core, h).max(f64::MIN_POSITIVE);
                match hyper.point {
                    true => GammaFactor::point(shape, shape / mean),
                    false => GammaFactor::new(shape, shape / mean),
                }
            })
            .collect();
        state.rows = core.classes.iter().zip(rows).map(|(class, at)| row_factor(class, *at)).collect();
        state
    }

    /// Whether nothing that a hyperparameter scales is in the model.
    pub fn scales_nothing(&self, core: &Core, h: usize) -> bool {
        let hyper = &core.hypers[h];
        hyper.classes.is_empty()
            && hyper.children.is_empty()
            && hyper.weights.iter().all(|&i| !self.active[i])
    }

    /// ⟨known Π θ⟩ = known Π ⟨θ⟩
    pub fn expected(&self, product: &Product) -> f64 {
        product.ln_known.exp() * product.hypers.iter().map(|&h| self.hypers[h].mean()).product::<f64>()
    }

    /// ⟨ln (known Π θ)⟩
    pub fn expected_ln(&self, product: &Product) -> f64 {
        product.ln_known + product.hypers.iter().map(|&h| self.hypers[h].mean_ln()).sum::<f64>()
    }

    /// Precision of the rows of a class in q(w).
    pub fn row_precision(&self, core: &Core, c: usize) -> f64 {
        let class = &core.classes[c];
        match &self.rows[c] {
            RowFactor::Nothing => self.expected(&class.noise),
            RowFactor::Scale(lambda) => class.count * self.expected(&class.noise) * lambda.mean(),
            RowFactor::Contact(_, bound) => class.count * bound.curvature,
        }
    }

    /// ⟨f⟩ of each row, without its offset.
    pub fn f(&self) -> DVector<f64> {
        let mut sum = DVector::zeros(self.groups.first().map_or(0, |g| g.f.len()));
        self.groups.iter().for_each(|g| sum += &g.f);
        sum
    }

    /// Σ of the variances of f over the rows of a class.
    pub fn spread(&self, c: usize) -> f64 {
        self.groups.iter().map(|g| g.spread[c]).sum()
    }

    /// Σ (y − ⟨f⟩)² over the rows of a class, without the variances of f.
    pub fn squares(&self, core: &Core, c: usize, f: &DVector<f64>) -> f64 {
        let class = &core.classes[c];
        class.rows.clone().map(|r| (core.y[r] - f[r]).powi(2)).sum::<f64>() + class.rest
    }

    /// ⟨Σ (y − f)²⟩ over the rows of a class, weighted by case weights and ⟨λ⟩: what a noise precision
    /// sees, and the part of it that is variance of f.
    fn noise_squares(&self, core: &Core, c: usize, f: &DVector<f64>) -> (f64, f64) {
        let weight = match &self.rows[c] {
            RowFactor::Scale(lambda) => core.classes[c].count * lambda.mean(),
            _ => 1.0,
        };
        (weight * self.squares(core, c, f), weight * self.spread(c))
    }

    /// q(w) of a group.
    ///
    /// # Errors
    /// As [`Gaussian::new`].
    pub fn update_weights(&mut self, core: &Core, g: usize) -> Result<(), Failure> {
        let penalised = self.penalised(core, &core.groups[g]);
        let flat = self.groups[g].flat.clone();
        let mut others = self.f();
        others -= &self.groups[g].f;
        let (q, precision, h) = self.factor(core, (&penalised, &flat), &others)?;
        let mut f = DVector::zeros(core.y.len());
        for (&i, &mean) in penalised.iter().chain(&flat).zip(&q.mean) {
            f.axpy(mean, &core.x.column(i), 1.0);
        }
        let group = &mut self.groups[g];
        group.spread = if core.is_plain() {
            let h = h.first().copied().unwrap_or(1.0);
            vec![q.leverage() / h]
        } else {
            let rows = q.leverages();
            core.classes.iter().map(|c| c.rows.clone().map(|r| rows[r] / h[r]).sum()).collect()
        };
        (group.f, group.penalised, group.precision) = (f, penalised, precision);
        for (k, &i) in group.penalised.iter().enumerate() {
            (self.mean[i], self.variance[i], self.gamma[i]) = (q.mean[k], q.variance[k], q.gamma[k]);
        }
        for (&i, k) in flat.iter().zip(group.penalised.len()..) {
            (self.mean[i], self.variance[i], self.gamma[i]) = (q.mean[k], q.variance[k], 1.0);
        }
        self.jitter = self.jitter.max(q.jitter);
        group.q = Some(q);
        Ok(())
    }

    /// Goes to the means of f at which the factors of all groups agree: those of one factor for all weights,
    /// which separate factors approach by turns.
    ///
    /// # Errors
    /// As [`Gaussian::new`].
    pub fn agree(&mut self, core: &Core) -> Result<(), Failure> {
        let all: Vec<usize> = (0..core.weights.len()).collect();
        let penalised = self.penalised(core, &all);
        let flat: Vec<usize> = all.into_iter().filter(|&i| core.weights[i].is_none()).collect();
        let (q, ..) = self.factor(core, (&penalised, &flat), &DVector::zeros(core.y.len()))?;
        let mut mean = vec![0.0; core.weights.len()];
        penalised.iter().chain(&flat).zip(&q.mean).for_each(|(&i, m)| mean[i] = *m);
        for (group, weights) in self.groups.iter_mut().zip(&core.groups) {
            group.f.fill(0.0);
            weights.iter().for_each(|&i| group.f.axpy(mean[i], &core.x.column(i), 1.0));
        }
        Ok(())
    }

    /// Those of some weights that are in the model and have a normal prior.
    fn penalised(&self, core: &Core, weights: &[usize]) -> Vec<usize> {
        weights.iter().copied().filter(|&i| self.active[i] && core.weights[i].is_some()).collect()
    }

    /// The best factor of some weights where the others have this mean of f; prior precisions, and
    /// precisions of rows.
    fn factor(
        &self,
        core: &Core,
        (penalised, flat): (&[usize], &[usize]),
        others: &DVector<f64>,
    ) -> Result<(Gaussian, Vec<f64>, Vec<f64>), Failure> {
        let precision: Vec<f64> = penalised
            .iter()
            .map(|&i| core.weights[i].as_ref().map_or(0.0, |product| self.expected(product)))
            .collect();
        let n = core.y.len();
        let (mut h, mut target) = (vec![0.0; n], DVector::zeros(n));
        for (c, class) in core.classes.iter().enumerate() {
            let precision = self.row_precision(core, c);
            let root = precision.sqrt();
            for r in class.rows.clone() {
                h[r] = precision;
                target[r] = match (&self.rows[c], &class.local) {
                    // g f − h f²/2 with g = k (slope − curvature · offset)
                    (RowFactor::Contact(_, bound), Local::Bound(_, _, offset)) => {
                        class.count * (bound.slope - bound.curvature * (offset + others[r])) / root
                    }
                    _ => root * (core.y[r] - others[r]),
                };
            }
        }
        let around = Around { h: &h, target, penalised, precision: &precision, flat };
        Ok((Gaussian::new(core, &around)?, precision, h))
    }

    /// a~ = a + (weights + observations)/2 + Σ of the shapes of its children
    pub fn shape(&self, core: &Core, h: usize) -> f64 {
        let hyper = &core.hypers[h];
        let weights = hyper.weights.iter().filter(|&&i| self.active[i]).count() as f64;
        let rows: f64 = hyper.classes.iter().map(|&c| core.classes[c].count).sum();
        let children: f64 = hyper.children.iter().map(|&k| core.hypers[k].shape).sum();
        hyper.shape + 0.5 * (weights + rows) + children
    }

    /// b~ = ⟨b⟩ + ½ Σ ⟨precision/θ⟩⟨w²⟩ + ½ Σ ⟨precision/θ⟩⟨(t − f)²⟩ + Σ ⟨rate of a child/θ⟩⟨child⟩, and
    /// the part of it that comes from variances of w and f, times ⟨θ⟩
    fn rate(&self, core: &Core, h: usize, f: &DVector<f64>) -> (f64, f64) {
        let hyper = &core.hypers[h];
        let theta = self.hypers[h].mean();
        let (mut sum, mut spread) = (0.0, 0.0);
        for &i in hyper.weights.iter().filter(|&&i| self.active[i]) {
            let precision = core.weights[i].as_ref().map_or(0.0, |product| self.expected(product));
            sum += precision * self.mean[i].powi(2);
            spread += precision * self.variance[i];
        }
        for &c in &hyper.classes {
            let precision = self.expected(&core.classes[c].noise);
            let (squares, variance) = self.noise_squares(core, c, f);
            sum += precision * squares;
            spread += precision * variance;
        }
        let children: f64 =
            hyper.children.iter().map(|&k| self.expected(&core.hypers[k].rate) * self.hypers[k].mean()).sum();
        (self.expected(&hyper.rate) + (0.5 * sum + children) / theta + 0.5 * spread / theta, 0.5 * spread)
    }

    /// q(θ)
    pub fn update_hyper(&mut self, core: &Core, h: usize, f: &DVector<f64>) {
        if self.gone[h] {
            return;
        }
        let (rate, _) = self.rate(core, h, f);
        self.set(core, h, rate);
    }

    /// d bound / d ln⟨θ⟩ = a~ − b~⟨θ⟩, everything else held or at its best.
    pub fn slope(&self, core: &Core, h: usize, f: &DVector<f64>) -> f64 {
        self.shape(core, h) - self.rate(core, h, f).0 * self.hypers[h].mean()
    }

    /// Where the slope in ln⟨θ⟩ would vanish if γ stayed: ⟨θ⟩ = (a + ½Σγ + …)/(b + ½Σ m² + …), the form of
    /// MacKay's update. The closed form of the factor has the same fixed points, but creeps.
    pub fn proposal(&self, core: &Core, h: usize, f: &DVector<f64>) -> f64 {
        let theta = self.hypers[h].mean();
        let (rate, spread) = self.rate(core, h, f);
        let shape = self.shape(core, h);
        let well = self.well_determined(core, h).unwrap_or(shape - spread);
        let fast = well / (rate - spread / theta);
        let value = if fast.is_finite() && fast > 0.0 { fast } else { shape / rate };
        value.min(core.hypers[h].cap)
    }

    /// a + ½ Σ γ_i without cancellation, where θ scales weights only.
    fn well_determined(&self, core: &Core, h: usize) -> Option<f64> {
        let hyper = &core.hypers[h];
        if !hyper.classes.is_empty() {
            return None;
        }
        let gamma: f64 = hyper.weights.iter().filter(|&&i| self.active[i]).map(|&i| self.gamma[i]).sum();
        let children: f64 = hyper.children.iter().map(|&k| core.hypers[k].shape).sum();
        Some(hyper.shape + 0.5 * gamma + children)
    }

    /// Sets ⟨θ⟩.
    pub fn set_mean(&mut self, core: &Core, h: usize, mean: f64) {
        let rate = self.shape(core, h) / mean;
        self.set(core, h, rate);
    }

    fn set(&mut self, core: &Core, h: usize, rate: f64) {
        let shape = self.shape(core, h);
        self.hypers[h] = self.hypers[h].with(shape, rate.max(shape / core.hypers[h].cap));
    }

    /// q(λ_n), or where the bound of the row touches.
    pub fn update_row(&mut self, core: &Core, c: usize, f: &DVector<f64>) {
        self.rows[c] = row_factor(&core.classes[c], self.best_row(core, c, f));
    }

    /// ⟨λ_n⟩ of the best factor, or the best point of contact.
    pub fn best_row(&self, core: &Core, c: usize, f: &DVector<f64>) -> f64 {
        let class = &core.classes[c];
        match &class.local {
            Local::Nothing => 1.0,
            Local::Scale(half) => {
                // Gamma(ν/2 + ½, ν/2 + ½⟨τ⟩⟨r²⟩)
                let square = self.squares(core, c, f) + self.spread(c);
                (half + 0.5) / (half + 0.5 * self.expected(&class.noise) * square)
            }
            Local::Bound(link, target, offset) => {
                (link.contact)(*target, offset + f[class.rows.start], self.spread(c))
            }
        }
    }
}

/// The factor of a row with this expectation, or its bound at this point of contact.
pub(crate) fn row_factor(class: &Class, at: f64) -> RowFactor {
    match &class.local {
        Local::Nothing => RowFactor::Nothing,
        Local::Scale(half) => RowFactor::Scale(GammaFactor::new(half + 0.5, (half + 0.5) / at)),
        Local::Bound(link, target, _) => RowFactor::Contact(at, (link.quadratic)(*target, at)),
    }
}

impl RowFactor {
    /// ⟨λ⟩, or the point of contact.
    pub fn at(&self) -> f64 {
        match self {
            RowFactor::Nothing => 1.0,
            RowFactor::Scale(lambda) => lambda.mean(),
            RowFactor::Contact(at, _) => *at,
        }
    }
}
