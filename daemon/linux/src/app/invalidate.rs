//! Turns pending events into dirty elements: the one that an event names, and those that `relations` adds.

use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;

use axd_protocol::State;
use tracing::debug;

use crate::app::BusApp;
use crate::app::event_queue::{Change, ChangeKinds, PendingEvents};
use crate::app::relations::{Mark, Relations};
use crate::app::strategies::Strategies;
use crate::atspi::protocol::ObjectRef;
use crate::read::geometry::window_of;
use axd_platform::worker::{WorkerState, now};
use axd_platform::{ElementKey, Facts};

/// How many elements that are not in the tree yet are looked up; the sweep finds the others.
const MAX_UNPLACED: usize = 64;

impl BusApp {
    /// Takes in everything that is pending.
    pub(crate) fn on_events(
        &mut self,
        events: PendingEvents,
        strategies: &mut Strategies,
        state: &mut WorkerState,
    ) {
        state.counters.events.fetch_add(events.events, Relaxed);
        if events.events > 0 {
            strategies.delayed_rereads.on_event(now());
        }
        self.record_focus_changes(&events);
        for (path, change) in events.changes {
            self.on_change(&path, change, strategies, state);
        }
        if events.overflowed {
            debug!("so many events that everything is read again");
            state.mark_all_dirty();
        }
        events.announcements.into_iter().for_each(|text| state.queue_announcement(text));
        events.passed_fences.into_iter().for_each(|mark| state.fences.pass(mark));
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

    /// Marks dirty what a change of the element at this path concerns.
    fn on_change(
        &mut self,
        path: &str,
        change: Change,
        strategies: &mut Strategies,
        state: &mut WorkerState,
    ) {
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
            _ => {
                let last_reads = &mut self.reader.last_reads;
                strategies.quick_reads.add_or_mark_dirty(key, change, last_reads, state);
            }
        }
        if kinds.has(ChangeKinds::FOCUS) {
            let delay = self.reader.toolkit.dialog_delay_after_focus();
            strategies.delayed_rereads.expect_dialog(delay.map(|delay| now() + delay));
        }
        let related = self.relations(state).related(key, kinds, self.focus.iter().copied());
        related.into_iter().for_each(|mark| mark.apply(state));
        // A page's title changes with its window's, and only that is announced.
        if parent == Some(ElementKey::APP) {
            let pages = self.reader.elements.pages().filter(|page| state.mirror.knows(*page));
            // The page itself follows a little later.
            pages.for_each(|page| strategies.delayed_rereads.add_follow_up(page, now()));
        }
        strategies.rescan.mark_window_of(key, self.reader.toolkit, &state.mirror);
    }

    /// What decides which elements change together.
    pub(crate) fn relations<'a>(&'a self, state: &'a WorkerState) -> Relations<'a> {
        Relations { toolkit: self.reader.toolkit, elements: &self.reader.elements, mirror: &state.mirror }
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

impl Mark {
    /// Marks an element in the schedule.
    pub fn apply(self, state: &mut WorkerState) {
        match self {
            Mark::Element(key) => state.schedule.mark_dirty(key),
            Mark::Children(key) => state.schedule.mark_children_dirty(key),
        }
    }
}
