//! The pictures of a fit: what each kind shows, from a fit and (for some) rows of data.
//!
//! ```
//! # let x: Vec<f64> = (0..20).map(|i| f64::from(i) / 10.0).collect();
//! # let t: Vec<f64> = x.iter().map(|x| 1.0 + 2.0 * x + 0.1 * (37.0 * x).sin()).collect();
//! # let data = sbl::Data::new().vector("x", &x)?.vector("t", &t)?;
//! # let model = sbl::Model::compile("data x: real[N]\ndata t: real[N]\nmu ~ Flat()\ntau ~ Gamma(0, 0)\n\
//! #     w ~ Normal(0, precision = 1)\nt ~ Normal(mu + x .* w, precision = tau)\n")?;
//! # let fit = model.fit(&data, &sbl::Options::default())?;
//! let picture = fit.picture(None, Some(&data))?;      // the picture that fits the model
//! let svg = picture.svg();                            // a standalone document
//! let text = picture.text(80, 24, false);             // for a terminal
//! assert!(svg.starts_with("<svg") && text.lines().count() <= 24);
//! # Ok::<(), sbl::Error>(())
//! ```

mod calibration;
mod classes;
mod curve;
mod ground;
mod lambda;
mod names;
mod observed;
mod ordinal;
mod partial;
mod precisions;
mod trace;
mod weights;

use crate::data::Data;
use crate::diag::Diagnostic;
use crate::dist::Support;
use crate::error::Error;
use crate::graph::draw;
use crate::scene::{Figure, Scene, arrange, svg, terminal};
use crate::session::compile::Model;
use crate::session::fit::Fit;

use ground::Ground;

/// What a picture shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A number against one input, with predictive bands and relevance vectors; with more inputs what
    /// [`Kind::Observed`] or [`Kind::Partial`] shows.
    Fit,
    /// Probabilities of classes over one or two inputs, with the boundary and relevance vectors.
    Classes,
    /// Ordered levels: the latent value with its cutpoints.
    Ordinal,
    /// Curves over one input each, the others at their medians.
    Partial,
    /// Observed against predicted.
    Observed,
    /// Weights with their deviations.
    Weights,
    /// Precisions on a logarithmic scale.
    Precisions,
    /// What a weight earns as a function of its precision, for some that are kept and some that are pruned.
    Lambda,
    /// The evidence or bound by iteration.
    Trace,
    /// Whether probabilities and intervals hold what they promise.
    Calibration,
    /// The graph of the model.
    Graph,
}

impl Kind {
    /// Every kind with its name.
    pub const ALL: &[(&str, Kind)] = &[
        ("fit", Kind::Fit),
        ("classes", Kind::Classes),
        ("ordinal", Kind::Ordinal),
        ("partial", Kind::Partial),
        ("observed", Kind::Observed),
        ("weights", Kind::Weights),
        ("precisions", Kind::Precisions),
        ("lambda", Kind::Lambda),
        ("trace", Kind::Trace),
        ("calibration", Kind::Calibration),
        ("graph", Kind::Graph),
    ];

    /// The kind of that name.
    pub fn of(name: &str) -> Option<Kind> {
        Kind::ALL.iter().find(|(n, _)| *n == name).map(|(_, kind)| *kind)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Kind::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(n, _)| n)
    }
}

/// A picture, ready to be rendered.
#[derive(Clone, PartialEq, Debug)]
pub struct Picture {
    kind: Kind,
    content: Content,
}

#[derive(Clone, PartialEq, Debug)]
enum Content {
    Figure(Figure),
    /// A graph has its own layout: the drawing, and the same as text.
    Graph(Scene, String),
}

impl Picture {
    /// What it shows.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its title.
    pub fn title(&self) -> &str {
        match &self.content {
            Content::Figure(figure) => &figure.title,
            Content::Graph(scene, _) => &scene.title,
        }
    }

    /// What must be known to read it; may be empty.
    pub fn caption(&self) -> &str {
        match &self.content {
            Content::Figure(figure) => &figure.caption,
            Content::Graph(..) => "",
        }
    }

    /// The same picture in another size, in pixels (96 to an inch); a graph keeps its own.
    pub fn sized(mut self, width: Option<f64>, height: Option<f64>) -> Picture {
        if let Content::Figure(figure) = &mut self.content {
            figure.size = (width.unwrap_or(figure.size.0), height.unwrap_or(figure.size.1));
        }
        self
    }

    /// Marks in pixels, for a renderer of one's own.
    pub fn scene(&self) -> Scene {
        match &self.content {
            Content::Figure(figure) => arrange(figure, figure.size),
            Content::Graph(scene, _) => scene.clone(),
        }
    }

    /// A standalone SVG document.
    pub fn svg(&self) -> String {
        svg(&self.scene())
    }

    /// The picture in at most so many columns and rows of characters (Unicode, with colours on request).
    pub fn text(&self, columns: usize, rows: usize, colour: bool) -> String {
        match &self.content {
            Content::Figure(figure) => terminal(figure, columns, rows, colour),
            Content::Graph(_, text) => {
                let lines = text.lines().take(rows);
                lines.map(|l| format!("{}\n", crate::scene::text::clipped(l, columns))).collect()
            }
        }
    }
}

impl Model {
    /// The graph of the model.
    ///
    /// ```
    /// let model = sbl::Model::compile("
    ///     data t: real[N]
    ///     mu ~ Flat()
    ///     t ~ Normal(mu, sd = 1)
    /// ")?;
    /// assert!(model.picture().svg().starts_with("<svg"));
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn picture(&self) -> Picture {
        let scene = draw::svg::scene(self.dag());
        Picture {
            kind: Kind::Graph,
            content: Content::Graph(scene, draw::draw(self.dag(), draw::Format::Text)),
        }
    }
}

impl Fit {
    /// A picture of the fit; `None` is the one that suits the model. Pictures of rows show those of `data`;
    /// without them, curves and maps show what the fit remembers of its training rows.
    ///
    /// # Errors
    /// E0850: this kind needs rows and there are none; E0851: the model has nothing of this kind; E07: the
    /// data do not fit the model.
    ///
    /// ```
    /// use sbl::picture::Kind;
    ///
    /// let model = sbl::Model::compile("
    ///     data x: real[N]
    ///     data t: real[N]
    ///     mu ~ Flat()
    ///     w ~ Normal(0, precision = a)
    ///     a ~ Gamma(0, 0)
    ///     tau ~ Gamma(0, 0)
    ///     t ~ Normal(mu + x .* w, precision = tau)
    /// ")?;
    /// let data = sbl::Data::new().vector("x", &[0.0, 1.0, 2.0, 3.0])?.vector("t", &[0.1, 0.9, 2.2, 2.9])?;
    /// let fit = model.fit(&data, &sbl::Options::default())?;
    ///
    /// let picture = fit.picture(None, Some(&data))?;
    /// assert_eq!(picture.kind(), Kind::Fit);
    /// println!("{}", picture.text(80, 24, false));
    ///
    /// // no classes here
    /// assert!(fit.picture(Some(Kind::Classes), None).is_err());
    /// # Ok::<(), sbl::Error>(())
    /// ```
    pub fn picture(&self, kind: Option<Kind>, data: Option<&Data>) -> Result<Picture, Error> {
        let kind = kind.unwrap_or_else(|| self.natural_kind());
        let ground = || Ground::new(self, kind, data);
        let figure = match kind {
            Kind::Graph => return Ok(self.model().picture()),
            Kind::Weights => weights::figure(self)?,
            Kind::Precisions => precisions::figure(self)?,
            Kind::Lambda => lambda::figure(self)?,
            Kind::Trace => trace::figure(self)?,
            Kind::Fit => curve::figure(&ground()?)?,
            Kind::Classes => classes::figure(&ground()?)?,
            Kind::Ordinal => ordinal::figure(&ground()?)?,
            Kind::Partial => partial::figure(&ground()?)?,
            Kind::Observed => observed::figure(&ground()?)?,
            Kind::Calibration => calibration::figure(&ground()?)?,
        };
        Ok(Picture { kind, content: Content::Figure(figure) })
    }

    /// The picture that suits the model.
    fn natural_kind(&self) -> Kind {
        let observed = self.model().typed().nodes.iter().find(|n| n.is_observed()).and_then(|n| n.dist());
        match observed.map(|d| d.family.support) {
            Some(Support::Ordered) => Kind::Ordinal,
            Some(Support::Binary | Support::Levels) => Kind::Classes,
            _ => Kind::Fit,
        }
    }

    /// The model has nothing that this kind shows.
    fn no_such_picture(&self, kind: Kind, why: &str, instead: Kind) -> Error {
        let found = format!("{} has no picture of kind `{}`: {why}", self.model().name(), kind.name());
        let help = format!("choose another kind, such as `--kind {}`", instead.name());
        self.model().error(vec![Diagnostic::error("E0851", found).help(help)])
    }

    /// Rows are needed, and none were given.
    fn no_rows(&self, kind: Kind, what: &str) -> Error {
        let found = format!("a picture of kind `{}` shows {what}, and no data were given", kind.name());
        let help = "give the rows with `--data FILE` (in a program: `Some(&data)`); a fit does not keep them";
        self.model().error(vec![Diagnostic::error("E0850", found).help(help)])
    }
}
