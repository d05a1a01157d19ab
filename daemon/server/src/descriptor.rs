//! Inherited descriptors: a pipe, a socket.

use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};

/// Takes ownership of an inherited descriptor, and makes sure that launched apps do not inherit it. Must be called once for
/// each, and only with numbers that the parent process named.
pub fn take(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the borrow ends with this statement, and a number that is not open is an error here, not misuse.
    fcntl(unsafe { BorrowedFd::borrow_raw(fd) }, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    // SAFETY: it is open, as was just checked, and the parent opened it for this process, in which nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
