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
    CaptureTarget, CapturedImage, ClipboardContent, ClipboardKind, Counters, DesktopEvent, Extension,
    ExtensionReply, Failure, Gate, Input, LaunchPlan, Launched, Platform, Reply, RunningApp, WindowOp,
    WorkerEvent, WorkerHandle,
};
use axd_protocol::command::{Finding, Permission};
use axd_protocol::{Error, Point};
use axd_sim::SimOptions;
use clap::Parser;
use serde_json::value::RawValue;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

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
        self.mac.capabilities()
    }

    fn start(&self, out: mpsc::UnboundedSender<DesktopEvent>) {
        self.mac.start(out);
    }

    fn attach(
        &self,
        app: &RunningApp,
        out: mpsc::Sender<WorkerEvent>,
        counters: Arc<Counters>,
    ) -> WorkerHandle {
        self.mac.attach(app, out, counters)
    }

    fn diagnose(&self) -> Reply<Vec<Finding>> {
        self.mac.diagnose()
    }

    fn permissions(&self, request: bool) -> Reply<Vec<Permission>> {
        self.mac.permissions(request)
    }

    fn access_error(&self) -> Option<Failure> {
        self.mac.access_error()
    }

    fn input(&self, input: Input, gate: Gate) -> Reply<Option<String>> {
        self.mac.input(input, gate)
    }

    fn pointer(&self) -> Reply<Point> {
        self.mac.pointer()
    }

    fn window_op(&self, window: u64, op: WindowOp, gate: Gate) -> Reply<()> {
        self.mac.window_op(window, op, gate)
    }

    fn launch(&self, plan: LaunchPlan, gate: Gate) -> Reply<Launched> {
        self.mac.launch(plan, gate)
    }

    fn close_app(&self, pid: u32, force: bool, gate: Gate) -> Reply<()> {
        self.mac.close_app(pid, force, gate)
    }

    fn clipboard(&self, kind: ClipboardKind) -> Reply<Option<ClipboardContent>> {
        self.mac.clipboard(kind)
    }

    fn set_clipboard(&self, content: Option<ClipboardContent>, gate: Gate) -> Reply<()> {
        self.mac.set_clipboard(content, gate)
    }

    fn capture(&self, target: CaptureTarget, cursor: bool) -> Reply<CapturedImage> {
        self.mac.capture(target, cursor)
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

    fn acts_late(&self, pid: u32) -> bool {
        self.mac.acts_late(pid)
    }

    fn extensions(&self) -> Vec<Arc<dyn Extension>> {
        let scripted = self.world.sim().extensions();
        let behind = |extension| AfterInput { extension, world: Arc::clone(&self.world) };
        scripted.into_iter().map(|extension| Arc::new(behind(extension)) as Arc<dyn Extension>).collect()
    }
}

/// An extension of the scripted desktop, called after the input that is on its way has arrived: a person acts on what the screen
/// shows.
struct AfterInput {
    extension: Arc<dyn Extension>,
    world: Arc<World>,
}

impl Extension for AfterInput {
    fn name(&self) -> &'static str {
        self.extension.name()
    }

    fn check(&self, args: Option<&RawValue>) -> Result<(), Error> {
        self.extension.check(args)
    }

    fn call(&self, args: Option<&RawValue>, deadline: Instant) -> ExtensionReply {
        let (answer, reply) = oneshot::channel();
        let (extension, world) = (Arc::clone(&self.extension), Arc::clone(&self.world));
        let args = args.map(ToOwned::to_owned);
        tokio::spawn(async move {
            let _ = tokio::task::spawn_blocking(move || world.input().settle(INPUT_ARRIVAL_TIMEOUT)).await;
            if let Ok(outcome) = extension.call(args.as_deref(), deadline).await {
                // The client may have stopped waiting.
                let _ = answer.send(outcome);
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
