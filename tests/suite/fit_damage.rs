//! Damaged, foreign and hostile fit files: an error with a code and the name of the file, never a panic.

use std::time::{Duration, Instant};

use sbl::Fit;
use sbl::session::file::VERSION;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::fit_samples::{Sample, samples};

/// The codes that say that a file cannot be used.
const CODES: [&str; 4] = ["E0811", "E0812", "E0813", "E0814"];

fn smallest() -> Sample {
    samples(VERSION).into_iter().min_by_key(|s| s.bytes.len()).unwrap()
}

/// The code of the error, which names the file.
#[track_caller]
fn refused(bytes: &[u8]) -> &'static str {
    let started = Instant::now();
    let error = Fit::from_bytes(bytes, "x.sblfit").expect_err("a damaged file was read");
    assert!(started.elapsed() < Duration::from_secs(1));
    let first = &error.diagnostics()[0];
    assert!(CODES.contains(&first.code) && first.message.contains("x.sblfit"), "{first:#?}");
    assert!(first.help.is_some(), "{first:#?}");
    first.code
}

/// The file around a body, header and checksum right.
fn wrapped(body: &[u8]) -> Vec<u8> {
    let sum: String = Sha256::digest(body).iter().map(|b| format!("{b:02x}")).collect();
    let mut bytes = format!("sblfit {VERSION}\nsha256 {sum}\nbytes {}\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// What is inside a file.
fn body(bytes: &[u8]) -> &[u8] {
    bytes.splitn(4, |b| *b == b'\n').last().unwrap()
}

#[test]
fn every_truncation_is_an_error() {
    let good = smallest().bytes;
    for end in 0..good.len() {
        refused(&good[..end]);
    }
    assert_eq!(wrapped(body(&good)), good);
}

#[test]
fn every_flipped_bit_is_an_error() {
    let mut bytes = smallest().bytes;
    for bit in 0..8 * bytes.len() {
        bytes[bit / 8] ^= 1 << (bit % 8);
        refused(&bytes);
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn appended_bytes_are_an_error() {
    for tail in ["\n", " ", "x", "\0"] {
        let mut bytes = smallest().bytes;
        bytes.extend_from_slice(tail.as_bytes());
        assert_eq!(refused(&bytes), "E0811");
    }
}

#[test]
fn other_files_and_versions_say_what_they_are() {
    let says = |bytes: &[u8], name: &str| Fit::from_bytes(bytes, name).unwrap_err().to_string();
    assert_eq!(refused(b""), "E0812");
    assert!(says(b"", "x").contains("`x` is no fit file: it is empty"));
    assert!(says(b"sblf", "x").contains("it ends in its first line"));
    assert_eq!(refused(b"x,t\n1,2\n"), "E0812");
    let program = says(b"model a {}", "m.sbl");
    assert!(
        program.contains("it looks like a program")
            && program.contains("sbl fit m.sbl --data data.csv -o m.sblfit")
    );
    assert_eq!(refused(&[0x1f, 0x8b, 8, 0, 0]), "E0812");
    let future = says(b"sblfit 2\nsha256 x\nbytes 0\n", "x");
    assert!(future.contains("E0813") && future.contains("update sbl"), "{future}");
    for version in ["0", "01", "+1", "1 ", "-1", "99999999999999999999", "one", "\u{1b}[31m", ""] {
        assert_eq!(
            refused(format!("sblfit {version}\nsha256 x\nbytes 0\n").as_bytes()),
            "E0813",
            "{version:?}"
        );
    }
    assert!(!says("sblfit \u{1b}[31m\n".as_bytes(), "x").contains('\u{1b}'), "text that drives a terminal");
}

#[test]
fn a_header_cannot_ask_for_memory() {
    let good = smallest().bytes;
    let text = String::from_utf8(good.clone()).unwrap();
    let length = format!("bytes {}\n", body(&good).len());
    for claim in ["10000000000", "18446744073709551615", "99999999999999999999999", "-1", "1e9", ""] {
        assert_eq!(refused(text.replacen(&length, &format!("bytes {claim}\n"), 1).as_bytes()), "E0811");
    }
    // a line that never ends
    let mut endless = b"sblfit ".to_vec();
    endless.resize(50_000_000, b'1');
    refused(&endless);
}

/// What can be written into a place of a body, each once.
fn others(value: &Value) -> Vec<Value> {
    let mut all = vec![json!(null), json!([]), json!({}), json!("x"), json!(-1)];
    match value {
        Value::Number(_) => {
            all.extend([
                json!(0),
                json!(1),
                json!(1e300),
                json!(u64::MAX),
                json!(i64::MAX),
                json!(1u64 << 39),
            ]);
        }
        Value::String(_) => all.extend([json!(""), json!("w"), json!("NaN"), json!("\u{1b}[2J")]),
        Value::Array(items) => {
            let mut longer = items.clone();
            longer.extend(items.last().cloned());
            all.push(longer.into());
            all.push(items.iter().skip(1).cloned().collect());
            all.push(items.iter().rev().cloned().collect());
            all.push(json!([[0]]));
        }
        Value::Object(map) => {
            for key in map.keys() {
                let mut fewer = map.clone();
                fewer.shift_remove(key);
                all.push(fewer.into());
            }
        }
        Value::Bool(b) => all.push((!b).into()),
        Value::Null => all.push(json!(0)),
    }
    all.retain(|other| other != value);
    all
}

/// Pointers to every place of a value; of a long array the first and the last entry only.
fn places(value: &Value, at: String, all: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            let mut ends = vec![0, items.len().saturating_sub(1)];
            ends.dedup();
            for i in ends {
                if let Some(item) = items.get(i) {
                    places(item, format!("{at}/{i}"), all);
                }
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                places(item, format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), all);
            }
        }
        _ => {}
    }
    all.push(at);
}

/// Whoever computes the checksum of what they forged gets an error, or a fit that works: predictions, draws
/// and scores end without a panic and within a second.
fn forge(sample: &Sample, step: usize, start: usize) {
    let good: Value = serde_json::from_slice(body(&sample.bytes)).unwrap();
    let inputs = sample.inputs();
    let mut all = Vec::new();
    places(&good, String::new(), &mut all);
    let forged =
        all.iter().flat_map(|at| others(good.pointer(at).unwrap()).into_iter().map(move |o| (at, o)));
    for (at, other) in forged.skip(start).step_by(step) {
        let mut bad = good.clone();
        *bad.pointer_mut(at).unwrap() = other.clone();
        let bytes = wrapped(&serde_json::to_vec(&bad).unwrap());
        let started = Instant::now();
        let outcome = std::panic::catch_unwind(|| {
            if let Ok(fit) = Fit::from_bytes(&bytes, "x.sblfit") {
                let _ = fit.predict(&inputs);
                let _ = fit.sample(Some(&inputs), 2, 1);
                let _ = fit.sample(None, 2, 1);
                let _ = sbl::compare(&[("x".to_owned(), fit.clone())]);
                let _ = fit.to_bytes();
            }
        });
        let place =
            format!("{}: {at} = {}", sample.name, other.to_string().chars().take(80).collect::<String>());
        assert!(outcome.is_ok(), "panic: {place}");
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}: {place}", started.elapsed());
    }
}

#[test]
fn a_forged_fit_of_every_sample_is_an_error_or_works() {
    let all = std::env::var_os("ALL_FORGED").is_some();
    for (i, sample) in samples(VERSION).iter().enumerate() {
        // every place of one sample in thirteen, by turns: the whole takes minutes (`ALL_FORGED=1`)
        forge(sample, if all { 1 } else { 13 }, if all { 0 } else { i % 13 });
    }
}

#[test]
fn wrong_shapes_behind_a_right_checksum_are_named() {
    let sample = samples(VERSION).into_iter().find(|s| s.name == "evidence_normal").unwrap();
    let good: Value = serde_json::from_slice(body(&sample.bytes)).unwrap();
    let says = |change: &dyn Fn(&mut Value)| {
        let mut bad = good.clone();
        change(&mut bad);
        let bytes = wrapped(&serde_json::to_vec(&bad).unwrap());
        assert_eq!(refused(&bytes), "E0811");
        Fit::from_bytes(&bytes, "x.sblfit").unwrap_err().diagnostics()[0].message.clone()
    };
    let drop_last = |at: &'static str| {
        move |v: &mut Value| {
            v.pointer_mut(at).unwrap().as_array_mut().unwrap().pop();
        }
    };
    assert!(says(&drop_last("/posterior/covariance")).contains("its covariance is none"));
    assert!(says(&drop_last("/posterior/mean")).contains("its covariance is none"));
    assert!(says(&drop_last("/posterior/blocks/0/q")).contains("its weights of `w` are impossible"));
    assert!(says(&drop_last("/posterior/blocks")).contains("weights of other nodes than its plan"));
    assert!(says(&|v| v["posterior"]["blocks"][0]["len"] = json!(1u64 << 60)).contains("its weights of `w`"));
    assert!(says(&|v| v["posterior"]["covariance"][0] = json!(-1.0)).contains("its covariance is none"));
    assert!(says(&|v| v["posterior"]["mean"][0] = json!(null)).contains("invalid type: null"));
    assert!(says(&|v| v["result"]["nodes"]["w"]["shape"] = json!([1u64 << 40, 1u64 << 40])).contains("`w`"));
    assert!(says(&|v| v["result"]["nodes"]["extra"] = v["result"]["nodes"]["w"].clone()).contains("`extra`"));
    assert!(says(&|v| v["schema"]["dims"][0][1] = json!(1u64 << 60)).contains("dimension"));
}

#[test]
fn numbers_that_are_none_and_keys_that_stand_twice_are_errors() {
    let sample = smallest();
    let text = String::from_utf8(body(&sample.bytes).to_vec()).unwrap();
    for (from, to, says) in [
        ("\"seed\":0", "\"seed\":0,\"seed\":0", "stands twice"),
        ("\"seed\":0", "\"seed\":NaN", "damaged"),
        ("\"seed\":0", "\"seed\":1e999", "out of range"),
        ("\"seed\":0", "\"seed\":-0.5", "invalid"),
        ("\"rank\":", "\"rank\":\"Scalar\",\"rank\":", "stands twice"),
    ] {
        assert!(text.contains(from), "{from}");
        let bytes = wrapped(text.replacen(from, to, 1).as_bytes());
        assert_eq!(refused(&bytes), "E0811");
        let error = Fit::from_bytes(&bytes, "x").unwrap_err().to_string();
        assert!(error.contains(says), "{to}: {error}");
    }
    for body in ["", "{}", "null", "[]", "\u{feff}{}", &"[".repeat(200), &format!("{text}{text}")] {
        refused(&wrapped(body.as_bytes()));
    }
    let deep = format!("{}{}{}", "{\"seed\":".repeat(200), 1, "}".repeat(200));
    refused(&wrapped(deep.as_bytes()));
    refused(&wrapped(&[0xff, 0xfe, 0x00]));
}

/// A source that this version cannot compile is what a fit of a later version looks like.
#[test]
fn another_source_is_another_compiler() {
    let sample = smallest();
    let good: Value = serde_json::from_slice(body(&sample.bytes)).unwrap();
    for source in
        ["data t: real[N]\nt ~ Normal(0, sd = 1)\n", "data t: real[N]\nt ~~ New(1)\n", "", "use \"a.sbl\"\n"]
    {
        let mut bad = good.clone();
        bad["source"] = json!(source);
        assert_eq!(refused(&wrapped(&serde_json::to_vec(&bad).unwrap())), "E0814", "{source}");
    }
}
