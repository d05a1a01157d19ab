//! Waits until an app has settled: a fence, then quiet. No sleep decides anything here; the wait is for a change, or for the
//! absence of changes.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axd_protocol::command::Settled;
use axd_protocol::{AppState, Tick};
use tokio::time::Instant;

use crate::Engine;
use crate::apps::app::App;
use crate::change_wait::Next;
use axd_platform::{ElementKey, Failure, FailureKind, Gate, WorkerRequest};

/// How long nothing may change until the app counts as quiet, if the request does not say.
const DEFAULT_QUIET: Duration = Duration::from_millis(25);
/// The maximum wait, if the request does not say.
const DEFAULT_SETTLE_TIMEOUT: Duration = Duration::from_millis(1_000);
/// If the app has not changed within this time, no change is expected.
const NO_CHANGE_TIMEOUT: Duration = Duration::from_millis(150);
/// Like `NO_CHANGE_TIMEOUT`, for toolkits that are known to reply late.
const NO_CHANGE_TIMEOUT_LATE: Duration = Duration::from_millis(400);
/// How long to wait for one change while the app is busy.
const BUSY_RECHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The timing of a wait until the app settles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub quiet: Duration,
    pub at_most: Duration,
}

/// The limits of such a wait, and the element that is read again meanwhile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Within<'a> {
    pub pace: Pace,
    /// Read again during the wait, with or without events.
    pub watch: Option<ElementKey>,
    /// Ends the wait when it is closed.
    pub gate: &'a Gate,
    pub deadline: Instant,
}

impl Pace {
    pub fn new(quiet_ms: Option<u64>, settle_ms: Option<u64>) -> Pace {
        Pace {
            quiet: quiet_ms.map_or(DEFAULT_QUIET, Duration::from_millis),
            at_most: settle_ms.map_or(DEFAULT_SETTLE_TIMEOUT, Duration::from_millis),
        }
    }
}

impl Engine {
    /// Waits until the app has settled after `since`, or `enough` is true. It does not count as settled while `is_busy`.
    pub(crate) async fn settle(
        &self,
        app: &Arc<App>,
        since: Tick,
        within: Within<'_>,
        enough: impl Fn() -> bool,
        is_busy: impl Fn() -> bool,
    ) -> Settled {
        let Within { pace, watch, gate, deadline } = within;
        if pace.at_most.is_zero() {
            return Settled::Skipped;
        }
        let _watch = watch.map(|key| Watch::new(self, app, key));
        let start = Instant::now();
        let end = deadline.min(start + pace.at_most);
        let is_late = self.platform.acts_late(app.pid());
        let no_change = start + if is_late { NO_CHANGE_TIMEOUT_LATE } else { NO_CHANGE_TIMEOUT };
        let mut wait = self.change_wait(end, gate);
        match fence(app, end, gate).await {
            None => return Settled::CutShort,
            Some(Ok(())) => {}
            Some(Err(failure)) => {
                return match failure.kind {
                    FailureKind::Gone => Settled::Ended,
                    _ if Instant::now() >= deadline => Settled::CutShort,
                    _ => Settled::Unresponsive,
                };
            }
        }
        let mut seen = app.tree.read().tick();
        let mut last = Instant::now();
        let mut fenced = !is_late;
        loop {
            if enough() {
                return Settled::Quiet;
            }
            if matches!(app.state(), AppState::Gone | AppState::Detached) {
                return Settled::Ended;
            }
            let tick = app.tree.read().tick();
            if tick != seen {
                (seen, last) = (tick, Instant::now());
            }
            let changed = seen > since;
            let rest = if changed { last + pace.quiet } else { no_change };
            let now = Instant::now();
            if now >= end {
                return match (now >= deadline && end == deadline, changed) {
                    (true, _) => Settled::CutShort,
                    (false, true) => Settled::Busy,
                    (false, false) => Settled::NoChange,
                };
            }
            if now >= rest && is_busy() {
                // Checked again when something changes; if nothing does, the wait lasts until its end.
                if wait.next_within(BUSY_RECHECK_INTERVAL).await == Next::Cancelled {
                    return Settled::CutShort;
                }
                continue;
            }
            if now >= rest {
                if !fenced {
                    // A fence makes the worker read what such a toolkit does not announce; a late effect is read by this one.
                    fenced = true;
                    if fence(app, end, gate).await.is_none() {
                        return Settled::CutShort;
                    }
                    continue;
                }
                return if changed { Settled::Quiet } else { Settled::NoChange };
            }
            if wait.next_until(rest).await == Next::Cancelled {
                return Settled::CutShort;
            }
        }
    }
}

/// Waits until all that the app has announced is applied; `None` if the gate is closed first.
pub(crate) async fn fence(app: &App, end: Instant, gate: &Gate) -> Option<Result<(), Failure>> {
    tokio::select! {
        biased;
        () = gate.closed() => None,
        fence = app.ask_raw(end, |reply| WorkerRequest::Fence { reply }) => Some(fence),
    }
}

/// An interest: an element is read again regularly until this is dropped.
pub(crate) struct Watch {
    app: Arc<App>,
    interest: u64,
}

impl Watch {
    pub fn new(engine: &Engine, app: &Arc<App>, key: ElementKey) -> Watch {
        let interest = engine.next_interest.fetch_add(1, Relaxed);
        app.notify_worker(WorkerRequest::Watch { interest, keys: vec![key] });
        Watch { app: Arc::clone(app), interest }
    }

    /// An interest in a whole app.
    pub fn whole(engine: &Engine, app: &Arc<App>) -> Watch {
        Watch::new(engine, app, ElementKey::APP)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.app.notify_worker(WorkerRequest::Unwatch { interest: self.interest });
    }
}
