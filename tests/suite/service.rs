//! The service of `examples/service.rs`: many requests at once, and what it says when something is wrong.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use sbl::{Data, Fit, Model, Options};
use serde_json::Value;

/// The example, which `cargo test` builds beside the tests.
fn service() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().join("examples");
    let path = folder.join(format!("service{}", std::env::consts::EXE_SUFFIX));
    if !path.exists() {
        // a filtered `cargo test --test suite` builds no examples
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let built = Command::new(cargo).args(["build", "--example", "service", "--offline"]).status();
        assert!(built.unwrap().success());
    }
    path
}

struct Running {
    child: Child,
    address: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(fit: &std::path::Path) -> Running {
    let mut child =
        Command::new(service()).arg(fit).arg("127.0.0.1:0").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap().to_owned();
    Running { child, address }
}

/// Status and body of one request on a connection of its own.
fn ask(address: &str, method: &str, path: &str, body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let status = text.split(' ').nth(1).unwrap().parse().unwrap();
    let body = text.split_once("\r\n\r\n").unwrap().1;
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

fn fitted() -> Fit {
    let source = "use std.kernels.rbf\nuse std.priors.ard\ndata x: real[N]\ndata t: real[N]\n\
                  let phi = [1, rbf(x, width = 3)]\nw ~ ard(cols(phi))\ntau ~ Gamma(0, 0)\n\
                  t ~ Normal(phi * w, precision = tau)\n";
    let x: Vec<f64> = (0..40).map(|i| -8.0 + 0.4 * f64::from(i)).collect();
    let t: Vec<f64> = x.iter().map(|x| x.cos() + 0.1 * (1e4 * x).sin()).collect();
    let data = Data::new().vector("x", &x).unwrap().vector("t", &t).unwrap();
    Model::compile(source).unwrap().fit(&data, &Options::default()).unwrap()
}

#[test]
fn a_thousand_requests_at_once_and_wrong_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cos.sblfit");
    let fit = fitted();
    std::fs::write(&path, fit.to_bytes().unwrap()).unwrap();
    let server = start(&path);
    let address = server.address.as_str();
    assert_eq!(ask(address, "GET", "/health", ""), (200, ask(address, "GET", "/health", "").1));
    assert_eq!(ask(address, "GET", "/health", "").1["status"], "ok");

    // 1000 requests on 50 threads, each connection its own; answers are those of the library, to the bit
    std::thread::scope(|scope| {
        for thread in 0..50 {
            let fit = &fit;
            scope.spawn(move || {
                for request in 0..20 {
                    let x = f64::from(thread * 20 + request) * 0.017 - 9.0;
                    let (status, body) = ask(address, "POST", "/predict", &format!("{{\"x\": [{x}, 1.5]}}"));
                    let data = Data::new().vector("x", &[x, 1.5]).unwrap();
                    assert_eq!((status, body), (200, fit.predict(&data).unwrap().to_json()));
                }
            });
        }
    });

    for (body, wanted) in [
        ("", 400),
        ("{", 400),
        ("[1]", 400),
        ("{\"x\": true}", 400),
        ("{\"x\": [[1], 2]}", 400),
        ("{\"x\": [1, \"a\"]}", 400),
        ("{}", 422),
        ("{\"x\": []}", 422),
        ("{\"x\": [null]}", 422),
        ("{\"y\": [1]}", 422),
        ("{\"x\": [\"a\"]}", 422),
    ] {
        let (status, answer) = ask(address, "POST", "/predict", body);
        assert_eq!(status, wanted, "{body}: {answer}");
        match status {
            400 => assert!(answer["error"].is_string(), "{body}: {answer}"),
            _ => assert!(answer["diagnostics"][0]["code"].as_str().unwrap().starts_with("E07"), "{answer}"),
        }
    }
    assert_eq!(ask(address, "GET", "/predict", "").0, 405);
    assert_eq!(ask(address, "GET", "/nothing", "").0, 404);
    // and it is still there
    assert_eq!(ask(address, "GET", "/health", "").0, 200);
}

#[test]
fn a_fit_that_cannot_be_served_is_said_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.sblfit");
    let damaged = folder.path().join("damaged.sblfit");
    let mut bytes = fitted().to_bytes().unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&damaged, bytes).unwrap();
    for (path, text) in [(missing, "cannot read"), (damaged, "E0811")] {
        let ran = Command::new(service()).arg(&path).arg("127.0.0.1:0").output().unwrap();
        assert_eq!(ran.status.code(), Some(1));
        let said = String::from_utf8(ran.stderr).unwrap();
        assert!(said.contains(text) && said.contains(path.file_name().unwrap().to_str().unwrap()), "{said}");
        assert!(ran.stdout.is_empty());
    }
    let ran = Command::new(service()).output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
}
