//! Running the daemon: from its options to its end, on whatever desktop the program offers.
//!
//! Some desktops need thread 0 for themselves. Then the daemon runs on another one, and ends the loop on thread 0 when it
//! is done.

use std::process::ExitCode;
use std::sync::Arc;

use axd_protocol::command::{DoctorAnswer, Finding, SelftestAnswer};
use axd_protocol::{Error, ErrorCode};
use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::Uid;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tracing::{info, warn};

use crate::options::{Options, PlatformChoice};
use crate::ready::Ready;
use crate::watchdog::Watchdog;
use crate::{logging, policy_test};
use axd_engine::memory;
use axd_engine::{DaemonInfo, Engine};
use axd_platform::OpenDesktop;
use axd_policy::PolicyStore;
use axd_server::{self as server, ListenError, Listener, ServerOptions};
use axd_service::{Sessions, Stop};

/// The exit code when another daemon already serves the socket (EX_TEMPFAIL).
const ALREADY_RUNNING: u8 = 75;
/// The number of files that may be open: two for each of the most clients there may be, and those of the desktop.
const FILES: u64 = 8_192;

/// How many threads run what is not answered at once: two, so that one request that takes long does not hold up another.
const ENGINE_THREADS: usize = 2;

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
    if let Some(file) = &options.policy_test {
        return policy_test::run(file);
    }
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
    raise_file_limit();
    // The log begins before the desktop is opened, which may have something to say.
    let mut log = logging::start(&places.state, &options.log_level(env));
    let runtime = runtime(ENGINE_THREADS)?;
    // What answers sockets has a runtime of its own, so that nothing that computes can keep it from answering.
    let io = runtime_for_sockets()?;
    let opened = (desktops.open)(choice, &runtime);
    let desktop = match opened {
        Ok(desktop) => desktop,
        Err(missing) => {
            // Not waited for: a thread may hang where the desktop does not answer.
            runtime.shutdown_background();
            log.commit();
            return Err(refuse(&missing));
        }
    };
    let listener = match server::inherited()? {
        Some(listener) => listener,
        None => Listener::bind(&places.socket)?,
    };
    // Only the daemon that serves the socket writes the log.
    log.commit();
    info!(version = env!("CARGO_PKG_VERSION"), pid = std::process::id(), platform = desktop.platform.name(), log = ?log.folder, "starting");

    // In force before anybody is answered.
    let policy = Arc::new(PolicyStore::open(&places.config, options.names_policy(env)));

    let outcome = io.block_on(async {
        let stop = Stop::new();
        let sessions = Arc::new(Sessions::default());
        stop_on_signals(&stop)?;
        let info = DaemonInfo {
            socket: listener.path().to_owned(),
            log: log.folder.clone(),
            state: Some(places.state.clone()),
            idle_exit: options.idle_exit(),
        };
        let engine = {
            let _engine = runtime.enter();
            Engine::start(desktop, info, Arc::clone(&sessions), stop.clone(), policy)
        };
        ready.listening(listener.path());
        if let Some(watchdog) = Watchdog::of(env, std::process::id()) {
            tokio::spawn(watchdog.run(listener.path().to_owned()));
        }
        let options = ServerOptions { idle_exit: options.idle_exit(), ..ServerOptions::default() };
        let served = server::run(listener, engine.clone(), sessions, stop, options).await;
        let ending = Arc::clone(&engine);
        let ended = runtime.spawn(async move {
            ending.release_all_input().await;
            ending.shut_down_platform().await;
        });
        if ended.await.is_err() {
            warn!("the platform did not shut down in good order");
        }
        served.map_err(Failure::from)
    });
    // Not waited for: whatever still runs belongs to no client.
    runtime.shutdown_background();
    io.shutdown_background();
    match &outcome {
        Ok(()) => info!("stopped"),
        Err(failure) => warn!(code = failure.code, "cannot run: {:#}", failure.cause),
    }
    outcome
}

/// Tells those who wait that there is no desktop to serve, and why.
fn refuse(missing: &str) -> Failure {
    let said = match no_descriptors_left() {
        Some(said) => said,
        None => format!("{missing}; use `--platform sim` for the built-in desktop"),
    };
    warn!("cannot serve: {said}");
    let error = Error::new(ErrorCode::PlatformNotSupported, format!("axd cannot serve: {said}"));
    server::refuse_waiting("none", &error);
    Failure::new(ErrorCode::PlatformNotSupported, said)
}

/// That no more files can be opened, if it is so: then whatever else is said to be missing is not.
fn no_descriptors_left() -> Option<String> {
    let fault = std::fs::File::open("/dev/null").err()?;
    let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| soft);
    matches!(fault.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
        .then(|| format!("no file descriptors are left (the limit is {limit}); raise it with `ulimit -n`"))
}

/// Raises the limit of open files as far as many clients need it and the system lets it be.
fn raise_file_limit() {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    let wanted = hard.min(FILES);
    if soft < wanted && setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).is_err() {
        warn!(soft, hard, "the limit of open files cannot be raised");
    }
}

/// Looks at the desktop without serving it: for machines on which no daemon can run.
fn examine(options: &Options, desktops: Desktops) -> ExitCode {
    let examined = || -> Result<DoctorAnswer, Failure> {
        let choice = options.platform(|name| std::env::var_os(name));
        let choice = choice.map_err(|message| Failure::new(ErrorCode::InvalidArgs, message))?;
        let mut checks = (desktops.examine)(choice, &runtime(1)?).unwrap_or_else(|| {
            vec![Finding::missing(
                "desktop",
                "this build does not support it",
                "use a build for it, or --platform sim, the built-in desktop",
            )]
        });
        let env = |name: &str| std::env::var_os(name);
        let policy = options.places(Uid::effective().as_raw(), env).config;
        checks.push(PolicyStore::open(&policy, options.names_policy(env)).state().finding());
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

/// The runtime of the engine and the platform.
fn runtime(threads: usize) -> std::io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(threads)
        .max_blocking_threads(16)
        .thread_stack_size(512 * 1024)
        .thread_name("axd")
        .enable_all()
        .build()
}

/// The runtime of the listener and the connections: one thread serves all sockets.
fn runtime_for_sockets() -> std::io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(4)
        .thread_stack_size(512 * 1024)
        .thread_name("axd-io")
        .on_thread_start(axd_service::priority::answer_promptly)
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
