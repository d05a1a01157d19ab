//! A bounded log of events, as opposed to the state of trees. When it is full the oldest events are dropped.

use std::collections::VecDeque;

use axd_protocol::Tick;
use axd_protocol::event::{Event, EventData, EventKind};

/// The maximum number of events that are kept.
const MAX_EVENTS: usize = 1_024;

/// The log, a ring buffer.
#[derive(Debug, Default)]
pub struct EventLog {
    /// The number of events that were dropped.
    forgotten: u64,
    kept: VecDeque<Event>,
}

impl EventLog {
    /// Adds an event.
    pub fn push(&mut self, event: Event) {
        if self.kept.len() == MAX_EVENTS {
            self.kept.pop_front();
            self.forgotten += 1;
        }
        self.kept.push_back(event);
    }

    /// The number of the next event.
    pub fn next(&self) -> u64 {
        self.forgotten + self.kept.len() as u64
    }

    /// The number of the first event after `tick` that is kept.
    pub fn first_after(&self, tick: Tick) -> u64 {
        self.forgotten + self.kept.partition_point(|event| tick_of(event).is_some_and(|at| at <= tick)) as u64
    }

    /// The events from number `from` up to but not including `to` that are still kept.
    pub fn between(&self, from: u64, to: u64) -> impl Iterator<Item = &Event> {
        let from = from.max(self.forgotten);
        self.kept.iter().skip((from - self.forgotten) as usize).take(to.saturating_sub(from) as usize)
    }
}

/// The data and the kind of an event; `None` for changes of trees, which are not kept here.
pub fn event_data(event: &Event) -> Option<(EventKind, &EventData)> {
    Some(match event {
        Event::Focus(data) => (EventKind::Focus, data),
        Event::WindowOpened(data) => (EventKind::WindowOpened, data),
        Event::WindowClosed(data) => (EventKind::WindowClosed, data),
        Event::WindowFocused(data) => (EventKind::WindowFocused, data),
        Event::WindowChanged(data) => (EventKind::WindowChanged, data),
        Event::AppLaunched(data) => (EventKind::AppLaunched, data),
        Event::AppTerminated(data) => (EventKind::AppTerminated, data),
        Event::MenuOpened(data) => (EventKind::MenuOpened, data),
        Event::MenuClosed(data) => (EventKind::MenuClosed, data),
        Event::Dialog(data) => (EventKind::Dialog, data),
        Event::Announcement(data) => (EventKind::Announcement, data),
        Event::AppState(data) => (EventKind::AppState, data),
        Event::Changes { .. } | Event::Fresh { .. } | Event::End { .. } => return None,
    })
}

fn tick_of(event: &Event) -> Option<Tick> {
    event_data(event).map(|(_, data)| data.clock.tick)
}
