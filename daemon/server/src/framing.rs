//! The input buffer of a connection, which splits bytes into lines.

use std::ops::Range;

use axd_protocol::MAX_REQUEST_BYTES;
use memchr::memchr;

/// The initial size of the buffer.
const MIN_BUFFER_BYTES: usize = 8 * 1024;
/// The minimum free space for a read.
const MIN_READ_BYTES: usize = 4 * 1024;
/// A larger buffer, as a long line needs it, is freed when it is empty.
const MAX_IDLE_BUFFER_BYTES: usize = 64 * 1024;

/// What is at the front of the buffer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Framed<'a> {
    /// A line without its newline; never empty.
    Line(&'a [u8]),
    /// A line longer than the contract allows. Where it ends is not known.
    TooLong,
    /// No complete line.
    Nothing,
}

/// The bytes that were read and are not served yet.
#[derive(Debug, Default)]
pub(super) struct Inbound {
    /// Storage: bytes outside `start..end` mean nothing. It is not truncated, so that reading does not zero it anew.
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// The bytes before this index have been searched for newlines.
    scanned: usize,
}

impl Inbound {
    /// Takes the next line.
    pub(super) fn next_line(&mut self) -> Framed<'_> {
        loop {
            let Some(line) = self.next_range() else {
                self.make_compact();
                return if self.is_overlong() { Framed::TooLong } else { Framed::Nothing };
            };
            if line.len() > MAX_REQUEST_BYTES {
                return Framed::TooLong;
            }
            if !line.is_empty() {
                return Framed::Line(&self.bytes[line]);
            }
        }
    }

    /// Whether [`Inbound::next_line`] may return something other than [`Framed::Nothing`].
    pub(super) fn has_next(&self) -> bool {
        self.is_overlong() || memchr(b'\n', &self.bytes[self.scanned..self.end]).is_some()
    }

    /// Whether it holds more than the longest line. A carriage return may still turn out to belong to the line's end.
    pub(super) fn is_overlong(&self) -> bool {
        self.end - self.start > MAX_REQUEST_BYTES + 1
    }

    /// The size of the buffer.
    pub(super) fn capacity(&self) -> usize {
        self.bytes.len()
    }

    /// The free space to read into. The caller reports with [`Inbound::filled`] how much of it was used.
    pub(super) fn room(&mut self) -> &mut [u8] {
        if self.bytes.len() - self.end < MIN_READ_BYTES {
            let size = (self.bytes.len() * 2).clamp(MIN_BUFFER_BYTES, MAX_REQUEST_BYTES + 2 * MIN_READ_BYTES);
            self.bytes.resize(size.max(self.end + MIN_READ_BYTES), 0);
        }
        &mut self.bytes[self.end..]
    }

    /// Reports that the first `n` bytes of the free space have been filled.
    pub(super) fn filled(&mut self, n: usize) {
        self.end = (self.end + n).min(self.bytes.len());
    }

    fn next_range(&mut self) -> Option<Range<usize>> {
        let Some(at) = memchr(b'\n', &self.bytes[self.scanned..self.end]) else {
            self.scanned = self.end;
            return None;
        };
        let newline = self.scanned + at;
        let mut line = self.start..newline;
        if self.bytes[line.clone()].ends_with(b"\r") {
            line.end -= 1;
        }
        self.start = newline + 1;
        self.scanned = self.start;
        Some(line)
    }

    /// Moves the incomplete line to the front. It runs when no complete line is left, so each byte moves once per read
    /// at most.
    fn make_compact(&mut self) {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.scanned -= self.start;
            self.start = 0;
        }
        if self.end == 0 && self.bytes.len() > MAX_IDLE_BUFFER_BYTES {
            self.bytes = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(inbound: &mut Inbound, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = inbound.room();
            let n = room.len().min(bytes.len());
            room[..n].copy_from_slice(&bytes[..n]);
            inbound.filled(n);
            bytes = &bytes[n..];
        }
    }

    fn lines(inbound: &mut Inbound) -> Vec<String> {
        let mut lines = Vec::new();
        while let Framed::Line(line) = inbound.next_line() {
            lines.push(String::from_utf8_lossy(line).into_owned());
        }
        lines
    }

    #[test]
    fn lines_come_out_however_the_bytes_come_in() {
        let text = b"one\r\n\n\r\ntwo\nthree, a longer one\nhalf";
        for size in 1..text.len() {
            let mut inbound = Inbound::default();
            let mut got = Vec::new();
            for piece in text.chunks(size) {
                feed(&mut inbound, piece);
                got.extend(lines(&mut inbound));
            }
            assert_eq!(got, ["one", "two", "three, a longer one"]);
            assert_eq!(inbound.next_line(), Framed::Nothing);
            feed(&mut inbound, b" done\n");
            assert!(inbound.has_next());
            assert_eq!(lines(&mut inbound), ["half done"]);
        }
    }

    #[test]
    fn the_longest_line_passes_and_one_byte_more_does_not() {
        for end in ["\n", "\r\n"] {
            let mut inbound = Inbound::default();
            feed(&mut inbound, &vec![b'x'; MAX_REQUEST_BYTES]);
            assert_eq!(inbound.next_line(), Framed::Nothing);
            feed(&mut inbound, end.as_bytes());
            assert!(matches!(inbound.next_line(), Framed::Line(line) if line.len() == MAX_REQUEST_BYTES));

            feed(&mut inbound, &vec![b'x'; MAX_REQUEST_BYTES + 1]);
            feed(&mut inbound, end.as_bytes());
            assert_eq!(inbound.next_line(), Framed::TooLong);
        }
    }

    #[test]
    fn an_endless_line_is_noticed_before_it_ends_and_takes_no_more_memory_than_the_longest() {
        let mut inbound = Inbound::default();
        feed(&mut inbound, &vec![b'x'; MAX_REQUEST_BYTES + 2]);
        assert_eq!(inbound.next_line(), Framed::TooLong);
        assert!(inbound.bytes.len() <= MAX_REQUEST_BYTES + 2 * MIN_READ_BYTES);
    }

    #[test]
    fn a_long_line_does_not_leave_a_large_buffer_behind() {
        let mut inbound = Inbound::default();
        feed(&mut inbound, &vec![b'x'; 500_000]);
        feed(&mut inbound, b"\n");
        assert_eq!(lines(&mut inbound).len(), 1);
        assert!(inbound.bytes.len() <= MAX_IDLE_BUFFER_BYTES);
    }
}
