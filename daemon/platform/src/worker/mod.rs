//! The worker of an attached app. It walks the app once, then reads again the elements that events marked dirty, the elements
//! that somebody waits on and, a few at a time, all others.
//!
//! It is one loop that does one thing at a time. Its output waits in its state. While the output cannot be sent, the worker
//! goes on draining events, which are a set of dirty elements and stay small, and reads nothing. So a slow consumer costs no
//! memory, and an app that hangs blocks nobody but its own worker.
//!
//! The worker knows nothing native: a `backend` is its only access to the app, and a `strategy` is what it does only for some
//! apps. `state` (with `fences` and `flood`) is what it keeps, `walk` is the first walk, `reading` is everything after it, with
//! the replies to requests. `threaded` is a backend for apps whose elements live in a thread of their own and are reached
//! through an `app_handle`; `action` is how that backend acts, and a `pulse` how it tells a slow app from a silent one.

mod action;
mod app_handle;
mod backend;
mod fences;
mod flood;
mod pulse;
mod reading;
mod state;
mod strategy;
#[cfg(test)]
mod tests;
mod threaded;
#[cfg(test)]
mod threaded_tests;
mod walk;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TryRecvError;
use tracing::{debug, info, warn};

use state::{Health, Walk};
use threaded::ThreadedApp;

pub use app_handle::{AppHandle, AppNotification, AppRequest, ReplySender};
pub use backend::{AppBackend, Steps};
pub use pulse::Pulse;
pub use state::WorkerState;
pub use strategy::{Progress, ReadStrategy, StepResult, Turn};

use crate::{Counters, Failure, FailureKind, WorkerEvent, WorkerRequest};

/// How long an app may answer nothing before it counts as unresponsive.
pub const APP_REPLY_TIMEOUT: Duration = Duration::from_millis(800);

/// Starts the worker of an app that is reached through a handle. Without a handle it only reports that the app has ended.
pub fn spawn<L: AppHandle>(
    handle: Option<L>,
    requests: mpsc::UnboundedReceiver<WorkerRequest>,
    out: mpsc::Sender<WorkerEvent>,
    counters: Arc<Counters>,
) {
    tokio::spawn(run_worker(ThreadedApp::new(handle), requests, out, counters));
}

/// Runs the worker of an app until its handle is dropped.
pub async fn run_worker<A: AppBackend>(
    app: A,
    requests: mpsc::UnboundedReceiver<WorkerRequest>,
    out: mpsc::Sender<WorkerEvent>,
    counters: Arc<Counters>,
) {
    let state = WorkerState::new(counters, A::ENDED);
    let mut worker = Worker {
        app,
        strategies: A::Strategies::default(),
        state,
        requests,
        out,
        pending: VecDeque::new(),
        last_task: Task::Routine,
    };
    worker.run().await;
    worker.app.detach().await;
    debug!("the worker ends");
}

struct Worker<A: AppBackend> {
    app: A,
    strategies: A::Strategies,
    state: WorkerState,
    requests: mpsc::UnboundedReceiver<WorkerRequest>,
    out: mpsc::Sender<WorkerEvent>,
    /// Requests without a reply yet.
    pending: VecDeque<WorkerRequest>,
    last_task: Task,
}

/// The kinds of work of a worker.
#[derive(Debug, Clone, Copy)]
enum Task {
    /// Reading dirty elements.
    Dirty,
    /// Replying to requests.
    Requests,
    /// The first walk.
    Walk,
    /// Interests and the sweep.
    Routine,
}

impl Task {
    /// All tasks, in turn, beginning with the one after `last`.
    fn from(last: Task) -> impl Iterator<Item = Task> {
        let all = [Task::Dirty, Task::Requests, Task::Walk, Task::Routine];
        all.into_iter().cycle().skip(last as usize + 1).take(all.len())
    }
}

/// The time of the runtime's clock, which tests can pause.
pub fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// The failure for an app that let a call time out.
pub fn unresponsive() -> Failure {
    let text = format!("the app has not answered for {} ms", APP_REPLY_TIMEOUT.as_millis());
    Failure::new(FailureKind::Unresponsive, text)
}

impl<A: AppBackend> Worker<A> {
    async fn run(&mut self) {
        let out = self.out.clone();
        loop {
            if !self.take_in() {
                return;
            }
            if self.state.has_outgoing() {
                tokio::select! {
                    biased;
                    permit = out.reserve() => match (permit, self.state.next_outgoing()) {
                        (Ok(permit), Some(message)) => permit.send(message),
                        _ => return,
                    },
                    () = self.app.wait_for_event() => {}
                    request = self.requests.recv() => match request {
                        Some(request) => self.pending.push_back(request),
                        None => return,
                    },
                }
                continue;
            }
            if self.work().await {
                continue;
            }
            if !self.wait().await {
                return;
            }
        }
    }

    /// Takes, without waiting, the events and requests that have arrived. False once no request can arrive any more.
    fn take_in(&mut self) -> bool {
        self.app.drain_events(&mut self.strategies, &mut self.state);
        loop {
            match self.requests.try_recv() {
                Ok(request) => self.pending.push_back(request),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
    }

    /// Waits until there is something to do. False once the output is closed or no request can arrive any more.
    async fn wait(&mut self) -> bool {
        let can_read = self.state.is_well() && self.state.is_complete();
        let routine = can_read.then(|| self.state.schedule.next_due());
        let strategies = if can_read { self.strategies.next_due(&self.app) } else { None };
        let throttled = if self.state.is_well() { self.throttled_until() } else { None };
        let fence = self.state.fences.deadline();
        let due = [fence, routine, strategies, throttled].into_iter().flatten().min();
        let health = &mut self.state.health;
        let probe = async {
            match health {
                Health::Unresponsive(reply) => reply.await.is_ok(),
                Health::Well | Health::Ended => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            request = self.requests.recv() => match request {
                Some(request) => self.pending.push_back(request),
                None => return false,
            },
            () = self.app.wait_for_event() => {}
            replied = probe => self.on_probe_result(replied),
            () = tokio::time::sleep_until(due.unwrap_or_else(now).into()), if due.is_some() => {}
            () = self.out.closed() => return false,
        }
        true
    }

    /// Does the next piece of work. False if there is none.
    async fn work(&mut self) -> bool {
        if self.finish_fences() || self.take_quick_request() {
            return true;
        }
        if !self.state.is_well() {
            return false;
        }
        // The tasks take turns, so that an app that never comes to rest delays neither the walk nor requests.
        for task in Task::from(self.last_task) {
            let worked = match task {
                _ if matches!(self.state.walk, Walk::Registering) => self.register().await,
                Task::Dirty => self.process_dirty().await,
                Task::Requests => self.answer_next().await,
                Task::Walk => self.step_walk().await,
                Task::Routine => self.read_routinely().await,
            };
            match worked {
                Ok(true) => {}
                Ok(false) => continue,
                Err(failure) => self.fail(&failure),
            }
            self.last_task = task;
            return true;
        }
        false
    }

    /// Replies to fences that are reached or timed out. True if there were any.
    fn finish_fences(&mut self) -> bool {
        let (app, state, strategies) = (&self.app, &mut self.state, &mut self.strategies);
        let mut fences = std::mem::take(&mut state.fences);
        fences.flush(|prerequisite| {
            let is_flushed = strategies.flush(app, state, prerequisite);
            let is_placed = state.unplaced.is_empty() || !state.is_complete();
            (is_flushed && is_placed).then(|| state.schedule.stamp())
        });
        fences.extend(app.last_answer());
        let settled = fences.settle(&state.schedule, state.is_well(), now());
        state.fences = fences;
        let failure = self.state.failure();
        if A::FENCE_TIMEOUT_MEANS_UNRESPONSIVE && settled.iter().any(|fence| !fence.reached) {
            self.fail(&failure);
        }
        let any = !settled.is_empty();
        for fence in settled {
            let result = if fence.reached { Ok(()) } else { Err(failure.clone()) };
            self.state.reply(fence.reply, result);
        }
        any
    }

    /// Handles the next request if it needs no reading, or if the app cannot be read now.
    fn take_quick_request(&mut self) -> bool {
        use WorkerRequest as To;
        let well = self.state.is_well();
        let is_quick = |request: &WorkerRequest| {
            !well || matches!(request, To::Watch { .. } | To::Unwatch { .. } | To::Fence { .. })
        };
        let Some(at) = self.pending.iter().position(is_quick) else { return false };
        let Some(request) = self.pending.remove(at) else { return false };
        match request {
            To::Watch { interest, keys } => self.state.schedule.watch(interest, keys, now()),
            To::Unwatch { interest } => self.state.schedule.unwatch(interest),
            To::Fence { reply } if well => {
                self.state.count_call();
                let mark = self.state.fences.raise(reply, now());
                self.app.send_fence(mark);
            }
            request => {
                let failed = request.fail(self.state.failure());
                failed.into_iter().for_each(|reply| self.state.send_reply(reply));
            }
        }
        true
    }

    /// Handles a failed call to the app. If it timed out, the app gets no more calls until it replies to a probe, which may
    /// take any time.
    fn fail(&mut self, failure: &Failure) {
        if !self.state.is_well() {
            return;
        }
        if failure.kind == FailureKind::Unresponsive {
            self.state.count_call();
            let Some(probe) = self.app.probe() else { return self.state.set_ended() };
            warn!(%failure, "the app is unresponsive");
            self.state.health = Health::Unresponsive(probe);
            self.state.queue_state();
        } else if self.app.is_lost(failure) {
            warn!(%failure, "the app is lost");
            self.state.set_ended();
        } else {
            debug!(%failure, "reading the app failed");
        }
    }

    /// Called when an unresponsive app has replied to the probe, or has ended.
    fn on_probe_result(&mut self, replied: bool) {
        info!(replied, "the probe of the unresponsive app has returned");
        if !replied {
            return self.state.set_ended();
        }
        self.state.health = Health::Well;
        self.state.queue_state();
    }
}
