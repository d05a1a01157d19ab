//! The daemon on the double.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axd::engine::{About, Engine};
use axd::logging;
use axd::options::Options;
use axd::platform::sim::SimOptions;
use axd::platform::{
    AppSeen, Counters, DesktopAnswer, DesktopCall, DesktopEvent, FromWorker, Gate, Mailbox, Platform, Reply,
};
use axd::ready::Ready;
use axd::server::{self, Listener, ServerOptions};
use axd::session::Sessions;
use axd::stop::Stop;
use axd_double::World;
use axd_double::platform::macos::MacDesktop;
use axd_protocol::command::{Finding, Sim, SimAnswer};
use clap::Parser;
use nix::unistd::Uid;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};

/// The backend, and the hand at the scripted apps.
struct OnDouble {
    mac: MacDesktop,
    world: Arc<World>,
}

/// How long what was put in may take to arrive.
const ARRIVES: Duration = Duration::from_secs(5);

impl Platform for OnDouble {
    fn name(&self) -> &'static str {
        self.mac.name()
    }

    fn capabilities(&self) -> Vec<&'static str> {
        self.mac.capabilities().into_iter().chain(["sim"]).collect()
    }

    fn start(&self, out: mpsc::UnboundedSender<DesktopEvent>) {
        self.mac.start(out);
    }

    fn attach(&self, app: &AppSeen, out: mpsc::Sender<FromWorker>, counters: Arc<Counters>) -> Mailbox {
        self.mac.attach(app, out, counters)
    }

    fn examine(&self) -> Reply<Vec<Finding>> {
        self.mac.examine()
    }

    fn call(&self, call: DesktopCall, gate: Gate) -> Reply<DesktopAnswer> {
        self.mac.call(call, gate)
    }

    fn semantic_method(&self) -> &'static str {
        self.mac.semantic_method()
    }

    fn input_method(&self) -> &'static str {
        self.mac.input_method()
    }

    fn is_ours(&self, pid: u32) -> bool {
        self.mac.is_ours(pid)
    }

    fn is_late(&self, pid: u32) -> bool {
        self.mac.is_late(pid)
    }

    fn sim(&self, act: Sim) -> Reply<SimAnswer> {
        let (answer, reply) = oneshot::channel();
        let world = Arc::clone(&self.world);
        tokio::spawn(async move {
            // Who looks at the screen sees what has arrived there.
            let arriving = Arc::clone(&world);
            let _ = tokio::task::spawn_blocking(move || arriving.input().settle(ARRIVES)).await;
            if let Ok(done) = world.sim().sim(act).await {
                // Who asked may have stopped waiting.
                let _ = answer.send(done);
            }
        });
        reply
    }
}

/// Runs it until it is stopped.
pub fn main() -> ExitCode {
    let options = Options::parse();
    let mut ready = match Ready::on(options.ready_fd, |name| std::env::var_os(name)) {
        Ok(ready) => ready,
        Err(fault) => {
            eprintln!("axd-on-double: --ready-fd: {fault}");
            return ExitCode::FAILURE;
        }
    };
    match run(&options, &mut ready) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            ready.failed("DAEMON_UNAVAILABLE", &format!("{fault:#}"));
            eprintln!("axd-on-double: {fault:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options, ready: &mut Ready) -> anyhow::Result<()> {
    let env = |name: &str| std::env::var_os(name);
    let places = options.places(Uid::effective().as_raw(), env);
    let runtime = Builder::new_multi_thread().worker_threads(2).thread_name("axd").enable_all().build()?;
    let world = Arc::new(World::start(SimOptions::from_env()));
    let platform = {
        let _inside = runtime.enter();
        Box::new(OnDouble { mac: MacDesktop::connect(), world })
    };
    let listener = match server::inherited().context("the inherited socket")? {
        Some(listener) => listener,
        None => Listener::bind(&places.socket).context("cannot listen")?,
    };
    let log = logging::start(&places.state, &options.log_level(env));
    let outcome = runtime.block_on(async {
        let stop = Stop::new();
        let sessions = Arc::new(Sessions::default());
        for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
            let (mut signals, stop) = (signal(kind)?, stop.clone());
            tokio::spawn(async move {
                if signals.recv().await.is_some() {
                    stop.trigger();
                }
            });
        }
        let about = About {
            socket: listener.path().to_owned(),
            log: log.folder.clone(),
            state: Some(places.state.clone()),
            idle_exit: options.idle_exit(),
        };
        let engine = Engine::start(platform, about, Arc::clone(&sessions), stop.clone());
        ready.listening(listener.path());
        let serving = ServerOptions { idle_exit: options.idle_exit(), ..ServerOptions::default() };
        let served = server::run(listener, engine.clone(), sessions, stop, serving).await;
        engine.let_go_of_everything().await;
        served.context("cannot serve")
    });
    runtime.shutdown_background();
    outcome
}
