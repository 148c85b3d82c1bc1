//! Graphs of real programs: drawings as snapshots, plates, roles, queries.

use sbl::graph::{self, Dag, Format, Role, draw, query};

use crate::compiled::compile;
use crate::programs::PROGRAMS;

fn dag(name: &str) -> Dag {
    let (_, source, _) = PROGRAMS.iter().find(|(n, ..)| *n == name).unwrap();
    graph::build(&compile(source).0).unwrap().value
}

#[test]
fn every_program_is_drawn_in_every_format() {
    for (name, source, _) in PROGRAMS {
        let dag = graph::build(&compile(source).0).unwrap().value;
        let mut all = String::new();
        for (format, which) in Format::ALL {
            let drawn = draw(&dag, *which);
            assert!(drawn.ends_with('\n'), "{name} as {format} does not end its last line");
            // the picture is snapshot for two programs; the others are the same code
            if *which != Format::Svg || matches!(*name, "sinc" | "schools") {
                all.push_str(&format!("--- {format}\n{drawn}"));
            }
        }
        insta::assert_snapshot!(format!("graph_{name}"), all);
    }
}

#[test]
fn roles_and_plates_are_those_of_the_lecture() {
    let sinc = dag("sinc");
    let node = |name: &str| sinc.node(sinc.find(name).unwrap());
    for (name, role, plates) in [
        ("x", Role::Data, "n"),
        ("t", Role::Observed, "n"),
        ("phi", Role::Derived, "n"),
        ("w", Role::Latent, "m"),
        ("w.alpha", Role::Hyper, "m"),
        ("tau", Role::Hyper, ""),
    ] {
        let indices: Vec<&str> = node(name).plates.iter().map(|p| sinc.plate(*p).index.as_str()).collect();
        assert_eq!((node(name).role, indices.join(" ").as_str()), (role, plates), "{name}");
    }
    let labels: Vec<String> = sinc.plates().iter().map(|p| p.label()).collect();
    assert_eq!(labels, ["n in N", "m in cols(phi)"]);
}

#[test]
fn a_node_in_two_plates_lies_in_the_inner_one() {
    let dag = dag("shared_relevance");
    let plates = |name: &str| dag.node(dag.find(name).unwrap()).plates.len();
    assert_eq!([plates("W"), plates("alpha"), plates("y")], [2, 1, 2]);
}

#[test]
fn the_blanket_of_the_weights_is_what_their_posterior_needs() {
    let sinc = dag("sinc");
    let blanket = query::markov_blanket(&sinc, sinc.find("w").unwrap());
    let names =
        |ids: &[graph::dag::NodeId]| ids.iter().map(|id| sinc.node(*id).name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&blanket.parents), ["w.alpha"]);
    assert_eq!(names(&blanket.children), ["t"]);
    assert_eq!(names(&blanket.coparents), ["phi", "tau"]);
    // a `let` of unknowns is looked through
    let dag = dag("intercepts");
    let blanket = query::markov_blanket(&dag, dag.find("w").unwrap());
    let names: Vec<&str> = blanket.all().iter().map(|id| dag.node(*id).name.as_str()).collect();
    assert_eq!(names, ["x", "school", "score", "w.alpha", "u", "tau"]);
    let through: Vec<&str> = blanket.through.iter().map(|id| dag.node(*id).name.as_str()).collect();
    assert_eq!(through, ["fitted"]);
}

#[test]
fn weights_and_noise_are_independent_until_the_targets_are_seen() {
    let sinc = dag("sinc");
    let id = |name: &str| sinc.find(name).unwrap();
    assert!(query::d_separated(&sinc, &[id("w")], &[id("tau")], &[]).separated);
    let seen = query::d_separated(&sinc, &[id("w")], &[id("tau")], &[id("t")]);
    assert!(!seen.separated);
    assert_eq!(query::path_text(&sinc, &seen.path), "w → t ← tau");
    assert_eq!(seen.why, ["`t` is a common effect and is given"]);
    let shielded = query::d_separated(&sinc, &[id("w.alpha")], &[id("t")], &[id("w")]);
    assert_eq!(shielded.why, ["blocked at `w`: it is given"]);
}

#[test]
fn an_unknown_node_is_an_error_with_the_nearest_name() {
    let error = dag("sinc").find("tua").unwrap_err();
    assert_eq!((error.code, error.message.as_str()), ("E0551", "the model `sinc` has no node `tua`"));
    assert_eq!(error.help.as_deref(), Some("did you mean `tau`?"));
}

#[test]
fn plate_style_and_vector_style_have_one_graph() {
    let rename = |text: String| text.replace("w.alpha", "alpha").replace("sinc_plates", "sinc");
    let vector = "use std.kernels.rbf
model sinc {
    data x: real[N]
    data t: real[N]
    let phi = [1, rbf(x, width = 3.0)]
    tau ~ Gamma(1e-6, 1e-6)
    alpha ~ Gamma(1e-6, 1e-6) [cols(phi)]
    w ~ Normal(0, precision = alpha)
    t ~ Normal(phi * w, precision = tau)
}
";
    let one = graph::build(&compile(vector).0).unwrap().value;
    assert_eq!(rename(draw(&dag("sinc_plates"), Format::Json)), draw(&one, Format::Json));
}

#[test]
fn names_of_any_script_are_escaped() {
    let source = "data x: real[N, D]\ndata 目标: real[N]\nα ~ Gamma(0, 0)\nw_1 ~ Normal(0, precision = α) [D]\n\
                  目标 ~ Normal(x * w_1, precision = 4)\n";
    let dag = graph::build(&compile(source).0).unwrap().value;
    let mut all = String::new();
    for (format, which) in Format::ALL {
        all.push_str(&format!("--- {format}\n{}", draw(&dag, *which)));
    }
    insta::assert_snapshot!("graph_unicode", all);
}
