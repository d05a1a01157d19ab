//! `expect`: what must have come true when an action is answered. If it does not, the answer is an error that says that the action
//! was done, with what it changed instead.

use std::sync::Arc;

use axd_protocol::command::Expected;
use axd_protocol::error::Delivery;
use axd_protocol::selector::Selector;
use axd_protocol::{AppState, Error, ErrorCode, NodeId, NodeRef, Result, Tick};
use axd_tree::{Resolved, Scope, Tree};
use parking_lot::Mutex;

use crate::action::context::ActionContext;
use crate::action::settle::Watch;
use crate::apps::target::parse_selector;
use crate::state_word::StateWord;
use crate::tree_work::search_now;

/// The maximum number of expectations of one action.
const MAX_EXPECTATIONS: usize = 16;

/// Something that is expected of an action.
#[derive(Debug)]
pub(crate) struct Expectation<'a> {
    /// As the request gives it.
    text: &'a str,
    test: Test,
}

#[derive(Debug)]
enum Test {
    /// The target has a state, or does not have it.
    State(StateWord, bool),
    /// The value of the target is this.
    Value(String),
    /// The value of the target contains this.
    Contains(String),
    /// The target is gone.
    Gone,
    /// An element of the app matches.
    Match(Selector),
}

/// The state of the app in which expectations were checked, and for each whether it was met, and by which element.
type Checked = (Tick, Vec<Option<Option<NodeRef>>>);

/// Parses what is expected of an action.
pub(crate) fn parse(expectations: &[String]) -> Result<Vec<Expectation<'_>>> {
    if expectations.len() > MAX_EXPECTATIONS {
        let message =
            format!("expect: {} expectations; the maximum is {MAX_EXPECTATIONS}", expectations.len());
        return Err(Error::new(ErrorCode::InvalidArgs, message));
    }
    expectations.iter().map(|text| Ok(Expectation { text, test: parse_one(text)? })).collect()
}

fn parse_one(text: &str) -> Result<Test> {
    if text.eq_ignore_ascii_case("gone") {
        return Ok(Test::Gone);
    }
    if let Some(value) = text.strip_prefix("value~=") {
        return Ok(Test::Contains(value.to_owned()));
    }
    if let Some(value) = text.strip_prefix("value=") {
        return Ok(Test::Value(value.to_owned()));
    }
    if let Ok((word, on)) = StateWord::parse(text) {
        return Ok(Test::State(word, on));
    }
    parse_selector(text).map(Test::Match).map_err(|error| {
        let message = format!("expect: {}", error.message);
        let suggestion = format!(
            "{}; or name a state of the target, as in checked, enabled=false, value=TEXT or gone",
            error.suggestion
        );
        Error { message, ..error }.suggest(suggestion)
    })
}

impl Expectation<'_> {
    /// Whether it is about the target of the action.
    fn is_about_target(&self) -> bool {
        !matches!(self.test, Test::Match(_))
    }

    /// The element that meets it, if there is one; `None` if it is not met.
    fn met(&self, tree: &Tree, target: Option<NodeId>) -> Option<Option<NodeRef>> {
        if let Test::Match(selector) = &self.test {
            let root = tree.root()?;
            let found = tree.find(selector, Scope { root }, Some(1));
            return found.matches.first().map(|ix| Some(tree.node_ref(*ix)));
        }
        let target = match tree.resolve(target?) {
            Resolved::Alive(ix) => Some(ix),
            _ => None,
        };
        let value = || target.and_then(|ix| tree.value(ix)).unwrap_or_default();
        let is_met = match &self.test {
            Test::Gone => target.is_none(),
            Test::State(word, on) => target.is_some_and(|ix| word.is_of(tree.states(ix)) == *on),
            Test::Value(text) => target.is_some() && value() == text,
            Test::Contains(text) => target.is_some() && value().contains(text),
            Test::Match(_) => false,
        };
        is_met.then_some(None)
    }
}

impl ActionContext<'_> {
    /// Fails if what is expected of the target is expected of an action without one.
    pub fn check_expectations(&self, expectations: &[Expectation<'_>]) -> Result<()> {
        let about_target = expectations.iter().find(|expectation| expectation.is_about_target());
        match about_target.filter(|_| self.target.is_none()) {
            None => Ok(()),
            Some(Expectation { text, .. }) => {
                let command = self.call.command.name();
                let message = format!("expect: '{text}' is about a target, and this {command} has none");
                Err(Error::new(ErrorCode::InvalidArgs, message)
                    .suggest("expect a selector instead, as in --expect 'dialog:Saved'"))
            }
        }
    }

    /// Waits until everything that is expected has come true.
    pub async fn until_expected(
        &self,
        expectations: &[Expectation<'_>],
        delivery: Delivery,
    ) -> Result<Vec<Expected>> {
        if expectations.is_empty() {
            return Ok(Vec::new());
        }
        let app = Arc::clone(self.app()?);
        let _watch = match self.target.and_then(|id| self.key(id).ok()) {
            Some(key) if expectations.iter().all(Expectation::is_about_target) => {
                Watch::new(self.engine, &app, key)
            }
            _ => Watch::whole(self.engine, &app),
        };
        let deadline = self.action_deadline();
        let known: Mutex<Option<Checked>> = Mutex::new(None);
        // What was found at a tick is true until the next one.
        let look = || {
            let tick = app.tree.read().tick();
            if known.lock().as_ref().is_none_or(|(at, _)| *at != tick) {
                let target = self.target;
                let met = search_now(&app, deadline, |tree| {
                    expectations.iter().map(|expectation| expectation.met(tree, target)).collect::<Vec<_>>()
                });
                *known.lock() = met.map(|met| (tick, met));
            }
        };
        let is_met = || {
            look();
            known.lock().as_ref().is_some_and(|(_, met)| met.iter().all(Option::is_some))
        };
        let has_ended = || app.state() == AppState::Gone;
        let waited = self.until(deadline, || is_met() || has_ended()).await;
        waited.map_err(|error| {
            let message = format!("{}; the action had been done", error.message);
            Error { message, ..error }.delivered(delivery)
        })?;
        let met = known.lock().take().map_or_else(|| vec![None; expectations.len()], |(_, met)| met);
        let unmet: Vec<&str> =
            expectations.iter().zip(&met).filter(|(_, met)| met.is_none()).map(|(one, _)| one.text).collect();
        if unmet.is_empty() {
            let expected = |(one, node): (&Expectation<'_>, Option<Option<NodeRef>>)| Expected {
                expected: one.text.to_owned(),
                node: node.flatten(),
            };
            return Ok(expectations.iter().zip(met).map(expected).collect());
        }
        Err(self.not_as_expected(&unmet, has_ended()).delivered(delivery))
    }

    fn not_as_expected(&self, unmet: &[&str], has_ended: bool) -> Error {
        let mut message = format!("it was done, but this did not come true: {}", unmet.join("; "));
        if let Some(app) = self.app.as_ref()
            && let Some(how) = app.how_ended().filter(|_| has_ended)
        {
            message.push_str(&format!("; the app {how}"));
        } else if let Some(now) = self.now() {
            message.push_str(&format!("; it is now {}", in_words(&now)));
        }
        let error = Error::new(ErrorCode::NotAsExpected, message)
            .suggest("see what has changed instead, and do not repeat the action without looking");
        match self.effects() {
            Some(effects) => error.changed(effects),
            None => error,
        }
    }
}

/// The state of an element, as far as expectations are about it.
fn in_words(now: &axd_protocol::command::ElementState) -> String {
    let mut out = String::new();
    axd_protocol::text::write_ref(&now.node, &mut out);
    if let Some(value) = &now.value {
        out.push_str(" = ");
        axd_protocol::text::quote(value, &mut out);
    }
    let states = [
        (!now.enabled, "disabled"),
        (now.focused, "focused"),
        (now.checked, "checked"),
        (now.selected, "selected"),
        (now.expanded, "expanded"),
    ];
    for (_, name) in states.into_iter().filter(|(is_so, _)| *is_so) {
        out.push(' ');
        out.push_str(name);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use axd_protocol::{Role, State};

    #[test]
    fn an_expectation_is_a_state_of_the_target_or_a_selector() {
        for (text, about_target) in [
            ("checked", true),
            ("enabled=false", true),
            ("gone", true),
            ("value=", true),
            ("value~=a b", true),
            ("dialog", false),
            ("checkbox:Ready[checked]", false),
        ] {
            let texts = [text.to_owned()];
            let parsed = parse(&texts).unwrap();
            assert_eq!(parsed[0].is_about_target(), about_target, "{text}");
        }
        let wrong = parse_one("checkd").unwrap_err();
        assert!(
            wrong.message.starts_with("expect: ") && wrong.suggestion.contains("enabled=false"),
            "{wrong:?}"
        );
        assert!(parse(&vec!["dialog".to_owned(); MAX_EXPECTATIONS + 1]).is_err());
    }

    #[test]
    fn no_state_is_called_as_a_role_is() {
        for state in State::ALL {
            assert!(Role::ALL.iter().all(|role| role.name() != state.name()), "{}", state.name());
        }
        assert!(Role::ALL.iter().all(|role| !["gone", "enabled", "visible"].contains(&role.name())));
    }
}
