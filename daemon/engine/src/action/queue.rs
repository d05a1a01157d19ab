//! Runs one action at a time per app, in the order of arrival. Reads never wait here.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use axd_platform::Gate;
use axd_protocol::command::ActionStatus;
use axd_protocol::{CausedBy, OtherActor};
use axd_service::{Call, Session};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::MutexGuard;
use tokio::time::{Instant, timeout_at};

/// How long after its action a client counts as one that acts on the app.
const RECENT: Duration = Duration::from_secs(30);
/// The maximum number of clients that are kept.
const MAX_RECENT: usize = 8;

/// The running action of an app, and how many actions wait.
#[derive(Debug, Default)]
pub(crate) struct ActionQueue {
    turn: tokio::sync::Mutex<()>,
    holder: Mutex<Option<Holder>>,
    /// The last action of each client, the latest last.
    recent: Mutex<Vec<Recent>>,
    waiting: AtomicU32,
}

/// Who acts.
#[derive(Debug)]
pub(crate) struct Actor {
    /// What the changes follow that come of it.
    action: Arc<CausedBy>,
    /// Says when it has sent something.
    gate: Gate,
    session: Arc<Session>,
}

impl Actor {
    /// Who sent a request.
    pub fn of(call: &Call) -> Actor {
        let id = call.id.as_ref().filter(|_| !call.is_part);
        let request = id.and_then(|id| serde_json::from_str(id.get()).ok());
        Actor::new(&call.session, &call.gate, request, call.command.name())
    }

    fn new(session: &Arc<Session>, gate: &Gate, request: Option<Value>, command: &str) -> Actor {
        let (name, agent) = session.names.lock().clone();
        let action = CausedBy { client: session.client, name, agent, request, command: command.to_owned() };
        Actor { action: Arc::new(action), gate: gate.clone(), session: Arc::clone(session) }
    }
}

/// An action that has the turn, and since when.
#[derive(Debug)]
struct Holder {
    actor: Actor,
    since: Instant,
}

/// The last action of a client.
#[derive(Debug)]
struct Recent {
    actor: Actor,
    ended: Instant,
}

impl Recent {
    /// Whether the client may go on: it is connected, or is of an agent that has a name and connects anew.
    fn counts(&self) -> bool {
        let is_known = self.actor.action.agent.is_some() || !self.actor.session.is_gone.load(Relaxed);
        is_known && self.ended.elapsed() < RECENT
    }
}

/// The turn of one action. Dropping it starts the next one.
#[derive(Debug)]
pub(crate) struct QueueGuard<'q> {
    queue: &'q ActionQueue,
    _turn: MutexGuard<'q, ()>,
}

impl ActionQueue {
    /// Waits for the turn of an action; `None` if it does not come before the deadline.
    pub async fn take(&self, actor: Actor, deadline: Instant) -> Option<QueueGuard<'_>> {
        let waiting = Waiting::new(&self.waiting);
        let turn = timeout_at(deadline, self.turn.lock()).await.ok()?;
        drop(waiting);
        *self.holder.lock() = Some(Holder { actor, since: Instant::now() });
        Some(QueueGuard { queue: self, _turn: turn })
    }

    /// The running action, for `status`.
    pub fn status(&self) -> Option<ActionStatus> {
        let waiting = self.waiting.load(Relaxed);
        self.holder.lock().as_ref().map(|holder| ActionStatus {
            client: holder.actor.action.client,
            command: holder.actor.action.command.clone(),
            for_ms: holder.since.elapsed().as_millis() as u64,
            waiting,
        })
    }

    /// The action that what happens now follows: the running one, if it has sent something.
    pub fn cause(&self) -> Option<Arc<CausedBy>> {
        let holder = self.holder.lock();
        holder
            .as_ref()
            .filter(|holder| holder.actor.gate.is_sent())
            .map(|holder| Arc::clone(&holder.actor.action))
    }

    /// The other clients that act, or did so a moment ago.
    pub fn others_than(&self, session: &Session) -> Vec<OtherActor> {
        let agent = session.names.lock().1.clone();
        let is_other = |action: &CausedBy| !action.is_of(session.client, agent.as_deref());
        let mut others = Vec::new();
        if let Some(holder) = self.holder.lock().as_ref().filter(|holder| is_other(&holder.actor.action)) {
            others.push(OtherActor { action: CausedBy::clone(&holder.actor.action), ago_ms: None });
        }
        for recent in self.recent.lock().iter().rev().filter(|recent| recent.counts()) {
            let action = &recent.actor.action;
            let is_known =
                others.iter().any(|other| action.is_of(other.action.client, other.action.agent.as_deref()));
            if is_other(action) && !is_known {
                let ago_ms = Some(recent.ended.elapsed().as_millis() as u64);
                others.push(OtherActor { action: CausedBy::clone(action), ago_ms });
            }
        }
        others
    }
}

impl Drop for QueueGuard<'_> {
    fn drop(&mut self) {
        let holder = self.queue.holder.lock().take();
        let Some(Holder { actor, .. }) = holder.filter(|holder| holder.actor.gate.is_sent()) else { return };
        let (action, mut recent) = (&actor.action, self.queue.recent.lock());
        recent.retain(|other| {
            other.counts() && !other.actor.action.is_of(action.client, action.agent.as_deref())
        });
        if recent.len() == MAX_RECENT {
            recent.remove(0);
        }
        recent.push(Recent { actor, ended: Instant::now() });
    }
}

/// Counts a waiting action until it is dropped, even if the wait is abandoned.
struct Waiting<'q>(&'q AtomicU32);

impl Waiting<'_> {
    fn new(count: &AtomicU32) -> Waiting<'_> {
        count.fetch_add(1, Relaxed);
        Waiting(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(session: &Arc<Session>, gate: &Gate) -> Actor {
        Actor::new(session, gate, None, "click")
    }

    #[tokio::test(start_paused = true)]
    async fn the_second_waits_for_the_first_and_both_can_be_seen() {
        let (queue, sessions) = (ActionQueue::default(), axd_service::Sessions::default());
        let (one, two) = (sessions.open(None), sessions.open(None));
        let soon = || Instant::now() + Duration::from_millis(10);
        let first = queue.take(by(&one, &Gate::new()), soon()).await.unwrap();
        let status = || queue.status().map(|status| (status.client, status.command, status.waiting));
        {
            let mut second = std::pin::pin!(queue.take(by(&two, &Gate::new()), soon()));
            tokio::select! {
                biased;
                _ = &mut second => panic!("the first has it"),
                () = std::future::ready(()) => {}
            }
            assert_eq!(status(), Some((1, "click".to_owned(), 1)), "the second waits");
            assert!(second.await.is_none(), "and gives up");
        }
        assert_eq!(status(), Some((1, "click".to_owned(), 0)));
        drop(first);
        assert!(queue.status().is_none());
        assert!(queue.take(by(&two, &Gate::new()), soon()).await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn only_what_has_sent_something_is_a_cause_and_is_remembered_for_others() {
        let (queue, sessions) = (ActionQueue::default(), axd_service::Sessions::default());
        let (me, other) = (sessions.open(None), sessions.open(None));
        let soon = || Instant::now() + Duration::from_millis(10);
        let gate = Gate::new();
        let turn = queue.take(by(&me, &gate), soon()).await.unwrap();
        assert!(queue.cause().is_none(), "nothing was sent");
        assert!(gate.pass());
        assert_eq!(queue.cause().map(|cause| cause.client), Some(me.client));
        assert_eq!(queue.others_than(&other)[0].ago_ms, None);
        assert!(queue.others_than(&me).is_empty());
        drop(turn);
        assert!(queue.cause().is_none());
        assert_eq!(queue.others_than(&other)[0].ago_ms, Some(0));
        drop(queue.take(by(&other, &Gate::new()), soon()).await.unwrap());
        assert!(queue.others_than(&me).is_empty(), "it sent nothing");
        sessions.close(&me);
        assert!(queue.others_than(&other).is_empty(), "it is gone, and has no name");
    }
}
