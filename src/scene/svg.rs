//! Scenes as SVG documents. Numbers have one decimal, so that the last digits of another processor do not show.

use super::{Anchor, Colour, Dash, Face, Label, Mark, Point, Scene, Stroke};

/// The sans serif that readers are likely to have; its widths are about those of [`super::text`].
const SANS: &str = "'Source Sans 3','Source Sans Pro','Helvetica Neue',Helvetica,Arial,sans-serif";
const SERIF: &str = "'STIX Two Text','Latin Modern Roman','Times New Roman',Times,serif";

/// A standalone document.
pub fn svg(scene: &Scene) -> String {
    let (w, h) = (number(scene.width), number(scene.height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
         aria-labelledby=\"title desc\" font-family=\"{SANS}\">\n\
         <title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n\
         <rect width=\"{w}\" height=\"{h}\" fill=\"#fff\"/>\n",
        xml(&scene.title),
        xml(&scene.description)
    );
    scene.marks.iter().for_each(|mark| write(mark, &mut out));
    out.push_str("</svg>\n");
    out
}

fn write(mark: &Mark, out: &mut String) {
    let none = String::new;
    match mark {
        Mark::Line { points, stroke, closed } => {
            let path = path(points, *closed);
            out.push_str(&format!("<path d=\"{path}\" fill=\"none\"{}/>\n", stroked(stroke)));
        }
        Mark::Bend { points: [a, b, c], stroke } => {
            let path = format!("M{}Q{} {}", pair(*a), pair(*b), pair(*c));
            out.push_str(&format!("<path d=\"{path}\" fill=\"none\"{}/>\n", stroked(stroke)));
        }
        Mark::Area { rings, fill } => {
            let path: String = rings.iter().map(|ring| path(ring, true)).collect();
            let rule = if rings.len() > 1 { " fill-rule=\"evenodd\"" } else { "" };
            out.push_str(&format!("<path d=\"{path}\" fill=\"{}\"{rule}/>\n", fill.hex()));
        }
        Mark::Circle { at, radius, fill, stroke } => out.push_str(&format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}{}/>\n",
            number(at.0),
            number(at.1),
            number(*radius),
            filled(*fill),
            stroke.as_ref().map_or_else(none, stroked)
        )),
        Mark::Box { at, size, radius, fill, stroke } => out.push_str(&format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}{}{}/>\n",
            number(at.0),
            number(at.1),
            number(size.0.max(0.0)),
            number(size.1.max(0.0)),
            if *radius > 0.0 { format!(" rx=\"{}\"", number(*radius)) } else { none() },
            filled(*fill),
            stroke.as_ref().map_or_else(none, stroked)
        )),
        Mark::Text(label) => text(label, out),
        Mark::Begin(title) => out.push_str(&format!("<g><title>{}</title>\n", xml(title))),
        Mark::End => out.push_str("</g>\n"),
    }
}

fn text(label: &Label, out: &mut String) {
    let (x, y) = (number(label.at.0), number(label.at.1));
    let turn = if label.upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let anchor = match label.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let face = match label.face {
        Face::Plain => String::new(),
        Face::Bold => " font-weight=\"600\"".to_owned(),
        Face::Math => format!(" font-family=\"{SERIF}\" font-style=\"italic\""),
        Face::Serif => format!(" font-family=\"{SERIF}\""),
    };
    let colour = if label.colour == Colour::BLACK {
        String::new()
    } else {
        format!(" fill=\"{}\"", label.colour.hex())
    };
    let halo = if label.halo { " stroke=\"#fff\" stroke-width=\"3.5\" paint-order=\"stroke\"" } else { "" };
    out.push_str(&format!(
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"{anchor}{face}{colour}{halo}{turn}>{}</text>\n",
        number(label.size),
        xml(&spaced(&label.text))
    ));
}

/// Spaces at the ends, which SVG would drop, as spaces that stay.
fn spaced(text: &str) -> String {
    let inner = text.trim_matches(' ');
    let before = text.len() - text.trim_start_matches(' ').len();
    let behind = text.len() - before - inner.len();
    format!("{}{inner}{}", "\u{a0}".repeat(before), "\u{a0}".repeat(behind))
}

/// Points that are drawn in one place count once: where a curve is clipped the last digit decides their number.
fn path(points: &[Point], closed: bool) -> String {
    let mut out = String::new();
    let mut last = String::new();
    for p in points {
        let here = pair(*p);
        if here != last {
            out.push(if out.is_empty() { 'M' } else { 'L' });
            out.push_str(&here);
            last = here;
        }
    }
    if closed && !out.is_empty() {
        out.push('Z');
    }
    out
}

fn stroked(stroke: &Stroke) -> String {
    let mut out = format!(" stroke=\"{}\"", stroke.colour.hex());
    if stroke.width != 1.0 {
        out.push_str(&format!(" stroke-width=\"{}\"", number(stroke.width)));
    }
    if stroke.dash != Dash::Solid {
        let lengths: Vec<String> = stroke.dash.lengths().iter().map(|l| number(*l)).collect();
        out.push_str(&format!(" stroke-dasharray=\"{}\"", lengths.join(" ")));
    }
    out
}

fn filled(fill: Option<Colour>) -> String {
    format!(" fill=\"{}\"", fill.map_or_else(|| "none".to_owned(), Colour::hex))
}

fn pair(p: Point) -> String {
    format!("{} {}", number(p.0), number(p.1))
}

/// One decimal, and never what is no number.
fn number(x: f64) -> String {
    let x = if x.is_finite() { x.clamp(-1e5, 1e5) } else { 0.0 };
    let text = format!("{x:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text and attributes of XML. Characters that XML 1.0 forbids, and those that reorder text, become `�`.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if (c as u32) < 0x20 || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_numbers_where_numbers_belong() {
        assert_eq!([number(1.25), number(f64::NAN), number(-0.01), number(1e9)], ["1.2", "0", "0", "100000"]);
    }

    #[test]
    fn points_in_one_place_count_once() {
        let points = [(0.0, 1.0), (0.01, 1.0), (2.0, 3.0), (2.0, 3.0), (0.0, 1.0)];
        assert_eq!(path(&points, true), "M0 1L2 3L0 1Z");
        assert_eq!(path(&[], true), "");
    }

    #[test]
    fn spaces_at_the_ends_stay() {
        assert_eq!(spaced(" in N "), "\u{a0}in N\u{a0}");
        assert_eq!([spaced("a b"), spaced("  "), spaced("")], ["a b", "\u{a0}\u{a0}", ""]);
    }

    #[test]
    fn texts_are_safe() {
        assert_eq!(xml("a<b & \"c\"\u{7}\u{202e}"), "a&lt;b &amp; &quot;c&quot;\u{fffd}\u{fffd}");
    }
}
