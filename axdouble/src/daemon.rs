//! The daemon on the double.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use axd::options::{Options, PlatformChoice};
use axd::platform::sim::SimOptions;
use axd::platform::{
    AppSeen, Counters, DesktopAnswer, DesktopCall, DesktopEvent, FromWorker, Gate, Mailbox, Platform, Reply,
};
use axd::run::{Desktops, MainLoop};
use axd_double::platform::macos::{self, MacDesktop};
use axd_double::{World, appkit};
use axd_protocol::command::{Finding, Sim, SimAnswer};
use clap::Parser;
use tokio::runtime::Runtime;
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

/// Runs it until it is stopped: the same daemon as everywhere, on another desktop.
pub fn main() -> ExitCode {
    axd::run::run(Options::parse(), Desktops { open, examine, main_loop })
}

fn open(_: PlatformChoice, runtime: &Runtime) -> Result<Box<dyn Platform>, String> {
    let world = World::start(SimOptions::from_env());
    if let Some(holder) = std::env::var("AXD_DOUBLE_SECURE_INPUT").ok().and_then(|pid| pid.parse().ok()) {
        world.settings(|settings| {
            (settings.secure_input_held_by, settings.secure_input_swallows) = (Some(holder), true);
        });
    }
    let _inside = runtime.enter();
    Ok(Box::new(OnDouble { mac: MacDesktop::connect(), world: Arc::new(world) }))
}

fn examine(_: PlatformChoice, runtime: &Runtime) -> Option<Vec<Finding>> {
    let _world = World::start(SimOptions::from_env());
    let _inside = runtime.enter();
    Some(macos::examine())
}

/// As on a Mac, the daemon runs beside the loop of thread 0.
fn main_loop(_: PlatformChoice) -> Option<MainLoop> {
    Some(MainLoop { run: appkit::run_main, stop: appkit::stop_main })
}
