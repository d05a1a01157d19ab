//! Telling a client that will send no more from one that is gone.

use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::net;

use tokio::io::Interest;
use tokio::net::UnixStream;

/// Watches for the client's end being closed altogether. After a client shut down its sending side, reading says
/// nothing more, and it may well wait for answers.
pub(super) struct Hangup {
    /// A second registration of the same socket: forgetting here that it is writable, which is how one waits for the
    /// next event, must not make the connection forget it.
    socket: UnixStream,
}

impl Hangup {
    /// Begins to watch.
    pub(super) fn watch(stream: &UnixStream) -> io::Result<Hangup> {
        let socket = net::UnixStream::from(stream.as_fd().try_clone_to_owned()?);
        Ok(Hangup { socket: UnixStream::from_std(socket)? })
    }

    /// Waits until nobody can read any more what is written.
    pub(super) async fn wait(&self) {
        while let Ok(ready) = self.socket.ready(Interest::WRITABLE).await {
            if ready.is_write_closed() {
                return;
            }
            // That it is writable is forgotten; that it is closed cannot be.
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
