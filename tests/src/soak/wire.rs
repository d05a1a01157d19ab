//! A client that waits for lines with a limit, and tells a late answer from a closed connection.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// What came of waiting for a line.
#[derive(Debug)]
pub enum Line {
    /// A line, without its end.
    Text(Vec<u8>),
    /// None came in time.
    Late,
    /// The connection is closed.
    Closed,
}

/// A connection to a daemon.
#[derive(Debug)]
pub struct Wire {
    stream: UnixStream,
    held: Vec<u8>,
    /// How much of what is held was searched for the end of a line.
    searched: usize,
    next: u64,
}

impl Wire {
    /// Connects; fails if the daemon is gone.
    pub fn connect(socket: &Path) -> std::io::Result<Wire> {
        Ok(Wire { stream: UnixStream::connect(socket)?, held: Vec::new(), searched: 0, next: 0 })
    }

    /// The connection itself, for clients that misbehave.
    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Sends a request; its id, or `None` if the connection is closed.
    pub fn begin(&mut self, command: &str, args: Value, deadline_ms: u64) -> Option<u64> {
        self.next += 1;
        let request =
            json!({ "id": self.next, "command": command, "args": args, "deadline_ms": deadline_ms });
        self.stream.write_all(format!("{request}\n").as_bytes()).ok()?;
        Some(self.next)
    }

    /// The next line, if it comes before the limit.
    pub fn line(&mut self, limit: Duration) -> Line {
        let end = Instant::now() + limit;
        loop {
            if let Some(at) = self.held[self.searched..].iter().position(|byte| *byte == b'\n') {
                let at = self.searched + at;
                let rest = self.held.split_off(at + 1);
                let mut line = std::mem::replace(&mut self.held, rest);
                line.pop();
                self.searched = 0;
                return Line::Text(line);
            }
            self.searched = self.held.len();
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || self.stream.set_read_timeout(Some(left)).is_err() {
                return Line::Late;
            }
            let mut chunk = [0; 64 * 1024];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Line::Closed,
                Ok(n) => self.held.extend_from_slice(&chunk[..n]),
                Err(fault) if fault.kind() == ErrorKind::Interrupted => {}
                Err(fault) if matches!(fault.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(_) => return Line::Closed,
            }
        }
    }
}
