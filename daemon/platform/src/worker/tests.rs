use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use axd_protocol::{Point, Role};
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, oneshot};

use super::*;
use crate::mirror::{Reading, Readings};
use crate::{Act, ElementKey, Facts, FailureKind, Gate, Measured, Responder, Update};

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
    notes: VecDeque<u64>,
    marks: VecDeque<u64>,
    /// How many rescans ran, and how many are wanted.
    looks: u64,
    wanted: u64,
    paths: usize,
    silent: bool,
    probe: Option<oneshot::Sender<()>>,
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

impl AppBackend for Fake {
    const STEPS: Steps = Steps { first: 2, growth: 2, largest: 4 };
    const SILENT_BY_FENCE: bool = false;
    const ENDED: &'static str = "it ended";

    async fn register(&mut self, _: &mut WorkerState) -> Result<(), Failure> {
        Ok(())
    }

    fn drain_events(&mut self, state: &mut WorkerState) {
        let table = &mut *self.0.0.lock();
        for key in table.notes.drain(..).map(ElementKey) {
            match state.mirror.knows(key) {
                true => state.schedule.mark_dirty(key),
                false => drop(state.unplaced.insert(key)),
            }
        }
        table.marks.drain(..).for_each(|ticket| state.fences.pass(ticket));
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
        if table.silent {
            return Err(unresponsive());
        }
        for key in keys {
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
                table.notes.push_back(key.0);
            }
            if let Some(name) = table.renames.remove(&key.0)
                && let Some(element) = table.elements.get_mut(&key.0)
            {
                element.0 = name;
                table.notes.push_back(key.0);
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

    async fn rescan(&mut self, _: &mut WorkerState) -> Result<bool, Failure> {
        let table = &mut *self.0.0.lock();
        let is_due = table.looks < table.wanted;
        table.looks = table.wanted;
        Ok(is_due)
    }

    fn is_flushed(&mut self, _: bool, errand: &mut Option<u64>) -> bool {
        let table = &mut *self.0.0.lock();
        table.wanted = *errand.get_or_insert(table.looks + 1);
        table.looks >= table.wanted
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
        let (told, out) = mpsc::channel(16);
        let counters = Arc::<Counters>::default();
        tokio::spawn(run_worker(fake.clone(), inbox, told, Arc::clone(&counters)));
        let mut attached = Attached { fake, requests, out, counters, names: BTreeMap::new() };
        attached.until(|told| matches!(told, WorkerEvent::State { complete: true, .. })).await;
        attached
    }

    /// Receives events until this one arrives.
    async fn until(&mut self, is_it: impl Fn(&WorkerEvent) -> bool) -> WorkerEvent {
        loop {
            let told = self.out.recv().await.expect("the worker lives");
            if let WorkerEvent::Batch(batch) = &told {
                for update in &batch.updates {
                    if let Update::Upsert { key, facts } = update {
                        self.names.insert(key.0, facts.name.clone().unwrap_or_default());
                    }
                }
            }
            if is_it(&told) {
                return told;
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

    /// Delivers the next reply.
    async fn deliver(&mut self) {
        match self.until(|told| matches!(told, WorkerEvent::Reply(_))).await {
            WorkerEvent::Reply(reply) => reply.deliver(),
            _ => unreachable!("it was a reply"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_element_announces_just_before_it_is_known_is_not_lost() {
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
    assert_eq!(app.fake.with(|table| table.paths), 0, "it was known where it is");
}

#[tokio::test(start_paused = true)]
async fn an_app_that_never_rests_does_not_hold_up_who_asks() {
    let mut app = Attached::new().await;
    app.fake.with(|table| {
        table.restless = 10_000;
        table.notes.extend([1, 2]);
    });
    let measured = app.ask(|reply| WorkerRequest::Measure { keys: vec![ElementKey(2)], reply }).await;
    assert_eq!(measured, Ok(Vec::new()));
    let left = app.fake.with(|table| table.measured);
    assert!(left > 9_000, "it was asked when it had nearly come to rest: {left}");
}

#[tokio::test(start_paused = true)]
async fn a_fence_waits_for_what_the_app_must_be_looked_through_for() {
    let mut app = Attached::new().await;
    let fenced = app.ask(|reply| WorkerRequest::Fence { reply }).await;
    assert_eq!((fenced, app.fake.with(|table| table.looks)), (Ok(()), 1));
}

#[tokio::test(start_paused = true)]
async fn that_an_app_is_silent_is_told_before_the_answer_that_failed_and_nothing_is_asked_until_it_is_back() {
    let mut app = Attached::new().await;
    app.fake.with(|table| table.silent = true);
    let (reply, walked) = Responder::new();
    app.requests.send(WorkerRequest::Walk { key: ElementKey::APP, reply }).expect("the worker lives");
    let told = app.until(|told| !matches!(told, WorkerEvent::Batch(_))).await;
    assert!(matches!(told, WorkerEvent::State { degraded: Some(_), complete: true }), "{told:?}");
    app.deliver().await;
    assert!(walked.await.expect("it was delivered").is_err());
    let calls = app.counters.calls.load(Relaxed);
    let failed = app.ask(|reply| WorkerRequest::Fence { reply }).await;
    assert_eq!(failed.map_err(|failure| failure.kind), Err(FailureKind::Unresponsive));
    assert_eq!(app.counters.calls.load(Relaxed), calls);
    app.fake.with(|table| {
        table.silent = false;
        table.probe.take().expect("it is probed").send(()).expect("somebody waits");
    });
    app.until(|told| matches!(told, WorkerEvent::State { degraded: None, .. })).await;
    assert_eq!(app.ask(|reply| WorkerRequest::Fence { reply }).await, Ok(()));
}
