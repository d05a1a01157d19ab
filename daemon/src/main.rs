//! `axd`, the daemon.

use std::process::ExitCode;

use axd::options::{Options, PlatformChoice};
use axd::run::{Desktops, MainLoop};
#[cfg(target_os = "linux")]
use axd_linux::LinuxDesktop;
#[cfg(target_os = "macos")]
use axd_macos::MacDesktop;
use axd_platform::OpenDesktop;
use axd_protocol::command::{Finding, SelftestAnswer};
use axd_sim::{SimDesktop, SimOptions};
use clap::Parser;
use tokio::runtime::Runtime;

/// How long a desktop may take to answer when the daemon starts. Clients that wait for the daemon wait longer than this.
#[cfg(target_os = "linux")]
const CONNECT_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(8);

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if std::env::args_os().nth(1).is_some_and(|option| option == axd_linux::KEEP_CONNECTIONS) {
        axd_linux::keep_connections();
        return ExitCode::SUCCESS;
    }
    axd::run::run(Options::parse(), Desktops { open, examine, selftest, main_loop })
}

/// The desktop that is meant, or what is missing for it.
fn open(choice: PlatformChoice, runtime: &Runtime) -> Result<OpenDesktop, String> {
    // Not every desktop needs it to be opened.
    let _ = runtime;
    match choice {
        PlatformChoice::Sim => {
            let desktop = SimDesktop::new(SimOptions::from_env());
            let extensions = vec![desktop.extension()];
            Ok(OpenDesktop { extensions, ..desktop.into() })
        }
        #[cfg(target_os = "linux")]
        PlatformChoice::Auto | PlatformChoice::Linux => match within(runtime, LinuxDesktop::connect()) {
            // The running program by this name is there also when its file has been replaced.
            Some(Ok(desktop)) => Ok(desktop.kept_by("/proc/self/exe".into()).into()),
            Some(Err(missing)) => Err(missing.to_string()),
            None => Err(silent()),
        },
        #[cfg(target_os = "macos")]
        PlatformChoice::Auto | PlatformChoice::Macos => Ok(MacDesktop::connect().into()),
        #[allow(unreachable_patterns, reason = "each system has desktops it cannot serve")]
        PlatformChoice::Macos => Err("this build does not support macOS desktops".to_owned()),
        #[allow(unreachable_patterns, reason = "each system has desktops it cannot serve")]
        PlatformChoice::Linux => Err("this build does not support Linux desktops".to_owned()),
        #[allow(unreachable_patterns, reason = "not every system has a desktop that can be served")]
        PlatformChoice::Auto => Err("this build does not support this machine's desktop".to_owned()),
    }
}

/// Runs work for as long as a desktop may take to answer; `None` if it takes longer. It runs on a thread of the runtime, because a
/// part of it may block.
#[cfg(target_os = "linux")]
fn within<T: Send + 'static>(runtime: &Runtime, work: impl Future<Output = T> + Send + 'static) -> Option<T> {
    let work = runtime.spawn(work);
    runtime.block_on(async { tokio::time::timeout(CONNECT_TIMEOUT, work).await }).ok()?.ok()
}

#[cfg(target_os = "linux")]
fn silent() -> String {
    let seconds = CONNECT_TIMEOUT.as_secs();
    format!(
        "the desktop does not answer within {seconds} s: the session bus, the accessibility bus or the X server is stopped or hangs"
    )
}

/// Looks at a desktop without serving it: for machines on which no daemon can run.
fn examine(choice: PlatformChoice, runtime: &Runtime) -> Option<Vec<Finding>> {
    // As above.
    let _ = runtime;
    match choice {
        PlatformChoice::Sim => Some(axd_sim::examine()),
        #[cfg(target_os = "linux")]
        PlatformChoice::Auto | PlatformChoice::Linux => {
            Some(within(runtime, axd_linux::examine()).unwrap_or_else(|| {
                vec![Finding::missing("desktop", silent(), "restart the one that hangs, or the session")]
            }))
        }
        #[cfg(target_os = "macos")]
        PlatformChoice::Auto | PlatformChoice::Macos => Some(axd_macos::examine()),
        #[allow(unreachable_patterns, reason = "each system has desktops it cannot serve")]
        _ => None,
    }
}

/// Measures what the system does, with a window of its own.
fn selftest(choice: PlatformChoice) -> Result<SelftestAnswer, String> {
    match choice {
        #[cfg(target_os = "macos")]
        PlatformChoice::Auto | PlatformChoice::Macos => axd_macos::selftest::run(),
        #[allow(unreachable_patterns, reason = "only one system has it")]
        _ => {
            Err("selftest measures macOS, and runs on a Mac only; `ax doctor` checks this desktop".to_owned())
        }
    }
}

/// What must run on thread 0: AppKit's loop, on macOS.
fn main_loop(choice: PlatformChoice) -> Option<MainLoop> {
    match choice {
        #[cfg(target_os = "macos")]
        PlatformChoice::Auto | PlatformChoice::Macos => {
            Some(MainLoop { run: axd_macos::run_main, stop: axd_macos::stop_main })
        }
        _ => None,
    }
}
