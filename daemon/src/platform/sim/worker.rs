//! The worker of an attached app: walks it once, then reads again what events hint at, what somebody waits on and,
//! a little at a time, everything.
//!
//! One loop, one thing at a time. What it has to tell waits in `outgoing`; while that cannot be sent it goes on
//! taking in hints, which are a set and stay small, and reads nothing. So a slow listener costs no memory.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};
use tracing::{debug, trace, warn};

use super::announce::Notification;
use super::model::Handle;
use super::process::{Native, Process, Request};
use crate::platform::mirror::{Learned, Mirror, Reading, Readings};
use crate::platform::schedule::{Due, Pace, Schedule};
use crate::platform::{
    Batch, Cause, Counters, ElementKey, Failure, FailureKind, FromWorker, Measured, ToWorker, Update,
    WorkerAnswer,
};

/// How long the app has to answer a call.
const PATIENCE: Duration = Duration::from_millis(800);
/// How many elements one call reads.
const CALL_SIZE: usize = 256;
/// The batches of a walk grow up to this, so that a parent of very many is not told its children too often.
const LARGEST_STEP: usize = 8192;
/// Announcements that wait to be sent; more are dropped.
const MOST_OUTGOING: usize = 256;

/// Starts a worker; without a process it only says that the app has ended.
pub(super) fn spawn(
    process: Option<Process>,
    letters: mpsc::UnboundedReceiver<ToWorker>,
    out: mpsc::Sender<FromWorker>,
    counters: Arc<Counters>,
) {
    let (observer, notes) = mpsc::unbounded_channel();
    let app = match process {
        Some(process) => AppIs::Well(process),
        None => AppIs::Ended,
    };
    let worker = Worker {
        app,
        observer,
        notes,
        letters,
        out,
        counters,
        mirror: Mirror::default(),
        schedule: Schedule::new(Pace::default(), now()),
        walk: Walk::Registering,
        outgoing: VecDeque::new(),
        todo: VecDeque::new(),
        fences: Vec::new(),
        strangers: HashSet::new(),
    };
    tokio::spawn(worker.run());
}

struct Worker {
    app: AppIs,
    observer: mpsc::UnboundedSender<Notification>,
    notes: mpsc::UnboundedReceiver<Notification>,
    letters: mpsc::UnboundedReceiver<ToWorker>,
    out: mpsc::Sender<FromWorker>,
    counters: Arc<Counters>,
    mirror: Mirror,
    schedule: Schedule,
    walk: Walk,
    outgoing: VecDeque<FromWorker>,
    /// Letters that are not answered yet.
    todo: VecDeque<ToWorker>,
    fences: Vec<Fence>,
    /// Elements that announced something and were never listed: whoever has them did not say so.
    strangers: HashSet<Handle>,
}

/// How the app is.
enum AppIs {
    Well(Process),
    /// It let a call time out. The probe is answered the moment it answers anything.
    Silent(Process, oneshot::Receiver<Option<Handle>>),
    Ended,
}

/// How far the first walk is.
enum Walk {
    /// Observers are registered before anything is read.
    Registering,
    /// The app and its windows come first.
    Windows,
    /// What is listed and not read, per window, the front one first.
    Inside {
        queues: VecDeque<VecDeque<ElementKey>>,
        step: usize,
    },
    Done,
}

struct Fence {
    ticket: u64,
    deadline: Instant,
    /// Whether the marker has come.
    passed: bool,
    /// The hints that must be read before the answer, once that is known.
    stamp: Option<u64>,
}

fn now() -> Instant {
    // The runtime's clock, which tests can stop.
    tokio::time::Instant::now().into_std()
}

fn key(handle: Handle) -> ElementKey {
    // The app's own handles are never used again, which is all that is asked of a key.
    ElementKey(handle.0)
}

fn handle(key: ElementKey) -> Handle {
    Handle(key.0)
}

impl Worker {
    async fn run(mut self) {
        let out = self.out.clone();
        loop {
            if !self.take_in() {
                return;
            }
            if !self.outgoing.is_empty() {
                tokio::select! {
                    biased;
                    permit = out.reserve() => match (permit, self.outgoing.pop_front()) {
                        (Ok(permit), Some(message)) => permit.send(message),
                        _ => return,
                    },
                    Some(note) = self.notes.recv() => self.hear(note),
                    letter = self.letters.recv() => match letter {
                        Some(letter) => self.todo.push_back(letter),
                        None => return,
                    },
                }
                continue;
            }
            if self.work().await {
                continue;
            }
            if !self.rest().await {
                return;
            }
        }
    }

    /// Takes in, without waiting, what has come. False once nobody can ask any more.
    fn take_in(&mut self) -> bool {
        while let Ok(note) = self.notes.try_recv() {
            self.hear(note);
        }
        loop {
            match self.letters.try_recv() {
                Ok(letter) => self.todo.push_back(letter),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
    }

    /// Waits until there is something to do. False once nobody listens or asks any more.
    async fn rest(&mut self) -> bool {
        let fence = self.fences.iter().map(|fence| fence.deadline).min();
        let well = matches!(self.app, AppIs::Well(_)) && matches!(self.walk, Walk::Done);
        let due = fence.into_iter().chain(well.then(|| self.schedule.next_due())).min();
        let app = &mut self.app;
        let news = async {
            match app {
                AppIs::Well(process) => {
                    process.requests.closed().await;
                    false
                }
                AppIs::Silent(_, probe) => probe.await.is_ok(),
                AppIs::Ended => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            letter = self.letters.recv() => match letter {
                Some(letter) => self.todo.push_back(letter),
                None => return false,
            },
            Some(note) = self.notes.recv() => self.hear(note),
            answers = news => self.app_is_back(answers),
            () = tokio::time::sleep_until(due.unwrap_or_else(now).into()), if due.is_some() => {}
            () = self.out.closed() => return false,
        }
        true
    }

    fn hear(&mut self, note: Notification) {
        trace!(?note, "the app announced");
        if let Notification::Marker(ticket) = note {
            if let Some(fence) = self.fences.iter_mut().find(|fence| fence.ticket == ticket) {
                fence.passed = true;
            }
            return;
        }
        self.counters.events.fetch_add(1, Ordering::Relaxed);
        match note {
            Notification::Changed(element) | Notification::Structure(element) => {
                if self.mirror.knows(key(element)) {
                    self.schedule.hint(key(element));
                } else {
                    self.strangers.insert(element);
                }
            }
            Notification::Destroyed(element) => {
                if self.mirror.knows(key(element)) {
                    self.schedule.hint(key(element));
                    if let Some(parent) = self.mirror.parent(key(element)) {
                        self.schedule.hint(parent);
                    }
                }
            }
            Notification::Announced(text) if self.outgoing.len() < MOST_OUTGOING => {
                self.outgoing.push_back(FromWorker::Announcement(text));
            }
            Notification::Announced(_) | Notification::Marker(_) => {}
        }
    }

    /// Does the most urgent thing there is to do. False if there is none.
    async fn work(&mut self) -> bool {
        if self.settle_fences() || self.take_quick_letter() {
            return true;
        }
        if !matches!(self.app, AppIs::Well(_)) {
            return false;
        }
        if matches!(self.walk, Walk::Registering) {
            return self.register().await;
        }
        let worked = if self.schedule.has_hints() {
            self.read_hints().await
        } else if matches!(self.walk, Walk::Done) && !self.strangers.is_empty() {
            self.place_strangers().await
        } else if let Some(letter) = self.todo.pop_front() {
            self.answer(letter).await;
            Ok(())
        } else if !matches!(self.walk, Walk::Done) {
            self.walk_on().await
        } else {
            match self.schedule.due(now()) {
                Some(Due::Reread(interest)) => self.reread(interest).await,
                Some(Due::Sweep) => self.sweep().await,
                None => return false,
            }
        };
        if let Err(failure) = worked {
            debug!(%failure, "reading the app failed");
        }
        true
    }

    /// Answers fences that are reached, or will not be. True if there were any.
    fn settle_fences(&mut self) -> bool {
        let (well, now) = (matches!(self.app, AppIs::Well(_)), now());
        let settled = self.strangers.is_empty() || !matches!(self.walk, Walk::Done);
        let mut answers = Vec::new();
        let (schedule, app) = (&self.schedule, &self.app);
        self.fences.retain_mut(|fence| {
            if fence.passed && settled && fence.stamp.is_none() {
                fence.stamp = Some(schedule.stamp());
            }
            let result = if fence.stamp.is_some_and(|stamp| schedule.taken(stamp)) {
                Ok(WorkerAnswer::Done)
            } else if !well || (fence.deadline <= now && !fence.passed) {
                Err(app.failure())
            } else {
                return true;
            };
            answers.push(FromWorker::Answer { ticket: fence.ticket, result });
            false
        });
        let any = !answers.is_empty();
        self.outgoing.extend(answers);
        any
    }

    /// Handles the next letter if that takes no reading, or if reading is no use now.
    fn take_quick_letter(&mut self) -> bool {
        let process = match (&self.app, &self.walk) {
            (AppIs::Well(process), _) => Some(process.clone()),
            _ => None,
        };
        let is_quick = |letter: &ToWorker| {
            process.is_none()
                || matches!(
                    letter,
                    ToWorker::Watch { .. } | ToWorker::Unwatch { .. } | ToWorker::Fence { .. }
                )
        };
        let Some(at) = self.todo.iter().position(is_quick) else { return false };
        let Some(letter) = self.todo.remove(at) else { return false };
        match letter {
            ToWorker::Watch { interest, keys } => self.schedule.watch(interest, keys, now()),
            ToWorker::Unwatch { interest } => self.schedule.unwatch(interest),
            ToWorker::Fence { ticket } => match process {
                Some(process) => {
                    self.counters.calls.fetch_add(1, Ordering::Relaxed);
                    // If this fails the app has ended, and the fence fails as it learns of that.
                    let _ = process.requests.send(Request::Mark(ticket, self.observer.clone()));
                    let deadline = now() + PATIENCE;
                    self.fences.push(Fence { ticket, deadline, passed: false, stamp: None });
                }
                None => self.tell_answer(ticket, Err(self.app.failure())),
            },
            ToWorker::Walk { ticket, .. }
            | ToWorker::Measure { ticket, .. }
            | ToWorker::HitTest { ticket, .. } => {
                self.tell_answer(ticket, Err(self.app.failure()));
            }
        }
        true
    }

    fn tell_answer(&mut self, ticket: u64, result: Result<WorkerAnswer, Failure>) {
        self.outgoing.push_back(FromWorker::Answer { ticket, result });
    }

    /// Tells how the app is.
    fn tell_state(&mut self) {
        let degraded = match &self.app {
            AppIs::Well(_) => None,
            AppIs::Silent(..) | AppIs::Ended => Some(self.app.failure().native),
        };
        let complete = matches!(self.walk, Walk::Done);
        self.outgoing.push_back(FromWorker::State { degraded, complete });
    }

    async fn register(&mut self) -> bool {
        let observer = self.observer.clone();
        if self.ask(|answer| Request::Observe(observer, answer)).await.is_ok() {
            self.walk = Walk::Windows;
        }
        true
    }

    /// One step of the first walk.
    async fn walk_on(&mut self) -> Result<(), Failure> {
        match std::mem::replace(&mut self.walk, Walk::Windows) {
            Walk::Inside { mut queues, step } => {
                let Some(queue) = queues.front_mut() else {
                    self.walk = Walk::Done;
                    self.tell_state();
                    return Ok(());
                };
                let count = step.min(queue.len());
                let mut chunk: Vec<ElementKey> = queue.drain(..count).collect();
                chunk.retain(|key| self.mirror.knows(*key) && !self.mirror.has_told(*key));
                let read = self.gather(chunk.clone(), false).await;
                match read {
                    Ok(readings) => {
                        let learned = self.learn(&readings, Cause::Walk);
                        queue.extend(learned);
                        if queue.is_empty() {
                            queues.pop_front();
                        }
                        self.walk = Walk::Inside { queues, step: (step * 2).min(LARGEST_STEP) };
                        Ok(())
                    }
                    Err(failure) => {
                        chunk.into_iter().rev().for_each(|key| queue.push_front(key));
                        self.walk = Walk::Inside { queues, step };
                        Err(failure)
                    }
                }
            }
            _ => self.walk_windows().await,
        }
    }

    async fn walk_windows(&mut self) -> Result<(), Failure> {
        let front = self.ask(Request::Front).await?.map(key);
        let mut readings = Readings::default();
        self.read_into(&mut readings, &[ElementKey::APP]).await?;
        let windows = readings.children(ElementKey::APP).to_vec();
        self.read_into(&mut readings, &windows).await?;
        let unread = self.learn(&readings, Cause::Walk);
        let mut queues: VecDeque<VecDeque<ElementKey>> = VecDeque::new();
        for window in windows {
            let inside = unread.iter().copied().filter(|child| self.mirror.parent(*child) == Some(window));
            let queue: VecDeque<ElementKey> = inside.collect();
            match queue.is_empty() {
                true => {}
                false if Some(window) == front => queues.push_front(queue),
                false => queues.push_back(queue),
            }
        }
        self.walk = Walk::Inside { queues, step: CALL_SIZE };
        Ok(())
    }

    async fn read_hints(&mut self) -> Result<(), Failure> {
        let hinted = self.schedule.take_hints(CALL_SIZE);
        let known: Vec<ElementKey> =
            hinted.iter().copied().filter(|key| self.mirror.has_told(*key)).collect();
        match self.gather(known, true).await {
            Ok(readings) => {
                self.learn(&readings, Cause::Event);
                Ok(())
            }
            Err(failure) => {
                hinted.into_iter().for_each(|key| self.schedule.hint(key));
                Err(failure)
            }
        }
    }

    /// Finds out where elements are that announced something but were never listed.
    async fn place_strangers(&mut self) -> Result<(), Failure> {
        let Some(stranger) = self.strangers.iter().next().copied() else { return Ok(()) };
        let path = self.ask(|answer| Request::Path(stranger, answer)).await?;
        self.strangers.remove(&stranger);
        let known = path.into_iter().flatten().map(key).rfind(|part| self.mirror.has_told(*part));
        if let Some(known) = known {
            self.schedule.hint(known);
        }
        Ok(())
    }

    async fn reread(&mut self, interest: u64) -> Result<(), Failure> {
        let all = self.mirror.below(self.schedule.watched(interest));
        let turn = self.schedule.turn(interest, all);
        let readings = self.gather(turn, true).await?;
        let missed = self.learn_unannounced(&readings, Cause::Reread);
        self.schedule.reread(interest, missed > 0, now());
        Ok(())
    }

    async fn sweep(&mut self) -> Result<(), Failure> {
        let mirror = &self.mirror;
        let mut some = self.schedule.sweep(|| mirror.keys(), now());
        some.retain(|key| self.mirror.has_told(*key));
        let readings = self.gather(some, true).await?;
        self.learn_unannounced(&readings, Cause::Sweep);
        Ok(())
    }

    /// Answers a letter that takes reading.
    async fn answer(&mut self, letter: ToWorker) {
        match letter {
            ToWorker::Walk { key, ticket } => {
                let result = self.walk_again(key).await;
                self.tell_answer(ticket, result);
            }
            ToWorker::Measure { keys, ticket } => {
                let result = self.measure(keys).await;
                self.tell_answer(ticket, result);
            }
            ToWorker::HitTest { point, ticket } => {
                let result = self.hit(point).await;
                self.tell_answer(ticket, result);
            }
            // Taken before it could come here.
            ToWorker::Fence { .. } | ToWorker::Watch { .. } | ToWorker::Unwatch { .. } => {}
        }
    }

    async fn walk_again(&mut self, from: ElementKey) -> Result<WorkerAnswer, Failure> {
        if !self.mirror.knows(from) {
            return Err(Failure::new(FailureKind::Gone, "the element is gone"));
        }
        let all = self.mirror.below(&[from]);
        let readings = self.gather(all, true).await?;
        self.learn_unannounced(&readings, Cause::Walk);
        Ok(WorkerAnswer::Done)
    }

    async fn measure(&mut self, keys: Vec<ElementKey>) -> Result<WorkerAnswer, Failure> {
        let handles = keys.iter().copied().map(handle).collect();
        let places = self.ask(|answer| Request::Measure(handles, answer)).await?;
        let measured = keys.into_iter().zip(places).filter_map(|(key, place)| {
            let place = place?;
            Some(Measured { key, bounds: place.bounds, visible: place.visible })
        });
        Ok(WorkerAnswer::Geometry(measured.collect()))
    }

    async fn hit(&mut self, point: axd_protocol::Point) -> Result<WorkerAnswer, Failure> {
        let path = self.ask(|answer| Request::At(point, answer)).await?;
        let path: Vec<ElementKey> = path.into_iter().flatten().map(key).collect();
        let Some(deepest) = path.last().copied() else { return Ok(WorkerAnswer::Element(None)) };
        if !self.mirror.has_told(deepest)
            && let Some(known) = path.iter().rfind(|part| self.mirror.has_told(**part))
        {
            // It is on the screen and nobody announced it.
            let readings = self.gather(vec![*known], true).await?;
            self.learn_unannounced(&readings, Cause::Reread);
        }
        let told = path.into_iter().rfind(|part| self.mirror.has_told(*part));
        Ok(WorkerAnswer::Element(told))
    }

    /// Reads elements, and whatever must be read with them.
    async fn gather(&mut self, seeds: Vec<ElementKey>, whole: bool) -> Result<Readings, Failure> {
        let mut readings = Readings::default();
        let mut next = seeds;
        while !next.is_empty() {
            self.read_into(&mut readings, &next).await?;
            next = self.mirror.wanting(&readings, whole);
        }
        Ok(readings)
    }

    async fn read_into(&mut self, readings: &mut Readings, keys: &[ElementKey]) -> Result<(), Failure> {
        for some in keys.chunks(CALL_SIZE) {
            let handles = some.iter().copied().map(handle).collect();
            let natives = self.ask(|answer| Request::Read(handles, answer)).await?;
            for (key, native) in some.iter().zip(natives) {
                readings.add(*key, native.map(reading));
            }
        }
        Ok(())
    }

    /// Tells what follows from readings; answers what they list and is not read yet.
    fn learn(&mut self, readings: &Readings, cause: Cause) -> Vec<ElementKey> {
        let Learned { updates, unread, cut } = self.mirror.apply(readings);
        if cut > 0 {
            warn!(cut, "the app claims cycles or second parents; they are left out");
        }
        if !updates.is_empty() {
            self.outgoing.push_back(FromWorker::Batch(Batch { cause, updates }));
        }
        unread
    }

    /// The same for readings that nothing announced; counts what is different and answers how much that is.
    fn learn_unannounced(&mut self, readings: &Readings, cause: Cause) -> u64 {
        // What the app announced before it answered has come by now, so it is known what it did not announce.
        self.take_in();
        let mut missed = 0;
        let Learned { updates, .. } = self.mirror.apply(readings);
        for update in &updates {
            let (Update::Gone(key) | Update::Upsert { key, .. } | Update::Children { parent: key, .. }) =
                update;
            let above = self.mirror.parent(*key);
            let announced =
                self.schedule.is_hinted(*key) || above.is_some_and(|above| self.schedule.is_hinted(above));
            missed += u64::from(!announced);
        }
        self.counters.missed.fetch_add(missed, Ordering::Relaxed);
        if !updates.is_empty() {
            let cause = if missed == 0 { Cause::Event } else { cause };
            self.outgoing.push_back(FromWorker::Batch(Batch { cause, updates }));
        }
        missed
    }

    /// Calls the app. If it does not answer in time it is silent from then on, until it is not.
    async fn ask<T>(&mut self, request: impl FnOnce(oneshot::Sender<T>) -> Request) -> Result<T, Failure> {
        let AppIs::Well(process) = &self.app else { return Err(self.app.failure()) };
        let process = process.clone();
        let (answer, reply) = oneshot::channel();
        self.counters.calls.fetch_add(1, Ordering::Relaxed);
        let asked = process.requests.send(request(answer));
        match tokio::time::timeout(PATIENCE, reply).await {
            Ok(Ok(answer)) if asked.is_ok() => return Ok(answer),
            Ok(_) => self.app = AppIs::Ended,
            Err(_) => {
                let (answer, probe) = oneshot::channel();
                self.counters.calls.fetch_add(1, Ordering::Relaxed);
                self.app = match process.requests.send(Request::Front(answer)) {
                    Ok(()) => AppIs::Silent(process, probe),
                    Err(_) => AppIs::Ended,
                };
            }
        }
        self.tell_state();
        Err(self.app.failure())
    }

    /// A silent app has answered, or the app has ended.
    fn app_is_back(&mut self, answers: bool) {
        self.app = match std::mem::replace(&mut self.app, AppIs::Ended) {
            AppIs::Silent(process, _) if answers => AppIs::Well(process),
            _ => AppIs::Ended,
        };
        self.tell_state();
    }
}

impl AppIs {
    fn failure(&self) -> Failure {
        match self {
            AppIs::Ended => Failure::new(FailureKind::Gone, "the app has ended"),
            AppIs::Well(_) | AppIs::Silent(..) => Failure::new(
                FailureKind::Unresponsive,
                format!("the app has not answered for {} ms", PATIENCE.as_millis()),
            ),
        }
    }
}

fn reading(native: Native) -> Reading {
    let children = native.children.into_iter().map(key).collect();
    Reading { facts: native.facts, children, total: native.total }
}
