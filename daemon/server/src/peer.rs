//! Checks the user of a client: only the user that the daemon runs as is served.

use std::io::{self, Write};

use axd_protocol::{Error, ErrorCode};
use nix::unistd::Uid;
use tokio::net::UnixStream;

use axd_service::write_error;

/// The process that connected, as the kernel reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Peer {
    /// The user id.
    pub(super) uid: u32,
    /// The process id, where the kernel reports it.
    pub(super) pid: Option<u32>,
}

impl Peer {
    /// Reads the credentials of the client from the socket.
    pub(super) fn of(stream: &UnixStream) -> io::Result<Peer> {
        let credentials = stream.peer_cred()?;
        let pid = credentials.pid().and_then(|pid| u32::try_from(pid).ok());
        Ok(Peer { uid: credentials.uid(), pid })
    }

    /// Whether the client may send requests: it must run as the same user as the daemon. Root is no exception, because what the daemon does
    /// on a desktop is done in the name of its user.
    pub(super) fn admit(self, own: Uid) -> Result<(), Error> {
        if self.uid == own.as_raw() {
            return Ok(());
        }
        let message = format!("this daemon belongs to user {own}, and the client is user {}", self.uid);
        Err(Error::new(ErrorCode::PermissionDenied, message)
            .suggest("run the command as that user, or start your own axd with another AXD_SOCKET"))
    }
}

/// Answers a client with an error and closes the connection. The buffer of a new connection accepts a line without
/// blocking; if it does not, the client sees the connection closed.
pub(super) fn reject(stream: UnixStream, platform: &'static str, error: &Error) {
    let mut line = Vec::new();
    write_error(platform, None, "", error, &mut line);
    // `try_write` would do nothing, because the runtime has not yet seen a new socket writable.
    if let Ok(mut stream) = stream.into_std() {
        let _ = stream.write_all(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_daemons_own_user_is_admitted_and_root_is_another_user() {
        let peer = Peer { uid: 501, pid: None };
        assert!(peer.admit(Uid::from_raw(501)).is_ok());
        let error = peer.admit(Uid::from_raw(502)).unwrap_err();
        assert_eq!(error.code, ErrorCode::PermissionDenied);
        assert!(error.message.contains("501") && error.message.contains("502"));
        assert!(Peer { uid: 0, pid: None }.admit(Uid::from_raw(501)).is_err());
    }

    #[tokio::test]
    async fn the_system_tells_who_connected() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let peer = Peer::of(&ours).unwrap();
        assert_eq!(peer.uid, Uid::effective().as_raw());
        assert_eq!(peer.pid, Some(std::process::id()));
    }
}
