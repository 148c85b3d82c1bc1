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
    "E0201" "unknown name"
    "E0202" "unknown function"
    "E0203" "unknown family or prior"
    "E0204" "unknown dimension"
    "E0205" "declared twice"
    "E0206" "unknown import"
    "E0207" "import cannot be read"
    "E0208" "files import each other"
    "E0209" "arguments do not match"
    "E0210" "ambiguous call"
    "E0211" "arguments of a family"
    "E0212" "not a constant to set"
    "E0213" "name of something built in"
    "E0214" "plate indices"
    "E0215" "statement in the wrong place"
    "E0216" "a prior returns an unknown node"
    "E0217" "a function that cannot be registered"

    // E03 shapes (raised in check/)
    "E0301" "shapes that do not match"
    "E0302" "vector or matrix expected"
    "E0303" "more than two axes"
    "E0304" "not a dimension"
    "E0305" "wrong index"
    "E0306" "arguments do not have the shape of the node"
    "E0308" "division by an array"

    // E04 supports and types (raised in check/)
    "E0401" "unknown type"
    "E0402" "levels of a type"
    "E0403" "type of a parameter"
    "E0404" "outside the set"
    "E0405" "data that do not suit the family"
    "E0406" "arithmetic with levels"
    "E0407" "frozen value of an unknown"
    "E0408" "levels of something without levels"
    "E0409" "options of infer"
    "E0410" "discrete unknown"
    "E0411" "a text is not a value"

    // E05 graph (raised in check/ and graph/)
    "E0501" "a circle of declarations"
    "E0502" "a recursive definition"
    "E0503" "data that depend on themselves"
    "E0504" "expansion too large"
    "E0550" "a node depends on itself"
    "E0551" "a question about a node that does not exist"

    // E06 no plan (raised in plan/)
    "E0601" "no such method of inference"
    "E0602" "no such option"
    "E0603" "an option has a wrong value"
    "E0604" "an option of another method"
    "E0607" "no plan serves the model"
    "E0608" "nothing is observed"
    "E0609" "the likelihood is not Gaussian"
    "E0610" "a mean is not linear in the unknowns"
    "E0611" "a scale is not a product of precisions"
    "E0612" "a prior that the plan cannot serve"
    "E0613" "a prior argument or case weight depends on an unknown"
    "E0614" "a parameter that cannot be learned"
    "E0615" "a precision of nothing"
    "E0616" "a hyperprior without a maximum"
    "E0617" "a likelihood without a linear predictor"
    "E0618" "a flat effect that no data determine"
    "E0630" "a factor without a closed form"
    "E0631" "a bound without a maximum"
    "E0632" "a likelihood that `variational` cannot serve"

    // E07 data (raised in session/bind and, for files, in the binary's io/)
    "E0701" "the data have no rows"
    "E0702" "a column is not there"
    "E0703" "text where a number is expected"
    "E0704" "a value outside its type"
    "E0705" "an input is missing"
    "E0706" "an infinite value"
    "E0707" "the sizes of the data clash"
    "E0708" "a constraint does not hold"
    "E0709" "ordered words without an order"
    "E0710" "an unknown level"
    "E0711" "too many levels"
    "E0712" "nothing but missing values"
    "E0713" "a column of another kind"
    "E0714" "an index outside its range"
    "E0715" "the data given by the host do not fit together"
    "E0716" "two declarations take all other columns"
    "E0717" "an expression is not finite on these data"
    "E0718" "too large for the memory allowed"
    "E0719" "a scale that is not above 0"
    "E0720" "an expression cannot be evaluated"

    // E0750–E0799 files (raised in the binary's io/)
    "E0750" "a file cannot be read"
    "E0751" "a data file has no rows"
    "E0752" "a file is not UTF-8 text"
    "E0753" "the cells are separated by something else"
    "E0754" "a column name is empty, used twice or unprintable"
    "E0755" "a row has too few or too many cells"
    "E0756" "a blank line between rows"
    "E0757" "a quoted cell is not closed"
    "E0758" "a number is too large"
    "E0759" "a JSON file is malformed"
    "E0760" "a JSON file is no table"
    "E0762" "a file needs more memory than allowed"
    "E0763" "a file format is not read"
    "E0764" "a compressed file is damaged"
    "E0765" "a column that an option names is not there"
    "E0766" "a column cannot be a target"
    "E0767" "a kept column does not fit the predictions"
    "E0768" "an option for programs with a fit"
    "E0769" "a picture that cannot be written"
    "E0770" "an output cannot be written"
    "E0771" "a NumPy file is malformed"
    "E0772" "a line of an svmlight file is malformed"
    "E0773" "Parquet and Arrow need another build"
    "E0774" "a Parquet or Arrow file is damaged"
    "E0780" "there is no such diagnostic"
    "E0781" "there is no such documentation"
    "E0790" "there is no such command"
    "E0791" "a command was given something else"
    "E0792" "there is nothing to work on yet"
    "E0793" "an expression has no value yet"

    // E08 numeric (raised in session/)
    "E0801" "a matrix is not positive definite"
    "E0802" "flat effects are not determined"
    "E0803" "a number overflowed"
    "E0804" "not enough memory allowed"
    "E0805" "a hyperparameter has no estimate"
    "E0806" "the weights have no mode"
    "E0810" "a fit cannot be written"
    "E0811" "a fit file is damaged"
    "E0812" "no fit file"
    "E0813" "another format version"
    "E0814" "another compiler"
    "E0815" "no such node in the fit"
    "E0816" "targets of different length"
    "E0817" "no targets to score"
    "E0818" "a node cannot be drawn"
    "E0819" "a prediction that cannot be healed"
    "E0820" "a fit with functions of a host program"
    "E0821" "a fit was cancelled"
    "E0822" "a callback panicked"
    "E0830" "impossible folds"
    "E0831" "targets that are not rows"
    "E0832" "a comparison without data"
    "E0833" "a constant given twice"
    "E0840" "a registered function failed"
    "E0850" "a picture without rows"
    "E0851" "a picture that the model does not have"

    // W warnings of the compiler: W01 syntax, W02 names, W03 shapes, W04 supports, W05 graph, W06 plan
    "W0101" "documentation of nothing"
    "W0102" "number read as zero"
    "W0201" "unused import"
    "W0202" "unused quantity"
    "W0203" "quantity named like a function"
    "W0204" "empty plate"
    "W0301" "dot product of data"
    "W0601" "a program without a plan"

    // W07 warnings about data
    "W0701" "all other columns are taken"
    "W0702" "a constant column is standardised to 0"
    "W0703" "missing targets"
    "W0704" "a level that was not there at training"
    "W0705" "a level without rows"
    "W0706" "very few rows"

    // W0750–W0799 warnings about files
    "W0750" "blank lines after the last row"
    "W0751" "the header may be data"
    "W0752" "a large integer was rounded"
    "W0753" "a tiny number became 0"
    "W0754" "an entry of a file is no data"
    "W0755" "two column names look alike"

    // W08 numeric warnings
    "W0801" "the target is constant"
    "W0802" "the noise ran into its cap"
    "W0803" "the noise is not identified"
    "W0804" "the mean of the target is far from 0"
    "W0805" "a dictionary of low rank"
    "W0806" "nothing is relevant"
    "W0807" "parallel columns"
    "W0808" "the fit did not converge"
    "W0810" "jitter was needed"
    "W0811" "scores on the training rows"
    "W0812" "perfectly separated classes"
    "W0813" "a constant column beside free cutpoints"
    "W0814" "a parameter is held"
    "W0815" "precisions and parameters drift apart"
    "W0816" "deviations lose digits"
    "W0830" "fits that cannot be compared"
    "W0831" "a compared fit did not converge"
}

/// The registered code of that name.
pub fn find(code: &str) -> Option<&'static Code> {
    CODES.iter().find(|c| c.code.eq_ignore_ascii_case(code))
}
