//! What a worker makes of what it hears: which elements to read again.

use std::sync::atomic::Ordering::Relaxed;

use axd_protocol::{Role, State};
use tracing::debug;

use super::ear::{Heard, Hint, Kinds};
use super::geometry::window_of;
use super::wire::Ref;
use super::worker::{Worker, now};
use crate::platform::{ElementKey, Failure, FromWorker, Update};

/// How many strangers wait to be placed; the sweep finds the others.
const MOST_STRANGERS: usize = 64;
/// How many others a change of one element is about at most; the sweep comes to the rest.
const MOST_OTHERS: usize = 256;

impl Worker {
    pub(super) fn hear(&mut self, heard: Heard) {
        self.counters.events.fetch_add(heard.events, Relaxed);
        for (path, hint) in heard.hints {
            self.hint(&path, hint);
        }
        if heard.overflowed {
            debug!(pid = self.post.pid, "so many events that everything is read again");
            self.mirror.keys().into_iter().for_each(|key| self.schedule.hint(key));
        }
        self.outgoing.extend(heard.said.into_iter().map(FromWorker::Announcement));
        heard.marks.into_iter().for_each(|ticket| self.pass(ticket));
        if heard.lost {
            self.end();
        }
    }

    fn hint(&mut self, path: &str, hint: Hint) {
        let kinds = hint.kinds;
        let key = self.post.reader.handles.at(path).filter(|key| self.mirror.knows(*key));
        if kinds.has(Kinds::WINDOW) {
            self.schedule.hint(ElementKey::APP);
        }
        let Some(key) = key else {
            // What only ended need not be found.
            if kinds != Kinds::GONE && self.strangers.len() < MOST_STRANGERS {
                self.strangers.insert(path.to_owned());
            }
            return;
        };
        self.glance_or_read(key, hint);
        // A scroll bar that moves shows other rows of what lies beside it.
        let beside = self.mirror.parent(key);
        let scrolled = self.post.reader.partial.keys().filter(|other| self.mirror.parent(**other) == beside);
        scrolled.copied().collect::<Vec<_>>().into_iter().for_each(|other| self.schedule.hint(other));
        self.hint_tabs(key);
        if kinds.has(Kinds::GONE) {
            self.mirror.parent(key).into_iter().for_each(|parent| self.schedule.hint(parent));
        }
        if kinds.has(Kinds::FOCUS | Kinds::WINDOW) {
            self.focused
                .iter()
                .filter(|key| self.mirror.knows(**key))
                .for_each(|key| self.schedule.hint(*key));
        }
        if kinds.has(Kinds::SELECTION) {
            // A combo box shows what is selected in its list.
            self.mirror.parent(key).into_iter().for_each(|parent| self.schedule.hint(parent));
            let children: Vec<ElementKey> =
                self.mirror.children(key).iter().copied().take(MOST_OTHERS).collect();
            children.into_iter().for_each(|child| self.schedule.hint(child));
        }
        // A page's title changes with its window's, and only that is announced.
        if self.mirror.parent(key) == Some(ElementKey::APP) {
            let pages = self.post.reader.pages.iter().filter(|page| self.mirror.knows(**page));
            // The page itself follows a little later.
            pages.for_each(|page| self.newcomers.add(*page, now()));
        }
        if kinds.has(Kinds::SUBTREE) {
            self.mirror.below(&[key]).into_iter().for_each(|key| self.schedule.hint(key));
        }
        let toolkit = self.post.reader.toolkit;
        if !toolkit.announces_children() && kinds.has(Kinds::BELOW) {
            let below = self.mirror.below(&[key]);
            below.into_iter().take(MOST_OTHERS).for_each(|key| self.schedule.hint(key));
        }
        if toolkit.is_surveyed() {
            self.survey.suspect(window_of(key, &self.mirror).unwrap_or(ElementKey::APP), now());
        }
    }

    /// Something happened to an element. If another tab may be the current one now, which Qt does not tell of the one
    /// before, all of them are read again.
    pub(super) fn hint_tabs(&mut self, key: ElementKey) {
        let reader = &self.post.reader;
        let list = match reader.roles.get(&key) {
            Some(Role::TabList) => Some(key),
            Some(Role::Tab) => self.mirror.parent(key),
            _ => None,
        };
        if let Some(list) = list.filter(|_| reader.toolkit.focuses_current_tab()) {
            let tabs: Vec<ElementKey> =
                self.mirror.children(list).iter().copied().take(MOST_OTHERS).collect();
            tabs.into_iter().for_each(|tab| self.schedule.hint(tab));
        }
    }

    /// Finds out where elements are that announced something but were never listed.
    pub(super) async fn place_strangers(&mut self) -> Result<(), Failure> {
        let Some(path) = self.strangers.iter().next().cloned() else { return Ok(()) };
        let at = Ref::new(&self.post.app.bus, &path);
        let above = match at {
            Some(at) => {
                let key = self.post.reader.handles.key(&at);
                self.post.reader.path(key).await?
            }
            None => Vec::new(),
        };
        self.strangers.remove(&path);
        if let Some(known) = above.into_iter().rfind(|part| self.mirror.has_told(*part)) {
            self.schedule.hint(known);
        }
        Ok(())
    }

    pub(super) fn note_focus(&mut self, updates: &[Update]) {
        for update in updates {
            match update {
                Update::Upsert { key, facts } if facts.states.has(State::Focused) => {
                    self.focused.insert(*key)
                }
                Update::Upsert { key, .. } | Update::Gone(key) => self.focused.remove(key),
                Update::Children { .. } => false,
            };
        }
        self.focused.retain(|key| self.mirror.knows(*key));
    }
}
