//! An app that is reached over a line.

use axd_protocol::Point;
use tokio::sync::{mpsc, oneshot};
use tracing::trace;

use super::acting::Acted;
use super::{Answer, App, Books, Line, Note, PATIENCE, Question, Steps, silent};
use crate::mirror::Readings;
use crate::{Act, ElementKey, Failure, FailureKind, Gate, Measured, Responder};

/// An app, and what it told.
pub(super) struct Lined<L> {
    /// `None`: it has ended.
    pub(super) line: Option<L>,
    observer: mpsc::UnboundedSender<Note>,
    notes: mpsc::UnboundedReceiver<Note>,
    /// Notes that were waited for and are not taken in yet.
    heard: Vec<Note>,
    /// Where it is told what comes of acts that are under way.
    pub(super) acts: mpsc::UnboundedSender<Acted>,
    outcomes: mpsc::UnboundedReceiver<Acted>,
    /// Outcomes that were waited for and are not taken in yet.
    acted: Vec<Acted>,
}

impl<L: Line> Lined<L> {
    /// An app at the other end of a line; without one, an app that has ended.
    pub fn new(line: Option<L>) -> Lined<L> {
        let (observer, notes) = mpsc::unbounded_channel();
        let (acts, outcomes) = mpsc::unbounded_channel();
        Lined { line, observer, notes, heard: Vec::new(), acts, outcomes, acted: Vec::new() }
    }

    /// Asks the app, and waits as long as it is given to answer.
    async fn ask<T>(
        &mut self,
        books: &Books,
        question: impl FnOnce(Answer<T>) -> Question,
    ) -> Result<T, Failure> {
        let (answer, reply) = oneshot::channel();
        books.count_call();
        let asked = self.line.as_ref().is_some_and(|line| line.ask(question(answer)));
        match tokio::time::timeout(PATIENCE, reply).await {
            Ok(Ok(Err(failure))) if failure.kind == FailureKind::Unresponsive => Err(silent()),
            Ok(Ok(answer)) => answer,
            Err(_) if asked => Err(silent()),
            Ok(Err(_)) | Err(_) => {
                self.line = None;
                Err(Failure::new(FailureKind::Gone, Self::ENDED))
            }
        }
    }

    fn hear(&mut self, note: Note, books: &mut Books) {
        trace!(?note, "the app announced");
        match note {
            Note::Marker(mark) => return books.fences.pass(mark),
            Note::Refused(why) => return books.refuse(why),
            Note::Changed(element) | Note::Structure(element) if books.mirror.knows(element) => {
                books.schedule.hint(element);
            }
            Note::Changed(element) | Note::Structure(element) => drop(books.strangers.insert(element)),
            Note::Destroyed(element) => {
                let parent = books.mirror.parent(element);
                books.hint_known([element].into_iter().chain(parent));
            }
            Note::Everything => books.hint_all(),
            Note::Announced(text) => books.announce(text),
        }
        books.counters.events.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

impl<L: Line> App for Lined<L> {
    const STEPS: Steps = Steps { first: L::MOST, growth: 4, largest: 4_096 };
    const SILENT_BY_FENCE: bool = true;
    const ENDED: &'static str = "the app has ended";

    async fn register(&mut self, books: &mut Books) -> Result<(), Failure> {
        let observer = self.observer.clone();
        self.ask(books, |answer| Question::Observe(observer, answer)).await
    }

    fn take_in(&mut self, books: &mut Books) {
        std::mem::take(&mut self.heard).into_iter().for_each(|note| self.hear(note, books));
        while let Ok(note) = self.notes.try_recv() {
            self.hear(note, books);
        }
        std::mem::take(&mut self.acted).into_iter().for_each(|acted| acted.settle(books, L::MOST));
        while let Ok(acted) = self.outcomes.try_recv() {
            acted.settle(books, L::MOST);
        }
        if self.line.is_none() {
            books.end();
        } else if books.has_ended() {
            // Whatever keeps the elements at its other end may go now.
            self.line = None;
        }
    }

    async fn news(&mut self) {
        let line = self.line.as_ref();
        let ended = async {
            match line {
                Some(line) => line.ended().await,
                None => std::future::pending().await,
            }
        };
        // Never closed: both senders are kept here.
        tokio::select! {
            biased;
            _ = self.notes.recv_many(&mut self.heard, 1) => {}
            _ = self.outcomes.recv_many(&mut self.acted, 1) => {}
            () = ended => self.line = None,
        }
    }

    async fn read(
        &mut self,
        books: &mut Books,
        keys: &[ElementKey],
        into: &mut Readings,
    ) -> Result<(), Failure> {
        for some in keys.chunks(L::MOST) {
            let asked = some.to_vec();
            let read = self.ask(books, |answer| Question::Read(asked, answer)).await?;
            some.iter().zip(read).for_each(|(key, reading)| into.add(*key, reading));
        }
        Ok(())
    }

    async fn front(&mut self, books: &Books, _windows: &[ElementKey]) -> Result<Option<ElementKey>, Failure> {
        self.ask(books, Question::Front).await
    }

    async fn measure(&mut self, books: &Books, keys: &[ElementKey]) -> Result<Vec<Measured>, Failure> {
        let mut measured = Vec::with_capacity(keys.len());
        for some in keys.chunks(L::MOST) {
            let some = some.to_vec();
            measured.extend(self.ask(books, |answer| Question::Measure(some, answer)).await?);
        }
        Ok(measured)
    }

    async fn at(&mut self, books: &Books, point: Point) -> Result<Vec<ElementKey>, Failure> {
        self.ask(books, |answer| Question::At(point, answer)).await
    }

    async fn path(&mut self, books: &Books, key: ElementKey) -> Result<Vec<ElementKey>, Failure> {
        self.ask(books, |answer| Question::Path(key, answer)).await
    }

    fn perform(&mut self, books: &mut Books, key: ElementKey, act: Act, gate: Gate, reply: Responder<()>) {
        self.begin(books, key, act, gate, reply);
    }

    fn mark(&mut self, mark: u64) {
        if let Some(line) = &self.line {
            // If this fails the app has ended, and the fence fails as it learns of that.
            let _ = line.ask(Question::Mark(mark, self.observer.clone()));
        }
    }

    fn probe(&mut self) -> Option<oneshot::Receiver<()>> {
        let (answer, probe) = oneshot::channel();
        self.line.as_ref()?.ask(Question::Awake(answer)).then_some(probe)
    }

    fn is_lost(&self, _failure: &Failure) -> bool {
        self.line.is_none()
    }
}
