//! The server: listener, connections, request ids, cancellation, subscriptions, back-pressure. It does not know what a
//! command means; that is up to a [`Service`].

mod activation;
mod connection;
pub mod descriptor;
mod framing;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod hangup;
mod offload;
mod outbound;
mod panics;
mod parsed;
mod peer;
mod pending;
mod request_set;
mod requests;
mod socket;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use axd_protocol::{Error, ErrorCode};
use nix::libc;
use nix::unistd::Uid;
use tokio::net::{UnixListener, UnixStream};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};
use tracing::{error, info, warn};

pub use activation::{inherited, refuse_waiting};
pub use socket::{ListenError, Listener};

use self::connection::Connection;
use self::peer::{Peer, reject};
use axd_service::Service;
use axd_service::Sessions;
use axd_service::Stop;

/// The maximum number of clients at a time.
const MAX_CONNECTIONS: usize = 1024;
/// How long accepting pauses after it failed, unless a connection closes before.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(200);
/// How often it is checked that the socket can still be found.
const SOCKET_CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// The options of a server.
#[derive(Debug, Clone, Copy)]
pub struct ServerOptions {
    /// How long the daemon runs without a client before it stops; `None` means for ever.
    pub idle_exit: Option<Duration>,
    /// How long pending requests may take after the daemon was told to stop.
    pub grace: Duration,
}

impl Default for ServerOptions {
    fn default() -> ServerOptions {
        ServerOptions { idle_exit: None, grace: Duration::from_secs(2) }
    }
}

/// Serves clients until told to stop, or idle for long enough. When it returns, every request that could be answered
/// has been, and the socket is gone.
pub async fn run(
    mut listener: Listener,
    service: Arc<dyn Service>,
    sessions: Arc<Sessions>,
    stop: Stop,
    options: ServerOptions,
) -> io::Result<()> {
    let mut socket = UnixListener::from_std(listener.socket()?)?;
    info!(socket = %listener.path().display(), inherited = listener.is_inherited(), "listening");
    let mut server =
        Server { service, sessions, stop, options, connections: JoinSet::new(), spare: spare_descriptor() };
    server.accept(&mut listener, &mut socket).await;
    server.stop.trigger();

    // The path is released first, so that new clients reach or start a successor. Clients that connected before are served.
    listener.release_path();
    while let Some(stream) = listener.accept_waiting() {
        server.admit(UnixStream::from_std(stream)?);
    }
    drop((socket, listener));
    info!(connections = server.connections.len(), "stopping");
    while let Some(closed) = server.connections.join_next().await {
        log_panic(closed);
    }
    Ok(())
}

/// The state of the accept loop.
struct Server {
    service: Arc<dyn Service>,
    sessions: Arc<Sessions>,
    stop: Stop,
    options: ServerOptions,
    connections: JoinSet<()>,
    /// A descriptor that is given up to refuse a client when no other is left.
    spare: Option<File>,
}

impl Server {
    /// Accepts clients until the daemon has to stop.
    async fn accept(&mut self, listener: &mut Listener, socket: &mut UnixListener) {
        let mut idle_until = self.idle_end();
        let mut paused_until: Option<Instant> = None;
        let mut checks = interval(SOCKET_CHECK_INTERVAL);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut lost = false;
        loop {
            tokio::select! {
                biased;
                () = self.stop.wait() => return,
                accepted = socket.accept(), if paused_until.is_none() => match accepted {
                    Ok((stream, _)) => self.admit(stream),
                    Err(fault) => {
                        self.refuse_one(&fault, listener);
                        paused_until = accept_retry_time(&fault);
                    }
                },
                Some(closed) = self.connections.join_next() => {
                    log_panic(closed);
                    // The closed connection may have freed the descriptor that was missing.
                    paused_until = None;
                    idle_until = self.idle_end();
                }
                () = sleep_until_some(paused_until) => paused_until = None,
                _ = checks.tick() => match restored(listener) {
                    Ok(Some(again)) => {
                        warn!(socket = %listener.path().display(), "the socket was removed; it is there again");
                        *socket = again;
                        lost = false;
                    }
                    Ok(None) => lost = false,
                    Err(fault) if !lost => {
                        warn!(%fault, "the socket was removed and cannot be bound again");
                        lost = true;
                    }
                    Err(_) => {}
                },
                () = sleep_until_some(idle_until), if self.connections.is_empty() => {
                    info!("nobody is connected: stopping");
                    return;
                }
            }
        }
    }

    /// Tells one waiting client that there is no descriptor left for it. Otherwise it would wait in the queue for ever.
    fn refuse_one(&mut self, fault: &io::Error, listener: &Listener) {
        if !matches!(fault.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) {
            return;
        }
        drop(self.spare.take());
        if let Ok(stream) = listener.accept_now()
            && let Ok(stream) = UnixStream::from_std(stream)
        {
            let message = "the daemon has no file descriptors left";
            let error = Error::new(ErrorCode::RateLimited, message)
                .suggest("close unused connections, or raise the limit with `ulimit -n` and restart axd");
            reject(stream, self.service.platform(), &error);
        }
        self.spare = spare_descriptor();
    }

    /// When to stop if nobody connects until then.
    fn idle_end(&self) -> Option<Instant> {
        let limits = [self.options.idle_exit, self.service.idle_limit()];
        limits.into_iter().flatten().min().and_then(|idle| Instant::now().checked_add(idle))
    }

    /// Serves a client, unless it has to be rejected.
    fn admit(&mut self, stream: UnixStream) {
        let platform = self.service.platform();
        let peer = match Peer::of(&stream) {
            Ok(peer) => peer,
            Err(fault) => return warn!(%fault, "a client of whom the system does not say who it is"),
        };
        if let Err(error) = peer.admit(Uid::effective()) {
            warn!(uid = peer.uid, pid = peer.pid, "another user tried to connect");
            return reject(stream, platform, &error);
        }
        if self.connections.len() >= MAX_CONNECTIONS {
            warn!(pid = peer.pid, "too many clients");
            let message = format!("{MAX_CONNECTIONS} clients are connected, which is the maximum");
            let error = Error::new(ErrorCode::RateLimited, message)
                .suggest("close unused connections; one connection can carry many requests");
            return reject(stream, platform, &error);
        }
        let (service, sessions) = (Arc::clone(&self.service), Arc::clone(&self.sessions));
        let connection = Connection::new(stream, peer.pid, service, sessions, self.options.grace);
        self.connections.spawn(connection.run(self.stop.clone()));
    }
}

/// Something to give up when descriptors run out.
fn spare_descriptor() -> Option<File> {
    File::open("/dev/null").ok()
}

/// The socket, if its file had been removed and it was bound again.
fn restored(listener: &mut Listener) -> Result<Option<UnixListener>, ListenError> {
    if !listener.restore()? {
        return Ok(None);
    }
    let path = listener.path().to_owned();
    let socket = listener.socket().and_then(UnixListener::from_std);
    socket.map(Some).map_err(|fault| ListenError::System { doing: "listen at", path, fault })
}

/// The time until which accepting pauses after it failed; `None` if it need not pause.
fn accept_retry_time(fault: &io::Error) -> Option<Instant> {
    // The client disconnected before it was accepted, so the next one can be accepted at once.
    if matches!(fault.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) {
        return None;
    }
    warn!(%fault, "cannot accept a client");
    Some(Instant::now() + ACCEPT_RETRY_DELAY)
}

fn log_panic(closed: Result<(), JoinError>) {
    if let Err(fault) = closed {
        error!(%fault, "a connection ended in a panic");
    }
}

/// Sleeps until a time, or for ever if there is none.
async fn sleep_until_some(then: Option<Instant>) {
    match then {
        Some(then) => sleep_until(then).await,
        None => std::future::pending().await,
    }
}
