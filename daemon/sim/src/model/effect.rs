//! Runs the rules of a script.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axd_protocol::State;

use super::behavior::format_number;
use super::{Change, Handle, Model, ScheduledRule};
use crate::rule::{Condition, Effect, Test, TriggerKind};

impl Model {
    /// Handles an event: first the built-in logic, then the rules. Effects do not trigger further rules, so this ends.
    /// True if there was a rule for it.
    pub(super) fn trigger(
        &mut self,
        happening: TriggerKind,
        at: Option<Handle>,
        text: &str,
        now: Instant,
    ) -> bool {
        let mut any = false;
        let id = at.and_then(|handle| self.widget(handle)).and_then(|widget| widget.id.clone());
        let id = id.unwrap_or_default();
        self.run_logic(happening, &id, text);
        let script = Arc::clone(&self.script);
        for (index, rule) in script.rules.iter().enumerate() {
            let set_off = rule
                .on
                .iter()
                .any(|trigger| trigger.kind == happening && (trigger.widget == id || trigger.widget == "*"));
            if !set_off || !rule.when.iter().all(|condition| self.is_met(condition)) {
                continue;
            }
            any = true;
            if rule.after_ms > 0 {
                let due = now + Duration::from_millis(rule.after_ms);
                self.scheduled.push(ScheduledRule { due, rule: index, text: text.to_owned() });
            } else {
                self.run_effects(index, text, now);
            }
        }
        any
    }

    fn is_met(&self, condition: &Condition) -> bool {
        let Some(widget) = self.find(&condition.widget).and_then(|handle| self.widget(handle)) else {
            return false;
        };
        match &condition.test {
            Test::State(state, on) => widget.states.has(*state) == *on,
            Test::Value(value) => widget.value.as_deref().unwrap_or_default() == value,
            Test::Name(name) => widget.name.as_deref().unwrap_or_default() == name,
            Test::Empty(empty) => widget.value.as_deref().unwrap_or_default().trim().is_empty() == *empty,
        }
    }

    pub(super) fn run_effects(&mut self, rule: usize, text: &str, now: Instant) {
        let script = Arc::clone(&self.script);
        for effect in script.rules.get(rule).map(|rule| rule.effects.as_slice()).unwrap_or_default() {
            self.run_effect(effect, text, now);
        }
    }

    /// Runs an effect. On a widget that does not exist now it does nothing.
    fn run_effect(&mut self, effect: &Effect, text: &str, now: Instant) {
        match effect {
            Effect::Announce(said) => {
                let said = self.fill_placeholders(said, text);
                self.changes.push(Change::Announced(said));
            }
            Effect::Quit => self.ended = true,
            Effect::Open(id) => self.open_window(id, now),
            Effect::Close(id) => self.close_window(id, now),
            Effect::Add { template, into, index } => self.add_from_template(template, into, *index),
            Effect::Move { widget, into, index } => {
                if let (Some(handle), Some(into)) = (self.find(widget), self.find(into)) {
                    self.move_to(handle, into, *index);
                }
            }
            Effect::Set(id, _)
            | Effect::Append(id, _)
            | Effect::Increase(id, _)
            | Effect::Toggle(id, _)
            | Effect::Mark(id, _, _)
            | Effect::Remove(id)
            | Effect::Rename(id, _)
            | Effect::Select(id)
            | Effect::Focus(id) => {
                if let Some(handle) = self.find(id) {
                    self.run_widget_effect(handle, effect, text);
                }
            }
        }
    }

    fn run_widget_effect(&mut self, handle: Handle, effect: &Effect, text: &str) {
        let held = self.widget(handle).and_then(|widget| widget.value.clone()).unwrap_or_default();
        match effect {
            Effect::Set(_, value) => {
                let value = self.fill_placeholders(value, text);
                self.set_value(handle, value);
            }
            Effect::Append(_, more) => {
                let more = self.fill_placeholders(more, text);
                self.set_value(handle, held + &more);
            }
            Effect::Increase(_, by) => {
                let value = self.clamp_to_range(handle, held.trim().parse().unwrap_or(0.0) + by);
                self.set_value(handle, format_number(value));
            }
            Effect::Toggle(_, state) => {
                let on = self.has(handle, *state);
                self.set_state(handle, *state, !on);
            }
            Effect::Mark(_, state, on) => self.set_state(handle, *state, *on),
            Effect::Remove(_) => self.remove(handle),
            Effect::Rename(_, name) => {
                let name = self.fill_placeholders(name, text);
                self.set_name(handle, name);
            }
            Effect::Select(_) => self.set_exclusively(handle, State::Selected),
            Effect::Focus(_) => self.set_focus(handle),
            _ => {}
        }
    }

    fn add_from_template(&mut self, template: &str, into: &str, index: Option<usize>) {
        let script = Arc::clone(&self.script);
        let (Some(widget), Some(into)) = (script.templates.get(template), self.find(into)) else { return };
        let made = self.made.entry(template.to_owned()).or_insert(0);
        *made += 1;
        let n = made.to_string();
        self.build_widget(widget, into, index, &n);
        self.changes.push(Change::Children(into));
    }

    /// Fills in `{text}`, `{value:ID}`, `{name:ID}`, `{checked:ID}`, `{args}`, `{cwd}` and `{env:NAME}`.
    fn fill_placeholders(&self, pattern: &str, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = pattern;
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            let Some((word, tail)) = after.split_once('}') else {
                filled.push('{');
                rest = after;
                continue;
            };
            let of = |id: &str| self.find(id).and_then(|handle| self.widget(handle));
            match word.split_once(':') {
                // The value of a secure field must not leave it through another widget.
                Some(("value", id)) => {
                    let widget = of(id).filter(|widget| !widget.states.has(State::Secure));
                    filled.push_str(widget.and_then(|widget| widget.value.as_deref()).unwrap_or_default());
                }
                Some(("name", id)) => {
                    filled.push_str(of(id).and_then(|widget| widget.name.as_deref()).unwrap_or_default());
                }
                Some(("checked", id)) => {
                    let on = of(id).is_some_and(|widget| widget.states.has(State::Checked));
                    filled.push_str(if on { "yes" } else { "no" });
                }
                Some(("env", name)) => {
                    let set = self.started.env.iter().rfind(|(other, _)| other == name);
                    filled.push_str(set.map(|(_, value)| value.as_str()).unwrap_or_default());
                }
                _ if word == "text" => filled.push_str(text),
                _ if word == "args" => filled.push_str(&self.started.args.join(" ")),
                _ if word == "cwd" => {
                    let cwd = self.started.cwd.as_ref().map(|cwd| cwd.display().to_string());
                    filled.push_str(&cwd.unwrap_or_default());
                }
                _ => {
                    filled.push('{');
                    filled.push_str(word);
                    filled.push('}');
                }
            }
            rest = tail;
        }
        filled + rest
    }
}
