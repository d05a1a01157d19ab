//! The worker's interface to its app: what a platform must implement to read the app and act on it.

use std::ops::Range;
use std::time::Instant;

use axd_protocol::Point;
use tokio::sync::oneshot;

use super::{ReadStrategy, WorkerState};
use crate::mirror::Readings;
use crate::{Act, ElementKey, Failure, FailureKind, Gate, Measured, Responder};

/// An app that a worker is attached to.
///
/// A method fails only if the app is unresponsive or has ended. That an element is gone is a result, not a failure.
pub trait AppBackend: Sized + Send + 'static {
    /// What is read besides, and when; `()` if nothing is.
    type Strategies: ReadStrategy<Self> + Default + 'static;

    /// How many elements are read at a time.
    const STEPS: Steps;
    /// Whether an app that lets a fence time out counts as unresponsive. Where events take another path than replies, the
    /// replies decide instead.
    const FENCE_TIMEOUT_MEANS_UNRESPONSIVE: bool;
    /// The error text for an app that has ended.
    const ENDED: &'static str;

    /// Registers for the app's events, and reads what must be known before any element is read.
    fn register(&mut self, state: &mut WorkerState) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Handles, without waiting, the events and the results of actions that have arrived since the last call.
    fn drain_events(&mut self, strategies: &mut Self::Strategies, state: &mut WorkerState);

    /// Waits until there is something for `drain_events`. The future may be dropped while it waits.
    fn wait_for_event(&mut self) -> impl Future<Output = ()> + Send;

    /// Reads elements.
    fn read(
        &mut self,
        state: &mut WorkerState,
        keys: &[ElementKey],
        into: &mut Readings,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Reads only the children of elements where that is cheaper; else reads the elements.
    fn read_children(
        &mut self,
        state: &mut WorkerState,
        keys: &[ElementKey],
        into: &mut Readings,
    ) -> impl Future<Output = Result<(), Failure>> + Send {
        self.read(state, keys, into)
    }

    /// The elements in these rows of a container that lists only some of its rows.
    fn read_rows(
        &mut self,
        _key: ElementKey,
        _rows: Range<u32>,
    ) -> impl Future<Output = Result<Vec<ElementKey>, Failure>> + Send {
        let why = "rows that are not on the screen cannot be read on this platform";
        std::future::ready(Err(Failure::new(FailureKind::NotSupported, why)))
    }

    /// From now on lists these rows of a container, and no others, besides those on the screen.
    fn keep_rows(&mut self, _key: ElementKey, _rows: Vec<u32>) {}

    /// Lists the children of an element the next time that it is read, where they are listed on request only.
    fn unfold(&mut self, _key: ElementKey) {}

    /// The front window, which is walked first. Called once the windows have been read.
    fn front_window(
        &mut self,
        state: &WorkerState,
        windows: &[ElementKey],
    ) -> impl Future<Output = Result<Option<ElementKey>, Failure>> + Send;

    /// Reads the bounds of elements; those that are gone are left out.
    fn measure(
        &mut self,
        state: &WorkerState,
        keys: &[ElementKey],
    ) -> impl Future<Output = Result<Vec<Measured>, Failure>> + Send;

    /// The path from the app down to the smallest element at a point. Empty if nothing of the app is there.
    fn hit_test(
        &mut self,
        state: &WorkerState,
        point: Point,
    ) -> impl Future<Output = Result<Vec<ElementKey>, Failure>> + Send;

    /// The path from the app down to an element. Empty if it is gone.
    fn path(
        &mut self,
        state: &WorkerState,
        key: ElementKey,
    ) -> impl Future<Output = Result<Vec<ElementKey>, Failure>> + Send;

    /// Starts an action on an element; its result arrives later, through `drain_events`.
    fn perform(
        &mut self,
        state: &mut WorkerState,
        key: ElementKey,
        act: Act,
        gate: Gate,
        reply: Responder<()>,
    );

    /// Whether an action is running that the next one must wait for.
    fn is_acting(&self) -> bool {
        false
    }

    /// Sends a round trip on the path of the app's events. When it returns, after everything announced before, it passes the
    /// fence with this mark.
    fn send_fence(&mut self, mark: u64);

    /// Sends a probe, which the app may reply to at any time. `None`: it has ended. The receiver fails when the app ends.
    fn probe(&mut self) -> Option<oneshot::Receiver<()>>;

    /// When the app last answered a call, if that is known.
    fn last_answer(&self) -> Option<Instant> {
        None
    }

    /// How many elements the next step of the walk or of an interest may have at most, by what they cost.
    fn max_step(&self) -> usize {
        usize::MAX
    }

    /// Whether the sweep may go on.
    fn may_sweep(&self) -> bool {
        true
    }

    /// Whether this failure means that the app has ended.
    fn is_lost(&self, failure: &Failure) -> bool;

    /// Forgets elements that are gone. Called after each step of the sweep.
    fn forget_removed(&mut self, _strategies: &mut Self::Strategies, _state: &WorkerState) {}

    /// Called when the worker is detached from the app.
    fn detach(&mut self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

/// How many elements are read at a time.
#[derive(Debug, Clone, Copy)]
pub struct Steps {
    /// The batch size for dirty elements and for the first step of the walk.
    pub first: usize,
    /// The factor by which the steps of the walk grow.
    pub growth: usize,
    /// The largest step. Steps are large so that the children of a parent with very many are not sent too often.
    pub largest: usize,
}
