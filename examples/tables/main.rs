//! Regenerates the table of `docs/results.md`: data sets with published figures, by the protocol that
//! stands beside each, next to a support vector machine.
//!
//! ```text
//! cargo run --release --example tables -- --data DIR [--only NAME] [--quick] [--out docs/results.md]
//! ```
//! DIR holds the data sets as CSV files; a set that is not there is left out, and said so. The diabetes set
//! comes with the repository. `--only` takes the rows whose name contains NAME, `--quick` 3 repetitions of
//! each set.

mod programs;
mod protocols;
mod report;
mod sets;
mod svm;

use std::error::Error;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let (mut data, mut out, mut only) = (None, None, String::new());
    let mut quick = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--data" => data = args.next().map(PathBuf::from),
            "--out" => out = args.next().map(PathBuf::from),
            "--only" => only = args.next().unwrap_or_default(),
            "--quick" => quick = true,
            other => return Err(format!("unknown argument `{other}`").into()),
        }
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data");
    let mut rows = Vec::new();
    for protocol in protocols::ALL.iter().filter(|p| p.name.contains(&only)) {
        let dir = if protocol.own { &own } else { data.as_ref().unwrap_or(&own) };
        match protocol.run(dir, if quick { 3 } else { usize::MAX }) {
            Ok(row) => {
                eprintln!("{row}");
                rows.push(row);
            }
            Err(error) => eprintln!("left out: {}: {error}", protocol.name),
        }
    }
    let text = report::table(&rows);
    print!("{text}");
    if let Some(path) = out {
        report::insert(&path, &text)?;
    }
    Ok(())
}
