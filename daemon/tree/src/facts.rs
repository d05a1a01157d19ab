//! Facts: stores what was read of an element, field by field.

use axd_protocol::{Field, State, Tick};

use crate::apply::Apply;
use crate::past::Before;
use crate::store::Ix;
use crate::{Facts, Notice, Tree};

impl Apply<'_> {
    /// Stores what was read of a node, field by field, with the tick at which each field changed.
    pub(super) fn set_facts(&mut self, ix: Ix, mut facts: Facts) {
        if facts.states.has(State::Secure) {
            // The only entry into memory: beyond it there is no secret that could be logged, matched or sent.
            facts.value = None;
        }
        let tree = &mut *self.tree;
        let native_role = facts.native_role.as_deref().map(|word| tree.store.strings.intern(word));
        let actions = tree.store.strings.intern_list(&facts.actions);
        let (old_role, old_name) =
            (tree.store[ix].role, tree.store[ix].name.as_deref() != facts.name.as_deref());
        let is_shown = !tree.store[ix].concealed;
        if is_shown && old_role != facts.role {
            tree.index.leave_role(&mut tree.store, ix);
        }
        if is_shown && old_name {
            tree.index.leave_name(&mut tree.store, ix);
        }
        if !tree.hiding.is_off() && (old_name || old_role != facts.role) {
            self.titled.extend([old_role, facts.role].iter().any(|role| role.is_window()).then_some(ix));
            if is_shown && tree.store[ix].born != self.tick {
                let former = || (old_role, tree.store[ix].name.clone());
                self.former.entry(ix).or_insert_with(former);
            }
        }
        let was_focused = tree.store[ix].states.has(State::Focused);
        if is_shown && tree.store[ix].born != self.tick {
            tree.remember_before(ix, &facts, self.tick);
        }
        let node = &mut tree.store[ix];
        tree.text_bytes -= node.text_bytes();
        let changed = [
            (Field::Role, replace(&mut node.role, facts.role)),
            (Field::Name, replace_text(&mut node.name, facts.name)),
            (Field::Value, replace_text(&mut node.value, facts.value)),
            (Field::Description, replace_text(&mut node.description, facts.description)),
            (Field::Identifier, replace_text(&mut node.identifier, facts.identifier)),
            (Field::NativeRole, replace(&mut node.native_role, native_role)),
            (Field::States, replace(&mut node.states, facts.states)),
            (Field::Actions, replace(&mut node.actions, actions)),
        ];
        node.row = facts.row;
        tree.text_bytes += node.text_bytes();
        let mut any = false;
        for (field, _) in changed.into_iter().filter(|(_, changed)| *changed) {
            node.set_changed(field, self.tick);
            any = true;
        }
        let is_focused = node.states.has(State::Focused);
        if tree.store.window(ix) != facts.window {
            tree.store.set_window(ix, facts.window);
            self.titled.push(ix);
        }
        if is_shown && old_role != facts.role {
            tree.index.enter_role(&mut tree.store, ix);
        }
        if is_shown && old_name {
            tree.index.enter_name(&mut tree.store, ix);
        }
        if any {
            self.touch(ix);
        }
        if !is_shown {
            return;
        }
        if is_focused && !was_focused {
            self.tree.focused = Some(ix);
            let node = self.tree.node_ref(ix);
            self.applied.notices.push(Notice::Focus(node));
        } else if was_focused && !is_focused && self.tree.focused == Some(ix) {
            self.tree.focused = None;
        }
    }

    pub(super) fn set_total(&mut self, ix: Ix, total: Option<u32>) {
        let node = &mut self.tree.store[ix];
        if let (Some(before), Some(now)) = (node.total, total) {
            self.shrunk.insert(ix, before.saturating_sub(now));
        }
        if replace(&mut node.total, total) {
            match total.filter(|_| !node.concealed) {
                Some(_) => self.tree.partial.insert(ix),
                None => self.tree.partial.remove(&ix),
            };
            let node = &mut self.tree.store[ix];
            node.set_changed(Field::ChildrenCount, self.tick);
            self.touch(ix);
        }
    }
}

impl Tree {
    /// Keeps for a while what new facts are about to replace.
    fn remember_before(&mut self, ix: Ix, facts: &Facts, tick: Tick) {
        let node = &self.store[ix];
        let other_name = node.name.as_deref() != facts.name.as_deref();
        let other_value = node.value.as_deref() != facts.value.as_deref();
        let before = Before {
            states: (node.states != facts.states).then_some(node.states),
            name: other_name.then(|| Before::text(node.name.clone())).flatten(),
            value: other_value.then(|| Before::text(node.value.clone())).flatten(),
        };
        if before != Before::default() {
            self.past.add(tick, node.id, before);
        }
    }
}

fn replace<T: PartialEq>(field: &mut T, new: T) -> bool {
    let changed = *field != new;
    *field = new;
    changed
}

fn replace_text(field: &mut Option<Box<str>>, new: Option<String>) -> bool {
    let changed = field.as_deref() != new.as_deref();
    if changed {
        *field = new.map(String::into_boxed_str);
    }
    changed
}
