//! Waiting until an app has come to rest: a fence, then quiet. No sleep decides anything here; what is waited for is
//! a change, or that there is none.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axd_protocol::command::Settled;
use axd_protocol::{AppState, Tick};
use tokio::time::{Instant, timeout_at};

use crate::Engine;
use crate::apps::app::App;
use axd_platform::{ElementKey, FailureKind, Gate, WorkerRequest};

/// How long nothing may change for the app to be at rest, if nobody says.
const DEFAULT_QUIET: Duration = Duration::from_millis(25);
/// How long to wait at most, if nobody says.
const DEFAULT_SETTLE_TIMEOUT: Duration = Duration::from_millis(1_000);
/// An app that has not changed by then does not.
const NO_CHANGE_TIMEOUT: Duration = Duration::from_millis(150);
/// The same for toolkits that are known to answer late.
const NO_CHANGE_TIMEOUT_LATE: Duration = Duration::from_millis(400);
/// How long to wait at a time for a change of what is not at rest by itself.
const BUSY_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How to wait for rest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub quiet: Duration,
    pub at_most: Duration,
}

/// What bounds a wait for rest, and what is read again meanwhile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Within<'a> {
    pub pace: Pace,
    /// Read again meanwhile, announced or not.
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
    /// Waits until the app has come to rest after `since`, or `enough` is true. It is not at rest while `is_busy`.
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
        let mut updates = self.changed.subscribe();
        tokio::select! {
            biased;
            () = gate.closed() => return Settled::CutShort,
            fence = app.ask_raw(end, |reply| WorkerRequest::Fence { reply }) => if let Err(failure) = fence {
                return match failure.kind {
                    FailureKind::Gone => Settled::Ended,
                    _ if Instant::now() >= deadline => Settled::CutShort,
                    _ => Settled::Unresponsive,
                };
            },
        }
        let mut seen = app.tree.read().tick();
        let mut last = Instant::now();
        let mut fenced = !is_late;
        loop {
            updates.mark_unchanged();
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
                // Looked at again when it changes; what never does is waited for to the end.
                let _ = timeout_at(end.min(now + BUSY_POLL_INTERVAL), updates.changed()).await;
                continue;
            }
            if now >= rest {
                if !fenced {
                    // What such a toolkit does not announce is read by a fence; what it did late is in by this one.
                    fenced = true;
                    let _ = app.ask_raw(end, |reply| WorkerRequest::Fence { reply }).await;
                    continue;
                }
                return if changed { Settled::Quiet } else { Settled::NoChange };
            }
            tokio::select! {
                biased;
                () = gate.closed() => return Settled::CutShort,
                // Whether something changed or the time is over, the loop looks.
                _ = timeout_at(rest.min(end), updates.changed()) => {}
            }
        }
    }
}

/// Has an element read again while somebody waits for it to change; until it is dropped.
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

    /// Has a whole app read again.
    pub fn whole(engine: &Engine, app: &Arc<App>) -> Watch {
        Watch::new(engine, app, ElementKey::APP)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.app.notify_worker(WorkerRequest::Unwatch { interest: self.interest });
    }
}
