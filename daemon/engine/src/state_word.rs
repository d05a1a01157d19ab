//! The states that a request may wait for or expect.

use axd_protocol::{Error, ErrorCode, Result, State, States};

/// A state, as conditions name it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StateWord {
    State(State),
    Enabled,
    Visible,
}

impl StateWord {
    /// Whether an element with these states has it.
    pub fn is_of(&self, states: States) -> bool {
        match self {
            StateWord::State(state) => states.has(*state),
            StateWord::Enabled => !states.has(State::Disabled),
            StateWord::Visible => !states.has(State::Hidden) && !states.has(State::Offscreen),
        }
    }

    /// Parses `checked`, `checked=false`, `enabled=true`.
    pub fn parse(text: &str) -> Result<(StateWord, bool)> {
        let (name, on) = match text.split_once('=') {
            None => (text, true),
            Some((name, "true")) => (name, true),
            Some((name, "false")) => (name, false),
            Some(_) => {
                return Err(Error::new(
                    ErrorCode::InvalidArgs,
                    format!("state: '{text}' must end in =true or =false"),
                ));
            }
        };
        let word = match name.to_ascii_lowercase().as_str() {
            "enabled" => StateWord::Enabled,
            "visible" => StateWord::Visible,
            name => match State::parse(name) {
                Some(state) => StateWord::State(state),
                None => {
                    let names: Vec<&str> = State::ALL.iter().map(|state| state.name()).collect();
                    return Err(Error::new(ErrorCode::InvalidArgs, format!("state: unknown state '{name}'"))
                        .suggest(format!("the states are: {} enabled visible", names.join(" "))));
                }
            },
        };
        Ok((word, on))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_may_be_waited_for_either_way() {
        assert!(matches!(StateWord::parse("checked"), Ok((StateWord::State(State::Checked), true))));
        assert!(matches!(StateWord::parse("Enabled=false"), Ok((StateWord::Enabled, false))));
        assert!(StateWord::parse("checkd").unwrap_err().suggestion.contains("checked"));
        assert!(StateWord::parse("checked=maybe").is_err());
    }
}
