//! From a Laplace plan and bound data to its numeric problem.

use nalgebra::DMatrix;

use super::problem::{LaplaceProblem, Likelihood};
use crate::check::typed::ExprId;
use crate::design::{EvalError, Evaluator, Restrict, Why, affine};
use crate::dist::{ArgShape, Family, Need, family};
use crate::plan::ir::{Plan, Term};
use crate::runtime::assemble::{
    Layout, Rows, assemble_hypers, assemble_weights, at, numbers, observed, scales, stack,
};

/// Stacks predictors, weights and hyperparameters in the order of the plan, with the kept innovations
/// only: of a node that `restrict` names, these are its weights.
///
/// # Errors
/// The expression that has no value, is not linear, or needs too much memory.
pub fn assemble_laplace(
    plan: &Plan,
    eval: &mut Evaluator<'_>,
    restrict: &Restrict,
) -> Result<(LaplaceProblem, Layout), EvalError> {
    let mut layout = Layout::default();
    let hypers = assemble_hypers(plan, eval, &mut layout)?;
    let weights = assemble_weights(plan, eval, restrict, &mut layout)?;
    let (mut terms, mut forms, mut offset) = (Vec::new(), Vec::new(), Vec::new());
    let mut rows: Vec<(usize, Vec<usize>)> = Vec::new();
    for term in &plan.terms {
        let failed = EvalError { expr: term.mean, why: Why::NoValue(term.node) };
        let family = family(&term.family).ok_or_else(|| failed.clone())?;
        let form = affine(eval, term.mean, restrict)?;
        let y = observed(eval, term.node, term.mean)?;
        let units: Vec<usize> = (0..y.len()).filter(|i| !y[*i].is_nan()).collect();
        let levels = eval.inputs().levels.get(&term.node).map_or(2, Vec::len);
        let places = family.places(&term.predictor, levels).ok_or(failed)?;
        let width = places.len();
        // a predictor a level: entry (i, k) of a matrix, column-major
        let entries: Vec<usize> = units
            .iter()
            .flat_map(|i| (0..width).map(move |k| (*i, k)))
            .map(|(i, k)| i + k * y.len())
            .collect();
        let start = offset.len();
        offset.extend(entries.iter().map(|e| at(&form.offset, *e)));
        rows.push((start, entries));
        let counts = match term.weight {
            Some(e) => {
                let weight = numbers(eval, e)?;
                units.iter().map(|i| at(&weight, *i)).collect()
            }
            None => vec![1.0; units.len()],
        };
        let given = arguments(term, family, eval)?;
        let args: Vec<f64> = units.iter().flat_map(|i| unit(family, &given, *i, y.len(), levels)).collect();
        let precision = match term.scale {
            Some(scale) => {
                let all = scales(eval, scale, y.len(), &layout)?;
                let name = family.gaussian.and_then(|g| g.scales.iter().find(|s| s.1 == 1.0)).map(|s| s.0);
                let place = name.and_then(|name| family.places(name, levels)).map_or(0, |p| p.start);
                Some((place, units.iter().map(|i| all[*i].clone()).collect()))
            }
            None => None,
        };
        let stride = args.len().checked_div(units.len()).unwrap_or(0);
        let shapes = family.args.iter().zip(&given);
        let named =
            shapes.flat_map(|(arg, value)| std::iter::repeat_n(value.is_some(), arg.shape.len(levels)));
        terms.push(Likelihood {
            family,
            place: places.start,
            width,
            values: units.iter().map(|i| y[*i]).collect(),
            counts,
            args,
            stride,
            given: named.collect(),
            precision,
        });
        let per_row = terms.last().map_or_else(Vec::new, |t: &Likelihood| t.counts.clone());
        layout.terms.push(Rows {
            node: term.node,
            start,
            entries: units,
            means: Vec::new(),
            counts: per_row,
            constant: Vec::new(),
        });
        forms.push(form);
    }
    let listed: Vec<(usize, &[usize])> =
        rows.iter().map(|(start, entries)| (*start, entries.as_slice())).collect();
    let mut design = stack(plan, eval, &forms, &layout, &listed, (offset.len(), weights.len()))?;
    for (term, rows) in plan.terms.iter().zip(&mut layout.terms).filter(|(t, _)| t.centred) {
        centre(&mut design, rows);
        debug_assert_eq!(term.node, rows.node);
    }
    Ok((LaplaceProblem { terms, offset, design, weights, hypers }, layout))
}

/// Evaluates the arguments of every family again.
///
/// # Errors
/// The expression that has no value.
pub fn renew_arguments(
    plan: &Plan,
    eval: &mut Evaluator<'_>,
    problem: &mut LaplaceProblem,
    layout: &Layout,
) -> Result<(), EvalError> {
    for ((term, rows), likelihood) in plan.terms.iter().zip(&layout.terms).zip(&mut problem.terms) {
        let n = observed(eval, term.node, term.mean)?.len();
        let levels = eval.inputs().levels.get(&term.node).map_or(2, Vec::len);
        let given = arguments(term, likelihood.family, eval)?;
        let units = rows.entries.iter();
        likelihood.args = units.flat_map(|i| unit(likelihood.family, &given, *i, n, levels)).collect();
    }
    Ok(())
}

/// The values of the arguments of a family that are given and known, in the order of its record; a
/// predictor and a scale made of hyperparameters are filled in later.
fn arguments(
    term: &Term,
    family: &Family,
    eval: &mut Evaluator<'_>,
) -> Result<Vec<Option<Vec<f64>>>, EvalError> {
    let expr = |name: &str| -> Option<ExprId> { term.args.iter().find(|a| a.0 == name).map(|a| a.1) };
    family.args.iter().map(|arg| expr(arg.name).map(|e| numbers(eval, e)).transpose()).collect()
}

/// The arguments of unit `i` of `n`, flat.
fn unit(family: &Family, given: &[Option<Vec<f64>>], i: usize, n: usize, levels: usize) -> Vec<f64> {
    let mut out = Vec::new();
    for (arg, value) in family.args.iter().zip(given) {
        let many = arg.shape.len(levels);
        match (value, arg.need) {
            (Some(v), _) => match arg.shape {
                ArgShape::Node => out.push(at(v, i)),
                ArgShape::PerLevel => out.extend((0..many).map(|k| at(v, i + k * n))),
                ArgShape::Cutpoints => out.extend((0..many).map(|k| at(v, k))),
            },
            (None, Need::Default(x)) => out.push(x),
            (None, _) => out.extend(std::iter::repeat_n(f64::NAN, many)),
        }
    }
    out
}

/// Takes the weighted mean of each column out of the rows of a term.
fn centre(design: &mut DMatrix<f64>, rows: &mut Rows) {
    let total: f64 = rows.counts.iter().sum();
    for (i, mut column) in design.column_iter_mut().enumerate() {
        let mut part = column.rows_mut(rows.start, rows.counts.len());
        let mean = part.iter().zip(&rows.counts).map(|(v, k)| k * v).sum::<f64>() / total;
        let largest = part.amax();
        part.add_scalar_mut(-mean);
        // a constant column leaves rounding
        if largest > 0.0 && part.amax() <= 1e-14 * largest {
            part.fill(0.0);
            rows.constant.push(i);
        }
        rows.means.push(mean);
    }
}
