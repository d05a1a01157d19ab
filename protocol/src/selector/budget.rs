//! The budget of a search: how many steps it may take.
//!
//! A search over a large tree with a costly selector can take minutes, and there is no way to stop a thread. So searches count
//! their steps, and give up when the budget is spent: whoever starts one says with [`within`] how much it may cost. A step is
//! about what it takes to look at one node, some tens of nanoseconds. Without a budget a search has no limit.
//!
//! The budget belongs to the thread, because every search ends on the thread on which it began.

use std::cell::{Cell, RefCell};

/// After so many steps the budget's owner is asked whether to go on.
const STEPS_PER_CHECK: u64 = 4_096;

/// Why a search was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenUp {
    /// It took all steps of its budget.
    Spent,
    /// Its owner said to stop.
    Stopped,
}

/// Tells every few thousand steps whether to go on.
pub type GoOn = Box<dyn Fn() -> bool>;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
    static CHECK_AT: Cell<u64> = const { Cell::new(0) };
    static GIVEN_UP: Cell<Option<GivenUp>> = const { Cell::new(None) };
    static GO_ON: RefCell<Option<GoOn>> = const { RefCell::new(None) };
}

/// Gives the thread its former budget back, also after a panic.
struct Former {
    left: u64,
    check_at: u64,
    given_up: Option<GivenUp>,
    go_on: Option<GoOn>,
}

impl Drop for Former {
    fn drop(&mut self) {
        LEFT.set(self.left);
        CHECK_AT.set(self.check_at);
        GIVEN_UP.set(self.given_up);
        GO_ON.set(self.go_on.take());
    }
}

/// Does work whose searches may take this many steps in all, as long as `go_on` returns true. What work returns that was given
/// up is incomplete, and is dropped.
pub fn within<T>(steps: u64, go_on: Option<GoOn>, work: impl FnOnce() -> T) -> Result<T, GivenUp> {
    let left = steps.min(u64::MAX - 1);
    let _former = Former {
        left: LEFT.replace(left),
        check_at: CHECK_AT.replace(left.saturating_sub(STEPS_PER_CHECK)),
        given_up: GIVEN_UP.replace(None),
        go_on: GO_ON.replace(go_on),
    };
    let done = work();
    GIVEN_UP.get().map_or(Ok(done), Err)
}

/// Takes steps from the budget. If it returns false, the search must end: its result does not count any more.
pub fn spend(steps: u64) -> bool {
    let left = LEFT.get();
    if left == u64::MAX {
        return true;
    }
    let Some(rest) = left.checked_sub(steps) else { return give_up(GivenUp::Spent) };
    LEFT.set(rest);
    if rest < CHECK_AT.get() {
        CHECK_AT.set(rest.saturating_sub(STEPS_PER_CHECK));
        if !GO_ON.with_borrow(|go_on| go_on.as_ref().is_none_or(|go_on| go_on())) {
            return give_up(GivenUp::Stopped);
        }
    }
    true
}

fn give_up(why: GivenUp) -> bool {
    LEFT.set(0);
    CHECK_AT.set(0);
    if GIVEN_UP.get().is_none() {
        GIVEN_UP.set(Some(why));
    }
    false
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn work_within_its_budget_is_done_and_work_beyond_it_is_dropped() {
        let work = |steps: u64| (0..steps).take_while(|_| spend(1)).count();
        assert_eq!(within(10, None, || work(10)), Ok(10));
        assert_eq!(within(10, None, || work(11)), Err(GivenUp::Spent));
        assert_eq!(work(100_000), 100_000, "without a budget there is no limit");
    }

    #[test]
    fn a_costly_step_is_refused_before_it_is_taken() {
        assert_eq!(within(10, None, || (spend(5), spend(6), spend(1))), Err(GivenUp::Spent));
    }

    #[test]
    fn the_owner_is_asked_now_and_then_and_may_stop_it() {
        let asked = Rc::new(Cell::new(0));
        let counted = Rc::clone(&asked);
        let go_on = Box::new(move || {
            counted.set(counted.get() + 1);
            counted.get() < 3
        });
        let mut taken = 0;
        let done = within(1_000_000, Some(go_on), || {
            while spend(1) {
                taken += 1;
            }
        });
        assert_eq!((done, asked.get()), (Err(GivenUp::Stopped), 3));
        assert!(taken < 4 * STEPS_PER_CHECK, "{taken}");
    }

    #[test]
    fn a_budget_inside_another_leaves_that_as_it_was() {
        let outer = within(3, None, || {
            assert_eq!(within(1, None, || spend(2)), Err(GivenUp::Spent));
            spend(3)
        });
        assert_eq!(outer, Ok(true));
    }
}
