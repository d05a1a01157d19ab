//! The engine, which implements the commands.
//!
//! A command is an `async fn` here. Reads of attached apps never wait, so they finish at the first poll, in the connection's
//! own task. Only a command that has to wait (for a first walk, a fence, a measurement) becomes a task.

mod action;
mod answer;
mod apps;
mod change_wait;
mod clock;
mod commands;
mod desktop;
mod failure;
mod marks;
pub mod memory;
mod policy;
pub mod private_file;
mod state_word;
mod subscribe;
mod tree_work;

pub use desktop::hidden::HidesWindow;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use axd_protocol::command::{ActCommand, CommandKind};
use axd_protocol::error::Delivery;
use axd_protocol::{Command, Error, ErrorCode};
use dashmap::DashMap;
use parking_lot::{Mutex, RwLock};
use tokio::runtime::Handle;
use tokio::sync::{OwnedMutexGuard, Semaphore, mpsc, watch};
use tokio::time::Instant;

use crate::policy::approvals::Waiting;
use crate::policy::pause::{Acting, ActingGuard};
use crate::policy::permit::{ActionSubject, ClientGrants};
use crate::policy::{Audit, Rates, RecordIfDropped, is_refused};
use action::input_lock::InputLock;
use answer::Answer;
use apps::app::App;
use axd_platform::{DesktopEvent, OpenDesktop, Platform};
use axd_policy::PolicyStore;
use axd_service::Sessions;
use axd_service::Stop;
use axd_service::{BoxFuture, Call, Reply, Served, Service};
use clock::Ticker;
use commands::extension::Extensions;
use desktop::state::DesktopState;
use marks::kept::KeptPictures;
use subscribe::event_log::EventLog;

/// When it is an action's turn among those of its connection.
type Turn = BoxFuture<'static, OwnedMutexGuard<()>>;

/// How long a read waits for an app's first walk if the request has no deadline.
const DEFAULT_DEADLINE: Duration = Duration::from_secs(10);

/// The settings the daemon was started with, as `status` shows them.
#[derive(Debug, Clone, Default)]
pub struct DaemonInfo {
    /// The path of its socket.
    pub socket: PathBuf,
    /// The path of its log.
    pub log: Option<PathBuf>,
    /// The folder of its audit log; `None` if there is no audit.
    pub state: Option<PathBuf>,
    /// How long it runs without a client before it exits.
    pub idle_exit: Option<Duration>,
}

/// The state that all commands share.
pub struct Engine {
    platform: Box<dyn Platform>,
    extensions: Extensions,
    info: DaemonInfo,
    started: Instant,
    clock: Ticker,
    sessions: Arc<Sessions>,
    stop: Stop,
    desktop: RwLock<DesktopState>,
    /// Desktop events that are not applied yet.
    desktop_events: Mutex<Option<mpsc::UnboundedReceiver<DesktopEvent>>>,
    /// Attached apps by slot.
    apps: DashMap<u32, Arc<App>>,
    next_slot: AtomicU32,
    next_interest: AtomicU64,
    attaching: Mutex<()>,
    event_log: Mutex<EventLog>,
    input_lock: InputLock,
    /// Turns for work over trees that takes long.
    large_turns: Semaphore,
    /// Where everything runs that is not answered at once.
    runtime: Handle,
    policy: Arc<PolicyStore>,
    /// What is approved for each client, as long as it is connected.
    client_grants: DashMap<u64, Arc<ClientGrants>>,
    /// Requests that wait for approval.
    waiting: Waiting,
    /// The actions in progress, and whether there may be any.
    acting: Acting,
    rates: Rates,
    audit: Audit,
    /// The marked pictures whose marks can be targets.
    kept_pictures: KeptPictures,
    /// Notified whenever waiting callers should check again.
    changed: watch::Sender<u64>,
}

impl Engine {
    /// Starts an engine on this desktop. Returns when the platform has reported the current desktop.
    pub fn start(
        desktop: OpenDesktop,
        info: DaemonInfo,
        sessions: Arc<Sessions>,
        stop: Stop,
        policy: Arc<PolicyStore>,
    ) -> Arc<Engine> {
        let OpenDesktop { platform, extensions } = desktop;
        let audit = info.state.as_deref().map(Audit::in_folder).unwrap_or_default();
        let engine = Arc::new(Engine {
            extensions: Extensions::new(extensions),
            platform,
            info,
            started: Instant::now(),
            clock: Ticker::new(),
            sessions,
            stop,
            desktop: RwLock::default(),
            desktop_events: Mutex::default(),
            apps: DashMap::new(),
            next_slot: AtomicU32::new(1),
            next_interest: AtomicU64::new(1),
            attaching: Mutex::default(),
            event_log: Mutex::default(),
            input_lock: InputLock::default(),
            large_turns: tree_work::turns(),
            runtime: Handle::current(),
            policy,
            client_grants: DashMap::new(),
            waiting: Waiting::default(),
            acting: Acting::default(),
            rates: Rates::default(),
            audit,
            kept_pictures: KeptPictures::default(),
            changed: watch::Sender::new(0),
        });
        // What is hidden is hidden before anything is read.
        engine.follow_policy();
        engine.listen_to_desktop();
        engine.detach_unused();
        engine
    }

    /// What is approved for a client.
    fn client_grants(&self, client: u64) -> Arc<ClientGrants> {
        Arc::clone(&self.client_grants.entry(client).or_default())
    }

    fn notify_changed(&self) {
        self.changed.send_modify(|version| *version += 1);
    }

    /// The deadline of a request: its own, else the default.
    fn deadline(call: &Call) -> Instant {
        call.deadline.unwrap_or_else(|| Instant::now() + DEFAULT_DEADLINE)
    }

    /// Waits for earlier actions of the same connection; requests that do not act overtake them.
    async fn in_turn(call: &Call, turn: Turn) -> Result<OwnedMutexGuard<()>, Error> {
        let turn = match call.deadline {
            Some(deadline) => tokio::time::timeout_at(deadline, turn).await.ok(),
            None => Some(turn.await),
        };
        tree_work::leave_place().await;
        turn.ok_or_else(|| {
            let why = "an earlier action on this connection is still in progress";
            Error::new(ErrorCode::Timeout, why).suggest("increase --deadline-ms")
        })
    }

    /// Runs a request that is part of another one, which has its turn already, or that needs none.
    fn carry_out(self: Arc<Self>, call: Call) -> BoxFuture<'static, Reply> {
        Box::pin(self.dispatch(call, None))
    }

    /// Runs a request: when it has its turn and if it is allowed, with one match arm per command.
    async fn dispatch(self: Arc<Self>, call: Call, turn: Option<Turn>) -> Reply {
        let mut answer = Answer::new(&call, self.platform.name());
        let acts = call.command.kind() == CommandKind::Acts;
        let dropped = RecordIfDropped::new(&self, &call);
        let turn = match turn {
            Some(turn) => Engine::in_turn(&call, turn).await.map(Some),
            None => Ok(None),
        };
        let admitted = match &turn {
            Ok(_) => self.admit(&call, acts).await,
            Err(error) => Err(error.clone()),
        };
        let done = match admitted {
            Ok(acting) => {
                let done = self.run_when_approved(&call, &mut answer).await;
                drop(acting);
                done.map_err(|error| if acts { self.acting.explain(error) } else { error })
            }
            // Nothing was even tried, so nobody else records it.
            Err(error) => {
                dropped.end();
                self.record(&call, &ActionSubject::default(), Delivery::NotDelivered, Some(&error));
                return answer.finish(Err(error));
            }
        };
        dropped.end();
        self.record_if_due(&call, &done);
        answer.finish(done)
    }

    /// Checks whether a request may be executed at all; one that acts is in progress until its guard is dropped.
    async fn admit(self: &Arc<Self>, call: &Call, acts: bool) -> Result<Option<ActingGuard<'_>>, Error> {
        if !acts {
            if call.command.kind() != CommandKind::Reads || self.policy.restricts_reading() {
                self.permit_command_when_approved(call).await?;
            }
            return Ok(None);
        }
        if self.policy.current().audit_required {
            self.audit.check()?;
        }
        let only_releases =
            matches!(&call.command, Command::Act(ActCommand::KeyUp(_) | ActCommand::MouseUp(_)));
        let acting = self.acting.begin(call, only_releases)?;
        self.permit_command_when_approved(call).await?;
        if !only_releases {
            self.count_action(call)?;
        }
        Ok(Some(acting))
    }

    async fn permit_command_when_approved(self: &Arc<Self>, call: &Call) -> Result<(), Error> {
        loop {
            let Err(error) = self.permit_command(call).await else { return Ok(()) };
            let Some(asked) = Engine::needs_approval(call, &error) else { return Err(error) };
            self.have_approved(call, asked).await?;
        }
    }

    /// Runs a request, again when what the policy asks about in it has been approved.
    async fn run_when_approved(self: &Arc<Self>, call: &Call, answer: &mut Answer<'_>) -> Result<(), Error> {
        loop {
            let Err(error) = self.run(call, answer).await else { return Ok(()) };
            let Some(asked) = Engine::needs_approval(call, &error) else { return Err(error) };
            self.have_approved(call, asked).await?;
        }
    }

    async fn run(self: &Arc<Self>, call: &Call, answer: &mut Answer<'_>) -> Result<(), Error> {
        match &call.command {
            Command::Snapshot(args) => self.snapshot(call, args, answer).await,
            Command::Look(args) => self.look(call, args, answer).await,
            Command::Changes(args) => self.changes(call, args, answer).await,
            Command::Find(args) => self.find(call, args, answer).await,
            Command::Get(args) => self.get(call, args, answer).await,
            Command::Is(args) => self.is(call, args, answer).await,
            Command::ElementAt(args) => self.element_at(call, args, answer).await,
            Command::Focused(args) => self.focused(call, args, answer).await,
            Command::ListApps(_) => self.list_apps(call, answer),
            Command::ListWindows(args) => self.list_windows(call, args, answer),
            Command::ListDisplays(_) => self.list_displays(answer),
            Command::Attach(args) => self.attach(call, args, answer).await,
            Command::Detach(args) => self.detach(args, answer),
            Command::Subscribe(args) => self.subscribe(call, args, answer).await,
            Command::PolicyCheck(args) => self.policy_check(call, args, answer).await,
            Command::PolicyShow(_) => self.policy_show(answer),
            Command::Permissions(args) => self.permissions(call, args, answer).await,
            Command::Doctor(_) => self.doctor(call, answer).await,
            Command::Status(_) => self.status(answer),
            Command::Version(_) => self.version(answer),
            Command::Hello(args) => self.hello(call, args, answer),
            Command::Shutdown(_) => self.shutdown(answer),
            Command::Extension(extension) => self.extension(call, extension, answer).await,
            Command::Screenshot(args) => self.screenshot(call, args, answer).await,
            Command::MousePosition(_) => self.mouse_position(call, answer).await,
            Command::Launch(args) => self.launch(call, args, answer).await,
            Command::CloseApp(args) => self.close_app(call, args, answer).await,
            Command::FocusWindow(args) => self.arrange(call, args.into(), answer).await,
            Command::MoveWindow(args) => self.arrange(call, args.into(), answer).await,
            Command::ResizeWindow(args) => self.arrange(call, args.into(), answer).await,
            Command::Minimize(args) => self.arrange(call, args.into(), answer).await,
            Command::Maximize(args) => self.arrange(call, args.into(), answer).await,
            Command::Restore(args) => self.arrange(call, args.into(), answer).await,
            Command::ClipboardGet(args) => self.clipboard_get(call, args, answer).await,
            Command::ClipboardSet(args) => self.clipboard_set(call, args, answer).await,
            Command::ClipboardClear(_) => self.clipboard_clear(call, answer).await,
            Command::Wait(args) => self.wait(call, args, answer).await,
            Command::Batch(args) => self.batch(call, args, answer).await,
            Command::Act(command) => self.act(call, command, answer).await,
            Command::Approvals(args) => self.approvals(call, args, answer).await,
            Command::Decide(args) => self.decide_approval(call, args, answer),
            Command::Pause(args) => self.pause(call, args, answer).await,
            Command::Resume(_) => self.resume(call, answer),
            // The server knows the running requests, so it handles this itself.
            Command::Cancel(_) => Err(Error::new(ErrorCode::Internal, "cancel reached the engine")),
        }
    }

    /// Records what has not recorded itself: actions on the desktop, pictures, use of the clipboard, and whatever was denied.
    fn record_if_due(&self, call: &Call, done: &Result<(), Error>) {
        let is_recorded = match &call.command {
            // An action leaves its own line, with what it was about; a batch leaves those of its parts.
            Command::Act(_) | Command::Batch(_) => false,
            Command::Screenshot(_) | Command::ClipboardGet(_) => true,
            Command::Pause(_) | Command::Resume(_) | Command::Decide(_) => true,
            command => command.kind() == CommandKind::Acts || done.as_ref().is_err_and(is_refused),
        };
        if is_recorded {
            let delivery = done
                .as_ref()
                .map_or_else(|error| error.disposition.delivery, |()| Delivery::DeliveredUnverified);
            self.record(call, &ActionSubject::default(), delivery, done.as_ref().err());
        }
    }
}

impl Service for Engine {
    fn platform(&self) -> &'static str {
        self.platform.name()
    }

    fn extensions(&self) -> &[&'static str] {
        self.extensions.names()
    }

    fn idle_limit(&self) -> Option<Duration> {
        self.platform.idle_limit()
    }

    fn runtime(&self) -> Option<&Handle> {
        Some(&self.runtime)
    }

    fn client_disconnected(self: Arc<Self>, client: u64) {
        let runtime = self.runtime.clone();
        let _runtime = runtime.enter();
        self.waiting.client_left(client);
        self.client_grants.remove(&client);
        self.client_left(client);
    }

    fn serve(self: Arc<Self>, call: Call, out: &mut Vec<u8>) -> Served {
        // What a request starts belongs to the engine's runtime, wherever the request is polled.
        let runtime = self.runtime.clone();
        let _runtime = runtime.enter();
        let mut running: BoxFuture<'static, Reply> = match call.command.kind() {
            CommandKind::Acts => {
                // The first poll, which is done here, decides the order of a connection's actions.
                let turn = Arc::clone(&call.session.action_lock).lock_owned();
                Box::pin(self.dispatch(call, Some(Box::pin(turn))))
            }
            CommandKind::Reads | CommandKind::Manages => self.carry_out(call),
        };
        // The next poll registers the real waker; this first poll without one does no harm.
        let poll = || running.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        match tree_work::in_place(poll) {
            Poll::Ready(Reply { line, feed: None, .. }) if out.is_empty() => {
                *out = line;
                Served::Now
            }
            Poll::Ready(Reply { line, feed: None, .. }) => {
                out.extend_from_slice(&line);
                Served::Now
            }
            Poll::Ready(reply) => Served::Later(Box::pin(std::future::ready(reply))),
            Poll::Pending => Served::Later(running),
        }
    }
}

#[cfg(test)]
mod tests;
