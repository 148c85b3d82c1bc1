//! The syntax tree: spans, and no meaning.
//!
//! Every variant shows the source that makes it.

use serde::{Deserialize, Serialize};

use crate::source::{FileId, Span, Spanned};

/// A name with its place.
pub type Ident = Spanned<String>;

/// One file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Module {
    /// The file this was parsed from.
    pub file: FileId,
    /// In source order. Loose statements (a file without `model` blocks) are `Item::Statement`.
    pub items: Vec<Item>,
}

/// What may stand at the top of a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Item {
    /// `use …`
    Use(Use),
    /// `fn …`
    Fn(FnDef),
    /// `prior …`
    Prior(PriorDef),
    /// `model name { … }`
    Model(ModelDef),
    /// A statement outside any `model`: the file is one anonymous model.
    Statement(Statement),
}

/// `use std.kernels.rbf` · `use std.priors.{ard, ridge}` · `use "lib/mine.sbl"`
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Use {
    /// What is named.
    pub target: UseTarget,
    /// The statement.
    pub span: Span,
}

/// What a `use` names.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum UseTarget {
    /// `std.kernels.rbf`, `std.kernels`: the whole path.
    Path(Vec<Ident>),
    /// `std.priors.{ard, ridge}`: the path before the braces, then the names.
    Names(Vec<Ident>, Vec<Ident>),
    /// `"lib/mine.sbl"`
    File(Spanned<String>),
}

/// `fn name(a: T, b: T = default) -> T = expr` · `fn name(…) -> T { let …; expr }`
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FnDef {
    /// The text of the `##` lines before it.
    pub doc: Option<String>,
    /// Its name.
    pub name: Ident,
    /// Its parameters; each has a type.
    pub params: Vec<FnParam>,
    /// The declared result type.
    pub result: TypeExpr,
    /// `let`s of a block body; empty for `= expr`.
    pub lets: Vec<LetStmt>,
    /// The value.
    pub body: Expr,
    /// From `fn` to the end of the body.
    pub span: Span,
}

/// `a: real[N, D] = default`; in a `prior` the type may be left out.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FnParam {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: Option<TypeExpr>,
    /// Its default, which may use earlier parameters.
    pub default: Option<Expr>,
}

/// `prior name(a, b = default) { … return node }`
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PriorDef {
    /// The text of the `##` lines before it.
    pub doc: Option<String>,
    /// Its name.
    pub name: Ident,
    /// Its parameters.
    pub params: Vec<FnParam>,
    /// The statements before `return`.
    pub body: Vec<Statement>,
    /// The node that takes the name on the left of `~`.
    pub result: Ident,
    /// From `prior` to the closing brace.
    pub span: Span,
}

/// `model name { … }`
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ModelDef {
    /// The text of the `##` lines before it.
    pub doc: Option<String>,
    /// Its name.
    pub name: Ident,
    /// Its statements.
    pub body: Vec<Statement>,
    /// From `model` to the closing brace.
    pub span: Span,
}

/// One statement of a model, a prior or a plate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Statement {
    /// The text of the `##` lines before it.
    pub doc: Option<String>,
    /// What it says.
    pub kind: StatementKind,
    /// From its first to its last token.
    pub span: Span,
}

/// The statements.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum StatementKind {
    /// `data x: real[N, D] from columns("age", "bmi")`
    Data {
        /// The name.
        name: Ident,
        /// The type.
        ty: TypeExpr,
        /// Where its columns come from.
        from: Option<From>,
    },
    /// `let y = expr`
    Let(LetStmt),
    /// `param s: type = start`
    Param {
        /// The name.
        name: Ident,
        /// The type.
        ty: TypeExpr,
        /// Where the search starts.
        start: Option<Expr>,
    },
    /// `y ~ Family(…) [dims] weight k` · `w[m, k] ~ Normal(…)`
    Tilde(TildeStmt),
    /// `plate m in cols(phi) { … }`
    Plate {
        /// The index.
        index: Ident,
        /// How many: a dimension expression.
        extent: Expr,
        /// What is repeated.
        body: Vec<Statement>,
    },
    /// `infer evidence(max_iter = 100)` · `infer auto`
    Infer(InferStmt),
}

/// `let y = expr`
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LetStmt {
    /// The name.
    pub name: Ident,
    /// `[m]` on the left, inside a plate.
    pub indices: Vec<Ident>,
    /// The value.
    pub value: Expr,
    /// The statement.
    pub span: Span,
}

/// `from column("medv")` · `from columns("age", "bmi")` · `from except("id")`
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum From {
    /// One column.
    Column(Spanned<String>),
    /// These, in this order.
    Columns(Vec<Spanned<String>>),
    /// All but these.
    Except(Vec<Spanned<String>>),
}

/// `y[n] ~ Family(args) [dims] weight k`
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TildeStmt {
    /// The node.
    pub name: Ident,
    /// Its plate indices.
    pub indices: Vec<Ident>,
    /// A family, or a `prior` (possibly a path, `std.priors.ard`).
    pub family: Ident,
    /// Its arguments.
    pub args: Vec<Arg>,
    /// `[levels(school)]`
    pub dims: Option<Vec<Expr>>,
    /// `weight k`
    pub weight: Option<Expr>,
}

/// `infer method(name = value, …)`
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct InferStmt {
    /// The method.
    pub method: Ident,
    /// Its options.
    pub options: Vec<Arg>,
}

/// `a` · `width = 3.0`
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Arg {
    /// The name, for a named argument.
    pub name: Option<Ident>,
    /// The value.
    pub value: Expr,
}

/// `real[N, D]` · `ordered{poor < fair < good}[N]`
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TypeExpr {
    /// `real`, `positive`, `unit`, `int`, `count`, `bool`, `category`, `ordered`, `increasing`, `simplex`, or anything else the writer put there.
    pub elem: Ident,
    /// The stated levels, in order.
    pub levels: Option<Levels>,
    /// The shape; empty for a scalar.
    pub dims: Vec<Expr>,
    /// The whole type.
    pub span: Span,
}

/// `{benign, malignant}` · `{poor < fair < good}`
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Levels {
    /// Whether they are separated by `<`.
    pub ascending: bool,
    /// As read: identifiers, integers, or quoted strings without their quotes.
    pub names: Vec<Spanned<String>>,
    /// With the braces.
    pub span: Span,
}

/// An expression.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// The expressions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum ExprKind {
    /// `3.0`, `1e-6`: the value and its text.
    Number(f64, String),
    /// `"medv"`
    Text(String),
    /// `phi`; `_` stands only inside an index.
    Name(String),
    /// `std.kernels.rbf` or `w.alpha`
    Path(Vec<Ident>),
    /// `-x`
    Neg(Box<Expr>),
    /// `a + b`
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `f(a, width = 2)`
    Call(Ident, Vec<Arg>),
    /// `x[n]`, `x[_, j]`; `None` is `_`.
    Index(Box<Expr>, Vec<Option<Expr>>),
    /// `[a, b]`
    Join(Vec<Expr>),
    /// `(a)`, kept so that the printer can keep it.
    Paren(Box<Expr>),
}

/// `+ - * / .* ./ ^`
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum BinOp {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`, the product of linear algebra
    Mul,
    /// `a / b`
    Div,
    /// `a .* b`
    ElMul,
    /// `a ./ b`
    ElDiv,
    /// `a ^ b`
    Pow,
}

impl BinOp {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::Div => "/",
            BinOp::ElMul => ".*",
            BinOp::ElDiv => "./",
            BinOp::Pow => "^",
        }
    }
}
