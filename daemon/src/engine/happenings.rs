//! A small ring of discrete events: what happened, as opposed to what is. Bounded: who comes late to it has missed
//! the oldest.

use std::collections::VecDeque;

use axd_protocol::event::Event;

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

    /// The events from number `from` on that are still kept.
    pub fn since(&self, from: u64) -> impl Iterator<Item = &Event> {
        self.kept.iter().skip(from.saturating_sub(self.forgotten) as usize)
    }
}
