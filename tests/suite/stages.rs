//! Every stage of every example, as text: tokens, tree, typed model, graph, plan.

use sbl::Compiler;

#[test]
fn every_stage_of_every_example() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "sbl"));
    paths.sort();
    assert!(paths.len() >= 14);
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&path).unwrap();
        let model = Compiler::new().file(&format!("{name}.sbl")).compile(&source).unwrap();
        let plan = match model.plan() {
            Ok(plan) => sbl::plan::text(plan, model.typed()),
            Err(why) => why.to_string(),
        };
        let stages = [
            ("tokens", sbl::syntax::print::print_tokens(&source)),
            ("ast", sbl::syntax::print::print_ast(model.module())),
            ("typed", sbl::check::print_typed(model.typed())),
            ("dag", sbl::graph::draw(model.dag(), sbl::graph::Format::Text)),
            ("plan", plan),
        ];
        for (stage, text) in stages {
            insta::assert_snapshot!(format!("{name}_{stage}"), text);
        }
        // the formatter keeps the tree
        let formatted = sbl::syntax::format(&source).unwrap();
        assert_eq!(formatted, source, "{name} is not in the canonical layout");
    }
}
