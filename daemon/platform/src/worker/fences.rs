//! Fences: when a fence is reached, everything that the app announced before it has been read and sent.
//!
//! The fence's mark takes the path of the app's events and arrives after all of them. Then the elements that they marked dirty
//! are read.

use std::time::Instant;

use super::APP_REPLY_TIMEOUT;
use crate::Responder;
use crate::schedule::Schedule;

/// How many times as long a fence is waited for while the app answers other calls.
const MAX_EXTENSION: u32 = 4;

/// The fences that are waited for.
#[derive(Debug, Default)]
pub struct Fences {
    raised: Vec<Fence>,
    last_mark: u64,
}

/// A fence that is finished: reached, or given up.
#[derive(Debug)]
pub struct Settled {
    /// The responder of the caller who waits for it.
    pub reply: Responder<()>,
    /// Whether the fence was reached.
    pub reached: bool,
}

#[derive(Debug)]
struct Fence {
    mark: u64,
    reply: Responder<()>,
    deadline: Instant,
    /// The deadline if the app goes on answering other calls.
    last_deadline: Instant,
    /// Whether the mark has arrived.
    passed: bool,
    /// What the app must have done before the fence is reached.
    prerequisite: Option<u64>,
    /// The stamp up to which dirty elements must be read before the reply, once it is known.
    stamp: Option<u64>,
}

impl Fences {
    /// Adds a fence. Returns the mark that passes it.
    pub fn raise(&mut self, reply: Responder<()>, now: Instant) -> u64 {
        self.last_mark += 1;
        let (mark, deadline) = (self.last_mark, now + APP_REPLY_TIMEOUT);
        let last_deadline = now + APP_REPLY_TIMEOUT * MAX_EXTENSION;
        let (prerequisite, stamp) = (None, None);
        self.raised.push(Fence { mark, reply, deadline, last_deadline, passed: false, prerequisite, stamp });
        mark
    }

    /// Gives the fences more time if the app has answered something meanwhile: their marks wait until it has answered all that
    /// was requested before.
    pub fn extend(&mut self, last_answer: Option<Instant>) {
        let Some(last_answer) = last_answer else { return };
        for fence in &mut self.raised {
            let deadline = (last_answer + APP_REPLY_TIMEOUT).min(fence.last_deadline);
            fence.deadline = fence.deadline.max(deadline);
        }
    }

    /// Records that the mark of a fence has arrived.
    pub fn pass(&mut self, mark: u64) {
        self.raised.iter_mut().filter(|fence| fence.mark == mark).for_each(|fence| fence.passed = true);
    }

    /// Whether the mark of any fence has arrived.
    pub fn any_passed(&self) -> bool {
        self.raised.iter().any(|fence| fence.passed)
    }

    /// When the next fence times out.
    pub fn deadline(&self) -> Option<Instant> {
        self.raised.iter().filter(|fence| !fence.passed).map(|fence| fence.deadline).min()
    }

    /// Calls `flush`, with its prerequisite, for every fence whose mark has arrived. Once all elements with events from before the
    /// fence are marked dirty, `flush` returns the latest stamp.
    pub fn flush(&mut self, mut flush: impl FnMut(&mut Option<u64>) -> Option<u64>) {
        for fence in self.raised.iter_mut().filter(|fence| fence.passed) {
            let stamp = flush(&mut fence.prerequisite);
            fence.stamp = fence.stamp.or(stamp);
        }
    }

    /// Takes out the fences that are reached and, with `reached: false`, those that timed out or whose app is not `well`.
    pub fn settle(&mut self, schedule: &Schedule, well: bool, now: Instant) -> Vec<Settled> {
        let mut settled = Vec::new();
        self.raised.retain_mut(|fence| {
            let reached = fence.stamp.is_some_and(|stamp| schedule.taken(stamp));
            let waits = !reached && well && (fence.passed || now < fence.deadline);
            if !waits {
                let reply = std::mem::replace(&mut fence.reply, Responder::ignored());
                settled.push(Settled { reply, reached });
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

    /// A fence, the mark that passes it, and where its reply would arrive.
    fn fence() -> (Schedule, Fences, u64, Instant) {
        let now = Instant::now();
        let mut fences = Fences::default();
        let mark = fences.raise(Responder::ignored(), now);
        (Schedule::new(Pace::default(), now), fences, mark, now)
    }

    fn reached(settled: Vec<Settled>) -> Vec<bool> {
        settled.into_iter().map(|fence| fence.reached).collect()
    }

    #[test]
    fn a_fence_is_reached_when_its_mark_has_come_and_what_was_dirty_is_read() {
        let (mut schedule, mut fences, mark, now) = fence();
        let settle = |fences: &mut Fences, schedule: &Schedule| {
            fences.flush(|_| Some(schedule.stamp()));
            reached(fences.settle(schedule, true, now))
        };
        schedule.mark_dirty(ElementKey(1));
        assert!(settle(&mut fences, &schedule).is_empty());
        fences.pass(mark + 1);
        assert!(!fences.any_passed(), "that is another fence's");
        fences.pass(mark);
        assert!(fences.any_passed());
        assert!(settle(&mut fences, &schedule).is_empty());
        schedule.mark_dirty(ElementKey(2));
        schedule.take_dirty(1);
        assert_eq!(settle(&mut fences, &schedule), [true], "the second was not dirty yet when the mark came");
        assert!(settle(&mut fences, &schedule).is_empty());
    }

    #[test]
    fn a_fence_waits_for_its_prerequisite_however_long_that_takes() {
        let (schedule, mut fences, mark, now) = fence();
        fences.pass(mark);
        assert_eq!(fences.deadline(), None);
        let mut settle = || {
            fences.flush(|prerequisite| prerequisite.replace(3).map(|_| 0));
            reached(fences.settle(&schedule, true, now + 2 * APP_REPLY_TIMEOUT))
        };
        assert!(settle().is_empty());
        assert_eq!(settle(), [true]);
    }

    #[test]
    fn a_fence_is_given_up_when_its_mark_does_not_come_or_the_app_is_not_well() {
        let (schedule, mut fences, _, now) = fence();
        assert_eq!(fences.deadline(), Some(now + APP_REPLY_TIMEOUT));
        assert_eq!(reached(fences.settle(&schedule, true, now + APP_REPLY_TIMEOUT)), [false]);
        let mark = fences.raise(Responder::ignored(), now);
        fences.pass(mark);
        assert_eq!(reached(fences.settle(&schedule, false, now)), [false]);
    }
}
