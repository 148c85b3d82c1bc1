//! The standard library: written in the language, embedded in the program.

use crate::check::scope::Def;
use crate::source::FileId;
use crate::syntax::ast;
use crate::syntax::parse::parse;

/// The modules of the library: name, text.
pub(crate) const MODULES: &[(&str, &str)] = &[
    ("kernels", include_str!("../../stdlib/kernels.sbl")),
    ("bases", include_str!("../../stdlib/bases.sbl")),
    ("priors", include_str!("../../stdlib/priors.sbl")),
    ("links", include_str!("../../stdlib/links.sbl")),
    ("models", include_str!("../../stdlib/models.sbl")),
];

/// A `fn` or `prior` of the library.
#[derive(Clone, PartialEq, Debug)]
pub struct LibraryItem {
    /// `rbf`; overloads are several items of one name.
    pub name: String,
    /// `std.kernels`
    pub module: String,
    /// `fn` or `prior`
    pub kind: &'static str,
    /// `fn rbf(x: real[N, D], width: positive, centres: real[M, D] = train(x)) -> positive[N, M]`
    pub signature: String,
    /// The text of the `##` lines before it.
    pub doc: String,
}

/// Every `fn` and `prior` of the library, module by module in source order.
pub fn library() -> Vec<LibraryItem> {
    let mut items = Vec::new();
    for (name, text) in MODULES {
        let Ok(parsed) = parse(FileId(0), text) else { continue };
        for item in parsed.value.items {
            let (def, doc) = match item {
                ast::Item::Fn(f) => (Def::Fn(std::rc::Rc::new(f.clone())), f.doc),
                ast::Item::Prior(p) => (Def::Prior(std::rc::Rc::new(p.clone())), p.doc),
                _ => continue,
            };
            items.push(LibraryItem {
                name: def.name().node.clone(),
                module: format!("std.{name}"),
                kind: if def.is_fn() { "fn" } else { "prior" },
                signature: signature(&def, text),
                doc: doc.unwrap_or_default(),
            });
        }
    }
    items
}

/// The items of that name.
pub(crate) fn find(name: &str) -> Vec<LibraryItem> {
    library().into_iter().filter(|i| i.name == name).collect()
}

/// Whether `std.kernels` is a module.
pub(crate) fn is_module(path: &str) -> bool {
    path.strip_prefix("std.").is_some_and(|name| MODULES.iter().any(|(n, _)| *n == name))
}

/// File name and text of `std.kernels`.
pub(crate) fn text(path: &str) -> Option<(String, &'static str)> {
    let name = path.strip_prefix("std.")?;
    MODULES.iter().find(|(n, _)| *n == name).map(|(n, text)| (format!("<std>/{n}.sbl"), *text))
}

/// The definition as written, up to its body.
fn signature(def: &Def, text: &str) -> String {
    let (start, end) = match def {
        Def::Fn(f) => (f.span.start, f.result.span.end),
        Def::Prior(p) => {
            let head = text.get(p.span.start as usize..p.span.end as usize).unwrap_or("");
            (p.span.start, p.span.start + head.find('{').unwrap_or(head.len()) as u32)
        }
    };
    let head = text.get(start as usize..end as usize).unwrap_or("");
    head.split_whitespace().collect::<Vec<_>>().join(" ")
}
