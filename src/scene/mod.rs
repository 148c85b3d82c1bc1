//! Drawings as data: marks at places in pixels, figures in the units of their data, and how both are shown.
//!
//! A [`Figure`] says what is to be seen (curves, bands, points, axes) in the units of the data;
//! [`arrange()`] turns it into a [`Scene`], marks in pixels, and [`svg()`] writes a scene down. A
//! terminal has its own renderer, [`terminal()`]. Nothing here knows of models.

pub mod arrange;
mod canvas;
mod clip;
pub mod colour;
pub mod contour;
pub mod figure;
pub mod svg;
pub mod terminal;
pub mod text;
pub mod ticks;

pub use arrange::arrange;
pub use colour::Colour;
pub use figure::{Axis, Figure, Layer, Panel, Scale, Shape};
pub use svg::svg;
pub use terminal::{ascii, terminal};

/// A place in pixels, y downwards.
pub type Point = (f64, f64);

/// Marks on a page, in the order in which they are painted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Scene {
    /// What it is, in a few words: the accessible name.
    pub title: String,
    /// What there is to see: the accessible description.
    pub description: String,
    /// Width in pixels (96 to an inch).
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
    /// The marks.
    pub marks: Vec<Mark>,
}

/// One thing on the page.
#[derive(Clone, PartialEq, Debug)]
pub enum Mark {
    /// A line through points, closed or open.
    Line {
        /// Where it goes.
        points: Vec<Point>,
        /// How it looks.
        stroke: Stroke,
        /// Whether it returns to its first point.
        closed: bool,
    },
    /// A quadratic curve.
    Bend {
        /// Start, control point, end.
        points: [Point; 3],
        /// How it looks.
        stroke: Stroke,
    },
    /// The inside of rings, by the even-odd rule.
    Area {
        /// Closed outlines.
        rings: Vec<Vec<Point>>,
        /// Its colour.
        fill: Colour,
    },
    /// A disc or a ring.
    Circle {
        /// Its centre.
        at: Point,
        /// Its radius.
        radius: f64,
        /// Its inside, if it is painted.
        fill: Option<Colour>,
        /// Its outline, if it has one.
        stroke: Option<Stroke>,
    },
    /// A rectangle with round corners.
    Box {
        /// Upper left corner.
        at: Point,
        /// Width and height.
        size: Point,
        /// Radius of the corners.
        radius: f64,
        /// Its inside, if it is painted.
        fill: Option<Colour>,
        /// Its outline, if it has one.
        stroke: Option<Stroke>,
    },
    /// A line of text.
    Text(Label),
    /// What follows, until [`Mark::End`], belongs together and has this title (a tooltip).
    Begin(String),
    /// Ends the innermost group.
    End,
}

/// A line of text at its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Label {
    /// Its anchor: a point of the baseline.
    pub at: Point,
    /// What it says.
    pub text: String,
    /// Size of the font in pixels; 12 are 9 points.
    pub size: f64,
    /// Which point of the text is at the anchor.
    pub anchor: Anchor,
    /// Its face.
    pub face: Face,
    /// Its colour.
    pub colour: Colour,
    /// Whether a white rim keeps it readable over lines.
    pub halo: bool,
    /// Whether it runs upwards.
    pub upwards: bool,
}

impl Label {
    /// Black text in the plain face.
    pub fn new(at: Point, text: impl Into<String>, size: f64, anchor: Anchor) -> Label {
        let (face, colour) = (Face::Plain, Colour::BLACK);
        Label { at, text: text.into(), size, anchor, face, colour, halo: false, upwards: false }
    }
}

/// Which point of a text stands at its anchor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// The faces a label may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Face {
    /// Upright sans serif.
    Plain,
    /// The same, heavier.
    Bold,
    /// Slanted serif, for the names of variables.
    Math,
    /// Upright serif, for what stands beside variables.
    Serif,
}

/// How a line looks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width in pixels.
    pub width: f64,
    /// Its dashes.
    pub dash: Dash,
}

impl Stroke {
    /// A solid line.
    pub const fn solid(colour: Colour, width: f64) -> Stroke {
        Stroke { colour, width, dash: Dash::Solid }
    }

    /// A broken line.
    pub const fn dashed(colour: Colour, width: f64, dash: Dash) -> Stroke {
        Stroke { colour, width, dash }
    }
}

/// Lines that differ without colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dash {
    /// ———
    Solid,
    /// – – –
    Dashed,
    /// · · ·
    Dotted,
    /// – · –
    DashDot,
}

impl Dash {
    /// Every one, the plainest first.
    pub const ALL: [Dash; 4] = [Dash::Solid, Dash::Dashed, Dash::DashDot, Dash::Dotted];

    /// Lengths of strokes and gaps in pixels; empty for a solid line.
    pub fn lengths(self) -> &'static [f64] {
        match self {
            Dash::Solid => &[],
            Dash::Dashed => &[6.0, 4.0],
            Dash::Dotted => &[1.5, 3.0],
            Dash::DashDot => &[8.0, 3.0, 1.5, 3.0],
        }
    }
}
