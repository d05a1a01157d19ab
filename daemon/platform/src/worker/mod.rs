//! The worker of an attached app: walks it once, then reads again what events hint at, what somebody waits on and,
//! a little at a time, everything.
//!
//! One loop, one thing at a time. What it has to tell waits in its state; while that cannot be sent it goes on
//! taking in hints, which are a set and stay small, and reads nothing. So a slow listener costs no memory, and an app that
//! hangs holds up nobody but its own worker.
//!
//! It knows nothing native: `app` is all it has of the app. `state` (with `fences` and `flood`) is what it keeps, `walk` how it begins,
//! `reading` how it goes on and how it answers. `lined` is an app that is reached over a `line`, as all are that keep
//! their elements in a thread of their own; `acting` is how that one acts.

mod action;
mod app_handle;
mod backend;
mod fences;
mod flood;
mod reading;
mod state;
#[cfg(test)]
mod tests;
mod threaded;
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
pub use state::WorkerState;

use crate::{Counters, Failure, FailureKind, WorkerEvent, WorkerRequest};

/// How long an app may be silent while it owes an answer.
pub const APP_REPLY_TIMEOUT: Duration = Duration::from_millis(800);

/// Starts the worker of an app that is reached over a line; without one it only says that the app has ended.
pub fn spawn<L: AppHandle>(
    line: Option<L>,
    requests: mpsc::UnboundedReceiver<WorkerRequest>,
    out: mpsc::Sender<WorkerEvent>,
    counters: Arc<Counters>,
) {
    tokio::spawn(run_worker(ThreadedApp::new(line), requests, out, counters));
}

/// Is the worker of an app, until its mailbox is dropped.
pub async fn run_worker<A: AppBackend>(
    app: A,
    requests: mpsc::UnboundedReceiver<WorkerRequest>,
    out: mpsc::Sender<WorkerEvent>,
    counters: Arc<Counters>,
) {
    let state = WorkerState::new(counters, A::ENDED);
    let mut worker = Worker { app, state, requests, out, pending: VecDeque::new(), last_task: Task::Routine };
    worker.run().await;
    worker.app.detach().await;
    debug!("the worker ends");
}

struct Worker<A> {
    app: A,
    state: WorkerState,
    requests: mpsc::UnboundedReceiver<WorkerRequest>,
    out: mpsc::Sender<WorkerEvent>,
    /// Requests that are not answered yet.
    pending: VecDeque<WorkerRequest>,
    last_task: Task,
}

/// What a worker does all day.
#[derive(Debug, Clone, Copy)]
enum Task {
    /// Reading what events hint at.
    Hints,
    /// Answering.
    Requests,
    /// The first walk.
    Walk,
    /// Interests and the sweep.
    Routine,
}

impl Task {
    /// All of them, those that come after `last` first.
    fn from(last: Task) -> impl Iterator<Item = Task> {
        let all = [Task::Hints, Task::Requests, Task::Walk, Task::Routine];
        all.into_iter().cycle().skip(last as usize + 1).take(all.len())
    }
}

/// The runtime's clock, which tests can stop.
pub fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// The app let a call time out.
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

    /// Takes in, without waiting, what has come. False once nobody can ask any more.
    fn take_in(&mut self) -> bool {
        self.app.drain_events(&mut self.state);
        loop {
            match self.requests.try_recv() {
                Ok(request) => self.pending.push_back(request),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
    }

    /// Waits until there is something to do. False once nobody listens or asks any more.
    async fn wait(&mut self) -> bool {
        let reads = self.state.is_well() && self.state.is_complete();
        let routine = reads.then(|| self.state.schedule.next_due());
        let more = if reads { self.app.next_due() } else { None };
        let held_up = if self.state.is_well() { self.throttled_until() } else { None };
        let fence = self.state.fences.deadline();
        let due = [fence, routine, more, held_up].into_iter().flatten().min();
        let health = &mut self.state.health;
        let back = async {
            match health {
                Health::Silent(probe) => probe.await.is_ok(),
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
            answers = back => self.is_back(answers),
            () = tokio::time::sleep_until(due.unwrap_or_else(now).into()), if due.is_some() => {}
            () = self.out.closed() => return false,
        }
        true
    }

    /// Does the next thing there is to do. False if there is none.
    async fn work(&mut self) -> bool {
        if self.finish_fences() || self.take_quick_request() {
            return true;
        }
        if !self.state.is_well() {
            return false;
        }
        // They take turns: an app that never rests holds up neither the walk nor who asks something.
        for duty in Task::from(self.last_task) {
            let worked = match duty {
                _ if matches!(self.state.walk, Walk::Registering) => self.register().await,
                Task::Hints => self.process_dirty().await,
                Task::Requests => self.answer_next().await,
                Task::Walk => self.step_walk().await,
                Task::Routine => self.read_routinely().await,
            };
            match worked {
                Ok(true) => {}
                Ok(false) => continue,
                Err(failure) => self.fail(&failure),
            }
            self.last_task = duty;
            return true;
        }
        false
    }

    /// Answers fences that are reached, or will not be. True if there were any.
    fn finish_fences(&mut self) -> bool {
        if self.state.fences.any_passed() {
            self.app.flush_events(&mut self.state);
        }
        let (well, complete) = (self.state.is_well(), self.state.is_complete());
        let (app, WorkerState { fences, schedule, unplaced: strangers, .. }) =
            (&mut self.app, &mut self.state);
        let settled = fences.settle(schedule, well, now(), |errand| {
            let clear = app.is_flushed(complete, errand);
            clear && (strangers.is_empty() || !complete)
        });
        let failure = self.state.failure();
        if A::SILENT_BY_FENCE && settled.iter().any(|fence| !fence.reached) {
            self.fail(&failure);
        }
        let any = !settled.is_empty();
        for fence in settled {
            let result = if fence.reached { Ok(()) } else { Err(failure.clone()) };
            self.state.reply(fence.reply, result);
        }
        any
    }

    /// Handles the next request if that takes no reading, or if reading is no use now.
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

    /// Something could not be had of the app. If it timed out nothing is asked of it until it answers a
    /// probe, which may take as long as it likes.
    fn fail(&mut self, failure: &Failure) {
        if !self.state.is_well() {
            return;
        }
        if failure.kind == FailureKind::Unresponsive {
            self.state.count_call();
            let Some(probe) = self.app.probe() else { return self.state.set_ended() };
            warn!(%failure, "the app is silent");
            self.state.health = Health::Silent(probe);
            self.state.queue_state();
        } else if self.app.is_lost(failure) {
            warn!(%failure, "the app is lost");
            self.state.set_ended();
        } else {
            debug!(%failure, "reading the app failed");
        }
    }

    /// A silent app has answered, or it has ended.
    fn is_back(&mut self, answers: bool) {
        info!(answers, "the app that was silent");
        if !answers {
            return self.state.set_ended();
        }
        self.state.health = Health::Well;
        self.state.queue_state();
    }
}
