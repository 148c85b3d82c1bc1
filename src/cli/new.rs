//! `sbl new`: a starter model for a data file.

use std::io;

use sbl::diag::Diagnostic;
use sbl::diag::suggest::closest;

use super::args::New;
use super::failure::{Exit, Failure};
use super::screen::Screen;
use super::starter::starter;
use super::{load, report};
use crate::io::{self as files, errors};

/// Reads the data and writes the model.
pub fn run(args: &New, screen: &Screen) -> Result<Exit, Failure> {
    let read = files::read_data(&args.data.files, &args.data.reading.options())?;
    report::print_plain(screen, &read.warnings);
    let data = read.value;
    if data.column(&args.target).is_none() {
        return Err(no_column(&args.target, "--target", &data).into());
    }
    let text = starter(&data, &args.target, &args.data.files)?;
    let Some(path) = &args.output else {
        screen.result(text.as_bytes())?;
        return Ok(Exit::Done);
    };
    // Someone may have worked on the file since.
    if path.symlink_metadata().is_ok_and(|m| m.is_file()) {
        let exists = io::Error::new(io::ErrorKind::AlreadyExists, "it exists already");
        let found = errors::unwritable(&load::shown(path), &exists);
        return Err(Failure::unwritable(found.help("choose another name, or remove the file first")));
    }
    load::write_or_print(path, text.as_bytes(), screen)?;
    screen.note(&format!("wrote {}", load::shown(path)));
    Ok(Exit::Done)
}

/// A column that an option names and the data do not have.
pub fn no_column(name: &str, option: &str, data: &sbl::data::Data) -> Diagnostic {
    let found = Diagnostic::error(
        "E0765",
        format!("{option} names {name:?}, which is no column of {}", data.origin()),
    );
    match closest(name, data.names()) {
        Some(near) => found.help(format!("did you mean {near:?}?")),
        None => {
            let names: Vec<&str> = data.names().take(12).collect();
            let more = if data.names().count() > names.len() { ", …" } else { "" };
            found.help(format!("its columns are {}{more}", names.join(", ")))
        }
    }
}
