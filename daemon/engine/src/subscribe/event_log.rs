//! A small ring of discrete events: what happened, as opposed to what is. Bounded: who comes late to it has missed
//! the oldest.

use std::collections::VecDeque;

use axd_protocol::Tick;
use axd_protocol::event::{Event, EventData, EventKind};

/// How many events are kept.
const KEPT: usize = 1_024;

/// The ring.
#[derive(Debug, Default)]
pub struct Happenings {
    /// How many have been forgotten.
    forgotten: u64,
    kept: VecDeque<Event>,
}

impl Happenings {
    /// Adds an event.
    pub fn push(&mut self, event: Event) {
        if self.kept.len() == KEPT {
            self.kept.pop_front();
            self.forgotten += 1;
        }
        self.kept.push_back(event);
    }

    /// The number of the next event.
    pub fn next(&self) -> u64 {
        self.forgotten + self.kept.len() as u64
    }

    /// The number of the first event that is kept and came after `tick`.
    pub fn first_after(&self, tick: Tick) -> u64 {
        self.forgotten + self.kept.partition_point(|event| tick_of(event).is_some_and(|at| at <= tick)) as u64
    }

    /// The events from number `from` on, up to and without number `to`, that are still kept.
    pub fn between(&self, from: u64, to: u64) -> impl Iterator<Item = &Event> {
        let from = from.max(self.forgotten);
        self.kept.iter().skip((from - self.forgotten) as usize).take(to.saturating_sub(from) as usize)
    }
}

/// What happened, and of which kind; `None` for lines that are about trees, which are not kept here.
pub fn happening(event: &Event) -> Option<(EventKind, &EventData)> {
    Some(match event {
        Event::Focus(happening) => (EventKind::Focus, happening),
        Event::WindowOpened(happening) => (EventKind::WindowOpened, happening),
        Event::WindowClosed(happening) => (EventKind::WindowClosed, happening),
        Event::WindowFocused(happening) => (EventKind::WindowFocused, happening),
        Event::WindowChanged(happening) => (EventKind::WindowChanged, happening),
        Event::AppLaunched(happening) => (EventKind::AppLaunched, happening),
        Event::AppTerminated(happening) => (EventKind::AppTerminated, happening),
        Event::MenuOpened(happening) => (EventKind::MenuOpened, happening),
        Event::MenuClosed(happening) => (EventKind::MenuClosed, happening),
        Event::Dialog(happening) => (EventKind::Dialog, happening),
        Event::Announcement(happening) => (EventKind::Announcement, happening),
        Event::AppState(happening) => (EventKind::AppState, happening),
        Event::Changes { .. } | Event::Fresh { .. } | Event::End { .. } => return None,
    })
}

fn tick_of(event: &Event) -> Option<Tick> {
    happening(event).map(|(_, happening)| happening.clock.tick)
}
