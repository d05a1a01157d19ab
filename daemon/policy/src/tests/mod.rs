//! What policies decide, from the text of a file to the answer.

mod builtin;
mod properties;
mod rules;

use axd_protocol::keys::Combo;

use crate::decision::{Decision, Verdict};
use crate::policy::Policy;
use crate::question::{AppFacts, Fact, Question, Stage};

/// The policy of a file.
pub(crate) fn policy(text: &str) -> Policy {
    crate::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// An app that nothing speaks against.
pub(crate) const NOTES: AppFacts<'_> =
    AppFacts { pid: 78, name: "Notes", identity: "org.example.Notes", programs: &[], is_foreign: false };

/// A click in a window of it.
pub(crate) fn click() -> Question<'static> {
    Question {
        command: "click",
        app: Fact::Known(NOTES),
        window: Fact::Known("Notes"),
        ..Question::default()
    }
}

/// The rule that does not allow a request, or `allowed`.
pub(crate) fn refusal(policy: &Policy, question: &Question<'_>) -> String {
    match policy.decide(question) {
        Decision { verdict: Verdict::Allow, .. } => "allowed".to_owned(),
        refused => refused.rule,
    }
}

/// A verdict by its name.
pub(crate) fn verdict(policy: &Policy, question: &Question<'_>) -> &'static str {
    policy.decide(question).verdict.name()
}

pub(crate) fn combo(text: &str) -> Combo {
    text.parse().unwrap()
}

/// The same question before its action begins.
pub(crate) fn before<'a>(question: &Question<'a>) -> Question<'a> {
    Question { stage: Stage::Before, ..question.clone() }
}
