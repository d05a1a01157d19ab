//! `axd`, the daemon.

use std::process::ExitCode;
use std::sync::Arc;

use axd::engine::{About, Engine};
use axd::logging;
use axd::options::{Options, PlatformChoice};
use axd::platform::Platform;
#[cfg(target_os = "linux")]
use axd::platform::linux::LinuxDesktop;
use axd::platform::sim::{SimDesktop, SimOptions};
use axd::ready::Ready;
use axd::server::{self, ListenError, Listener, ServerOptions};
use axd::session::Sessions;
use axd::stop::Stop;
use axd_protocol::ErrorCode;
use axd_protocol::command::{DoctorAnswer, Finding};
use clap::Parser;
use nix::unistd::Uid;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tracing::{info, warn};

/// The exit code when another daemon already serves the socket (EX_TEMPFAIL).
const ALREADY_RUNNING: u8 = 75;

fn main() -> ExitCode {
    let options = Options::parse();
    let mut ready = match Ready::on(options.ready_fd, |name| std::env::var_os(name)) {
        Ok(ready) => ready,
        Err(fault) => return fail(&Failure::new(ErrorCode::InvalidArgs, format!("--ready-fd: {fault}"))),
    };
    if options.doctor {
        return examine(&options);
    }
    match run(&options, &mut ready) {
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

fn run(options: &Options, ready: &mut Ready) -> Result<(), Failure> {
    let env = |name: &str| std::env::var_os(name);
    let places = options.places(Uid::effective().as_raw(), env);
    let choice = options.platform(env).map_err(|message| Failure::new(ErrorCode::InvalidArgs, message))?;
    let runtime = runtime()?;
    let platform = desktop(choice, &runtime)?;
    let listener = match server::inherited()? {
        Some(listener) => listener,
        None => Listener::bind(&places.socket)?,
    };
    // Only the daemon that serves the socket writes the log.
    let log = logging::start(&places.state, &options.log_level(env));
    info!(version = env!("CARGO_PKG_VERSION"), pid = std::process::id(), platform = platform.name(), log = ?log.folder, "starting");

    let outcome = runtime.block_on(async {
        let stop = Stop::new();
        let sessions = Arc::new(Sessions::default());
        stop_on_signals(&stop)?;
        let about = About {
            socket: listener.path().to_owned(),
            log: log.folder.clone(),
            state: Some(places.state.clone()),
            idle_exit: options.idle_exit(),
        };
        let engine = Engine::start(platform, about, Arc::clone(&sessions), stop.clone());
        ready.listening(listener.path());
        let options = ServerOptions { idle_exit: options.idle_exit(), ..ServerOptions::default() };
        let served = server::run(listener, engine.clone(), sessions, stop, options).await;
        engine.let_go_of_everything().await;
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

/// The desktop that is meant, or what is missing for it.
fn desktop(choice: PlatformChoice, runtime: &Runtime) -> Result<Box<dyn Platform>, Failure> {
    let missing = match choice {
        PlatformChoice::Sim => return Ok(Box::new(SimDesktop::new(SimOptions::from_env()))),
        #[cfg(target_os = "linux")]
        PlatformChoice::Auto | PlatformChoice::Linux => match runtime.block_on(LinuxDesktop::connect()) {
            Ok(desktop) => return Ok(Box::new(desktop)),
            Err(missing) => missing.to_string(),
        },
        PlatformChoice::Macos => "this build cannot serve macOS desktops".to_owned(),
        #[cfg(not(target_os = "linux"))]
        PlatformChoice::Auto | PlatformChoice::Linux => {
            let _ = runtime;
            "this build cannot serve this machine's desktop yet".to_owned()
        }
    };
    Err(Failure::new(
        ErrorCode::PlatformNotSupported,
        format!("{missing}; `--platform sim` is the built-in desktop"),
    ))
}

/// Looks at the desktop without serving it: for machines on which no daemon can run.
fn examine(options: &Options) -> ExitCode {
    let examined = || -> Result<DoctorAnswer, Failure> {
        let choice = options.platform(|name| std::env::var_os(name));
        let choice = choice.map_err(|message| Failure::new(ErrorCode::InvalidArgs, message))?;
        let checks = match choice {
            PlatformChoice::Sim => axd::platform::sim::examine(),
            #[cfg(target_os = "linux")]
            PlatformChoice::Auto | PlatformChoice::Linux => {
                runtime()?.block_on(axd::platform::linux::examine())
            }
            #[allow(unreachable_patterns, reason = "each system has desktops it cannot serve")]
            _ => vec![Finding::missing(
                "desktop",
                "this build cannot serve it",
                "use a build for it, or --platform sim, the built-in desktop",
            )],
        };
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
