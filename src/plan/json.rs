//! The plan as JSON: everything it holds, shapes and scales as text.

use serde_json::{Value, json as object};

use super::ir::Plan;
use super::text::{mean_text, prior_text, scale_text, shape_text, start_text};
use crate::check::typed::Model;

/// The fields of [`Plan`], with `sbl`, `schema`, `model`, and for every block, term and hyperparameter its
/// shape, mean, scale and prior as text.
pub fn json(plan: &Plan, model: &Model) -> Value {
    let mut value = serde_json::to_value(plan).unwrap_or_default();
    for (i, block) in plan.blocks.iter().enumerate() {
        let at = &mut value["blocks"][i];
        at["shape"] = shape_text(model, &block.shape).into();
        at["mean"] = mean_text(model, block.mean).into();
        at["scale"] = scale_text(model, block.scale).into();
        drop_ids(at);
    }
    for (i, term) in plan.terms.iter().enumerate() {
        let at = &mut value["terms"][i];
        let names: Vec<&str> = term.blocks.iter().map(|id| model.node(*id).name.as_str()).collect();
        at["blocks"] = object!(names);
        at["mean"] = mean_text(model, Some(term.mean)).into();
        at["scale"] = super::text::term_scale_text(model, term).into();
        at["weighted"] = term.weight.is_some().into();
        drop_ids(at);
    }
    for i in 0..plan.factors.len() {
        drop_ids(&mut value["factors"][i]);
    }
    for (i, hyper) in plan.hypers.iter().enumerate() {
        let (shape, rate) = prior_text(model, hyper);
        let at = &mut value["hypers"][i];
        at["prior"] = object!({"shape": shape, "rate": rate});
        drop_ids(at);
        if let Some(map) = at.as_object_mut() {
            map.shift_remove("rate_power");
        }
    }
    for (i, param) in plan.params.iter().enumerate() {
        let at = &mut value["params"][i];
        at["shape"] = shape_text(model, &model.node(param.node).ty.shape).into();
        at["start"] = start_text(model, param.node).into();
        drop_ids(at);
    }
    let mut all = object!({"sbl": env!("CARGO_PKG_VERSION"), "schema": 1, "model": model.name});
    if let (Some(all), Value::Object(fields)) = (all.as_object_mut(), value) {
        all.extend(fields);
    }
    all
}

/// Ids mean nothing outside the program.
fn drop_ids(at: &mut Value) {
    if let Some(map) = at.as_object_mut() {
        map.shift_remove("node");
    }
}
