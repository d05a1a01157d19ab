//! `ax pipe`: lines from standard input to the daemon, its lines to standard output, both ways at once.

use std::io::{self, BufRead, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axd_client::{ClientError, is_ok};

use super::output::{self, Mode, Stdout, finish};
use super::parse::Options;
use super::{Exit, connect, watch};

/// Forwards until standard input has ended and everything asked has been answered. Subscriptions that are still open
/// then go on, until they end or `ax` is interrupted.
pub fn run(options: &Options, mode: Mode) -> Exit {
    forward(options).unwrap_or_else(|fault| output::failure("pipe", &fault, mode))
}

fn forward(options: &Options) -> Result<Exit, ClientError> {
    watch::end_on_interrupt()?;
    let mut connection = connect(options)?;
    let debt = Arc::new(Debt::default());
    let writer = connection.stream().try_clone()?;
    let owed = Arc::clone(&debt);
    // Not joined: it may sit in a read of standard input that never ends, and dies with the process.
    std::thread::Builder::new().name("stdin".into()).spawn(move || send_stdin(writer, &owed))?;
    loop {
        let mut settled = None;
        let mut printed = Ok(());
        let came = connection.stream_line(|piece| {
            settled.get_or_insert_with(|| Settled::by(piece));
            printed = Stdout.write_all(piece);
            if printed.is_err() { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
        });
        if printed.is_err() {
            return Ok(finish(printed, Exit::Done));
        }
        if !came? {
            return if debt.is_paid() { Ok(Exit::Done) } else { Err(closed()) };
        }
        if settled.is_some_and(|settled| debt.settle(&settled)) {
            return Ok(Exit::Done);
        }
    }
}

fn send_stdin(mut socket: std::os::unix::net::UnixStream, debt: &Debt) {
    let mut stdin = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        match stdin.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            // An empty line is no request, and gets no answer.
            Ok(_) if line.trim_ascii().is_empty() => continue,
            Ok(_) => {}
        }
        if line.last() != Some(&b'\n') {
            line.push(b'\n');
        }
        debt.owe();
        if socket.write_all(&line).is_err() {
            // The daemon is gone; the reading side learns of it by itself.
            return;
        }
    }
    // If nothing is owed the reading side waits for a line that will not come; closing both ways wakes it with an end.
    // Otherwise the daemon learns that no more will come, and goes on answering. A socket that is closed already says so
    // here, and to the reading side.
    let _ = socket.shutdown(if debt.stdin_ended() { Shutdown::Both } else { Shutdown::Write });
}

/// What the daemon still has to say: answers to requests, and the ends of subscriptions. Standard input, as long as it
/// is open, counts as one more, so that the sum is zero exactly once, and whoever makes it zero knows.
#[derive(Debug)]
struct Debt(AtomicI64);

impl Default for Debt {
    fn default() -> Debt {
        Debt(AtomicI64::new(1))
    }
}

/// What a line settles.
enum Settled {
    /// It answers a request.
    Answer,
    /// It answers a request, and more is to follow until an `end`.
    Opened,
    /// It is that `end`.
    End,
    /// It is an event.
    Nothing,
}

impl Settled {
    fn by(line: &[u8]) -> Settled {
        match is_ok(line) {
            Some(true) if names_subscribe(line) => Settled::Opened,
            Some(_) => Settled::Answer,
            None if watch::is_end(line) => Settled::End,
            None => Settled::Nothing,
        }
    }
}

/// Whether an answer's `command`, the third field, is `subscribe`.
fn names_subscribe(line: &[u8]) -> bool {
    const FIELDS: &[u8] = b",\"ok\":true,\"command\":\"subscribe\"";
    let start = &line[..line.len().min(256)];
    start.windows(FIELDS.len()).any(|window| window == FIELDS)
}

impl Debt {
    fn owe(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn is_paid(&self) -> bool {
        self.0.load(Ordering::SeqCst) <= 1
    }

    fn stdin_ended(&self) -> bool {
        self.0.fetch_sub(1, Ordering::SeqCst) == 1
    }

    /// Whether that was the last of it.
    fn settle(&self, settled: &Settled) -> bool {
        match settled {
            Settled::Answer | Settled::End => self.0.fetch_sub(1, Ordering::SeqCst) == 1,
            // The answer is in, the end is owed instead.
            Settled::Opened | Settled::Nothing => false,
        }
    }
}

fn closed() -> ClientError {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it closed before everything was answered").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_said_when_input_has_ended_and_answers_and_ends_are_in() {
        let debt = Debt::default();
        debt.owe();
        debt.owe();
        assert!(!debt.settle(&Settled::by(br#"{"id":1,"ok":true,"command":"subscribe","data":{"sub":1}}"#)));
        assert!(!debt.settle(&Settled::by(br#"{"id":2,"ok":false,"command":"get"}"#)));
        assert!(!debt.stdin_ended());
        assert!(!debt.settle(&Settled::by(br#"{"sub":1,"event":"focus"}"#)));
        assert!(debt.settle(&Settled::by(br#"{"sub":1,"event":"end","cause":"cancelled"}"#)));
    }
}
