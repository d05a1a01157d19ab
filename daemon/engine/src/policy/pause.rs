//! Stopping everything that acts, at once: actions in progress are closed, what is held is released, and nothing begins until it
//! is resumed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use axd_protocol::command::{Pause, PauseAnswer, PauseStatus, ResumeAnswer, StoppedAction};
use axd_protocol::{Error, ErrorCode, Result};
use dashmap::DashMap;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::Engine;
use crate::answer::Answer;
use axd_platform::Gate;
use axd_service::Call;

/// How long the actions in progress have to end before the answer is given.
const END_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum length of a reason: every client is told it.
const MAX_REASON_CHARS: usize = 200;

/// What acts now, and whether anything may.
#[derive(Debug, Default)]
pub(crate) struct Acting {
    next: AtomicU64,
    running: DashMap<u64, RunningAction>,
    ended: Notify,
    paused: Mutex<Option<Paused>>,
}

#[derive(Debug)]
struct RunningAction {
    client: u64,
    client_name: Option<String>,
    agent: Option<String>,
    client_pid: Option<u32>,
    command: &'static str,
    since: Instant,
    gate: Gate,
}

#[derive(Debug, Clone)]
struct Paused {
    client: u64,
    reason: Option<String>,
    since: Instant,
}

impl Paused {
    fn error(&self) -> Error {
        let why = self.reason.as_deref().map_or_else(String::new, |reason| format!(": {reason}"));
        Error::new(ErrorCode::Paused, format!("actions are paused{why}"))
    }
}

/// An action in progress; dropping it says that it has ended.
pub(crate) struct ActingGuard<'a> {
    acting: &'a Acting,
    number: u64,
}

impl Drop for ActingGuard<'_> {
    fn drop(&mut self) {
        self.acting.running.remove(&self.number);
        self.acting.ended.notify_waiters();
    }
}

impl Acting {
    /// Registers an action, unless everything is paused. Releasing what is held is allowed in any case.
    pub fn begin(&self, call: &Call, only_releases: bool) -> Result<ActingGuard<'_>> {
        let (client_name, agent) = call.session.names.lock().clone();
        let action = RunningAction {
            client: call.session.client,
            client_name,
            agent,
            client_pid: call.session.pid,
            command: call.command.name(),
            since: Instant::now(),
            gate: call.gate.clone(),
        };
        let number = self.next.fetch_add(1, Relaxed);
        // Registered and checked under the lock that `pause` holds when it closes what is registered: one of the two sees the other.
        let paused = self.paused.lock();
        if let Some(paused) = paused.as_ref().filter(|_| !only_releases) {
            return Err(paused.error());
        }
        self.running.insert(number, action);
        Ok(ActingGuard { acting: self, number })
    }

    /// That an action was cut short because everything was paused, if that is so.
    pub fn explain(&self, error: Error) -> Error {
        let paused = self.paused.lock().clone();
        match paused.filter(|_| error.code == ErrorCode::Cancelled) {
            Some(paused) => Error {
                disposition: error.disposition,
                delivered_chars: error.delivered_chars,
                ..paused.error()
            },
            None => error,
        }
    }

    pub fn status(&self) -> Option<PauseStatus> {
        self.paused.lock().as_ref().map(|paused| PauseStatus {
            client: paused.client,
            reason: paused.reason.clone(),
            for_ms: paused.since.elapsed().as_millis() as u64,
        })
    }
}

impl Engine {
    /// `pause`
    pub(crate) async fn pause(
        self: &Arc<Self>,
        call: &Call,
        args: &Pause,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        if args.reason.as_ref().is_some_and(|reason| {
            reason.chars().count() > MAX_REASON_CHARS || reason.chars().any(char::is_control)
        }) {
            let message =
                format!("reason must have at most {MAX_REASON_CHARS} characters and no control characters");
            return Err(Error::new(ErrorCode::InvalidArgs, message));
        }
        let mut stopped: Vec<StoppedAction> = Vec::new();
        let was_paused = {
            let mut paused = self.acting.paused.lock();
            let was_paused = paused.is_some();
            paused.get_or_insert_with(|| Paused {
                client: call.session.client,
                reason: args.reason.clone(),
                since: Instant::now(),
            });
            for action in &self.acting.running {
                let sent = !action.gate.close();
                stopped.push(StoppedAction {
                    client: action.client,
                    client_name: action.client_name.clone(),
                    agent: action.agent.clone(),
                    client_pid: action.client_pid,
                    command: action.command.to_owned(),
                    for_ms: action.since.elapsed().as_millis() as u64,
                    sent,
                });
            }
            was_paused
        };
        stopped.sort_by_key(|action| std::cmp::Reverse(action.for_ms));
        tracing::info!(client = call.session.client, stopped = stopped.len(), "paused");
        let released = self.input_lock.status().into_iter().map(|held| held.what).collect();
        self.release_all_input().await;
        // Who stops everything is told when it has stopped, not when it will.
        let end = Instant::now() + END_TIMEOUT;
        loop {
            let ended = self.acting.ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            if self.acting.running.is_empty() || timeout_at(end, ended).await.is_err() {
                break;
            }
        }
        // An action that ended may have held something until then.
        self.release_all_input().await;
        answer.value(None, None, &PauseAnswer { was_paused, stopped, released });
        Ok(())
    }

    /// `resume`
    pub(crate) fn resume(&self, call: &Call, answer: &mut Answer<'_>) -> Result<()> {
        let paused = self.acting.paused.lock().take();
        if paused.is_some() {
            tracing::info!(client = call.session.client, "resumed");
        }
        let paused_ms = paused.map(|paused| paused.since.elapsed().as_millis() as u64);
        answer.value(None, None, &ResumeAnswer { paused_ms });
        Ok(())
    }
}
