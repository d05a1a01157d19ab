//! The lock on mouse and keyboard: one action at a time uses them. It also records which keys and buttons are held down, by
//! which client and until when.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axd_protocol::command::HeldInputStatus;
use axd_protocol::keys::{Button, Key};
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedMutexGuard};
use tokio::time::{Instant, timeout_at};
use tracing::{info, warn};

use crate::Engine;
use axd_platform::{Failure, FailureKind, Gate, Input, InputStep, Sent};
use axd_service::Session;

/// How long a key is held down if the request does not say.
pub(crate) const DEFAULT_HOLD: Duration = Duration::from_secs(10);
/// How long releasing keys and buttons may take.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(2);

/// A key or button that can be held down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeldInput {
    Key(Key),
    Button(Button),
}

impl HeldInput {
    /// The step that presses or releases it.
    pub fn step(self, down: bool) -> InputStep {
        match self {
            HeldInput::Key(key) => InputStep::Key(key, down),
            HeldInput::Button(button) => InputStep::Button(button, down),
        }
    }

    fn name(self) -> String {
        match self {
            HeldInput::Key(key) => key.to_string(),
            HeldInput::Button(button) => format!("{button} button"),
        }
    }
}

/// A key or button that is held down.
#[derive(Debug, Clone, Copy)]
struct HeldEntry {
    /// The number of this hold, since the same key may be held again later.
    number: u64,
    what: HeldInput,
    client: u64,
    until: Instant,
    /// Whether it is released when its client disconnects.
    with_client: bool,
    /// Whether its client has disconnected. Then anyone may release it.
    is_orphaned: bool,
}

impl HeldEntry {
    /// The failure of a client that waited for its release in vain.
    fn in_the_way(self) -> Failure {
        let why = format!("client {} holds {} down", self.client, self.what.name());
        Failure::new(FailureKind::Refused, why)
    }
}

/// Who wants to use mouse and keyboard, and what for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputUser {
    pub client: u64,
    /// Whether it only releases keys or buttons. What is held by a client that is gone is not in the way of that.
    pub releases: bool,
}

/// The lock, and the keys and buttons that are held down.
#[derive(Debug, Default)]
pub(crate) struct InputLock {
    turn: Arc<tokio::sync::Mutex<()>>,
    held: Mutex<(u64, Vec<HeldEntry>)>,
    let_go: Notify,
}

/// Exclusive use of mouse and keyboard by one action. Dropping it releases the lock.
#[derive(Debug)]
pub(crate) struct InputGuard {
    _turn: OwnedMutexGuard<()>,
}

impl InputLock {
    /// Waits until no other action uses mouse and keyboard and no other client holds anything down. Unless it
    /// `waits_for_release`, it fails at once in the second case.
    async fn take(
        &self,
        user: InputUser,
        deadline: Instant,
        waits_for_release: bool,
    ) -> Result<InputGuard, Failure> {
        loop {
            let let_go = self.let_go.notified();
            tokio::pin!(let_go);
            let_go.as_mut().enable();
            let busy =
                || Failure::new(FailureKind::Unresponsive, "mouse and keyboard are in use by another client");
            let turn = Arc::clone(&self.turn).lock_owned();
            let turn = InputGuard { _turn: timeout_at(deadline, turn).await.map_err(|_| busy())? };
            let Some(other) = self.in_the_way_of(user) else { return Ok(turn) };
            drop(turn);
            if !waits_for_release || timeout_at(deadline, let_go).await.is_err() {
                return Err(other.in_the_way());
            }
        }
    }

    /// Waits until no other client holds anything down, without taking the lock.
    pub async fn wait_until_free(&self, user: InputUser, deadline: Instant) -> Result<(), Failure> {
        loop {
            let let_go = self.let_go.notified();
            tokio::pin!(let_go);
            let_go.as_mut().enable();
            let Some(other) = self.in_the_way_of(user) else { return Ok(()) };
            if timeout_at(deadline, let_go).await.is_err() {
                return Err(other.in_the_way());
            }
        }
    }

    fn in_the_way_of(&self, user: InputUser) -> Option<HeldEntry> {
        let is_in_the_way =
            |held: &&HeldEntry| held.client != user.client && !(user.releases && held.is_orphaned);
        self.held.lock().1.iter().find(is_in_the_way).copied()
    }

    /// The held keys and buttons, for `status`.
    pub fn status(&self) -> Vec<HeldInputStatus> {
        let now = Instant::now();
        let status = |held: &HeldEntry| HeldInputStatus {
            what: held.what.name(),
            client: held.client,
            left_ms: held.until.saturating_duration_since(now).as_millis() as u64,
        };
        self.held.lock().1.iter().map(status).collect()
    }

    /// The keys that are held down.
    pub fn held_keys(&self) -> Vec<Key> {
        let key = |held: &HeldEntry| match held.what {
            HeldInput::Key(key) => Some(key),
            HeldInput::Button(_) => None,
        };
        self.held.lock().1.iter().filter_map(key).collect()
    }

    /// Whether a mouse button is held down.
    pub fn is_holding_button(&self) -> bool {
        self.held.lock().1.iter().any(|held| matches!(held.what, HeldInput::Button(_)))
    }

    /// Whether anything is held down.
    pub fn is_holding(&self) -> bool {
        !self.held.lock().1.is_empty()
    }
}

impl Engine {
    /// Takes the input lock for a client. If another client holds something down, it waits or fails with
    /// `FailureKind::Refused`.
    pub(crate) async fn lock_input(
        &self,
        user: InputUser,
        deadline: Instant,
        waits_for_release: bool,
    ) -> Result<InputGuard, Failure> {
        self.input_lock.take(user, deadline, waits_for_release).await
    }

    /// Sends input; the caller holds the input lock. Returns a warning if the input may have been lost.
    pub(crate) async fn input(
        &self,
        input: Input,
        gate: &Gate,
        deadline: Instant,
    ) -> Result<Option<String>, Failure> {
        let answer = self.platform.input(input, gate.clone());
        match timeout_at(deadline, answer).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) | Err(_) => {
                let sent = if gate.close() { Sent::No } else { Sent::Maybe };
                Err(Failure::new(FailureKind::Unresponsive, "sending input to the desktop timed out")
                    .sent(sent))
            }
        }
    }

    /// Presses keys or buttons and holds them until they are released, the lease ends or, if the request gives no lease, the
    /// client disconnects. The caller holds the input lock.
    pub(crate) async fn hold(
        self: &Arc<Self>,
        session: &Session,
        before: Input,
        what: &[HeldInput],
        lease: Option<Duration>,
        gate: &Gate,
        deadline: Instant,
    ) -> Result<Option<String>, Failure> {
        let until = Instant::now() + lease.unwrap_or(DEFAULT_HOLD);
        // Recorded before anything is pressed: if the client disconnects meanwhile, this is what is released.
        let numbers: Vec<u64> = {
            let (next, held) = &mut *self.input_lock.held.lock();
            // Checked under the lock that `client_left` takes after this was set: it finds what is recorded here, or nothing is.
            if session.is_gone.load(Relaxed) {
                let why = "its client has disconnected; nothing was pressed";
                return Err(Failure::new(FailureKind::Refused, why));
            }
            let new = what.iter().filter(|what| !held.iter().any(|held| held.what == **what));
            let new: Vec<HeldEntry> = new
                .map(|what| {
                    *next += 1;
                    HeldEntry {
                        number: *next,
                        what: *what,
                        client: session.client,
                        until,
                        with_client: lease.is_none(),
                        is_orphaned: false,
                    }
                })
                .collect();
            held.iter_mut().filter(|held| what.contains(&held.what)).for_each(|held| held.until = until);
            held.extend(&new);
            new.iter().map(|held| held.number).collect()
        };
        // Started before anything is pressed too: this request may be dropped while it is being sent.
        self.release_at(until, what.to_vec());
        let steps = before.steps.into_iter().chain(what.iter().map(|what| what.step(true))).collect();
        let sent = self.input(Input { steps, judge: before.judge }, gate, deadline).await;
        sent.inspect_err(|_| self.forget(|held| numbers.contains(&held.number)))
    }

    /// Releases keys and buttons when their lease ends. It may be extended meanwhile; then another task watches it.
    fn release_at(self: &Arc<Self>, until: Instant, what: Vec<HeldInput>) {
        let engine = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep_until(until).await;
            if let Some(engine) = engine.upgrade() {
                let is_over = |known: &HeldEntry| what.contains(&known.what) && known.until <= Instant::now();
                engine.release_held(is_over, None).await;
            }
        });
    }

    /// Releases held keys and buttons after other steps; the caller holds the input lock. Any receiver is accepted for what is
    /// released.
    pub(crate) async fn release(
        &self,
        before: Input,
        what: &[HeldInput],
        gate: &Gate,
        deadline: Instant,
    ) -> Result<Option<String>, Failure> {
        let steps = before.steps.into_iter().chain(what.iter().rev().map(|what| what.step(false))).collect();
        let doubt = self.input(Input { steps, judge: before.judge }, gate, deadline).await?;
        self.forget(|held| what.contains(&held.what));
        Ok(doubt)
    }

    /// Called when a client has disconnected: releases what it held down, unless it gave a lease. What it gave a lease may be
    /// released by anyone from now on.
    pub(crate) fn client_left(self: &Arc<Self>, client: u64) {
        let mut is_holding = false;
        for held in self.input_lock.held.lock().1.iter_mut().filter(|held| held.client == client) {
            held.is_orphaned = true;
            is_holding = true;
        }
        if !is_holding {
            return;
        }
        self.input_lock.let_go.notify_waiters();
        let engine = Arc::clone(self);
        tokio::spawn(async move {
            engine.release_held(|held| held.client == client && held.with_client, None).await;
        });
    }

    /// Called when the daemon shuts down: releases everything.
    pub async fn release_all_input(&self) {
        self.release_held(|_| true, Some(Instant::now() + RELEASE_TIMEOUT)).await;
    }

    /// Releases what is held. It waits for the action that uses mouse and keyboard, at most until `end`: that may take long, and
    /// nobody else would release it.
    async fn release_held(&self, which: impl Fn(&HeldEntry) -> bool, end: Option<Instant>) {
        let turn = self.input_lock.turn.lock();
        let _turn = match end {
            None => turn.await,
            Some(end) => match timeout_at(end, turn).await {
                Ok(turn) => turn,
                Err(_) => return,
            },
        };
        let mut what: Vec<HeldInput> =
            self.input_lock.held.lock().1.iter().filter(|held| which(held)).map(|held| held.what).collect();
        what.reverse();
        if what.is_empty() {
            return;
        }
        info!(?what, "letting go of what was held");
        let steps: Vec<InputStep> = what.iter().map(|what| what.step(false)).collect();
        if let Err(failure) = self.input(steps.into(), &Gate::new(), Instant::now() + RELEASE_TIMEOUT).await {
            warn!(%failure, "cannot let go of what was held");
        }
        self.forget(|held| what.contains(&held.what));
    }

    fn forget(&self, which: impl Fn(&HeldEntry) -> bool) {
        self.input_lock.held.lock().1.retain(|held| !which(held));
        self.input_lock.let_go.notify_waiters();
    }
}
