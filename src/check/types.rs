//! Type expressions: element names, stated levels, shapes.

use crate::check::cx::Cx;
use crate::check::dim::Dim;
use crate::check::env::Env;
use crate::check::typed::Elem;
use crate::diag::Diagnostic;
use crate::diag::suggest::closest;
use crate::syntax::ast;

/// Every element name a program may write.
const ELEMS: &[(&str, Elem)] = &[
    ("real", Elem::Real),
    ("positive", Elem::Positive),
    ("unit", Elem::Unit),
    ("int", Elem::Int),
    ("count", Elem::Count),
    ("bool", Elem::Bool),
    ("category", Elem::Category),
    ("ordered", Elem::Ordered),
    ("increasing", Elem::Increasing),
    ("simplex", Elem::Simplex),
];

/// A declared type.
pub(crate) struct Declared {
    pub(crate) elem: Elem,
    pub(crate) shape: Vec<Dim>,
    pub(crate) levels: Option<Vec<String>>,
}

impl Cx<'_> {
    /// The element type of that name.
    pub(crate) fn elem_named(&mut self, name: &ast::Ident) -> Option<Elem> {
        if let Some((_, elem)) = ELEMS.iter().find(|(n, _)| *n == name.node) {
            return Some(*elem);
        }
        let d = Diagnostic::error("E0401", format!("there is no type `{}`", name.node))
            .at(name.span, "unknown type");
        let names: Vec<&str> = ELEMS.iter().map(|(n, _)| *n).collect();
        let alias = match name.node.as_str() {
            "float" | "double" | "number" | "f64" | "vector" | "matrix" | "numeric" => Some("real"),
            "integer" | "long" | "i64" => Some("int"),
            "boolean" | "binary" | "logical" => Some("bool"),
            "string" | "str" | "text" | "factor" | "categorical" | "enum" => Some("category"),
            "ordinal" => Some("ordered"),
            "natural" | "nat" => Some("count"),
            "probability" | "prob" => Some("unit"),
            _ => None,
        };
        let near = alias.or_else(|| closest(&name.node, names.iter().copied()));
        self.fail(match near {
            Some(near) => d.help(format!("did you mean `{near}`?")),
            None => d.help(format!("the types are {}", names.join(", "))),
        })
    }

    /// The type of a `data` or `param` declaration.
    pub(crate) fn declared_type(
        &mut self,
        env: &Env,
        ty: &ast::TypeExpr,
        is_param: bool,
    ) -> Option<Declared> {
        let elem = self.elem_named(&ty.elem);
        let shape: Vec<Option<Dim>> = ty.dims.iter().map(|d| self.dimension(env, d)).collect();
        let elem = elem?;
        let levels = self.stated(elem, ty);
        let only_param = matches!(elem, Elem::Increasing | Elem::Simplex);
        if only_param && !is_param {
            return self.fail(
                Diagnostic::error("E0403", format!("`{}` is a type of `param` only", elem.name()))
                    .at(ty.span, "declared as data")
                    .help("declare the data `real` or `unit`"),
            );
        }
        if is_param && !only_param && !matches!(elem, Elem::Real | Elem::Positive | Elem::Unit) {
            return self.fail(
                Diagnostic::error("E0403", format!("a `param` is estimated by a gradient, it cannot be `{}`", elem.name()))
                    .at(ty.span, "not continuous")
                    .help("use real, positive, unit, increasing[K] or simplex[K]; several discrete settings are compared with `--set`"),
            );
        }
        let shape: Vec<Dim> = shape.into_iter().collect::<Option<_>>()?;
        if only_param && shape.len() != 1 {
            return self.fail(
                Diagnostic::error(
                    "E0302",
                    format!("`{}` is a vector: it has one dimension, found {}", elem.name(), shape.len()),
                )
                .at(ty.span, "one dimension expected")
                .help(format!("write `{}[K]`", elem.name())),
            );
        }
        if shape.len() > 2 {
            return self.too_many_axes(&[], &shape, ty.span);
        }
        let leveled = matches!(elem, Elem::Category | Elem::Ordered);
        if leveled && shape.len() == 2 {
            return self.fail(
                Diagnostic::error(
                    "E0303",
                    format!("`{}` data are a vector or a scalar, found a matrix", elem.name()),
                )
                .at(ty.span, "two dimensions")
                .help("declare one vector for each column"),
            );
        }
        Some(Declared { elem, shape, levels: levels? })
    }

    /// The levels a type states: `Some(None)` if it states none.
    fn stated(&mut self, elem: Elem, ty: &ast::TypeExpr) -> Option<Option<Vec<String>>> {
        let Some(levels) = &ty.levels else { return Some(None) };
        let d = match elem {
            Elem::Category if levels.ascending => {
                Diagnostic::error("E0402", "levels of a `category` have no order, found `<`")
                    .at(levels.span, "ascending levels")
                    .help("separate them with commas, or declare `ordered{…}`")
            }
            Elem::Ordered if !levels.ascending && levels.names.len() > 1 => {
                Diagnostic::error("E0402", "levels of `ordered` are ascending, found commas")
                    .at(levels.span, "no order")
                    .help(format!("write `ordered{{{}}}` in ascending order", listed(levels, " < ")))
            }
            Elem::Category | Elem::Ordered => {
                let mut seen: Vec<&ast::Ident> = Vec::new();
                for name in &levels.names {
                    if let Some(first) = seen.iter().find(|n| n.node == name.node) {
                        let d = Diagnostic::error("E0402", format!("level `{}` is stated twice", name.node))
                            .at(name.span, "again here")
                            .also(first.span, "first here")
                            .help("remove one of them");
                        return self.fail(d);
                    }
                    seen.push(name);
                }
                return Some(Some(levels.names.iter().map(|n| n.node.clone()).collect()));
            }
            _ => Diagnostic::error("E0402", format!("`{}` has no levels", elem.name()))
                .at(levels.span, "levels of a number")
                .help(format!("declare `category{{{}}}`", listed(levels, ", "))),
        };
        self.fail(d)
    }
}

fn listed(levels: &ast::Levels, separator: &str) -> String {
    levels.names.iter().map(|n| n.node.as_str()).collect::<Vec<_>>().join(separator)
}
