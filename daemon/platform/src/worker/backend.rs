//! An app as its worker has it: what must be had of it to read it and to have things done, and where it may do more than others.

use std::ops::Range;
use std::time::Instant;

use axd_protocol::Point;
use tokio::sync::oneshot;

use super::WorkerState;
use crate::mirror::Readings;
use crate::{Act, ElementKey, Failure, FailureKind, Gate, Measured, Responder};

/// An app that a worker is attached to.
///
/// What fails here failed because the app is silent or has ended; that an element is gone is an answer.
pub trait AppBackend: Send + 'static {
    /// How many elements are read at a time.
    const STEPS: Steps;
    /// Whether an app that lets a fence expire is silent. Where its events come another way than its answers, those tell.
    const SILENT_BY_FENCE: bool;
    /// How it is said that it has ended.
    const ENDED: &'static str;

    /// Has all told that happens from now on, and learns what must be known before anything is read.
    fn register(&mut self, state: &mut WorkerState) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Takes in, without waiting, what it told since the last time, and what came of acts.
    fn drain_events(&mut self, state: &mut WorkerState);

    /// Waits until there is something to take in. May be dropped while it waits.
    fn wait_for_event(&mut self) -> impl Future<Output = ()> + Send;

    /// Reads elements.
    fn read(
        &mut self,
        state: &mut WorkerState,
        keys: &[ElementKey],
        into: &mut Readings,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Reads only the children of elements, where that is less; else the elements.
    fn read_children(
        &mut self,
        state: &mut WorkerState,
        keys: &[ElementKey],
        into: &mut Readings,
    ) -> impl Future<Output = Result<(), Failure>> + Send {
        self.read(state, keys, into)
    }

    /// What is in these rows of a container that shows only some of them.
    fn read_rows(
        &mut self,
        _key: ElementKey,
        _rows: Range<u32>,
    ) -> impl Future<Output = Result<Vec<ElementKey>, Failure>> + Send {
        let why = "rows that are not on the screen cannot be read on this platform";
        std::future::ready(Err(Failure::new(FailureKind::NotSupported, why)))
    }

    /// Has these rows of a container listed with those on the screen from now on, and no others.
    fn keep_rows(&mut self, _key: ElementKey, _rows: Vec<u32>) {}

    /// The window in front, which is walked first. Asked once the windows are read.
    fn front_window(
        &mut self,
        state: &WorkerState,
        windows: &[ElementKey],
    ) -> impl Future<Output = Result<Option<ElementKey>, Failure>> + Send;

    /// Where elements are; what is gone is left out.
    fn measure(
        &mut self,
        state: &WorkerState,
        keys: &[ElementKey],
    ) -> impl Future<Output = Result<Vec<Measured>, Failure>> + Send;

    /// What is at a point: the app, and on down to the smallest. Empty if nothing of the app is there.
    fn hit_test(
        &mut self,
        state: &WorkerState,
        point: Point,
    ) -> impl Future<Output = Result<Vec<ElementKey>, Failure>> + Send;

    /// Where an element is: the app, and on down to it. Empty if it is gone.
    fn path(
        &mut self,
        state: &WorkerState,
        key: ElementKey,
    ) -> impl Future<Output = Result<Vec<ElementKey>, Failure>> + Send;

    /// Begins to do something to an element; what comes of it is taken in later.
    fn perform(
        &mut self,
        state: &mut WorkerState,
        key: ElementKey,
        act: Act,
        gate: Gate,
        reply: Responder<()>,
    );

    /// Whether it is at something that the next act must wait for.
    fn is_acting(&self) -> bool {
        false
    }

    /// Asks for a sign of life that comes after all that was announced, and passes the fence of this mark.
    fn send_fence(&mut self, mark: u64);

    /// Asks for any sign of life, however long it takes. `None`: it has ended. The receiver fails when it does.
    fn probe(&mut self) -> Option<oneshot::Receiver<()>>;

    /// Whether such a failure means that it has ended.
    fn is_lost(&self, failure: &Failure) -> bool;

    /// Looks at what cannot wait for the next reading. False if there is nothing.
    fn quick_read(
        &mut self,
        _books: &mut WorkerState,
        _requests_wait: bool,
    ) -> impl Future<Output = Result<bool, Failure>> + Send {
        std::future::ready(Ok(false))
    }

    /// Looks through it for what it does not announce, if it is time. False if it is not.
    fn rescan(&mut self, _books: &mut WorkerState) -> impl Future<Output = Result<bool, Failure>> + Send {
        std::future::ready(Ok(false))
    }

    /// Has those of the elements read again that can be seen, at less cost than reading, to have changed. True if there
    /// are any.
    fn diff_children(
        &mut self,
        _books: &mut WorkerState,
        _keys: &[ElementKey],
    ) -> impl Future<Output = Result<bool, Failure>> + Send {
        std::future::ready(Ok(false))
    }

    /// When it must be looked at again, besides what the schedule says.
    fn next_due(&self) -> Option<Instant> {
        None
    }

    /// Takes elements that are to be read once more by now.
    fn take_due(&mut self) -> Vec<ElementKey> {
        Vec::new()
    }

    /// Hints at all that was announced before a fence and is not hinted at yet. Said as long as a fence waits.
    fn flush_events(&mut self, _books: &mut WorkerState) {}

    /// Whether all that happened before a fence is hinted at. `errand` is the fence's own, to note what must be done
    /// for it before.
    fn is_flushed(&mut self, _complete: bool, _errand: &mut Option<u64>) -> bool {
        true
    }

    /// Whether it announced something about the element that is not hinted at yet.
    fn has_pending_event(&self, _key: ElementKey) -> bool {
        false
    }

    /// Elements that were hinted at are about to be read.
    fn before_read(&mut self, _hinted: &[ElementKey]) {}

    /// Elements were read for the first time, in the first walk or after an event.
    fn on_new_elements(&mut self, _new: &[ElementKey]) {}

    /// The first walk is done.
    fn on_walk_done(&mut self) {}

    /// A step of the sweep is done.
    fn on_sweep_step(&mut self, _books: &WorkerState) {}

    /// Nobody is attached to it any more.
    fn detach(&mut self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

/// How many elements are read at a time.
#[derive(Debug, Clone, Copy)]
pub struct Steps {
    /// Of those that were hinted at, and in the first step of the walk.
    pub first: usize,
    /// By how much the steps of the walk grow.
    pub growth: usize,
    /// As far as this, so that a parent of very many is not told its children too often.
    pub largest: usize,
}
