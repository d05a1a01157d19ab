//! The worker of an attached app: walks it once, then reads again what events hint at, what somebody waits on and,
//! a little at a time, everything.
//!
//! One loop, one thing at a time. What it has to tell waits in its books; while that cannot be sent it goes on
//! taking in hints, which are a set and stay small, and reads nothing. So a slow listener costs no memory, and an app that
//! hangs holds up nobody but its own worker.
//!
//! It knows nothing native: `app` is all it has of the app. `books` (with `fences` and `flood`) is what it keeps, `walk` how it begins,
//! `reading` how it goes on and how it answers. `lined` is an app that is reached over a `line`, as all are that keep
//! their elements in a thread of their own; `acting` is how that one acts.

mod acting;
mod app;
mod books;
mod fences;
mod flood;
mod line;
mod lined;
mod reading;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TryRecvError;
use tracing::{debug, info, warn};

use books::{Health, Walk};
use lined::Lined;

pub use app::{App, Steps};
pub use books::Books;
pub use line::{Answer, Line, Note, Question};

use crate::{Counters, Failure, FailureKind, FromWorker, ToWorker};

/// How long an app may be silent while it owes an answer.
pub const PATIENCE: Duration = Duration::from_millis(800);

/// Starts the worker of an app that is reached over a line; without one it only says that the app has ended.
pub fn spawn<L: Line>(
    line: Option<L>,
    letters: mpsc::UnboundedReceiver<ToWorker>,
    out: mpsc::Sender<FromWorker>,
    counters: Arc<Counters>,
) {
    tokio::spawn(work_for(Lined::new(line), letters, out, counters));
}

/// Is the worker of an app, until its mailbox is dropped.
pub async fn work_for<A: App>(
    app: A,
    letters: mpsc::UnboundedReceiver<ToWorker>,
    out: mpsc::Sender<FromWorker>,
    counters: Arc<Counters>,
) {
    let books = Books::new(counters, A::ENDED);
    let mut worker = Worker { app, books, letters, out, todo: VecDeque::new(), last_duty: Duty::Routine };
    worker.run().await;
    worker.app.leave().await;
    debug!("the worker ends");
}

struct Worker<A> {
    app: A,
    books: Books,
    letters: mpsc::UnboundedReceiver<ToWorker>,
    out: mpsc::Sender<FromWorker>,
    /// Letters that are not answered yet.
    todo: VecDeque<ToWorker>,
    last_duty: Duty,
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

/// The runtime's clock, which tests can stop.
pub fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// The app let a call time out.
pub fn silent() -> Failure {
    let text = format!("the app has not answered for {} ms", PATIENCE.as_millis());
    Failure::new(FailureKind::Unresponsive, text)
}

impl<A: App> Worker<A> {
    async fn run(&mut self) {
        let out = self.out.clone();
        loop {
            if !self.take_in() {
                return;
            }
            if self.books.has_outgoing() {
                tokio::select! {
                    biased;
                    permit = out.reserve() => match (permit, self.books.next_outgoing()) {
                        (Ok(permit), Some(message)) => permit.send(message),
                        _ => return,
                    },
                    () = self.app.news() => {}
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
        self.app.take_in(&mut self.books);
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
        let reads = self.books.is_well() && self.books.is_complete();
        let routine = reads.then(|| self.books.schedule.next_due());
        let more = if reads { self.app.next_due() } else { None };
        let held_up = if self.books.is_well() { self.held_up() } else { None };
        let fence = self.books.fences.deadline();
        let due = [fence, routine, more, held_up].into_iter().flatten().min();
        let health = &mut self.books.health;
        let back = async {
            match health {
                Health::Silent(probe) => probe.await.is_ok(),
                Health::Well | Health::Ended => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            letter = self.letters.recv() => match letter {
                Some(letter) => self.todo.push_back(letter),
                None => return false,
            },
            () = self.app.news() => {}
            answers = back => self.is_back(answers),
            () = tokio::time::sleep_until(due.unwrap_or_else(now).into()), if due.is_some() => {}
            () = self.out.closed() => return false,
        }
        true
    }

    /// Does the next thing there is to do. False if there is none.
    async fn work(&mut self) -> bool {
        if self.settle_fences() || self.take_quick_letter() {
            return true;
        }
        if !self.books.is_well() {
            return false;
        }
        // They take turns: an app that never rests holds up neither the walk nor who asks something.
        for duty in Duty::from(self.last_duty) {
            let worked = match duty {
                _ if matches!(self.books.walk, Walk::Registering) => self.register().await,
                Duty::Hints => self.attend().await,
                Duty::Letters => self.answer_next().await,
                Duty::Walk => self.walk_on().await,
                Duty::Routine => self.read_routinely().await,
            };
            match worked {
                Ok(true) => {}
                Ok(false) => continue,
                Err(failure) => self.fail(&failure),
            }
            self.last_duty = duty;
            return true;
        }
        false
    }

    /// Answers fences that are reached, or will not be. True if there were any.
    fn settle_fences(&mut self) -> bool {
        if self.books.fences.any_passed() {
            self.app.hurry(&mut self.books);
        }
        let (well, complete) = (self.books.is_well(), self.books.is_complete());
        let (app, Books { fences, schedule, strangers, .. }) = (&mut self.app, &mut self.books);
        let settled = fences.settle(schedule, well, now(), |errand| {
            let clear = app.is_clear(complete, errand);
            clear && (strangers.is_empty() || !complete)
        });
        let failure = self.books.failure();
        if A::SILENT_BY_FENCE && settled.iter().any(|fence| !fence.reached) {
            self.fail(&failure);
        }
        let any = !settled.is_empty();
        for fence in settled {
            let result = if fence.reached { Ok(()) } else { Err(failure.clone()) };
            self.books.reply(fence.reply, result);
        }
        any
    }

    /// Handles the next letter if that takes no reading, or if reading is no use now.
    fn take_quick_letter(&mut self) -> bool {
        use ToWorker as To;
        let well = self.books.is_well();
        let is_quick = |letter: &ToWorker| {
            !well || matches!(letter, To::Watch { .. } | To::Unwatch { .. } | To::Fence { .. })
        };
        let Some(at) = self.todo.iter().position(is_quick) else { return false };
        let Some(letter) = self.todo.remove(at) else { return false };
        match letter {
            To::Watch { interest, keys } => self.books.schedule.watch(interest, keys, now()),
            To::Unwatch { interest } => self.books.schedule.unwatch(interest),
            To::Fence { reply } if well => {
                self.books.count_call();
                let mark = self.books.fences.raise(reply, now());
                self.app.mark(mark);
            }
            letter => {
                let failed = letter.fail(self.books.failure());
                failed.into_iter().for_each(|reply| self.books.send_reply(reply));
            }
        }
        true
    }

    /// Something could not be had of the app. If it timed out nothing is asked of it until it answers a
    /// probe, which may take as long as it likes.
    fn fail(&mut self, failure: &Failure) {
        if !self.books.is_well() {
            return;
        }
        if failure.kind == FailureKind::Unresponsive {
            self.books.count_call();
            let Some(probe) = self.app.probe() else { return self.books.end() };
            warn!(%failure, "the app is silent");
            self.books.health = Health::Silent(probe);
            self.books.tell_state();
        } else if self.app.is_lost(failure) {
            warn!(%failure, "the app is lost");
            self.books.end();
        } else {
            debug!(%failure, "reading the app failed");
        }
    }

    /// A silent app has answered, or it has ended.
    fn is_back(&mut self, answers: bool) {
        info!(answers, "the app that was silent");
        if !answers {
            return self.books.end();
        }
        self.books.health = Health::Well;
        self.books.tell_state();
    }
}
