//! Draws: latent nodes from their posterior or prior, and any node from its distribution.

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::{DMatrix, DVector};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::nodes::{blank, numbers, shape};
use super::posterior::Posterior;
use super::result::{NodeResult, Role};
use crate::check::typed::{Dist, NodeId, NodeKind};
use crate::design::{EvalError, Evaluator, Frozen, Inputs, Rank, Value, Want};
use crate::dist::{ArgShape, Need};
use crate::math::special::normal_quantile;
use crate::plan::ir::Plan;
use crate::plan::params::free_cutpoints;

/// Draws behind a derived quantity that is not linear.
const DERIVED_DRAWS: usize = 4096;

/// A portable source of uniforms in (0, 1): the same seed gives the same numbers everywhere.
pub(crate) struct Uniforms(ChaCha8Rng);

impl Uniforms {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// 53 bits, never 0 and never 1.
    pub fn next(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        normal_quantile(self.next())
    }
}

/// Why a node cannot be drawn.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum NoDraw {
    /// An expression has no value.
    Eval(EvalError),
    /// The distribution of the node is improper, or its arguments are impossible.
    Improper(NodeId),
    /// A `param` has no value before a fit.
    Param(NodeId),
}

impl From<EvalError> for NoDraw {
    fn from(error: EvalError) -> Self {
        NoDraw::Eval(error)
    }
}

/// Draws of the kept innovations: m + L z with Σ = L Lᵀ.
pub(crate) struct Innovations<'a> {
    posterior: &'a Posterior,
    factor: DMatrix<f64>,
}

impl<'a> Innovations<'a> {
    pub fn new(posterior: &'a Posterior) -> Self {
        let k = posterior.mean.len();
        let sigma = DMatrix::from_column_slice(k, k, &posterior.covariance);
        Self { posterior, factor: square_root(sigma) }
    }

    /// One draw of the kept innovations, k.
    fn draw(&self, uniforms: &mut Uniforms) -> DVector<f64> {
        let z = DVector::from_fn(self.posterior.mean.len(), |_, _| uniforms.normal());
        DVector::from_column_slice(&self.posterior.mean) + &self.factor * z
    }

    /// All innovations of each node; pruned ones are 0.
    fn by_node(&self, kept: &DVector<f64>) -> BTreeMap<NodeId, Vec<f64>> {
        let mut all = BTreeMap::new();
        for block in &self.posterior.blocks {
            let mut values = vec![0.0; block.len];
            for (k, i) in block.active.iter().enumerate() {
                if let Some(value) = values.get_mut(*i) {
                    *value = kept[block.start + k];
                }
            }
            all.insert(block.node, values);
        }
        all
    }
}

/// A square root of a covariance that may be singular in rounding: eigenvalues below 0 are 0.
fn square_root(sigma: DMatrix<f64>) -> DMatrix<f64> {
    if let Some(chol) = sigma.clone().cholesky() {
        return chol.l();
    }
    if sigma.iter().any(|x| !x.is_finite()) {
        return DMatrix::zeros(sigma.nrows(), sigma.ncols());
    }
    let eigen = sigma.symmetric_eigen();
    let roots = eigen.eigenvalues.map(|v| v.max(0.0).sqrt());
    &eigen.eigenvectors * DMatrix::from_diagonal(&roots)
}

/// A draw from the posterior.
pub(crate) struct Drawn {
    /// Values of every node that it fixes: latents, and hyperparameters from their factors or at their
    /// estimates.
    pub values: BTreeMap<NodeId, Arc<Value>>,
    /// The kept innovations, k.
    pub kept: DVector<f64>,
}

/// One draw of every entry of a hyperparameter from its factor, which is of the family of its prior.
fn from_factors(
    inputs: Inputs<'_>,
    node: NodeId,
    factors: &[(f64, f64)],
    uniforms: &mut Uniforms,
) -> Result<Vec<f64>, NoDraw> {
    let family = inputs.model.node(node).dist().map(|d| d.family);
    let (Some(family), Some(prior)) = (family, family.and_then(|f| f.precision_prior)) else {
        return Err(NoDraw::Improper(node));
    };
    let draw = |&(shape, rate): &(f64, f64)| {
        let value = |name: &str| match prior.rates.first() {
            _ if name == prior.shape => shape,
            Some((first, power)) if name == *first => rate.powf(1.0 / power),
            _ => f64::NAN,
        };
        let args: Vec<f64> = family.args.iter().map(|a| value(a.name)).collect();
        (family.sample)(&args, &mut || uniforms.next()).ok_or(NoDraw::Improper(node))
    };
    factors.iter().map(draw).collect()
}

/// One draw from the posterior.
pub(crate) fn posterior_values(
    plan: &Plan,
    inputs: Inputs<'_>,
    frozen: &Frozen,
    memory: usize,
    innovations: &Innovations<'_>,
    uniforms: &mut Uniforms,
) -> Result<Drawn, NoDraw> {
    let posterior = innovations.posterior;
    let mut values = inputs.values.clone();
    for (node, hyper) in &posterior.hypers {
        let entries: Vec<f64> = match posterior.factors.get(node) {
            Some(factors) => from_factors(inputs, *node, factors, uniforms)?,
            None => hyper.iter().map(|v| v.unwrap_or(f64::INFINITY)).collect(),
        };
        values.insert(*node, Arc::new(array(inputs, *node, entries)?));
    }
    let kept = innovations.draw(uniforms);
    let drawn = innovations.by_node(&kept);
    let moved: Vec<f64> = kept.iter().zip(&posterior.mean).map(|(e, m)| e - m).collect();
    for node in posterior.centres.keys() {
        let dist = inputs.model.node(*node).dist();
        if let Some(cutpoints) = dist.and_then(|d| free_cutpoints(inputs.model, d))
            && let Some(value) = values.get_mut(&cutpoints)
        {
            Arc::make_mut(value).array.add_scalar_mut(posterior.cutpoint_shift(*node, &moved));
        }
    }
    for block in &plan.blocks {
        let (_, rows, cols) = inputs
            .shape(&inputs.model.node(block.node).ty)
            .map_err(|why| crate::design::EvalError { expr: plan.terms[0].mean, why })?;
        let mut entries = drawn.get(&block.node).cloned().unwrap_or_default();
        if entries.len() != rows * cols {
            // one entry per row of new data: from its prior
            let dist = inputs.model.node(block.node).dist();
            let Some(dist) = dist else { continue };
            let fresh =
                draw(Inputs { values: &values, ..inputs }, frozen, memory, block.node, dist, None, uniforms)?;
            values.insert(block.node, Arc::new(array(inputs, block.node, fresh)?));
            continue;
        }
        if let Some(mean) = block.mean {
            let mut eval = Evaluator::new(Inputs { values: &values, ..inputs }, frozen, memory);
            let mean = eval.eval(mean, &Want::all())?;
            for (i, e) in entries.iter_mut().enumerate() {
                *e += entry(mean.array.as_slice(), i);
            }
        }
        values.insert(block.node, Arc::new(array(inputs, block.node, entries)?));
    }
    Ok(Drawn { values, kept })
}

/// One draw of every entry of a node from its distribution; everything it depends on has a value. The
/// argument of that name may be given instead.
pub(crate) fn draw(
    inputs: Inputs<'_>,
    frozen: &Frozen,
    memory: usize,
    node: NodeId,
    dist: &Dist,
    known: Option<(&str, &Value)>,
    uniforms: &mut Uniforms,
) -> Result<Vec<f64>, NoDraw> {
    let mut eval = Evaluator::new(inputs, frozen, memory);
    let somewhere = dist.args.first().map_or(crate::check::typed::ExprId(0), |a| a.value);
    let (_, rows, cols) = inputs
        .shape(&inputs.model.node(node).ty)
        .map_err(|why| crate::design::EvalError { expr: somewhere, why })?;
    let levels = inputs.levels.get(&node).map_or(2, Vec::len);
    let given: Vec<Option<Arc<Value>>> = dist
        .family
        .args
        .iter()
        .map(|arg| match known {
            Some((name, value)) if name == arg.name => Ok(Some(Arc::new(value.clone()))),
            _ => dist.arg(arg.name).map(|e| eval.eval(e, &Want::all())).transpose(),
        })
        .collect::<Result<_, _>>()?;
    (0..rows * cols)
        .map(|i| {
            let mut args = Vec::new();
            for (spec, value) in dist.family.args.iter().zip(&given) {
                let many = match spec.shape {
                    ArgShape::Node => 1,
                    ArgShape::PerLevel => levels,
                    ArgShape::Cutpoints => levels.saturating_sub(1),
                };
                match (value, spec.shape, spec.need) {
                    (Some(v), ArgShape::Node, _) => args.push(entry(v.array.as_slice(), i)),
                    (Some(v), ArgShape::PerLevel, _) => {
                        args.extend((0..many).map(|k| v.array.get((i, k)).copied().unwrap_or(f64::NAN)));
                    }
                    (Some(v), ArgShape::Cutpoints, _) => args.extend(v.array.iter().copied()),
                    (None, _, Need::Default(x)) => args.push(x),
                    (None, ..) => args.extend(std::iter::repeat_n(f64::NAN, many)),
                }
            }
            (dist.family.sample)(&args, &mut || uniforms.next()).ok_or(NoDraw::Improper(node))
        })
        .collect()
}

/// A function of unknowns that is not linear: of point estimates alone exactly, else by draws from
/// the posterior with a fixed seed.
pub(crate) fn derived(
    node: NodeId,
    plan: &Plan,
    posterior: &Posterior,
    eval: &mut Evaluator<'_>,
    frozen: &Frozen,
) -> Result<Option<NodeResult>, EvalError> {
    let inputs = eval.inputs();
    let NodeKind::Let { value: e, .. } = inputs.model.node(node).kind else { return Ok(None) };
    let shape = shape(node, eval)?;
    let scalar = shape.is_empty();
    let innovations = Innovations::new(posterior);
    let mut uniforms = Uniforms::new(0);
    let (mut count, mut mean, mut m2): (f64, Vec<f64>, Vec<f64>) = (0.0, Vec::new(), Vec::new());
    let latents = crate::graph::walk::latents(inputs.model, e);
    let random = plan.blocks.iter().any(|b| latents.contains(&b.node))
        || latents.iter().any(|node| posterior.factors.contains_key(node));
    for _ in 0..if random { DERIVED_DRAWS } else { 1 } {
        let values = match posterior_values(plan, inputs, frozen, eval.memory(), &innovations, &mut uniforms)
        {
            Ok(drawn) => drawn.values,
            Err(NoDraw::Eval(error)) => return Err(error),
            Err(_) => return Ok(None),
        };
        let drawn = Evaluator::new(Inputs { values: &values, ..inputs }, frozen, eval.memory())
            .eval(e, &Want::all())?;
        let drawn = drawn.array.as_slice();
        mean.resize(drawn.len(), 0.0);
        m2.resize(drawn.len(), 0.0);
        count += 1.0;
        // Welford's running moments
        for (i, x) in drawn.iter().enumerate() {
            let d = x - mean[i];
            mean[i] += d / count;
            m2[i] += d * (x - mean[i]);
        }
    }
    Ok(Some(if random {
        NodeResult {
            posterior: Some("normal".to_owned()),
            mean: numbers(mean, scalar),
            sd: numbers(m2.iter().map(|v| (v / count).sqrt()).collect(), scalar),
            ..blank(Role::Derived, shape)
        }
    } else {
        NodeResult {
            posterior: Some("point".to_owned()),
            value: numbers(mean, scalar),
            ..blank(Role::Derived, shape)
        }
    }))
}

/// Entries, column-major, as the value of a node.
pub(crate) fn array(inputs: Inputs<'_>, node: NodeId, entries: Vec<f64>) -> Result<Value, NoDraw> {
    let somewhere = crate::check::typed::ExprId(0);
    let (rank, rows, cols) = inputs
        .shape(&inputs.model.node(node).ty)
        .map_err(|why| crate::design::EvalError { expr: somewhere, why })?;
    if entries.len() != rows * cols {
        let why = crate::design::Why::Shape((entries.len(), 1), (rows, cols));
        return Err(NoDraw::Eval(crate::design::EvalError { expr: somewhere, why }));
    }
    let rank = if rank == Rank::Scalar { Rank::Scalar } else { rank };
    Ok(Value { rank, array: DMatrix::from_vec(rows, cols, entries), labels: Vec::new() })
}

fn entry(values: &[f64], i: usize) -> f64 {
    crate::runtime::assemble::at(values, i)
}
