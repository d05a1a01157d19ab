//! One attached app: its tree, its worker, and the state of both.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use axd_protocol::{AppInfo, AppState, Bounds, Error, ErrorCode, Tick};
use parking_lot::{Mutex, RwLock};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::action::ActionQueue;
use crate::apps::causes::Causes;
use crate::apps::tree_lock::TreeLock;
use crate::clock::{Ticker, random};
use crate::desktop::state::ago;
use crate::failure::{Subject, error_of};
use axd_platform::{
    Act, Cause, Counters, ElementKey, Failure, FailureKind, Gate, Reply, Responder, RunningApp, Sent,
    WorkerHandle, WorkerRequest,
};
use axd_tree::{Tree, ids};

/// An attached app, whose tree is kept in memory.
pub struct App {
    /// The number of this attachment, unique within this run of the daemon.
    pub slot: u32,
    /// The number of this instance among several running instances with the same identity.
    pub ordinal: u32,
    /// The tree.
    pub tree: TreeLock,
    /// The counters of its worker.
    pub counters: Arc<Counters>,
    /// When it was attached; its history begins there.
    pub attached: Tick,
    /// The number of subscriptions that follow it.
    pub followers: AtomicU32,
    /// The running action on it, and the actions that wait.
    pub(crate) queue: ActionQueue,
    /// What its changes followed.
    pub(crate) causes: Mutex<Causes>,
    /// The windows that its tree hides by their titles, as the desktop knows them.
    pub(crate) hidden_windows: Mutex<FxHashSet<u64>>,
    seen: RwLock<RunningApp>,
    worker: Mutex<Option<AttachedWorker>>,
    state: Mutex<Condition>,
    complete: watch::Sender<bool>,
    /// The reply to an action whose client stopped waiting for it.
    unfinished: Mutex<Option<Reply<()>>>,
    /// When it ended, if it did.
    ended: Mutex<Option<Instant>>,
    /// When a request last used it.
    used: Mutex<Instant>,
    geometry: Mutex<FxHashMap<ElementKey, Place>>,
    /// Whether the last change was found by reading again, rather than by an event.
    reread: AtomicBool,
    walks: Mutex<FxHashMap<ElementKey, (Instant, Duration)>>,
    /// What its process runs, as far as the policy on reading asked.
    pub(crate) programs: std::sync::OnceLock<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    state: AppState,
    degraded: Option<String>,
}

/// The bounds of an element when it was last measured.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Its bounds, if it had any.
    pub bounds: Option<Bounds>,
    /// Whether any part of it was visible.
    pub visible: bool,
    /// Whether its app is known to say the wrong place.
    pub misplaced: bool,
    /// When it was measured.
    pub at: Instant,
}

/// The first and the longest delay before a suspect element is walked again.
const FIRST_REWALK_DELAY: Duration = Duration::from_millis(100);
const MAX_REWALK_DELAY: Duration = Duration::from_secs(60);

/// An app as it appears in answers.
pub(crate) fn info(seen: &RunningApp, state: AppState) -> AppInfo {
    AppInfo {
        name: seen.name.clone(),
        pid: seen.pid,
        identity: seen.identity.clone(),
        state,
        modal: None,
        acting: Vec::new(),
    }
}

/// A worker, as long as it takes requests.
struct AttachedWorker {
    handle: WorkerHandle,
    /// Dropped when the worker is detached, so that callers who wait for a reply learn at once that none will come.
    alive: watch::Sender<()>,
}

/// A request that was sent to the worker.
struct PendingRequest<T> {
    reply: Reply<T>,
    alive: watch::Receiver<()>,
}

/// How the wait for a reply ended.
enum ReplyWait<T> {
    Replied(Result<T, Failure>),
    /// The deadline has passed; the reply may still arrive.
    Late(Reply<T>),
}

impl App {
    /// An app that is about to be attached.
    pub fn new(slot: u32, ordinal: u32, seen: RunningApp, clock: &Ticker) -> App {
        let tree = Tree::new(ids::app_path(&seen.identity, ordinal), random());
        App {
            slot,
            ordinal,
            tree: TreeLock::new(tree),
            counters: Arc::default(),
            attached: clock.now().tick,
            followers: AtomicU32::new(0),
            queue: ActionQueue::default(),
            causes: Mutex::default(),
            hidden_windows: Mutex::default(),
            seen: RwLock::new(seen),
            worker: Mutex::new(None),
            state: Mutex::new(Condition { state: AppState::Warming, degraded: None }),
            complete: watch::Sender::new(false),
            unfinished: Mutex::default(),
            ended: Mutex::default(),
            used: Mutex::new(Instant::now()),
            geometry: Mutex::default(),
            reread: AtomicBool::new(false),
            walks: Mutex::default(),
            programs: std::sync::OnceLock::new(),
        }
    }

    /// The app as the desktop reports it.
    pub fn seen(&self) -> RunningApp {
        self.seen.read().clone()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.seen.read().pid
    }

    /// The app as it appears in answers.
    pub fn info(&self) -> AppInfo {
        self.info_in(self.state())
    }

    fn info_in(&self, state: AppState) -> AppInfo {
        info(&self.seen.read(), state)
    }

    /// How far the tree can be trusted.
    pub fn state(&self) -> AppState {
        self.state.lock().state
    }

    /// Why it is degraded, if it is.
    pub fn degraded(&self) -> Option<String> {
        self.state.lock().degraded.clone()
    }

    /// Records that a request uses it.
    pub fn touch(&self) {
        *self.used.lock() = Instant::now();
    }

    /// How long no request has used it; zero while a subscription follows it.
    pub fn unused_for(&self) -> Duration {
        if self.followers.load(Relaxed) > 0 { Duration::ZERO } else { self.used.lock().elapsed() }
    }

    /// Whether the first walk is complete.
    pub fn is_complete(&self) -> bool {
        *self.complete.borrow()
    }

    /// Waits until the first walk is complete, or until the deadline. Returns whether it is complete.
    pub async fn completed(&self, deadline: Instant) -> bool {
        if self.is_complete() {
            return true;
        }
        let mut complete = self.complete.subscribe();
        matches!(timeout_at(deadline, complete.wait_for(|complete| *complete)).await, Ok(Ok(_)))
    }

    /// Connects a worker: for the first time, or after the app was restarted as another process.
    pub fn connect(&self, seen: RunningApp, handle: WorkerHandle) {
        *self.seen.write() = seen;
        *self.worker.lock() = Some(AttachedWorker { handle, alive: watch::Sender::new(()) });
        *self.ended.lock() = None;
        *self.state.lock() = Condition { state: AppState::Warming, degraded: None };
        self.complete.send_replace(false);
    }

    /// Disconnects its worker, because the app ended or is detached.
    pub fn disconnect(&self, state: AppState) {
        self.worker.lock().take();
        self.geometry.lock().clear();
        *self.ended.lock() = (state == AppState::Gone).then(Instant::now);
        *self.state.lock() = Condition { state, degraded: None };
        // Ends all waits for the first walk, which will not be completed any more.
        self.complete.send_replace(true);
    }

    /// Applies the state that the worker reports; `tell` is called if the state changed. That happens before any other state
    /// can be set and before anyone learns that the walk is complete, so states are reported correctly and in order.
    pub fn set_condition(
        &self,
        pid: u32,
        degraded: Option<String>,
        complete: bool,
        tell: impl FnOnce(AppInfo),
    ) {
        let state = match (&degraded, complete) {
            (Some(_), _) => AppState::Degraded,
            (None, true) => AppState::Live,
            (None, false) => AppState::Warming,
        };
        let condition = Condition { state, degraded };
        let mut now = self.state.lock();
        // The last messages of an ended app's worker must neither make the app look alive nor be attributed to its successor.
        if matches!(now.state, AppState::Gone | AppState::Detached) || self.pid() != pid {
            return;
        }
        if *now != condition {
            *now = condition;
            tell(self.info_in(now.state));
        }
        drop(now);
        self.complete.send_if_modified(|now| std::mem::replace(now, complete) != complete);
    }

    /// Records what caused the last change.
    pub fn observed(&self, cause: Cause) {
        self.reread.store(matches!(cause, Cause::Reread | Cause::Sweep), Relaxed);
    }

    /// Whether the last change was found by reading again.
    pub fn was_reread(&self) -> bool {
        self.reread.load(Relaxed)
    }

    /// Sends a request to the worker, and waits for its reply until the deadline.
    pub async fn ask<T: Send + Sync + 'static>(
        &self,
        deadline: Instant,
        request: impl FnOnce(Responder<T>) -> WorkerRequest,
    ) -> Result<T, Error> {
        self.ask_raw(deadline, request).await.map_err(|failure| self.failed(&failure))
    }

    /// Like `ask`, but returns a failure as the platform reported it.
    pub async fn ask_raw<T: Send + Sync + 'static>(
        &self,
        deadline: Instant,
        request: impl FnOnce(Responder<T>) -> WorkerRequest,
    ) -> Result<T, Failure> {
        match self.send(request)?.wait(deadline).await {
            ReplyWait::Replied(result) => result,
            ReplyWait::Late(_) => Err(late()),
        }
    }

    /// Performs an action on an element.
    pub async fn perform(
        &self,
        key: ElementKey,
        act: Act,
        gate: Gate,
        deadline: Instant,
    ) -> Result<(), Failure> {
        let guard = gate.clone();
        let asked = self.send(|reply| WorkerRequest::Perform { key, act, gate, reply })?;
        let (done, unanswered) = match asked.wait(deadline).await {
            ReplyWait::Replied(result) => (result, None),
            ReplyWait::Late(reply) => (Err(late()), Some(reply)),
        };
        done.map_err(|failure| match (failure.kind, failure.sent) {
            // Nobody waits any more, so the gate is closed: the action has been sent by now, or it never will be.
            (FailureKind::Unresponsive | FailureKind::Gone, Sent::No) if !guard.close() => {
                *self.unfinished.lock() = unanswered;
                failure.sent(Sent::Maybe)
            }
            _ => failure,
        })
    }

    /// Waits, for a short time, until an action is finished that its client stopped waiting for: some buttons swallow input
    /// while they are busy.
    pub async fn until_finished(&self, deadline: Instant) {
        const AT_MOST: Duration = Duration::from_secs(1);
        let unfinished = self.unfinished.lock().take();
        if let Some(unfinished) = unfinished {
            let _ = timeout_at(deadline.min(Instant::now() + AT_MOST), unfinished).await;
        }
    }

    /// Sends a request to the worker.
    fn send<T: Send + Sync + 'static>(
        &self,
        request: impl FnOnce(Responder<T>) -> WorkerRequest,
    ) -> Result<PendingRequest<T>, Failure> {
        let (responder, reply) = Responder::new();
        let worker = self.worker.lock();
        match worker.as_ref() {
            Some(AttachedWorker { handle, alive }) if handle.send(request(responder)) => {
                Ok(PendingRequest { reply, alive: alive.subscribe() })
            }
            _ => Err(ended()),
        }
    }

    /// Sends the worker a request without a reply.
    pub fn notify_worker(&self, request: WorkerRequest) {
        if let Some(worker) = &*self.worker.lock() {
            let _ = worker.handle.send(request);
        }
    }

    /// Requests a new walk of a suspect element; with increasing delays, if that does not help.
    pub fn rewalk(&self, key: ElementKey) {
        let mut walks = self.walks.lock();
        let now = Instant::now();
        walks.retain(|_, (last, pause)| now.duration_since(*last) < *pause * 2);
        let pause = match walks.get(&key) {
            Some((last, pause)) if now.duration_since(*last) < *pause => return,
            Some((_, pause)) => (*pause * 2).min(MAX_REWALK_DELAY),
            None => FIRST_REWALK_DELAY,
        };
        walks.insert(key, (now, pause));
        drop(walks);
        self.notify_worker(WorkerRequest::Walk { key, reply: Responder::ignored() });
    }

    /// Stores measurements of elements.
    pub fn remember_places(&self, places: impl IntoIterator<Item = (ElementKey, Place)>) {
        let mut geometry = self.geometry.lock();
        if geometry.len() > 4 * self.tree.read().len() + 1_000 {
            geometry.clear();
        }
        geometry.extend(places);
    }

    /// The last measurement of an element.
    pub fn place(&self, key: ElementKey) -> Option<Place> {
        self.geometry.lock().get(&key).copied()
    }

    pub(crate) fn failed(&self, failure: &Failure) -> Error {
        if matches!(self.state(), AppState::Gone | AppState::Detached) {
            return self.ended();
        }
        error_of(failure, Subject::Elements(&self.seen.read().name))
    }

    /// When it ended, if it did, as a text: "ended 0.3 s ago".
    pub fn how_ended(&self) -> Option<String> {
        self.ended.lock().map(|at| format!("ended {}", ago(at.elapsed())))
    }

    fn ended(&self) -> Error {
        let how = self.how_ended().unwrap_or_else(|| "ended".to_owned());
        Error::new(ErrorCode::ApplicationNotFound, format!("{} {how}", self.seen.read().name))
    }
}

impl<T> PendingRequest<T> {
    /// Waits for the reply until the deadline.
    async fn wait(mut self, deadline: Instant) -> ReplyWait<T> {
        tokio::select! {
            biased;
            reply = &mut self.reply => ReplyWait::Replied(reply.unwrap_or_else(|_| Err(ended()))),
            // This channel never carries a value: `changed` returns when the worker is detached.
            _ = self.alive.changed() => ReplyWait::Replied(Err(ended())),
            () = sleep_until(deadline) => ReplyWait::Late(self.reply),
        }
    }
}

fn ended() -> Failure {
    Failure::new(FailureKind::Gone, "the app ended")
}

fn late() -> Failure {
    Failure::new(FailureKind::Unresponsive, "timed out")
}
