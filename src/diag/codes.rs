//! Every diagnostic code, with its page. One line a code, in the section of its stage.

/// A registered code.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// `E0201`
    pub code: &'static str,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// Its page (Markdown): meaning, a program or data that triggers it, what to do.
    pub page: &'static str,
}

macro_rules! codes {
    ($($code:literal $title:literal)*) => {
        /// Sorted by code.
        pub const CODES: &[Code] = &[$(Code {
            code: $code,
            title: $title,
            page: include_str!(concat!("../../docs/diagnostics/", $code, ".md")),
        }),*];
    };
}

codes! {
    // E01 lexical and syntax (raised in syntax/)
    "E0101" "unexpected text"
    "E0102" "character outside the language"
    "E0103" "brackets do not match"
    "E0104" "malformed string"
    "E0105" "malformed number"
    "E0106" "reserved word used as a name"
    "E0107" "statement continued on the next line"
    "E0108" "wrong sign of definition"
    "E0109" "operator of another language"
    "E0110" "misplaced block"
    "E0111" "missing type"
    "E0112" "comment of another language"
    "E0113" "nested too deeply"
    "E0114" "program too large"
    "E0115" "statements outside the models"
    "E0116" "blank before an index or a call"
    "E0117" "unfinished statement"
    "E0118" "statement in the wrong place"
    "E0199" "too many errors"

    // E02 names (raised in check/)

    // E03 shapes (raised in check/)

    // E04 supports and types (raised in check/)

    // E05 graph (raised in check/ and graph/)

    // E06 no plan (raised in plan/)

    // E07 data (raised in session/bind and, for files, in the binary's io/)

    // E08 numeric (raised in session/)

    // W warnings of the compiler: W01 syntax, W02 names, W03 shapes, W04 supports, W05 graph, W06 plan
    "W0101" "documentation of nothing"
    "W0102" "number read as zero"

    // W07 warnings about data

    // W08 numeric warnings
}

/// The registered code of that name.
pub fn find(code: &str) -> Option<&'static Code> {
    CODES.iter().find(|c| c.code.eq_ignore_ascii_case(code))
}
