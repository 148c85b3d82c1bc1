//! Names made safe for each format.

/// For a quoted string of Graphviz.
pub fn dot(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// For a quoted label of Mermaid, which knows entities written `#quot;`.
pub fn mermaid(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '#' => out.push_str("#35;"),
            '&' => out.push_str("#amp;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '`' => out.push_str("#96;"),
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// For LaTeX text. Letters beyond ASCII stay: XeLaTeX, LuaLaTeX and current pdfLaTeX read them,
/// Greek letters are written as mathematics.
pub fn latex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str(r"\textbackslash{}"),
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => {
                out.push('\\');
                out.push(c);
            }
            '~' => out.push_str(r"\textasciitilde{}"),
            '^' => out.push_str(r"\textasciicircum{}"),
            '…' => out.push_str(r"\ldots{}"),
            c => match greek(c) {
                Some(name) => {
                    out.push_str(r"\(\");
                    out.push_str(name);
                    out.push_str(r"\)");
                }
                None => out.push(c),
            },
        }
    }
    out
}

/// The LaTeX name of a Greek letter that has one.
pub fn greek(c: char) -> Option<&'static str> {
    NAMES.iter().find(|(letter, _)| *letter == c).map(|(_, name)| *name)
}

/// The Greek letter that is spelled out: `alpha`, also `phi` and `epsilon`.
pub fn letter_named(name: &str) -> Option<char> {
    let name = match name {
        "epsilon" => "varepsilon",
        "phi" => "varphi",
        other => other,
    };
    NAMES.iter().find(|(_, n)| *n == name).map(|(letter, _)| *letter)
}

const NAMES: &[(char, &str)] = &[
    ('α', "alpha"),
    ('β', "beta"),
    ('γ', "gamma"),
    ('δ', "delta"),
    ('ε', "varepsilon"),
    ('ζ', "zeta"),
    ('η', "eta"),
    ('θ', "theta"),
    ('ι', "iota"),
    ('κ', "kappa"),
    ('λ', "lambda"),
    ('μ', "mu"),
    ('µ', "mu"),
    ('ν', "nu"),
    ('ξ', "xi"),
    ('π', "pi"),
    ('ρ', "rho"),
    ('σ', "sigma"),
    ('τ', "tau"),
    ('υ', "upsilon"),
    ('φ', "varphi"),
    ('ϕ', "phi"),
    ('χ', "chi"),
    ('ψ', "psi"),
    ('ω', "omega"),
    ('Γ', "Gamma"),
    ('Δ', "Delta"),
    ('Θ', "Theta"),
    ('Λ', "Lambda"),
    ('Ξ', "Xi"),
    ('Π', "Pi"),
    ('Σ', "Sigma"),
    ('Φ', "Phi"),
    ('Ψ', "Psi"),
    ('Ω', "Omega"),
];
