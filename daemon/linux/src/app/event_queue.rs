//! The event queue of one app: pending accessibility events, merged by element, so that a flood costs no more than one
//! entry an element, and never more than [`MAX_ELEMENTS`].

use std::collections::HashMap;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// How many elements are queued at most; beyond that the whole app is read again.
const MAX_ELEMENTS: usize = 65_536;
/// How many announcements for screen readers are queued at most; more are dropped.
const MAX_ANNOUNCEMENTS: usize = 64;

/// Which kinds of changes events announced of an element: a bit set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ChangeKinds(u32);

impl ChangeKinds {
    /// No change.
    pub const NONE: ChangeKinds = ChangeKinds(0);
    /// Any of its facts: role, name, value, states.
    pub const FACTS: ChangeKinds = ChangeKinds(1);
    /// Its list of children.
    pub const CHILDREN: ChangeKinds = ChangeKinds(1 << 1);
    /// It gained or lost the keyboard focus.
    pub const FOCUS: ChangeKinds = ChangeKinds(1 << 2);
    /// Which of its children are selected.
    pub const SELECTION: ChangeKinds = ChangeKinds(1 << 3);
    /// It is a window that was opened, closed, activated or otherwise changed.
    pub const WINDOW: ChangeKinds = ChangeKinds(1 << 4);
    /// It was removed.
    pub const GONE: ChangeKinds = ChangeKinds(1 << 5);
    /// Its whole subtree was replaced, as a page that was loaded.
    pub const SUBTREE: ChangeKinds = ChangeKinds(1 << 6);
    /// It became sensitive or insensitive, and its descendants with it.
    pub const SENSITIVITY: ChangeKinds = ChangeKinds(1 << 7);
    /// Its name.
    pub const NAME: ChangeKinds = ChangeKinds(1 << 8);
    /// Its description.
    pub const DESCRIPTION: ChangeKinds = ChangeKinds(1 << 9);
    /// Its numeric value.
    pub const VALUE: ChangeKinds = ChangeKinds(1 << 10);
    /// Its text.
    pub const TEXT: ChangeKinds = ChangeKinds(1 << 11);
    /// Its states.
    pub const STATES: ChangeKinds = ChangeKinds(1 << 12);
    /// Its visible data; the event does not say what of it.
    pub const VISIBLE_DATA: ChangeKinds = ChangeKinds(1 << 13);
    /// It was shown or hidden.
    pub const VISIBILITY: ChangeKinds = ChangeKinds(1 << 16);
    /// It became the active descendant of its container.
    pub const CURRENT_ITEM: ChangeKinds = ChangeKinds(1 << 15);
    /// It gained the focus.
    pub const FOCUS_GAINED: ChangeKinds = ChangeKinds(1 << 14);

    /// These kinds and others; for constants.
    pub const fn with(self, others: ChangeKinds) -> ChangeKinds {
        ChangeKinds(self.0 | others.0)
    }

    /// Whether any of `kinds` is set.
    pub fn has(self, kinds: ChangeKinds) -> bool {
        self.0 & kinds.0 != 0
    }

    /// Whether nothing but `kinds` is set.
    pub fn is_within(self, kinds: ChangeKinds) -> bool {
        self.0 & !kinds.0 == 0
    }
}

impl std::ops::BitOr for ChangeKinds {
    type Output = ChangeKinds;
    fn bitor(self, other: ChangeKinds) -> ChangeKinds {
        self.with(other)
    }
}

/// What events announced of one element.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Change {
    /// The kinds of changes.
    pub kinds: ChangeKinds,
    /// The new name that the last event carried.
    pub name: Option<String>,
    /// The number of the event by which it last gained the focus; 0 if it did not.
    pub focus_order: u64,
}

impl Change {
    /// Adds a later change of the same element.
    pub fn merge(&mut self, later: Change) {
        self.kinds = self.kinds | later.kinds;
        self.name = later.name.or(self.name.take());
        self.focus_order = self.focus_order.max(later.focus_order);
    }
}

impl From<ChangeKinds> for Change {
    fn from(kinds: ChangeKinds) -> Change {
        Change { kinds, ..Change::default() }
    }
}

/// Everything that arrived since the queue was last taken.
#[derive(Debug, Default)]
pub(crate) struct PendingEvents {
    /// The changed elements, by object path.
    pub changes: HashMap<String, Change>,
    /// Texts for screen readers to speak.
    pub announcements: Vec<String>,
    /// Fences that all these events, and all before them, lie before.
    pub passed_fences: Vec<u64>,
    /// Events were dropped because too many elements were queued.
    pub overflowed: bool,
    /// How many events arrived.
    pub events: u64,
    /// The connection is lost; no more events will arrive.
    pub closed: bool,
}

/// The events of one app, from the connection that receives them to the app's worker.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    pending: Mutex<PendingEvents>,
    notify: Notify,
    /// Wakes actions that wait for an effect.
    events: Notify,
}

impl EventQueue {
    /// Adds a change of the element at this object path.
    pub fn push(&self, path: &str, change: impl Into<Change>) {
        let mut events = self.pending.lock();
        events.events += 1;
        let mut change: Change = change.into();
        if change.kinds.has(ChangeKinds::FOCUS_GAINED) {
            change.focus_order = events.events;
        }
        if let Some(known) = events.changes.get_mut(path) {
            known.merge(change);
        } else if events.changes.len() < MAX_ELEMENTS {
            events.changes.insert(path.to_owned(), change);
        } else {
            events.overflowed = true;
        }
        drop(events);
        self.notify.notify_one();
        self.events.notify_waiters();
    }

    /// Adds an announcement for screen readers.
    pub fn push_announcement(&self, text: String) {
        let mut events = self.pending.lock();
        events.events += 1;
        if events.announcements.len() < MAX_ANNOUNCEMENTS {
            events.announcements.push(text);
        }
        drop(events);
        self.notify.notify_one();
    }

    /// Notes that a fence was passed.
    pub fn pass_fence(&self, mark: u64) {
        self.pending.lock().passed_fences.push(mark);
        self.notify.notify_one();
    }

    /// Notes that the connection is lost.
    pub fn close(&self) {
        self.pending.lock().closed = true;
        self.notify.notify_one();
    }

    /// Wakes the worker for something else than an event.
    pub fn wake(&self) {
        self.notify.notify_one();
    }

    /// Returns at the first change of any element after this was called, awaited yet or not.
    pub fn next_event(&self) -> Notified<'_> {
        self.events.notified()
    }

    /// Takes everything that is pending.
    pub fn take(&self) -> PendingEvents {
        let mut events = self.pending.lock();
        let closed = events.closed;
        std::mem::replace(&mut *events, PendingEvents { closed, ..PendingEvents::default() })
    }

    /// Returns when something may be pending.
    pub async fn wait(&self) {
        self.notify.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_bounded_and_says_that_it_overflowed() {
        let queue = EventQueue::default();
        for n in 0..70_000 {
            queue.push("/same", ChangeKinds::FACTS);
            queue.push(&format!("/{n}"), ChangeKinds::CHILDREN);
        }
        queue.push("/same", ChangeKinds::GONE);
        let events = queue.take();
        assert_eq!((events.changes.len(), events.overflowed, events.events), (MAX_ELEMENTS, true, 140_001));
        let same = events.changes["/same"].kinds;
        assert!(same.has(ChangeKinds::FACTS) && same.has(ChangeKinds::GONE));
        assert!(!same.has(ChangeKinds::CHILDREN));
        assert_eq!(queue.take().events, 0);
    }

    #[test]
    fn who_took_the_focus_last_is_known() {
        let queue = EventQueue::default();
        queue.push("/a", ChangeKinds::FOCUS_GAINED);
        queue.push("/b", ChangeKinds::FOCUS_GAINED);
        queue.push("/a", ChangeKinds::STATES);
        let events = queue.take();
        assert!(events.changes["/b"].focus_order > events.changes["/a"].focus_order);
        queue.push("/b", ChangeKinds::FOCUS_GAINED);
        queue.push("/a", ChangeKinds::FOCUS_GAINED);
        let events = queue.take();
        assert!(events.changes["/a"].focus_order > events.changes["/b"].focus_order);
    }

    #[test]
    fn the_name_of_the_last_event_is_kept() {
        let queue = EventQueue::default();
        let named =
            |name: &str| Change { kinds: ChangeKinds::NAME, name: Some(name.to_owned()), focus_order: 0 };
        queue.push("/a", named("one"));
        queue.push("/a", named("two"));
        queue.push("/a", ChangeKinds::TEXT);
        let events = queue.take();
        assert_eq!(
            events.changes["/a"],
            Change { kinds: ChangeKinds::NAME | ChangeKinds::TEXT, name: Some("two".into()), focus_order: 0 }
        );
    }
}
