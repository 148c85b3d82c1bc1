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
fn from_400_weights_on_the_schedule_is_spoken_of() {
    let source = |n: usize| {
        format!(
            "data x: real[N, {n}]\ndata t: real[N]\nw ~ Normal(0, precision = 1) [{n}]\nt ~ Normal(x * w, precision = 4)\n"
        )
    };
    let reasons = |n| plan_of(&source(n)).2.unwrap().why.join("\n");
    assert!(!reasons(399).contains("sequential"));
    assert!(
        reasons(400)
            .contains("400 weights: from 400 on the schedule would be sequential, but it is not available")
    );
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
