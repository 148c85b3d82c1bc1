//! Scenes as PNG images: paths by tiny-skia, letters as outlines of the fonts beside this file.

use sbl::scene::{Anchor, Colour, Dash, Face, Label, Mark, Point, Scene, Stroke};
use tiny_skia::{Color, FillRule, LineCap, Paint, Path, PathBuilder, Pixmap, Rect, StrokeDash, Transform};

/// An image may have this many pixels: 256 MB.
const MOST: f64 = 64e6;

const PLAIN: &[u8] = include_bytes!("fonts/plain.ttf");
const BOLD: &[u8] = include_bytes!("fonts/bold.ttf");
const MATH: &[u8] = include_bytes!("fonts/math.ttf");
const SERIF: &[u8] = include_bytes!("fonts/serif.ttf");

/// The scene with `scale` pixels for each of its own; `None` if that is no size an image can have.
pub fn png(scene: &Scene, scale: f64) -> Option<Vec<u8>> {
    let (w, h) = ((scene.width * scale).round(), (scene.height * scale).round());
    if !(w >= 1.0 && h >= 1.0 && w * h <= MOST) {
        return None;
    }
    let mut page = Page {
        pixels: Pixmap::new(w as u32, h as u32)?,
        to: Transform::from_scale(scale as f32, scale as f32),
    };
    page.pixels.fill(Color::WHITE);
    scene.marks.iter().for_each(|mark| page.mark(mark));
    page.pixels.encode_png().ok()
}

/// What is painted on, and how its units become pixels.
struct Page {
    pixels: Pixmap,
    to: Transform,
}

impl Page {
    fn mark(&mut self, mark: &Mark) {
        match mark {
            Mark::Line { points, stroke, closed } => self.stroke(lines([points.as_slice()], *closed), stroke),
            Mark::Bend { points: [a, b, c], stroke } => {
                let mut path = PathBuilder::new();
                path.move_to(a.0 as f32, a.1 as f32);
                path.quad_to(b.0 as f32, b.1 as f32, c.0 as f32, c.1 as f32);
                self.stroke(path.finish(), stroke);
            }
            Mark::Area { rings, fill } => {
                self.fill(lines(rings.iter().map(Vec::as_slice), true), *fill, FillRule::EvenOdd);
            }
            Mark::Circle { at, radius, fill, stroke } => {
                let path = PathBuilder::from_circle(at.0 as f32, at.1 as f32, *radius as f32);
                self.both(path, *fill, *stroke);
            }
            Mark::Box { at, size, radius, fill, stroke } => {
                self.both(round_box(*at, *size, *radius), *fill, *stroke);
            }
            Mark::Text(label) => self.text(label),
            Mark::Begin(_) | Mark::End => {}
        }
    }

    fn both(&mut self, path: Option<Path>, fill: Option<Colour>, stroke: Option<Stroke>) {
        if let Some(fill) = fill {
            self.fill(path.clone(), fill, FillRule::Winding);
        }
        if let Some(stroke) = stroke {
            self.stroke(path, &stroke);
        }
    }

    fn fill(&mut self, path: Option<Path>, colour: Colour, rule: FillRule) {
        if let Some(path) = path {
            self.pixels.fill_path(&path, &paint(colour), rule, self.to, None);
        }
    }

    fn stroke(&mut self, path: Option<Path>, stroke: &Stroke) {
        let Some(path) = path else { return };
        let mut style = tiny_skia::Stroke { width: stroke.width as f32, ..tiny_skia::Stroke::default() };
        if stroke.dash != Dash::Solid {
            style.dash = StrokeDash::new(stroke.dash.lengths().iter().map(|l| *l as f32).collect(), 0.0);
        } else {
            style.line_cap = LineCap::Butt;
        }
        self.pixels.stroke_path(&path, &paint(stroke.colour), &style, self.to, None);
    }

    fn text(&mut self, label: &Label) {
        let path = outline(label);
        if label.halo {
            self.stroke(path.clone(), &Stroke::solid(Colour::WHITE, 3.5));
        }
        self.fill(path, label.colour, FillRule::Winding);
    }
}

fn paint(Colour(r, g, b): Colour) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(r, g, b, 255);
    paint
}

fn lines<'a>(rings: impl IntoIterator<Item = &'a [Point]>, closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for ring in rings {
        for (i, (x, y)) in ring.iter().enumerate() {
            match i {
                0 => path.move_to(*x as f32, *y as f32),
                _ => path.line_to(*x as f32, *y as f32),
            }
        }
        if closed && !ring.is_empty() {
            path.close();
        }
    }
    path.finish()
}

fn round_box((x, y): Point, (w, h): Point, radius: f64) -> Option<Path> {
    let r = radius.min(w / 2.0).min(h / 2.0).max(0.0) as f32;
    let rect = Rect::from_xywh(x as f32, y as f32, w as f32, h as f32)?;
    if r == 0.0 {
        return Some(PathBuilder::from_rect(rect));
    }
    // a quarter circle as a cubic: control points at 0.5523 of the radius
    let k = r * (1.0 - 0.552_284_8);
    let (left, top, right, bottom) = (rect.left(), rect.top(), rect.right(), rect.bottom());
    let mut path = PathBuilder::new();
    path.move_to(left + r, top);
    path.line_to(right - r, top);
    path.cubic_to(right - k, top, right, top + k, right, top + r);
    path.line_to(right, bottom - r);
    path.cubic_to(right, bottom - k, right - k, bottom, right - r, bottom);
    path.line_to(left + r, bottom);
    path.cubic_to(left + k, bottom, left, bottom - k, left, bottom - r);
    path.line_to(left, top + r);
    path.cubic_to(left, top + k, left + k, top, left + r, top);
    path.close();
    path.finish()
}

/// The outlines of a label's letters, at their place.
fn outline(label: &Label) -> Option<Path> {
    let data = match label.face {
        Face::Plain => PLAIN,
        Face::Bold => BOLD,
        Face::Math => MATH,
        Face::Serif => SERIF,
    };
    let font = ttf_parser::Face::parse(data, 0).ok()?;
    let scale = label.size / f64::from(font.units_per_em().max(1));
    let glyphs: Vec<ttf_parser::GlyphId> =
        label.text.chars().filter_map(|c| font.glyph_index(c).or_else(|| font.glyph_index('□'))).collect();
    let advance = |g: &ttf_parser::GlyphId| f64::from(font.glyph_hor_advance(*g).unwrap_or(0)) * scale;
    let width: f64 = glyphs.iter().map(advance).sum();
    let mut pen = Pen {
        path: PathBuilder::new(),
        x: match label.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        },
        scale,
        at: label.at,
        upwards: label.upwards,
    };
    for glyph in &glyphs {
        font.outline_glyph(*glyph, &mut pen);
        pen.x += advance(glyph);
    }
    pen.path.finish()
}

/// Draws glyphs, whose y runs upwards, one behind the other.
struct Pen {
    path: PathBuilder,
    x: f64,
    scale: f64,
    at: Point,
    upwards: bool,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        let (along, up) = (self.x + f64::from(x) * self.scale, f64::from(y) * self.scale);
        let (dx, dy) = if self.upwards { (-up, -along) } else { (along, -up) };
        ((self.at.0 + dx) as f32, (self.at.1 + dy) as f32)
    }
}

impl ttf_parser::OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let p = self.place(x, y);
        self.path.move_to(p.0, p.1);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let p = self.place(x, y);
        self.path.line_to(p.0, p.1);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (a, b) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(a.0, a.1, b.0, b.1);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (a, b, c) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.path.cubic_to(a.0, a.1, b.0, b.1, c.0, c.1);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ink(scene: &Scene) -> usize {
        let image = Pixmap::decode_png(&png(scene, 1.0).unwrap()).unwrap();
        image.pixels().iter().filter(|p| p.red() < 128).count()
    }

    #[test]
    fn every_face_has_the_letters_that_are_used() {
        for data in [PLAIN, BOLD, MATH, SERIF] {
            let font = ttf_parser::Face::parse(data, 0).unwrap();
            for c in "azAZ09 éßłαβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ–…ℓ≤≥∞−×±²³¹⁰⁴⁵⁶⁷⁸⁹⁻→½¼¾□".chars()
            {
                assert!(font.glyph_index(c).is_some(), "{c}");
            }
        }
    }

    #[test]
    fn marks_leave_ink_where_they_are() {
        let mut scene = Scene { width: 40.0, height: 20.0, ..Scene::default() };
        assert_eq!(ink(&scene), 0);
        let square = vec![(5.0, 5.0), (15.0, 5.0), (15.0, 15.0), (5.0, 15.0)];
        scene.marks.push(Mark::Area { rings: vec![square], fill: Colour::BLACK });
        assert_eq!(ink(&scene), 100);
        scene.marks = vec![Mark::Text(Label::new((2.0, 15.0), "mm", 14.0, Anchor::Start))];
        assert!(ink(&scene) > 20);
    }

    #[test]
    fn impossible_sizes_are_none() {
        for size in [0.0, f64::NAN, 1e6] {
            assert!(png(&Scene { width: size, height: size, ..Scene::default() }, 1.0).is_none());
        }
        let bytes = png(&Scene { width: 30.0, height: 10.0, ..Scene::default() }, 2.0).unwrap();
        assert_eq!(
            (&bytes[..8], &bytes[16..24]),
            (&b"\x89PNG\r\n\x1a\n"[..], &[0, 0, 0, 60, 0, 0, 0, 20][..])
        );
    }
}
