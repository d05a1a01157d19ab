//! The worker of an attached app: walks it once, then reads again what events hint at, what somebody waits on and,
//! a little at a time, everything.
//!
//! One loop, one thing at a time. What it has to tell waits in `outgoing`; while that cannot be sent it goes on
//! taking in hints, which are a set and stay small, and reads nothing. So a slow listener costs no memory, and an
//! app that hangs holds up nobody but its own worker.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot, watch};
use tracing::{debug, info, trace, warn};

use super::acting::Deed;
use super::ear::Ear;
use super::events::Events;
use super::fences::Fence;
use super::frames;
use super::glance::Glances;
use super::link::{PATIENCE, call};
use super::newcomers::Newcomers;
use super::reader::Reader;
use super::survey::Survey;
use super::walk::{FIRST_STEP, LARGEST_STEP, Walk};
use super::x11::Screen;
use crate::platform::mirror::{Learned, Mirror, Readings};
use crate::platform::schedule::{Due, Pace, Schedule};
use crate::platform::{
    Batch, Cause, Counters, ElementKey, Failure, FailureKind, FromWorker, ToWorker, Update,
};

/// What a worker is given.
pub(super) struct Post {
    /// The app's process.
    pub pid: u32,
    /// For calls to the app.
    pub reader: Reader,
    /// For what it announces.
    pub events: Arc<Events>,
    /// Its unique name, and the path of its own element.
    pub app: super::handles::Handle,
    /// Whether it acts late, once that is known.
    pub late: Arc<AtomicBool>,
    /// What is on the screen, if there is one.
    pub screen: Option<watch::Receiver<Arc<Screen>>>,
    /// What it is asked.
    pub letters: mpsc::UnboundedReceiver<ToWorker>,
    /// Where it tells.
    pub out: mpsc::Sender<FromWorker>,
}

/// Starts a worker.
pub(super) fn spawn(post: Post) {
    let schedule = Schedule::new(Pace::default(), now());
    let counters = Arc::clone(&post.reader.counters);
    let worker = Worker {
        post,
        counters,
        ear: Arc::default(),
        app: AppIs::Well,
        mirror: Mirror::default(),
        schedule,
        survey: Survey::new(now()),
        glances: Glances::default(),
        newcomers: Newcomers::default(),
        walk: Walk::Registering,
        outgoing: VecDeque::new(),
        todo: VecDeque::new(),
        deed: None,
        fences: Vec::new(),
        strangers: HashSet::new(),
        focused: HashSet::new(),
    };
    tokio::spawn(worker.run());
}

pub(super) struct Worker {
    pub(super) post: Post,
    pub(super) counters: Arc<Counters>,
    pub(super) ear: Arc<Ear>,
    pub(super) app: AppIs,
    pub(super) mirror: Mirror,
    pub(super) schedule: Schedule,
    pub(super) survey: Survey,
    pub(super) glances: Glances,
    pub(super) newcomers: Newcomers,
    pub(super) walk: Walk,
    pub(super) outgoing: VecDeque<FromWorker>,
    /// Letters that are not answered yet.
    pub(super) todo: VecDeque<ToWorker>,
    /// The act that is under way; the next waits for it.
    pub(super) deed: Option<Deed>,
    pub(super) fences: Vec<Fence>,
    /// Paths of elements that announced something and were never listed: whoever has them did not say so.
    pub(super) strangers: HashSet<String>,
    /// What was told to have the focus: when something else gets it, these may not say that they lost it.
    pub(super) focused: HashSet<ElementKey>,
}

/// How the app is.
pub(super) enum AppIs {
    Well,
    /// It let a call time out. The probe is answered the moment it answers anything.
    Silent(oneshot::Receiver<bool>),
    Ended,
}

pub(super) fn now() -> Instant {
    // The runtime's clock, which tests can stop.
    tokio::time::Instant::now().into_std()
}

impl Worker {
    async fn run(mut self) {
        let out = self.post.out.clone();
        self.serve(&out).await;
        self.post.events.forget(&self.post.app.bus, &self.ear).await;
        debug!(pid = self.post.pid, "the worker ends");
    }

    async fn serve(&mut self, out: &mpsc::Sender<FromWorker>) {
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
                    () = self.ear.rings() => {}
                    letter = self.post.letters.recv() => match letter {
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
        let heard = self.ear.take();
        self.hear(heard);
        if self.post.screen.as_mut().is_some_and(|screen| screen.has_changed().unwrap_or(false)) {
            self.number_windows();
        }
        loop {
            match self.post.letters.try_recv() {
                Ok(letter) => self.todo.push_back(letter),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
    }

    /// Waits until there is something to do. False once nobody listens or asks any more.
    async fn rest(&mut self) -> bool {
        let fence = self.fences.iter().map(|fence| fence.deadline).min();
        let well = matches!(self.app, AppIs::Well) && matches!(self.walk, Walk::Done);
        let reading = well.then(|| self.schedule.next_due());
        let survey = if well { self.survey.next_due() } else { None };
        let newcomers = if well { self.newcomers.next_due() } else { None };
        let glanced = if well { self.glances.next_due() } else { None };
        let due = fence.into_iter().chain(reading).chain(survey).chain(newcomers).chain(glanced).min();
        let app = &mut self.app;
        let back = async {
            match app {
                AppIs::Silent(probe) => probe.await.unwrap_or(false),
                AppIs::Well | AppIs::Ended => std::future::pending().await,
            }
        };
        let screen = &mut self.post.screen;
        let screen_changes = async {
            match screen {
                Some(screen) => match screen.changed().await {
                    // Only looked at here; taken in with everything else.
                    Ok(()) => screen.mark_changed(),
                    Err(_) => std::future::pending().await,
                },
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            letter = self.post.letters.recv() => match letter {
                Some(letter) => self.todo.push_back(letter),
                None => return false,
            },
            () = self.ear.rings() => {}
            answers = back => {
                self.app = if answers { AppIs::Well } else { AppIs::Ended };
                info!(pid = self.post.pid, answers, "the app that was silent");
                self.tell_state();
            }
            () = screen_changes => {}
            () = tokio::time::sleep_until(due.unwrap_or_else(now).into()), if due.is_some() => {}
            () = self.post.out.closed() => return false,
        }
        true
    }

    /// Does the most urgent thing there is to do. False if there is none.
    async fn work(&mut self) -> bool {
        if self.settle_deed() || self.settle_fences() || self.take_quick_letter() {
            return true;
        }
        if !matches!(self.app, AppIs::Well) {
            return false;
        }
        self.read_thoroughly(false);
        let done = matches!(self.walk, Walk::Done);
        let other_work = self.schedule.has_hints() || !self.todo.is_empty();
        let worked = if matches!(self.walk, Walk::Registering) {
            self.register().await
        } else if self.glances.is_time(other_work) {
            self.glance().await
        } else if self.schedule.has_hints() {
            self.read_hints().await
        } else if done && !self.strangers.is_empty() {
            self.place_strangers().await
        } else if done && self.survey.is_due(now(), self.fences.iter().any(|fence| fence.passed)) {
            self.look_through().await
        } else if let Some(letter) = self.next_letter() {
            self.answer(letter).await
        } else if !done {
            self.walk_on().await
        } else {
            let grown = self.newcomers.take(now());
            match self.schedule.due(now()) {
                _ if !grown.is_empty() => self.read_quietly(grown).await,
                Some(Due::Reread(interest)) => self.reread(interest).await,
                Some(Due::Sweep) => self.sweep().await,
                None => return false,
            }
        };
        if let Err(failure) = worked {
            self.fail(&failure);
        }
        true
    }

    /// Nothing more will be heard: the bus is lost.
    pub(super) fn end(&mut self) {
        if !matches!(self.app, AppIs::Ended) {
            self.app = AppIs::Ended;
            self.tell_state();
        }
    }

    /// A call failed: the app is silent, or the bus is lost.
    fn fail(&mut self, failure: &Failure) {
        if !matches!(self.app, AppIs::Well) {
            return;
        }
        self.app = match failure.kind {
            FailureKind::Unresponsive => {
                let (answer, probe) = oneshot::channel();
                let calls = self.post.reader.calls.clone();
                let app = self.post.app.clone();
                tokio::spawn(async move {
                    let ping = call(&app.bus, &app.path, "org.freedesktop.DBus.Peer", "Ping", &());
                    let _ = answer.send(calls.probe(ping).await);
                });
                AppIs::Silent(probe)
            }
            _ => AppIs::Ended,
        };
        warn!(pid = self.post.pid, %failure, "reading the app failed");
        self.tell_state();
    }

    /// Tells how the app is.
    pub(super) fn tell_state(&mut self) {
        let degraded = match &self.app {
            AppIs::Well => None,
            AppIs::Silent(..) | AppIs::Ended => Some(self.app.failure().native),
        };
        let complete = matches!(self.walk, Walk::Done);
        self.outgoing.push_back(FromWorker::State { degraded, complete });
    }

    async fn read_hints(&mut self) -> Result<(), Failure> {
        let hinted = self.schedule.take_hints(FIRST_STEP);
        let known: Vec<ElementKey> =
            hinted.iter().copied().filter(|key| self.mirror.has_told(*key)).collect();
        known.iter().for_each(|key| self.glances.done(*key));
        match self.gather(known, true).await {
            Ok(readings) => {
                self.learn(readings, Cause::Event);
                Ok(())
            }
            Err(failure) => {
                hinted.into_iter().for_each(|key| self.schedule.hint(key));
                Err(failure)
            }
        }
    }

    async fn reread(&mut self, interest: u64) -> Result<(), Failure> {
        let all = self.mirror.below(self.schedule.watched(interest));
        let mut found = false;
        if self.survey.in_turns {
            found = self.compare_children(&all).await?;
        }
        let turn = self.schedule.turn(interest, all);
        let readings = self.gather(turn, true).await?;
        found |= self.learn_unannounced(readings, Cause::Reread) > 0;
        self.schedule.reread(interest, found, now());
        Ok(())
    }

    async fn sweep(&mut self) -> Result<(), Failure> {
        let mirror = &self.mirror;
        let mut some = self.schedule.sweep(|| mirror.keys(), now());
        some.retain(|key| self.mirror.has_told(*key));
        let readings = self.gather(some, true).await?;
        self.learn_unannounced(readings, Cause::Sweep);
        let (mirror, told) = (&self.mirror, self.mirror.len());
        self.post.reader.tidy(told, |key| mirror.knows(key));
        Ok(())
    }

    /// Reads elements again that nobody announced anything about.
    async fn read_quietly(&mut self, mut some: Vec<ElementKey>) -> Result<(), Failure> {
        some.retain(|key| self.mirror.has_told(*key));
        let readings = self.gather(some, true).await?;
        self.learn_unannounced(readings, Cause::Sweep);
        Ok(())
    }

    /// Reads elements, and whatever must be read with them.
    pub(super) async fn gather(&mut self, seeds: Vec<ElementKey>, whole: bool) -> Result<Readings, Failure> {
        let mut readings = Readings::default();
        let mut next = seeds;
        while !next.is_empty() {
            self.read_into(&mut readings, &next).await?;
            next = self.mirror.wanting(&readings, whole);
        }
        Ok(readings)
    }

    pub(super) async fn read_into(
        &mut self,
        readings: &mut Readings,
        keys: &[ElementKey],
    ) -> Result<(), Failure> {
        for some in keys.chunks(LARGEST_STEP) {
            let mut read = self.post.reader.read(some).await?;
            let windows = |role: axd_protocol::Role| role.is_window();
            if read.iter().any(|(_, reading)| reading.as_ref().is_some_and(|r| windows(r.facts.role))) {
                self.number_windows();
                for (key, reading) in &mut read {
                    if let Some(reading) = reading {
                        reading.facts.window = self.post.reader.numbers.get(key).copied();
                    }
                }
            }
            read.into_iter().for_each(|(key, reading)| readings.add(key, reading));
        }
        Ok(())
    }

    /// Tells what follows from readings; answers what they list and is not read yet.
    pub(super) fn learn(&mut self, readings: Readings, cause: Cause) -> Vec<ElementKey> {
        let new: Vec<ElementKey> = match self.post.reader.toolkit.announces_children() {
            false => readings.keys().filter(|key| !self.mirror.has_told(*key)).collect(),
            true => Vec::new(),
        };
        let Learned { updates, unread, cut, .. } = self.mirror.apply(readings);
        new.into_iter().for_each(|key| self.newcomers.add(key, now()));
        if cut > 0 {
            debug!(cut, "the app claims cycles or second parents; they are left out");
        }
        self.note_focus(&updates);
        if !updates.is_empty() {
            self.outgoing.push_back(FromWorker::Batch(Batch { cause, updates }));
        }
        unread
    }

    /// The same for readings that nothing announced; counts what is different and answers how much that is.
    pub(super) fn learn_unannounced(&mut self, readings: Readings, cause: Cause) -> u64 {
        // What the app announced before it answered has mostly come by now, so it is known what it did not announce.
        self.take_in();
        let mut missed = 0;
        let Learned { updates, .. } = self.mirror.apply(readings);
        for update in &updates {
            let (Update::Gone(key) | Update::Upsert { key, .. } | Update::Children { parent: key, .. }) =
                update;
            let above = self.mirror.parent(*key);
            let announced = self.schedule.is_hinted(*key)
                || self.glances.knows(*key)
                || above.is_some_and(|above| self.schedule.is_hinted(above));
            missed += u64::from(!announced);
            if !announced {
                trace!(pid = self.post.pid, ?cause, ?update, "nobody announced");
            }
        }
        self.note_focus(&updates);
        self.counters.missed.fetch_add(missed, Relaxed);
        if !updates.is_empty() {
            let cause = if missed == 0 { Cause::Event } else { cause };
            self.outgoing.push_back(FromWorker::Batch(Batch { cause, updates }));
        }
        missed
    }

    pub(super) fn screen(&self) -> Option<Arc<Screen>> {
        self.post.screen.as_ref().map(|screen| Arc::clone(&screen.borrow()))
    }

    /// Finds out which window of the screen each of the app's windows is, and has those read again that are another now.
    fn number_windows(&mut self) {
        if self.post.screen.is_none() {
            let reader = &mut self.post.reader;
            let numbered = reader
                .frames
                .keys()
                .filter_map(|key| Some((*key, frames::number(reader.handles.get(*key)?))));
            reader.numbers = numbered.collect();
            return;
        }
        let Some(screen) = self.post.screen.as_mut().map(|screen| Arc::clone(&screen.borrow_and_update()))
        else {
            return;
        };
        let reader = &mut self.post.reader;
        let mut keys: Vec<ElementKey> = reader.frames.keys().copied().collect();
        keys.sort_unstable();
        let frames: Vec<super::windows::Frame> =
            keys.iter().filter_map(|key| reader.frames.get(key).cloned()).collect();
        let numbers = super::windows::numbers(&frames, self.post.pid, &screen);
        for (key, number) in keys.into_iter().zip(numbers) {
            let before = reader.numbers.get(&key).copied();
            // One that went off the screen keeps its number: a minimised window is still the same.
            if let Some(number) = number.filter(|number| Some(*number) != before) {
                reader.numbers.insert(key, number);
                if self.mirror.has_told(key) {
                    self.schedule.hint(key);
                }
            }
        }
    }
}

impl AppIs {
    pub(super) fn failure(&self) -> Failure {
        match self {
            AppIs::Ended => Failure::new(FailureKind::Gone, "the app has left the accessibility bus"),
            AppIs::Well | AppIs::Silent(..) => Failure::new(
                FailureKind::Unresponsive,
                format!("the app has not answered for {} ms", PATIENCE.as_millis()),
            ),
        }
    }
}
