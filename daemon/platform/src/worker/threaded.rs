//! The backend for an app that is reached through an `AppHandle`.

use axd_protocol::Point;
use tokio::sync::{mpsc, oneshot};
use tracing::trace;

use super::action::FinishedAction;
use super::{
    APP_REPLY_TIMEOUT, AppBackend, AppHandle, AppNotification, AppRequest, ReplySender, Steps, WorkerState,
    unresponsive,
};
use crate::mirror::Readings;
use crate::{Act, ElementKey, Failure, FailureKind, Gate, Measured, Responder};

/// An app with its notifications and the results of its actions.
pub(super) struct ThreadedApp<L> {
    /// `None`: it has ended.
    pub(super) line: Option<L>,
    observer: mpsc::UnboundedSender<AppNotification>,
    notes: mpsc::UnboundedReceiver<AppNotification>,
    /// Notifications that were waited for and are not handled yet.
    heard: Vec<AppNotification>,
    /// Where the results of running actions are sent.
    pub(super) acts: mpsc::UnboundedSender<FinishedAction>,
    outcomes: mpsc::UnboundedReceiver<FinishedAction>,
    /// Results that were waited for and are not handled yet.
    acted: Vec<FinishedAction>,
}

impl<L: AppHandle> ThreadedApp<L> {
    /// An app behind a handle; without a handle, an app that has ended.
    pub fn new(line: Option<L>) -> ThreadedApp<L> {
        let (observer, notes) = mpsc::unbounded_channel();
        let (acts, outcomes) = mpsc::unbounded_channel();
        ThreadedApp { line, observer, notes, heard: Vec::new(), acts, outcomes, acted: Vec::new() }
    }

    /// Sends a request and waits for the reply until the timeout.
    async fn ask<T>(
        &mut self,
        state: &WorkerState,
        question: impl FnOnce(ReplySender<T>) -> AppRequest,
    ) -> Result<T, Failure> {
        let (answer, reply) = oneshot::channel();
        state.count_call();
        let asked = self.line.as_ref().is_some_and(|line| line.ask(question(answer)));
        match tokio::time::timeout(APP_REPLY_TIMEOUT, reply).await {
            Ok(Ok(Err(failure))) if failure.kind == FailureKind::Unresponsive => Err(unresponsive()),
            Ok(Ok(answer)) => answer,
            Err(_) if asked => Err(unresponsive()),
            Ok(Err(_)) | Err(_) => {
                self.line = None;
                Err(Failure::new(FailureKind::Gone, Self::ENDED))
            }
        }
    }

    fn on_notification(&mut self, note: AppNotification, state: &mut WorkerState) {
        trace!(?note, "the app announced");
        match note {
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

    const STEPS: Steps = Steps { first: L::MAX_BATCH, growth: 4, largest: 4_096 };
    const SILENT_BY_FENCE: bool = true;
    const ENDED: &'static str = "the app has ended";

    async fn register(&mut self, state: &mut WorkerState) -> Result<(), Failure> {
        let observer = self.observer.clone();
        self.ask(state, |answer| AppRequest::Observe(observer, answer)).await
    }

    fn drain_events(&mut self, (): &mut (), state: &mut WorkerState) {
        std::mem::take(&mut self.heard).into_iter().for_each(|note| self.on_notification(note, state));
        while let Ok(note) = self.notes.try_recv() {
            self.on_notification(note, state);
        }
        std::mem::take(&mut self.acted).into_iter().for_each(|acted| acted.finish(state, L::MAX_BATCH));
        while let Ok(acted) = self.outcomes.try_recv() {
            acted.finish(state, L::MAX_BATCH);
        }
        if self.line.is_none() {
            state.set_ended();
        } else if state.has_ended() {
            // Dropping the handle lets the owner of the native elements end.
            self.line = None;
        }
    }

    async fn wait_for_event(&mut self) {
        let line = self.line.as_ref();
        let ended = async {
            match line {
                Some(line) => line.ended().await,
                None => std::future::pending().await,
            }
        };
        // These channels are never closed: both senders are kept here.
        tokio::select! {
            biased;
            _ = self.notes.recv_many(&mut self.heard, 1) => {}
            _ = self.outcomes.recv_many(&mut self.acted, 1) => {}
            () = ended => self.line = None,
        }
    }

    async fn read(
        &mut self,
        state: &mut WorkerState,
        keys: &[ElementKey],
        into: &mut Readings,
    ) -> Result<(), Failure> {
        for some in keys.chunks(L::MAX_BATCH) {
            let asked = some.to_vec();
            let read = self.ask(state, |answer| AppRequest::Read(asked, answer)).await?;
            some.iter().zip(read).for_each(|(key, reading)| into.add(*key, reading));
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

    fn send_fence(&mut self, mark: u64) {
        if let Some(line) = &self.line {
            // If this fails the app has ended, and the fence fails when the worker notices.
            let _ = line.ask(AppRequest::Mark(mark, self.observer.clone()));
        }
    }

    fn probe(&mut self) -> Option<oneshot::Receiver<()>> {
        let (answer, probe) = oneshot::channel();
        self.line.as_ref()?.ask(AppRequest::Awake(answer)).then_some(probe)
    }

    fn is_lost(&self, _failure: &Failure) -> bool {
        self.line.is_none()
    }
}
