//! The pipeline, from text to a fit and a prediction.

pub mod bind;
pub mod cancel;
pub mod compare;
pub mod compile;
pub mod cross_validate;
pub(crate) mod draws;
pub mod file;
pub(crate) mod findings;
pub mod fit;
pub mod heal;
pub(crate) mod nodes;
pub mod options;
pub(crate) mod outside;
pub mod posterior;
pub mod predict;
pub(crate) mod predictive;
pub mod result;
pub mod sample;
pub mod score;
pub(crate) mod seen;
mod serial;
pub(crate) mod unique;
pub(crate) mod verify;

/// The version of the JSON that the program writes.
pub const SCHEMA: u32 = 1;

/// A JSON object with the version of the program and of the schema in front.
pub fn stamped(object: serde_json::Value) -> serde_json::Value {
    let mut stamped = serde_json::json!({ "sbl": env!("CARGO_PKG_VERSION"), "schema": SCHEMA });
    if let (serde_json::Value::Object(all), serde_json::Value::Object(rest)) = (&mut stamped, object) {
        all.extend(rest);
    }
    stamped
}
