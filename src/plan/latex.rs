//! The plan as LaTeX.

/// A formula of the text form in LaTeX mathematics.
pub fn math(formula: &str) -> String {
    formula.to_owned()
}
