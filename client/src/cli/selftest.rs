//! `selftest`: runs `axd --selftest`, which measures the system with a window of its own.

use std::process::{Command, Stdio};

use axd_client::protocol::command::SelftestAnswer;
use axd_client::protocol::{Error, ErrorCode};

use super::Exit;
use super::output::{self, Mode};
use super::parse::Options;

/// Measures, and prints what was found.
pub fn run(options: &Options, mode: Mode) -> Exit {
    match measure(options) {
        Ok(answer) => output::answer("selftest", &answer, mode, Exit::Done),
        Err(error) => output::failure("selftest", &error.into(), mode),
    }
}

fn measure(options: &Options) -> Result<SelftestAnswer, Error> {
    let unavailable = |message: String| Error::new(ErrorCode::DaemonUnavailable, message);
    let program = axd_client::find_daemon().ok_or_else(|| {
        unavailable("axd not found".to_owned())
            .suggest("install it beside ax, put it on the PATH, or set AXD_BIN")
    })?;
    let mut command = Command::new(&program);
    command.arg("--selftest").stdin(Stdio::null()).stderr(Stdio::piped());
    command.args(options.platform.iter().flat_map(|platform| ["--platform", platform]));
    let output = command
        .output()
        .map_err(|fault| unavailable(format!("{} cannot be run: {fault}", program.display())))?;
    serde_json::from_slice(&output.stdout).map_err(|_| {
        let said = String::from_utf8_lossy(&output.stderr);
        Error::new(ErrorCode::PlatformNotSupported, said.trim().trim_start_matches("axd: ").to_owned())
    })
}
