//! Plans of real programs: the choice, the reasons, and all forms as snapshots.

use sbl::plan;

use crate::compiled::plan_of;
use crate::programs::PROGRAMS;

#[test]
fn every_program_has_its_plan_or_says_why_not() {
    for (name, source, expected) in PROGRAMS {
        let (model, _, found) = plan_of(source);
        match found {
            Ok(plan) => {
                assert_eq!(plan.method, *expected, "{name}");
                insta::assert_snapshot!(format!("plan_{name}"), plan::text(&plan, &model));
            }
            Err(errors) => {
                assert_eq!(errors[0].code, *expected, "{name}: {errors:#?}");
                insta::assert_debug_snapshot!(format!("plan_{name}"), errors);
            }
        }
    }
}

#[test]
fn json_and_latex_hold_the_same_plan() {
    let (_, source, _) = PROGRAMS.iter().find(|(name, ..)| *name == "intercepts").unwrap();
    let (model, _, found) = plan_of(source);
    let plan = found.unwrap();
    let json = serde_json::to_string_pretty(&plan::json(&plan, &model)).unwrap();
    insta::assert_snapshot!("plan_json", json);
    insta::assert_snapshot!("plan_latex", plan::latex(&plan, &model));
}

#[test]
fn sinc_plates_is_served_by_evidence_on_request() {
    let (_, source, _) = PROGRAMS.iter().find(|(name, ..)| *name == "sinc_plates").unwrap();
    let (_, _, found) =
        plan_of(&source.replace("infer variational", "infer evidence(updates = em, tol = 1e-8)"));
    let plan = found.unwrap();
    assert_eq!((plan.method.as_str(), plan.schedule.as_str(), plan.options.tol), ("evidence", "batch", 1e-8));
    assert_eq!(plan.hypers[0].formula, "tau = (N + 2a) / (rss + tr VΦΣΦᵀ + 2b)");
    assert_eq!(plan.hypers[1].formula, "alpha_i = (1 + 2a) / (m_i² + Σ_ii + 2b)");
    assert!(plan.prune.contains("nothing is pruned"), "{}", plan.prune);
}

#[test]
fn auto_says_which_rule_it_followed() {
    let base = "data x: real[N, D]\ndata t: real[N]\nalpha ~ Gamma(HYPER) [D]\nw ~ Normal(0, precision = alpha)\n\
                tau ~ Gamma(0, 0)\nt ~ Normal(x * w, precision = tau)\n";
    let (_, _, flat) = plan_of(&base.replace("HYPER", "0, 0"));
    assert!(flat.unwrap().why[0].starts_with("rule 4: every likelihood is Gaussian"));
    let (_, _, proper) = plan_of(&base.replace("HYPER", "1e-6, 1e-6"));
    let proper = proper.unwrap();
    assert!(proper.why[0].starts_with("rule 3: the free precision `alpha` has a proper Gamma prior"));
    assert_eq!(proper.method, "variational");
}

#[test]
fn from_400_weights_on_the_schedule_is_sequential() {
    let source = |n: &str, infer: &str| {
        format!(
            "data x: real[N, {n}]\ndata t: real[N]\nalpha ~ Gamma(0, 0) [{n}]\nw ~ Normal(0, precision = alpha)\n\
             t ~ Normal(x * w, precision = 4)\n{infer}\n"
        )
    };
    let plan = |n: &str, infer: &str| plan_of(&source(n, infer)).2.unwrap();
    let below = plan("399", "");
    assert_eq!((below.schedule.as_str(), below.why.len()), ("batch", 1));
    let from = plan("400", "");
    assert_eq!(from.schedule, "sequential");
    assert_eq!(from.why[1], "400 weights that can be pruned: from 400 on the schedule is sequential");
    assert_eq!(plan("400", "infer evidence").schedule, "batch");
    assert_eq!(plan("400", "infer auto(schedule = batch)").schedule, "batch");
    assert_eq!(plan("4", "infer evidence(schedule = sequential)").schedule, "sequential");
    // settled by the data
    let open = plan("D", "");
    assert_eq!(open.schedule, "auto");
    assert!(open.why[1].starts_with("D weights that can be pruned: below 400 the schedule is batch"));
    let (model, _, _) = plan_of(&source("D", ""));
    let dag = sbl::graph::build(&model).unwrap().value;
    let settled = plan::settle(&open, &model, &dag, &|_| 400);
    assert_eq!(settled.schedule, "sequential");
    // with the steps of that schedule, as if the number had been in the program
    let steps = |plan: &plan::ir::Plan| plan.steps.iter().map(|s| s.does.clone()).collect::<Vec<_>>();
    assert_eq!((steps(&settled), &settled.hypers[0].formula), (steps(&from), &from.hypers[0].formula));
    assert_eq!((&settled.why[0], &settled.rejected), (&open.why[0], &open.rejected));
    assert_eq!(settled.why[1], "400 weights that can be pruned: from 400 on the schedule is sequential");
    assert_eq!(plan::settle(&open, &model, &dag, &|_| 399).schedule, "batch");
    // weights without a precision of their own cannot be added one at a time
    let ridge =
        source("500", "").replace("Gamma(0, 0) [500]", "Gamma(0, 0)").replace("= alpha)", "= alpha) [500]");
    assert_eq!(plan_of(&ridge).2.unwrap().schedule, "batch");
}

#[test]
fn sequential_is_a_schedule_of_the_method_that_the_likelihood_asks_for() {
    let source = "data x: real[N, D]\ndata t: real[N]\nalpha ~ Gamma(0, 0) [D]\nw ~ Normal(0, precision = alpha)\n\
                  tau ~ Gamma(0, 0)\nt ~ Normal(x * w, precision = tau)\ninfer sequential(min_gain = 1)\n";
    let (model, _, found) = plan_of(source);
    let plan = found.unwrap();
    assert_eq!(
        (plan.method.as_str(), plan.schedule.as_str(), plan.options.min_gain),
        ("evidence", "sequential", 1.0)
    );
    assert!(plan.rejected.iter().all(|r| r.method != "sequential"));
    insta::assert_snapshot!("plan_sequential", plan::text(&plan, &model));
    insta::assert_snapshot!("plan_sequential_latex", plan::latex(&plan, &model));
    let (_, _, found) = plan_of(&source.replace("min_gain = 1", "curvature = exact"));
    assert_eq!(found.unwrap_err()[0].code, "E0604");
}

#[test]
fn parents_come_before_children() {
    let source = "data t: real[N]\ndata g: category[N]\nu ~ Normal(mu, precision = 1) [levels(g)]\nmu ~ Normal(m0, precision = 2)\n\
                  m0 ~ Flat()\nt ~ Normal(u[g], precision = 4)\n";
    let plan = plan_of(source).2.unwrap();
    let names: Vec<&str> = plan.blocks.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["m0", "mu", "u"]);
    assert!(plan.blocks[0].scale.is_none() && plan.blocks[0].mean.is_none());
    assert!(plan.blocks[1].mean.is_some());
}

#[test]
fn known_factors_and_powers_of_precisions_are_scales() {
    let base = "data x: real[N, D]\ndata v: positive[N]\ndata t: real[N]\ntau ~ Gamma(0, 0)\nlambda ~ Gamma(0, 0)\n\
                w ~ Normal(0, precision = lambda * tau) [D]\nt ~ Normal(x * w, SCALE)\n";
    for scale in [
        "precision = tau",
        "precision = 2 * tau",
        "variance = 1 / tau",
        "sd = 1 / sqrt(tau)",
        "precision = tau * v",
        "sd = tau",
    ] {
        let (model, _, found) = plan_of(&base.replace("SCALE", scale));
        let plan = found.unwrap_or_else(|e| panic!("{scale}: {e:#?}"));
        assert_eq!(plan::text::scale_text(&model, plan.terms[0].scale), scale);
        assert_eq!(plan::text::scale_text(&model, plan.blocks[0].scale), "precision = lambda * tau");
    }
}
