//! Where the lines of former sessions are kept.

use std::env;
use std::path::PathBuf;

/// The file: `SBL_HISTORY` (empty: none), or `sbl/history` in `XDG_STATE_HOME`, or in `~/.local/state`.
pub fn file() -> Option<PathBuf> {
    choose(|name| env::var_os(name).map(PathBuf::from))
}

fn choose(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    if let Some(path) = variable("SBL_HISTORY") {
        return (!path.as_os_str().is_empty()).then_some(path);
    }
    // a relative path there is invalid and to be ignored (XDG base directory specification)
    let state = variable("XDG_STATE_HOME").filter(|p| p.is_absolute());
    let home = || variable("HOME").filter(|p| p.is_absolute()).map(|h| h.join(".local").join("state"));
    Some(state.or_else(home)?.join("sbl").join("history"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let from = |set: &[(&str, &str)]| {
            choose(|name| set.iter().find(|(n, _)| *n == name).map(|(_, v)| PathBuf::from(v)))
        };
        assert_eq!(from(&[("SBL_HISTORY", "h"), ("HOME", "/u")]), Some("h".into()));
        assert_eq!(from(&[("SBL_HISTORY", ""), ("HOME", "/u")]), None);
        assert_eq!(from(&[("XDG_STATE_HOME", "/s"), ("HOME", "/u")]), Some("/s/sbl/history".into()));
        assert_eq!(
            from(&[("XDG_STATE_HOME", "s"), ("HOME", "/u")]),
            Some("/u/.local/state/sbl/history".into())
        );
        assert_eq!(from(&[]), None);
    }
}
