//! The lock files beside the socket.
//!
//! The folder of the socket may be in `/tmp`, where anyone could create it first. So nothing in it is opened before it is known
//! to be ours, no link is followed, nothing but a regular file is opened, and every wait has an end.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Instant;

use axd_protocol::Paths;
use axd_protocol::paths::DAEMON_LOCK;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;
use nix::unistd::geteuid;

/// The folder of the socket, after it was checked.
#[derive(Debug)]
pub(crate) struct SocketFolder(File);

impl SocketFolder {
    /// Creates the folder if it is missing, and opens it.
    pub(crate) fn create(folder: &Path) -> io::Result<SocketFolder> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        SocketFolder::open(folder)
    }

    /// Opens the folder, if it is ours and nobody else can put anything into it.
    pub(crate) fn open(folder: &Path) -> io::Result<SocketFolder> {
        // The link is checked first, because its owner could change its target after the check.
        check_owner(folder, &fs::symlink_metadata(folder)?)?;
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
        let opened = File::from(nix::fcntl::open(folder, flags, Mode::empty())?);
        let metadata = opened.metadata()?;
        check_owner(folder, &metadata)?;
        let mode = metadata.mode() & 0o7777;
        if mode & 0o022 != 0 {
            return Err(denied(format!(
                "{} is accessible to other users (mode {mode:o}); set AXD_SOCKET to a path in a folder that only you can access",
                folder.display()
            )));
        }
        Ok(SocketFolder(opened))
    }

    /// Opens a lock file in it, and creates it if it is missing.
    pub(crate) fn lock_file(&self, path: &Path) -> io::Result<File> {
        self.open_file(path, OFlag::O_RDWR | OFlag::O_CREAT)
    }

    fn open_file(&self, path: &Path, access: OFlag) -> io::Result<File> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        // A fifo would make the opening wait for its other end.
        let flags = access | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let file = openat(&self.0, name, flags, Mode::from_bits_truncate(0o600));
        let file = File::from(file.map_err(|errno| match errno {
            nix::errno::Errno::ELOOP => denied("it is a link; remove it".to_owned()),
            errno => errno.into(),
        })?);
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(denied("it is not a regular file; remove it".to_owned()));
        }
        check_owner(path, &metadata)?;
        Ok(file)
    }
}

fn check_owner(path: &Path, metadata: &fs::Metadata) -> io::Result<()> {
    let (owner, own) = (metadata.uid(), geteuid().as_raw());
    if owner == own {
        return Ok(());
    }
    Err(denied(format!(
        "{} belongs to user {owner}, not to user {own}; set AXD_SOCKET to a path in a folder of your own",
        path.display()
    )))
}

fn denied(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}

/// Takes the lock of a file; `None` if somebody else holds it until the deadline.
pub(crate) fn lock_before(file: File, deadline: Instant) -> io::Result<Option<File>> {
    match file.try_lock() {
        Ok(()) => return Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => {}
        Err(fs::TryLockError::Error(fault)) => return Err(fault),
    }
    let (sender, receiver) = mpsc::channel();
    // A lock cannot be waited for with a timeout, so a thread waits for it. After the deadline nobody receives the file, so that
    // the thread closes it as soon as it has the lock.
    std::thread::Builder::new()
        .name("axd-lock".into())
        .spawn(move || sender.send(file.lock().map(|()| file)))?;
    match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(locked) => locked.map(Some),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::Other.into()),
    }
}

/// The process that holds the daemon's lock of this socket, as it wrote itself; `None` if nobody holds it.
pub(crate) fn holder_of(socket: &Path) -> Option<u32> {
    let folder = SocketFolder::open(socket.parent()?).ok()?;
    let mut file = folder.open_file(&Paths::lock_of(socket, DAEMON_LOCK), OFlag::O_RDONLY).ok()?;
    if file.try_lock_shared().is_ok() {
        return None;
    }
    let mut text = String::new();
    (&mut file).take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::time::Duration;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(50)
    }

    #[test]
    fn a_link_a_fifo_and_an_open_folder_are_refused_and_nothing_is_created() {
        let place = tempfile::tempdir().unwrap();
        let folder = SocketFolder::open(place.path()).unwrap();
        let victim = place.path().join("victim");
        symlink(&victim, place.path().join("link")).unwrap();
        let fault = folder.lock_file(&place.path().join("link")).unwrap_err();
        assert!(fault.to_string().contains("link"), "{fault}");
        assert!(!victim.exists());
        let fifo = place.path().join("fifo");
        nix::unistd::mkfifo(&fifo, Mode::S_IRWXU).unwrap();
        let fault = folder.lock_file(&fifo).unwrap_err();
        assert!(fault.to_string().contains("regular file"), "{fault}");
        fs::set_permissions(place.path(), PermissionsExt::from_mode(0o770)).unwrap();
        let fault = SocketFolder::open(place.path()).unwrap_err();
        assert!(fault.to_string().contains("mode 770"), "{fault}");
    }

    #[test]
    fn a_lock_that_is_not_released_is_waited_for_until_the_deadline_and_no_longer() {
        let place = tempfile::tempdir().unwrap();
        let folder = SocketFolder::open(place.path()).unwrap();
        let path = place.path().join("start.lock");
        let held = lock_before(folder.lock_file(&path).unwrap(), soon()).unwrap().unwrap();
        assert!(lock_before(folder.lock_file(&path).unwrap(), soon()).unwrap().is_none());
        drop(held);
        let far = Instant::now() + Duration::from_secs(60);
        assert!(lock_before(folder.lock_file(&path).unwrap(), far).unwrap().is_some());
    }

    #[test]
    fn who_holds_the_daemons_lock_is_told_while_it_is_held() {
        let place = tempfile::tempdir().unwrap();
        let socket = place.path().join("axd.sock");
        assert_eq!(holder_of(&socket), None);
        fs::write(place.path().join(DAEMON_LOCK), "4242\n").unwrap();
        assert_eq!(holder_of(&socket), None, "a daemon that has ended leaves its number");
        let lock = File::open(place.path().join(DAEMON_LOCK)).unwrap();
        lock.lock().unwrap();
        assert_eq!(holder_of(&socket), Some(4242));
    }
}
