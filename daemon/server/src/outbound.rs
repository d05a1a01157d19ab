//! The output buffer of a connection.

use std::io::{self, ErrorKind};

use tokio::net::UnixStream;

/// With more unsent bytes than this no further request is read, because the client does not read its answers.
const HIGH_WATER: usize = 1 << 20;
/// With more unsent bytes than this no subscription writes lines. The limit is lower than for answers, because a subscription
/// that waits folds its changes into one difference, while lines in the buffer become outdated.
const FEED_HIGH_WATER: usize = 64 * 1024;
/// A larger buffer is freed when it is empty.
const MAX_IDLE_BUFFER_BYTES: usize = 64 * 1024;

/// The bytes that have to be written.
#[derive(Debug, Default)]
pub(super) struct Outbound {
    /// Complete lines are appended here.
    pub(super) lines: Vec<u8>,
    sent: usize,
}

impl Outbound {
    /// Whether everything has been written.
    pub(super) fn is_empty(&self) -> bool {
        self.left() == 0
    }

    /// Whether another request may be served.
    pub(super) fn has_room(&self) -> bool {
        self.left() < HIGH_WATER
    }

    /// Whether a subscription may write lines.
    pub(super) fn has_room_for_feeds(&self) -> bool {
        self.left() < FEED_HIGH_WATER
    }

    /// Writes as much as the socket accepts now.
    pub(super) fn flush(&mut self, stream: &UnixStream) -> io::Result<()> {
        while !self.is_empty() {
            match stream.try_write(&self.lines[self.sent..]) {
                Ok(n) => self.sent += n,
                Err(fault) if fault.kind() == ErrorKind::WouldBlock => break,
                Err(fault) if fault.kind() == ErrorKind::Interrupted => {}
                Err(fault) => return Err(fault),
            }
        }
        if self.is_empty() {
            self.lines.clear();
            self.sent = 0;
            if self.lines.capacity() > MAX_IDLE_BUFFER_BYTES {
                self.lines = Vec::new();
            }
        } else if self.sent >= HIGH_WATER.max(self.left()) {
            // Without this a client that reads steadily, yet never catches up, would make the buffer grow for ever. Not
            // before half is sent, so that a byte is moved once at most on the average, however long an answer is.
            self.lines.drain(..self.sent);
            self.sent = 0;
        }
        Ok(())
    }

    fn left(&self) -> usize {
        self.lines.len() - self.sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_the_socket_does_not_take_stays_and_what_is_written_is_given_back() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut out = Outbound::default();
        out.lines.resize(3 * HIGH_WATER, b'x');
        let (mut read, mut buffer) = (0, vec![0; 100_000]);
        while read < 3 * HIGH_WATER {
            out.flush(&ours).unwrap();
            assert!(out.sent < HIGH_WATER.max(out.left()));
            match theirs.try_read(&mut buffer) {
                Ok(n) => read += n,
                Err(_) => tokio::task::yield_now().await,
            }
        }
        assert!(out.is_empty());
        assert!(out.lines.capacity() <= MAX_IDLE_BUFFER_BYTES);
        assert!(out.has_room() && out.has_room_for_feeds());
    }

    #[tokio::test]
    async fn a_client_that_is_gone_is_an_error() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        ours.writable().await.unwrap();
        let mut out = Outbound::default();
        out.lines.push(b'\n');
        assert!(out.flush(&ours).is_err());
    }
}
