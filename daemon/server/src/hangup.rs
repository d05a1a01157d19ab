//! Distinguishes a client that has shut down its sending side from one that has disconnected.

use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::net;

use tokio::io::Interest;
use tokio::net::UnixStream;

/// Watches for the client closing the connection. After a client shut down its sending side, reading reports
/// nothing more, although it may still wait for answers.
pub(super) struct Hangup {
    /// A second registration of the same socket: clearing the writable flag here, which is how one waits for the
    /// next event, must not clear it for the connection.
    socket: UnixStream,
}

impl Hangup {
    /// Starts to watch.
    pub(super) fn watch(stream: &UnixStream) -> io::Result<Hangup> {
        let socket = net::UnixStream::from(stream.as_fd().try_clone_to_owned()?);
        Ok(Hangup { socket: UnixStream::from_std(socket)? })
    }

    /// Waits until the client can no longer read what is written.
    pub(super) async fn wait(&self) {
        while let Ok(ready) = self.socket.ready(Interest::WRITABLE).await {
            if ready.is_write_closed() {
                return;
            }
            // This clears the writable flag; the closed flag cannot be cleared.
            let _ = self
                .socket
                .try_io(Interest::WRITABLE, || -> io::Result<()> { Err(ErrorKind::WouldBlock.into()) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Shutdown;
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_half_closed_client_is_there_until_it_closes() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let theirs = theirs.into_std().unwrap();
        let hangup = Hangup::watch(&ours).unwrap();
        theirs.shutdown(Shutdown::Write).unwrap();
        assert!(tokio::time::timeout(Duration::from_secs(1), hangup.wait()).await.is_err());
        drop(theirs);
        hangup.wait().await;
    }
}
