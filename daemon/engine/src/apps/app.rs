//! One attached app: its tree, its worker, and what is known of both.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use axd_protocol::{AppInfo, AppState, Bounds, Error, ErrorCode, Tick};
use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::action::ActionQueue;
use crate::clock::{Ticker, random};
use crate::desktop::error::permission_error;
use crate::desktop::state::ago;
use axd_platform::{
    Act, Cause, Counters, ElementKey, Failure, FailureKind, Gate, Reply, Responder, RunningApp, Sent,
    WorkerHandle, WorkerRequest,
};
use axd_tree::{Tree, ids};

/// An app whose tree is held.
pub struct App {
    /// Names this attachment, among all of this run of the daemon.
    pub slot: u32,
    /// Which of several running instances of the same identity it is.
    pub ordinal: u32,
    /// The tree.
    pub tree: RwLock<Tree>,
    /// What its worker counts.
    pub counters: Arc<Counters>,
    /// When it was attached: before that there is no history.
    pub attached: Tick,
    /// How many subscriptions follow it.
    pub followers: AtomicU32,
    /// Who acts on it, and who waits to.
    pub(crate) queue: ActionQueue,
    seen: RwLock<RunningApp>,
    worker: Mutex<Option<AttachedWorker>>,
    state: Mutex<Condition>,
    complete: watch::Sender<bool>,
    /// Where it will be told that an act is over whose client did not wait for it.
    unfinished: Mutex<Option<Reply<()>>>,
    /// When it ended, if it did.
    ended: Mutex<Option<Instant>>,
    /// When it was last asked about.
    used: Mutex<Instant>,
    geometry: Mutex<FxHashMap<ElementKey, Place>>,
    /// Whether the last change was announced by the app or found by reading again.
    reread: AtomicBool,
    walks: Mutex<FxHashMap<ElementKey, (Instant, Duration)>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    state: AppState,
    degraded: Option<String>,
}

/// Where an element was when it was last measured.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Where.
    pub bounds: Option<Bounds>,
    /// Whether any of it could be seen.
    pub visible: bool,
    /// When.
    pub at: Instant,
}

/// How long a suspect element is left alone before it is walked again, at first and at most.
const FIRST_REWALK_DELAY: Duration = Duration::from_millis(100);
const MAX_REWALK_DELAY: Duration = Duration::from_secs(60);

/// An app as answers name it.
pub(crate) fn info(seen: &RunningApp, state: AppState) -> AppInfo {
    AppInfo { name: seen.name.clone(), pid: seen.pid, identity: seen.identity.clone(), state, modal: None }
}

/// A worker, for as long as it is asked things.
struct AttachedWorker {
    handle: WorkerHandle,
    /// Dropped when the worker is let go: whoever waits for a reply learns at once that none will come.
    alive: watch::Sender<()>,
}

/// A request that the worker was sent.
struct PendingRequest<T> {
    reply: Reply<T>,
    alive: watch::Receiver<()>,
}

/// How waiting for a reply ended.
enum ReplyWait<T> {
    Replied(Result<T, Failure>),
    /// The deadline has passed; the reply may come yet.
    Late(Reply<T>),
}

impl App {
    /// An app that is about to be attached.
    pub fn new(slot: u32, ordinal: u32, seen: RunningApp, clock: &Ticker) -> App {
        let tree = Tree::new(ids::app_path(&seen.identity, ordinal), random());
        App {
            slot,
            ordinal,
            tree: RwLock::new(tree),
            counters: Arc::default(),
            attached: clock.now().tick,
            followers: AtomicU32::new(0),
            queue: ActionQueue::default(),
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
        }
    }

    /// The app as the desktop sees it.
    pub fn seen(&self) -> RunningApp {
        self.seen.read().clone()
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.seen.read().pid
    }

    /// The app as answers name it.
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

    /// Notes that somebody asked about it.
    pub fn touch(&self) {
        *self.used.lock() = Instant::now();
    }

    /// How long nobody has asked about it or followed it.
    pub fn unused_for(&self) -> Duration {
        if self.followers.load(Relaxed) > 0 { Duration::ZERO } else { self.used.lock().elapsed() }
    }

    /// Whether all of it has been read.
    pub fn is_complete(&self) -> bool {
        *self.complete.borrow()
    }

    /// Waits until all of it has been read, or the deadline; says whether it has.
    pub async fn completed(&self, deadline: Instant) -> bool {
        if self.is_complete() {
            return true;
        }
        let mut complete = self.complete.subscribe();
        matches!(timeout_at(deadline, complete.wait_for(|complete| *complete)).await, Ok(Ok(_)))
    }

    /// Gives it a worker: for the first time, or after it came back under another process.
    pub fn connect(&self, seen: RunningApp, handle: WorkerHandle) {
        *self.seen.write() = seen;
        *self.worker.lock() = Some(AttachedWorker { handle, alive: watch::Sender::new(()) });
        *self.ended.lock() = None;
        *self.state.lock() = Condition { state: AppState::Warming, degraded: None };
        self.complete.send_replace(false);
    }

    /// Takes its worker away: it ended, or is let go.
    pub fn disconnect(&self, state: AppState) {
        self.worker.lock().take();
        self.geometry.lock().clear();
        *self.ended.lock() = (state == AppState::Gone).then(Instant::now);
        *self.state.lock() = Condition { state, degraded: None };
        // Whoever waits for its first walk has nothing left to wait for.
        self.complete.send_replace(true);
    }

    /// Takes over what the worker says of itself; `tell` is called if the state is another now. That happens before anybody
    /// can set another state or learn that the walk is over: what is told is what it is, and in that order.
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
        // The last words of an ended app's worker are not to make it look alive, nor to be taken for its successor's.
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

    /// Notes how the last change came to be known.
    pub fn observed(&self, cause: Cause) {
        self.reread.store(matches!(cause, Cause::Reread | Cause::Sweep), Relaxed);
    }

    /// Whether the last change was found by reading again.
    pub fn was_reread(&self) -> bool {
        self.reread.load(Relaxed)
    }

    /// Asks the worker, and waits for its reply until the deadline.
    pub async fn ask<T: Send + Sync + 'static>(
        &self,
        deadline: Instant,
        request: impl FnOnce(Responder<T>) -> WorkerRequest,
    ) -> Result<T, Error> {
        self.ask_raw(deadline, request).await.map_err(|failure| self.failed(&failure))
    }

    /// Asks the worker; what fails is told as the platform told it.
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

    /// Has something done to an element.
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
            // Nobody waits any more: either it has been sent by now, or it never will be.
            (FailureKind::Unresponsive | FailureKind::Gone, Sent::No) if !guard.close() => {
                *self.unfinished.lock() = unanswered;
                failure.sent(Sent::Maybe)
            }
            _ => failure,
        })
    }

    /// Waits until an act is over that nobody waits for any more, and not for long: some buttons swallow what comes while they
    /// are at it.
    pub async fn until_finished(&self, deadline: Instant) {
        const AT_MOST: Duration = Duration::from_secs(1);
        let unfinished = self.unfinished.lock().take();
        if let Some(unfinished) = unfinished {
            let _ = timeout_at(deadline.min(Instant::now() + AT_MOST), unfinished).await;
        }
    }

    /// Sends the worker a request.
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

    /// Tells the worker something that has no answer.
    pub fn notify_worker(&self, request: WorkerRequest) {
        if let Some(worker) = &*self.worker.lock() {
            let _ = worker.handle.send(request);
        }
    }

    /// Asks for a suspect element to be walked again; less and less often, if that does not help.
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

    /// Remembers where elements are.
    pub fn remember_places(&self, places: impl IntoIterator<Item = (ElementKey, Place)>) {
        let mut geometry = self.geometry.lock();
        if geometry.len() > 4 * self.tree.read().len() + 1_000 {
            geometry.clear();
        }
        geometry.extend(places);
    }

    /// Where an element was when it was last measured.
    pub fn place(&self, key: ElementKey) -> Option<Place> {
        self.geometry.lock().get(&key).copied()
    }

    pub(crate) fn failed(&self, failure: &Failure) -> Error {
        if matches!(self.state(), AppState::Gone | AppState::Detached) {
            return self.ended();
        }
        let name = &self.seen.read().name;
        match failure.kind {
            FailureKind::Gone => {
                Error::new(ErrorCode::StaleRef, format!("the element is gone from {name}: {failure}"))
            }
            FailureKind::Unresponsive => self.unresponsive(&failure.native),
            FailureKind::NotSupported => Error::new(ErrorCode::PlatformNotSupported, failure.native.clone()),
            FailureKind::Refused => Error::new(ErrorCode::ActionFailed, format!("{name} refused: {failure}")),
            FailureKind::Invalid => Error::new(ErrorCode::InvalidArgs, failure.native.clone()),
            FailureKind::Closed => Error::new(ErrorCode::Cancelled, failure.native.clone()),
            FailureKind::NotAllowed => permission_error(failure.native.clone()),
            FailureKind::Elsewhere => Error::new(ErrorCode::NotActionable, failure.native.clone()),
        }
    }

    fn unresponsive(&self, how: &str) -> Error {
        let name = &self.seen.read().name;
        Error::new(ErrorCode::AppUnresponsive, format!("{name}: {how}")).suggest(format!(
            "wait until it answers with `ax wait --idle --app '{name}'`, or kill it with `ax close-app '{name}' --force`; reads without --sync, --verify, --bounds and --visible still work"
        ))
    }

    /// When it ended, if it did: "ended 0.3 s ago".
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
            // It never changes: this returns when the worker is let go.
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
