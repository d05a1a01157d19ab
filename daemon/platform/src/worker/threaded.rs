//! The backend for an app that is reached through an `AppHandle`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axd_protocol::Point;
use tokio::sync::{mpsc, oneshot};
use tracing::trace;

use super::action::FinishedAction;
use super::{
    APP_REPLY_TIMEOUT, AppBackend, AppHandle, AppNotification, AppRequest, Pulse, ReplySender, Steps,
    WorkerState, now, unresponsive,
};
use crate::mirror::Readings;
use crate::schedule::Pace;
use crate::{Act, ElementKey, Failure, FailureKind, Gate, Measured, Responder};

/// An app with its notifications and the results of its actions.
pub(super) struct ThreadedApp<L> {
    /// `None`: it has ended.
    pub(super) handle: Option<L>,
    observer: mpsc::UnboundedSender<AppNotification>,
    notifications: mpsc::UnboundedReceiver<AppNotification>,
    /// Notifications that were waited for and are not handled yet.
    received: Vec<AppNotification>,
    /// Where the results of running actions are sent.
    pub(super) finished_sender: mpsc::UnboundedSender<FinishedAction>,
    finished: mpsc::UnboundedReceiver<FinishedAction>,
    /// Results that were waited for and are not handled yet.
    received_finished: Vec<FinishedAction>,
    /// What reading an element has cost lately.
    cost: Duration,
}

/// The smallest step, however slow the app is.
const MIN_STEP: usize = 4;

impl<L: AppHandle> ThreadedApp<L> {
    /// An app behind a handle; without a handle, an app that has ended.
    pub fn new(handle: Option<L>) -> ThreadedApp<L> {
        let (observer, notifications) = mpsc::unbounded_channel();
        let (finished_sender, finished) = mpsc::unbounded_channel();
        ThreadedApp {
            handle,
            observer,
            notifications,
            received: Vec::new(),
            finished_sender,
            finished,
            received_finished: Vec::new(),
            cost: Duration::ZERO,
        }
    }

    /// Waits for a reply until the app has answered nothing for as long as the timeout. `None`: it timed out.
    pub(super) async fn wait_for_reply<T>(
        pulse: Option<Arc<Pulse>>,
        mut reply: oneshot::Receiver<T>,
    ) -> Option<Result<T, oneshot::error::RecvError>> {
        let mut deadline = now() + APP_REPLY_TIMEOUT;
        loop {
            if let Ok(reply) = tokio::time::timeout_at(deadline.into(), &mut reply).await {
                return Some(reply);
            }
            let last = pulse.as_ref().and_then(|pulse| pulse.last());
            match last.map(|last| last + APP_REPLY_TIMEOUT) {
                Some(later) if later > deadline => deadline = later,
                _ => return None,
            }
        }
    }

    /// Updates the cost of an element after some were read.
    fn measure_cost(&mut self, began: Instant, count: usize) {
        let Ok(count) = u32::try_from(count.max(1)) else { return };
        let cost = now().saturating_duration_since(began) / count;
        // A slow reading counts at once, and a fast one little by little: it may have been of elements that are read in one call.
        self.cost = if cost > self.cost { cost } else { (self.cost * 3 + cost) / 4 };
    }

    /// Sends a request and waits for the reply until the timeout.
    async fn ask<T>(
        &mut self,
        state: &WorkerState,
        question: impl FnOnce(ReplySender<T>) -> AppRequest,
    ) -> Result<T, Failure> {
        let (answer, reply) = oneshot::channel();
        state.count_call();
        let asked = self.handle.as_ref().is_some_and(|handle| handle.ask(question(answer)));
        let pulse = self.handle.as_ref().and_then(AppHandle::pulse).cloned();
        match Self::wait_for_reply(pulse, reply).await {
            Some(Ok(Err(failure))) if failure.kind == FailureKind::Unresponsive => Err(unresponsive()),
            Some(Ok(answer)) => answer,
            None if asked => Err(unresponsive()),
            Some(Err(_)) | None => {
                self.handle = None;
                Err(Failure::new(FailureKind::Gone, Self::ENDED))
            }
        }
    }

    fn on_notification(&mut self, notification: AppNotification, state: &mut WorkerState) {
        trace!(?notification, "the app announced");
        match notification {
            AppNotification::Marker(mark) => return state.fences.pass(mark),
            AppNotification::Refused(why) => return state.set_degraded(why),
            AppNotification::Changed(element) | AppNotification::Structure(element)
                if state.mirror.knows(element) =>
            {
                state.schedule.mark_dirty(element);
            }
            AppNotification::Changed(element) | AppNotification::Structure(element) => {
                state.unplaced.insert(element);
            }
            AppNotification::Destroyed(element) => {
                state.counters.destroyed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let parent = state.mirror.parent(element);
                state.mark_known_dirty([element].into_iter().chain(parent));
            }
            AppNotification::Everything => state.mark_all_dirty(),
            AppNotification::Announced(text) => state.queue_announcement(text),
        }
        state.counters.events.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

impl<L: AppHandle> AppBackend for ThreadedApp<L> {
    type Strategies = ();

    const STEPS: Steps = Steps { first: L::MAX_BATCH, growth: 4, largest: L::MAX_STEP };
    const FENCE_TIMEOUT_MEANS_UNRESPONSIVE: bool = true;
    const ENDED: &'static str = "the app has ended";

    async fn register(&mut self, state: &mut WorkerState) -> Result<(), Failure> {
        if let Some(most) = L::MAX_WATCHED {
            let pace = Pace { watch_size: most, watched_every_turn: true, ..Pace::default() };
            state.schedule.pace(pace, now());
        }
        let observer = self.observer.clone();
        self.ask(state, |answer| AppRequest::Observe(observer, answer)).await
    }

    fn drain_events(&mut self, (): &mut (), state: &mut WorkerState) {
        std::mem::take(&mut self.received)
            .into_iter()
            .for_each(|notification| self.on_notification(notification, state));
        while let Ok(notification) = self.notifications.try_recv() {
            self.on_notification(notification, state);
        }
        std::mem::take(&mut self.received_finished)
            .into_iter()
            .for_each(|action| action.finish(state, L::MAX_BATCH));
        while let Ok(action) = self.finished.try_recv() {
            action.finish(state, L::MAX_BATCH);
        }
        if self.handle.is_none() {
            state.set_ended();
        } else if state.has_ended() {
            // Dropping the handle lets the owner of the native elements end.
            self.handle = None;
        }
    }

    async fn wait_for_event(&mut self) {
        let handle = self.handle.as_ref();
        let ended = async {
            match handle {
                Some(handle) => handle.ended().await,
                None => std::future::pending().await,
            }
        };
        // These channels are never closed: both senders are kept here.
        tokio::select! {
            biased;
            _ = self.notifications.recv_many(&mut self.received, 1) => {}
            _ = self.finished.recv_many(&mut self.received_finished, 1) => {}
            () = ended => self.handle = None,
        }
    }

    async fn read(
        &mut self,
        state: &mut WorkerState,
        keys: &[ElementKey],
        into: &mut Readings,
    ) -> Result<(), Failure> {
        let mut left = keys;
        while !left.is_empty() {
            let asked = left[..left.len().min(L::MAX_BATCH)].to_vec();
            let began = now();
            let read = self.ask(state, |answer| AppRequest::Read(asked, answer)).await?;
            if read.is_empty() {
                // Nothing would ever be read this way.
                return Err(unresponsive());
            }
            self.measure_cost(began, read.len());
            let (done, rest) = left.split_at(read.len().min(left.len()));
            done.iter().zip(read).for_each(|(key, reading)| into.add(*key, reading));
            left = rest;
        }
        Ok(())
    }

    async fn front_window(
        &mut self,
        state: &WorkerState,
        _windows: &[ElementKey],
    ) -> Result<Option<ElementKey>, Failure> {
        self.ask(state, AppRequest::Front).await
    }

    async fn measure(&mut self, state: &WorkerState, keys: &[ElementKey]) -> Result<Vec<Measured>, Failure> {
        let mut measured = Vec::with_capacity(keys.len());
        for some in keys.chunks(L::MAX_BATCH) {
            let some = some.to_vec();
            measured.extend(self.ask(state, |answer| AppRequest::Measure(some, answer)).await?);
        }
        Ok(measured)
    }

    async fn hit_test(&mut self, state: &WorkerState, point: Point) -> Result<Vec<ElementKey>, Failure> {
        self.ask(state, |answer| AppRequest::At(point, answer)).await
    }

    async fn path(&mut self, state: &WorkerState, key: ElementKey) -> Result<Vec<ElementKey>, Failure> {
        self.ask(state, |answer| AppRequest::Path(key, answer)).await
    }

    fn perform(
        &mut self,
        state: &mut WorkerState,
        key: ElementKey,
        act: Act,
        gate: Gate,
        reply: Responder<()>,
    ) {
        self.begin(state, key, act, gate, reply);
    }

    fn unfold(&mut self, key: ElementKey) {
        if let Some(handle) = &self.handle {
            // If this fails the app has ended, and so does the reading that follows.
            let _ = handle.ask(AppRequest::Unfold(key));
        }
    }

    fn send_fence(&mut self, mark: u64) {
        if let Some(handle) = &self.handle {
            // If this fails the app has ended, and the fence fails when the worker notices.
            let _ = handle.ask(AppRequest::Mark(mark, self.observer.clone()));
        }
    }

    fn probe(&mut self) -> Option<oneshot::Receiver<()>> {
        let (answer, probe) = oneshot::channel();
        self.handle.as_ref()?.ask(AppRequest::Awake(answer)).then_some(probe)
    }

    fn last_answer(&self) -> Option<Instant> {
        self.handle.as_ref()?.pulse()?.last()
    }

    fn max_step(&self) -> usize {
        match L::STEP_BUDGET {
            Some(budget) if !self.cost.is_zero() => {
                let most = budget.as_nanos() / self.cost.as_nanos();
                usize::try_from(most).unwrap_or(usize::MAX).clamp(MIN_STEP, L::MAX_STEP)
            }
            _ => usize::MAX,
        }
    }

    fn may_sweep(&self) -> bool {
        self.handle.as_ref().is_none_or(AppHandle::may_sweep)
    }

    fn is_lost(&self, _failure: &Failure) -> bool {
        self.handle.is_none()
    }
}
