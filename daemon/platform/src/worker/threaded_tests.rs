//! An app behind a handle that is slow, answers in part, or is silent.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use axd_protocol::Role;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

use super::{AppHandle, AppNotification, AppRequest, Pulse, spawn};
use crate::mirror::Reading;
use crate::{
    Act, Counters, ElementKey, Facts, Failure, FailureKind, Gate, Responder, Update, WorkerEvent,
    WorkerRequest,
};

const PATIENCE: Duration = Duration::from_secs(600);

/// An app with one window and a number of elements in it, which answers one request after the other.
#[derive(Clone)]
struct SlowApp {
    requests: mpsc::UnboundedSender<AppRequest>,
    pulse: Arc<Pulse>,
    late: Arc<AtomicBool>,
    sweeps: Arc<AtomicBool>,
    state: Arc<Mutex<AppState>>,
}

#[derive(Default)]
struct AppState {
    children: BTreeMap<u64, Vec<ElementKey>>,
    /// What one element costs.
    cost: Duration,
    /// How many elements are answered at most in one reply.
    most: usize,
    /// Whether it answers a call for each element, or none before all are read.
    beats: bool,
    /// The elements that were read, with acts as `None`.
    log: Vec<Option<u64>>,
    observer: Option<mpsc::UnboundedSender<AppNotification>>,
}

impl AppHandle for SlowApp {
    const MAX_BATCH: usize = 32;
    const MAX_STEP: usize = 256;
    const MAX_WATCHED: Option<usize> = Some(128);
    const STEP_BUDGET: Option<Duration> = Some(Duration::from_millis(400));

    fn ask(&self, request: AppRequest) -> bool {
        self.requests.send(request).is_ok()
    }

    async fn ended(&self) {
        self.requests.closed().await;
    }

    fn late(&self) -> &Arc<AtomicBool> {
        &self.late
    }

    fn pulse(&self) -> Option<&Arc<Pulse>> {
        Some(&self.pulse)
    }

    fn may_sweep(&self) -> bool {
        self.sweeps.load(Relaxed)
    }
}

impl SlowApp {
    fn start(count: u64, cost: Duration, most: usize, beats: bool) -> SlowApp {
        let (requests, inbox) = mpsc::unbounded_channel();
        let all = (2..2 + count).map(ElementKey).collect();
        let children = BTreeMap::from([(0, vec![ElementKey(1)]), (1, all)]);
        let state = AppState { children, cost, most, beats, ..AppState::default() };
        let app = SlowApp {
            requests,
            pulse: Arc::default(),
            late: Arc::default(),
            sweeps: Arc::new(AtomicBool::new(true)),
            state: Arc::new(Mutex::new(state)),
        };
        tokio::spawn(app.clone().serve(inbox));
        app
    }

    async fn serve(self, mut inbox: mpsc::UnboundedReceiver<AppRequest>) {
        while let Some(request) = inbox.recv().await {
            match request {
                AppRequest::Observe(observer, reply) => {
                    self.state.lock().observer = Some(observer);
                    let _ = reply.send(Ok(()));
                }
                AppRequest::Read(keys, reply) => {
                    let most = self.state.lock().most;
                    let mut read = Vec::new();
                    for key in keys.into_iter().take(most) {
                        read.push(self.read(key).await);
                    }
                    let _ = reply.send(Ok(read));
                }
                AppRequest::Mark(mark, out) => drop(out.send(AppNotification::Marker(mark))),
                AppRequest::Act(_, _, _, reply) => {
                    self.state.lock().log.push(None);
                    let _ = reply.send(Ok(()));
                }
                AppRequest::Unfold(_) => {}
                AppRequest::Front(reply) => drop(reply.send(Ok(None))),
                AppRequest::Awake(reply) => drop(reply.send(())),
                AppRequest::Measure(_, reply) => drop(reply.send(Ok(Vec::new()))),
                AppRequest::At(_, reply) | AppRequest::Path(_, reply) => drop(reply.send(Ok(Vec::new()))),
            }
        }
    }

    async fn read(&self, key: ElementKey) -> Option<Reading> {
        let (cost, beats) = {
            let state = self.state.lock();
            (state.cost, state.beats)
        };
        sleep(cost).await;
        if beats {
            self.pulse.beat();
        }
        let mut state = self.state.lock();
        state.log.push(Some(key.0));
        let children = state.children.get(&key.0).cloned().unwrap_or_default();
        Some(Reading { facts: Facts::new(Role::Group), children, total: None })
    }
}

struct Worker {
    app: SlowApp,
    requests: mpsc::UnboundedSender<WorkerRequest>,
    out: mpsc::Receiver<WorkerEvent>,
    /// How often it was said to be degraded.
    degraded: usize,
    read: usize,
}

impl Worker {
    fn of(app: SlowApp) -> Worker {
        let (requests, inbox) = mpsc::unbounded_channel();
        let (sender, out) = mpsc::channel(16);
        spawn(Some(app.clone()), inbox, sender, Arc::<Counters>::default());
        Worker { app, requests, out, degraded: 0, read: 0 }
    }

    async fn until(&mut self, is_it: impl Fn(&WorkerEvent) -> bool) -> WorkerEvent {
        loop {
            let event =
                timeout(PATIENCE, self.out.recv()).await.expect("it comes").expect("the worker lives");
            match &event {
                WorkerEvent::State { degraded, .. } => self.degraded += usize::from(degraded.is_some()),
                WorkerEvent::Batch(batch) => {
                    let upserts =
                        batch.updates.iter().filter(|update| matches!(update, Update::Upsert { .. }));
                    self.read += upserts.count();
                }
                _ => {}
            }
            if is_it(&event) {
                return event;
            }
        }
    }

    async fn walked(&mut self) {
        self.until(|event| matches!(event, WorkerEvent::State { complete: true, .. })).await;
    }

    fn send<T: Send + Sync + 'static>(
        &self,
        request: impl FnOnce(Responder<T>) -> WorkerRequest,
    ) -> oneshot::Receiver<Result<T, Failure>> {
        let (responder, reply) = Responder::new();
        self.requests.send(request(responder)).expect("the worker lives");
        reply
    }

    async fn deliver(&mut self) {
        match self.until(|event| matches!(event, WorkerEvent::Reply(_))).await {
            WorkerEvent::Reply(reply) => reply.deliver(),
            _ => unreachable!("it was a reply"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_app_that_answers_call_after_call_is_not_silent_however_long_a_batch_takes() {
    let mut worker = Worker::of(SlowApp::start(100, Duration::from_millis(100), usize::MAX, true));
    worker.walked().await;
    assert_eq!((worker.read, worker.degraded), (102, 0));
}

#[tokio::test(start_paused = true)]
async fn an_app_that_answers_nothing_for_the_timeout_is_silent() {
    let mut worker = Worker::of(SlowApp::start(100, Duration::from_millis(100), usize::MAX, false));
    worker.until(|event| matches!(event, WorkerEvent::State { degraded: Some(_), .. })).await;
}

#[tokio::test(start_paused = true)]
async fn elements_that_were_left_out_of_a_reply_are_requested_again() {
    let mut worker = Worker::of(SlowApp::start(100, Duration::from_millis(1), 3, true));
    worker.walked().await;
    let log = worker.app.state.lock().log.clone();
    assert_eq!((log.len(), worker.read, worker.degraded), (102, 102, 0), "each is read once");
}

#[tokio::test(start_paused = true)]
async fn an_app_that_answers_about_no_element_at_all_is_silent_and_not_asked_for_ever() {
    let mut worker = Worker::of(SlowApp::start(1, Duration::ZERO, 0, true));
    worker.until(|event| matches!(event, WorkerEvent::State { degraded: Some(_), .. })).await;
}

#[tokio::test(start_paused = true)]
async fn an_action_during_the_walk_of_a_slow_app_waits_for_one_step_of_as_many_elements_as_fit() {
    let app = SlowApp::start(2_000, Duration::from_millis(10), usize::MAX, true);
    let mut worker = Worker::of(app.clone());
    // Some steps have been made, so that the cost is known.
    while worker.read < 200 {
        worker.until(|_| true).await;
    }
    let before = app.state.lock().log.len();
    let acted = worker.send(|reply| WorkerRequest::Perform {
        key: ElementKey(2),
        act: Act::Press,
        gate: Gate::new(),
        reply,
    });
    worker.deliver().await;
    assert_eq!(acted.await.expect("it was delivered"), Ok(()));
    let log = app.state.lock().log.clone();
    let waited = log.iter().position(Option::is_none).expect("it was sent") - before;
    // One step that had begun, and one that takes its turn before requests do.
    assert!(waited <= 2 * 40 + 32, "it waited for {waited} elements");
    assert!(worker.read < 2_000, "it did not wait for the walk");
}

#[tokio::test(start_paused = true)]
async fn an_action_during_the_walk_of_a_fast_app_waits_for_one_step_too() {
    let app = SlowApp::start(20_000, Duration::from_micros(1), usize::MAX, true);
    let mut worker = Worker::of(app.clone());
    let mut last = 0;
    let mut largest = 0;
    while last < 15_000 {
        worker.until(|event| matches!(event, WorkerEvent::Batch(_))).await;
        largest = largest.max(worker.read - last);
        last = worker.read;
    }
    assert!(largest <= 256, "a step had {largest} elements");
}

#[tokio::test(start_paused = true)]
async fn a_fence_waits_for_a_slow_app_that_answers() {
    let app = SlowApp::start(60, Duration::from_millis(20), usize::MAX, true);
    let mut worker = Worker::of(app.clone());
    worker.walked().await;
    app.state.lock().cost = Duration::from_millis(60);
    // The mark of the fence waits behind a reading that takes two seconds.
    let (answer, _reading) = oneshot::channel();
    assert!(app.ask(AppRequest::Read((2..34).map(ElementKey).collect(), answer)));
    let fenced = worker.send(|reply| WorkerRequest::Fence { reply });
    worker.deliver().await;
    assert_eq!(fenced.await.expect("it was delivered"), Ok(()));
    assert_eq!(worker.degraded, 0);
}

#[tokio::test(start_paused = true)]
async fn a_large_interest_reads_what_is_waited_on_each_time_and_little_of_the_rest() {
    let app = SlowApp::start(1_000, Duration::from_millis(1), usize::MAX, true);
    app.sweeps.store(false, Relaxed);
    let mut worker = Worker::of(app.clone());
    worker.walked().await;
    app.state.lock().log.clear();
    let watch = WorkerRequest::Watch { interest: 1, keys: vec![ElementKey(1)] };
    worker.requests.send(watch).expect("the worker lives");
    let turns = |log: &[Option<u64>]| log.iter().filter(|read| **read == Some(1)).count();
    while turns(&app.state.lock().log) < 4 {
        sleep(Duration::from_millis(20)).await;
    }
    let read = app.state.lock().log.len();
    assert!(read <= 4 * 128, "{read} elements were read in at most four turns");
}

#[tokio::test(start_paused = true)]
async fn the_sweep_pauses_while_it_may_not_go_on() {
    let app = SlowApp::start(10, Duration::from_millis(1), usize::MAX, true);
    app.sweeps.store(false, Relaxed);
    let mut worker = Worker::of(app.clone());
    worker.walked().await;
    app.state.lock().log.clear();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(app.state.lock().log, [], "nobody asked for anything");
    app.sweeps.store(true, Relaxed);
    sleep(Duration::from_secs(5)).await;
    assert!(app.state.lock().log.len() > 10, "it goes on");
}

#[tokio::test(start_paused = true)]
async fn an_action_of_an_app_that_hangs_fails_in_time() {
    let app = SlowApp::start(3, Duration::from_millis(1), usize::MAX, true);
    let mut worker = Worker::of(app.clone());
    worker.walked().await;
    {
        let mut state = app.state.lock();
        (state.cost, state.beats) = (Duration::from_secs(20), false);
    }
    let (answer, _reading) = oneshot::channel();
    assert!(app.ask(AppRequest::Read(vec![ElementKey(2)], answer)));
    let acted = worker.send(|reply| WorkerRequest::Perform {
        key: ElementKey(2),
        act: Act::Press,
        gate: Gate::new(),
        reply,
    });
    worker.deliver().await;
    let failed = acted.await.expect("it was delivered").expect_err("it hangs");
    assert_eq!(failed.kind, FailureKind::Unresponsive);
}
