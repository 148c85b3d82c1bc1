//! Every kind of picture of real fits: well formed, inside its page, without what is no number; errors; hostile data.

use std::path::Path;

use sbl::picture::{Kind, Picture};
use sbl::scene::figure::{Form, Marker};
use sbl::scene::{Axis, Figure, Panel, Scene, Shape, arrange, svg, terminal};
use sbl::{Data, Fit, Model, Options};

#[path = "../../examples/gallery/pages.rs"]
mod gallery;

fn csv(name: &str) -> Data {
    gallery::csv(name).unwrap()
}

fn fit(example: &str, data: &Data) -> Fit {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(example);
    gallery::fit(&std::fs::read_to_string(path).unwrap(), data).unwrap()
}

/// Every tag is closed, every coordinate is a number. Fails with what is wrong.
pub fn assert_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        assert!(!text.contains('>'), "{text}");
        for entity in text.split('&').skip(1) {
            assert!(["amp;", "lt;", "gt;", "quot;"].iter().any(|e| entity.starts_with(e)), "{entity}");
        }
        let end = at + rest[at..].find('>').expect("a tag ends");
        let tag = &rest[at + 1..end];
        assert!(!tag.contains("NaN") && !tag.contains("inf"), "{tag}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty() && rest.trim().is_empty());
    assert!(
        svg.starts_with("<svg ")
            && svg.contains("<title id=\"title\">")
            && svg.contains("<desc id=\"desc\">")
    );
}

/// In SVG and as text, in large and small boxes.
fn assert_renders(picture: &Picture) {
    let scene = picture.scene();
    let svg = picture.svg();
    assert_well_formed(&svg);
    assert_eq!(svg, sbl::scene::svg(&scene));
    assert!(!scene.title.is_empty() && !scene.description.is_empty());
    assert_legible(&scene);
    for (columns, rows) in [(80, 24), (160, 50), (40, 12), (20, 8), (5, 2), (1, 1), (0, 0)] {
        let text = picture.text(columns, rows, false);
        assert!(text.lines().count() <= rows, "{:?} in {rows} rows:\n{text}", picture.kind());
        for line in text.lines() {
            assert!(line.chars().count() <= columns, "{:?} in {columns} columns: {line}", picture.kind());
        }
        assert!(!text.contains('\u{1b}'));
    }
}

/// No letter smaller than 9 points, and no label off the page.
fn assert_legible(scene: &Scene) {
    for mark in &scene.marks {
        if let sbl::scene::Mark::Text(label) = mark {
            assert!(label.size >= 12.0, "{}", label.text);
            assert!(
                label.at.0 >= 0.0
                    && label.at.0 <= scene.width
                    && label.at.1 >= 0.0
                    && label.at.1 <= scene.height,
                "{}: {:?}",
                label.text,
                label.at
            );
        }
    }
}

/// The kinds that the fit has; each is rendered, the others say why not.
fn kinds(fit: &Fit, data: Option<&Data>) -> Vec<&'static str> {
    let mut found = Vec::new();
    for (name, kind) in Kind::ALL {
        match fit.picture(Some(*kind), data) {
            Ok(picture) => {
                assert_eq!(picture.kind(), *kind);
                assert_renders(&picture);
                found.push(*name);
            }
            Err(error) => {
                let codes: Vec<&str> = error.diagnostics().iter().map(|d| d.code).collect();
                assert!(codes == ["E0850"] || codes == ["E0851"], "{name}: {error}");
                assert!(error.diagnostics()[0].help.is_some());
            }
        }
    }
    found
}

#[test]
fn kinds_have_names() {
    for (name, kind) in Kind::ALL {
        assert_eq!((Kind::of(name), kind.name()), (Some(*kind), *name));
    }
    assert_eq!(Kind::of("pie"), None);
}

#[test]
fn regression_over_one_input() {
    let data = csv("sinc.csv");
    let fit = fit("sinc.sbl", &data);
    let all =
        ["fit", "partial", "observed", "weights", "precisions", "lambda", "trace", "calibration", "graph"];
    assert_eq!(kinds(&fit, Some(&data)), all);
    let without = ["fit", "partial", "weights", "precisions", "lambda", "trace", "graph"];
    assert_eq!(kinds(&fit, None), without);
    assert_eq!(fit.picture(None, None).unwrap().kind(), Kind::Fit);
    // the curve is the prediction: its highest point, read back from the layers of the scene
    let picture = fit.picture(None, Some(&data)).unwrap();
    let svg = picture.svg();
    let kept = fit.node("w").unwrap().mean().len();
    let rings = svg.matches("r=\"5.5\"").count();
    // a ring for each kept centre, one in the legend; the bias has no row
    let bias = fit.node("w").unwrap().labels.unwrap().contains(&"bias".to_owned());
    assert_eq!(rings, kept - usize::from(bias) + 1);
    assert!(picture.caption().contains("training data"), "{}", picture.caption());
    // a fit that was written and read draws the same
    let again = Fit::from_bytes(&fit.to_bytes().unwrap(), "sinc.sblfit").unwrap();
    assert_eq!(again.picture(None, Some(&data)).unwrap().svg(), svg);
}

#[test]
fn classes_over_two_inputs() {
    let data = csv("classes.csv");
    let fit = fit("ripley.sbl", &data);
    let all = ["classes", "partial", "weights", "precisions", "lambda", "trace", "calibration", "graph"];
    assert_eq!(kinds(&fit, Some(&data)), all);
    assert_eq!(fit.picture(None, None).unwrap().kind(), Kind::Classes);
    let error = fit.picture(Some(Kind::Fit), None).unwrap_err();
    assert!(error.to_string().contains("--kind classes"), "{error}");
}

#[test]
fn ordered_levels() {
    let data = csv("ratings.csv");
    let fit = fit("ordinal.sbl", &data);
    let found = kinds(&fit, Some(&data));
    assert!(
        found.contains(&"ordinal") && found.contains(&"calibration") && !found.contains(&"fit"),
        "{found:?}"
    );
    assert_eq!(fit.picture(None, Some(&data)).unwrap().kind(), Kind::Ordinal);
    // every level is named in the legend
    let svg = fit.picture(None, Some(&data)).unwrap().svg();
    for level in ["1", "2", "3"] {
        assert!(svg.contains(&format!("band of {level}")), "{level}");
    }
}

#[test]
fn many_inputs_say_what_is_shown() {
    let data = csv("diabetes.csv");
    let fit = fit("diabetes.sbl", &data);
    let with = fit.picture(None, Some(&data)).unwrap();
    assert!(with.title().contains("observed against predicted") && with.caption().contains("10 inputs"));
    let without = fit.picture(None, None).unwrap();
    assert!(without.caption().contains("medians"), "{}", without.caption());
    let found = kinds(&fit, Some(&data));
    assert!(
        ["fit", "partial", "observed", "weights", "calibration"].iter().all(|k| found.contains(k)),
        "{found:?}"
    );
}

#[test]
fn counts_categories_and_several_targets() {
    for (program, file) in [
        ("counts.sbl", "counts.csv"),
        ("schools.sbl", "schools.csv"),
        ("two_targets.sbl", "twins.csv"),
        ("multi_output.sbl", "channels.csv"),
        ("digits.sbl", "shapes.csv"),
        ("location_scale.sbl", "heights.csv"),
    ] {
        let data = csv(file);
        let fit = fit(program, &data);
        assert!(kinds(&fit, Some(&data)).len() >= 4, "{program}");
        kinds(&fit, None);
    }
}

#[test]
fn rows_that_are_missing_or_foreign_are_named() {
    let data = csv("sinc.csv");
    let fit = fit("sinc.sbl", &data);
    let error = fit.picture(Some(Kind::Calibration), None).unwrap_err();
    assert_eq!(error.diagnostics()[0].code, "E0850");
    assert!(error.diagnostics()[0].help.as_ref().unwrap().contains("--data FILE"));
    let error = fit.picture(Some(Kind::Classes), Some(&data)).unwrap_err();
    assert_eq!(error.diagnostics()[0].code, "E0851");
    let foreign = Data::new().vector("y", &[1.0]).unwrap();
    assert_eq!(fit.picture(None, Some(&foreign)).unwrap_err().diagnostics()[0].code, "E0702");
    let others = Data::new().vector("x", &[20.0, 30.0]).unwrap();
    let picture = fit.picture(None, Some(&others)).unwrap();
    assert!(picture.caption().contains("not those of the fit"), "{}", picture.caption());
}

#[test]
fn data_without_any_spread() {
    let program = "data x: real[N]\ndata t: real[N]\nmu ~ Normal(0, precision = 1)\ntau ~ Gamma(1, 1)\n\
                   w ~ Normal(0, precision = 1)\nt ~ Normal(mu + x .* w, precision = tau)\n";
    let model = Model::compile(program).unwrap();
    for (x, t) in [
        (vec![0.0; 4], vec![1.0; 4]),
        (vec![1e9; 3], vec![-2.5, 0.0, 2.5]),
        (vec![1.0, 2.0], vec![0.0, 1.0]),
        (vec![1e-200, 2e-200, 3e-200], vec![1.0, 2.0, 2.5]),
    ] {
        let data = Data::new().vector("x", &x).unwrap().vector("t", &t).unwrap();
        let Ok(fit) = model.fit(&data, &Options::default()) else { continue };
        assert!(kinds(&fit, Some(&data)).contains(&"fit"), "{x:?}");
    }
}

#[test]
fn figures_of_hostile_numbers() {
    let hostile = [
        vec![],
        vec![(0.0, 0.0)],
        vec![(f64::NAN, 1.0), (1.0, f64::INFINITY), (f64::NEG_INFINITY, f64::NAN)],
        vec![(1e300, -1e300), (-1e300, 1e300)],
        vec![(f64::MAX, f64::MIN), (f64::MIN, f64::MAX)],
        vec![(5e-324, 5e-324), (0.0, 0.0)],
        vec![(1.0, 1.0), (1.0 + f64::EPSILON, 1.0 - f64::EPSILON)],
    ];
    for points in hostile {
        for log in [false, true] {
            let axis = || {
                if log { Axis::new("a<b>&\"\u{7}\u{202e}").log() } else { Axis::new("a<b>&\"\u{7}\u{202e}") }
            };
            let mut panel = Panel::new(axis(), axis());
            let three: Vec<(f64, f64, f64)> = points.iter().map(|(x, y)| (*x, *y, y + 1.0)).collect();
            let marker = Marker { form: Form::Disc, ..Marker::default() };
            let stroke = sbl::scene::figure::GUIDE;
            let fill = sbl::scene::Colour::BLUE;
            panel.draw(Shape::Band { points: three.clone(), fill, shade: 1 });
            panel.draw(Shape::Line { points: points.clone(), stroke });
            panel.draw(Shape::Points { points: points.clone(), marker });
            panel.draw(Shape::Whiskers { points: three.clone(), upright: true, stroke });
            panel.draw(Shape::Bars { points: three, fill });
            for (x, y) in &points {
                panel.draw(Shape::Rule { at: *x, upright: true, stroke });
                panel.draw(Shape::Margin { at: *y, text: "m\u{1b}[31m".to_owned() });
            }
            let title = "\u{1b}[2Jevil".to_owned();
            let figure =
                Figure { title, panels: vec![panel.clone(), panel], columns: 2, ..Figure::default() };
            for size in [(560.0, 400.0), (0.0, f64::NAN), (1e9, 10.0)] {
                assert_well_formed(&svg(&arrange(&figure, size)));
            }
            let text = terminal(&figure, 60, 20, false);
            assert!(!text.contains('\u{1b}') && text.lines().count() <= 20, "{text}");
            assert!(text.lines().all(|l| l.chars().count() <= 60), "{text}");
        }
    }
}

#[test]
fn a_terminal_of_ascii_sees_ascii() {
    let data = csv("sinc.csv");
    let fit = fit("sinc.sbl", &data);
    for (_, kind) in Kind::ALL {
        if let Ok(picture) = fit.picture(Some(*kind), Some(&data)) {
            assert!(sbl::scene::ascii(&picture.text(80, 24, false)).is_ascii());
        }
    }
    assert!(fit.picture(None, Some(&data)).unwrap().text(80, 24, true).contains("\u{1b}[38;2;"));
}

/// `cargo run --example gallery` writes it; so does `UPDATE_DOCS=1`.
#[test]
fn the_gallery_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = gallery::all().unwrap();
    let mut stale = Vec::new();
    for (file, content) in &files {
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), content).unwrap();
        }
        let found = std::fs::read_to_string(root.join(file)).unwrap_or_default().replace("\r\n", "\n");
        if !nearly(&found, content) {
            stale.push(file.as_str());
        }
        if file.ends_with(".svg") {
            assert_well_formed(content);
        }
    }
    assert!(stale.is_empty(), "{stale:?} are not what the code draws: run cargo run --example gallery");
    let page = &files.iter().find(|(f, _)| f == "docs/gallery.md").unwrap().1;
    for (name, _) in Kind::ALL {
        assert!(page.contains(&format!("gallery/{name}.svg")), "the gallery has no {name}");
    }
    // nothing is left over
    for entry in std::fs::read_dir(root.join("docs/gallery")).unwrap() {
        let name = format!("docs/gallery/{}", entry.unwrap().file_name().to_string_lossy());
        assert!(files.iter().any(|(f, _)| *f == name), "{name} is not made by the gallery");
    }
}

/// The same text with the same numbers, but for what the last digits of another processor move: half a pixel,
/// or a thousandth.
fn nearly(a: &str, b: &str) -> bool {
    let (words, numbers) = split(a);
    let (other_words, other_numbers) = split(b);
    let close = |(x, y): (&f64, &f64)| (x - y).abs() <= 0.5_f64.max(1e-3 * x.abs());
    words == other_words
        && numbers.len() == other_numbers.len()
        && numbers.iter().zip(&other_numbers).all(close)
}

/// Text without its numbers, and the numbers.
fn split(text: &str) -> (String, Vec<f64>) {
    let (mut words, mut numbers, mut digits) = (String::new(), Vec::new(), String::new());
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_digit() || c == '.' && !digits.is_empty() {
            digits.push(c);
            continue;
        }
        if !digits.is_empty() {
            numbers.extend(digits.trim_end_matches('.').parse::<f64>().ok());
            words.push('0');
            digits.clear();
        }
        words.push(c);
    }
    (words, numbers)
}

#[test]
fn last_digits_are_forgiven_and_nothing_else() {
    assert!(
        nearly("M10 20.1L3 4", "M10.1 20L3 4.3")
            && !nearly("M10 20", "M10 21")
            && !nearly("M1 2", "M1 2L3 4")
    );
}
