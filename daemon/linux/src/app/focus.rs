//! Which element has the focus. One has it at a time, whatever an app says: all cells of a row may say that they have it, as may
//! the element that had it before, in a window that is no longer active or even in the same one.

use std::collections::HashMap;

use axd_platform::ElementKey;

/// How many announcements wait for a reading.
const MOST_ANNOUNCED: usize = 64;

/// Who says to have the focus.
#[derive(Debug, Default)]
pub(crate) struct Focus {
    /// Those that say so, and how lately each took it; 0 for those that had it when they were first seen.
    claims: HashMap<ElementKey, u64>,
    /// Those that announced that they took it and have not been read since.
    announced: HashMap<ElementKey, u64>,
    count: u64,
    /// Who is told to have it.
    told: Option<ElementKey>,
}

impl Focus {
    /// An element announced that it took the focus, or its window became the active one.
    pub fn took(&mut self, key: ElementKey) {
        self.count += 1;
        match self.claims.get_mut(&key) {
            Some(since) => *since = self.count,
            None => {
                if self.announced.len() >= MOST_ANNOUNCED {
                    self.announced.clear();
                }
                self.announced.insert(key, self.count);
            }
        }
    }

    /// An element was read; whether it says to have the focus, and whether it is the first time that it is read.
    pub fn read(&mut self, key: ElementKey, claims: bool, new: bool) {
        let announced = self.announced.remove(&key);
        if !claims {
            self.claims.remove(&key);
            return;
        }
        if !self.claims.contains_key(&key) {
            self.count += u64::from(!new);
            let since = announced.unwrap_or(if new { 0 } else { self.count });
            self.claims.insert(key, since);
        }
    }

    /// Those that say to have the focus.
    pub fn iter(&self) -> impl Iterator<Item = &ElementKey> {
        self.claims.keys()
    }

    /// Forgets those that are not to be kept.
    pub fn retain(&mut self, keep: impl Fn(ElementKey) -> bool) {
        self.claims.retain(|key, _| keep(*key));
    }

    /// Who has it: in the active window rather than in others, who took it last, and of equals the first one. Answers whom to
    /// tell anew, if that is another now than before.
    pub fn settle(&mut self, is_active: impl Fn(ElementKey) -> bool) -> Vec<ElementKey> {
        let rank = |(key, since): (&ElementKey, &u64)| (is_active(*key), *since, std::cmp::Reverse(*key));
        let best = self.claims.iter().max_by_key(|claim| rank(*claim)).map(|(key, _)| *key);
        if best == self.told {
            return Vec::new();
        }
        let before = std::mem::replace(&mut self.told, best);
        before.into_iter().chain(best).collect()
    }

    /// Whether this element has it.
    pub fn is_with(&self, key: ElementKey) -> bool {
        self.told == Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ElementKey = ElementKey(1);
    const B: ElementKey = ElementKey(2);

    fn active(_: ElementKey) -> bool {
        true
    }

    #[test]
    fn one_has_the_focus_and_it_is_who_took_it_last() {
        let mut focus = Focus::default();
        focus.read(B, true, true);
        focus.read(A, true, true);
        assert_eq!(focus.settle(active), [A]);
        focus.took(B);
        focus.read(B, true, false);
        assert_eq!(focus.settle(active), [A, B]);
        assert!(focus.is_with(B) && !focus.is_with(A));
        assert_eq!(focus.settle(active), []);
        // One that keeps saying so does not take it back by being read.
        focus.read(A, true, false);
        assert_eq!(focus.settle(active), []);
        focus.read(B, false, false);
        assert_eq!(focus.settle(active), [B, A]);
    }

    #[test]
    fn one_in_the_active_window_comes_first() {
        let mut focus = Focus::default();
        focus.read(A, true, true);
        focus.took(B);
        focus.read(B, true, true);
        assert_eq!(focus.settle(|key| key == A), [A]);
        assert_eq!(focus.settle(|key| key == B), [A, B]);
    }

    #[test]
    fn one_that_took_it_before_it_was_known_counts_from_then() {
        let mut focus = Focus::default();
        focus.took(B);
        focus.read(A, true, true);
        focus.read(B, true, true);
        assert_eq!(focus.settle(active), [B]);
        focus.retain(|key| key == A);
        assert_eq!(focus.settle(active), [B, A]);
    }
}
