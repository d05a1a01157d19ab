//! A difference for readers: what a person who looks at the app sees change. The whole difference is for replicas (`write`).
//!
//! Left out are elements that are not visible, what only holds others, separators, actions and identifiers. What comes into sight is
//! shown as a look shows it, what goes out of sight as removed. States are told as they differ, long texts by the part that does.
//! `docs/acting.md` documents it.

use axd_protocol::text::{quote_within, write_ref};
use axd_protocol::{Field, NodeId, NodeRef, Role, State, States, Tick};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Tree;
use crate::diff::{Changes, Fields};
use crate::past::Before;
use crate::store::Ix;

/// The maximum number of characters of a text that is shown.
const MAX_TEXT_CHARS: usize = 160;
/// The length up to which a value is shown whole, however little of it has changed.
const SHORT_CHARS: usize = 60;
/// The maximum number of elements of each kind of change that are shown.
const MAX_LISTED: usize = 60;
/// How far up an element is looked for that tells the same.
const NEAR: usize = 4;

/// The states at the beginning of a span and now.
#[derive(Clone, Copy)]
struct Sight {
    was: bool,
    is: bool,
}

impl Tree {
    /// Writes what has changed since a tick as readers want it. `changes` is the whole difference since then.
    pub fn write_brief(&self, changes: &Changes, since: Tick, out: &mut String) {
        let past = self.past.at(since);
        let gone = changes.removed.iter().filter_map(|id| self.removed_line(*id, past.get(id)));
        let went = self.went_out_of_sight(changes, &past);
        let went = went.into_iter().map(|ix| reference('-', &self.called(ix)));
        listed(gone.chain(went), out);
        let moved =
            changes.moved.iter().filter(|(ix, ..)| self.is_worth_telling(*ix) && self.is_in_sight(*ix));
        listed(moved.map(|(ix, parent, _)| within(&self.called(*ix), &self.called(*parent))), out);
        let came = self.came_into_sight(changes, &past);
        let roots = changes.added.iter().map(|(ix, _)| *ix).filter(|ix| self.is_in_sight(*ix)).chain(came);
        listed(roots.filter_map(|root| self.shown_as_added(root)), out);
        let renamed: FxHashSet<Ix> =
            changes.changed.iter().filter(|(_, fields)| fields.has(Field::Name)).map(|(ix, _)| *ix).collect();
        let told = changes.changed.iter().filter(|(ix, fields)| !self.is_told_above(*ix, *fields, &renamed));
        listed(told.filter_map(|(ix, fields)| self.changed_line(*ix, *fields, past.get(&self.id(*ix)))), out);
    }

    /// The line of a removed element; `None` if nobody could see it.
    fn removed_line(&self, id: NodeId, before: Option<&Before>) -> Option<String> {
        let tombstone = self.tombstone(id)?;
        let states = before.and_then(|before| before.states).unwrap_or(tombstone.states);
        let name = before.and_then(|before| before.name.clone()).unwrap_or_else(|| tombstone.name.clone());
        let name = name.map(String::from).filter(|name| !name.trim().is_empty());
        let says = tells(tombstone.role, name.is_some()) && !is_out_of_sight(states);
        says.then(|| reference('-', &NodeRef { id, role: tombstone.role, name }))
    }

    /// The elements that could be seen and cannot any more, without those that are in one of them.
    fn went_out_of_sight(&self, changes: &Changes, past: &FxHashMap<NodeId, Before>) -> Vec<Ix> {
        let went = self.with_sight(changes, past, |sight| sight.was && !sight.is);
        let told: FxHashSet<Ix> = went.into_iter().filter(|ix| self.is_worth_telling(*ix)).collect();
        self.outermost(changes, &told)
    }

    /// The elements that can be seen and could not, without those that are in one of them.
    fn came_into_sight(&self, changes: &Changes, past: &FxHashMap<NodeId, Before>) -> Vec<Ix> {
        let came = self.with_sight(changes, past, |sight| !sight.was && sight.is);
        let came = came.into_iter().filter(|ix| self.is_in_sight(*ix)).collect();
        self.outermost(changes, &came)
    }

    fn with_sight(
        &self,
        changes: &Changes,
        past: &FxHashMap<NodeId, Before>,
        wanted: impl Fn(Sight) -> bool,
    ) -> Vec<Ix> {
        let states = changes.changed.iter().filter(|(_, fields)| fields.has(Field::States));
        let sight = |ix: Ix| {
            let was = past.get(&self.id(ix)).and_then(|before| before.states);
            let is = self.states(ix);
            Sight { was: !is_out_of_sight(was.unwrap_or(is)), is: !is_out_of_sight(is) }
        };
        states.map(|(ix, _)| *ix).filter(|ix| wanted(sight(*ix))).collect()
    }

    /// Those of a set that are in no other of it, in the order of the difference.
    fn outermost(&self, changes: &Changes, set: &FxHashSet<Ix>) -> Vec<Ix> {
        let is_outermost =
            |ix: &Ix| set.contains(ix) && !self.ancestors(*ix).any(|above| set.contains(&above));
        changes.changed.iter().map(|(ix, _)| *ix).filter(is_outermost).collect()
    }

    /// What is to be seen of a new element and what is in it; `None` if nothing is.
    fn shown_as_added(&self, root: Ix) -> Option<String> {
        let mut out = String::new();
        for line in self.look_at_part(root).lines() {
            out.push_str(if line.starts_with(' ') { "  " } else { "+ " });
            out.push_str(line);
            out.push('\n');
        }
        Some(out).filter(|out| !out.is_empty())
    }

    /// Whether an element only shows what the control that it is in is called, and that is told.
    fn is_told_above(&self, ix: Ix, fields: Fields, renamed: &FxHashSet<Ix>) -> bool {
        let only_named = fields.only(&[Field::Value, Field::States]).is_empty();
        only_named
            && !self.role(ix).is_interactive()
            && self
                .ancestors(ix)
                .take(NEAR)
                .any(|above| renamed.contains(&above) && self.role(above).is_interactive())
    }

    /// The line of an element that changed where it is; `None` if there is nothing to tell.
    fn changed_line(&self, ix: Ix, fields: Fields, before: Option<&Before>) -> Option<String> {
        let old_states = before.and_then(|before| before.states);
        if !self.is_in_sight(ix) || old_states.is_some_and(is_out_of_sight) || !self.is_worth_telling(ix) {
            return None;
        }
        let mut parts = String::new();
        let mut called = self.called(ix);
        if fields.has(Field::Role) {
            parts.push_str(&format!(" role = {}", self.role(ix)));
        }
        if fields.has(Field::Name) {
            match self.name(ix) {
                Some(name) => labelled(" name = ", name, &mut parts),
                None => parts.push_str(" no name"),
            }
            if let Some(Some(name)) = before.map(|before| &before.name) {
                called.name = name.as_deref().map(str::to_owned);
            }
        }
        if fields.has(Field::Value) {
            write_value(before.and_then(|before| before.value.as_ref()), self.value(ix), &mut parts);
        }
        if fields.has(Field::Description) {
            match self.description(ix) {
                Some(description) => labelled(" description = ", description, &mut parts),
                None => parts.push_str(" no description"),
            }
        }
        if fields.has(Field::States) {
            self.write_states(old_states, self.states(ix), &mut parts);
        }
        if let (true, Some(total)) = (fields.has(Field::ChildrenCount), self.total(ix)) {
            parts.push_str(&format!(" children_count = {total}"));
        }
        (!parts.is_empty()).then(|| reference('~', &called).trim_end().to_owned() + &parts + "\n")
    }

    /// Writes which states came and went.
    fn write_states(&self, old: Option<States>, new: States, out: &mut String) {
        let Some(old) = old else {
            let words: Vec<&str> = new.iter().map(State::name).collect();
            out.push_str(&format!(" states = {}", words.join(" ")));
            return;
        };
        let is_told = |state: &State| {
            let elsewhere = *state == State::Focused && self.focused().is_some();
            match state {
                // What has the focus now says so itself.
                State::Focused if elsewhere && !new.has(State::Focused) => false,
                State::Hidden | State::Offscreen | State::Multiselectable => false,
                _ => old.has(*state) != new.has(*state),
            }
        };
        for state in State::ALL.iter().filter(|state| is_told(state)) {
            out.push_str(if new.has(*state) { " +" } else { " -" });
            out.push_str(state.name());
        }
    }

    /// An element with what it is called: its name, or the text in it.
    fn called(&self, ix: Ix) -> NodeRef {
        NodeRef { name: self.label_of(ix).map(String::from), ..self.node_ref(ix) }
    }

    fn is_worth_telling(&self, ix: Ix) -> bool {
        let says = self.label_of(ix).is_some() || self.value(ix).is_some() || self.description(ix).is_some();
        tells(self.role(ix), says)
    }

    /// Whether an element can be seen, as far as its app says.
    fn is_in_sight(&self, ix: Ix) -> bool {
        let is_hidden = |above: Ix| self.states(above).has(State::Hidden);
        !is_out_of_sight(self.states(ix)) && !self.ancestors(ix).any(is_hidden)
    }
}

/// Whether a change of an element of this role tells a reader anything.
fn tells(role: Role, says_something: bool) -> bool {
    match role {
        Role::Separator | Role::Application => false,
        Role::ScrollBar => says_something,
        role => says_something || role.is_interactive() || role.is_window(),
    }
}

fn is_out_of_sight(states: States) -> bool {
    states.has(State::Hidden) || states.has(State::Offscreen)
}

fn reference(mark: char, node: &NodeRef) -> String {
    let mut out = format!("{mark} ");
    write_ref(node, &mut out);
    out + "\n"
}

fn within(node: &NodeRef, parent: &NodeRef) -> String {
    let mut out = "> ".to_owned();
    write_ref(node, &mut out);
    out.push_str(" in ");
    write_ref(parent, &mut out);
    out + "\n"
}

/// Writes the first of some texts, and how many more there are.
fn listed(texts: impl Iterator<Item = String>, out: &mut String) {
    let mut left_out = 0;
    for (at, text) in texts.enumerate() {
        if at < MAX_LISTED {
            out.push_str(&text);
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        out.push_str(&format!("({left_out} more)\n"));
    }
}

fn labelled(label: &str, text: &str, out: &mut String) {
    out.push_str(label);
    quote_within(text, MAX_TEXT_CHARS, out);
}

/// Writes a new value; of a long one the part that is new, if the old one is known.
fn write_value(old: Option<&Option<Box<str>>>, new: Option<&str>, out: &mut String) {
    let Some(new) = new else { return out.push_str(" no value") };
    let Some(old) = old.and_then(Option::as_deref).filter(|_| new.chars().count() > SHORT_CHARS) else {
        return labelled(" value = ", new, out);
    };
    let (from, to): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let start = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let ends = from[start..].iter().rev().zip(to[start..].iter().rev());
    let end = ends.take_while(|(one, other)| one == other).count();
    let (removed, inserted) = (&from[start..from.len() - end], &to[start..to.len() - end]);
    if removed.len() + inserted.len() >= to.len() {
        return labelled(" value = ", new, out);
    }
    out.push_str(&format!(" value at {start}"));
    for (mark, part) in [(" -", removed), (" +", inserted)] {
        if !part.is_empty() {
            labelled(mark, &part.iter().collect::<String>(), out);
        }
    }
}
