//! Fit files through the program: what is said of damaged ones, and what a killed or failing save leaves.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::cli_run::{Place, ran};

/// A kernel with a weight for every row, none pruned: a fit of some size, in little time.
const MODEL: &str = "use std.kernels.rbf\ndata x: real[N]\ndata t: real[N]\nlet phi = rbf(x, width = 1)\n\
                     w ~ Normal(0, precision = 1) [cols(phi)]\ntau ~ Gamma(0, 0)\nt ~ Normal(phi * w, precision = tau)\n";

/// Its targets say which fit it is.
fn rows(n: usize, shift: f64) -> String {
    let row = |i: usize| format!("{i},{}\n", ((i * 7) % 5) as f64 + shift);
    (0..n).fold("x,t\n".to_owned(), |all, i| all + &row(i))
}

fn place() -> Place {
    let place = Place::new();
    place.file("m.sbl", MODEL).file("d.csv", rows(12, 0.0));
    place.run(&["fit", "m.sbl", "--data", "d.csv", "-o", "good.sblfit"]).exits(0);
    place
}

/// Every command that reads a fit.
fn readers(file: &str) -> [Vec<&str>; 5] {
    [
        vec!["show", file],
        vec!["predict", file, "--data", "d.csv"],
        vec!["score", file, "--data", "d.csv"],
        vec!["sample", file, "--data", "d.csv"],
        vec!["compare", "good.sblfit", file],
    ]
}

#[test]
fn every_command_says_what_is_wrong_with_a_fit() {
    let place = place();
    let good = fs::read(place.path("good.sblfit")).unwrap();
    let mut flipped = good.clone();
    let middle = good.len() / 2;
    flipped[middle] ^= 1;
    let text = String::from_utf8(good.clone()).unwrap();
    place
        .file("flipped.sblfit", &flipped)
        .file("cut.sblfit", &good[..middle])
        .file("future.sblfit", text.replacen("sblfit 1", "sblfit 7", 1))
        .file("packed.sblfit.gz", gzip(&good))
        .file("cut.sblfit.gz", &gzip(&good)[..200]);
    for (file, code, says) in [
        ("flipped.sblfit", "E0811", "`flipped.sblfit` is damaged: the checksum does not match"),
        ("cut.sblfit", "E0811", "`cut.sblfit` is damaged: it holds"),
        ("future.sblfit", "E0813", "`future.sblfit` has format version 7, this program reads version 1"),
        ("cut.sblfit.gz", "E0764", "cannot unpack cut.sblfit.gz"),
        ("none.sblfit", "E0750", "cannot read none.sblfit: no such file"),
    ] {
        for args in readers(file) {
            let ran = place.run(&args).exits(1);
            let found = ran.err.contains(&format!("error[{code}]")) && ran.err.contains(says);
            assert!(found && ran.out.is_empty() && ran.err.contains("help"), "{args:?}: {ran:?}");
        }
    }
    for args in readers("packed.sblfit.gz") {
        place.run(&args).exits(0);
    }
}

/// What a newcomer gives instead of a fit.
#[test]
fn other_files_are_named_for_what_they_are() {
    let place = place();
    place.file("empty.sblfit", "");
    fs::create_dir(place.path("folder")).unwrap();
    for (file, code, says) in [
        ("d.csv", "E0812", "`d.csv` is no fit file"),
        ("m.sbl", "E0812", "it looks like a program"),
        ("empty.sblfit", "E0812", "it is empty"),
        ("folder", "E0750", "found a directory"),
    ] {
        for args in &readers(file)[..3] {
            let ran = place.run(args).exits(1);
            assert!(ran.err.contains(code) && ran.err.contains(says), "{args:?}: {ran:?}");
        }
    }
    assert!(place.run(&["show", "m.sbl"]).err.contains("sbl fit m.sbl --data data.csv -o m.sblfit"));
    for command in ["fit", "check", "plan", "graph", "fmt", "cv"] {
        let data = ["--data", "d.csv"];
        let more = if ["fit", "cv"].contains(&command) { &data[..] } else { &[] };
        let ran = place.run(&[&[command, "good.sblfit"], more].concat()).exits(1);
        assert!(ran.err.contains("error[E0763]: good.sblfit is a fit, expected a program"), "{}", ran.err);
        assert!(ran.err.contains("sbl show good.sblfit") && ran.err.lines().count() < 4, "{}", ran.err);
    }
    // as JSON where JSON was asked for
    let ran = place.run(&["show", "d.csv", "--format", "json"]).exits(1);
    assert_eq!(ran.json()[0]["code"], "E0812");
}

/// The program is killed at a moment of every kind; the file is the old fit or the new one.
#[cfg(unix)]
#[test]
fn a_killed_save_leaves_the_old_fit_or_the_new_one() {
    let place = Place::new();
    place.file("m.sbl", MODEL).file("old.csv", rows(150, 0.0)).file("new.csv", rows(150, 100.0));
    let args = |data: &'static str| ["fit", "m.sbl", "--data", data, "-o", "m.sblfit"];
    let started = Instant::now();
    place.run(&args("new.csv")).exits(0);
    let whole = started.elapsed();
    let new = place.run(&["show", "m.sblfit", "--format", "json"]).exits(0).json()["objective"].clone();
    place.run(&args("old.csv")).exits(0);
    let old = place.run(&["show", "m.sblfit", "--format", "json"]).exits(0).json()["objective"].clone();
    assert_ne!(old, new);
    // the last third of a run is where files are written
    for i in 0..24u32 {
        let mut command = place.command(&args("new.csv"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole * (30 + 3 * i) / 72);
        let _ = child.kill();
        let _ = child.wait();
        let shown = place.run(&["show", "m.sblfit", "--format", "json"]).exits(0).json()["objective"].clone();
        assert!(shown == old || shown == new, "a mix after {i}");
    }
    // what killed runs left goes with the next save
    place.file(".m.sblfit.tmp-999999999", "half a fit");
    place.run(&args("old.csv")).exits(0);
    let left: Vec<String> = place.names().into_iter().filter(|n| n.contains(".tmp-")).collect();
    assert!(left.is_empty() || !cfg!(target_os = "linux"), "{left:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_save_that_fails_exits_with_4_and_keeps_the_old_fit() {
    let place = place();
    let good = fs::read(place.path("good.sblfit")).unwrap();
    let fit = |output: &str| place.run(&["fit", "m.sbl", "--data", "d.csv", "-o", output]);
    let full = fit("/dev/full").exits(4);
    assert!(
        full.err.contains("error[E0770]: cannot write /dev/full: no space left on device"),
        "{}",
        full.err
    );
    assert!(full.out.contains("stopped: converged"), "the result is told all the same: {}", full.out);
    assert!(fit("none/m.sblfit").exits(4).err.contains("cannot write none/m.sblfit: no such file"));
    assert!(fit("good.sblfit/m.sblfit").exits(4).err.contains("not a directory"));
    // a file system on which nothing can be written, whoever runs the test
    let nowhere = fit("/proc/m.sblfit").exits(4);
    assert!(nowhere.err.contains("error[E0770]: cannot write /proc/m.sblfit"), "{}", nowhere.err);
    // a file size limit is met in the middle of the temporary file
    let limited = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 2; exec \"$0\" fit m.sbl --data d.csv -o good.sblfit"])
        .arg(env!("CARGO_BIN_EXE_sbl"))
        .current_dir(place.path("."))
        .output()
        .unwrap();
    let limited = ran(limited).exits(4);
    assert!(limited.err.contains("cannot write good.sblfit: file too large"), "{}", limited.err);
    assert_eq!(fs::read(place.path("good.sblfit")).unwrap(), good);
    assert!(place.names().iter().all(|n| !n.contains(".tmp-")), "{:?}", place.names());
}

#[cfg(unix)]
#[test]
fn a_directory_without_rights_exits_with_4() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let place = place();
    let folder = place.path("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("m.sblfit"), "old").unwrap();
    let is_root = fs::metadata(&folder).unwrap().uid() == 0;
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let args = ["fit", "m.sbl", "--data", "d.csv", "-o", "folder/m.sblfit"];
    let output = if is_root {
        // root may write anywhere, so nobody tries, with a program that nobody may run
        fs::copy(env!("CARGO_BIN_EXE_sbl"), place.path("sbl")).unwrap();
        fs::set_permissions(place.path("."), fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = std::process::Command::new(place.path("sbl"));
        command.args(args).current_dir(place.path(".")).uid(65534).gid(65534).output().unwrap()
    } else {
        place.command(&args).output().unwrap()
    };
    let ran = ran(output).exits(4);
    assert!(ran.err.contains("cannot write folder/m.sblfit: permission denied"), "{}", ran.err);
    assert!(ran.out.contains("stopped: converged"), "the result is told all the same: {}", ran.out);
    assert_eq!(place.text("folder/m.sblfit"), "old");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "a temporary file is left");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}

/// `sbl … | head -1`
#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let place = place();
    place.file("many.csv", rows(20_000, 0.0));
    for args in [
        vec!["predict", "good.sblfit", "--data", "many.csv"],
        vec!["predict", "good.sblfit", "--data", "many.csv", "--format", "json"],
        vec!["sample", "good.sblfit", "--data", "many.csv", "-n", "3"],
    ] {
        let mut command = place.command(&args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ran = ran(child.wait_with_output().unwrap()).exits(0);
        assert!(ran.err.is_empty(), "{args:?}: {}", ran.err);
    }
}

/// Ctrl-C while predicting: nothing half-written, status 130.
#[cfg(unix)]
#[test]
fn an_interrupted_prediction_leaves_nothing() {
    let place = place();
    place.file("many.csv", rows(400_000, 0.0));
    let mut command = place.command(&["predict", "good.sblfit", "--data", "many.csv", "-o", "out.csv"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(60));
    let _ = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    let ran = ran(child.wait_with_output().unwrap());
    let written = place.names().iter().any(|n| n == "out.csv");
    // on a fast machine it is done before
    assert!(ran.code == 0 && written || ran.code == 130 || ran.code == -1, "{ran:?}");
    assert!(!ran.err.contains("panic"), "{}", ran.err);
    if written {
        assert_eq!(place.text("out.csv").lines().count(), 400_001);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
