//! The worker of an attached app: walks it once, then reads again what events hint at, what somebody waits on and,
//! a little at a time, everything.
//!
//! One loop, one thing at a time. What it has to tell waits in `outgoing`; while that cannot be sent it goes on
//! taking in hints, which are a set and stay small, and reads nothing. So a slow listener costs no memory.
//!
//! It knows nothing native: `line` is all it has of the app. `reading` is what it makes of answers, `acting` how it has
//! things done.

mod acting;
mod line;
mod reading;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};
use tracing::{debug, trace};

use acting::Acted;

pub use line::{Answer, Line, Note, Question};

use crate::platform::mirror::Mirror;
use crate::platform::schedule::{Due, Pace, Schedule};
use crate::platform::{Counters, ElementKey, Failure, FailureKind, FromWorker, ToWorker, WorkerAnswer};

/// How long the app has to answer a call.
const PATIENCE: Duration = Duration::from_millis(800);
/// The batches of a walk grow up to this, so that a parent of very many is not told its children too often.
const LARGEST_STEP: usize = 4_096;
/// Announcements that wait to be sent; more are dropped.
const MOST_OUTGOING: usize = 256;

/// Starts a worker; without a line it only says that the app has ended.
pub fn spawn<L: Line>(
    line: Option<L>,
    letters: mpsc::UnboundedReceiver<ToWorker>,
    out: mpsc::Sender<FromWorker>,
    counters: Arc<Counters>,
) {
    let (observer, notes) = mpsc::unbounded_channel();
    let acted = mpsc::unbounded_channel();
    let app = match line {
        Some(line) => AppIs::Well(line),
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
        last_duty: Duty::Routine,
        outgoing: VecDeque::new(),
        todo: VecDeque::new(),
        fences: Vec::new(),
        strangers: HashSet::new(),
        acted,
        refused: None,
    };
    tokio::spawn(worker.run());
}

struct Worker<L> {
    app: AppIs<L>,
    observer: mpsc::UnboundedSender<Note>,
    notes: mpsc::UnboundedReceiver<Note>,
    letters: mpsc::UnboundedReceiver<ToWorker>,
    out: mpsc::Sender<FromWorker>,
    counters: Arc<Counters>,
    mirror: Mirror,
    schedule: Schedule,
    walk: Walk,
    last_duty: Duty,
    outgoing: VecDeque<FromWorker>,
    /// Letters that are not answered yet.
    todo: VecDeque<ToWorker>,
    fences: Vec<Fence>,
    /// Elements that announced something and were never listed: whoever has them did not say so.
    strangers: HashSet<ElementKey>,
    /// What comes of acts that are under way.
    acted: (mpsc::UnboundedSender<Acted>, mpsc::UnboundedReceiver<Acted>),
    /// What the app cannot be observed in, and why.
    refused: Option<String>,
}

/// How the app is.
enum AppIs<L> {
    Well(L),
    /// It let a call time out. The probe is answered the moment it answers anything.
    Silent(L, oneshot::Receiver<()>),
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

/// What a worker does all day.
#[derive(Debug, Clone, Copy)]
enum Duty {
    /// Reading what events hint at.
    Hints,
    /// Answering.
    Letters,
    /// The first walk.
    Walk,
    /// Interests and the sweep.
    Routine,
}

impl Duty {
    /// All of them, those that come after `last` first.
    fn from(last: Duty) -> impl Iterator<Item = Duty> {
        let all = [Duty::Hints, Duty::Letters, Duty::Walk, Duty::Routine];
        all.into_iter().cycle().skip(last as usize + 1).take(all.len())
    }
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

impl<L: Line> Worker<L> {
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
        while let Ok(acted) = self.acted.1.try_recv() {
            self.settle(acted);
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
        let well = matches!(self.app, AppIs::Well(_)) && self.is_complete();
        let due = fence.into_iter().chain(well.then(|| self.schedule.next_due())).min();
        let app = &mut self.app;
        let news = async {
            match app {
                AppIs::Well(line) => {
                    line.ended().await;
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
            Some(acted) = self.acted.1.recv() => self.settle(acted),
            answers = news => self.app_is_back(answers),
            () = tokio::time::sleep_until(due.unwrap_or_else(now).into()), if due.is_some() => {}
            () = self.out.closed() => return false,
        }
        true
    }

    fn hear(&mut self, note: Note) {
        trace!(?note, "the app announced");
        match note {
            Note::Marker(ticket) => {
                if let Some(fence) = self.fences.iter_mut().find(|fence| fence.ticket == ticket) {
                    fence.passed = true;
                }
                return;
            }
            Note::Refused(why) => {
                if self.refused != why {
                    self.refused = why;
                    self.tell_state();
                }
                return;
            }
            _ => {}
        }
        self.counters.events.fetch_add(1, Ordering::Relaxed);
        match note {
            Note::Changed(element) | Note::Structure(element) => {
                if self.mirror.knows(element) {
                    self.schedule.hint(element);
                } else {
                    self.strangers.insert(element);
                }
            }
            Note::Destroyed(element) => {
                if self.mirror.knows(element) {
                    self.schedule.hint(element);
                    if let Some(parent) = self.mirror.parent(element) {
                        self.schedule.hint(parent);
                    }
                }
            }
            Note::Everything => self.mirror.keys().into_iter().for_each(|key| self.schedule.hint(key)),
            Note::Announced(text) if self.outgoing.len() < MOST_OUTGOING => {
                self.outgoing.push_back(FromWorker::Announcement(text));
            }
            Note::Announced(_) | Note::Marker(_) | Note::Refused(_) => {}
        }
    }

    /// Does the next thing there is to do. False if there is none.
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
        // They take turns: an app that never rests holds up neither the walk nor who asks something.
        for duty in Duty::from(self.last_duty) {
            let worked = match duty {
                Duty::Hints if self.schedule.has_hints() => self.read_hints().await,
                Duty::Hints if self.is_complete() && !self.strangers.is_empty() => {
                    self.place_strangers().await
                }
                Duty::Letters => match self.todo.pop_front() {
                    Some(letter) => {
                        self.answer(letter).await;
                        Ok(())
                    }
                    None => continue,
                },
                Duty::Walk if !self.is_complete() => self.walk_on().await,
                Duty::Routine if self.is_complete() => match self.schedule.due(now()) {
                    Some(Due::Reread(interest)) => self.reread(interest).await,
                    Some(Due::Sweep) => self.sweep().await,
                    None => continue,
                },
                _ => continue,
            };
            if let Err(failure) = worked {
                debug!(%failure, "reading the app failed");
            }
            self.last_duty = duty;
            return true;
        }
        false
    }

    fn is_complete(&self) -> bool {
        matches!(self.walk, Walk::Done)
    }

    /// Answers fences that are reached, or will not be. True if there were any.
    fn settle_fences(&mut self) -> bool {
        let (well, now) = (matches!(self.app, AppIs::Well(_)), now());
        let settled = self.strangers.is_empty() || !self.is_complete();
        let mut answers = Vec::new();
        let mut expired = false;
        let (schedule, app) = (&self.schedule, &self.app);
        self.fences.retain_mut(|fence| {
            if fence.passed && settled && fence.stamp.is_none() {
                fence.stamp = Some(schedule.stamp());
            }
            let result = if fence.stamp.is_some_and(|stamp| schedule.taken(stamp)) {
                Ok(WorkerAnswer::Done)
            } else if !well || (fence.deadline <= now && !fence.passed) {
                expired |= well;
                Err(app.failure())
            } else {
                return true;
            };
            answers.push(FromWorker::Answer { ticket: fence.ticket, result });
            false
        });
        let any = !answers.is_empty();
        if expired {
            self.fall_silent();
        }
        self.outgoing.extend(answers);
        any
    }

    /// Handles the next letter if that takes no reading, or if reading is no use now.
    fn take_quick_letter(&mut self) -> bool {
        let line = match &self.app {
            AppIs::Well(line) => Some(line.clone()),
            AppIs::Silent(..) | AppIs::Ended => None,
        };
        let is_quick = |letter: &ToWorker| {
            line.is_none()
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
            ToWorker::Fence { ticket } => match line {
                Some(line) => {
                    self.counters.calls.fetch_add(1, Ordering::Relaxed);
                    // If this fails the app has ended, and the fence fails as it learns of that.
                    let _ = line.ask(Question::Mark(ticket, self.observer.clone()));
                    let deadline = now() + PATIENCE;
                    self.fences.push(Fence { ticket, deadline, passed: false, stamp: None });
                }
                None => self.tell_answer(ticket, Err(self.app.failure())),
            },
            ToWorker::Walk { ticket, .. }
            | ToWorker::Measure { ticket, .. }
            | ToWorker::Read { ticket, .. }
            | ToWorker::Perform { ticket, .. }
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
            AppIs::Well(_) => self.refused.clone(),
            // Why it is silent, where that is known: it may be that nobody is allowed to ask.
            AppIs::Silent(..) => self.refused.clone().or_else(|| Some(self.app.failure().native)),
            AppIs::Ended => Some(self.app.failure().native),
        };
        let complete = self.is_complete();
        self.outgoing.push_back(FromWorker::State { degraded, complete });
    }

    async fn register(&mut self) -> bool {
        let observer = self.observer.clone();
        if self.ask(|answer| Question::Observe(observer, answer)).await.is_ok() {
            self.walk = Walk::Windows;
        }
        true
    }

    /// Calls the app. If it does not answer in time it is silent from then on, until it is not.
    async fn ask<T>(&mut self, question: impl FnOnce(Answer<T>) -> Question) -> Result<T, Failure> {
        let AppIs::Well(line) = &self.app else { return Err(self.app.failure()) };
        let (answer, reply) = oneshot::channel();
        self.counters.calls.fetch_add(1, Ordering::Relaxed);
        let asked = line.ask(question(answer));
        match tokio::time::timeout(PATIENCE, reply).await {
            Ok(Ok(Ok(answer))) if asked => return Ok(answer),
            Ok(Ok(Err(failure))) if failure.kind != FailureKind::Unresponsive => return Err(failure),
            Ok(Ok(_)) | Err(_) if asked => self.fall_silent(),
            _ => {
                self.app = AppIs::Ended;
                self.tell_state();
            }
        }
        Err(self.app.failure())
    }

    /// The app did not answer in time: nothing is asked of it until it answers a probe, which may take as long as it
    /// likes.
    fn fall_silent(&mut self) {
        let AppIs::Well(line) = &self.app else { return };
        let (answer, probe) = oneshot::channel();
        self.counters.calls.fetch_add(1, Ordering::Relaxed);
        self.app = match line.ask(Question::Awake(answer)) {
            true => AppIs::Silent(line.clone(), probe),
            false => AppIs::Ended,
        };
        self.tell_state();
    }

    /// A silent app has answered, or the app has ended.
    fn app_is_back(&mut self, answers: bool) {
        self.app = match std::mem::replace(&mut self.app, AppIs::Ended) {
            AppIs::Silent(line, _) if answers => AppIs::Well(line),
            _ => AppIs::Ended,
        };
        self.tell_state();
    }
}

impl<L> AppIs<L> {
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
