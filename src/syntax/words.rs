//! The rules of the grammar in the words of the language.

use crate::syntax::grammar::Rule;

/// Whether the rule begins an expression.
pub(crate) fn is_operand(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::operand | Rule::expr | Rule::neg | Rule::reference | Rule::paren | Rule::join | Rule::arg
    )
}

/// A rule in the words of the language; empty for those that say nothing.
pub(crate) fn phrase(rule: Rule) -> &'static str {
    match rule {
        Rule::end | Rule::EOI | Rule::only_statement => "the end of the statement",
        Rule::open_paren | Rule::args => "`(`",
        Rule::close_paren => "`)`",
        Rule::open_bracket | Rule::indices | Rule::dims | Rule::index => "`[`",
        Rule::close_bracket => "`]`",
        Rule::open_list
        | Rule::open_block
        | Rule::levels
        | Rule::block
        | Rule::fn_block
        | Rule::prior_block => "`{`",
        Rule::close_list | Rule::close_block => "`}`",
        Rule::comma => "`,`",
        Rule::colon => "`:`",
        Rule::less => "`<`",
        Rule::arrow => "`->`",
        Rule::equals => "`=`",
        Rule::tilde => "`~`",
        Rule::ident | Rule::word | Rule::use_names | Rule::elem => "a name",
        Rule::path => "a name",
        Rule::kw_data | Rule::kw_let | Rule::kw_param | Rule::kw_plate | Rule::kw_infer => "a statement",
        Rule::kw_model | Rule::kw_fn | Rule::kw_use | Rule::kw_prior => "a statement",
        Rule::use_item | Rule::fn_item | Rule::prior_item | Rule::model_item => "a statement",
        Rule::data_statement | Rule::let_statement | Rule::param_statement => "a statement",
        Rule::plate_statement | Rule::infer_statement | Rule::tilde_statement => "a statement",
        Rule::kw_from | Rule::from_clause => "`from`",
        Rule::from_column => "`column`",
        Rule::from_columns => "`columns`",
        Rule::from_except => "`except`",
        Rule::kw_in => "`in`",
        Rule::kw_return | Rule::return_node => "`return`",
        Rule::kw_weight | Rule::weight => "`weight`",
        Rule::all => "`_`",
        Rule::number => "a number",
        Rule::integer | Rule::level => "a level",
        Rule::text => "a string",
        Rule::neg | Rule::operand | Rule::expr | Rule::reference | Rule::paren | Rule::join => {
            "an expression"
        }
        Rule::arg => "an argument",
        Rule::add | Rule::sub | Rule::mul | Rule::div | Rule::el_mul | Rule::el_div | Rule::pow => {
            "an operator"
        }
        Rule::type_expr | Rule::result_type => "a type",
        Rule::fn_param | Rule::prior_param => "a parameter",
        Rule::method => "a method",
        Rule::model_head | Rule::plate_head | Rule::prior_head | Rule::fn_head => "a statement",
        _ => "",
    }
}

/// At most 30 characters.
pub(crate) fn shorten(word: &str) -> String {
    if word.chars().count() <= 30 { word.to_owned() } else { word.chars().take(29).chain(['…']).collect() }
}
