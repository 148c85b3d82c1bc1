//! Programs compiled for tests of later stages.

use sbl::check::{self, NoFiles, typed::Model};
use sbl::diag::Diagnostics;
use sbl::plan::{self, ir::Plan};
use sbl::source::SourceMap;
use sbl::{graph, syntax};

/// The one model of a correct program, with its sources.
pub fn compile(source: &str) -> (Model, SourceMap) {
    let mut sources = SourceMap::new();
    let file = sources.add("test.sbl", source);
    let module =
        syntax::parse::parse(file, source).unwrap_or_else(|e| panic!("{source}\ndoes not parse: {e:#?}"));
    let mut models = check::check(&mut sources, &module.value, &check::Options::default(), &NoFiles)
        .unwrap_or_else(|e| panic!("{source}\ndoes not check: {e:#?}"))
        .value;
    assert_eq!(models.len(), 1);
    (models.remove(0), sources)
}

/// The plan of a correct program, or why there is none.
pub fn plan_of(source: &str) -> (Model, SourceMap, Result<Plan, Diagnostics>) {
    let (model, sources) = compile(source);
    let dag = graph::build(&model).unwrap().value;
    let plan = plan::plan(&model, &dag).map(|plan| plan.value);
    (model, sources, plan)
}
