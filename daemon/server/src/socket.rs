//! The socket on which the daemon listens: one that it binds itself, or an inherited one.
//!
//! A lock file beside the socket decides who may bind it, not the socket file: that outlives a daemon that was
//! killed, a lock does not. Only the holder of the lock removes a stale socket.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use axd_protocol::Paths;
use axd_protocol::paths::{DAEMON_LOCK, MAX_SOCKET_PATH};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};
use nix::sys::socket::{self, AddressFamily, SockFlag, SockType, UnixAddr};
use nix::unistd::Uid;

/// The name of a socket that does not listen yet, as long as the usual one.
#[cfg(not(target_vendor = "apple"))]
const DRAFT: &str = "axd.bind";
/// The mode of the socket: only its owner can connect.
const SOCKET_MODE: u32 = 0o600;

/// Why the daemon cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Another daemon serves this socket.
    #[error("another axd{} already serves {}", of(*.pid), .socket.display())]
    AlreadyRunning {
        /// The socket.
        socket: PathBuf,
        /// The other daemon, where it is known.
        pid: Option<u32>,
    },
    /// The folder of the socket is accessible to other users.
    #[error("{} is accessible to other users (mode {mode:o}): {}set AXD_SOCKET to a path in a folder that only you can access", .folder.display(), chmod(*.mode))]
    OpenFolder {
        /// The folder.
        folder: PathBuf,
        /// The mode of the folder.
        mode: u32,
    },
    /// The folder of the socket belongs to another user.
    #[error("{} belongs to user {owner}, not to user {}: set AXD_SOCKET to a path in a folder of your own", .folder.display(), Uid::effective())]
    ForeignFolder {
        /// The folder, or the link to it.
        folder: PathBuf,
        /// The user id of the owner.
        owner: u32,
    },
    /// The path of the socket is taken by something that is not a socket.
    #[error("{} is not a socket: move it, or set AXD_SOCKET", .0.display())]
    NotASocket(PathBuf),
    /// The path does not fit into a socket address.
    #[error("the socket's path has {} bytes and must have at most {MAX_SOCKET_PATH}: set AXD_SOCKET to a path shorter than {}", .0.as_os_str().len(), .0.display())]
    PathTooLong(PathBuf),
    /// The inherited socket cannot be used.
    #[error("the socket handed over by the service manager (fd {fd}) cannot be used: {reason}")]
    Inherited {
        /// The descriptor.
        fd: i32,
        /// What is wrong with it.
        reason: String,
    },
    /// A system call failed.
    #[error("cannot {doing} {}: {fault}", .path.display())]
    System {
        /// The operation.
        doing: &'static str,
        /// The path of the operation.
        path: PathBuf,
        /// The error of the system.
        fault: io::Error,
    },
}

fn of(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (pid {pid})"))
}

/// The advice to change the mode; none for a shared folder such as /tmp, which is open on purpose.
fn chmod(mode: u32) -> &'static str {
    if mode & 0o1000 == 0 { "chmod 700 it, or " } else { "" }
}

impl ListenError {
    /// The code by which the program that started the daemon recognizes this error.
    pub fn code(&self) -> &'static str {
        match self {
            ListenError::AlreadyRunning { .. } => "ALREADY_RUNNING",
            ListenError::OpenFolder { .. } | ListenError::ForeignFolder { .. } => "PERMISSION_DENIED",
            ListenError::NotASocket(_) | ListenError::PathTooLong(_) => "INVALID_ARGS",
            ListenError::Inherited { .. } | ListenError::System { .. } => "DAEMON_UNAVAILABLE",
        }
    }
}

/// A listening socket. If the daemon bound it, dropping this removes it.
#[derive(Debug)]
pub struct Listener {
    socket: UnixListener,
    path: PathBuf,
    inherited: bool,
    /// `None` for an inherited socket, and after the path was released.
    bound: Option<Bound>,
}

/// What only the daemon that bound the socket has.
#[derive(Debug)]
struct Bound {
    /// The device and inode of the socket, so that the socket of a successor is never removed.
    identity: (u64, u64),
    /// The lock, which is held until the path is released.
    lock: Flock<File>,
}

impl Listener {
    /// Binds the socket at `path`, if nobody else serves it.
    pub fn bind(path: &Path) -> Result<Listener, ListenError> {
        let path = std::path::absolute(path).map_err(system_error("find", path))?;
        if path.as_os_str().len() > MAX_SOCKET_PATH {
            return Err(ListenError::PathTooLong(path));
        }
        prepare_folder(path.parent().unwrap_or(Path::new("/")))?;
        let lock = take_lock(&path)?;
        remove_stale(&path)?;
        let socket = bind_at_once(&path).map_err(system_error("bind", &path))?;
        let metadata = fs::symlink_metadata(&path).map_err(system_error("look at", &path))?;
        let identity = (metadata.dev(), metadata.ino());
        Ok(Listener { socket, path, inherited: false, bound: Some(Bound { identity, lock }) })
    }

    /// Takes over a socket that already listens, and that the service manager removes.
    pub fn adopt(fd: OwnedFd) -> Result<Listener, ListenError> {
        let raw = fd.as_raw_fd();
        let bad = |reason: &str| ListenError::Inherited { fd: raw, reason: reason.to_owned() };
        let kind =
            socket::getsockopt(&fd, socket::sockopt::SockType).map_err(|_| bad("it is not a socket"))?;
        if kind != SockType::Stream {
            return Err(bad("it is not a stream socket"));
        }
        let address: UnixAddr = socket::getsockname(raw).map_err(|_| bad("it is not a Unix socket"))?;
        // macOS does not tell whether a socket listens; there, accepting fails if it does not.
        if socket::getsockopt(&fd, socket::sockopt::AcceptConn) == Ok(false) {
            return Err(bad("it does not listen"));
        }
        let path = address.path().map(Path::to_path_buf).unwrap_or_default();
        let socket = UnixListener::from(fd);
        socket.set_nonblocking(true).map_err(|fault| bad(&fault.to_string()))?;
        Ok(Listener { socket, path, inherited: true, bound: None })
    }

    /// The path of the socket; empty for an inherited socket without a path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the socket is inherited.
    pub fn is_inherited(&self) -> bool {
        self.inherited
    }

    /// Binds the path again if its socket was removed, as cleaners of temporary folders do: nobody could connect any more, and no
    /// other daemon could start, because this one holds the lock. Returns whether it did.
    pub(super) fn restore(&mut self) -> Result<bool, ListenError> {
        let Some(bound) = &self.bound else { return Ok(false) };
        match fs::symlink_metadata(&self.path) {
            Err(fault) if fault.kind() == ErrorKind::NotFound => {}
            // It is there, or something else is, which is not ours to remove.
            _ => return Ok(false),
        }
        prepare_folder(self.path.parent().unwrap_or(Path::new("/")))?;
        let lock_path = Paths::lock_of(&self.path, DAEMON_LOCK);
        let is_ours = fs::symlink_metadata(&lock_path).is_ok_and(|found| {
            bound.lock.metadata().is_ok_and(|held| (held.dev(), held.ino()) == (found.dev(), found.ino()))
        });
        // The lock's file may have been removed too; then another daemon may hold the new one.
        let lock = if is_ours { None } else { Some(take_lock(&self.path)?) };
        let socket = bind_at_once(&self.path).map_err(system_error("bind", &self.path))?;
        let metadata = fs::symlink_metadata(&self.path).map_err(system_error("look at", &self.path))?;
        self.socket = socket;
        if let Some(bound) = &mut self.bound {
            bound.identity = (metadata.dev(), metadata.ino());
            if let Some(lock) = lock {
                bound.lock = lock;
            }
        }
        Ok(true)
    }

    /// Releases the path, so that a successor can bind it: removes the socket, if it is still ours, and releases the lock.
    pub(super) fn release_path(&mut self) {
        let Some(bound) = self.bound.take() else { return };
        let ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == bound.identity);
        if ours {
            let _ = fs::remove_file(&self.path);
        }
    }

    /// A client that connected before the path was released and has not been accepted. On an inherited socket there are none,
    /// because they wait there for the next daemon.
    pub(super) fn accept_waiting(&self) -> Option<UnixStream> {
        let (stream, _) = (!self.inherited).then(|| self.socket.accept().ok())??;
        stream.set_nonblocking(true).ok()?;
        Some(stream)
    }

    /// A client that waits, on any socket.
    pub(super) fn accept_now(&self) -> io::Result<UnixStream> {
        let (stream, _) = self.socket.accept()?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    }

    /// A second descriptor of the socket, for the runtime.
    pub(super) fn socket(&self) -> io::Result<UnixListener> {
        self.socket.try_clone()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.release_path();
    }
}

fn system_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ListenError {
    let path = path.to_path_buf();
    move |fault| ListenError::System { doing, path, fault }
}

/// Creates the folder, or checks that no other user can access it.
fn prepare_folder(folder: &Path) -> Result<(), ListenError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(system_error("create the folder", folder))?;
    let own = Uid::effective().as_raw();
    // The link is checked first, because its owner could change its target after the check.
    for metadata in [fs::symlink_metadata(folder), fs::metadata(folder)] {
        let metadata = metadata.map_err(system_error("look at", folder))?;
        if metadata.uid() != own {
            return Err(ListenError::ForeignFolder { folder: folder.to_owned(), owner: metadata.uid() });
        }
        let mode = metadata.mode() & 0o7777;
        if metadata.is_dir() && mode & 0o077 != 0 {
            return Err(ListenError::OpenFolder { folder: folder.to_owned(), mode });
        }
    }
    Ok(())
}

/// Takes the lock of this socket, and writes the pid into it for daemons that come later.
fn take_lock(socket: &Path) -> Result<Flock<File>, ListenError> {
    let path = Paths::lock_of(socket, DAEMON_LOCK);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(&path)
        .map_err(system_error("open the lock", &path))?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(mut lock) => {
            let written = lock.set_len(0).and_then(|()| writeln!(lock, "{}", std::process::id()));
            written.map_err(system_error("write the lock", &path))?;
            Ok(lock)
        }
        Err((mut file, Errno::EWOULDBLOCK)) => {
            let mut text = String::new();
            let _ = file.rewind().and_then(|()| file.read_to_string(&mut text));
            Err(ListenError::AlreadyRunning { socket: socket.to_owned(), pid: text.trim().parse().ok() })
        }
        Err((_, errno)) => Err(system_error("lock", &path)(errno.into())),
    }
}

/// Removes the socket of a daemon that was killed. If something listens there, it is a daemon that inherited the socket and has
/// no lock.
fn remove_stale(path: &Path) -> Result<(), ListenError> {
    let metadata = match fs::symlink_metadata(path) {
        Err(fault) if fault.kind() == ErrorKind::NotFound => return Ok(()),
        found => found.map_err(system_error("look at", path))?,
    };
    if !metadata.file_type().is_socket() {
        return Err(ListenError::NotASocket(path.to_owned()));
    }
    if is_listening(path).map_err(|errno| system_error("try", path)(errno.into()))? {
        return Err(ListenError::AlreadyRunning { socket: path.to_owned(), pid: None });
    }
    fs::remove_file(path).map_err(system_error("remove the stale socket", path))
}

/// Whether a process listens at the path. Does not block, as an ordinary connect would with a full backlog.
fn is_listening(path: &Path) -> nix::Result<bool> {
    let socket = socket::socket(AddressFamily::Unix, SockType::Stream, SockFlag::empty(), None)?;
    let socket = UnixStream::from(socket);
    socket.set_nonblocking(true).map_err(|_| Errno::last())?;
    match socket::connect(socket.as_raw_fd(), &UnixAddr::new(path)?) {
        Ok(()) | Err(Errno::EAGAIN | Errno::EINPROGRESS) => Ok(true),
        Err(Errno::ECONNREFUSED | Errno::ENOENT) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Binds the socket so that it listens when its path appears: who finds it there is served. It gets another name first, unless
/// that would be too long. Only the holder of the lock comes here.
#[cfg(not(target_vendor = "apple"))]
fn bind_at_once(path: &Path) -> io::Result<UnixListener> {
    let draft = Paths::lock_of(path, DRAFT);
    if draft.as_os_str().len() > MAX_SOCKET_PATH {
        return bind_private(path);
    }
    match fs::remove_file(&draft) {
        Err(fault) if fault.kind() != ErrorKind::NotFound => return Err(fault),
        _ => {}
    }
    let socket = bind_private(&draft)?;
    // Unlike a change of its name, this replaces nothing that may be there by now.
    let linked = fs::hard_link(&draft, path);
    let _ = fs::remove_file(&draft);
    linked.map(|()| socket)
}

/// Binds the socket under its own name.
#[cfg(target_vendor = "apple")]
fn bind_at_once(path: &Path) -> io::Result<UnixListener> {
    bind_private(path)
}

/// Binds the socket so that at no time another user can connect: the mode is set before the socket has a name.
#[cfg(not(target_vendor = "apple"))]
fn bind_private(path: &Path) -> io::Result<UnixListener> {
    use interprocess::local_socket::{GenericFilePath, ListenerNonblockingMode, ListenerOptions, prelude::*};
    use interprocess::os::unix::local_socket::ListenerOptionsExt;

    let options = ListenerOptions::new()
        .name(path.to_fs_name::<GenericFilePath>()?)
        .mode(SOCKET_MODE)
        .nonblocking(ListenerNonblockingMode::Accept)
        // Dropping the listener must not remove the socket of a successor; `release_path` removes only our own.
        .reclaim_name(false);
    let LocalSocketListener::UdSocket(listener) = options.create_sync()?;
    // The umask may have cleared bits that the owner needs.
    if let Err(fault) = fs::set_permissions(path, Permissions::from_mode(SOCKET_MODE)) {
        let _ = fs::remove_file(path);
        return Err(fault);
    }
    Ok(listener.into())
}

/// Binds, then sets the mode, then listens, so that at no time another user can connect. On Apple systems the mode of a socket
/// cannot be set before it has a name, and `interprocess` offers nothing between binding and listening.
#[cfg(target_vendor = "apple")]
fn bind_private(path: &Path) -> io::Result<UnixListener> {
    use nix::fcntl::{FcntlArg, FdFlag, fcntl};
    use nix::sys::socket::Backlog;

    let socket = socket::socket(AddressFamily::Unix, SockType::Stream, SockFlag::empty(), None)?;
    fcntl(&socket, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    socket::bind(socket.as_raw_fd(), &UnixAddr::new(path)?)?;
    let listening = fs::set_permissions(path, Permissions::from_mode(SOCKET_MODE))
        .and_then(|()| Ok(socket::listen(&socket, Backlog::MAXCONN)?));
    if let Err(fault) = listening {
        let _ = fs::remove_file(path);
        return Err(fault);
    }
    let socket = UnixListener::from(socket);
    socket.set_nonblocking(true)?;
    Ok(socket)
}
