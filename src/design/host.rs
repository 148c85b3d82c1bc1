//! Registered functions of the host program on arrays, and their adjoints.

use std::sync::Arc;

use nalgebra::DMatrix;

use super::error::Why;
use super::ops;
use super::value::{Rank, Value};
use super::want::Axis;
use crate::host::{Fault, Form, Function};
use crate::math::poll::poll;

/// The wanted part of a call, from the wanted parts of its arguments.
pub(super) fn evaluate(
    function: &Function,
    args: &[Arc<Value>],
    cols: &Axis,
    (rows, width): (usize, usize),
) -> Result<DMatrix<f64>, Why> {
    let failed = |fault| fault_of(function, fault);
    let mut out = ops::zeros(rows, width)?;
    match function.form {
        Form::Map => {
            let mut inputs = vec![0.0; args.len()];
            for (i, y) in out.iter_mut().enumerate() {
                entries(args, i, &mut inputs)?;
                function.evaluate(&inputs, std::slice::from_mut(y)).map_err(failed)?;
            }
        }
        Form::Features(_) => {
            let x = first(args)?;
            let mut inputs = with_numbers(args, 1, x.cols())?;
            let mut features = vec![0.0; function.outputs(x.cols())];
            let picked = ops::positions(cols, features.len())?;
            for n in 0..rows {
                poll();
                copy_row(x, n, &mut inputs, 0)?;
                function.evaluate(&inputs, &mut features).map_err(failed)?;
                picked.iter().enumerate().for_each(|(j, at)| out[(n, j)] = features[*at]);
            }
        }
        Form::Kernel => {
            let (x, c) = (first(args)?, args.get(1).ok_or(Why::Circle)?);
            let d = same_width(x, c)?;
            let mut inputs = with_numbers(args, 2, 2 * d)?;
            for (m, mut column) in out.column_iter_mut().enumerate() {
                poll();
                copy_row(c, m, &mut inputs, d)?;
                for (n, y) in column.iter_mut().enumerate() {
                    copy_row(x, n, &mut inputs, 0)?;
                    function.evaluate(&inputs, std::slice::from_mut(y)).map_err(failed)?;
                }
            }
        }
    }
    Ok(out)
}

/// From the adjoint `g` of that part to those of the arguments that are wanted.
pub(super) fn pull(
    function: &Function,
    args: &[Arc<Value>],
    g: &DMatrix<f64>,
    cols: &Axis,
    wanted: &[bool],
) -> Result<Vec<Option<DMatrix<f64>>>, Why> {
    let failed = |fault| fault_of(function, fault);
    let is_wanted = |a: usize| wanted.get(a) == Some(&true);
    let mut bars: Vec<DMatrix<f64>> = Vec::with_capacity(args.len());
    for a in args {
        bars.push(ops::zeros(a.rows(), a.cols())?);
    }
    // which arguments, and which of their columns, the inputs are
    let place: Vec<(usize, usize)> = match function.form {
        Form::Map => (0..args.len()).map(|a| (a, 0)).collect(),
        Form::Features(_) | Form::Kernel => {
            let rows = if function.form == Form::Kernel { 2 } else { 1 };
            let of_rows =
                args.iter().take(rows).enumerate().flat_map(|(a, x)| (0..x.cols()).map(move |k| (a, k)));
            of_rows.chain((rows..args.len()).map(|a| (a, 0))).collect()
        }
    };
    let which: Vec<bool> = place.iter().map(|(a, _)| is_wanted(*a)).collect();
    let mut slopes = vec![0.0; place.len() * outputs(function, args)];
    match function.form {
        Form::Map => {
            let mut inputs = vec![0.0; args.len()];
            for (i, g) in g.iter().enumerate().filter(|(_, g)| **g != 0.0) {
                entries(args, i, &mut inputs)?;
                function.slopes(&inputs, 1, &which, &mut slopes).map_err(failed)?;
                for (a, bar) in bars.iter_mut().enumerate().filter(|(a, _)| is_wanted(*a)) {
                    let at = if args[a].rank == Rank::Scalar { 0 } else { i };
                    bar[at] += g * slopes[a];
                }
            }
        }
        Form::Features(_) => {
            let x = first(args)?;
            let count = function.outputs(x.cols());
            let mut inputs = with_numbers(args, 1, x.cols())?;
            let picked = ops::positions(cols, count)?;
            for n in (0..g.nrows()).filter(|n| g.row(*n).iter().any(|g| *g != 0.0)) {
                copy_row(x, n, &mut inputs, 0)?;
                function.slopes(&inputs, count, &which, &mut slopes).map_err(failed)?;
                for (j, feature) in picked.iter().enumerate().filter(|(j, _)| g[(n, *j)] != 0.0) {
                    let of_feature = &slopes[feature * place.len()..(feature + 1) * place.len()];
                    for ((a, k), slope) in place.iter().zip(of_feature).filter(|((a, _), _)| is_wanted(*a)) {
                        bars[*a][(if *a == 0 { n } else { 0 }, *k)] += g[(n, j)] * slope;
                    }
                }
            }
        }
        Form::Kernel => {
            let (x, c) = (first(args)?, args.get(1).ok_or(Why::Circle)?);
            let d = same_width(x, c)?;
            let mut inputs = with_numbers(args, 2, 2 * d)?;
            for m in 0..g.ncols() {
                poll();
                copy_row(c, m, &mut inputs, d)?;
                for n in (0..g.nrows()).filter(|n| g[(*n, m)] != 0.0) {
                    copy_row(x, n, &mut inputs, 0)?;
                    function.slopes(&inputs, 1, &which, &mut slopes).map_err(failed)?;
                    for ((a, k), slope) in place.iter().zip(&slopes).filter(|((a, _), _)| is_wanted(*a)) {
                        let row = [n, m].get(*a).copied().unwrap_or(0);
                        bars[*a][(row, *k)] += g[(n, m)] * slope;
                    }
                }
            }
        }
    }
    Ok(bars.into_iter().enumerate().map(|(a, bar)| is_wanted(a).then_some(bar)).collect())
}

fn fault_of(function: &Function, fault: Fault) -> Why {
    Why::Host(function.name.clone(), fault)
}

fn outputs(function: &Function, args: &[Arc<Value>]) -> usize {
    function.outputs(args.first().map_or(0, |x| x.cols()))
}

fn first(args: &[Arc<Value>]) -> Result<&Value, Why> {
    args.first().map(|a| &**a).ok_or(Why::Circle)
}

fn same_width(x: &Value, c: &Value) -> Result<usize, Why> {
    match c.cols() == x.cols() {
        true => Ok(x.cols()),
        false => Err(Why::Shape(c.array.shape(), (c.rows(), x.cols()))),
    }
}

/// Entry i of every argument; a scalar has one for all.
fn entries(args: &[Arc<Value>], i: usize, inputs: &mut [f64]) -> Result<(), Why> {
    for (input, a) in inputs.iter_mut().zip(args) {
        let at = if a.rank == Rank::Scalar { 0 } else { i };
        *input = *a.array.as_slice().get(at).ok_or(Why::Position(at, a.array.len()))?;
    }
    Ok(())
}

/// Room for rows, then the numbers of the arguments after them.
fn with_numbers(args: &[Arc<Value>], rows: usize, width: usize) -> Result<Vec<f64>, Why> {
    let mut inputs = vec![0.0; width];
    for a in args.iter().skip(rows) {
        inputs.push(ops::entry(a)?);
    }
    Ok(inputs)
}

fn copy_row(x: &Value, n: usize, inputs: &mut [f64], at: usize) -> Result<(), Why> {
    if n >= x.rows() {
        return Err(Why::Position(n, x.rows()));
    }
    for (input, value) in inputs[at..].iter_mut().zip(x.array.row(n).iter()) {
        *input = *value;
    }
    Ok(())
}
