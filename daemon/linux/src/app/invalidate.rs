//! Which elements an event makes dirty: the one it names, and those that the toolkit changes along with it without
//! announcing them.

use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;

use axd_protocol::{Role, State};
use tracing::debug;

use crate::app::BusApp;
use crate::app::event_queue::{Change, ChangeKinds, PendingEvents};
use crate::atspi::protocol::ObjectRef;
use crate::read::geometry::window_of;
use axd_platform::worker::{WorkerState, now};
use axd_platform::{ElementKey, Facts};

/// How many elements that are not in the tree yet are looked up; the sweep finds the others.
const MAX_UNPLACED: usize = 64;
/// How many related elements one change makes dirty at most; the sweep reads the rest.
const MAX_RELATED: usize = 256;
/// How many cells on either side of a cell are taken to be in its row.
const CELLS_EACH_SIDE: usize = 8;
/// How deep below a date field its parts are.
const MAX_DATE_PART_DEPTH: usize = 4;

impl BusApp {
    pub(crate) fn on_events(&mut self, events: PendingEvents, state: &mut WorkerState) {
        state.counters.events.fetch_add(events.events, Relaxed);
        if events.events > 0 {
            self.delayed_rereads.on_event(now());
        }
        self.record_focus_changes(&events);
        for (path, change) in events.changes {
            self.on_change(&path, change, state);
        }
        if events.overflowed {
            debug!("so many events that everything is read again");
            state.mark_all_dirty();
        }
        events.announcements.into_iter().for_each(|text| state.queue_announcement(text));
        events.passed_fences.into_iter().for_each(|ticket| state.fences.pass(ticket));
        if events.closed {
            state.set_ended();
        }
    }

    /// Records which elements gained the focus, in the order they did. An element that is not known yet is read later.
    fn record_focus_changes(&mut self, events: &PendingEvents) {
        let mut took: Vec<(u64, &str)> = events
            .changes
            .iter()
            .filter(|(_, change)| change.focus_order > 0)
            .map(|(path, change)| (change.focus_order, &**path))
            .collect();
        took.sort_unstable();
        for (_, path) in took {
            let key = self.reader.handles.at(path);
            let new = || ObjectRef::new(&self.root.bus, path);
            if let Some(key) = key.or_else(|| new().map(|at| self.reader.handles.key(&at))) {
                self.focus.on_focus_gained(key);
            }
        }
    }

    fn on_change(&mut self, path: &str, change: Change, state: &mut WorkerState) {
        let kinds = change.kinds;
        if kinds.has(ChangeKinds::WINDOW) {
            state.schedule.mark_dirty(ElementKey::APP);
        }
        let key = self.reader.handles.at(path).filter(|key| state.mirror.knows(*key));
        let Some(key) = key else {
            // A removed element need not be looked up.
            if kinds != ChangeKinds::GONE && state.unplaced.len() < MAX_UNPLACED {
                let at = ObjectRef::new(&self.root.bus, path);
                state.unplaced.extend(at.map(|at| self.reader.handles.key(&at)));
            }
            return;
        };
        let parent = state.mirror.parent(key);
        match self.reader.toolkit.announces_children_separately() {
            // Its parent's list of children is read below.
            true if kinds == ChangeKinds::GONE && parent.is_some() => {}
            true if kinds == ChangeKinds::CHILDREN => state.schedule.mark_children_dirty(key),
            _ => self.quick_read_or_mark_dirty(key, change, state),
        }
        // A scroll bar that moves shows other rows of what lies beside it.
        let scrolled =
            self.reader.elements.partial_views().filter(|other| state.mirror.parent(*other) == parent);
        scrolled.for_each(|other| state.schedule.mark_dirty(other));
        self.mark_tabs_dirty(key, state);
        if kinds.has(ChangeKinds::GONE) {
            match self.reader.toolkit.announces_children_separately() {
                true => parent.into_iter().for_each(|parent| state.schedule.mark_children_dirty(parent)),
                false => state.mark_known_dirty(parent),
            }
        }
        if kinds.has(ChangeKinds::FOCUS) {
            self.focus_settles_at = self.reader.toolkit.dialog_delay_after_focus().map(|time| now() + time);
        }
        if kinds.has(ChangeKinds::FOCUS | ChangeKinds::WINDOW) {
            state.mark_known_dirty(self.focus.iter().copied());
        }
        if kinds.has(ChangeKinds::SELECTION) {
            // A combo box shows what is selected in its list.
            state.mark_known_dirty(parent);
        }
        // Cells may be in cells, and none of them says that it was selected or has the focus now.
        if kinds.has(ChangeKinds::SELECTION) || kinds.has(ChangeKinds::FOCUS) && self.holds_items(key) {
            self.mark_items_dirty(key, state);
        }
        if kinds.has(ChangeKinds::CURRENT_ITEM) {
            mark_row_dirty(key, state);
        }
        self.mark_date_fields_dirty(key, state);
        // A page's title changes with its window's, and only that is announced.
        if parent == Some(ElementKey::APP) {
            let pages = self.reader.elements.pages().filter(|page| state.mirror.knows(*page));
            // The page itself follows a little later.
            pages.for_each(|page| self.delayed_rereads.add_follow_up(page, now()));
        }
        if kinds.has(ChangeKinds::SUBTREE) {
            state.mark_known_dirty(state.mirror.below(&[key]));
        }
        let toolkit = self.reader.toolkit;
        // The icon in a field of GTK 3 is no widget, and does not say that it is shown with the field.
        if kinds.has(ChangeKinds::VISIBILITY) && toolkit.showing_is_content() {
            mark_all_children_dirty(key, state);
        }
        if !toolkit.is_browser() && kinds.has(ChangeKinds::SENSITIVITY) {
            state.mark_known_dirty(state.mirror.below(&[key]).into_iter().take(MAX_RELATED));
        }
        if toolkit.needs_rescan() {
            self.rescan.mark_window(window_of(key, &state.mirror).unwrap_or(ElementKey::APP), now());
        }
    }

    /// Marks all tabs beside a changed tab: another one may be current now, and Qt does not announce that of the one
    /// before.
    pub(crate) fn mark_tabs_dirty(&self, key: ElementKey, state: &mut WorkerState) {
        let list = match self.reader.elements.role(key) {
            Some(Role::TabList) => Some(key),
            Some(Role::Tab) => state.mirror.parent(key),
            _ => None,
        };
        if let Some(list) = list.filter(|_| self.reader.toolkit.focuses_current_tab()) {
            mark_all_children_dirty(list, state);
        }
    }

    fn holds_items(&self, key: ElementKey) -> bool {
        use Role::{Cell, Grid, List, ListItem, Row, Table, Tree, TreeItem};
        let role = self.reader.elements.role(key);
        role.is_some_and(|role| matches!(role, Cell | Grid | List | ListItem | Row | Table | Tree | TreeItem))
    }

    /// Marks the items in an element: the first [`MAX_RELATED`], and those that were selected.
    fn mark_items_dirty(&self, key: ElementKey, state: &mut WorkerState) {
        let below = state.mirror.below(&[key]);
        let selected = |key: &&ElementKey| self.reader.elements.last(**key).is_some_and(|last| last.selected);
        let some: Vec<ElementKey> = below
            .iter()
            .skip(1)
            .take(MAX_RELATED)
            .chain(below.iter().skip(1).filter(selected))
            .copied()
            .collect();
        state.mark_known_dirty(some);
    }

    /// Marks the date field that an element is a part of: its value is made of its parts, and only they announce
    /// changes.
    fn mark_date_fields_dirty(&self, key: ElementKey, state: &mut WorkerState) {
        if self.reader.elements.date_fields().is_empty() {
            return;
        }
        let mut at = state.mirror.parent(key);
        for _ in 0..MAX_DATE_PART_DEPTH {
            let Some(above) = at else { return };
            if self.reader.elements.date_fields().contains(&above) {
                state.schedule.mark_dirty(above);
                return;
            }
            at = state.mirror.parent(above);
        }
    }

    /// Decides which of the elements that claim the focus has it, now that these were read, and corrects their states.
    pub(crate) fn resolve_focus<'a>(
        &mut self,
        state: &mut WorkerState,
        read: impl Iterator<Item = (ElementKey, &'a mut Facts)>,
    ) {
        let mut read: Vec<(ElementKey, &mut Facts)> = read.collect();
        for (key, facts) in &read {
            let new = !state.mirror.has_sent(*key);
            self.focus.on_read(*key, facts.states.has(State::Focused), new);
        }
        let here: HashSet<ElementKey> = read.iter().map(|(key, _)| *key).collect();
        self.focus.retain(|key| here.contains(&key) || state.mirror.knows(key));
        let elements = &self.reader.elements;
        let is_inactive = |window| elements.last(window).is_some_and(|last| last.inactive);
        // An element that has no place in the tree yet is being opened: its window counts as active.
        let is_active = |key| window_of(key, &state.mirror).is_none_or(|window| !is_inactive(window));
        let others = self.focus.resolve(is_active);
        state.mark_known_dirty(others.into_iter().filter(|key| !here.contains(key)));
        for (key, facts) in &mut read {
            facts.states.set(State::Focused, self.focus.has_focus(*key));
        }
    }
}

/// Marks the neighbours of an item, which are in the same row, and what is in them.
fn mark_row_dirty(key: ElementKey, state: &mut WorkerState) {
    let Some(parent) = state.mirror.parent(key) else { return };
    let siblings = state.mirror.children(parent);
    let Some(at) = siblings.iter().position(|sibling| *sibling == key) else { return };
    let (from, to) = (at.saturating_sub(CELLS_EACH_SIDE), (at + CELLS_EACH_SIDE + 1).min(siblings.len()));
    let row = state.mirror.below(&siblings[from..to]);
    state.mark_known_dirty(row.into_iter().take(MAX_RELATED));
}

fn mark_all_children_dirty(key: ElementKey, state: &mut WorkerState) {
    let children = state.mirror.children(key).iter().take(MAX_RELATED);
    children.for_each(|child| state.schedule.mark_dirty(*child));
}
