//! `sbl plot`: a fit, or the graph of a program, as a picture in a file or in the terminal.

use std::io::IsTerminal;
use std::path::Path;

use sbl::diag::Diagnostic;
use sbl::picture::Picture;

use super::args::Plot;
use super::failure::{Exit, Failure};
use super::screen::Screen;
use super::{compile, load, report};
use crate::io::{self as files, png};

/// Pages larger than this are no pictures.
const LARGEST: f64 = 8000.0;

/// Draws and writes.
pub fn run(args: &Plot, screen: &Screen) -> Result<Exit, Failure> {
    let format = args.output.as_deref().map(format_of).transpose()?;
    let bytes = load::fit_bytes(&args.file)?;
    let picture = if load::is_fit(&bytes) {
        compile::refuse_for_a_fit(&args.settings, &args.file)?;
        let fit = sbl::Fit::from_bytes(&bytes, &load::shown(&args.file))?;
        let data = match args.data.files.as_slice() {
            [] => None,
            paths => {
                let read = files::read_data(paths, &args.data.reading.options())?;
                report::print_plain(screen, &read.warnings);
                Some(read.value)
            }
        };
        fit.picture(args.kind.map(|k| k.0), data.as_ref())?
    } else {
        graph(args, bytes, screen)?
    };
    let picture = picture.sized(args.width, args.height);
    match (format, &args.output) {
        (Some(format), Some(path)) => {
            load::write_or_print(path, &file(&picture, format, args.scale)?, screen)?
        }
        _ => screen.result(text(&picture, screen, (160, 50)).as_bytes())?,
    }
    Ok(Exit::Done)
}

/// What a file of this format holds.
pub fn file(picture: &Picture, format: Format, scale: f64) -> Result<Vec<u8>, Failure> {
    match format {
        Format::Svg => Ok(picture.svg().into_bytes()),
        Format::Png => png::png(&picture.scene(), scale).ok_or_else(|| {
            Diagnostic::error("E0769", "a picture of this size has too many pixels")
                .help("choose a smaller `--scale`, `--width` or `--height`, or write an .svg")
                .into()
        }),
    }
}

/// The graph of a program, which is all of it that can be drawn before there is a fit.
fn graph(args: &Plot, bytes: Vec<u8>, screen: &Screen) -> Result<Picture, Failure> {
    let program = load::text(bytes, &load::shown(&args.file))?;
    if args.kind.is_some_and(|k| k.0 != sbl::picture::Kind::Graph) {
        let found = format!("{} is a program, and only its graph can be drawn", load::shown(&args.file));
        return Err(Diagnostic::error("E0768", found)
            .help("fit it first: `sbl fit FILE --data D -o model.sblfit`, then `sbl plot model.sblfit`")
            .into());
    }
    let model = compile::text(&program, &args.file, &args.settings)?;
    report::print(screen, model.warnings(), model.sources());
    Ok(model.picture())
}

/// As large as the terminal (80 × 24 where there is none), at most so many columns and rows.
pub fn text(picture: &Picture, screen: &Screen, most: (usize, usize)) -> String {
    let size = std::io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    let (columns, rows) =
        size.map_or((80, 24), |(w, h)| (usize::from(w.0), usize::from(h.0).saturating_sub(1)));
    let text = picture.text(columns.clamp(20, most.0), rows.clamp(8, most.1), screen.color_out);
    if screen.unicode { text } else { sbl::scene::ascii(&text) }
}

/// A format of picture files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Vectors.
    Svg,
    /// Pixels.
    Png,
}

/// The format that the name of a file asks for.
pub fn format_of(path: &Path) -> Result<Format, Failure> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("svg") => Ok(Format::Svg),
        Some("png") => Ok(Format::Png),
        None if files::is_stdin(path) => Ok(Format::Svg),
        _ => Err(Diagnostic::error(
            "E0769",
            format!("`{}` names no kind of picture, expected .svg or .png", load::shown(path)),
        )
        .help("end the name in .svg or .png; other programs convert an .svg to .pdf")
        .into()),
    }
}

/// A side of a page, in pixels.
pub fn parse_side(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if (100.0..=LARGEST).contains(&x) => Ok(x),
        _ => Err(format!("expected a number of pixels from 100 to {LARGEST}")),
    }
}

/// Pixels of an image for each of the page.
pub fn parse_scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if (0.5..=8.0).contains(&x) => Ok(x),
        _ => Err("expected a number from 0.5 to 8".to_owned()),
    }
}
