//! The command line of `ax-mcp`, which is that of `ax mcp`.

use std::path::PathBuf;

use axd_client::DaemonStart;
use axd_protocol::command::Mcp;
use clap::{ArgAction, Args, FromArgMatches};

/// The variable that turns auto-start off, if set to anything but `0`.
const NO_AUTOSTART: &str = "AXD_NO_AUTOSTART";

/// The options.
#[derive(Debug, Clone)]
pub struct Options {
    /// Those of `ax mcp`.
    pub mcp: Mcp,
    /// Those of every `ax` that matter here.
    pub daemon: DaemonOptions,
}

/// Which daemon to use.
#[derive(Debug, Clone, Args)]
pub struct DaemonOptions {
    /// Use the daemon at this socket.
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Start a missing daemon on this platform: auto, macos, linux or sim.
    #[arg(long, value_name = "NAME")]
    pub platform: Option<String>,
    /// Do not start a missing daemon.
    #[arg(long, action = ArgAction::SetTrue)]
    pub no_autostart: bool,
}

impl Options {
    /// Reads the command line. A wrong one ends the program, and says what is wrong.
    pub fn parse() -> Options {
        let command = clap::Command::new("ax-mcp").version(env!("CARGO_PKG_VERSION"));
        let command = DaemonOptions::augment_args(Mcp::augment_args(command));
        let matches = command.get_matches();
        let parsed = Mcp::from_arg_matches(&matches)
            .and_then(|mcp| Ok(Options { mcp, daemon: DaemonOptions::from_arg_matches(&matches)? }));
        parsed.unwrap_or_else(|fault| fault.exit())
    }
}

impl DaemonOptions {
    /// The socket to use.
    pub fn socket(&self) -> PathBuf {
        self.socket.clone().unwrap_or_else(|| axd_client::paths().socket)
    }

    /// How to start a missing daemon; `None` if it must not be started.
    pub fn start(&self) -> Option<DaemonStart> {
        let forbidden = std::env::var_os(NO_AUTOSTART).is_some_and(|set| !set.is_empty() && set != "0");
        let start = DaemonStart { platform: self.platform.clone(), ..DaemonStart::default() };
        (!self.no_autostart && !forbidden).then_some(start)
    }
}
