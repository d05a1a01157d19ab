//! Who is at the other end: only the user the daemon runs as is served.

use std::io::{self, Write};

use axd_protocol::{Error, ErrorCode};
use nix::unistd::Uid;
use tokio::net::UnixStream;

use axd_service::write_error;

/// The process that connected, as the system vouches for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Peer {
    /// Its user.
    pub(super) uid: u32,
    /// Its process, where the system tells.
    pub(super) pid: Option<u32>,
}

impl Peer {
    /// Asks the system.
    pub(super) fn of(stream: &UnixStream) -> io::Result<Peer> {
        let credentials = stream.peer_cred()?;
        let pid = credentials.pid().and_then(|pid| u32::try_from(pid).ok());
        Ok(Peer { uid: credentials.uid(), pid })
    }

    /// Whether it may ask anything: it runs as the same user as the daemon. Root is no exception: what the daemon does
    /// on a desktop is done in the name of the desktop's user.
    pub(super) fn admit(self, own: Uid) -> Result<(), Error> {
        if self.uid == own.as_raw() {
            return Ok(());
        }
        let message = format!("this daemon belongs to user {own}, and the client is user {}", self.uid);
        Err(Error::new(ErrorCode::PermissionDenied, message)
            .suggest("run the command as that user, or start your own axd with another AXD_SOCKET"))
    }
}

/// Tells a client that it is not served, and closes the connection. A new connection's buffer takes a line without
/// waiting; if it does not, the client learns as much from the close.
pub(super) fn reject(stream: UnixStream, platform: &'static str, error: &Error) {
    let mut line = Vec::new();
    write_error(platform, None, "", error, &mut line);
    // Not `try_write`: it does nothing before the runtime has seen the socket writable, which for a new one it has not.
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
