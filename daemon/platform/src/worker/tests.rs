use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use axd_protocol::{Point, Role};
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::timeout;

use super::*;
use crate::mirror::{Reading, Readings};
use crate::{Act, Cause, ElementKey, Facts, FailureKind, Gate, Measured, Responder, Update};

/// How long tests wait for what does not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// An app whose elements are a table of names and children, with a record of what was done to it.
#[derive(Default)]
struct Table {
    elements: BTreeMap<u64, (&'static str, Vec<u64>)>,
    /// Elements that are renamed just after they are read next, with an event.
    renames: BTreeMap<u64, &'static str>,
    /// How many more times an element that is read sends an event at once.
    restless: usize,
    /// The value of `restless` when the app was measured.
    measured: usize,
    events: VecDeque<u64>,
    marks: VecDeque<u64>,
    /// Elements that wait for a quick read.
    quick_reads: Vec<u64>,
    /// Elements whose delayed reread is due, and from when on; at once, if that is `None`.
    delayed_rereads: Vec<u64>,
    rereads_due: Option<Instant>,
    /// How many rescans ran, and how many are wanted.
    rescans: u64,
    wanted_rescans: u64,
    paths: usize,
    is_unresponsive: bool,
    probe: Option<oneshot::Sender<()>>,
    /// What was done, in order, once it is wanted.
    log: Option<Vec<String>>,
    logged: Arc<Notify>,
}

impl Table {
    fn record(&mut self, entry: impl Into<String>) {
        if let Some(log) = &mut self.log {
            log.push(entry.into());
            self.logged.notify_one();
        }
    }
}

#[derive(Clone, Default)]
struct Fake(Arc<(Mutex<Table>, Notify)>);

impl Fake {
    fn with<T>(&self, change: impl FnOnce(&mut Table) -> T) -> T {
        let changed = change(&mut self.0.0.lock());
        self.0.1.notify_one();
        changed
    }
}

/// A quick read, a rescan and a delayed reread, as the table has them due.
#[derive(Default)]
struct FakeStrategies;

impl ReadStrategy<Fake> for FakeStrategies {
    async fn step(&mut self, turn: Turn<'_>, app: &mut Fake, _: &mut WorkerState) -> StepResult {
        let table = &mut *app.0.0.lock();
        match turn {
            Turn::First { .. } if !table.quick_reads.is_empty() => {
                let mut readings = Readings::default();
                for key in std::mem::take(&mut table.quick_reads) {
                    table.record(format!("quick read {key}"));
                    let facts = Facts { name: Some("quick".to_owned()), ..Facts::new(Role::Group) };
                    readings.add_facts(ElementKey(key), facts);
                }
                Ok(Progress::Found(readings))
            }
            Turn::Idle if table.rescans < table.wanted_rescans => {
                table.record("rescan");
                table.rescans = table.wanted_rescans;
                Ok(Progress::Made)
            }
            Turn::Routine
                if !table.delayed_rereads.is_empty() && table.rereads_due.is_none_or(|due| due <= now()) =>
            {
                table.record("delayed reread");
                let keys = std::mem::take(&mut table.delayed_rereads);
                Ok(Progress::Read(keys.into_iter().map(ElementKey).collect()))
            }
            Turn::Interest(_) => {
                table.record("interest");
                Ok(Progress::None)
            }
            _ => Ok(Progress::None),
        }
    }

    fn next_due(&self, app: &Fake) -> Option<Instant> {
        let table = app.0.0.lock();
        table.rereads_due.filter(|_| !table.delayed_rereads.is_empty())
    }

    fn flush(&mut self, app: &Fake, state: &mut WorkerState, prerequisite: &mut Option<u64>) -> bool {
        let table = &mut *app.0.0.lock();
        state.mark_known_dirty(table.quick_reads.drain(..).map(ElementKey));
        table.wanted_rescans = *prerequisite.get_or_insert(table.rescans + 1);
        table.rescans >= table.wanted_rescans
    }
}

impl AppBackend for Fake {
    type Strategies = FakeStrategies;

    const STEPS: Steps = Steps { first: 2, growth: 2, largest: 4 };
    const FENCE_TIMEOUT_MEANS_UNRESPONSIVE: bool = false;
    const ENDED: &'static str = "it ended";

    async fn register(&mut self, _: &mut WorkerState) -> Result<(), Failure> {
        Ok(())
    }

    fn drain_events(&mut self, _: &mut FakeStrategies, state: &mut WorkerState) {
        let table = &mut *self.0.0.lock();
        for key in table.events.drain(..).map(ElementKey) {
            match state.mirror.knows(key) {
                true => state.schedule.mark_dirty(key),
                false => drop(state.unplaced.insert(key)),
            }
        }
        table.marks.drain(..).for_each(|mark| state.fences.pass(mark));
    }

    async fn wait_for_event(&mut self) {
        self.0.1.notified().await;
    }

    async fn read(
        &mut self,
        _: &mut WorkerState,
        keys: &[ElementKey],
        into: &mut Readings,
    ) -> Result<(), Failure> {
        let table = &mut *self.0.0.lock();
        if table.is_unresponsive {
            return Err(unresponsive());
        }
        for key in keys {
            table.record(format!("read {}", key.0));
            into.add(
                *key,
                table.elements.get(&key.0).map(|(name, children)| Reading {
                    facts: Facts { name: Some((*name).to_owned()), ..Facts::new(Role::Group) },
                    children: children.iter().copied().map(ElementKey).collect(),
                    total: None,
                }),
            );
            if table.restless > 0 {
                table.restless -= 1;
                table.events.push_back(key.0);
            }
            if let Some(name) = table.renames.remove(&key.0)
                && let Some(element) = table.elements.get_mut(&key.0)
            {
                element.0 = name;
                table.events.push_back(key.0);
            }
        }
        Ok(())
    }

    async fn front_window(
        &mut self,
        _: &WorkerState,
        _: &[ElementKey],
    ) -> Result<Option<ElementKey>, Failure> {
        Ok(None)
    }

    async fn measure(&mut self, _: &WorkerState, _: &[ElementKey]) -> Result<Vec<Measured>, Failure> {
        self.with(|table| table.measured = table.restless);
        Ok(Vec::new())
    }

    async fn hit_test(&mut self, _: &WorkerState, _: Point) -> Result<Vec<ElementKey>, Failure> {
        Ok(Vec::new())
    }

    async fn path(&mut self, _: &WorkerState, _: ElementKey) -> Result<Vec<ElementKey>, Failure> {
        self.with(|table| table.paths += 1);
        Ok(Vec::new())
    }

    fn perform(&mut self, state: &mut WorkerState, _: ElementKey, _: Act, _: Gate, reply: Responder<()>) {
        state.reply(reply, Ok(()));
    }

    fn send_fence(&mut self, mark: u64) {
        self.with(|table| table.marks.push_back(mark));
    }

    fn probe(&mut self) -> Option<oneshot::Receiver<()>> {
        let (answer, probe) = oneshot::channel();
        self.with(|table| table.probe = Some(answer));
        Some(probe)
    }

    fn is_lost(&self, failure: &Failure) -> bool {
        failure.kind == FailureKind::Gone
    }
}

/// The worker of an app with one window and one element in it, after the first walk.
struct Attached {
    fake: Fake,
    requests: mpsc::UnboundedSender<WorkerRequest>,
    out: mpsc::Receiver<WorkerEvent>,
    counters: Arc<Counters>,
    names: BTreeMap<u64, String>,
}

impl Attached {
    async fn new() -> Attached {
        let fake = Fake::default();
        fake.with(|table| {
            table.elements =
                BTreeMap::from([(0, ("app", vec![1])), (1, ("window", vec![2])), (2, ("a", vec![]))]);
        });
        let (requests, inbox) = mpsc::unbounded_channel();
        let (sender, out) = mpsc::channel(16);
        let counters = Arc::<Counters>::default();
        tokio::spawn(run_worker(fake.clone(), inbox, sender, Arc::clone(&counters)));
        let mut attached = Attached { fake, requests, out, counters, names: BTreeMap::new() };
        attached.until(|event| matches!(event, WorkerEvent::State { complete: true, .. })).await;
        attached
    }

    /// Receives events until this one arrives.
    async fn until(&mut self, is_it: impl Fn(&WorkerEvent) -> bool) -> WorkerEvent {
        loop {
            let event =
                timeout(PATIENCE, self.out.recv()).await.expect("it comes").expect("the worker lives");
            if let WorkerEvent::Batch(batch) = &event {
                for update in &batch.updates {
                    if let Update::Upsert { key, facts } = update {
                        self.names.insert(key.0, facts.name.clone().unwrap_or_default());
                    }
                }
            }
            if is_it(&event) {
                return event;
            }
        }
    }

    async fn ask<T: Send + Sync + 'static>(
        &mut self,
        request: impl FnOnce(Responder<T>) -> WorkerRequest,
    ) -> Result<T, Failure> {
        let (responder, reply) = Responder::new();
        self.requests.send(request(responder)).expect("the worker lives");
        self.deliver().await;
        reply.await.expect("it was delivered")
    }

    /// Waits until the log has that many entries, and takes it.
    async fn log_of(&mut self, count: usize) -> Vec<String> {
        let logged = self.fake.with(|table| Arc::clone(&table.logged));
        while self.fake.0.0.lock().log.as_ref().is_none_or(|log| log.len() < count) {
            timeout(PATIENCE, logged.notified()).await.expect("there is more");
        }
        self.fake.with(|table| table.log.replace(Vec::new())).unwrap_or_default()
    }

    /// Delivers the next reply.
    async fn deliver(&mut self) {
        match self.until(|event| matches!(event, WorkerEvent::Reply(_))).await {
            WorkerEvent::Reply(reply) => reply.deliver(),
            _ => unreachable!("it was a reply"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_of_an_element_that_is_just_being_read_is_not_lost() {
    let mut app = Attached::new().await;
    app.fake.with(|table| {
        table.elements.insert(3, ("old", vec![]));
        table.elements.insert(1, ("window", vec![2, 3]));
        table.renames.insert(3, "new");
    });
    let walked = app.ask(|reply| WorkerRequest::Walk { key: ElementKey::APP, reply }).await;
    assert_eq!((walked, app.names[&3].as_str()), (Ok(()), "old"));
    let fenced = app.ask(|reply| WorkerRequest::Fence { reply }).await;
    assert_eq!((fenced, app.names[&3].as_str()), (Ok(()), "new"));
    assert_eq!(app.fake.with(|table| table.paths), 0, "its place was known");
}

#[tokio::test(start_paused = true)]
async fn an_app_that_never_rests_does_not_delay_requests() {
    let mut app = Attached::new().await;
    app.fake.with(|table| {
        table.restless = 10_000;
        table.events.extend([1, 2]);
    });
    let measured = app.ask(|reply| WorkerRequest::Measure { keys: vec![ElementKey(2)], reply }).await;
    assert_eq!(measured, Ok(Vec::new()));
    let left = app.fake.with(|table| table.measured);
    assert!(left > 9_000, "it was measured when it had nearly come to rest: {left}");
}

#[tokio::test(start_paused = true)]
async fn quick_reads_come_before_dirty_elements_and_a_rescan_waits_until_none_is_dirty() {
    let mut app = Attached::new().await;
    app.fake.with(|table| {
        table.log = Some(Vec::new());
        table.wanted_rescans = 1;
        table.events.extend([2, 1, 0]);
        table.quick_reads.push(2);
    });
    // Three dirty elements are read in two batches.
    assert_eq!(app.log_of(5).await, ["quick read 2", "read 2", "read 1", "read 0", "rescan"]);
}

#[tokio::test(start_paused = true)]
async fn delayed_rereads_come_before_interests_and_take_turns_with_dirty_elements() {
    let mut app = Attached::new().await;
    let watch = WorkerRequest::Watch { interest: 1, keys: vec![ElementKey(2)] };
    app.requests.send(watch).expect("the worker lives");
    let (start, every) = (now(), crate::schedule::Pace::default().watch_first);
    app.fake.with(|table| {
        table.log = Some(Vec::new());
        table.delayed_rereads.push(1);
        table.rereads_due = Some(start + every);
    });
    assert_eq!(app.log_of(4).await, ["delayed reread", "read 1", "interest", "read 2"]);
    app.fake.with(|table| {
        table.restless = 10_000;
        table.events.push_back(2);
        table.delayed_rereads.push(1);
        table.rereads_due = None;
    });
    let log = app.log_of(8).await;
    assert!(log.iter().any(|entry| entry == "delayed reread"), "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn a_strategy_is_polled_when_it_is_due_and_what_it_reads_counts_as_unannounced() {
    let mut app = Attached::new().await;
    let (start, delay) = (now(), Duration::from_millis(30));
    app.fake.with(|table| {
        table.log = Some(Vec::new());
        table.elements.insert(2, ("renamed", vec![]));
        table.delayed_rereads.extend([9, 2]);
        table.rereads_due = Some(start + delay);
    });
    assert_eq!(app.log_of(2).await, ["delayed reread", "read 2"], "there is no element 9");
    assert_eq!(now() - start, delay);
    app.until(|event| matches!(event, WorkerEvent::Batch(batch) if batch.cause == Cause::Sweep)).await;
    assert_eq!((app.names[&2].as_str(), app.counters.missed.load(Relaxed)), ("renamed", 1));
    app.fake.with(|table| table.quick_reads.push(2));
    app.until(|event| matches!(event, WorkerEvent::Batch(batch) if batch.cause == Cause::Event)).await;
    assert_eq!((app.names[&2].as_str(), app.counters.missed.load(Relaxed)), ("quick", 1));
}

#[tokio::test(start_paused = true)]
async fn a_fence_has_elements_read_in_full_instead_of_quickly_and_waits_for_its_rescan() {
    let mut app = Attached::new().await;
    app.fake.with(|table| {
        table.log = Some(Vec::new());
        table.elements.insert(2, ("full", vec![]));
    });
    let (reply, reached) = Responder::new();
    app.requests.send(WorkerRequest::Fence { reply }).expect("the worker lives");
    // The event is drained together with the mark of the fence.
    app.fake.0.0.lock().quick_reads.push(2);
    app.deliver().await;
    assert_eq!((reached.await, app.names[&2].as_str()), (Ok(Ok(())), "full"));
    assert_eq!(app.log_of(2).await, ["read 2", "rescan"]);
}

#[tokio::test(start_paused = true)]
async fn an_unresponsive_app_is_reported_before_the_failed_reply_and_gets_no_calls_until_it_replies() {
    let mut app = Attached::new().await;
    app.fake.with(|table| table.is_unresponsive = true);
    let (reply, walked) = Responder::new();
    app.requests.send(WorkerRequest::Walk { key: ElementKey::APP, reply }).expect("the worker lives");
    let event = app.until(|event| !matches!(event, WorkerEvent::Batch(_))).await;
    assert!(matches!(event, WorkerEvent::State { degraded: Some(_), complete: true }), "{event:?}");
    app.deliver().await;
    assert!(walked.await.expect("it was delivered").is_err());
    let calls = app.counters.calls.load(Relaxed);
    let failed = app.ask(|reply| WorkerRequest::Fence { reply }).await;
    assert_eq!(failed.map_err(|failure| failure.kind), Err(FailureKind::Unresponsive));
    assert_eq!(app.counters.calls.load(Relaxed), calls);
    app.fake.with(|table| {
        table.is_unresponsive = false;
        table.probe.take().expect("it is probed").send(()).expect("the worker waits for it");
    });
    app.until(|event| matches!(event, WorkerEvent::State { degraded: None, .. })).await;
    assert_eq!(app.ask(|reply| WorkerRequest::Fence { reply }).await, Ok(()));
}
