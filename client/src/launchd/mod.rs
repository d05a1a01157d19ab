//! macOS's launchd: the agent that runs axd, the output of `launchctl`, and starting a missing daemon.
//!
//! On macOS, accessibility is granted to the app that is *responsible* for a process. For a daemon that a shell spawns, that is
//! the terminal; a daemon that launchd starts is responsible for itself. So on macOS launchd always starts the daemon.
//!
//! Only the default depends on the system, so that everything here is tested on every system.

mod agent;
mod load;
mod slow_start;
mod start;

use std::io;
use std::path::Path;
use std::process::{Command as Process, Stdio};

pub use agent::{Agent, MARK};
pub use load::{OnMessage, kickstart, load, unload};
pub use slow_start::tell_if_throttled;
pub(crate) use start::start;

use crate::BUNDLE;

/// The label of the agent for the default socket.
pub const LABEL: &str = "dev.axd.axd";
/// The variable that decides how a missing daemon is started: `launchd` or `spawn`. It is for tests and for systems without
/// launchd.
pub const STARTER: &str = "AXD_START";

/// Whether launchd is the service manager here.
pub fn is_here() -> bool {
    match std::env::var(STARTER).as_deref() {
        Ok("launchd") => true,
        Ok("spawn") => false,
        _ => cfg!(target_os = "macos"),
    }
}

/// Whether launchd starts a missing daemon. For the built-in desktop a daemon is spawned, because that needs no permission.
pub(crate) fn is_starter(platform: Option<&str>) -> bool {
    is_here() && (platform != Some("sim") || std::env::var_os(STARTER).is_some())
}

/// The domain of the user's graphical session, for `launchctl`.
pub fn domain() -> String {
    format!("gui/{}", nix::unistd::getuid())
}

/// The name of an agent in that domain.
pub fn target(label: &str) -> String {
    format!("{}/{label}", domain())
}

/// What the user has to allow in System Settings, for a daemon that is this program; and what is wrong if that cannot be done.
pub fn to_allow(program: &Path) -> String {
    match crate::bundle_of(program) {
        Some(bundle) => bundle.display().to_string(),
        None => format!(
            "{} (not in {BUNDLE}: macOS 26.1 and later do not list it; put {BUNDLE} beside ax or in ~/Applications)",
            program.display()
        ),
    }
}

/// The command line of `launchctl` with these arguments.
pub fn argv(words: &[&str]) -> Vec<String> {
    ["launchctl"].iter().chain(words).map(ToString::to_string).collect()
}

/// Runs `launchctl`. `Ok(Err)` is its error output if it failed.
pub fn launchctl(words: &[&str]) -> io::Result<std::result::Result<String, String>> {
    let ran = Process::new("launchctl").args(words).stdin(Stdio::null()).output()?;
    if ran.status.success() {
        return Ok(Ok(String::from_utf8_lossy(&ran.stdout).into_owned()));
    }
    // It writes errors to either.
    let said = [String::from_utf8_lossy(&ran.stderr), String::from_utf8_lossy(&ran.stdout)].join(" ");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Err(if said.is_empty() { ran.status.to_string() } else { said }))
}

/// A loaded agent, as `launchctl print` shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The file it was loaded from.
    pub path: String,
    /// launchd's word for its state: `running`, `not running`, `spawn scheduled`.
    pub state: String,
    /// The id of its process, if it runs.
    pub pid: Option<u32>,
    /// The exit code of its last process, if one has ended.
    pub last_exit: Option<i32>,
}

impl Loaded {
    /// Parses the output of `launchctl print gui/UID/LABEL`: `key = value` lines with one tab; lines with more tabs belong to
    /// other objects.
    pub fn parse(output: &str) -> Loaded {
        let value = |key: &str| {
            output.lines().find_map(|line| {
                let line = line.strip_prefix('\t').filter(|line| !line.starts_with('\t'))?;
                line.strip_prefix(key)?.strip_prefix(" = ").map(str::trim)
            })
        };
        let number = |text: &str| text.split(|c: char| c != '-' && !c.is_ascii_digit()).next()?.parse().ok();
        Loaded {
            path: value("path").unwrap_or_default().to_owned(),
            state: value("state").unwrap_or_default().to_owned(),
            pid: value("pid").and_then(|pid| pid.parse().ok()).filter(|pid| *pid != 0),
            // `(never exited)`, `0`, or `78: EX_CONFIG`.
            last_exit: value("last exit code").and_then(number),
        }
    }

    /// Whether its process runs.
    pub fn is_running(&self) -> bool {
        self.state == "running" || self.pid.is_some()
    }
}

/// Whether `launchctl print` reports that the agent is not loaded, rather than that there is no session.
pub fn is_unknown(said: &str) -> bool {
    said.contains("Could not find service")
}

/// Whether the output of `launchctl print-disabled` lists the agent as disabled. Older systems write `true` instead of
/// `disabled`.
pub fn is_disabled(output: &str, label: &str) -> bool {
    output.lines().any(|line| {
        let said = line.trim().strip_prefix(&format!("\"{label}\" => "));
        matches!(said, Some("disabled" | "true"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As macOS writes it, shortened.
    const RUNNING: &str = "gui/501/dev.axd.axd = {\n\tactive count = 3\n\tpath = /Users/a b/Library/LaunchAgents/dev.axd.axd.plist\n\
        \ttype = LaunchAgent\n\tstate = running\n\n\tprogram = /usr/local/bin/axd\n\targuments = {\n\t\t/usr/local/bin/axd\n\t}\n\n\
        \tdefault environment = {\n\t\tPATH => /usr/bin:/bin\n\t\tpid = 5\n\t}\n\n\tdomain = gui/501 [100015]\n\truns = 2\n\
        \tpid = 4711\n\timmediate reason = ipc (socket)\n\tlast exit code = 0\n\n\tsockets = {\n\t\taxd = {\n\t\t\tstate = waiting\n\t\t}\n\t}\n}\n";

    #[test]
    fn what_launchctl_prints_of_an_agent_is_read() {
        let loaded = Loaded::parse(RUNNING);
        assert_eq!(loaded.path, "/Users/a b/Library/LaunchAgents/dev.axd.axd.plist");
        assert_eq!((loaded.state.as_str(), loaded.pid, loaded.last_exit), ("running", Some(4711), Some(0)));
        assert!(loaded.is_running());
    }

    #[test]
    fn an_agent_that_does_not_run_has_no_process_and_says_how_it_ended() {
        for (said, expected) in
            [("(never exited)", None), ("1", Some(1)), ("78: EX_CONFIG", Some(78)), ("-9", Some(-9))]
        {
            let printed = RUNNING
                .replace("\tpid = 4711\n", "")
                .replace("\tstate = running", "\tstate = not running")
                .replace("exit code = 0", &format!("exit code = {said}"));
            let loaded = Loaded::parse(&printed);
            assert_eq!(
                (loaded.pid, loaded.is_running(), loaded.last_exit),
                (None, false, expected),
                "{said}"
            );
        }
    }

    #[test]
    fn an_agent_that_is_turned_off_is_known_by_either_word() {
        for (printed, expected) in [
            ("\tdisabled services = {\n\t\t\"dev.axd.axd\" => disabled\n\t}\n", true),
            ("\t\t\"dev.axd.axd\" => true\n", true),
            ("\t\t\"dev.axd.axd\" => enabled\n", false),
            ("\t\t\"dev.axd.axd\" => false\n", false),
            ("\t\t\"dev.axd.axd.other\" => disabled\n", false),
            ("", false),
        ] {
            assert_eq!(is_disabled(printed, LABEL), expected, "{printed}");
        }
    }
}
