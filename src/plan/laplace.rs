//! The method `laplace`: a Gaussian at the mode of the weights, precisions by the evidence of that
//! Gaussian (MacKay 1992; Tipping 2001; the formulas are in `docs/mathematics.md` §4).

use super::evidence::{blocks, hypers, terms};
use super::ir::{Curvature, HyperUpdate, Options, Plan, Schedule, Step};
use super::method::Method;
use super::obstacles::point_obstacles;
use super::updates::is_own;
use super::{
    params,
    steps::{self, step},
};
use crate::check::typed::Model;
use crate::diag::Diagnostics;
use crate::graph::Dag;

/// `infer laplace`
pub static LAPLACE: Method = Method {
    name: "laplace",
    summary: "a Gaussian at the mode, point hyperparameters by the Laplace evidence",
    options: &["curvature", "hyper_scale", "schedule"],
    sequential: true,
    obstacles,
    compile,
};

fn obstacles(model: &Model, dag: &Dag, options: &Options) -> Diagnostics {
    point_obstacles(model, dag, options, "laplace")
}

fn compile(model: &Model, dag: &Dag, options: Options) -> Plan {
    let blocks = blocks(model, dag);
    let terms = terms(model);
    let hypers = hypers(model, &options);
    let params = params::params(model);
    let flat = blocks.iter().any(|b| b.scale.is_none());
    let mut steps = laplace_steps(model, &hypers, flat, &options);
    steps.extend(params::steps(&params, "evidence"));
    let (stop, prune) = (steps::stop(&hypers, &options), steps::prune(model, &hypers, &options));
    let mut objective_terms = vec![
        "Σ_n ln p(y_n | f_n), f = offset + Φ w*".to_owned(),
        "− ½ w*ᵀ A w*".to_owned(),
        "− ½ ln|B|".to_owned(),
    ];
    if flat {
        objective_terms.push("+ k_f/2 ln 2π".to_owned());
    }
    objective_terms.extend(steps::apart(model, &hypers, &options));
    Plan {
        method: "laplace".to_owned(),
        schedule: options.schedule.name().to_owned(),
        why: Vec::new(),
        rejected: Vec::new(),
        blocks,
        terms,
        factors: Vec::new(),
        hypers,
        params,
        steps,
        stop,
        prune,
        objective: "log_evidence_laplace".to_owned(),
        objective_terms,
        options,
    }
}

fn laplace_steps(model: &Model, hypers: &[HyperUpdate], flat: bool, options: &Options) -> Vec<Step> {
    let mut steps = vec![
        step(
            "mode",
            "w* ← w* + D B⁻¹ D (Φᵀδ − A w*), δ = dl/df, until the decrement is below 1e-24",
            r"w^* \leftarrow w^* + D B^{-1} D (\Phi^\top \delta - A w^*)",
            "Tipping (2001), (24)–(25); mathematics §4",
            "(N k² + k³/3) a Newton step",
        ),
        step(
            "curvature",
            "B = I + D Φᵀ H Φ D, H = −d²l/df², Σ = D B⁻¹ D",
            r"B = I + D \Phi^\top H \Phi D,\quad \Sigma = D B^{-1} D",
            "mathematics §0.1, §4",
            "k³",
        ),
    ];
    if flat {
        steps.push(step(
            "flat effects",
            "a column with α = 0; γ = 1 for each",
            r"\alpha_f = 0,\quad \gamma_f = 1",
            "mathematics §1.1",
            "N k k_f",
        ));
    }
    for hyper in hypers {
        let (does, source) = match options.curvature {
            Curvature::Fixed => ("update with H held", "MacKay (1992); Tipping (2001), §3"),
            Curvature::Exact => ("step on the exact evidence", "mathematics §4, exact gradient"),
        };
        let formula = match options.curvature {
            Curvature::Fixed => hyper.formula.clone(),
            Curvature::Exact => {
                "dZ/d ln α_i = ½(γ_i − α_i w_i²) + ½ α_i w_i Σ_n [ΦΣ]_ni v_n dh_n/df_n".to_owned()
            }
        };
        steps.push(step(
            &format!("{does}: {}", hyper.name),
            &formula,
            &super::latex::math(&formula),
            source,
            "k³",
        ));
    }
    if options.schedule == Schedule::Sequential {
        steps.push(step(
            "add",
            "the basis function of largest gain ½(r − 1 − ln r), r = Q²/S, Q_j = φ_jᵀδ, S_j = φ_jᵀHφ_j − φ_jᵀHΦΣΦᵀHφ_j",
            r"Q_j = \phi_j^\top\delta,\quad S_j = \phi_j^\top H\phi_j - \phi_j^\top H\Phi\Sigma\Phi^\top H\phi_j",
            "Tipping and Faul (2003); Li and de Rijke (2018); mathematics §4",
            "N M k",
        ));
    }
    steps.push(step(
        "evidence",
        "Z = Σ l_n − ½ w*ᵀ A w* − ½ ln|B|",
        r"Z = \sum_n l_n - \tfrac12 w^{*\top} A w^* - \tfrac12 \ln|B|",
        "MacKay (1992); mathematics §4",
        "N k",
    ));
    if hypers.iter().any(|h| is_own(model, h.node) && !steps::is_proper(model, h)) {
        steps.push(step(
            "prune",
            "drop i if q_i² ≤ s_i in the Gaussian at the mode; one at a time, then try to add back",
            r"q_i^2 \le s_i,\quad q_i = w_i/\Sigma_{ii},\quad s_i = 1/\Sigma_{ii} - \alpha_i",
            "Faul and Tipping (2002); mathematics §4",
            "k per test, N M k per search outside",
        ));
    }
    steps
}
