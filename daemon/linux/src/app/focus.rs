//! Which element has the focus. One has it at a time, whatever an app says: all cells of a row may say that they have it, as may
//! the element that had it before, in a window that is no longer active or even in the same one.

use std::collections::HashMap;

use axd_platform::ElementKey;

/// How many elements that announced the focus wait to be read.
const MAX_ANNOUNCED: usize = 64;

/// Which elements claim the focus, and which one has it.
#[derive(Debug, Default)]
pub(crate) struct FocusTracker {
    /// Elements that claim the focus, with when they gained it; 0 for those that had it when they were first read.
    claims: HashMap<ElementKey, u64>,
    /// Elements that announced that they gained the focus and have not been read since.
    announced: HashMap<ElementKey, u64>,
    count: u64,
    /// The element that is reported as focused.
    reported: Option<ElementKey>,
}

impl FocusTracker {
    /// An element announced that it gained the focus.
    pub fn on_focus_gained(&mut self, key: ElementKey) {
        self.count += 1;
        match self.claims.get_mut(&key) {
            Some(since) => *since = self.count,
            None => {
                if self.announced.len() >= MAX_ANNOUNCED {
                    self.announced.clear();
                }
                self.announced.insert(key, self.count);
            }
        }
    }

    /// An element was read: whether it claims the focus, and whether it is read for the first time.
    pub fn on_read(&mut self, key: ElementKey, claims: bool, new: bool) {
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

    /// The elements that claim the focus.
    pub fn iter(&self) -> impl Iterator<Item = &ElementKey> {
        self.claims.keys()
    }

    /// Forgets elements that are not to be kept.
    pub fn retain(&mut self, keep: impl Fn(ElementKey) -> bool) {
        self.claims.retain(|key, _| keep(*key));
    }

    /// Decides which element has the focus: one in the active window before others, then the one that gained it last,
    /// then the one that was known first. Returns the elements to report again, if another one has it now.
    pub fn resolve(&mut self, is_active: impl Fn(ElementKey) -> bool) -> Vec<ElementKey> {
        let rank = |(key, since): (&ElementKey, &u64)| (is_active(*key), *since, std::cmp::Reverse(*key));
        let best = self.claims.iter().max_by_key(|claim| rank(*claim)).map(|(key, _)| *key);
        if best == self.reported {
            return Vec::new();
        }
        let before = std::mem::replace(&mut self.reported, best);
        before.into_iter().chain(best).collect()
    }

    /// Whether this element has it.
    pub fn has_focus(&self, key: ElementKey) -> bool {
        self.reported == Some(key)
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
        let mut focus = FocusTracker::default();
        focus.on_read(B, true, true);
        focus.on_read(A, true, true);
        assert_eq!(focus.resolve(active), [A]);
        focus.on_focus_gained(B);
        focus.on_read(B, true, false);
        assert_eq!(focus.resolve(active), [A, B]);
        assert!(focus.has_focus(B) && !focus.has_focus(A));
        assert_eq!(focus.resolve(active), []);
        // One that keeps saying so does not take it back by being read.
        focus.on_read(A, true, false);
        assert_eq!(focus.resolve(active), []);
        focus.on_read(B, false, false);
        assert_eq!(focus.resolve(active), [B, A]);
    }

    #[test]
    fn one_in_the_active_window_comes_first() {
        let mut focus = FocusTracker::default();
        focus.on_read(A, true, true);
        focus.on_focus_gained(B);
        focus.on_read(B, true, true);
        assert_eq!(focus.resolve(|key| key == A), [A]);
        assert_eq!(focus.resolve(|key| key == B), [A, B]);
    }

    #[test]
    fn one_that_took_it_before_it_was_known_counts_from_then() {
        let mut focus = FocusTracker::default();
        focus.on_focus_gained(B);
        focus.on_read(A, true, true);
        focus.on_read(B, true, true);
        assert_eq!(focus.resolve(active), [B]);
        focus.retain(|key| key == A);
        assert_eq!(focus.resolve(active), [B, A]);
    }
}
