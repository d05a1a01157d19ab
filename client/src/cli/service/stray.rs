//! The daemon that runs already, outside the service: one socket has one daemon, so it has to go first.

use std::path::{Path, PathBuf};

use axd_client::protocol::command::Status;
use axd_client::protocol::paths::System;
use axd_client::protocol::{Command, Error, ErrorCode, Paths};
use axd_client::{Ask, Connection};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::step::Step;

/// Where a service listens that was told nothing. `AXD_SOCKET` is not asked: it is the shell's, not the service's.
pub fn default_socket() -> PathBuf {
    let uid = nix::unistd::geteuid().as_raw();
    let env = |name: &str| std::env::var_os(name).filter(|_| name != "AXD_SOCKET");
    Paths::resolve(System::CURRENT, uid, env).socket
}

/// The step that makes room at this socket, if any is needed. Only a daemon that `ax` started, and that serves nobody
/// else, is ours to stop.
pub fn step(socket: &Path) -> Result<Option<Step>, Error> {
    /// As much of `status` as any major can be hoped to have.
    #[derive(Deserialize)]
    struct Shared {
        pid: u32,
        #[serde(default)]
        idle_exit_s: Option<u64>,
        clients: Vec<IgnoredAny>,
    }
    let Ok(mut connection) = Connection::open(socket) else { return Ok(None) };
    let asked = connection.request(&Command::Status(Status {}), Ask::any_protocol());
    let status: Shared =
        asked.and_then(|reply| reply.data()).map_err(|fault| in_the_way(socket, &fault.to_string()))?;
    // We are one of its clients.
    let others = status.clients.len().saturating_sub(1);
    match status.idle_exit_s {
        Some(_) if others == 0 => Ok(Some(Step::StopStray { pid: status.pid, socket: socket.to_owned() })),
        Some(_) => {
            Err(in_the_way(socket, &format!("pid {}, which serves other clients too ({others})", status.pid)))
        }
        None => Err(in_the_way(socket, &format!("pid {}, which was not started by ax", status.pid))),
    }
}

fn in_the_way(socket: &Path, which: &str) -> Error {
    let message = format!("a daemon runs already at {}, outside the service: {which}", socket.display());
    Error::new(ErrorCode::ActionFailed, message)
        .suggest("stop it with `ax shutdown`, then try again")
        .retry("shutdown")
}
