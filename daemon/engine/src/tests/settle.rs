//! How long an action waits until its app has settled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use axd_protocol::command::Settled;
use tokio::time::{Instant, sleep, timeout};

use super::Rig;
use super::fake_desktop::{BUTTON, FakeDesktop, MAIL, NOTES};
use crate::action::settle::{Pace, Within};
use axd_platform::Gate;

/// A wait until Notes has settled, with what may end it.
struct Wait {
    pace: Pace,
    gate: Gate,
    /// In milliseconds after the start.
    deadline: u64,
}

impl Wait {
    fn new() -> Wait {
        Wait { pace: Pace::new(None, None), gate: Gate::new(), deadline: 30_000 }
    }

    /// How the wait ended, and after how many milliseconds.
    async fn run(&self, rig: &Rig) -> (Settled, u128) {
        self.run_until(rig, || false, || false).await
    }

    async fn run_until(
        &self,
        rig: &Rig,
        enough: impl Fn() -> bool,
        is_busy: impl Fn() -> bool,
    ) -> (Settled, u128) {
        let app = rig.notes().await;
        let since = app.tree.read().tick();
        let within = Within {
            pace: self.pace,
            watch: Some(BUTTON),
            gate: &self.gate,
            deadline: rig.at(self.deadline),
        };
        let settled = rig.engine.settle(&app, since, within, enough, is_busy).await;
        assert!(rig.desktop.state().watched.is_empty(), "nothing is read again once the wait is over");
        (settled, rig.elapsed())
    }
}

fn change(desktop: &FakeDesktop) {
    desktop.change_label(NOTES);
}

/// Changes the app every 10 ms, for ever.
fn keep_changing(rig: &Rig) {
    let desktop = rig.desktop.clone();
    tokio::spawn(async move {
        loop {
            sleep(Duration::from_millis(10)).await;
            change(&desktop);
        }
    });
}

#[tokio::test(start_paused = true)]
async fn an_app_that_changed_is_quiet_25_ms_after_its_last_change() {
    let rig = Rig::new();
    for ms in [10, 30, 50] {
        rig.after(ms, change);
    }
    // This one comes too late to count.
    rig.after(80, change);
    assert_eq!(Wait::new().run(&rig).await, (Settled::Quiet, 75));
}

#[tokio::test(start_paused = true)]
async fn the_request_says_how_long_quiet_is() {
    let rig = Rig::new();
    rig.after(10, change);
    rig.after(80, change);
    let wait = Wait { pace: Pace::new(Some(100), None), ..Wait::new() };
    assert_eq!(wait.run(&rig).await, (Settled::Quiet, 180));
}

#[tokio::test(start_paused = true)]
async fn what_changed_before_the_fence_counts() {
    let rig = Rig::new();
    rig.desktop.state().fence_with_change = Some(1);
    assert_eq!(Wait::new().run(&rig).await, (Settled::Quiet, 25));
}

#[tokio::test(start_paused = true)]
async fn no_change_is_expected_after_150_ms() {
    let rig = Rig::new();
    rig.after(151, change);
    assert_eq!(Wait::new().run(&rig).await, (Settled::NoChange, 150));
    let rig = Rig::new();
    rig.after(149, change);
    assert_eq!(Wait::new().run(&rig).await, (Settled::Quiet, 174));
}

#[tokio::test(start_paused = true)]
async fn a_change_of_another_app_is_none() {
    let rig = Rig::new();
    rig.attached(MAIL).await;
    rig.after(20, |desktop| desktop.change_label(MAIL));
    assert_eq!(Wait::new().run(&rig).await, (Settled::NoChange, 150));
}

#[tokio::test(start_paused = true)]
async fn an_app_that_acts_late_gets_400_ms_and_a_second_fence() {
    let rig = Rig::new();
    rig.desktop.state().acts_late = true;
    assert_eq!(Wait::new().run(&rig).await, (Settled::NoChange, 400));
    assert_eq!(rig.desktop.state().fences, 2);
    let rig = Rig::new();
    rig.desktop.state().acts_late = true;
    rig.after(390, change);
    assert_eq!(Wait::new().run(&rig).await, (Settled::Quiet, 415));
    assert_eq!(rig.desktop.state().fences, 2);
}

#[tokio::test(start_paused = true)]
async fn what_the_second_fence_finds_has_to_become_quiet_too() {
    let rig = Rig::new();
    {
        let mut state = rig.desktop.state();
        (state.acts_late, state.fence_with_change) = (true, Some(2));
    }
    assert_eq!(Wait::new().run(&rig).await, (Settled::Quiet, 425));
}

#[tokio::test(start_paused = true)]
async fn an_app_that_goes_on_changing_is_busy_at_the_end() {
    let rig = Rig::new();
    keep_changing(&rig);
    assert_eq!(Wait::new().run(&rig).await, (Settled::Busy, 1_000));
    let rig = Rig::new();
    keep_changing(&rig);
    let wait = Wait { pace: Pace::new(None, Some(100)), ..Wait::new() };
    assert_eq!(wait.run(&rig).await, (Settled::Busy, 100));
}

#[tokio::test(start_paused = true)]
async fn a_limit_below_the_usual_time_for_a_change_ends_the_wait() {
    let rig = Rig::new();
    let wait = Wait { pace: Pace::new(None, Some(100)), ..Wait::new() };
    assert_eq!(wait.run(&rig).await, (Settled::NoChange, 100));
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_cuts_the_wait_short_whatever_it_waits_for() {
    type Prepare = fn(&Rig);
    let situations: [(&str, Prepare); 4] = [
        ("a first change", |_| {}),
        ("quiet", keep_changing),
        ("the fence", |rig| rig.desktop.state().answered_fences = 0),
        ("a late change", |rig| rig.desktop.state().acts_late = true),
    ];
    for (what, prepare) in situations {
        let rig = Rig::new();
        prepare(&rig);
        let wait = Wait::new();
        rig.cancel_at(42, &wait.gate);
        assert_eq!(wait.run(&rig).await, (Settled::CutShort, 42), "it waited for {what}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_cuts_the_second_fence_short() {
    let rig = Rig::new();
    {
        let mut state = rig.desktop.state();
        (state.acts_late, state.answered_fences) = (true, 1);
    }
    let wait = Wait::new();
    rig.cancel_at(500, &wait.gate);
    assert_eq!(wait.run(&rig).await, (Settled::CutShort, 500));
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_cancelled_before_it_begins_takes_no_time() {
    let rig = Rig::new();
    let wait = Wait::new();
    wait.gate.close();
    assert_eq!(wait.run(&rig).await, (Settled::CutShort, 0));
}

#[tokio::test(start_paused = true)]
async fn the_deadline_cuts_the_wait_short_whatever_it_waits_for() {
    type Prepare = fn(&Rig);
    let situations: [(&str, Prepare); 3] = [
        ("a first change", |_| {}),
        ("quiet", keep_changing),
        ("the fence", |rig| rig.desktop.state().answered_fences = 0),
    ];
    for (what, prepare) in situations {
        let rig = Rig::new();
        prepare(&rig);
        let wait = Wait { deadline: 60, ..Wait::new() };
        assert_eq!(wait.run(&rig).await, (Settled::CutShort, 60), "it waited for {what}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_app_that_does_not_answer_the_fence_is_unresponsive() {
    let rig = Rig::new();
    rig.desktop.state().answered_fences = 0;
    assert_eq!(Wait::new().run(&rig).await, (Settled::Unresponsive, 1_000));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_app_ends_the_wait() {
    let rig = Rig::new();
    rig.after(30, |desktop| desktop.end_app(NOTES));
    assert_eq!(Wait::new().run(&rig).await, (Settled::Ended, 30));
    let rig = Rig::new();
    rig.desktop.state().answered_fences = 0;
    rig.after(30, |desktop| desktop.end_app(NOTES));
    assert_eq!(Wait::new().run(&rig).await, (Settled::Ended, 30), "the fence is not waited for");
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_zero_skips_the_wait() {
    let rig = Rig::new();
    let wait = Wait { pace: Pace::new(None, Some(0)), ..Wait::new() };
    assert_eq!(wait.run(&rig).await, (Settled::Skipped, 0));
    assert_eq!(rig.desktop.state().fences, 0, "the app is not asked");
}

#[tokio::test(start_paused = true)]
async fn what_is_enough_ends_the_wait_at_once() {
    let rig = Rig::new();
    assert_eq!(Wait::new().run_until(&rig, || true, || true).await, (Settled::Quiet, 0));
    let rig = Rig::new();
    rig.after(10, change);
    rig.after(20, change);
    let start = Instant::now();
    let enough = || start.elapsed() >= Duration::from_millis(20);
    assert_eq!(Wait::new().run_until(&rig, enough, || true).await, (Settled::Quiet, 20));
}

#[tokio::test(start_paused = true)]
async fn a_busy_app_is_not_quiet_until_it_is_no_longer_busy() {
    let rig = Rig::new();
    let busy = Arc::new(AtomicBool::new(true));
    rig.after(10, change);
    let done = Arc::clone(&busy);
    rig.after(90, move |desktop| {
        done.store(false, Relaxed);
        change(desktop);
    });
    let waited = Wait::new().run_until(&rig, || false, || busy.load(Relaxed)).await;
    assert_eq!(waited, (Settled::Quiet, 115), "25 ms after the change that ended it");
}

#[tokio::test(start_paused = true)]
async fn an_app_that_stops_being_busy_without_a_change_is_checked_every_50_ms() {
    let rig = Rig::new();
    rig.after(10, change);
    let start = Instant::now();
    let is_busy = || start.elapsed() < Duration::from_millis(90);
    assert_eq!(Wait::new().run_until(&rig, || false, is_busy).await, (Settled::Quiet, 135));
}

#[tokio::test(start_paused = true)]
async fn an_app_that_stays_busy_is_waited_for_until_the_end() {
    let rig = Rig::new();
    rig.after(10, change);
    assert_eq!(Wait::new().run_until(&rig, || false, || true).await, (Settled::Busy, 1_000));
    let rig = Rig::new();
    assert_eq!(Wait::new().run_until(&rig, || false, || true).await, (Settled::NoChange, 1_000));
    let rig = Rig::new();
    let wait = Wait::new();
    rig.cancel_at(300, &wait.gate);
    assert_eq!(wait.run_until(&rig, || false, || true).await, (Settled::CutShort, 300));
}

#[tokio::test(start_paused = true)]
async fn the_element_is_read_again_during_the_wait_and_not_after_it() {
    let rig = Rig::new();
    let wait = Wait::new();
    let run = wait.run(&rig);
    tokio::pin!(run);
    assert!(timeout(Duration::from_millis(50), &mut run).await.is_err());
    assert_eq!(rig.desktop.state().watched.len(), 1);
    // That it is over afterwards is checked by `run` itself.
    assert_eq!(run.await, (Settled::NoChange, 150));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_wait_leaves_nothing_behind() {
    let rig = Rig::new();
    assert!(timeout(Duration::from_millis(50), Wait::new().run(&rig)).await.is_err());
    assert!(rig.desktop.state().watched.is_empty());
}
