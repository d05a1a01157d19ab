//! The output buffer of a connection.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};

use tokio::net::UnixStream;

/// With more unsent bytes than this no further request is read, because the client does not read its answers.
const HIGH_WATER: usize = 1 << 20;
/// With more unsent bytes than this no subscription writes lines. The limit is lower than for answers, because a subscription
/// that waits folds its changes into one difference, while lines in the buffer become outdated.
const FEED_HIGH_WATER: usize = 64 * 1024;
/// A larger buffer is freed when it is empty.
const MAX_IDLE_BUFFER_BYTES: usize = 64 * 1024;

/// A longer answer is not copied.
const MIN_WHOLE_BYTES: usize = 64 * 1024;
/// The maximum number of bytes that are written before other connections get their turn.
const MAX_BYTES_PER_TURN: usize = 256 * 1024;

/// The bytes that have to be written.
#[derive(Debug, Default)]
pub(super) struct Outbound {
    /// Long answers, and what has to be written between them.
    whole: VecDeque<Vec<u8>>,
    /// Complete lines are appended here; they come last.
    pub(super) lines: Vec<u8>,
    /// How many bytes of the first of all these have been written.
    sent: usize,
    /// Long answers that have been written.
    written: Vec<Vec<u8>>,
    /// Whether the socket may take more, and only the turn is over.
    has_more: bool,
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

    /// Adds complete lines.
    pub(super) fn push(&mut self, lines: Vec<u8>) {
        if lines.len() < MIN_WHOLE_BYTES {
            return self.lines.extend_from_slice(&lines);
        }
        if !self.lines.is_empty() {
            self.whole.push_back(std::mem::take(&mut self.lines));
        }
        self.whole.push_back(lines);
    }

    /// Whether the socket may take more, when other connections have had their turn.
    pub(super) fn has_more(&self) -> bool {
        self.has_more
    }

    /// Long answers that have been written. Freeing many megabytes takes milliseconds, so it is left to the caller when and
    /// where to do it.
    pub(super) fn take_written(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.written)
    }

    /// Writes as much as the socket accepts now, and as one turn allows.
    pub(super) fn flush(&mut self, stream: &UnixStream) -> io::Result<()> {
        let mut written = 0;
        self.has_more = false;
        while !self.is_empty() {
            if written >= MAX_BYTES_PER_TURN {
                self.has_more = true;
                break;
            }
            let first = self.whole.front().unwrap_or(&self.lines);
            let most = first.len().min(self.sent + MAX_BYTES_PER_TURN);
            match stream.try_write(&first[self.sent..most]) {
                Ok(n) => {
                    written += n;
                    self.sent += n;
                }
                Err(fault) if fault.kind() == ErrorKind::WouldBlock => break,
                Err(fault) if fault.kind() == ErrorKind::Interrupted => {}
                Err(fault) => return Err(fault),
            }
            if self.whole.front().is_some_and(|first| self.sent == first.len()) {
                self.written.extend(self.whole.pop_front());
                self.sent = 0;
            }
        }
        if self.is_empty() {
            self.lines.clear();
            self.sent = 0;
            if self.lines.capacity() > MAX_IDLE_BUFFER_BYTES {
                self.lines = Vec::new();
            }
        } else if self.whole.is_empty() && self.sent >= HIGH_WATER.max(self.left()) {
            // Without this a client that reads steadily, yet never catches up, would make the buffer grow for ever. Not
            // before half is sent, so that a byte is moved once at most on the average, however long an answer is.
            self.lines.drain(..self.sent);
            self.sent = 0;
        }
        Ok(())
    }

    /// The number of bytes that are not written yet.
    pub(super) fn left(&self) -> usize {
        self.whole.iter().map(Vec::len).sum::<usize>() + self.lines.len() - self.sent
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
    async fn long_answers_and_short_ones_come_in_their_order() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut out = Outbound::default();
        out.lines.extend_from_slice(b"a\n");
        out.push(vec![b'b'; 5 * MAX_BYTES_PER_TURN]);
        out.lines.extend_from_slice(b"c\n");
        out.push(vec![b'd'; MIN_WHOLE_BYTES]);
        out.push(b"e\n".to_vec());
        let all = out.left();
        let (mut read, mut buffer) = (Vec::new(), vec![0; 100_000]);
        while read.len() < all {
            out.flush(&ours).unwrap();
            match theirs.try_read(&mut buffer) {
                Ok(n) => read.extend_from_slice(&buffer[..n]),
                Err(_) => tokio::task::yield_now().await,
            }
        }
        read.dedup();
        assert_eq!(read, b"a\nbc\nde\n");
        assert!(out.is_empty());
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
