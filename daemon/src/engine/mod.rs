//! The engine: what each command means.
//!
//! A command is an `async fn` here. Reads of attached apps never wait, so they are done at the first poll, in the
//! connection's own task; only what really has to wait (a first walk, a fence, a measurement) becomes a task.

mod answer;
mod app;
mod attach;
mod changes;
mod clock;
mod daemon;
mod desktop;
mod element;
mod find;
mod happenings;
mod listen;
mod lists;
mod measure;
mod snapshot;
mod target;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use axd_protocol::{Command, Error};
use dashmap::DashMap;
use parking_lot::{Mutex, RwLock};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::platform::{DesktopEvent, Platform};
use crate::service::{Call, Reply, Served, Service};
use crate::session::Sessions;
use crate::stop::Stop;
use answer::Answer;
use app::App;
use clock::Ticker;
use desktop::Desktop;
use happenings::Happenings;

/// How long a read waits for an app's first walk if its client does not say.
const PATIENCE: Duration = Duration::from_secs(10);

/// From so many elements on, a walk over them gives the thread's other tasks away first.
const HEAVY: usize = 5_000;

/// What the daemon was started with, as `status` shows it.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// Where it listens.
    pub socket: PathBuf,
    /// Where it logs.
    pub log: Option<PathBuf>,
    /// After how long without a client it exits.
    pub idle_exit: Option<Duration>,
}

/// What commands work on.
pub struct Engine {
    platform: Box<dyn Platform>,
    about: About,
    started: Instant,
    clock: Ticker,
    sessions: Arc<Sessions>,
    stop: Stop,
    desktop: RwLock<Desktop>,
    /// What the desktop has told and is not taken in yet.
    told: Mutex<Option<mpsc::UnboundedReceiver<DesktopEvent>>>,
    /// Attached apps by slot.
    apps: DashMap<u32, Arc<App>>,
    next_slot: AtomicU32,
    next_interest: AtomicU64,
    attaching: Mutex<()>,
    happenings: Mutex<Happenings>,
    /// Beats whenever there may be something to tell.
    pulse: watch::Sender<u64>,
}

impl Engine {
    /// An engine on this platform. Returns when the platform has told what is there.
    pub fn start(
        platform: Box<dyn Platform>,
        about: About,
        sessions: Arc<Sessions>,
        stop: Stop,
    ) -> Arc<Engine> {
        let engine = Arc::new(Engine {
            platform,
            about,
            started: Instant::now(),
            clock: Ticker::new(),
            sessions,
            stop,
            desktop: RwLock::default(),
            told: Mutex::default(),
            apps: DashMap::new(),
            next_slot: AtomicU32::new(1),
            next_interest: AtomicU64::new(1),
            attaching: Mutex::default(),
            happenings: Mutex::default(),
            pulse: watch::Sender::new(0),
        });
        engine.listen_to_desktop();
        engine.let_go_of_unused();
        engine
    }

    fn beat(&self) {
        self.pulse.send_modify(|beat| *beat += 1);
    }

    /// What a request may take: what its client said, else a patient while.
    fn deadline(call: &Call) -> Instant {
        call.deadline.unwrap_or_else(|| Instant::now() + PATIENCE)
    }

    /// Carries out a request. One arm a command.
    async fn run(self: Arc<Self>, call: Call) -> Reply {
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
            Command::Doctor(_) => self.doctor(&call, &mut answer).await,
            Command::Status(_) => self.status(&mut answer),
            Command::Version(_) => self.version(&mut answer),
            Command::Hello(args) => self.hello(&call, args, &mut answer),
            Command::Shutdown(_) => self.shutdown(&mut answer),
            Command::Sim(args) => self.sim(&call, args, &mut answer).await,
            other @ (Command::Screenshot(_)
            | Command::Launch(_)
            | Command::CloseApp(_)
            | Command::FocusWindow(_)
            | Command::MoveWindow(_)
            | Command::ResizeWindow(_)
            | Command::Minimize(_)
            | Command::Maximize(_)
            | Command::Restore(_)
            | Command::ClipboardGet(_)
            | Command::ClipboardSet(_)
            | Command::ClipboardClear(_)
            | Command::MousePosition(_)) => Err(not_yet(other)),
            other @ (Command::Click(_)
            | Command::DoubleClick(_)
            | Command::TripleClick(_)
            | Command::RightClick(_)
            | Command::Type(_)
            | Command::SetValue(_)
            | Command::Clear(_)
            | Command::Focus(_)
            | Command::Select(_)
            | Command::Menu(_)
            | Command::Toggle(_)
            | Command::Check(_)
            | Command::Uncheck(_)
            | Command::Expand(_)
            | Command::Collapse(_)
            | Command::Scroll(_)
            | Command::ScrollTo(_)
            | Command::Drag(_)
            | Command::Hover(_)
            | Command::Perform(_)
            | Command::Press(_)
            | Command::KeyDown(_)
            | Command::KeyUp(_)
            | Command::MouseMove(_)
            | Command::MouseClick(_)
            | Command::MouseDown(_)
            | Command::MouseUp(_)
            | Command::MouseWheel(_)
            | Command::Wait(_)
            | Command::Batch(_)) => Err(not_yet(other)),
            // The server knows which requests are under way; it answers this itself.
            Command::Cancel(_) => {
                Err(Error::new(axd_protocol::ErrorCode::Internal, "cancel reached the engine"))
            }
        };
        answer.finish(done)
    }
}

impl Service for Engine {
    fn platform(&self) -> &'static str {
        self.platform.name()
    }

    fn serve(self: Arc<Self>, call: Call, out: &mut Vec<u8>) -> Served {
        let mut running = Box::pin(self.run(call));
        // Whoever polls it next registers to be woken; that it was polled once before does not matter to it.
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

fn not_yet(command: &Command) -> Error {
    Error::new(
        axd_protocol::ErrorCode::ActionNotSupported,
        format!("{} is not carried out yet", command.name()),
    )
}

/// Runs something that may take a while without keeping the thread's other tasks waiting.
fn heavy<T>(elements: usize, work: impl FnOnce() -> T) -> T {
    let threads = tokio::runtime::Handle::try_current().map(|runtime| runtime.runtime_flavor());
    if elements > HEAVY && matches!(threads, Ok(tokio::runtime::RuntimeFlavor::MultiThread)) {
        tokio::task::block_in_place(work)
    } else {
        work()
    }
}
