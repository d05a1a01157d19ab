//! Starting the daemon, so that only one starts even if many clients find it missing at the same moment.
//!
//! The order is: connect; if nobody listens, lock `start.lock`, connect again (another client may have started it
//! meanwhile), spawn, wait on a pipe until the daemon reports that it listens, connect, unlock. Nothing here sleeps, and all of
//! it together ends at one deadline.
//! On macOS the daemon is started by [`crate::launchd`] instead of being spawned.

use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, AsRawFd, RawFd};
#[cfg(target_os = "linux")]
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::time::{Duration, Instant};

use axd_protocol::command::{Shutdown, ShutdownAnswer, Status};
use axd_protocol::paths::{DAEMON_LOCK, MAX_SOCKET_PATH, START_LOCK};
use axd_protocol::{Command, ErrorCode, Paths};
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::Deserialize;

use crate::connection::unavailable;
use crate::lock::{self, SocketFolder};
use crate::{ClientError, Connection, RequestOptions, Result, find_daemon, launchd};

/// The time without a client after which an auto-started daemon exits, in seconds.
pub const IDLE_EXIT_S: u64 = 900;
/// The maximum time to start a daemon, if the caller gives none.
pub const START_TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum time to wait for a daemon to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);
/// The daemon's exit code if another daemon already serves the socket.
const EXIT_ALREADY_SERVED: i32 = 75;

/// How to start a daemon.
#[derive(Debug, Clone, Default)]
pub struct DaemonStart {
    /// The `axd` to run [default: that of [`find_daemon`]].
    pub binary: Option<PathBuf>,
    /// Its `--platform` [default: that of `axd`].
    pub platform: Option<String>,
    /// Its `--state` [default: that of `axd`].
    pub state: Option<PathBuf>,
    /// Its `--config` [default: that of `axd`].
    pub config: Option<PathBuf>,
    /// Its `--idle-exit` [default: [`IDLE_EXIT_S`]].
    pub idle_exit_s: Option<u64>,
    /// The time limit for all of it: for another client that starts one, for the daemon to be ready, for the connection
    /// [default: [`START_TIMEOUT`]].
    pub timeout: Option<Duration>,
    /// Called with a message when an agent is loaded into launchd, which happens once per session.
    pub on_message: Option<fn(&str)>,
}

impl DaemonStart {
    /// Whether launchd would start the daemon, instead of this program.
    pub fn uses_launchd(&self) -> bool {
        launchd::is_starter(self.platform().as_deref())
    }

    /// The platform from this struct or from the environment, if it is given.
    fn platform(&self) -> Option<String> {
        self.platform.clone().or_else(|| std::env::var("AXD_PLATFORM").ok()).filter(|name| !name.is_empty())
    }
}

/// Connects to the daemon at this socket, and starts one if there is none.
pub fn connect_or_start(socket: &Path, start: &DaemonStart) -> Result<Connection> {
    let limit = start.timeout.unwrap_or(START_TIMEOUT);
    let deadline = Instant::now() + limit;
    match Connection::try_open(socket, Some(limit)) {
        Ok(connection) => Ok(connection),
        Err(fault) if is_missing(&fault) => start_and_connect(socket, start, deadline),
        Err(fault) => Err(unavailable(socket, &fault)),
    }
}

/// Stops the daemon at this socket, and waits until it has ended.
pub fn stop(socket: &Path) -> Result<()> {
    let mut connection = Connection::open(socket)?;
    connection.check_liveness(socket)?;
    let reply = connection.request(&Command::Shutdown(Shutdown {}), RequestOptions::any_protocol())?;
    let pid = reply.data().ok().map(|ShutdownAnswer { pid }| pid);
    if wait_until_stopped(socket)? && pid.is_none_or(wait_for_exit) {
        return Ok(());
    }
    let reason = format!("it was asked to stop, and is still running after {} s", STOP_TIMEOUT.as_secs());
    Err(ClientError::Unavailable { tried: socket.to_owned(), reason })
}

/// Restarts a daemon of another protocol version, if it was auto-started and has no other clients. Returns `None` if it must
/// not be stopped.
pub fn restart_if_idle(socket: &Path, start: &DaemonStart) -> Result<Option<Connection>> {
    /// The fields of `status` that every protocol version is expected to have.
    #[derive(Deserialize)]
    struct Shared {
        #[serde(default)]
        idle_exit_s: Option<u64>,
        clients: Vec<serde::de::IgnoredAny>,
    }
    let mut connection = Connection::open(socket)?;
    connection.check_liveness(socket)?;
    let status: Shared =
        connection.request(&Command::Status(Status {}), RequestOptions::any_protocol())?.data()?;
    if status.idle_exit_s.is_none() || status.clients.len() > 1 {
        return Ok(None);
    }
    drop(connection);
    stop(socket)?;
    connect_or_start(socket, start).map(Some)
}

/// Whether nobody listens: there is no socket, or a killed daemon left it behind.
fn is_missing(fault: &io::Error) -> bool {
    matches!(fault.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

fn start_and_connect(socket: &Path, start: &DaemonStart, deadline: Instant) -> Result<Connection> {
    let failed = |code, message: String| ClientError::StartFailed { tried: socket.to_owned(), code, message };
    let cannot = |what: &str, path: &Path, fault: io::Error| {
        let code = (fault.kind() == io::ErrorKind::PermissionDenied).then_some(ErrorCode::PermissionDenied);
        failed(code, format!("cannot {what} {}: {fault}", path.display()))
    };
    let too_late = |message: String| ClientError::StartTimeout { tried: socket.to_owned(), message };
    // The daemon runs in `/`, where a relative path would be another file.
    let socket = &std::path::absolute(socket).map_err(|fault| cannot("resolve", socket, fault))?;
    if socket.as_os_str().len() > MAX_SOCKET_PATH {
        let message =
            format!("the socket's path must have at most {MAX_SOCKET_PATH} bytes: {}", socket.display());
        return Err(failed(Some(ErrorCode::InvalidArgs), message));
    }
    let folder = socket.parent().unwrap_or(Path::new("/"));
    let lock_path = Paths::lock_of(socket, START_LOCK);
    let folder = SocketFolder::create(folder).map_err(|fault| cannot("use the folder", folder, fault))?;
    let lock = folder.lock_file(&lock_path).and_then(|file| lock::lock_before(file, deadline));
    let lock = lock.map_err(|fault| cannot("lock", &lock_path, fault))?.ok_or_else(|| {
        too_late(format!("another ax is starting it and is not done; it holds {}", lock_path.display()))
    })?;
    match Connection::try_open(socket, Some(left(deadline))) {
        Ok(connection) => return Ok(connection),
        Err(fault) if is_missing(&fault) => {}
        Err(fault) => return Err(unavailable(socket, &fault)),
    }
    let binary = start.binary.clone().or_else(find_daemon).ok_or_else(|| {
        failed(None, "axd not found beside ax or on the PATH; set AXD_BIN=/path/to/axd".to_owned())
    })?;
    if start.uses_launchd() {
        return launchd::start(socket, &binary, start, deadline).map_err(|message| failed(None, message));
    }
    let start_one = || {
        let (mut child, ready) =
            spawn(&binary, socket, start).map_err(|fault| cannot("run", &binary, fault))?;
        let started = wait_until_ready(&mut child, ready, deadline);
        if started.is_none() && start.timeout.is_none_or(|limit| limit >= START_TIMEOUT) {
            // One that was given little time may be about to serve, and is left to it.
            let _ = child.kill();
        }
        let pid = child.id();
        reap_later(child);
        let started = started.ok_or_else(|| {
            too_late(format!("{} (pid {pid}) was started and is not ready yet", binary.display()))
        })?;
        let started = started.map_err(|(code, message)| failed(code, message))?;
        Ok::<_, ClientError>((started, Connection::try_open(socket, Some(left(deadline)))))
    };
    let mut opened = start_one()?;
    if let (Started::AlreadyServed, Err(fault)) = &opened
        && is_missing(fault)
    {
        // The other daemon is stopping, as with `ax shutdown && ax status`.
        if !wait_for_daemon_lock(socket, deadline.min(Instant::now() + STOP_TIMEOUT))? {
            return Err(unreachable(socket));
        }
        opened = start_one()?;
    }
    drop(lock);
    opened.1.map_err(|fault| unavailable(socket, &fault))
}

/// The time that is left; at least a little, because a timeout of zero means none.
fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

/// The error for a daemon that runs and whose socket is gone.
fn unreachable(socket: &Path) -> ClientError {
    let lock = Paths::lock_of(socket, DAEMON_LOCK);
    let reason = match lock::holder_of(socket) {
        Some(pid) => format!(
            "axd (pid {pid}) runs and holds {}, but its socket is gone; end it with `kill {pid}` and try again",
            lock.display()
        ),
        None => format!("another axd holds {}, but its socket is gone; end it and try again", lock.display()),
    };
    ClientError::Unavailable { tried: socket.to_owned(), reason }
}

/// Waits until the daemon of this socket no longer serves it; false if that times out. The daemon holds its lock until then, so
/// that another daemon can serve once the lock can be taken.
pub fn wait_until_stopped(socket: &Path) -> io::Result<bool> {
    wait_for_daemon_lock(socket, Instant::now() + STOP_TIMEOUT)
}

fn wait_for_daemon_lock(socket: &Path, deadline: Instant) -> io::Result<bool> {
    let socket = std::path::absolute(socket)?;
    let folder = SocketFolder::open(socket.parent().unwrap_or(Path::new("/")))?;
    let file = folder.lock_file(&Paths::lock_of(&socket, DAEMON_LOCK))?;
    lock::lock_before(file, deadline).map(|locked| locked.is_some())
}

/// Waits until the process has ended; false if that times out. A daemon that no longer serves its socket may still write its
/// log.
#[cfg(target_os = "linux")]
pub fn wait_for_exit(pid: u32) -> bool {
    ended_within(pid, STOP_TIMEOUT)
}

#[cfg(target_os = "linux")]
fn ended_within(pid: u32, limit: Duration) -> bool {
    // SAFETY: the arguments are numbers; the result is a descriptor that we own, or -1.
    let opened = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let Ok(raw @ 0..) = RawFd::try_from(opened) else {
        // The process has already ended, or the kernel is too old for this call.
        return true;
    };
    // SAFETY: the descriptor was just opened, and nothing else owns it.
    let process = unsafe { OwnedFd::from_raw_fd(raw) };
    let mut ends = [PollFd::new(process.as_fd(), PollFlags::POLLIN)];
    let limit = PollTimeout::try_from(limit).unwrap_or(PollTimeout::MAX);
    poll(&mut ends, limit).is_ok_and(|ended| ended > 0)
}

/// Waits until the process has ended; false if that times out.
#[cfg(target_os = "macos")]
pub fn wait_for_exit(pid: u32) -> bool {
    ended_within(pid, STOP_TIMEOUT)
}

#[cfg(target_os = "macos")]
fn ended_within(pid: u32, limit: Duration) -> bool {
    use nix::sys::event::{EvFlags, EventFilter, FilterFlag, KEvent, Kqueue};
    let (id, once) = (pid as libc::uintptr_t, EvFlags::EV_ADD | EvFlags::EV_ONESHOT);
    let ends = KEvent::new(id, EventFilter::EVFILT_PROC, once, FilterFlag::NOTE_EXIT, 0, 0);
    let mut events = [ends];
    let nanoseconds = limit.subsec_nanos() as libc::c_long;
    let limit = libc::timespec { tv_sec: limit.as_secs() as libc::time_t, tv_nsec: nanoseconds };
    let Ok(queue) = Kqueue::new() else { return true };
    // A process that cannot be watched has already ended.
    queue.kevent(&[ends], &mut events, Some(limit)).map_or(true, |ended| ended > 0)
}

/// Returns at once, because this system has no way to wait for another process.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn wait_for_exit(_: u32) -> bool {
    true
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn ended_within(_: u32, _: Duration) -> bool {
    true
}

/// Spawns the daemon, detached from this process except for the readiness pipe.
fn spawn(binary: &Path, socket: &Path, start: &DaemonStart) -> io::Result<(Child, PipeReader)> {
    let (ready, to_ready) = io::pipe()?;
    let ready_fd = to_ready.as_raw_fd();
    let mut process = Process::new(binary);
    process.arg("--socket").arg(socket);
    process.args(["--idle-exit", &start.idle_exit_s.unwrap_or(IDLE_EXIT_S).to_string()]);
    process.args(["--ready-fd", &ready_fd.to_string()]);
    if let Some(platform) = &start.platform {
        process.args(["--platform", platform]);
    }
    if let Some(state) = &start.state {
        process.arg("--state").arg(state);
    }
    if let Some(config) = &start.config {
        process.arg("--config").arg(config);
    }
    process.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
    // SAFETY: `detach` makes system calls and nothing else, so it is safe between fork and exec, where another thread
    // may have held any lock at the moment of the fork.
    unsafe { process.pre_exec(move || detach(ready_fd)) };
    let child = process.spawn()?;
    // Our copy of the write end is closed here, so that the pipe ends when the daemon closes it or dies.
    drop(to_ready);
    Ok((child, ready))
}

/// Runs in the child before exec: starts a new session, unblocks signals, and closes all files except the readiness pipe.
fn detach(ready_fd: RawFd) -> io::Result<()> {
    nix::unistd::setsid()?;
    nix::sys::signal::SigSet::empty().thread_set_mask()?;
    // Otherwise the daemon would keep the caller's files open, such as a build tool's pipes. An old kernel cannot do this, and
    // then they are inherited.
    #[cfg(target_os = "linux")]
    // SAFETY: the arguments are numbers; nothing is closed now, files are only marked to be closed by exec.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
    // SAFETY: `ready_fd` is open: it is the child's copy of a pipe end that `spawn` holds until after the fork.
    if unsafe { libc::fcntl(ready_fd, libc::F_SETFD, 0) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The result of starting a daemon.
enum Started {
    Listening,
    /// Another daemon serves the socket: it was started by hand meanwhile, or has not ended yet.
    AlreadyServed,
}

/// The error code and message of a daemon that was started and cannot serve.
type NotStarted = (Option<ErrorCode>, String);

/// Waits until the daemon reports that it listens, or why it does not; `None` if it says nothing until the deadline.
fn wait_until_ready(
    child: &mut Child,
    ready: PipeReader,
    deadline: Instant,
) -> Option<std::result::Result<Started, NotStarted>> {
    let line = match line_before(ready, deadline) {
        Ok(line) => line?,
        Err(fault) => return Some(Err((None, format!("cannot read whether it is ready: {fault}")))),
    };
    let line = line.trim_end();
    if line.starts_with("ready ") {
        return Some(Ok(Started::Listening));
    }
    // The pipe is closed, so the daemon has ended or is about to.
    if !ended_within(child.id(), left(deadline)) {
        return None;
    }
    let ended = child.wait();
    if ended.as_ref().is_ok_and(|status| status.code() == Some(EXIT_ALREADY_SERVED)) {
        return Some(Ok(Started::AlreadyServed));
    }
    if let Some(report) = line.strip_prefix("error ") {
        let (name, message) = report.split_once(' ').unwrap_or((report, report));
        let code = ErrorCode::ALL.iter().copied().find(|code| code.name() == name);
        return Some(Err((code, message.to_owned())));
    }
    Some(match ended {
        Ok(status) => Err((None, format!("it ended before it was ready ({status})"))),
        Err(fault) => Err((None, format!("it ended before it was ready ({fault})"))),
    })
}

/// The first line of a pipe, or what came before its end; `None` if neither comes before the deadline.
fn line_before(mut pipe: PipeReader, deadline: Instant) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let mut buffer = [0; 512];
    while !line.contains(&b'\n') {
        let timeout = PollTimeout::try_from(left(deadline)).unwrap_or(PollTimeout::MAX);
        let mut readable = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
        match poll(&mut readable, timeout) {
            Ok(0) if Instant::now() >= deadline => return Ok(None),
            Ok(0) | Err(nix::errno::Errno::EINTR) => continue,
            Ok(_) => {}
            Err(errno) => return Err(errno.into()),
        }
        match pipe.read(&mut buffer)? {
            0 => break,
            count => line.extend_from_slice(&buffer[..count]),
        }
    }
    Ok(Some(String::from_utf8_lossy(&line).into_owned()))
}

/// Waits for the daemon's end in the background, so that it does not become a zombie of a long-lived client.
fn reap_later(mut child: Child) {
    // If the thread cannot be started, there is a zombie until this process exits, which is harmless.
    let _ = std::thread::Builder::new().name("axd-reaper".into()).spawn(move || child.wait());
}
