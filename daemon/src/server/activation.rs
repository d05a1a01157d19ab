//! A socket handed over by a service manager, which listens before the daemon runs and starts it on demand.

use std::ffi::OsString;
use std::os::fd::RawFd;

use tracing::warn;

use super::socket::{ListenError, Listener};
use crate::descriptor;

/// The first descriptor systemd hands over.
const FIRST: RawFd = 3;

/// The socket this process was started with, if any. systemd says so in the environment (`sd_listen_fds(3)`); launchd
/// is asked by a call of its own, and will be asked here.
pub fn inherited() -> Result<Option<Listener>, ListenError> {
    inherited_as(|name| std::env::var_os(name), std::process::id(), FIRST)
}

/// The same, for the environment of the process `pid`.
pub(super) fn inherited_as(
    env: impl Fn(&str) -> Option<OsString>,
    pid: u32,
    fd: RawFd,
) -> Result<Option<Listener>, ListenError> {
    let number = |name: &str| env(name)?.to_str()?.parse::<u32>().ok();
    // The variables are inherited by children, for whom they are not meant.
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
