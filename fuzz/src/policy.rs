//! The policy file: any text is a policy or an error with its line, and what is kept from being known never allows more.

use axd_policy::{AppFacts, ElementFacts, Fact, Question, Stage, parse};
use axd_protocol::{Command, Role, State};

/// Text as a policy file, which then decides about each command.
pub fn policy(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lines = text.lines().count().max(1);
    let policy = match parse(text) {
        Ok(policy) => policy,
        Err(errors) => {
            assert!(!errors.is_empty(), "nothing is wrong with what is refused");
            for error in errors {
                assert!((1..=lines + 1).contains(&error.line), "{error}: there is no such line");
            }
            return;
        }
    };
    let programs = ["/usr/bin/app".to_owned()];
    let app = AppFacts { pid: 7, name: "App", identity: "org.app", programs: &programs, is_foreign: false };
    let element = ElementFacts { role: Role::Button, name: Some("Pay"), states: &[State::Focused] };
    for command in Command::NAMES {
        let known = Question {
            command,
            app: Fact::Known(app),
            window: Fact::Known("Bank"),
            element: Fact::Known(element),
            ..Question::default()
        };
        let unknown = Question {
            app: Fact::Unknown,
            window: Fact::Unknown,
            element: Fact::Unknown,
            stage: Stage::Final,
            ..known.clone()
        };
        let (known, unknown) = (policy.decide(&known), policy.decide(&unknown));
        assert!(
            unknown.verdict >= known.verdict,
            "{command}: {known:?}, and where less is known {unknown:?}"
        );
    }
}
