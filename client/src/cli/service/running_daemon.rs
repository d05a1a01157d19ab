//! The daemon that already runs outside the service. It must be stopped first, because a socket has only one daemon.

use std::path::{Path, PathBuf};

use axd_client::protocol::command::Status;
use axd_client::protocol::paths::System;
use axd_client::protocol::{Command, Error, ErrorCode, Paths};
use axd_client::{Connection, RequestOptions};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::step::Step;

/// The default socket of a service. `AXD_SOCKET` is ignored, because it is set in the shell and not for the service.
pub fn default_socket() -> PathBuf {
    let uid = nix::unistd::geteuid().as_raw();
    let env = |name: &str| std::env::var_os(name).filter(|_| name != "AXD_SOCKET");
    Paths::resolve(System::CURRENT, uid, env).socket
}

/// The step that stops a daemon at this socket, if there is one. Only a daemon that `ax` started, and that has no other clients,
/// may be stopped.
pub fn step(socket: &Path) -> Result<Option<Step>, Error> {
    /// The fields of `status` that every protocol version is expected to have.
    #[derive(Deserialize)]
    struct Shared {
        pid: u32,
        #[serde(default)]
        idle_exit_s: Option<u64>,
        clients: Vec<IgnoredAny>,
    }
    let Ok(mut connection) = Connection::open(socket) else { return Ok(None) };
    let asked = connection.request(&Command::Status(Status {}), RequestOptions::any_protocol());
    let status: Shared =
        asked.and_then(|reply| reply.data()).map_err(|fault| conflict(socket, &fault.to_string()))?;
    // This process is one of its clients.
    let others = status.clients.len().saturating_sub(1);
    match status.idle_exit_s {
        Some(_) if others == 0 => Ok(Some(Step::StopDaemon { pid: status.pid, socket: socket.to_owned() })),
        Some(_) => Err(conflict(socket, &format!("pid {}, which has other clients ({others})", status.pid))),
        None => Err(conflict(socket, &format!("pid {}, which was not started by ax", status.pid))),
    }
}

fn conflict(socket: &Path, which: &str) -> Error {
    let message =
        format!("a daemon is already running at {}, outside the service: {which}", socket.display());
    Error::new(ErrorCode::ActionFailed, message)
        .suggest("stop it with `ax shutdown`, then try again")
        .retry("shutdown")
}
