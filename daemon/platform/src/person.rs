//! When a person last used which window: mouse and keyboard that are not axd's.

use std::time::Instant;

use parking_lot::Mutex;

/// The maximum number of windows that are remembered.
const MAX_USES: usize = 32;

/// What a person has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// The process, if it is known.
    pub pid: Option<u32>,
    /// The window system's number of the window, if it is known.
    pub window: Option<u64>,
}

/// When a person last used which window. What is not known of a use, it counts for: one of an app whose window is not known is a
/// use of all its windows.
#[derive(Debug)]
pub struct PersonActivity {
    /// Before this nothing was noticed, so everything may have been used until then.
    since: Instant,
    /// One use each, the latest last.
    uses: Mutex<Vec<(Used, Instant)>>,
}

impl Default for PersonActivity {
    fn default() -> PersonActivity {
        PersonActivity { since: Instant::now(), uses: Mutex::default() }
    }
}

impl PersonActivity {
    /// Notes that a person used something at a time.
    pub fn note(&self, used: Used, at: Instant) {
        let mut uses = self.uses.lock();
        uses.retain(|(known, _)| *known != used);
        if uses.len() == MAX_USES {
            uses.remove(0);
        }
        uses.push((used, at));
    }

    /// When a person last may have used a window of an app; any of its windows, or any app's, if none is named.
    pub fn last_use(&self, pid: Option<u32>, window: Option<u64>) -> Instant {
        let concerns = |used: &Used| match (used.window, window) {
            (Some(used), Some(window)) => used == window,
            _ => used.pid.zip(pid).is_none_or(|(used, pid)| used == pid),
        };
        let uses = self.uses.lock();
        uses.iter().filter(|(used, _)| concerns(used)).map(|(_, at)| *at).fold(self.since, Instant::max)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_use_counts_for_its_window_and_for_all_that_it_may_have_been() {
        let activity = PersonActivity::default();
        let after = |ms| activity.since + Duration::from_millis(ms);
        assert_eq!(activity.last_use(Some(7), Some(1)), activity.since, "nobody knows what was before");
        activity.note(Used { pid: Some(7), window: Some(1) }, after(10));
        assert_eq!(activity.last_use(Some(7), Some(1)), after(10));
        assert_eq!(activity.last_use(Some(7), None), after(10));
        assert_eq!(activity.last_use(Some(7), Some(2)), activity.since);
        assert_eq!(activity.last_use(Some(8), None), activity.since);
        activity.note(Used { pid: Some(7), window: None }, after(20));
        assert_eq!(activity.last_use(Some(7), Some(2)), after(20));
        assert_eq!(activity.last_use(Some(8), Some(3)), activity.since);
        assert_eq!(activity.last_use(None, None), after(20));
        activity.note(Used { pid: None, window: None }, after(30));
        assert_eq!(activity.last_use(Some(8), Some(3)), after(30));
    }

    #[test]
    fn old_uses_are_forgotten_and_recent_ones_are_not() {
        let activity = PersonActivity::default();
        let after = |ms| activity.since + Duration::from_millis(ms);
        for window in 0..2 * MAX_USES as u64 {
            activity.note(Used { pid: Some(7), window: Some(window) }, after(window));
        }
        let last = 2 * MAX_USES as u64 - 1;
        assert_eq!(activity.last_use(Some(7), Some(last)), after(last));
        assert_eq!(activity.uses.lock().len(), MAX_USES);
    }
}
