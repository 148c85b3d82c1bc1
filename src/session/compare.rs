//! Fits side by side: whose evidence (or bound) is highest, and whether that means anything.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::bind::Bound;
use super::file::hex;
use super::fit::Fit;
use crate::check::typed::Model;
use crate::diag::{Diagnostic, Diagnostics, render};
use crate::dist::{Elem, Support};
use crate::source::SourceMap;

/// Fits in the order of their objective, the highest first: `sbl compare --format json`.
///
/// ```
/// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
/// # let model = sbl::Model::compile(source)?;
/// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
/// # let fit = model.fit(&data, &sbl::Options::default())?;
/// let other = sbl::Model::compile("data x: real[N]\ndata t: real[N]\ntau ~ Gamma(0, 0)\nt ~ Normal(x, precision = tau)\n")?
///     .fit(&data, &sbl::Options::default())?;
/// let comparison = sbl::compare(&[("with a slope".to_owned(), fit), ("without".to_owned(), other)]);
/// assert_eq!(comparison.fits.len(), 2);
/// # Ok::<(), sbl::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// Version of sbl.
    pub sbl: String,
    /// Version of this schema.
    pub schema: u32,
    /// Whether the objectives are about the same thing.
    pub comparable: bool,
    /// The fits.
    pub fits: Vec<Compared>,
    /// Why they are not comparable, and the like.
    pub warnings: Vec<Json>,
}

/// One fit among others.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Compared {
    /// What the host calls it.
    pub name: String,
    /// The model.
    pub model: String,
    /// `evidence`, `laplace` …
    pub method: String,
    /// `log_evidence`, `log_evidence_laplace`, `elbo`.
    pub objective: String,
    /// In nats.
    pub value: f64,
    /// Value less the highest one, in nats.
    pub difference: f64,
    /// Number of flat effects.
    pub improper: usize,
    /// Kept weights.
    pub weights: usize,
    /// Rows of the data.
    pub rows: usize,
    /// Whether the fit converged.
    pub converged: bool,
}

/// What of an observed node the evidence is a probability of: kept with a fit.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct Observed {
    /// The columns it took.
    columns: Vec<String>,
    /// `density` of numbers, or `probability` of counts and levels.
    of: String,
    /// Checksum of the values, missing ones included.
    hash: String,
}

/// The observed nodes of a model on some data, without their names.
pub(crate) fn observed(model: &Model, bound: &Bound) -> Vec<Observed> {
    let mut all: Vec<Observed> = model
        .nodes
        .iter()
        .filter(|n| n.is_observed())
        .filter_map(|n| {
            let values = bound.values.get(&n.id)?;
            let mut bytes = Vec::new();
            for code in values.array.iter() {
                // a level counts by its name: another model may number the same levels otherwise
                match bound.levels.get(&n.id).and_then(|l| l.get(*code as usize)) {
                    Some(level) if !code.is_nan() => bytes.extend(level.bytes().chain([0])),
                    _ => bytes.extend(code.to_bits().to_le_bytes()),
                }
            }
            let support = n.data()?.likelihood.as_ref()?.family.support;
            let is_density = matches!(support, Support::Elem(e) if e != Elem::Count && e != Elem::Int);
            Some(Observed {
                columns: bound.columns.get(&n.id).cloned().unwrap_or_default(),
                of: if is_density { "density" } else { "probability" }.to_owned(),
                hash: hex(&bytes),
            })
        })
        .collect();
    all.sort();
    all
}

/// Sorts fits by their objective and says whether they can be compared.
///
/// They can if they are about the same values of the same columns, all as densities or all as
/// probabilities, with the same kind of objective and equally many flat effects.
///
/// ```
/// # let source = "data x: real[N]\ndata t: real[N]\nw ~ Flat()\ntau ~ Gamma(0, 0)\nt ~ Normal(x .* w, precision = tau)\n";
/// # let model = sbl::Model::compile(source)?;
/// # let data = sbl::Data::new().vector("x", &[1.0, 2.0, 3.0])?.vector("t", &[2.1, 3.9, 6.0])?;
/// # let fit = model.fit(&data, &sbl::Options::default())?;
/// let other = sbl::Model::compile("data x: real[N]\ndata t: real[N]\ntau ~ Gamma(0, 0)\nt ~ Normal(x, precision = tau)\n")?
///     .fit(&data, &sbl::Options::default())?;
/// let comparison = sbl::compare(&[("with a slope".to_owned(), fit), ("without".to_owned(), other)]);
/// for fit in &comparison.fits {
///     println!("{}: {:.2} nats behind the best", fit.name, fit.difference);
/// }
/// # Ok::<(), sbl::Error>(())
/// ```
pub fn compare(fits: &[(String, Fit)]) -> Comparison {
    let mut compared: Vec<Compared> = fits.iter().map(|(name, fit)| one(name, fit)).collect();
    compared.sort_by(|a, b| b.value.total_cmp(&a.value).then_with(|| a.name.cmp(&b.name)));
    let highest = compared.first().map_or(0.0, |c| c.value);
    compared.iter_mut().for_each(|c| c.difference = c.value - highest);
    let warnings = differences(fits, &compared);
    Comparison {
        sbl: env!("CARGO_PKG_VERSION").to_owned(),
        schema: super::SCHEMA,
        comparable: warnings.iter().all(|w| w.code != "W0830"),
        fits: compared,
        warnings: match render::to_json(&warnings, &SourceMap::new()) {
            Json::Array(items) => items,
            _ => Vec::new(),
        },
    }
}

fn one(name: &str, fit: &Fit) -> Compared {
    let result = fit.result();
    Compared {
        name: name.to_owned(),
        model: result.model.clone(),
        method: result.plan.method.clone(),
        objective: result.objective.name.clone(),
        value: result.objective.value,
        difference: 0.0,
        improper: result.objective.improper.unwrap_or(0),
        weights: fit.posterior().mean.len(),
        rows: result.rows,
        converged: result.converged,
    }
}

/// Every reason why the objectives are not about the same thing.
fn differences(fits: &[(String, Fit)], compared: &[Compared]) -> Diagnostics {
    let mut found = Diagnostics::new();
    let mut differ = |what: &str, note: String, help: &str| {
        found.push(Diagnostic::warning("W0830", format!("not comparable: {what}")).note(note).help(help));
    };
    let each = |show: &dyn Fn(&Fit) -> String| -> (bool, String) {
        let all: Vec<(String, String)> = fits.iter().map(|(n, f)| (n.clone(), show(f))).collect();
        let differ = all.iter().map(|(_, s)| s).collect::<BTreeSet<_>>().len() > 1;
        (differ, all.iter().map(|(n, s)| format!("{n}: {s}")).collect::<Vec<_>>().join("; "))
    };
    let observed = |fit: &Fit| fit.state().observed.clone();
    let columns = |fit: &Fit| -> String {
        let names = |o: &Observed| o.columns.join(", ");
        observed(fit).iter().map(names).collect::<Vec<_>>().join(", ")
    };
    let (other_columns, list) = each(&columns);
    if other_columns {
        differ("the fits are about different targets", list, "compare models of the same columns");
    } else {
        let hashes = |fit: &Fit| observed(fit).iter().map(|o| o.hash.clone()).collect::<Vec<_>>().join(" ");
        if each(&hashes).0 {
            let (_, list) = each(&|fit| format!("{} rows", fit.result().rows));
            differ(
                "the fits have seen different rows",
                list,
                "fit all models to the same rows of the same data",
            );
        }
        let (kinds, list) =
            each(&|fit| observed(fit).iter().map(|o| o.of.clone()).collect::<Vec<_>>().join(", "));
        if kinds {
            differ(
                "a density and a probability of the same targets",
                list,
                "compare models that take the targets as numbers, or models that take them as counts or levels",
            );
        }
    }
    let (kinds, list) = each(&|fit| fit.result().objective.name.clone());
    if kinds {
        differ(
            "the objectives are different things",
            list,
            "fit all models by the same method: a bound is below the evidence, and an approximation on either side",
        );
    }
    let (flat, list) = each(&|fit| fit.result().objective.improper.unwrap_or(0).to_string());
    if flat {
        differ(
            "different numbers of flat effects",
            list,
            "give these effects a proper prior, or the same flat effects to every model",
        );
    }
    if let Some(worst) = compared.iter().find(|c| !c.converged) {
        found.push(
            Diagnostic::warning(
                "W0831",
                format!("`{}` did not converge: its value is not final", worst.name),
            )
            .help("allow it more iterations or time"),
        );
    }
    found
}
