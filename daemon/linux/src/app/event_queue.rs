//! What has been heard of one app and not taken in yet: a set, so that a flood costs as much as there are elements,
//! and never more than [`MOST`] of those.

use std::collections::HashMap;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// How many elements can be heard of before it is simpler to look at all of them.
const MOST: usize = 65_536;
/// Announcements that wait; more are dropped.
const MOST_SAID: usize = 64;

/// What kind of thing happened to an element; several may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kinds(u32);

impl Kinds {
    /// Something about the element itself.
    pub const FACTS: Kinds = Kinds(1);
    /// Its children.
    pub const CHILDREN: Kinds = Kinds(1 << 1);
    /// It took or lost the focus.
    pub const FOCUS: Kinds = Kinds(1 << 2);
    /// Which of its children are selected.
    pub const SELECTION: Kinds = Kinds(1 << 3);
    /// It is a window, and something happened to it.
    pub const WINDOW: Kinds = Kinds(1 << 4);
    /// It is no more.
    pub const GONE: Kinds = Kinds(1 << 5);
    /// All below it is new.
    pub const SUBTREE: Kinds = Kinds(1 << 6);
    /// It can be used or no longer, and with it all below it.
    pub const BELOW: Kinds = Kinds(1 << 7);
    /// Its name.
    pub const NAME: Kinds = Kinds(1 << 8);
    /// Its description.
    pub const DESCRIPTION: Kinds = Kinds(1 << 9);
    /// Its number.
    pub const NUMBER: Kinds = Kinds(1 << 10);
    /// Its text.
    pub const TEXT: Kinds = Kinds(1 << 11);
    /// Its states.
    pub const STATES: Kinds = Kinds(1 << 12);
    /// What is seen of it, whatever that is.
    pub const LOOKS: Kinds = Kinds(1 << 13);
    /// It is shown now or no longer.
    pub const SHOWN: Kinds = Kinds(1 << 16);
    /// It is the current one of its siblings.
    pub const ITEM: Kinds = Kinds(1 << 15);
    /// It took the focus.
    pub const TOOK: Kinds = Kinds(1 << 14);

    /// Whether any of `kinds` is among them.
    pub fn has(self, kinds: Kinds) -> bool {
        self.0 & kinds.0 != 0
    }

    /// Whether there are none but `kinds` among them.
    pub fn within(self, kinds: Kinds) -> bool {
        self.0 & !kinds.0 == 0
    }
}

impl std::ops::BitOr for Kinds {
    type Output = Kinds;
    fn bitor(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }
}

/// What was heard of an element.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Hint {
    /// What happened to it.
    pub kinds: Kinds,
    /// What the app says it is called now.
    pub name: Option<String>,
    /// When it last took the focus, among all events.
    pub took: u64,
}

impl Hint {
    /// Takes in what was heard after this.
    pub fn add(&mut self, later: Hint) {
        self.kinds = self.kinds | later.kinds;
        self.name = later.name.or(self.name.take());
        self.took = self.took.max(later.took);
    }
}

impl From<Kinds> for Hint {
    fn from(kinds: Kinds) -> Hint {
        Hint { kinds, ..Hint::default() }
    }
}

/// What was heard.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// The elements, by path, and what happened to them.
    pub hints: HashMap<String, Hint>,
    /// What the app said for screen readers to speak.
    pub said: Vec<String>,
    /// The fences that all of this, and all before it, lies before.
    pub marks: Vec<u64>,
    /// So much was heard that not all of it was kept.
    pub overflowed: bool,
    /// How many events these were.
    pub events: u64,
    /// Nothing more will be heard: the connection is lost.
    pub lost: bool,
}

/// Where one app's events arrive.
#[derive(Debug, Default)]
pub(crate) struct Ear {
    heard: Mutex<Heard>,
    bell: Notify,
    /// Wakes those that look whether something has come about.
    events: Notify,
}

impl Ear {
    /// Something happened to the element at this path.
    pub fn hear(&self, path: &str, hint: impl Into<Hint>) {
        let mut heard = self.heard.lock();
        heard.events += 1;
        let mut hint: Hint = hint.into();
        if hint.kinds.has(Kinds::TOOK) {
            hint.took = heard.events;
        }
        if let Some(known) = heard.hints.get_mut(path) {
            known.add(hint);
        } else if heard.hints.len() < MOST {
            heard.hints.insert(path.to_owned(), hint);
        } else {
            heard.overflowed = true;
        }
        drop(heard);
        self.bell.notify_one();
        self.events.notify_waiters();
    }

    /// The app said something.
    pub fn say(&self, text: String) {
        let mut heard = self.heard.lock();
        heard.events += 1;
        if heard.said.len() < MOST_SAID {
            heard.said.push(text);
        }
        drop(heard);
        self.bell.notify_one();
    }

    /// A fence has been passed.
    pub fn pass(&self, ticket: u64) {
        self.heard.lock().marks.push(ticket);
        self.bell.notify_one();
    }

    /// Nothing more will come.
    pub fn lose(&self) {
        self.heard.lock().lost = true;
        self.bell.notify_one();
    }

    /// Something else than an event is to be looked at.
    pub fn wake(&self) {
        self.bell.notify_one();
    }

    /// Returns when something happens to any element after this was called, awaited yet or not.
    pub fn next_event(&self) -> Notified<'_> {
        self.events.notified()
    }

    /// Takes what was heard.
    pub fn take(&self) -> Heard {
        let mut heard = self.heard.lock();
        let lost = heard.lost;
        std::mem::replace(&mut *heard, Heard { lost, ..Heard::default() })
    }

    /// Returns when something may have been heard since the last call.
    pub async fn rings(&self) {
        self.bell.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_bounded_and_says_that_it_overflowed() {
        let ear = Ear::default();
        for n in 0..70_000 {
            ear.hear("/same", Kinds::FACTS);
            ear.hear(&format!("/{n}"), Kinds::CHILDREN);
        }
        ear.hear("/same", Kinds::GONE);
        let heard = ear.take();
        assert_eq!((heard.hints.len(), heard.overflowed, heard.events), (MOST, true, 140_001));
        let same = heard.hints["/same"].kinds;
        assert!(same.has(Kinds::FACTS) && same.has(Kinds::GONE));
        assert!(!same.has(Kinds::CHILDREN));
        assert_eq!(ear.take().events, 0);
    }

    #[test]
    fn who_took_the_focus_last_is_known() {
        let ear = Ear::default();
        ear.hear("/a", Kinds::TOOK);
        ear.hear("/b", Kinds::TOOK);
        ear.hear("/a", Kinds::STATES);
        let heard = ear.take();
        assert!(heard.hints["/b"].took > heard.hints["/a"].took);
        ear.hear("/b", Kinds::TOOK);
        ear.hear("/a", Kinds::TOOK);
        let heard = ear.take();
        assert!(heard.hints["/a"].took > heard.hints["/b"].took);
    }

    #[test]
    fn the_name_heard_last_is_kept() {
        let ear = Ear::default();
        let named = |name: &str| Hint { kinds: Kinds::NAME, name: Some(name.to_owned()), took: 0 };
        ear.hear("/a", named("one"));
        ear.hear("/a", named("two"));
        ear.hear("/a", Kinds::TEXT);
        let heard = ear.take();
        assert_eq!(
            heard.hints["/a"],
            Hint { kinds: Kinds::NAME | Kinds::TEXT, name: Some("two".into()), took: 0 }
        );
    }
}
