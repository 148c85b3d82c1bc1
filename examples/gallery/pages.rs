//! The pictures of the gallery, with their programs, data and what there is to see.

use std::error::Error;
use std::path::Path;

use sbl::data::Column;
use sbl::picture::Kind;
use sbl::{Data, Fit, Model, Options};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A picture of the gallery.
struct Exhibit {
    /// Its file, without ending.
    file: &'static str,
    heading: &'static str,
    /// The command that draws it.
    command: &'static str,
    text: &'static str,
    svg: String,
}

const HEAD: &str = "\
# Gallery

Every kind of picture that `sbl plot` draws. Without `-o` the same command draws in the terminal; `-o file.png` writes
an image. Colours are those of Okabe and Ito, and nothing is told by colour alone: the pictures can be read in grey.
Made by `cargo run --example gallery` from the programs and data in [`examples/`](../examples/); a test checks that they
are current.
";

/// Three classes over two inputs.
const THREE: &str = "use std.kernels.rbf\nuse std.priors.ard\nmodel shapes {\n    data x: real[N, 2] from columns(\"x1\", \"x2\")\n    \
    data c: category[N]\n    let phi = [1, rbf(x, width = 1.0)]\n    W ~ ard(cols(phi), levels(c))\n    \
    c ~ Categorical(softmax = phi * W)\n}\n";

/// Two classes over one input.
const DOSE: &str = "model dose {\n    data x: real[N] from column(\"x2\")\n    data t: bool[N]\n    mu ~ Flat()\n    \
    w ~ Normal(0, precision = alpha)\n    alpha ~ Gamma(0, 0)\n    t ~ Bernoulli(logit = mu + x .* w)\n}\n";

/// Ordered levels over one input.
const GRADES: &str = "use std.kernels.rbf\nuse std.priors.ard\nmodel grades {\n    data x: real[N] from column(\"x1\")\n    \
    data y: ordered[N]\n    let phi = rbf(x, width = 1.5)\n    w ~ ard(cols(phi))\n    \
    param cut: increasing[levels(y) - 1]\n    y ~ Ordinal(probit = phi * w, cutpoints = cut)\n}\n";

/// Every file of the gallery: path from the root of the project, content.
pub fn all() -> Result<Vec<(String, String)>> {
    let (sinc, classes, ratings) = (csv("sinc.csv")?, csv("classes.csv")?, csv("ratings.csv")?);
    let (diabetes, friedman, shapes) = (csv("diabetes.csv")?, csv("friedman.csv")?, csv("shapes.csv")?);
    let curve = fit(&example("sinc")?, &sinc)?;
    let map = fit(&example("ripley")?, &classes)?;
    let ordinal = fit(&example("ordinal")?, &ratings)?;
    let linear = fit(&example("diabetes")?, &diabetes)?;
    // every other row is held out
    let (train, test) = halves(&diabetes)?;
    let half = fit(&example("diabetes")?, &train)?;
    let (class_train, class_test) = halves(&classes)?;
    let half_map = fit(&example("ripley")?, &class_train)?;
    let of = |fit: &Fit, kind: Kind, data: Option<&Data>| -> Result<String> {
        Ok(fit.picture(Some(kind), data)?.svg())
    };
    let graph = |name: &str| -> Result<String> { Ok(Model::compile(&example(name)?)?.picture().svg()) };
    let exhibits = [
        Exhibit {
            file: "fit",
            heading: "A curve with its bands",
            command: "sbl plot sinc.sblfit --data examples/data/sinc.csv",
            text: "Relevance vector regression. The dark band is the uncertainty of the function, the light one that of a new \
                   observation. Circled rows are the relevance vectors: every other basis function is pruned.",
            svg: of(&curve, Kind::Fit, Some(&sinc))?,
        },
        Exhibit {
            file: "classes",
            heading: "A map of two classes",
            command: "sbl plot ripley.sblfit --data examples/data/classes.csv",
            text: "Probabilities averaged over the weights, in steps of a tenth; the line is where both classes are equally probable.",
            svg: of(&map, Kind::Classes, Some(&classes))?,
        },
        Exhibit {
            file: "classes-one-input",
            heading: "Classes over one input",
            command: "sbl plot dose.sblfit --data examples/data/classes.csv",
            text: "With one input the probability is a curve, rows at its floor and ceiling.",
            svg: of(&fit(DOSE, &classes)?, Kind::Classes, Some(&classes))?,
        },
        Exhibit {
            file: "classes-three",
            heading: "More than two classes",
            command: "sbl plot shapes.sblfit --data examples/data/shapes.csv",
            text: "Regions of the most probable level, each with its own marker and shade.",
            svg: of(&fit(THREE, &shapes)?, Kind::Classes, Some(&shapes))?,
        },
        Exhibit {
            file: "ordinal",
            heading: "Ordered levels in the plane",
            command: "sbl plot ordinal.sblfit --data examples/data/ratings.csv",
            text: "Bands where the mean of the latent value lies between two cutpoints.",
            svg: of(&ordinal, Kind::Ordinal, Some(&ratings))?,
        },
        Exhibit {
            file: "ordinal-one-input",
            heading: "Ordered levels over one input",
            command: "sbl plot grades.sblfit --data examples/data/ratings.csv",
            text: "Above the latent value with its cutpoints, below the probability of each level, stacked.",
            svg: of(&fit(GRADES, &ratings)?, Kind::Ordinal, Some(&ratings))?,
        },
        Exhibit {
            file: "weights",
            heading: "Weights",
            command: "sbl plot diabetes.sblfit --kind weights",
            text: "The kept weights with two deviations, the surest first.",
            svg: of(&linear, Kind::Weights, None)?,
        },
        Exhibit {
            file: "precisions",
            heading: "Precisions",
            command: "sbl plot diabetes.sblfit --kind precisions",
            text: "One precision for each weight. Those of pruned weights are infinite and stand at the edge.",
            svg: of(&linear, Kind::Precisions, None)?,
        },
        Exhibit {
            file: "lambda",
            heading: "Why a weight is kept or pruned",
            command: "sbl plot diabetes.sblfit --kind lambda",
            text: "The log evidence as a function of one precision, everything else as fitted. Where q² > s it has a \
                   maximum and the weight is kept; where not, it grows to infinity and the weight is pruned.",
            svg: of(&linear, Kind::Lambda, None)?,
        },
        Exhibit {
            file: "trace",
            heading: "The evidence by iteration",
            command: "sbl plot diabetes.sblfit --kind trace",
            text: "The value, and how far it still has to go on a logarithmic scale.",
            svg: of(&linear, Kind::Trace, None)?,
        },
        Exhibit {
            file: "calibration",
            heading: "Calibration of a number",
            command: "sbl plot half.sblfit --data held-out.csv --kind calibration",
            text: "On rows that were held out. If the predictive distribution is right, the histogram is flat and the curve \
                   follows the diagonal, up to the ranges that are drawn.",
            svg: of(&half, Kind::Calibration, Some(&test))?,
        },
        Exhibit {
            file: "calibration-classes",
            heading: "Calibration of probabilities",
            command: "sbl plot half.sblfit --data held-out.csv --kind calibration",
            text: "The share that came true against the probability that was said, on rows that were held out.",
            svg: of(&half_map, Kind::Calibration, Some(&class_test))?,
        },
        Exhibit {
            file: "observed",
            heading: "Observed against predicted",
            command: "sbl plot half.sblfit --data held-out.csv --kind observed",
            text: "What `fit` shows where there are more inputs than can be drawn.",
            svg: of(&half, Kind::Observed, Some(&test))?,
        },
        Exhibit {
            file: "partial",
            heading: "One input at a time",
            command: "sbl plot friedman.sblfit --kind partial",
            text: "The others at their medians, all panels on one scale. Interactions do not show.",
            svg: of(&fit(&example("friedman")?, &friedman)?, Kind::Partial, None)?,
        },
        Exhibit {
            file: "graph",
            heading: "The graph",
            command: "sbl plot examples/schools.sbl",
            text: "Shaded nodes are observed, solid dots are fixed, a double outline is computed, a box is a plate with its index.",
            svg: graph("schools")?,
        },
        Exhibit {
            file: "graph-ordinal",
            heading: "The graph of a model with learned parameters",
            command: "sbl plot examples/ordinal.sbl",
            text: "A dashed outline is a parameter without a prior, learned by the gradient of the evidence.",
            svg: graph("ordinal")?,
        },
    ];
    let mut page = HEAD.to_owned();
    let mut files = Vec::new();
    for e in exhibits {
        page.push_str(&format!(
            "\n## {}\n\n{}\n\n```sh\n{}\n```\n\n![{}](gallery/{}.svg)\n",
            e.heading, e.text, e.command, e.heading, e.file
        ));
        files.push((format!("docs/gallery/{}.svg", e.file), e.svg));
    }
    files.push(("docs/gallery.md".to_owned(), page));
    for name in ["diabetes", "sinc"] {
        files.push((format!("docs/pictures/{name}.svg"), graph(name)?));
    }
    Ok(files)
}

fn example(name: &str) -> Result<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/{name}.sbl"));
    Ok(std::fs::read_to_string(path)?.replace("\r\n", "\n"))
}

/// A fit with the default options.
pub fn fit(program: &str, data: &Data) -> Result<Fit> {
    Ok(Model::compile(program)?.fit(data, &Options::default())?)
}

/// Two halves, by pairs of rows: single rows of a table often alternate between classes.
fn halves(data: &Data) -> Result<(Data, Data)> {
    let rows = |half: usize| (0..data.row_count()).filter(|i| i / 2 % 2 == half).collect::<Vec<_>>();
    let (one, other) = (data.select_rows(&rows(0))?, data.select_rows(&rows(1))?);
    Ok((one.named("one half"), other.named("the other half")))
}

/// A table of the examples: numbers, or words where a cell is none.
pub fn csv(name: &str) -> Result<Data> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data").join(name);
    let text = std::fs::read_to_string(path)?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let rows: Vec<Vec<&str>> = lines.map(|l| l.split(',').collect()).collect();
    let mut data = Data::new().named(name);
    for (j, name) in names.iter().enumerate() {
        let cells: Vec<&str> = rows.iter().filter_map(|r| r.get(j).copied()).collect();
        let numbers: std::result::Result<Vec<f64>, _> = cells.iter().map(|c| c.parse()).collect();
        data.insert(
            name,
            match numbers {
                Ok(numbers) => Column::Numbers(numbers),
                Err(_) => Column::Words(cells.iter().map(|c| Some((*c).into())).collect()),
            },
        );
    }
    Ok(data)
}
