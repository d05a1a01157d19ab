//! What is made of what is heard of an app: which elements to read again.

use std::sync::atomic::Ordering::Relaxed;

use axd_protocol::{Role, State};
use tracing::debug;

use super::app::BusApp;
use super::ear::{Heard, Hint, Kinds};
use super::geometry::window_of;
use super::wire::Ref;
use crate::platform::mirror::Mirror;
use crate::platform::worker::{Books, now};
use crate::platform::{ElementKey, Update};

/// How many strangers wait to be placed; the sweep finds the others.
const MOST_STRANGERS: usize = 64;
/// How many others a change of one element is about at most; the sweep comes to the rest.
const MOST_OTHERS: usize = 256;

impl BusApp {
    pub(super) fn hear(&mut self, heard: Heard, books: &mut Books) {
        books.counters.events.fetch_add(heard.events, Relaxed);
        for (path, hint) in heard.hints {
            self.hint(&path, hint, books);
        }
        if heard.overflowed {
            debug!("so many events that everything is read again");
            books.hint_all();
        }
        heard.said.into_iter().for_each(|text| books.announce(text));
        heard.marks.into_iter().for_each(|ticket| books.fences.pass(ticket));
        if heard.lost {
            books.end();
        }
    }

    fn hint(&mut self, path: &str, hint: Hint, books: &mut Books) {
        let kinds = hint.kinds;
        if kinds.has(Kinds::WINDOW) {
            books.schedule.hint(ElementKey::APP);
        }
        let key = self.reader.handles.at(path).filter(|key| books.mirror.knows(*key));
        let Some(key) = key else {
            // What only ended need not be found.
            if kinds != Kinds::GONE && books.strangers.len() < MOST_STRANGERS {
                let at = Ref::new(&self.root.bus, path);
                books.strangers.extend(at.map(|at| self.reader.handles.key(&at)));
            }
            return;
        };
        let parent = books.mirror.parent(key);
        match self.reader.toolkit.tells_children_apart() {
            // One that ended is no longer among its parent's children.
            true if kinds == Kinds::GONE && parent.is_some() => {}
            true if kinds == Kinds::CHILDREN => books.schedule.hint_list(key),
            _ => self.glance_or_read(key, hint, books),
        }
        // A scroll bar that moves shows other rows of what lies beside it.
        let scrolled = self.reader.partial.keys().filter(|other| books.mirror.parent(**other) == parent);
        scrolled.for_each(|other| books.schedule.hint(*other));
        self.hint_tabs(key, books);
        if kinds.has(Kinds::GONE) {
            match self.reader.toolkit.tells_children_apart() {
                true => parent.into_iter().for_each(|parent| books.schedule.hint_list(parent)),
                false => books.hint_known(parent),
            }
        }
        if kinds.has(Kinds::FOCUS | Kinds::WINDOW) {
            books.hint_known(self.focused.iter().copied());
        }
        if kinds.has(Kinds::SELECTION) {
            // A combo box shows what is selected in its list.
            books.hint_known(parent);
            hint_children(key, books);
        }
        // A page's title changes with its window's, and only that is announced.
        if parent == Some(ElementKey::APP) {
            let pages = self.reader.pages.iter().filter(|page| books.mirror.knows(**page));
            // The page itself follows a little later.
            pages.for_each(|page| self.newcomers.add(*page, now()));
        }
        if kinds.has(Kinds::SUBTREE) {
            books.hint_known(books.mirror.below(&[key]));
        }
        let toolkit = self.reader.toolkit;
        if !toolkit.announces_children() && kinds.has(Kinds::BELOW) {
            books.hint_known(books.mirror.below(&[key]).into_iter().take(MOST_OTHERS));
        }
        if toolkit.is_surveyed() {
            self.survey.suspect(window_of(key, &books.mirror).unwrap_or(ElementKey::APP), now());
        }
    }

    /// Something happened to an element. If another tab may be the current one now, which Qt does not tell of the one
    /// before, all of them are read again.
    pub(super) fn hint_tabs(&self, key: ElementKey, books: &mut Books) {
        let list = match self.reader.roles.get(&key) {
            Some(Role::TabList) => Some(key),
            Some(Role::Tab) => books.mirror.parent(key),
            _ => None,
        };
        if let Some(list) = list.filter(|_| self.reader.toolkit.focuses_current_tab()) {
            hint_children(list, books);
        }
    }

    pub(super) fn note_focus(&mut self, mirror: &Mirror, updates: &[Update]) {
        for update in updates {
            match update {
                Update::Upsert { key, facts } if facts.states.has(State::Focused) => {
                    self.focused.insert(*key)
                }
                Update::Upsert { key, .. } | Update::Gone(key) => self.focused.remove(key),
                Update::Children { .. } => false,
            };
        }
        self.focused.retain(|key| mirror.knows(*key));
    }
}

fn hint_children(key: ElementKey, books: &mut Books) {
    let children = books.mirror.children(key).iter().take(MOST_OTHERS);
    children.for_each(|child| books.schedule.hint(*child));
}
