//! Calls of a registered function, guarded: what it does wrong is a [`Fault`], whatever it is.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Form, Function};
use crate::dist::Elem;

/// What a registered function did wrong.
#[derive(Clone, PartialEq, Debug)]
pub enum Fault {
    /// It panicked, with this message.
    Panicked(String),
    /// It is not a number, or was not set: the inputs, and which of several outputs, from 0.
    NotANumber(Vec<f64>, usize),
    /// A value outside the set that was declared: the inputs, the value and the set.
    Outside(Vec<f64>, f64, Elem),
    /// A slope is not a number: the inputs.
    Slope(Vec<f64>),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Panicked(message) => write!(f, "it panicked: {message}"),
            Fault::NotANumber(at, 0) => write!(f, "found no number for the inputs {}", list(at)),
            Fault::NotANumber(at, output) => {
                write!(f, "found no number in feature {} for the inputs {}", output + 1, list(at))
            }
            Fault::Outside(at, value, elem) => {
                write!(f, "found {value} for the inputs {}, expected `{elem}`", list(at))
            }
            Fault::Slope(at) => write!(f, "found a derivative that is no number for the inputs {}", list(at)),
        }
    }
}

fn list(at: &[f64]) -> String {
    let mut shown: Vec<String> = at.iter().take(6).map(f64::to_string).collect();
    if at.len() > 6 {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

/// The message of a panic.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("without a message");
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}

impl Function {
    /// The outputs.
    ///
    /// # Errors
    /// It panics, leaves an output unset or not a number though its inputs are numbers, or leaves its set.
    pub fn evaluate(&self, inputs: &[f64], out: &mut [f64]) -> Result<(), Fault> {
        out.fill(f64::NAN);
        guarded(|| (self.value)(inputs, out))?;
        let numbers = inputs.iter().all(|x| !x.is_nan());
        if numbers && let Some(at) = out.iter().position(|y| y.is_nan()) {
            return Err(Fault::NotANumber(inputs.to_vec(), at));
        }
        match out.iter().find(|y| !y.is_nan() && !is_in(**y, self.elem)) {
            Some(y) => Err(Fault::Outside(inputs.to_vec(), *y, self.elem)),
            None => Ok(()),
        }
    }

    /// d output_j / d input_k at `slopes[j · inputs + k]`, for the inputs that are `wanted`: as they were
    /// given, or else by central differences, f′ ≈ (f(x + h) − f(x − h))/2h with h = ε^⅓ max(1, |x|)
    /// (Nocedal and Wright 2006, §8.1), one-sided where the function ends.
    ///
    /// # Errors
    /// As [`Function::evaluate`].
    pub fn slopes(
        &self,
        inputs: &[f64],
        outputs: usize,
        wanted: &[bool],
        slopes: &mut [f64],
    ) -> Result<(), Fault> {
        let d = inputs.len();
        slopes.fill(f64::NAN);
        if let Some(given) = &self.slopes {
            guarded(|| given(inputs, slopes))?;
        } else {
            let (mut at, mut below, mut above) = (inputs.to_vec(), vec![0.0; outputs], vec![0.0; outputs]);
            let mut here = vec![0.0; outputs];
            self.evaluate(inputs, &mut here)?;
            for k in (0..d).filter(|k| wanted.get(*k) == Some(&true)) {
                let h = f64::EPSILON.cbrt() * inputs[k].abs().max(1.0);
                let (low, high) = (inputs[k] - h, inputs[k] + h);
                let mut side = |x: f64, out: &mut [f64]| {
                    at[k] = x;
                    let fine = self.evaluate(&at, out).is_ok() && out.iter().all(|y| y.is_finite());
                    at[k] = inputs[k];
                    fine
                };
                let (down, up) = (side(low, &mut below), side(high, &mut above));
                for j in 0..outputs {
                    slopes[j * d + k] = match (down, up) {
                        (true, true) => (above[j] - below[j]) / (high - low),
                        (true, false) => (here[j] - below[j]) / (inputs[k] - low),
                        (false, true) => (above[j] - here[j]) / (high - inputs[k]),
                        (false, false) => f64::NAN,
                    };
                }
            }
        }
        let bad = |(i, slope): (usize, &f64)| wanted.get(i % d.max(1)) == Some(&true) && slope.is_nan();
        match slopes.iter().enumerate().any(bad) {
            true => Err(Fault::Slope(inputs.to_vec())),
            false => Ok(()),
        }
    }

    /// How many outputs it has for rows of so many inputs.
    pub fn outputs(&self, inputs: usize) -> usize {
        match self.form {
            Form::Map | Form::Kernel => 1,
            Form::Features(width) => width.of(inputs),
        }
    }
}

/// Runs a function of the host; a panic of it ends there.
pub(crate) fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| Fault::Panicked(message(&*payload)))
}

fn is_in(y: f64, elem: Elem) -> bool {
    match elem {
        Elem::NonNegative => y >= 0.0,
        Elem::Positive => y > 0.0,
        Elem::Unit => (0.0..=1.0).contains(&y),
        Elem::Int => y.fract() == 0.0,
        Elem::Count => y.fract() == 0.0 && y >= 0.0,
        Elem::Bool => y == 0.0 || y == 1.0,
        Elem::Real | Elem::Category | Elem::Ordered | Elem::Increasing | Elem::Simplex => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Basis, Host};

    #[test]
    fn central_differences_are_the_derivative() {
        let f = Host::of(&["a", "b"], |x| (x[0] * x[1]).sin() + x[1].ln()).named("f");
        let mut slopes = [0.0; 2];
        f.slopes(&[0.7, 2.0], 1, &[true, true], &mut slopes).unwrap();
        let c = 1.4f64.cos();
        assert!((slopes[0] - 2.0 * c).abs() < 1e-9 && (slopes[1] - (0.7 * c + 0.5)).abs() < 1e-9);
        // one-sided at the end of the domain: ln b at 1e-9 has no left neighbour
        f.slopes(&[0.0, 1e-9], 1, &[true, false], &mut slopes).unwrap();
        assert!((slopes[0] - 1e-9).abs() < 1e-9);
    }

    #[test]
    fn faults_are_named() {
        let mut out = [0.0];
        let f = Host::elementwise(|x| if x > 0.0 { x.sqrt() } else { panic!("no root of {x}") }).named("f");
        assert_eq!(f.evaluate(&[-1.0], &mut out), Err(Fault::Panicked("no root of -1".to_owned())));
        let f = Host::elementwise(f64::ln).returns(Elem::Positive).named("f");
        assert_eq!(f.evaluate(&[-1.0], &mut out), Err(Fault::NotANumber(vec![-1.0], 0)));
        assert_eq!(f.evaluate(&[0.5], &mut out), Err(Fault::Outside(vec![0.5], 0.5f64.ln(), Elem::Positive)));
        assert_eq!(f.evaluate(&[f64::NAN], &mut out), Ok(()));
        let unset = Basis::from(Basis::features(2, |_, _, out| out[0] = 1.0)).named("f");
        assert_eq!(unset.evaluate(&[1.0], &mut [0.0; 2]), Err(Fault::NotANumber(vec![1.0], 1)));
        let beyond = Basis::from(Basis::features(1, |_, _, out| out[1] = 1.0)).named("f");
        assert!(matches!(beyond.evaluate(&[1.0], &mut [0.0]), Err(Fault::Panicked(_))));
    }
}
