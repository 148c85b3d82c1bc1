//! What is said about one thing that has a name.

/// One thing of the language that has a name, and all that is said about it.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// As written in a program: `rbf`, `Normal`, `~`.
    pub name: String,
    /// Other names under which it is found: `from` for `data`.
    pub aliases: Vec<String>,
    /// What it is.
    pub kind: Kind,
    /// How it is written: `rbf(x, width, centres = train(x))`.
    pub signature: String,
    /// The import it needs: `use std.kernels.rbf`.
    pub import: Option<String>,
    /// One sentence.
    pub summary: String,
    /// What it computes or states, in lines of plain text.
    pub formula: String,
    /// Arguments, options or values it has.
    pub arguments: Vec<Argument>,
    /// More about it: paragraphs of Markdown.
    pub text: String,
    /// A complete program that uses it.
    pub example: String,
    /// Where it comes from: a paper, a book, and the equation or section.
    pub source: String,
    /// Names of related entries.
    pub see: Vec<String>,
}

/// One row of the table of an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument {
    /// As written: `precision =`.
    pub name: String,
    /// What its values are.
    pub values: String,
    /// Whether it must be there, or what it is where it is not.
    pub need: String,
    /// What it means.
    pub meaning: String,
}

/// What kind of thing an entry is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// A statement, or a sign between its words.
    Statement,
    /// A type of data or of a parameter.
    Type,
    /// What stands right of `~`.
    Family,
    /// A `prior` of the standard library.
    Prior,
    /// A kernel of the standard library.
    Kernel,
    /// A basis of the standard library.
    Basis,
    /// A link, or another function of the standard library.
    Library,
    /// A native function.
    Function,
    /// A method of inference.
    Plan,
    /// An option of `infer`.
    Setting,
}

impl Kind {
    /// Every kind, in the order of the contents.
    pub const ALL: [Kind; 10] = [
        Kind::Statement,
        Kind::Type,
        Kind::Family,
        Kind::Prior,
        Kind::Kernel,
        Kind::Basis,
        Kind::Library,
        Kind::Function,
        Kind::Plan,
        Kind::Setting,
    ];

    /// The title of a list of them.
    pub fn title(self) -> &'static str {
        match self {
            Kind::Statement => "Statements",
            Kind::Type => "Types",
            Kind::Family => "Families",
            Kind::Prior => "Priors",
            Kind::Kernel => "Kernels",
            Kind::Basis => "Bases",
            Kind::Library => "Links and ready-made designs",
            Kind::Function => "Functions",
            Kind::Plan => "Plans",
            Kind::Setting => "Options of infer",
        }
    }

    /// One of them, in a sentence: `a kernel`.
    pub fn noun(self) -> &'static str {
        match self {
            Kind::Statement => "a statement",
            Kind::Type => "a type",
            Kind::Family => "a family",
            Kind::Prior => "a prior",
            Kind::Kernel => "a kernel",
            Kind::Basis => "a basis",
            Kind::Library => "a function of the library",
            Kind::Function => "a native function",
            Kind::Plan => "a plan",
            Kind::Setting => "an option of infer",
        }
    }

    /// The page of the reference it stands on, in `docs/reference/`.
    pub fn page(self) -> &'static str {
        match self {
            Kind::Statement => "statements",
            Kind::Type => "types",
            Kind::Family => "families",
            Kind::Prior => "priors",
            Kind::Kernel => "kernels",
            Kind::Basis => "bases",
            Kind::Library => "library",
            Kind::Function => "functions",
            Kind::Plan => "plans",
            Kind::Setting => "options",
        }
    }

    /// What a list of them has in common.
    pub(super) fn head(self) -> &'static str {
        match self {
            Kind::Statement => "What a program is made of. Order of statements does not matter.",
            Kind::Type => {
                "What data and parameters may be. The shape follows in brackets, `real[N, D]`; a capital letter is a \
                 dimension, bound by the data and the same wherever it stands."
            }
            Kind::Family => {
                "What may stand on the right of `~`. Arguments without `=` may be given by position; scale arguments \
                 are always named, so that a precision is never mistaken for a deviation. An argument is a number, or \
                 has the shape of the node."
            }
            Kind::Prior => {
                "Pieces of graph in `std.priors`, written in the language: `w ~ ard(D)` splices one in, and what is \
                 inside it is called `w.alpha`. Hyperparameters are named, so that arguments by position are sizes."
            }
            Kind::Kernel => {
                "Functions of `std.kernels`: one column for each centre. The centres are the training rows unless \
                 said otherwise, so the same line is a square matrix at training and one row for each new point at \
                 prediction. Any argument may be a `param`, and is then learned."
            }
            Kind::Basis => {
                "Functions of `std.bases`: columns made of the inputs alone, without centres or with few."
            }
            Kind::Library => "Functions of `std.links` and `std.models`.",
            Kind::Function => {
                "Built in; no import. They act on data, parameters and unknowns, and have exact derivatives."
            }
            Kind::Plan => {
                "How a model is fitted. Without `infer` the compiler chooses (`auto`), and `sbl plan` says why; a plan \
                 that cannot serve says which node stops it, and what edit would help."
            }
            Kind::Setting => {
                "Written in brackets behind a plan: `infer evidence(max_iter = 500, updates = em)`. From outside: \
                 `--infer \"evidence(updates = em)\"`."
            }
        }
    }
}
