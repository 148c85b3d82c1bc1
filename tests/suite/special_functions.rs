//! Special functions against a table of 60-digit values.

use sbl::math::special::*;

#[test]
fn special_functions_are_right_to_thirteen_digits() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/special_functions.json");
    let table: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for (name, rows) in table["functions"].as_object().unwrap() {
        let f: fn(f64) -> f64 = match name.as_str() {
            "ln_gamma" => ln_gamma,
            "digamma" => digamma,
            "trigamma" => trigamma,
            "ln_normal_cdf" => ln_normal_cdf,
            "normal_cdf" => normal_cdf,
            "mills" => mills,
            "mills_excess" => mills_excess,
            "log1p_exp" => log1p_exp,
            "sigmoid" => sigmoid,
            "normal_quantile" => normal_quantile,
            other => panic!("no function {other}"),
        };
        for row in rows.as_array().unwrap() {
            let (x, want) = (row[0].as_f64().unwrap(), row[1].as_f64().unwrap());
            let error = (f(x) - want).abs();
            if error > 2e-13 * want.abs() {
                wrong.push(format!("{name}({x}): {:?}, expected {want:?}", f(x)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn edges_are_defined() {
    assert!(digamma(0.0).is_nan() && trigamma(-1.0).is_nan() && normal_quantile(1.5).is_nan());
    assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
    assert_eq!(normal_quantile(1.0), f64::INFINITY);
    assert_eq!(log_sum_exp(&[]), f64::NEG_INFINITY);
    assert_eq!(log_sum_exp(&[f64::NEG_INFINITY; 2]), f64::NEG_INFINITY);
    assert!((log_sum_exp(&[1000.0, 1000.0]) - 1000.0 - 2f64.ln()).abs() < 1e-12);
    assert!(log_sum_exp(&[f64::NAN, 1.0]).is_nan());
    assert_eq!(ln_normal_cdf(f64::NEG_INFINITY), f64::NEG_INFINITY);
    assert_eq!(mills_excess(f64::NEG_INFINITY), 0.0);
    assert!((HALF_LN_2PI - 0.5 * (2.0 * std::f64::consts::PI).ln()).abs() < 3e-16);
}
