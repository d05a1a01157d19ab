//! Descriptors this process was started with: a pipe, a socket.

use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};

/// Takes ownership of a descriptor that the starter named, and keeps it from apps launched later. To be called once for
/// each, and with no number but the starter's.
pub fn take(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the borrow ends with this statement, and a number that is not open is an error here, not misuse.
    fcntl(unsafe { BorrowedFd::borrow_raw(fd) }, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    // SAFETY: it is open, as was just seen, and the starter opened it for us: nothing else in this process owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
