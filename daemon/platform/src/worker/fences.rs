//! Fences: whoever waits for one learns that all the app had announced before has been read and told.
//!
//! The app's mark comes the way its events come, after all of them. Then what they hinted at is read.

use std::time::Instant;

use super::PATIENCE;
use crate::schedule::Schedule;

/// Those that somebody waits for.
#[derive(Debug, Default)]
pub struct Fences(Vec<Fence>);

#[derive(Debug)]
struct Fence {
    ticket: u64,
    deadline: Instant,
    /// Whether the mark has come.
    passed: bool,
    /// What the app must have done before.
    errand: Option<u64>,
    /// The hints that must be read before the answer, once that is known.
    stamp: Option<u64>,
}

impl Fences {
    /// Somebody waits.
    pub fn raise(&mut self, ticket: u64, now: Instant) {
        let deadline = now + PATIENCE;
        self.0.push(Fence { ticket, deadline, passed: false, errand: None, stamp: None });
    }

    /// The mark of this fence has come.
    pub fn pass(&mut self, ticket: u64) {
        self.0.iter_mut().filter(|fence| fence.ticket == ticket).for_each(|fence| fence.passed = true);
    }

    /// Whether the mark of any has come.
    pub fn any_passed(&self) -> bool {
        self.0.iter().any(|fence| fence.passed)
    }

    /// When the next will be given up.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.iter().filter(|fence| !fence.passed).map(|fence| fence.deadline).min()
    }

    /// Takes out those that are reached, and with `false` those that will not be. `is_clear` says whether all that was
    /// announced before a fence is hinted at.
    pub fn settle(
        &mut self,
        schedule: &Schedule,
        well: bool,
        now: Instant,
        mut is_clear: impl FnMut(&mut Option<u64>) -> bool,
    ) -> Vec<(u64, bool)> {
        let mut settled = Vec::new();
        self.0.retain_mut(|fence| {
            if fence.passed && fence.stamp.is_none() && is_clear(&mut fence.errand) {
                fence.stamp = Some(schedule.stamp());
            }
            let reached = fence.stamp.is_some_and(|stamp| schedule.taken(stamp));
            let waits = !reached && well && (fence.passed || now < fence.deadline);
            if !waits {
                settled.push((fence.ticket, reached));
            }
            waits
        });
        settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ElementKey;
    use crate::schedule::Pace;

    fn fence() -> (Schedule, Fences, Instant) {
        let now = Instant::now();
        let mut fences = Fences::default();
        fences.raise(7, now);
        (Schedule::new(Pace::default(), now), fences, now)
    }

    #[test]
    fn a_fence_is_reached_when_its_mark_has_come_and_what_was_hinted_at_is_read() {
        let (mut schedule, mut fences, now) = fence();
        schedule.hint(ElementKey(1));
        assert_eq!(fences.settle(&schedule, true, now, |_| true), []);
        fences.pass(7);
        assert!(fences.any_passed());
        assert_eq!(fences.settle(&schedule, true, now, |_| true), []);
        schedule.take_hints(1);
        assert_eq!(fences.settle(&schedule, true, now, |_| true), [(7, true)]);
        assert_eq!(fences.settle(&schedule, true, now, |_| true), []);
    }

    #[test]
    fn a_fence_waits_for_its_errand_however_long_that_takes() {
        let (schedule, mut fences, now) = fence();
        fences.pass(7);
        assert_eq!(fences.deadline(), None);
        let errand = |errand: &mut Option<u64>| errand.replace(3).is_some();
        assert_eq!(fences.settle(&schedule, true, now + 2 * PATIENCE, errand), []);
        assert_eq!(fences.settle(&schedule, true, now + 2 * PATIENCE, errand), [(7, true)]);
    }

    #[test]
    fn a_fence_is_given_up_when_its_mark_does_not_come_or_the_app_is_not_well() {
        let (schedule, mut fences, now) = fence();
        assert_eq!(fences.deadline(), Some(now + PATIENCE));
        assert_eq!(fences.settle(&schedule, true, now + PATIENCE, |_| true), [(7, false)]);
        fences.raise(8, now);
        fences.pass(8);
        assert_eq!(fences.settle(&schedule, false, now, |_| false), [(8, false)]);
    }
}
