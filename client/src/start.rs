//! Starting the daemon, so that only one starts even if many clients find it missing at the same moment.
//!
//! The order is: connect; if nobody listens, lock `start.lock`, connect again (another client may have started it
//! meanwhile), spawn, wait on a pipe until the daemon reports that it listens, connect, unlock. Nothing here sleeps.
//! On macOS the daemon is started by [`crate::launchd`] instead of being spawned.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, PipeReader};
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use axd_protocol::command::{Shutdown, ShutdownAnswer, Status};
use axd_protocol::paths::{DAEMON_LOCK, MAX_SOCKET_PATH, START_LOCK};
use axd_protocol::{Command, ErrorCode, Paths};
use nix::libc;
#[cfg(target_os = "linux")]
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::Deserialize;

use crate::connection::unavailable;
use crate::{ClientError, Connection, RequestOptions, Result, find_daemon, launchd};

/// The time without a client after which an auto-started daemon exits, in seconds.
pub const IDLE_EXIT_S: u64 = 900;
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
    /// Its `--idle-exit` [default: [`IDLE_EXIT_S`]].
    pub idle_exit_s: Option<u64>,
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
    match Connection::try_open(socket) {
        Ok(connection) => Ok(connection),
        Err(fault) if is_missing(&fault) => start_and_connect(socket, start),
        Err(fault) => Err(unavailable(socket, &fault)),
    }
}

/// Stops the daemon at this socket, and waits until it has ended.
pub fn stop(socket: &Path) -> Result<()> {
    let mut connection = Connection::open(socket)?;
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

fn start_and_connect(socket: &Path, start: &DaemonStart) -> Result<Connection> {
    let failed = |code, message: String| ClientError::StartFailed { tried: socket.to_owned(), code, message };
    let cannot = |what: &str, path: &Path, fault: io::Error| {
        failed(None, format!("cannot {what} {}: {fault}", path.display()))
    };
    // The daemon runs in `/`, where a relative path would be another file.
    let socket = &std::path::absolute(socket).map_err(|fault| cannot("resolve", socket, fault))?;
    if socket.as_os_str().len() > MAX_SOCKET_PATH {
        let message =
            format!("the socket's path must have at most {MAX_SOCKET_PATH} bytes: {}", socket.display());
        return Err(failed(Some(ErrorCode::InvalidArgs), message));
    }
    if let Some(folder) = socket.parent() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|fault| cannot("create the folder", folder, fault))?;
    }
    let lock_path = Paths::lock_of(socket, START_LOCK);
    let lock = lock_file(&lock_path).and_then(|file| file.lock().map(|()| file));
    let lock = lock.map_err(|fault| cannot("lock", &lock_path, fault))?;
    match Connection::try_open(socket) {
        Ok(connection) => return Ok(connection),
        Err(fault) if is_missing(&fault) => {}
        Err(fault) => return Err(unavailable(socket, &fault)),
    }
    let binary = start.binary.clone().or_else(find_daemon).ok_or_else(|| {
        failed(None, "axd not found beside ax or on the PATH; set AXD_BIN=/path/to/axd".to_owned())
    })?;
    if start.uses_launchd() {
        return launchd::start(socket, &binary, start).map_err(|message| failed(None, message));
    }
    let start_one = || {
        let (mut child, ready) =
            spawn(&binary, socket, start).map_err(|fault| cannot("run", &binary, fault))?;
        let started = wait_until_ready(&mut child, ready).map_err(|(code, message)| failed(code, message));
        reap_later(child);
        started
    };
    let mut opened = start_one().map(|started| (started, Connection::try_open(socket)))?;
    if let (Started::AlreadyServed, Err(fault)) = &opened
        && is_missing(fault)
        && wait_until_stopped(socket)?
    {
        // The other daemon was stopping, as with `ax shutdown && ax status`.
        opened = start_one().map(|started| (started, Connection::try_open(socket)))?;
    }
    drop(lock);
    opened.1.map_err(|fault| unavailable(socket, &fault))
}

/// Waits until the daemon of this socket no longer serves it; false if that times out. The daemon holds its lock until then, so
/// that another daemon can serve once the lock can be taken.
pub fn wait_until_stopped(socket: &Path) -> io::Result<bool> {
    let lock = lock_file(&Paths::lock_of(socket, DAEMON_LOCK))?;
    let (sender, receiver) = mpsc::channel();
    // A lock cannot be waited for with a timeout, so a thread waits for it. After a timeout it ends with the process.
    std::thread::Builder::new()
        .name("axd-end".into())
        .spawn(move || sender.send(lock.lock().map(|()| drop(lock))))?;
    receiver.recv_timeout(STOP_TIMEOUT).map_or(Ok(false), |locked| locked.map(|()| true))
}

/// Waits until the process has ended; false if that times out. A daemon that no longer serves its socket may still write its
/// log.
#[cfg(target_os = "linux")]
pub fn wait_for_exit(pid: u32) -> bool {
    // SAFETY: the arguments are numbers; the result is a descriptor that we own, or -1.
    let opened = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let Ok(raw @ 0..) = RawFd::try_from(opened) else {
        // The process has already ended, or the kernel is too old for this call.
        return true;
    };
    // SAFETY: the descriptor was just opened, and nothing else owns it.
    let process = unsafe { OwnedFd::from_raw_fd(raw) };
    let mut ends = [PollFd::new(process.as_fd(), PollFlags::POLLIN)];
    let limit = PollTimeout::try_from(STOP_TIMEOUT).unwrap_or(PollTimeout::MAX);
    poll(&mut ends, limit).is_ok_and(|ended| ended > 0)
}

/// Waits until the process has ended; false if that times out.
#[cfg(target_os = "macos")]
pub fn wait_for_exit(pid: u32) -> bool {
    use nix::sys::event::{EvFlags, EventFilter, FilterFlag, KEvent, Kqueue};
    let (id, once) = (pid as libc::uintptr_t, EvFlags::EV_ADD | EvFlags::EV_ONESHOT);
    let ends = KEvent::new(id, EventFilter::EVFILT_PROC, once, FilterFlag::NOTE_EXIT, 0, 0);
    let mut events = [ends];
    let limit = libc::timespec { tv_sec: STOP_TIMEOUT.as_secs() as libc::time_t, tv_nsec: 0 };
    let Ok(queue) = Kqueue::new() else { return true };
    // A process that cannot be watched has already ended.
    queue.kevent(&[ends], &mut events, Some(limit)).map_or(true, |ended| ended > 0)
}

/// Returns at once, because this system has no way to wait for another process.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn wait_for_exit(_: u32) -> bool {
    true
}

fn lock_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).write(true).truncate(false).mode(0o600).open(path)
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

/// Waits until the daemon reports that it listens, or why it does not.
fn wait_until_ready(child: &mut Child, ready: PipeReader) -> std::result::Result<Started, NotStarted> {
    let mut line = String::new();
    if let Err(fault) = BufReader::new(ready).read_line(&mut line) {
        return Err((None, format!("cannot read whether it is ready: {fault}")));
    }
    let line = line.trim_end();
    if line.starts_with("ready ") {
        return Ok(Started::Listening);
    }
    // The pipe is closed, so the daemon has ended or is about to.
    let ended = child.wait();
    if ended.as_ref().is_ok_and(|status| status.code() == Some(EXIT_ALREADY_SERVED)) {
        return Ok(Started::AlreadyServed);
    }
    if let Some(report) = line.strip_prefix("error ") {
        let (name, message) = report.split_once(' ').unwrap_or((report, report));
        let code = ErrorCode::ALL.iter().copied().find(|code| code.name() == name);
        return Err((code, message.to_owned()));
    }
    match ended {
        Ok(status) => Err((None, format!("it ended before it was ready ({status})"))),
        Err(fault) => Err((None, format!("it ended before it was ready ({fault})"))),
    }
}

/// Waits for the daemon's end in the background, so that it does not become a zombie of a long-lived client.
fn reap_later(mut child: Child) {
    // If the thread cannot be started, there is a zombie until this process exits, which is harmless.
    let _ = std::thread::Builder::new().name("axd-reaper".into()).spawn(move || child.wait());
}
