//! Starts a missing daemon with launchd: loads an agent for the socket, for this session only. From then on a connection starts
//! the daemon. `ax service install` makes that permanent.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use axd_protocol::command::Status;
use axd_protocol::paths::System;
use axd_protocol::{Command, Paths};

use super::load::{OnMessage, load, query, unload};
use super::slow_start::THROTTLED;
use super::{Agent, LABEL, Loaded, STARTER, target, to_allow};
use crate::start::IDLE_EXIT_S;
use crate::{ClientError, Connection, DaemonStart, RequestOptions, request_line};

/// The time without an answer after which the state of the agent is queried.
const STATUS_INTERVAL: Duration = Duration::from_secs(1);
/// The maximum number of such queries.
const MAX_STATUS_CHECKS: u32 = 20;
/// Variables for `ax` that are not passed to the daemon.
const CLIENT_VARIABLES: [&str; 4] = ["AXD_SOCKET", "AXD_BIN", "AXD_NO_AUTOSTART", STARTER];

/// Makes launchd listen at this socket, and waits until the daemon answers. The error is a message.
pub(crate) fn start(
    socket: &Path,
    binary: &Path,
    how: &DaemonStart,
    deadline: Instant,
) -> Result<Connection, String> {
    let uid = nix::unistd::geteuid().as_raw();
    let env = |name: &str| std::env::var_os(name);
    let paths = Paths::resolve(System::CURRENT, uid, env);
    let default = Paths::resolve(System::CURRENT, uid, |name| env(name).filter(|_| name != "AXD_SOCKET"));
    let label = label_of(socket, &default.socket);
    let target = target(&label);
    let on_message = how.on_message.as_ref().map(|tell| tell as &dyn Fn(&str));
    let known = query(&target)?;
    // An installed agent is used unchanged. An agent for the session is written again, because axd may have moved.
    let installed = known.as_ref().map(|known| PathBuf::from(&known.path)).filter(|path| {
        path.parent().and_then(Path::file_name).is_some_and(|folder| folder == "LaunchAgents")
            && path.exists()
    });
    let log = how.state.clone().unwrap_or(paths.state).join("stderr.log");
    let file = match installed {
        Some(file) => file,
        None => {
            let agent = agent(label, socket, binary, how, log.clone());
            write(&agent, socket)?
        }
    };
    if let Some(known) = known {
        // The agent is loaded, but nobody listens, because its socket was removed. Loading it again creates the socket.
        unload(&target, known.pid, on_message)?;
    }
    load(&target, &file.to_string_lossy(), on_message)?;
    if let Some(on_message) = how.on_message {
        on_message(&format!(
            "launchd starts axd as {target} in this session; `ax service install` makes that permanent.\nIf axd lacks the Accessibility permission, allow {} in System Settings › Privacy & Security › Accessibility.",
            to_allow(binary)
        ));
    }
    // The connection starts the daemon, whatever the agent's file says.
    wait_for_answer(socket, &target, &log, deadline, on_message)
}

/// The label of the agent for a socket. Sockets other than the default have a hash in it.
pub(super) fn label_of(socket: &Path, default: &Path) -> String {
    if socket == default {
        return LABEL.to_owned();
    }
    // FNV-1a is short, and the same in every version of ax.
    let bytes = socket.as_os_str().as_encoded_bytes();
    let hash =
        bytes.iter().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    format!("{LABEL}.{hash:08x}")
}

fn agent(label: String, socket: &Path, binary: &Path, how: &DaemonStart, log: PathBuf) -> Agent {
    let mut arguments = vec!["--idle-exit".into(), how.idle_exit_s.unwrap_or(IDLE_EXIT_S).to_string()];
    if let Some(platform) = &how.platform {
        arguments.extend(["--platform".into(), platform.clone()]);
    }
    if let Some(state) = &how.state {
        arguments.extend(["--state".into(), state.to_string_lossy().into_owned()]);
    }
    // launchd starts the daemon with the variables of the session, so those for axd in this shell are passed on.
    let mut environment: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("AXD_") && !CLIENT_VARIABLES.contains(&name.as_str()))
        .collect();
    environment.sort();
    Agent {
        label,
        program: std::path::absolute(binary).unwrap_or_else(|_| binary.to_owned()),
        arguments,
        environment,
        socket: socket.to_owned(),
        run_at_load: false,
        log,
    }
}

/// Writes the agent's file beside its socket, where launchd does not load it at the next login.
fn write(agent: &Agent, socket: &Path) -> Result<PathBuf, String> {
    let text = agent.plist().map_err(|error| error.message)?;
    let file = socket.with_file_name(format!("{}.plist", agent.label));
    let made = agent
        .log
        .parent()
        .map_or(Ok(()), |folder| DirBuilder::new().recursive(true).mode(0o700).create(folder));
    let written = made.and_then(|()| fs::write(&file, text));
    written.map_err(|fault| format!("cannot write {}: {fault}", file.display()))?;
    Ok(file)
}

/// Waits until the daemon answers a request. A connection alone proves nothing, because launchd accepts it; and that the daemon
/// cannot run is only known from its exit code.
fn wait_for_answer(
    socket: &Path,
    target: &str,
    log: &Path,
    deadline: Instant,
    mut on_message: OnMessage<'_>,
) -> Result<Connection, String> {
    let lost = |fault: io::Error| {
        format!("launchd listens at {}, but the connection failed: {fault}", socket.display())
    };
    let mut connection = Connection::try_open(socket, None).map_err(lost)?;
    let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    connection.stream().set_read_timeout(Some(STATUS_INTERVAL.min(left))).map_err(lost)?;
    let asked = request_line(1, &Command::Status(Status {}), RequestOptions::any_protocol());
    asked.and_then(|line| connection.send_line(&line)).map_err(|fault| fault.to_string())?;
    for _ in 0..MAX_STATUS_CHECKS {
        match connection.recv_line() {
            Ok(Some(_)) => return Connection::try_open(socket, None).map_err(lost),
            Err(ClientError::Io(fault)) if fault.kind() == io::ErrorKind::TimedOut => {}
            Ok(None) | Err(_) => break,
        }
        let Some(known) = query(target)? else { break };
        if has_failed(&known) || Instant::now() >= deadline {
            break;
        }
        if !known.is_running()
            && known.last_exit.is_some()
            && let Some(on_message) = on_message.take()
        {
            on_message(THROTTLED);
        }
    }
    let ended = query(target)?.and_then(|known| known.last_exit);
    let how = ended.map_or_else(String::new, |code| format!(" (it ended with {code})"));
    let said = fs::read_to_string(log).unwrap_or_default();
    let said = said.lines().last().map_or_else(String::new, |line| format!(": {line}"));
    Err(format!(
        "launchd started it, but it does not answer{how}{said}; see {} and `launchctl print {target}`",
        log.display()
    ))
}

/// Whether the daemon ended with an error. One that ended without is started again for the connection, after a while.
fn has_failed(known: &Loaded) -> bool {
    known.pid.is_none() && known.last_exit.is_some_and(|code| code != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_that_ended_without_an_error_is_waited_for() {
        for (pid, last_exit, expected) in
            [(None, None, false), (None, Some(0), false), (None, Some(1), true), (Some(7), Some(1), false)]
        {
            let known = Loaded { pid, last_exit, ..Loaded::default() };
            assert_eq!(has_failed(&known), expected, "{known:?}");
        }
    }

    #[test]
    fn only_the_default_socket_has_the_plain_label() {
        let default = Path::new("/Users/a/Library/Application Support/axd/axd.sock");
        assert_eq!(label_of(default, default), LABEL);
        let other = label_of(Path::new("/tmp/x/axd.sock"), default);
        assert!(other.starts_with("dev.axd.axd.") && other.len() == "dev.axd.axd.".len() + 8, "{other}");
        assert_ne!(other, label_of(Path::new("/tmp/y/axd.sock"), default));
        assert_eq!(other, label_of(Path::new("/tmp/x/axd.sock"), default));
    }

    #[test]
    fn the_daemon_gets_the_arguments_of_a_spawned_one() {
        let how = DaemonStart {
            platform: Some("macos".into()),
            state: Some("/s".into()),
            ..DaemonStart::default()
        };
        let agent =
            agent("l".into(), Path::new("/r/axd.sock"), Path::new("/b/axd"), &how, "/s/stderr.log".into());
        assert_eq!(agent.arguments, ["--idle-exit", "900", "--platform", "macos", "--state", "/s"]);
        assert!(!agent.run_at_load && agent.program == Path::new("/b/axd"));
        assert!(agent.environment.iter().all(|(name, _)| name.starts_with("AXD_") && name != "AXD_BIN"));
    }
}
