//! What a fit says of its own data, the weights averaged over their Gaussian.

use super::problem::{LaplaceProblem, Likelihood};
use crate::dist::Outcome;
use crate::math::product::{columns_of, times};
use crate::runtime::solution::Solution;

/// Σ k ln p(y) of every unit by itself; `None` where a family offers no average, or has a precision to be learned.
pub fn hindsight(problem: &LaplaceProblem, fit: &Solution) -> Option<f64> {
    let phi = columns_of(&problem.design, &fit.active);
    let f = &phi * &fit.mean;
    let phi_sigma = times(&phi, &fit.covariance);
    let (mut row, mut sum) = (0, 0.0);
    for term in &problem.terms {
        let Likelihood { stride, place, width: d, precision: None, .. } = *term else { return None };
        let outcome = &term.family.marginal.as_ref()?.outcome;
        let mut v = vec![0.0; d * d];
        for n in 0..term.len() {
            let mut args = term.args[n * stride..(n + 1) * stride].to_vec();
            for a in 0..d {
                args[place + a] = problem.offset[row + a] + f[row + a];
                for b in 0..d {
                    v[a + b * d] = phi_sigma.row(row + a).dot(&phi.row(row + b));
                }
            }
            row += d;
            if term.counts[n] > 0.0 {
                let y = term.values[n];
                sum += term.counts[n]
                    * match outcome {
                        Outcome::Levels(of) => *of(&args, &v).get(y as usize)?,
                        Outcome::Number(of) => (of.log_density)(y, &args, &v),
                    };
            }
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use nalgebra::DMatrix;

    use super::super::solve::solve;
    use super::*;
    use crate::dist::family;
    use crate::math::special::ln_normal_cdf;
    use crate::plan::ir::Options;
    use crate::runtime::control::Budget;
    use crate::runtime::problem::{Scale, WeightPrior};
    use crate::runtime::solution::Step;

    #[test]
    fn a_probability_is_averaged_over_the_weights() {
        let family = family("Bernoulli").unwrap();
        let place = family.places("probit", 2).unwrap().start;
        let mut args = vec![f64::NAN; 3];
        args[place] = 0.0;
        let problem = LaplaceProblem {
            terms: vec![Likelihood {
                family,
                place,
                width: 1,
                values: vec![1.0],
                counts: vec![2.0],
                args,
                stride: 3,
                given: vec![true; 3],
                precision: None,
            }],
            offset: vec![0.3],
            design: DMatrix::from_element(1, 1, 2.0),
            weights: vec![WeightPrior::Normal(Scale { log_const: 0.0, powers: Vec::new() })],
            hypers: Vec::new(),
        };
        let mut on = |_: &Step| ControlFlow::Continue(());
        let fit = solve(&problem, &Options::default(), &Budget::default(), &mut on).unwrap();
        // Φ(μ/√(1 + v))
        let (mean, variance) = (0.3 + 2.0 * fit.mean[0], 4.0 * fit.covariance[(0, 0)]);
        let wanted = 2.0 * ln_normal_cdf(mean / (1.0 + variance).sqrt());
        assert!((hindsight(&problem, &fit).unwrap() - wanted).abs() < 1e-12);
    }
}
