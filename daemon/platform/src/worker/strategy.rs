//! Read strategies: ways to keep up with an app besides reading what is dirty, what somebody waits on and the sweep.
//!
//! What an app needs of them is up to its platform, which hands them to the worker with the app
//! ([`AppBackend::Strategies`](super::AppBackend)). The worker polls them at fixed points of its work, each a [`Turn`]. A
//! strategy marks elements dirty or hands over what it read; only the worker applies readings and sends updates.

use std::time::Instant;

use super::WorkerState;
use crate::mirror::Readings;
use crate::{ElementKey, Failure};

/// The points at which a worker polls its strategies.
#[derive(Debug, Clone, Copy)]
pub enum Turn<'a> {
    /// Before dirty elements are read, also during the first walk.
    First {
        /// Whether requests wait for their replies.
        requests_wait: bool,
    },
    /// When the first walk is done, no element is dirty and every element has its place.
    Idle,
    /// Before interests and the sweep, whether or not elements are dirty.
    Routine,
    /// When these elements are about to be read because somebody waits on them. Those that differ from what was last read are
    /// marked dirty, where that costs less than reading them; it is [`Progress::Made`] if there are any.
    Interest(&'a [ElementKey]),
}

/// What a strategy did in its turn.
#[derive(Debug)]
pub enum Progress {
    /// Nothing was due.
    None,
    /// It worked; what it found is marked dirty.
    Made,
    /// It read these elements, because events named them.
    Found(Readings),
    /// It has these elements read, though no event named them.
    Read(Vec<ElementKey>),
}

/// The result of a step. It fails only if the app is unresponsive or has ended.
pub type StepResult = Result<Progress, Failure>;

/// A way to keep up with the app `A`; or several, polled in order.
pub trait ReadStrategy<A>: Send {
    /// Does what is due in this turn.
    fn step(
        &mut self,
        _: Turn<'_>,
        _: &mut A,
        _: &mut WorkerState,
    ) -> impl Future<Output = StepResult> + Send {
        std::future::ready(Ok(Progress::None))
    }

    /// When it must be polled next, if nothing else happens before.
    fn next_due(&self, _app: &A) -> Option<Instant> {
        None
    }

    /// Marks all elements dirty that have pending events from before a fence. False if the fence must wait for something else
    /// first, which `prerequisite` records for this fence. Called again and again until the fence is reached.
    fn flush(&mut self, _app: &A, _state: &mut WorkerState, _prerequisite: &mut Option<u64>) -> bool {
        true
    }

    /// Whether it holds an event for the element, which is therefore not dirty.
    fn has_pending_event(&self, _key: ElementKey) -> bool {
        false
    }

    /// Called before dirty elements are read.
    fn on_dirty_read(&mut self, _dirty: &[ElementKey]) {}

    /// Called when elements were read for the first time.
    fn on_new_elements(&mut self, _new: &[ElementKey], _app: &A, _state: &WorkerState) {}
}

/// No strategy, for apps that announce what is needed.
impl<A> ReadStrategy<A> for () {}
