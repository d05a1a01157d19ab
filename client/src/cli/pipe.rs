//! `ax pipe`: sends lines from standard input to the daemon, and prints the daemon's lines, both at the same time.

use std::io::{self, BufRead, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axd_client::{ClientError, is_ok};

use super::output::{self, Mode, Stdout, finish};
use super::parse::Options;
use super::{Exit, connect, watch};

/// Forwards until standard input has ended and all requests are answered. Open subscriptions continue until they end or until
/// `ax` is interrupted.
pub fn run(options: &Options, mode: Mode) -> Exit {
    forward(options).unwrap_or_else(|fault| output::failure("pipe", &fault, mode))
}

fn forward(options: &Options) -> Result<Exit, ClientError> {
    watch::end_on_interrupt()?;
    let mut connection = connect(options)?;
    connection.check_liveness(&options.socket())?;
    let pending = Arc::new(PendingReplies::default());
    let writer = connection.stream().try_clone()?;
    let pending_replies = Arc::clone(&pending);
    // The thread is not joined, because it may wait for standard input forever; it ends with the process.
    std::thread::Builder::new().name("stdin".into()).spawn(move || send_stdin(writer, &pending_replies))?;
    loop {
        let mut kind = None;
        let mut printed = Ok(());
        let came = connection.stream_line(|piece| {
            kind.get_or_insert_with(|| LineKind::of(piece));
            printed = Stdout.write_all(piece);
            if printed.is_err() { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
        });
        if printed.is_err() {
            return Ok(finish(printed, Exit::Done));
        }
        if !came? {
            return if pending.is_answered() { Ok(Exit::Done) } else { Err(closed()) };
        }
        if kind.is_some_and(|kind| pending.receive(&kind)) {
            return Ok(Exit::Done);
        }
    }
}

fn send_stdin(mut socket: std::os::unix::net::UnixStream, pending: &PendingReplies) {
    let mut stdin = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        match stdin.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            // An empty line is not a request and gets no answer.
            Ok(_) if line.trim_ascii().is_empty() => continue,
            Ok(_) => {}
        }
        if line.last() != Some(&b'\n') {
            line.push(b'\n');
        }
        pending.add_request();
        if socket.write_all(&line).is_err() {
            // The connection is lost; the reading side notices that itself.
            return;
        }
    }
    // If nothing is pending, the reading side waits for a line that will not come; closing both directions ends it. Otherwise
    // only the sending direction is closed, and the daemon continues to answer. An error means that the socket is already closed.
    let _ = socket.shutdown(if pending.stdin_ended() { Shutdown::Both } else { Shutdown::Write });
}

/// The number of answers and ends of subscriptions that are still to come. Standard input counts as one more while it is open,
/// so that the number becomes zero exactly once, and the thread that makes it zero notices.
#[derive(Debug)]
struct PendingReplies(AtomicI64);

impl Default for PendingReplies {
    fn default() -> PendingReplies {
        PendingReplies(AtomicI64::new(1))
    }
}

/// The kind of a line from the daemon.
enum LineKind {
    /// The answer to a request.
    Answer,
    /// The answer to a `subscribe`, which is followed by events until an `end`.
    Opened,
    /// The `end` of a subscription.
    End,
    /// Another event.
    Event,
}

impl LineKind {
    fn of(line: &[u8]) -> LineKind {
        match is_ok(line) {
            Some(true) if names_subscribe(line) => LineKind::Opened,
            Some(_) => LineKind::Answer,
            None if watch::is_end(line) => LineKind::End,
            None => LineKind::Event,
        }
    }
}

/// Whether an answer's `command`, the third field, is `subscribe`.
fn names_subscribe(line: &[u8]) -> bool {
    const FIELDS: &[u8] = b",\"ok\":true,\"command\":\"subscribe\"";
    let start = &line[..line.len().min(256)];
    start.windows(FIELDS.len()).any(|window| window == FIELDS)
}

impl PendingReplies {
    fn add_request(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn is_answered(&self) -> bool {
        self.0.load(Ordering::SeqCst) <= 1
    }

    fn stdin_ended(&self) -> bool {
        self.0.fetch_sub(1, Ordering::SeqCst) == 1
    }

    /// Counts a line; true if it was the last one.
    fn receive(&self, kind: &LineKind) -> bool {
        match kind {
            LineKind::Answer | LineKind::End => self.0.fetch_sub(1, Ordering::SeqCst) == 1,
            // The answer has arrived, and the end of the subscription is pending instead.
            LineKind::Opened | LineKind::Event => false,
        }
    }
}

fn closed() -> ClientError {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it was closed before all requests were answered").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pipe_ends_when_input_answers_and_subscriptions_have_ended() {
        let pending = PendingReplies::default();
        pending.add_request();
        pending.add_request();
        assert!(
            !pending.receive(&LineKind::of(br#"{"id":1,"ok":true,"command":"subscribe","data":{"sub":1}}"#))
        );
        assert!(!pending.receive(&LineKind::of(br#"{"id":2,"ok":false,"command":"get"}"#)));
        assert!(!pending.stdin_ended());
        assert!(!pending.receive(&LineKind::of(br#"{"sub":1,"event":"focus"}"#)));
        assert!(pending.receive(&LineKind::of(br#"{"sub":1,"event":"end","cause":"cancelled"}"#)));
    }
}
