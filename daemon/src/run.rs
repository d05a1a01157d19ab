//! Running the daemon: from its options to its end, on whatever desktop the program offers.
//!
//! Some desktops need thread 0 for themselves. Then the daemon runs on another one, and ends the loop on thread 0 when it
//! is done.

use std::process::ExitCode;
use std::sync::Arc;

use axd_protocol::command::{DoctorAnswer, Finding, SelftestAnswer};
use axd_protocol::{Error, ErrorCode};
use nix::unistd::Uid;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tracing::{info, warn};

use crate::logging;
use crate::options::{Options, PlatformChoice};
use crate::ready::Ready;
use axd_engine::memory;
use axd_engine::{DaemonInfo, Engine};
use axd_platform::OpenDesktop;
use axd_server::{self as server, ListenError, Listener, ServerOptions};
use axd_service::{Sessions, Stop};

/// The exit code when another daemon already serves the socket (EX_TEMPFAIL).
const ALREADY_RUNNING: u8 = 75;

/// Opens a desktop, or says what is missing for it.
pub type Open = fn(PlatformChoice, &Runtime) -> Result<OpenDesktop, String>;

/// The desktops that a program can serve.
#[derive(Debug, Clone, Copy)]
pub struct Desktops {
    /// Opens one.
    pub open: Open,
    /// Looks at one without serving it; `None` if it cannot be served.
    pub examine: fn(PlatformChoice, &Runtime) -> Option<Vec<Finding>>,
    /// Measures what the system does, with a window of its own.
    pub selftest: fn(PlatformChoice) -> Result<SelftestAnswer, String>,
    /// What must run on thread 0 for one, if anything must.
    pub main_loop: fn(PlatformChoice) -> Option<MainLoop>,
}

/// A loop that must run on thread 0.
#[derive(Debug, Clone, Copy)]
pub struct MainLoop {
    /// Runs it, until it is stopped.
    pub run: fn(),
    /// Stops it, from any thread; if it does not run yet, it stops as soon as it does.
    pub stop: fn(),
}

/// Runs the daemon. Called on thread 0.
pub fn run(options: Options, desktops: Desktops) -> ExitCode {
    memory::limit_arenas();
    let choice = options.platform(|name| std::env::var_os(name));
    let main_loop = choice.ok().and_then(desktops.main_loop).filter(|_| !options.doctor);
    let Some(MainLoop { run, stop }) = main_loop else { return start(&options, desktops) };
    let daemon = std::thread::Builder::new().name("axd-main".to_owned()).spawn(move || {
        // Also if it panics: nobody else ends the loop on thread 0.
        let _end = AtEnd(stop);
        start(&options, desktops)
    });
    match daemon {
        Ok(daemon) => {
            run();
            daemon.join().unwrap_or(ExitCode::FAILURE)
        }
        Err(fault) => fail(&fault.into()),
    }
}

/// Calls something when it is dropped.
struct AtEnd(fn());

impl Drop for AtEnd {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn start(options: &Options, desktops: Desktops) -> ExitCode {
    let mut ready = match Ready::on(options.ready_fd, |name| std::env::var_os(name)) {
        Ok(ready) => ready,
        Err(fault) => return fail(&Failure::new(ErrorCode::InvalidArgs, format!("--ready-fd: {fault}"))),
    };
    if options.doctor {
        return examine(options, desktops);
    }
    if options.selftest {
        return measure(options, desktops);
    }
    match serve(options, desktops, &mut ready) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            ready.failed(failure.code, &format!("{:#}", failure.cause));
            fail(&failure)
        }
    }
}

/// Why the daemon cannot run, and the word a starter tells it by.
struct Failure {
    code: &'static str,
    cause: anyhow::Error,
}

impl From<ListenError> for Failure {
    fn from(fault: ListenError) -> Failure {
        Failure { code: fault.code(), cause: fault.into() }
    }
}

impl From<std::io::Error> for Failure {
    fn from(fault: std::io::Error) -> Failure {
        Failure { code: ErrorCode::DaemonUnavailable.name(), cause: fault.into() }
    }
}

impl Failure {
    fn new(code: ErrorCode, message: impl Into<String>) -> Failure {
        Failure { code: code.name(), cause: anyhow::Error::msg(message.into()) }
    }
}

fn fail(failure: &Failure) -> ExitCode {
    eprintln!("axd: {:#}", failure.cause);
    match failure.cause.downcast_ref() {
        Some(ListenError::AlreadyRunning { .. }) => ExitCode::from(ALREADY_RUNNING),
        _ => ExitCode::FAILURE,
    }
}

fn serve(options: &Options, desktops: Desktops, ready: &mut Ready) -> Result<(), Failure> {
    let env = |name: &str| std::env::var_os(name);
    let places = options.places(Uid::effective().as_raw(), env);
    let choice = options.platform(env).map_err(|message| Failure::new(ErrorCode::InvalidArgs, message))?;
    let runtime = runtime()?;
    let desktop = (desktops.open)(choice, &runtime).map_err(|missing| {
        let said = format!("{missing}; use `--platform sim` for the built-in desktop");
        server::refuse_waiting(
            "none",
            &Error::new(ErrorCode::PlatformNotSupported, format!("axd cannot serve: {said}")),
        );
        Failure::new(ErrorCode::PlatformNotSupported, said)
    })?;
    let listener = match server::inherited()? {
        Some(listener) => listener,
        None => Listener::bind(&places.socket)?,
    };
    // Only the daemon that serves the socket writes the log.
    let log = logging::start(&places.state, &options.log_level(env));
    info!(version = env!("CARGO_PKG_VERSION"), pid = std::process::id(), platform = desktop.platform.name(), log = ?log.folder, "starting");

    let outcome = runtime.block_on(async {
        let stop = Stop::new();
        let sessions = Arc::new(Sessions::default());
        stop_on_signals(&stop)?;
        let info = DaemonInfo {
            socket: listener.path().to_owned(),
            log: log.folder.clone(),
            state: Some(places.state.clone()),
            idle_exit: options.idle_exit(),
        };
        let engine = Engine::start(desktop, info, Arc::clone(&sessions), stop.clone());
        ready.listening(listener.path());
        let options = ServerOptions { idle_exit: options.idle_exit(), ..ServerOptions::default() };
        let served = server::run(listener, engine.clone(), sessions, stop, options).await;
        engine.release_all_input().await;
        engine.shut_down_platform().await;
        served.map_err(Failure::from)
    });
    // Not waited for: whatever still runs belongs to no client.
    runtime.shutdown_background();
    match &outcome {
        Ok(()) => info!("stopped"),
        Err(failure) => warn!(code = failure.code, "cannot run: {:#}", failure.cause),
    }
    outcome
}

/// Looks at the desktop without serving it: for machines on which no daemon can run.
fn examine(options: &Options, desktops: Desktops) -> ExitCode {
    let examined = || -> Result<DoctorAnswer, Failure> {
        let choice = options.platform(|name| std::env::var_os(name));
        let choice = choice.map_err(|message| Failure::new(ErrorCode::InvalidArgs, message))?;
        let checks = (desktops.examine)(choice, &runtime()?).unwrap_or_else(|| {
            vec![Finding::missing(
                "desktop",
                "this build does not support it",
                "use a build for it, or --platform sim, the built-in desktop",
            )]
        });
        Ok(DoctorAnswer::of(checks))
    };
    match examined() {
        Ok(answer) => {
            // Serialising plain strings cannot fail.
            println!("{}", serde_json::to_string(&answer).unwrap_or_default());
            if answer.healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(failure) => fail(&failure),
    }
}

/// Measures the system with a window of this process.
fn measure(options: &Options, desktops: Desktops) -> ExitCode {
    let measured = || -> Result<SelftestAnswer, Failure> {
        let choice = options.platform(|name| std::env::var_os(name));
        let choice = choice.map_err(|message| Failure::new(ErrorCode::InvalidArgs, message))?;
        (desktops.selftest)(choice).map_err(|why| Failure::new(ErrorCode::PlatformNotSupported, why))
    };
    match measured() {
        Ok(answer) => {
            // Serialising plain values cannot fail.
            println!("{}", serde_json::to_string(&answer).unwrap_or_default());
            ExitCode::SUCCESS
        }
        Err(failure) => fail(&failure),
    }
}

fn runtime() -> std::io::Result<Runtime> {
    // Two workers, so that a long answer to one client does not hold up another; the work itself is small.
    Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(8)
        .thread_stack_size(512 * 1024)
        .thread_name("axd")
        .enable_all()
        .build()
}

/// SIGTERM, SIGINT and SIGHUP stop the daemon in good order. SIGPIPE needs no care: Rust programs ignore it.
fn stop_on_signals(stop: &Stop) -> std::io::Result<()> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        let mut signals = signal(kind)?;
        let stop = stop.clone();
        tokio::spawn(async move {
            if signals.recv().await.is_some() {
                info!(signal = kind.as_raw_value(), "told to stop");
                stop.trigger();
            }
        });
    }
    Ok(())
}
