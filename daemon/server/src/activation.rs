//! A socket handed over by a service manager, which listens before the daemon runs and starts it on demand.

use std::ffi::OsString;
use std::io::Write;
use std::os::fd::RawFd;

use axd_protocol::Error;
use tracing::warn;

use super::socket::{ListenError, Listener};
use crate::descriptor;
use axd_service::write_error;

/// The first descriptor that systemd hands over.
const FIRST_INHERITED_FD: RawFd = 3;

/// The socket this process was started with, if any. systemd says so in the environment (`sd_listen_fds(3)`); launchd
/// is asked by a call of its own.
pub fn inherited() -> Result<Option<Listener>, ListenError> {
    #[cfg(target_os = "macos")]
    if let Some(socket) = launchd::socket() {
        return Listener::adopt(socket).map(Some);
    }
    inherited_as(|name| std::env::var_os(name), std::process::id(), FIRST_INHERITED_FD)
}

/// Answers clients that wait at the inherited socket with the reason why they cannot be served. Otherwise the service manager would
/// keep listening, and they would wait for ever.
pub fn refuse_waiting(platform: &'static str, error: &Error) {
    if let Ok(Some(listener)) = inherited() {
        refuse(&listener, platform, error);
    }
}

pub(super) fn refuse(listener: &Listener, platform: &'static str, error: &Error) {
    let Ok(socket) = listener.socket() else { return };
    let mut line = Vec::new();
    write_error(platform, None, "", error, &mut line);
    while let Ok((mut stream, _)) = socket.accept() {
        // The client may have disconnected.
        let _ = stream.write_all(&line);
    }
}

/// Implements [`inherited`] for the environment of the process `pid`.
pub(super) fn inherited_as(
    env: impl Fn(&str) -> Option<OsString>,
    pid: u32,
    fd: RawFd,
) -> Result<Option<Listener>, ListenError> {
    let number = |name: &str| env(name)?.to_str()?.parse::<u32>().ok();
    // Child processes inherit the variables too, although they are not meant for them.
    if number("LISTEN_PID") != Some(pid) {
        return Ok(None);
    }
    match number("LISTEN_FDS") {
        None | Some(0) => return Ok(None),
        Some(1) => {}
        Some(count) => warn!(count, "the service manager hands over more than one socket; the first is used"),
    }
    let taken = descriptor::take(fd);
    let socket = taken.map_err(|fault| ListenError::Inherited { fd, reason: fault.to_string() })?;
    Listener::adopt(socket).map(Some)
}

/// launchd's sockets. Its agent's file names them; `launch_activate_socket(3)` hands them over.
#[cfg(target_os = "macos")]
mod launchd {
    use std::ffi::{CStr, c_char, c_int, c_void};
    use std::os::fd::{FromRawFd, OwnedFd};
    use std::ptr;

    use tracing::warn;

    /// The socket's name in `launchd/dev.axd.axd.plist`.
    const NAME: &CStr = c"axd";

    unsafe extern "C" {
        fn launch_activate_socket(name: *const c_char, fds: *mut *mut c_int, count: *mut usize) -> c_int;
    }

    /// The socket on which launchd listens for this process; `None` if launchd did not start it, or has no socket for it. Must
    /// be called once: launchd hands it over once.
    pub(super) fn socket() -> Option<OwnedFd> {
        let (mut fds, mut count) = (ptr::null_mut(), 0);
        // SAFETY: the name ends in a zero byte, and both results are written to variables of ours.
        let refused = unsafe { launch_activate_socket(NAME.as_ptr(), &mut fds, &mut count) };
        if refused != 0 || fds.is_null() {
            return None;
        }
        // SAFETY: launchd says that there are `count` numbers at `fds`, and each is a descriptor that is ours from now on.
        let mut sockets =
            (0..count).map(|at| unsafe { OwnedFd::from_raw_fd(*fds.add(at)) }).collect::<Vec<_>>();
        // SAFETY: the list, not what is in it, is ours to free, and is not looked at again.
        unsafe { nix::libc::free(fds.cast::<c_void>()) };
        if count > 1 {
            warn!(count, "launchd hands over more than one socket; the first is used");
            sockets.truncate(1);
        }
        sockets.pop()
    }
}
