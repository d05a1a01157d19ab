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
pub mod memory;
mod policy;
mod subscribe;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use axd_protocol::command::CommandKind;
use axd_protocol::error::Delivery;
use axd_protocol::{Command, Error, ErrorCode};
use dashmap::DashMap;
use parking_lot::{Mutex, RwLock};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::policy::{Audit, Policy};
use action::input_lock::InputLock;
use answer::Answer;
use apps::app::App;
use axd_platform::{DesktopEvent, OpenDesktop, Platform};
use axd_service::Sessions;
use axd_service::Stop;
use axd_service::{BoxFuture, Call, Reply, Served, Service};
use clock::Ticker;
use commands::extension::Extensions;
use desktop::state::DesktopState;
use subscribe::event_log::EventLog;

/// How long a read waits for an app's first walk if the request has no deadline.
const DEFAULT_DEADLINE: Duration = Duration::from_secs(10);

/// From this number of elements on, the thread's other tasks are moved to another thread before a tree is walked.
const LARGE_TREE: usize = 5_000;

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
    policy: Policy,
    audit: Audit,
    /// Notified whenever waiting callers should check again.
    changed: watch::Sender<u64>,
}

impl Engine {
    /// Starts an engine on this desktop. Returns when the platform has reported the current desktop.
    pub fn start(desktop: OpenDesktop, info: DaemonInfo, sessions: Arc<Sessions>, stop: Stop) -> Arc<Engine> {
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
            policy: Policy,
            audit,
            changed: watch::Sender::new(0),
        });
        engine.listen_to_desktop();
        engine.detach_unused();
        engine
    }

    fn notify_changed(&self) {
        self.changed.send_modify(|version| *version += 1);
    }

    /// The deadline of a request: its own, else the default.
    fn deadline(call: &Call) -> Instant {
        call.deadline.unwrap_or_else(|| Instant::now() + DEFAULT_DEADLINE)
    }

    /// Runs a request that acts. It waits for earlier actions of the same connection; requests that do not act overtake them.
    async fn run_in_turn(self: Arc<Self>, call: Call) -> Reply {
        let session = Arc::clone(&call.session);
        let turn = match call.deadline {
            Some(deadline) => tokio::time::timeout_at(deadline, session.action_lock.lock()).await.ok(),
            None => Some(session.action_lock.lock().await),
        };
        match turn {
            Some(_turn) => self.carry_out(call).await,
            None => {
                let why = "an earlier action on this connection is still in progress";
                let error = Error::new(ErrorCode::Timeout, why).suggest("increase --deadline-ms");
                Answer::new(&call, self.platform.name()).finish(Err(error))
            }
        }
    }

    /// Runs a request that is part of another one, which has its turn already.
    fn carry_out(self: Arc<Self>, call: Call) -> BoxFuture<'static, Reply> {
        Box::pin(self.dispatch(call))
    }

    /// Runs a request, with one match arm per command.
    async fn dispatch(self: Arc<Self>, call: Call) -> Reply {
        let mut answer = Answer::new(&call, self.platform.name());
        let done = match &call.command {
            Command::Snapshot(args) => self.snapshot(&call, args, &mut answer).await,
            Command::Changes(args) => self.changes(&call, args, &mut answer).await,
            Command::Find(args) => self.find(&call, args, &mut answer).await,
            Command::Get(args) => self.get(&call, args, &mut answer).await,
            Command::Is(args) => self.is(&call, args, &mut answer).await,
            Command::ElementAt(args) => self.element_at(&call, args, &mut answer).await,
            Command::Focused(args) => self.focused(&call, args, &mut answer).await,
            Command::ListApps(_) => self.list_apps(&mut answer),
            Command::ListWindows(args) => self.list_windows(args, &mut answer),
            Command::ListDisplays(_) => self.list_displays(&mut answer),
            Command::Attach(args) => self.attach(&call, args, &mut answer).await,
            Command::Detach(args) => self.detach(args, &mut answer),
            Command::Subscribe(args) => self.subscribe(&call, args, &mut answer).await,
            Command::Permissions(args) => self.permissions(&call, args, &mut answer).await,
            Command::Doctor(_) => self.doctor(&call, &mut answer).await,
            Command::Status(_) => self.status(&mut answer),
            Command::Version(_) => self.version(&mut answer),
            Command::Hello(args) => self.hello(&call, args, &mut answer),
            Command::Shutdown(_) => self.shutdown(&mut answer),
            Command::Extension(extension) => self.extension(&call, extension, &mut answer).await,
            Command::Screenshot(args) => self.screenshot(&call, args, &mut answer).await,
            Command::MousePosition(_) => self.mouse_position(&call, &mut answer).await,
            Command::Launch(args) => self.launch(&call, args, &mut answer).await,
            Command::CloseApp(args) => self.close_app(&call, args, &mut answer).await,
            Command::FocusWindow(args) => self.arrange(&call, args.into(), &mut answer).await,
            Command::MoveWindow(args) => self.arrange(&call, args.into(), &mut answer).await,
            Command::ResizeWindow(args) => self.arrange(&call, args.into(), &mut answer).await,
            Command::Minimize(args) => self.arrange(&call, args.into(), &mut answer).await,
            Command::Maximize(args) => self.arrange(&call, args.into(), &mut answer).await,
            Command::Restore(args) => self.arrange(&call, args.into(), &mut answer).await,
            Command::ClipboardGet(args) => self.clipboard_get(&call, args, &mut answer).await,
            Command::ClipboardSet(args) => self.clipboard_set(&call, args, &mut answer).await,
            Command::ClipboardClear(_) => self.clipboard_clear(&call, &mut answer).await,
            Command::Wait(args) => self.wait(&call, args, &mut answer).await,
            Command::Batch(args) => self.batch(&call, args, &mut answer).await,
            Command::Act(command) => self.act(&call, command, &mut answer).await,
            // The server knows the running requests, so it handles this itself.
            Command::Cancel(_) => Err(Error::new(ErrorCode::Internal, "cancel reached the engine")),
        };
        if call.command.kind() == CommandKind::Acts
            && !matches!(call.command, Command::Act(_) | Command::Batch(_))
        {
            let delivery = done
                .as_ref()
                .map_or_else(|error| error.disposition.delivery, |()| Delivery::DeliveredUnverified);
            self.record(&call, &policy::permit::ActionSubject::default(), delivery, done.as_ref().err());
        }
        answer.finish(done)
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

    fn client_disconnected(self: Arc<Self>, client: u64) {
        self.client_left(client);
    }

    fn serve(self: Arc<Self>, call: Call, out: &mut Vec<u8>) -> Served {
        let mut running: BoxFuture<'static, Reply> = match call.command.kind() {
            CommandKind::Acts => Box::pin(self.run_in_turn(call)),
            CommandKind::Reads | CommandKind::Manages => self.carry_out(call),
        };
        // The next poll registers the real waker; this first poll without one does no harm.
        match running.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Reply { line, feed: None }) if out.is_empty() => {
                *out = line;
                Served::Now
            }
            Poll::Ready(Reply { line, feed: None }) => {
                out.extend_from_slice(&line);
                Served::Now
            }
            Poll::Ready(reply) => Served::Later(Box::pin(std::future::ready(reply))),
            Poll::Pending => Served::Later(running),
        }
    }
}

/// Runs work that may take a while without delaying the thread's other tasks.
fn block_if_large<T>(elements: usize, work: impl FnOnce() -> T) -> T {
    let threads = tokio::runtime::Handle::try_current().map(|runtime| runtime.runtime_flavor());
    if elements > LARGE_TREE && matches!(threads, Ok(tokio::runtime::RuntimeFlavor::MultiThread)) {
        tokio::task::block_in_place(work)
    } else {
        work()
    }
}

#[cfg(test)]
mod tests;
