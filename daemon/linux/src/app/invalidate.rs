//! What is made of what is heard of an app: which elements to read again.

use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;

use axd_protocol::{Role, State};
use tracing::debug;

use crate::app::BusApp;
use crate::app::event_queue::{Heard, Hint, Kinds};
use crate::atspi::protocol::Ref;
use crate::read::geometry::window_of;
use axd_platform::worker::{WorkerState, now};
use axd_platform::{ElementKey, Facts};

/// How many strangers wait to be placed; the sweep finds the others.
const MOST_STRANGERS: usize = 64;
/// How many others a change of one element is about at most; the sweep comes to the rest.
const MOST_OTHERS: usize = 256;
/// How many cells on either side of a cell are taken to be in its row.
const NEIGHBOURS: usize = 8;
/// How deep the parts of a field for a date are in it.
const DEEPEST_PART: usize = 4;

impl BusApp {
    pub(crate) fn hear(&mut self, heard: Heard, state: &mut WorkerState) {
        state.counters.events.fetch_add(heard.events, Relaxed);
        if heard.events > 0 {
            self.newcomers.stir(now());
        }
        self.note_who_took_the_focus(&heard);
        for (path, hint) in heard.hints {
            self.hint(&path, hint, state);
        }
        if heard.overflowed {
            debug!("so many events that everything is read again");
            state.mark_all_dirty();
        }
        heard.said.into_iter().for_each(|text| state.queue_announcement(text));
        heard.marks.into_iter().for_each(|ticket| state.fences.pass(ticket));
        if heard.lost {
            state.set_ended();
        }
    }

    /// Known or not: what is not known yet is read later.
    fn note_who_took_the_focus(&mut self, heard: &Heard) {
        let mut took: Vec<(u64, &str)> = heard
            .hints
            .iter()
            .filter(|(_, hint)| hint.took > 0)
            .map(|(path, hint)| (hint.took, &**path))
            .collect();
        took.sort_unstable();
        for (_, path) in took {
            let key = self.reader.handles.at(path);
            let new = || Ref::new(&self.root.bus, path);
            if let Some(key) = key.or_else(|| new().map(|at| self.reader.handles.key(&at))) {
                self.focused.took(key);
            }
        }
    }

    fn hint(&mut self, path: &str, hint: Hint, state: &mut WorkerState) {
        let kinds = hint.kinds;
        if kinds.has(Kinds::WINDOW) {
            state.schedule.mark_dirty(ElementKey::APP);
        }
        let key = self.reader.handles.at(path).filter(|key| state.mirror.knows(*key));
        let Some(key) = key else {
            // What only ended need not be found.
            if kinds != Kinds::GONE && state.unplaced.len() < MOST_STRANGERS {
                let at = Ref::new(&self.root.bus, path);
                state.unplaced.extend(at.map(|at| self.reader.handles.key(&at)));
            }
            return;
        };
        let parent = state.mirror.parent(key);
        match self.reader.toolkit.tells_children_apart() {
            // One that ended is no longer among its parent's children.
            true if kinds == Kinds::GONE && parent.is_some() => {}
            true if kinds == Kinds::CHILDREN => state.schedule.mark_children_dirty(key),
            _ => self.glance_or_read(key, hint, state),
        }
        // A scroll bar that moves shows other rows of what lies beside it.
        let scrolled = self.reader.partial.keys().filter(|other| state.mirror.parent(**other) == parent);
        scrolled.for_each(|other| state.schedule.mark_dirty(*other));
        self.hint_tabs(key, state);
        if kinds.has(Kinds::GONE) {
            match self.reader.toolkit.tells_children_apart() {
                true => parent.into_iter().for_each(|parent| state.schedule.mark_children_dirty(parent)),
                false => state.mark_known_dirty(parent),
            }
        }
        if kinds.has(Kinds::FOCUS) {
            self.unsettled = self.reader.toolkit.focus_goes_before().map(|time| now() + time);
        }
        if kinds.has(Kinds::FOCUS | Kinds::WINDOW) {
            state.mark_known_dirty(self.focused.iter().copied());
        }
        if kinds.has(Kinds::SELECTION) {
            // A combo box shows what is selected in its list.
            state.mark_known_dirty(parent);
        }
        // Cells may be in cells, and none of them says that it was selected or has the focus now.
        if kinds.has(Kinds::SELECTION) || kinds.has(Kinds::FOCUS) && self.holds_items(key) {
            self.hint_items(key, state);
        }
        if kinds.has(Kinds::ITEM) {
            hint_around(key, state);
        }
        self.hint_dates(key, state);
        // A page's title changes with its window's, and only that is announced.
        if parent == Some(ElementKey::APP) {
            let pages = self.reader.pages.iter().filter(|page| state.mirror.knows(**page));
            // The page itself follows a little later.
            pages.for_each(|page| self.newcomers.follow(*page, now()));
        }
        if kinds.has(Kinds::SUBTREE) {
            state.mark_known_dirty(state.mirror.below(&[key]));
        }
        let toolkit = self.reader.toolkit;
        // The icon in a field of GTK 3 is no widget, and does not say that it is shown with the field.
        if kinds.has(Kinds::SHOWN) && toolkit.showing_is_content() {
            hint_children(key, state);
        }
        if !toolkit.is_browser() && kinds.has(Kinds::BELOW) {
            state.mark_known_dirty(state.mirror.below(&[key]).into_iter().take(MOST_OTHERS));
        }
        if toolkit.is_surveyed() {
            self.survey.suspect(window_of(key, &state.mirror).unwrap_or(ElementKey::APP), now());
        }
    }

    /// Something happened to an element. If another tab may be the current one now, which Qt does not tell of the one
    /// before, all of them are read again.
    pub(crate) fn hint_tabs(&self, key: ElementKey, state: &mut WorkerState) {
        let list = match self.reader.roles.get(&key) {
            Some(Role::TabList) => Some(key),
            Some(Role::Tab) => state.mirror.parent(key),
            _ => None,
        };
        if let Some(list) = list.filter(|_| self.reader.toolkit.focuses_current_tab()) {
            hint_children(list, state);
        }
    }

    fn holds_items(&self, key: ElementKey) -> bool {
        use Role::{Cell, Grid, List, ListItem, Row, Table, Tree, TreeItem};
        let role = self.reader.roles.get(&key);
        role.is_some_and(|role| matches!(role, Cell | Grid | List | ListItem | Row | Table | Tree | TreeItem))
    }

    /// Has the items in an element read again: the first of them, and those that were selected.
    fn hint_items(&self, key: ElementKey, state: &mut WorkerState) {
        let below = state.mirror.below(&[key]);
        let selected = |key: &&ElementKey| self.reader.selected.contains(*key);
        let some: Vec<ElementKey> = below
            .iter()
            .skip(1)
            .take(MOST_OTHERS)
            .chain(below.iter().skip(1).filter(selected))
            .copied()
            .collect();
        state.mark_known_dirty(some);
    }

    /// A field for a date reads as its parts do, and only they announce anything.
    fn hint_dates(&self, key: ElementKey, state: &mut WorkerState) {
        if self.reader.dates.is_empty() {
            return;
        }
        let mut at = state.mirror.parent(key);
        for _ in 0..DEEPEST_PART {
            let Some(above) = at else { return };
            if self.reader.dates.contains(&above) {
                state.schedule.mark_dirty(above);
                return;
            }
            at = state.mirror.parent(above);
        }
    }

    /// Finds out which of those that say so has the focus, now that these were read; the others are told not to have it.
    pub(crate) fn settle_focus<'a>(
        &mut self,
        state: &mut WorkerState,
        read: impl Iterator<Item = (ElementKey, &'a mut Facts)>,
    ) {
        let mut read: Vec<(ElementKey, &mut Facts)> = read.collect();
        for (key, facts) in &read {
            let new = !state.mirror.has_sent(*key);
            self.focused.read(*key, facts.states.has(State::Focused), new);
        }
        let here: HashSet<ElementKey> = read.iter().map(|(key, _)| *key).collect();
        self.focused.retain(|key| here.contains(&key) || state.mirror.knows(key));
        let inactive = &self.reader.inactive;
        // What is not placed yet is being opened.
        let is_active = |key| window_of(key, &state.mirror).is_none_or(|window| !inactive.contains(&window));
        let others = self.focused.settle(is_active);
        state.mark_known_dirty(others.into_iter().filter(|key| !here.contains(key)));
        for (key, facts) in &mut read {
            facts.states.set(State::Focused, self.focused.is_with(*key));
        }
    }
}

/// Has the neighbours of an item read again, which are in the same row, and what is in them.
fn hint_around(key: ElementKey, state: &mut WorkerState) {
    let Some(parent) = state.mirror.parent(key) else { return };
    let siblings = state.mirror.children(parent);
    let Some(at) = siblings.iter().position(|sibling| *sibling == key) else { return };
    let (from, to) = (at.saturating_sub(NEIGHBOURS), (at + NEIGHBOURS + 1).min(siblings.len()));
    let row = state.mirror.below(&siblings[from..to]);
    state.mark_known_dirty(row.into_iter().take(MOST_OTHERS));
}

fn hint_children(key: ElementKey, state: &mut WorkerState) {
    let children = state.mirror.children(key).iter().take(MOST_OTHERS);
    children.for_each(|child| state.schedule.mark_dirty(*child));
}
