//! A figure in the units of its data: panels with axes, and what is drawn in them.

use super::contour::Grid;
use super::{Colour, Dash, Stroke};

/// Panels with a title and a caption.
#[derive(Clone, PartialEq, Debug)]
pub struct Figure {
    /// Above everything.
    pub title: String,
    /// What there is to see, for those who cannot see it.
    pub description: String,
    /// Below everything: what must be known to read it.
    pub caption: String,
    /// In reading order.
    pub panels: Vec<Panel>,
    /// How many stand side by side.
    pub columns: usize,
    /// Width and height in pixels that suit it.
    pub size: (f64, f64),
}

impl Default for Figure {
    fn default() -> Figure {
        let (title, description, caption) = Default::default();
        Figure { title, description, caption, panels: Vec::new(), columns: 1, size: (560.0, 400.0) }
    }
}

/// A pair of axes with what is drawn between them, painted in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Panel {
    /// Above the panel; may be empty.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// What is drawn.
    pub layers: Vec<Layer>,
    /// Whether a unit of x is as long as one of y.
    pub square: bool,
}

/// An axis.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// Where it begins and ends; by what is drawn if absent.
    pub range: Option<(f64, f64)>,
    /// Names in place of numbers, at their places.
    pub names: Option<Vec<(f64, String)>>,
}

/// How numbers become lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scale {
    /// Equal differences are equally long.
    #[default]
    Linear,
    /// Equal ratios are equally long.
    Log,
}

/// Something drawn, with its name in the legend; nameless layers are not in it.
#[derive(Clone, PartialEq, Debug)]
pub struct Layer {
    /// For the legend.
    pub name: Option<String>,
    /// What it is.
    pub shape: Shape,
}

/// What can be drawn, in the units of the data. What is not finite is left out.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// Between two curves.
    Band {
        /// x, low, high.
        points: Vec<(f64, f64, f64)>,
        /// Its colour, to be printed as it is.
        fill: Colour,
        /// How dark it is in a terminal, 1 … 3.
        shade: u8,
    },
    /// A curve.
    Line {
        /// x, y.
        points: Vec<(f64, f64)>,
        /// How it looks.
        stroke: Stroke,
    },
    /// Points.
    Points {
        /// x, y.
        points: Vec<(f64, f64)>,
        /// How they look.
        marker: Marker,
    },
    /// An interval at each place.
    Whiskers {
        /// Place, low, high.
        points: Vec<(f64, f64, f64)>,
        /// Whether they run along y (else along x).
        upright: bool,
        /// How they look.
        stroke: Stroke,
    },
    /// A line through the whole panel.
    Rule {
        /// Where.
        at: f64,
        /// Whether it stands at an x (else at a y).
        upright: bool,
        /// How it looks.
        stroke: Stroke,
    },
    /// Where the height of a grid is at least `level`.
    Region {
        /// The heights.
        grid: Grid,
        /// From here on.
        level: f64,
        /// Its colour.
        fill: Colour,
        /// How dark it is in a terminal, 0 … 3.
        shade: u8,
    },
    /// Where a grid is at a level.
    Contour {
        /// The heights.
        grid: Grid,
        /// The level.
        level: f64,
        /// How it looks.
        stroke: Stroke,
    },
    /// Boxes that stand on 0.
    Bars {
        /// From, to, height.
        points: Vec<(f64, f64, f64)>,
        /// Their colour.
        fill: Colour,
    },
    /// A text at a place of the panel.
    Note {
        /// Share of the width and of the height, from the lower left corner.
        at: (f64, f64),
        /// What it says, one line each.
        lines: Vec<String>,
        /// Whether it ends at its place (else it begins there).
        right: bool,
    },
    /// A text at the right edge, beside a value of y.
    Margin {
        /// The value.
        at: f64,
        /// What it says.
        text: String,
    },
}

/// How points look.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Marker {
    /// Its outline.
    pub form: Form,
    /// From side to side, in pixels.
    pub size: f64,
    /// Its colour.
    pub colour: Colour,
}

/// Forms that can be told apart without colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// ●
    Disc,
    /// ○, with the ground showing through
    Ring,
    /// ◌ filled with white
    Hollow,
    /// ▲
    Triangle,
    /// ■
    Square,
    /// ◆
    Diamond,
    /// ×
    Cross,
    /// +
    Plus,
}

impl Form {
    /// For the levels of a target, in this order.
    pub const LEVELS: [Form; 6] =
        [Form::Hollow, Form::Triangle, Form::Square, Form::Cross, Form::Diamond, Form::Plus];

    /// What stands for it in a terminal.
    pub fn letter(self) -> char {
        match self {
            Form::Disc => '•',
            Form::Ring => '◯',
            Form::Hollow => 'o',
            Form::Triangle => '▲',
            Form::Square => '■',
            Form::Diamond => '◆',
            Form::Cross => '×',
            Form::Plus => '+',
        }
    }
}

impl Axis {
    /// A linear axis that fits what is drawn.
    pub fn new(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), ..Axis::default() }
    }

    /// The same with limits.
    pub fn within(mut self, low: f64, high: f64) -> Axis {
        self.range = Some((low, high));
        self
    }

    /// The same on a logarithmic scale.
    pub fn log(mut self) -> Axis {
        self.scale = Scale::Log;
        self
    }

    /// The same with names in place of numbers.
    pub fn named(mut self, names: Vec<(f64, String)>) -> Axis {
        self.names = Some(names);
        self
    }
}

impl Layer {
    /// A layer that the legend names.
    pub fn named(name: impl Into<String>, shape: Shape) -> Layer {
        Layer { name: Some(name.into()), shape }
    }
}

impl From<Shape> for Layer {
    fn from(shape: Shape) -> Layer {
        Layer { name: None, shape }
    }
}

impl Panel {
    /// A panel with these axes.
    pub fn new(x: Axis, y: Axis) -> Panel {
        Panel { x, y, ..Panel::default() }
    }

    /// Adds a layer.
    pub fn draw(&mut self, layer: impl Into<Layer>) {
        self.layers.push(layer.into());
    }

    /// The limits of both axes: as stated, or what is drawn and a little room.
    pub(crate) fn limits(&self) -> [(f64, f64); 2] {
        let mut seen: [Vec<f64>; 2] = Default::default();
        let mut see = |axis: usize, x: f64| {
            let scale = if axis == 0 { self.x.scale } else { self.y.scale };
            // where a double ends, differences overflow
            if x.is_finite() && x.abs() < 1e300 && (scale == Scale::Linear || x > 1e-300) {
                seen[axis].push(x);
            }
        };
        for layer in &self.layers {
            match &layer.shape {
                Shape::Line { points, .. } | Shape::Points { points, .. } => {
                    points.iter().for_each(|(x, y)| {
                        see(0, *x);
                        see(1, *y);
                    });
                }
                Shape::Band { points, .. } => points.iter().for_each(|(x, a, b)| {
                    see(0, *x);
                    see(1, *a);
                    see(1, *b);
                }),
                Shape::Whiskers { points, upright, .. } => points.iter().for_each(|(at, a, b)| {
                    let (place, run) = if *upright { (0, 1) } else { (1, 0) };
                    see(place, *at);
                    see(run, *a);
                    see(run, *b);
                }),
                Shape::Bars { points, .. } => points.iter().for_each(|(a, b, h)| {
                    see(0, *a);
                    see(0, *b);
                    see(1, 0.0);
                    see(1, *h);
                }),
                Shape::Region { grid, .. } | Shape::Contour { grid, .. } => {
                    grid.x.iter().for_each(|x| see(0, *x));
                    grid.y.iter().for_each(|y| see(1, *y));
                }
                Shape::Rule { at, upright, .. } => see(usize::from(!*upright), *at),
                Shape::Margin { at, .. } => see(1, *at),
                Shape::Note { .. } => {}
            }
        }
        let axes = [&self.x, &self.y];
        [0, 1].map(|a| match axes[a].range {
            Some((low, high)) if low < high && (high - low).is_finite() => (low, high),
            _ => around(&seen[a], axes[a].scale),
        })
    }
}

/// The range of what is drawn, with 4 % of room at both ends; never empty.
fn around(seen: &[f64], scale: Scale) -> (f64, f64) {
    let low = seen.iter().copied().fold(f64::INFINITY, f64::min);
    let high = seen.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match scale {
        Scale::Linear if low > high => (0.0, 1.0),
        Scale::Linear => {
            let room = 0.04 * (high - low);
            // a constant gets room of its own size
            let room =
                if room > low.abs().max(high.abs()) * 1e-12 { room } else { low.abs().max(1e-12) * 0.5 };
            let room = if low == 0.0 && high == 0.0 { 1.0 } else { room };
            (low - room, high + room)
        }
        Scale::Log if low > high => (1.0, 10.0),
        Scale::Log => {
            let room = ((high / low).powf(0.04)).max(1.2);
            (low / room, high * room)
        }
    }
}

impl Default for Marker {
    fn default() -> Marker {
        Marker { form: Form::Disc, size: 5.0, colour: Colour::BLACK }
    }
}

/// A thin line for axes and frames.
pub(crate) const FRAME: Stroke = Stroke::solid(Colour(60, 60, 60), 1.0);

/// A line that is there for orientation.
pub const GUIDE: Stroke = Stroke::dashed(Colour::GREY, 1.0, Dash::Dashed);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_never_empty() {
        let cases: [&[f64]; 6] =
            [&[], &[0.0], &[5.0, 5.0], &[1e300, -1e300], &[f64::NAN, f64::INFINITY], &[1e-310]];
        for ys in cases {
            let mut panel = Panel::new(Axis::new("x"), Axis::new("y"));
            panel.draw(Shape::Points {
                points: ys.iter().map(|y| (1.0, *y)).collect(),
                marker: Marker::default(),
            });
            for (low, high) in panel.limits() {
                assert!(low < high && (high - low).is_finite(), "{ys:?}: {low} {high}");
            }
            panel.y.scale = Scale::Log;
            let (low, high) = panel.limits()[1];
            assert!(0.0 < low && low < high && high.is_finite(), "{ys:?}: {low} {high}");
        }
    }

    #[test]
    fn stated_limits_hold() {
        let panel = Panel::new(Axis::new("x").within(0.0, 2.0), Axis::new("y").within(3.0, 3.0));
        assert_eq!(panel.limits(), [(0.0, 2.0), (0.0, 1.0)]);
    }
}
