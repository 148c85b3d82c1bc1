//! A small HTTP service that answers predictions from a fit file.
//!
//! ```text
//! sbl fit examples/sinc.sbl --data examples/data/sinc.csv -o sinc.sblfit
//! cargo run --release --example service -- sinc.sblfit 127.0.0.1:8080
//! curl http://127.0.0.1:8080/health
//! curl http://127.0.0.1:8080/predict -d '{"x": [0.5, 1.5]}'
//! ```
//! `/predict` takes an object of columns (numbers, rows of numbers, words; null is a missing value) and answers
//! what `sbl predict --format json` prints, with `warnings` if there are any. What is wrong with a request is a
//! 4xx with the diagnostics as JSON. Port 0 takes a free one; the address that is served is the first line
//! of output.

use std::process::ExitCode;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use sbl::diag::{Diagnostic, render};
use sbl::source::SourceMap;
use sbl::{Data, Fit};
use serde_json::{Value, json};

/// Larger requests are refused, before they are read.
const MOST_BYTES: usize = 8 << 20;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (Some(path), Some(address), None) = (args.next(), args.next(), args.next()) else {
        eprintln!("usage: service FIT ADDRESS");
        return ExitCode::from(2);
    };
    // A fit that cannot be served is said at the start, not at the first request.
    let fit = match read(&path) {
        Ok(fit) => fit,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    match serve(fit, &address) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot serve at {address}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn read(path: &str) -> Result<Fit, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {path}: {e}"))?;
    Fit::from_bytes(&bytes, path).map_err(|e| e.to_string())
}

fn serve(fit: Fit, address: &str) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_io().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await?;
        println!("http://{}", listener.local_addr()?);
        axum::serve(listener, router(fit)).await
    })
}

fn router(fit: Fit) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/predict", post(predict))
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        // a `Fit` is shared as it is: it never changes
        .with_state(Arc::new(fit))
}

async fn health(State(fit): State<Arc<Fit>>) -> Response {
    let result = fit.result();
    answer(StatusCode::OK, &json!({"status": "ok", "model": result.model, "sbl": result.sbl}))
}

async fn predict(State(fit): State<Arc<Fit>>, body: Bytes) -> Response {
    // a prediction computes: it must not keep the threads that read and write from their work
    let done = tokio::task::spawn_blocking(move || predicted(&fit, &body)).await;
    let (status, value) = done.unwrap_or_else(|_| (StatusCode::INTERNAL_SERVER_ERROR, json!({})));
    answer(status, &value)
}

fn predicted(fit: &Fit, body: &[u8]) -> (StatusCode, Value) {
    let data = match columns(body) {
        Ok(data) => data,
        Err(message) => return (StatusCode::BAD_REQUEST, json!({"error": message})),
    };
    match fit.predict(&data) {
        Ok(prediction) => {
            let mut value = prediction.to_json();
            if !prediction.warnings.is_empty() {
                value["warnings"] = diagnostics(&prediction.warnings, fit.model().sources());
            }
            (StatusCode::OK, value)
        }
        Err(error) => {
            let found = diagnostics(error.diagnostics(), error.sources());
            (StatusCode::UNPROCESSABLE_ENTITY, json!({ "diagnostics": found }))
        }
    }
}

fn diagnostics(found: &[Diagnostic], sources: &SourceMap) -> Value {
    render::to_json(found, sources)
}

fn answer(status: StatusCode, value: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

/// `{"x": [1, 2], "z": [[1, 2], [3, 4]], "g": ["a", "b"]}` as columns.
fn columns(body: &[u8]) -> Result<Data, String> {
    let value: Value = serde_json::from_slice(body).map_err(|e| format!("the body is no JSON: {e}"))?;
    let Value::Object(columns) = value else {
        return Err("the body is no object of columns".to_owned());
    };
    let mut data = Data::new().named("the request");
    for (name, value) in columns {
        let added = match &value {
            Value::Number(_) => data.scalar(&name, number(&value)?),
            Value::Array(cells) if cells.iter().any(Value::is_array) => {
                let rows: Result<Vec<Vec<f64>>, String> = cells.iter().map(row).collect();
                data.rows(&name, &rows?)
            }
            Value::Array(cells) if cells.iter().any(Value::is_string) => {
                let words: Option<Vec<&str>> = cells.iter().map(Value::as_str).collect();
                data.words(&name, &words.ok_or(format!("`{name}` holds words and something else"))?)
            }
            Value::Array(_) => data.vector(&name, &row(&value)?),
            _ => return Err(format!("`{name}` is no array")),
        };
        data = added.map_err(|e| e.diagnostics()[0].message.clone())?;
    }
    Ok(data)
}

fn row(cells: &Value) -> Result<Vec<f64>, String> {
    let cells = cells.as_array().ok_or("a row of a matrix is no array")?;
    cells.iter().map(number).collect()
}

fn number(cell: &Value) -> Result<f64, String> {
    match cell {
        Value::Null => Ok(f64::NAN),
        cell => cell.as_f64().ok_or(format!("{cell} is no number")),
    }
}
