//! The parser that pest makes from `grammar/sbl.pest`. It takes text and answers spans, no meaning.
#![allow(missing_docs)]

use pest_derive::Parser;

#[derive(Parser)]
#[grammar = "grammar/sbl.pest"]
pub(crate) struct Grammar;

#[cfg(test)]
mod tests {
    use super::*;
    use pest::Parser;

    const TEXT: &str = include_str!("../../grammar/sbl.pest");

    /// Each rule with the examples that stand above it.
    fn examples() -> Vec<(Rule, Vec<String>)> {
        let mut rules = Vec::new();
        let mut examples = Vec::new();
        for line in TEXT.lines() {
            if let Some(example) = line.strip_prefix("// e.g. ") {
                examples.push(example.replace("\\n", "\n"));
            } else if !line.starts_with("//")
                && let Some((name, _)) = line.split_once(" = ")
                && !name.contains(' ')
            {
                let rule = Rule::all_rules().iter().find(|rule| format!("{rule:?}") == name);
                rules.push((*rule.unwrap(), std::mem::take(&mut examples)));
            }
        }
        rules
    }

    #[test]
    fn every_rule_parses_its_examples() {
        let mut seen = 0;
        for (rule, examples) in examples() {
            for example in examples {
                seen += 1;
                let pairs = Grammar::parse(rule, &example);
                assert!(pairs.is_ok(), "{rule:?} on {example:?}: {pairs:?}");
                let whole: String = pairs.unwrap().as_str().to_owned();
                // Silent rules answer no pair.
                assert!(
                    whole == example || whole.is_empty() || whole.len() < example.len() && silent(rule),
                    "{rule:?} took {whole:?} of {example:?}"
                );
            }
        }
        assert!(seen > 150, "only {seen} examples found");
    }

    #[test]
    fn every_rule_has_an_example() {
        let closing = [Rule::close_paren, Rule::close_bracket, Rule::close_list, Rule::between_brackets];
        for (rule, examples) in examples() {
            // A closing bracket cannot stand alone: it drops what its partner pushed.
            assert!(!examples.is_empty() || closing.contains(&rule), "{rule:?} has no example");
        }
    }

    fn silent(rule: Rule) -> bool {
        TEXT.contains(&format!("\n{rule:?} = _"))
    }
}
