//! Starting the daemon: one daemon, however many clients find it missing at the same moment.
//!
//! The order is: connect; if nobody is there, lock `start.lock`, connect again (someone may have started it while we
//! waited for the lock), spawn, wait on a pipe until the daemon says it listens, connect, unlock. Nothing here sleeps.
//! On macOS [`crate::launchd`] stands in for spawning.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, PipeReader};
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
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
use crate::{Ask, ClientError, Connection, Result, launchd};

/// After how many seconds without a client an auto-started daemon exits.
pub const IDLE_EXIT_S: u64 = 900;
/// How long a daemon that is going down may take.
const STOPPING: Duration = Duration::from_secs(10);
/// The daemon's exit code when another daemon serves the socket already.
const SERVED_ALREADY: i32 = 75;

/// How to start a daemon.
#[derive(Debug, Clone, Default)]
pub struct DaemonStart {
    /// The `axd` to run; [`find_daemon`] unless said.
    pub binary: Option<PathBuf>,
    /// Its `--platform`; its own default unless said.
    pub platform: Option<String>,
    /// Its `--state`; its own default unless said.
    pub state: Option<PathBuf>,
    /// Its `--idle-exit`; [`IDLE_EXIT_S`] unless said.
    pub idle_exit_s: Option<u64>,
    /// Who is told when launchd is given an agent to run, which happens once a session; nobody unless said.
    pub tell: Option<fn(&str)>,
}

impl DaemonStart {
    /// Whether launchd would start it, and not this program.
    pub fn is_launchds(&self) -> bool {
        launchd::is_starter(self.platform().as_deref())
    }

    /// The desktop it is to serve, if anybody said.
    fn platform(&self) -> Option<String> {
        self.platform.clone().or_else(|| std::env::var("AXD_PLATFORM").ok()).filter(|name| !name.is_empty())
    }
}

/// Connects to the daemon at this socket, and starts it first if there is none.
pub fn connect_or_start(socket: &Path, start: &DaemonStart) -> Result<Connection> {
    match Connection::try_open(socket) {
        Ok(connection) => Ok(connection),
        Err(fault) if is_missing(&fault) => start_and_connect(socket, start),
        Err(fault) => Err(unavailable(socket, &fault)),
    }
}

/// Tells the daemon at this socket to stop, and waits until it is gone.
pub fn stop(socket: &Path) -> Result<()> {
    let mut connection = Connection::open(socket)?;
    let reply = connection.request(&Command::Shutdown(Shutdown {}), Ask::any_protocol())?;
    let pid = reply.data().ok().map(|ShutdownAnswer { pid }| pid);
    if await_end(socket)? && pid.is_none_or(await_exit) {
        return Ok(());
    }
    let reason = format!("it was told to stop, and after {} s it still runs", STOPPING.as_secs());
    Err(ClientError::Unavailable { tried: socket.to_owned(), reason })
}

/// After `PROTOCOL_MISMATCH`: replaces a daemon that was auto-started and serves nobody else. `None` if the daemon is
/// not ours to stop.
pub fn restart_if_idle(socket: &Path, start: &DaemonStart) -> Result<Option<Connection>> {
    /// As much of `status` as any major can be hoped to have.
    #[derive(Deserialize)]
    struct Shared {
        #[serde(default)]
        idle_exit_s: Option<u64>,
        clients: Vec<serde::de::IgnoredAny>,
    }
    let mut connection = Connection::open(socket)?;
    let status: Shared = connection.request(&Command::Status(Status {}), Ask::any_protocol())?.data()?;
    if status.idle_exit_s.is_none() || status.clients.len() > 1 {
        return Ok(None);
    }
    drop(connection);
    stop(socket)?;
    connect_or_start(socket, start).map(Some)
}

/// Where `axd` is: `AXD_BIN`, else beside the running program, else on the `PATH`.
pub fn find_daemon() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("AXD_BIN").filter(|named| !named.is_empty()) {
        return Some(named.into());
    }
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name("axd"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    beside
        .into_iter()
        .chain(std::env::split_paths(&path).map(|folder| folder.join("axd")))
        .find(|candidate| is_program(candidate))
}

/// Whether there is a program that can be run.
pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// Nobody listens: no socket, or one that a killed daemon left behind.
fn is_missing(fault: &io::Error) -> bool {
    matches!(fault.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

fn start_and_connect(socket: &Path, start: &DaemonStart) -> Result<Connection> {
    let failed = |code, message: String| ClientError::StartFailed { tried: socket.to_owned(), code, message };
    let cannot = |what: &str, path: &Path, fault: io::Error| {
        failed(None, format!("cannot {what} {}: {fault}", path.display()))
    };
    // The daemon runs in `/`, where a relative path would mean something else.
    let socket = &std::path::absolute(socket).map_err(|fault| cannot("resolve", socket, fault))?;
    if socket.as_os_str().len() > MAX_SOCKET_PATH {
        let message =
            format!("the socket's path has more than {MAX_SOCKET_PATH} bytes: {}", socket.display());
        return Err(failed(Some(ErrorCode::InvalidArgs), message));
    }
    if let Some(folder) = socket.parent() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|fault| cannot("make the folder", folder, fault))?;
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
        failed(
            None,
            "there is no axd beside ax nor on the PATH; name it with AXD_BIN=/path/to/axd".to_owned(),
        )
    })?;
    if start.is_launchds() {
        return launchd::start(socket, &binary, start).map_err(|message| failed(None, message));
    }
    let start_one = || {
        let (mut child, ready) =
            spawn(&binary, socket, start).map_err(|fault| cannot("run", &binary, fault))?;
        let started = await_ready(&mut child, ready).map_err(|(code, message)| failed(code, message));
        reap_later(child);
        started
    };
    let mut opened = start_one().map(|started| (started, Connection::try_open(socket)))?;
    if let (Started::ServedAlready, Err(fault)) = &opened
        && is_missing(fault)
        && await_end(socket)?
    {
        // It was the last daemon, on its way out: `ax shutdown && ax status` comes here.
        opened = start_one().map(|started| (started, Connection::try_open(socket)))?;
    }
    drop(lock);
    opened.1.map_err(|fault| unavailable(socket, &fault))
}

/// Waits until the daemon of this socket has given it up; false if it does not. It holds its lock until then, so to have
/// the lock for a moment means that another can serve.
pub fn await_end(socket: &Path) -> io::Result<bool> {
    let lock = lock_file(&Paths::lock_of(socket, DAEMON_LOCK))?;
    let (tell, gone) = mpsc::channel();
    // A thread, because a lock cannot be waited for with a limit. If the limit passes, it dies with the process.
    std::thread::Builder::new()
        .name("axd-end".into())
        .spawn(move || tell.send(lock.lock().map(|()| drop(lock))))?;
    gone.recv_timeout(STOPPING).map_or(Ok(false), |locked| locked.map(|()| true))
}

/// Waits until the process has ended; false if it does not. A daemon that has given up its socket may still be writing
/// its log.
#[cfg(target_os = "linux")]
pub fn await_exit(pid: u32) -> bool {
    // SAFETY: plain numbers; what comes back is a descriptor of our own, or -1.
    let opened = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let Ok(raw @ 0..) = RawFd::try_from(opened) else {
        // It is gone already, or the kernel is too old to say.
        return true;
    };
    // SAFETY: the descriptor was just opened, and nobody else has it.
    let process = unsafe { OwnedFd::from_raw_fd(raw) };
    let mut ends = [PollFd::new(process.as_fd(), PollFlags::POLLIN)];
    let limit = PollTimeout::try_from(STOPPING).unwrap_or(PollTimeout::MAX);
    poll(&mut ends, limit).is_ok_and(|ended| ended > 0)
}

/// The same.
#[cfg(target_os = "macos")]
pub fn await_exit(pid: u32) -> bool {
    use nix::sys::event::{EvFlags, EventFilter, FilterFlag, KEvent, Kqueue};
    let (id, once) = (pid as libc::uintptr_t, EvFlags::EV_ADD | EvFlags::EV_ONESHOT);
    let ends = KEvent::new(id, EventFilter::EVFILT_PROC, once, FilterFlag::NOTE_EXIT, 0, 0);
    let mut told = [ends];
    let limit = libc::timespec { tv_sec: STOPPING.as_secs() as libc::time_t, tv_nsec: 0 };
    let Ok(queue) = Kqueue::new() else { return true };
    // A process that cannot be watched any more is gone.
    queue.kevent(&[ends], &mut told, Some(limit)).map_or(true, |ended| ended > 0)
}

/// The same, where nothing can be known.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn await_exit(_: u32) -> bool {
    true
}

fn lock_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).write(true).truncate(false).mode(0o600).open(path)
}

/// Spawns the daemon, detached from this process in every way but the readiness pipe.
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
    // Our copy of the write end closes here: from now on the pipe ends when the daemon closes it, or dies.
    drop(to_ready);
    Ok((child, ready))
}

/// In the child, before exec: a session of its own, no blocked signals, and no file of ours but the readiness pipe.
fn detach(ready_fd: RawFd) -> io::Result<()> {
    nix::unistd::setsid()?;
    nix::sys::signal::SigSet::empty().thread_set_mask()?;
    // A caller's other files (a build tool's pipes, say) would otherwise be held open for as long as the daemon runs.
    // Where the kernel cannot do it they are merely inherited.
    #[cfg(target_os = "linux")]
    // SAFETY: plain numbers; nothing is closed now, files are only marked to be closed by exec.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
    // SAFETY: `ready_fd` is open: it is the child's copy of a pipe end that `spawn` holds until after the fork.
    if unsafe { libc::fcntl(ready_fd, libc::F_SETFD, 0) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// What came of a daemon that was started.
enum Started {
    Listening,
    /// There is another: someone ran `axd` by hand in the meantime, or the last one is not gone yet.
    ServedAlready,
}

/// Why a daemon that was started does not serve.
type NotStarted = (Option<ErrorCode>, String);

/// Waits until the daemon says that it listens, or why it does not.
fn await_ready(child: &mut Child, ready: PipeReader) -> std::result::Result<Started, NotStarted> {
    let mut line = String::new();
    if let Err(fault) = BufReader::new(ready).read_line(&mut line) {
        return Err((None, format!("its readiness could not be read: {fault}")));
    }
    let line = line.trim_end();
    if line.starts_with("ready ") {
        return Ok(Started::Listening);
    }
    // The pipe is closed, so the daemon has ended or is about to.
    let ended = child.wait();
    if ended.as_ref().is_ok_and(|status| status.code() == Some(SERVED_ALREADY)) {
        return Ok(Started::ServedAlready);
    }
    if let Some(report) = line.strip_prefix("error ") {
        let (name, message) = report.split_once(' ').unwrap_or((report, report));
        let code = ErrorCode::ALL.iter().copied().find(|code| code.name() == name);
        return Err((code, message.to_owned()));
    }
    match ended {
        Ok(status) => Err((None, format!("it ended before it listened ({status})"))),
        Err(fault) => Err((None, format!("it ended before it listened ({fault})"))),
    }
}

/// Waits for the daemon's end in the background, so that a long-lived client is left with no zombie.
fn reap_later(mut child: Child) {
    // Without the thread there is a zombie until we exit, and no other harm.
    let _ = std::thread::Builder::new().name("axd-reaper".into()).spawn(move || child.wait());
}
