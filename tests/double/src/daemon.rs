//! The daemon on the double.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use axd::options::{Options, PlatformChoice};
use axd::run::{Desktops, MainLoop};
use axd_double::ax::Error as AxError;
use axd_double::cg::LostKeys;
use axd_double::faults::{Call, Fault};
use axd_double::{Settings, World, appkit};
use axd_macos::MacDesktop;
use axd_platform::{Extension, ExtensionReply, OpenDesktop};
use axd_protocol::Error;
use axd_protocol::command::{Finding, SelftestAnswer};
use axd_sim::SimOptions;
use clap::Parser;
use serde_json::value::RawValue;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// How long input may take to arrive.
const INPUT_ARRIVAL_TIMEOUT: Duration = Duration::from_secs(5);

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
    axd::run::run(Options::parse(), Desktops { open, examine, selftest, main_loop })
}

fn open(_: PlatformChoice, runtime: &Runtime) -> Result<OpenDesktop, String> {
    let world = World::start(SimOptions::from_env());
    for word in std::env::var("AXD_DOUBLE").unwrap_or_default().split(',').filter(|word| !word.is_empty()) {
        world.settings(|settings| set(&world, settings, word))?;
    }
    let _inside = runtime.enter();
    let extension = world.sim().extension();
    let sim = AfterInput { extension, world: Arc::new(world) };
    Ok(OpenDesktop { extensions: vec![Arc::new(sim)], ..MacDesktop::connect().into() })
}

fn number(word: &str) -> Result<u32, String> {
    word.parse().map_err(|_| format!("AXD_DOUBLE: '{word}' is not a number"))
}

/// Has every call of a kind answer an error, and take effect.
fn lie(world: &World, call: Call, code: &str) -> Result<(), String> {
    let error = AxError::ALL.into_iter().find(|error| (*error as i32).to_string() == code);
    let error = error.ok_or_else(|| format!("AXD_DOUBLE: '{code}' is no error of the accessibility API"))?;
    world.faults().add(Fault { call: Some(call), error: Some(error), ..Fault::default() });
    Ok(())
}

/// Applies one word of `AXD_DOUBLE`.
fn set(world: &World, settings: &mut Settings, word: &str) -> Result<(), String> {
    match word.split_once('=').unwrap_or((word, "")) {
        ("untrusted", "") => settings.trusted = false,
        ("other-build", "") => (settings.trusted, settings.says_trusted) = (false, Some(true)),
        ("no-capture", "") => settings.may_capture = false,
        ("actions-answer", code) => lie(world, Call::Perform, code)?,
        ("sets-answer", code) => lie(world, Call::Set, code)?,
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

fn selftest(_: PlatformChoice) -> Result<SelftestAnswer, String> {
    let _world = World::of(&[appkit::TEST_WINDOW]);
    axd_macos::selftest::run()
}

/// As on a Mac, the daemon runs beside the loop of thread 0.
fn main_loop(_: PlatformChoice) -> Option<MainLoop> {
    Some(MainLoop { run: appkit::run_main, stop: appkit::stop_main })
}
