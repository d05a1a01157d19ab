//! `doctor` without a daemon: runs `axd --doctor`, which checks the desktop without serving it.

use std::process::{Command, Stdio};

use axd_client::protocol::command::{DoctorAnswer, Finding};
use axd_client::{ClientError, DaemonStart};

use super::Exit;
use super::output::{self, Mode};
use super::parse::Options;

/// Prints the checks that need no daemon; `fault` is the reason why there is none.
pub fn run(fault: &ClientError, options: &Options, mode: Mode) -> Exit {
    let error = fault.to_error();
    let mut checks =
        vec![Finding::missing("daemon", error.message, "fix what is missing below, then try again")];
    // On macOS, permissions belong to the app that is responsible for a process, which is the terminal here.
    if (DaemonStart { platform: options.platform.clone(), ..DaemonStart::default() }).uses_launchd() {
        let remedy = match options.no_autostart {
            true => {
                "let ax start the daemon (without --no-autostart and AXD_NO_AUTOSTART), and run `ax doctor` again"
            }
            false => "fix what prevents the daemon from running, and run `ax doctor` again",
        };
        let whose = "the permissions shown are those of the app that ax runs in, not of the daemon that launchd starts";
        checks.push(Finding::limited("permissions", whose, remedy));
    }
    checks.extend(run_checks(options));
    output::answer("doctor", &DoctorAnswer::of(checks), mode, Exit::Unavailable)
}

fn run_checks(options: &Options) -> Vec<Finding> {
    let Some(program) = axd_client::find_daemon() else {
        return vec![Finding::missing(
            "axd",
            "not found",
            "install it beside ax, put it on the PATH, or set AXD_BIN",
        )];
    };
    let mut command = Command::new(&program);
    command.arg("--doctor").stdin(Stdio::null()).stderr(Stdio::piped());
    command.args(options.platform.iter().flat_map(|platform| ["--platform", platform]));
    let unusable = |found: String| vec![Finding::missing("axd", found, "install it again")];
    match command.output() {
        Ok(output) => match serde_json::from_slice::<DoctorAnswer>(&output.stdout) {
            Ok(answer) => answer.checks,
            Err(_) => unusable(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        },
        Err(fault) => unusable(format!("{} cannot be run: {fault}", program.display())),
    }
}
