//! The command line of `axd`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use axd_protocol::Paths;
use axd_protocol::paths::System;
use clap::{Parser, ValueEnum};

/// Keeps desktop apps' accessibility trees live in memory and serves them over a Unix socket.
///
/// Runs in the foreground until it is stopped by a signal or by `ax shutdown`. It logs to stderr if that is a terminal,
/// otherwise to files in its state folder.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(name = "axd", version)]
pub struct Options {
    /// Where to listen [env: AXD_SOCKET]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,

    /// The policy file, which must exist if it is named here [env: AXD_CONFIG] [default: policy.toml, if there is one]
    #[arg(long, value_name = "PATH")]
    pub config: Option<PathBuf>,

    /// The folder of logs and audit [env: AXD_STATE]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,

    /// The desktop to serve [env: AXD_PLATFORM] [default: auto]
    #[arg(long, value_name = "PLATFORM")]
    pub platform: Option<PlatformChoice>,

    /// Stop after so long without a client
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub idle_exit: Option<u64>,

    /// What to log: error, warn, info, debug, trace, or a list such as info,axd_server=debug [env: AXD_LOG] [default: info]
    #[arg(long, value_name = "LEVEL")]
    pub log_level: Option<String>,

    /// Say as JSON what the desktop offers and what is missing, and exit
    #[arg(long)]
    pub doctor: bool,

    /// Measure what the system does with a window of its own, say it as JSON, and exit
    #[arg(long, conflicts_with = "doctor")]
    pub selftest: bool,

    /// Check a policy file, say as JSON what is wrong with it, and exit with 2 if anything is
    #[arg(long, value_name = "PATH", conflicts_with_all = ["doctor", "selftest"])]
    pub policy_test: Option<PathBuf>,

    /// A pipe to tell on, in one line, that the daemon listens, or why not
    #[arg(long, value_name = "FD", hide = true, value_parser = clap::value_parser!(i32).range(3..))]
    pub ready_fd: Option<i32>,
}

/// A desktop that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlatformChoice {
    /// This machine's own
    Auto,
    /// macOS, by its accessibility interface
    Macos,
    /// Linux, by AT-SPI
    Linux,
    /// The built-in desktop, for trying things out and for tests
    Sim,
}

impl Options {
    /// Where things live: what the command line says, else the environment, else the system's habit.
    pub fn places(&self, uid: u32, env: impl Fn(&str) -> Option<OsString>) -> Paths {
        let defaults = Paths::resolve(System::CURRENT, uid, env);
        Paths {
            socket: self.socket.clone().unwrap_or(defaults.socket),
            config: self.config.clone().unwrap_or(defaults.config),
            state: self.state.clone().unwrap_or(defaults.state),
        }
    }

    /// Whether somebody named the policy file. Whoever did relies on it, so that it must exist.
    pub fn names_policy(&self, env: impl Fn(&str) -> Option<OsString>) -> bool {
        self.config.is_some() || env("AXD_CONFIG").is_some_and(|value| !value.is_empty())
    }

    /// The desktop to serve. A name in the environment that is none is an error, as it is on the command line.
    pub fn platform(&self, env: impl Fn(&str) -> Option<OsString>) -> Result<PlatformChoice, String> {
        let from_env = env("AXD_PLATFORM").filter(|value| !value.is_empty());
        match (self.platform, from_env) {
            (Some(choice), _) => Ok(choice),
            (None, None) => Ok(PlatformChoice::Auto),
            (None, Some(name)) => PlatformChoice::from_str(&name.to_string_lossy(), true).map_err(|_| {
                format!("AXD_PLATFORM is {}; it must be auto, macos, linux or sim", name.display())
            }),
        }
    }

    /// What to log.
    pub fn log_level(&self, env: impl Fn(&str) -> Option<OsString>) -> String {
        let from_env = || env("AXD_LOG").and_then(|value| value.into_string().ok());
        self.log_level
            .clone()
            .or_else(from_env)
            .filter(|level| !level.is_empty())
            .unwrap_or_else(|| "info".to_owned())
    }

    /// After how long without a client to stop.
    pub fn idle_exit(&self) -> Option<Duration> {
        self.idle_exit.map(Duration::from_secs)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn options(args: &[&str]) -> Options {
        Options::try_parse_from([&["axd"], args].concat()).unwrap()
    }

    fn env(name: &str) -> Option<OsString> {
        let value = match name {
            "AXD_SOCKET" => "/env/axd.sock",
            "AXD_PLATFORM" => "sim",
            "AXD_LOG" => "debug",
            "HOME" => "/home/a",
            _ => return None,
        };
        Some(value.into())
    }

    #[test]
    fn the_command_line_wins_over_the_environment() {
        let plain = options(&[]);
        assert_eq!(plain.places(1, env).socket, Path::new("/env/axd.sock"));
        assert_eq!(plain.platform(env), Ok(PlatformChoice::Sim));
        assert_eq!(plain.log_level(env), "debug");
        let given =
            options(&["--socket", "/s", "--platform", "auto", "--log-level", "warn", "--idle-exit", "9"]);
        assert_eq!(given.places(1, env).socket, Path::new("/s"));
        assert_eq!(given.platform(env), Ok(PlatformChoice::Auto));
        assert_eq!(given.log_level(env), "warn");
        assert_eq!(given.idle_exit(), Some(Duration::from_secs(9)));
    }

    #[test]
    fn a_policy_file_is_named_on_the_command_line_or_in_the_environment() {
        let named = options(&["--config", "/p"]);
        assert!(named.names_policy(|_| None) && named.places(1, env).config == Path::new("/p"));
        let variable = |value: &'static str| move |name: &str| (name == "AXD_CONFIG").then(|| value.into());
        assert!(options(&[]).names_policy(variable("/p")));
        assert!(!options(&[]).names_policy(variable("")) && !options(&[]).names_policy(env));
    }

    #[test]
    fn without_either_there_are_defaults() {
        let none = |_: &str| None;
        assert_eq!(options(&[]).platform(none), Ok(PlatformChoice::Auto));
        assert_eq!(options(&[]).log_level(none), "info");
        assert_eq!(options(&[]).idle_exit(), None);
    }

    #[test]
    fn a_platform_nobody_knows_is_named_with_those_that_are() {
        let error = options(&[]).platform(|_| Some("amiga".into())).unwrap_err();
        assert!(error.contains("amiga") && error.contains("sim"), "{error}");
        assert!(Options::try_parse_from(["axd", "--platform", "amiga"]).is_err());
        assert!(Options::try_parse_from(["axd", "--ready-fd", "1"]).is_err());
    }
}
