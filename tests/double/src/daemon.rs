//! The daemon on the double.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use axd::options::{Options, PlatformChoice};
use axd::run::{Desktops, MainLoop};
use axd_double::cg::LostKeys;
use axd_double::{Settings, World, appkit};
use axd_macos::MacDesktop;
use axd_platform::{
    AppSeen, Counters, DesktopAnswer, DesktopCall, DesktopEvent, Failure, FromWorker, Gate, Mailbox,
    Platform, Reply,
};
use axd_protocol::command::{Finding, Permission, Sim, SimAnswer};
use axd_sim::SimOptions;
use clap::Parser;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};

/// The backend, with `ax sim` for the scripted apps.
struct OnDouble {
    mac: MacDesktop,
    world: Arc<World>,
}

/// How long input may take to arrive.
const INPUT_ARRIVAL_TIMEOUT: Duration = Duration::from_secs(5);

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

    fn permissions(&self, request: bool) -> Reply<Vec<Permission>> {
        self.mac.permissions(request)
    }

    fn not_allowed(&self) -> Option<Failure> {
        self.mac.not_allowed()
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
            let _ = tokio::task::spawn_blocking(move || arriving.input().settle(INPUT_ARRIVAL_TIMEOUT)).await;
            if let Ok(done) = world.sim().sim(act).await {
                // Who asked may have stopped waiting.
                let _ = answer.send(done);
            }
        });
        reply
    }
}

/// Runs the daemon until it is stopped. It is the same as everywhere, on another desktop.
pub fn main() -> ExitCode {
    axd::run::run(Options::parse(), Desktops { open, examine, main_loop })
}

fn open(_: PlatformChoice, runtime: &Runtime) -> Result<Box<dyn Platform>, String> {
    let world = World::start(SimOptions::from_env());
    for word in std::env::var("AXD_DOUBLE").unwrap_or_default().split(',').filter(|word| !word.is_empty()) {
        world.settings(|settings| set(&world, settings, word))?;
    }
    let _inside = runtime.enter();
    Ok(Box::new(OnDouble { mac: MacDesktop::connect(), world: Arc::new(world) }))
}

fn number(word: &str) -> Result<u32, String> {
    word.parse().map_err(|_| format!("AXD_DOUBLE: '{word}' is not a number"))
}

/// Applies one word of `AXD_DOUBLE`.
fn set(world: &World, settings: &mut Settings, word: &str) -> Result<(), String> {
    match word.split_once('=').unwrap_or((word, "")) {
        ("untrusted", "") => settings.trusted = false,
        ("no-capture", "") => settings.may_capture = false,
        ("says-yes-after", times) => settings.says_yes_after = Some(number(times)?),
        ("secure-input", pid) => {
            settings.secure_input_swallows = LostKeys::Everything;
            world.secure_input(number(pid)?, true);
        }
        _ => return Err(format!("AXD_DOUBLE: there is no '{word}'")),
    }
    Ok(())
}

fn examine(_: PlatformChoice, runtime: &Runtime) -> Option<Vec<Finding>> {
    let _world = World::start(SimOptions::from_env());
    let _inside = runtime.enter();
    Some(axd_macos::examine())
}

/// As on a Mac, the daemon runs beside the loop of thread 0.
fn main_loop(_: PlatformChoice) -> Option<MainLoop> {
    Some(MainLoop { run: appkit::run_main, stop: appkit::stop_main })
}
