//! `ax subscribe`, or `ax watch`: prints the stream until it ends or is interrupted.

use std::io::{IsTerminal, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use axd_client::protocol::command::Subscribe;
use axd_client::protocol::event::EventKind;
use axd_client::protocol::{Command, ErrorCode};
use axd_client::{ClientError, Connection, RequestOptions, is_ok, request_line};
use nix::libc;
use nix::sys::signal::{SigSet, Signal};

use super::format_event::EventFormatter;
use super::output::{self, Mode, Stdout, finish};
use super::parse::Options;
use super::{Exit, connect, replace_daemon, request};

/// Prints the stream.
pub fn run(what: Subscribe, options: &Options, mode: Mode) -> Exit {
    let attempt = |connection| match mode {
        Mode::Json => lines(connection, what.clone(), options),
        Mode::Text => formatted(connection, what.clone(), options),
    };
    let watched =
        end_on_interrupt().map_err(ClientError::from).and_then(|()| connect(options)).and_then(attempt);
    let watched = match watched {
        refused if is_mismatch(&refused) => match replace_daemon(options) {
            Ok(Some(connection)) => attempt(connection),
            // The daemon must not be replaced; its own error says what to do.
            Ok(None) => refused,
            Err(fault) => Err(fault),
        },
        watched => watched,
    };
    match watched {
        Ok(Watched::Over(exit)) => exit,
        Ok(Watched::Refused(line)) => request::print_error_line(&line, mode),
        Err(fault) => output::failure("subscribe", &fault, mode),
    }
}

/// The end of a stream, or the error instead of one.
enum Watched {
    Over(Exit),
    /// The daemon's error answer.
    Refused(Vec<u8>),
}

fn is_mismatch(watched: &Result<Watched, ClientError>) -> bool {
    match watched {
        Ok(Watched::Refused(line)) => request::mentions_mismatch(line),
        Err(ClientError::Daemon(error)) => error.code == ErrorCode::ProtocolMismatch,
        _ => false,
    }
}

/// Makes an interrupt end `ax` with success, because that is the usual way to end a stream.
pub fn end_on_interrupt() -> std::io::Result<()> {
    let interrupt = SigSet::from(Signal::SIGINT);
    interrupt.thread_block()?;
    std::thread::Builder::new().name("interrupt".into()).spawn(move || {
        if interrupt.wait().is_ok() {
            std::process::exit(Exit::Done as i32);
        }
    })?;
    Ok(())
}

/// Prints the daemon's lines unchanged.
fn lines(mut connection: Connection, what: Subscribe, options: &Options) -> Result<Watched, ClientError> {
    let request = RequestOptions { deadline: options.deadline, ..RequestOptions::default() };
    connection.check_liveness(&options.socket())?;
    connection.send_line(&request_line(1, &Command::Subscribe(what), request)?)?;
    loop {
        let mut start = None;
        let mut refusal = Vec::new();
        let mut printed = Ok(());
        let came = connection.stream_line(|piece| {
            if let Start::Refused = start.get_or_insert_with(|| Start::of(piece)) {
                refusal.extend_from_slice(piece);
                return Ok(());
            }
            printed = Stdout.write_all(piece);
            // A closed pipe ends the stream; the error only stops the reading.
            if printed.is_err() { Err(std::io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
        });
        if printed.is_err() {
            return Ok(Watched::Over(finish(printed, Exit::Done)));
        }
        match start {
            _ if !came? => return Err(closed()),
            Some(Start::Refused) => return Ok(Watched::Refused(refusal)),
            Some(Start::End) => return Ok(Watched::Over(Exit::Done)),
            // A stream may be silent for as long as nothing changes.
            _ => connection.trust_liveness()?,
        }
    }
}

/// The kind of a line, from its start.
enum Start {
    Refused,
    End,
    Other,
}

impl Start {
    fn of(piece: &[u8]) -> Start {
        if is_ok(piece) == Some(false) {
            Start::Refused
        } else if is_end(piece) {
            Start::End
        } else {
            Start::Other
        }
    }
}

/// Whether a line is the last event of a subscription: `{"sub":3,"event":"end"…`.
pub fn is_end(line: &[u8]) -> bool {
    line.strip_prefix(b"{\"sub\":").is_some_and(|rest| {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        rest[digits..].starts_with(b",\"event\":\"end\"")
    })
}

/// Prints a line per change, with the names of elements.
fn formatted(
    mut connection: Connection,
    mut what: Subscribe,
    options: &Options,
) -> Result<Watched, ClientError> {
    // The tree is needed for names, so it is requested even if it is not shown. With `since` it is not, because a tree would
    // replace the difference.
    let changes_wanted = what.kind.is_empty() || what.kind.contains(&EventKind::Changes);
    what.snapshot |= changes_wanted && what.since.is_none();
    let whom = what.app.clone().unwrap_or_else(|| "every attached app".into());
    connection.check_liveness(&options.socket())?;
    let subscription = connection.subscribe(what)?;
    let colour = colours();
    let (dim, plain) = if colour { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
    let mut written = Stdout.write_all(format!("{dim}watching {whom}; Ctrl-C ends it{plain}\n").as_bytes());
    let mut formatter = EventFormatter::new(colour);
    for push in subscription {
        if written.is_err() {
            break;
        }
        written = Stdout.write_all(formatter.format(push?, &time_of_day()).as_bytes());
    }
    Ok(Watched::Over(finish(written, Exit::Done)))
}

/// Whether to use colours: on a terminal, unless `NO_COLOR` is set (<https://no-color.org>).
pub fn colours() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty())
}

/// The local time, to the millisecond.
pub fn time_of_day() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = now.as_secs() as libc::time_t;
    // SAFETY: an all-zero `tm` is valid, and both pointers are to live local values.
    let local = unsafe {
        let mut local: libc::tm = std::mem::zeroed();
        libc::localtime_r(&seconds, &mut local);
        local
    };
    format!("{:02}:{:02}:{:02}.{:03}", local.tm_hour, local.tm_min, local.tm_sec, now.subsec_millis())
}

fn closed() -> ClientError {
    std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "it was closed before the stream ended").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_event_is_known_by_its_start() {
        assert!(is_end(br#"{"sub":12,"event":"end","cause":"shutdown"}"#));
        assert!(!is_end(br#"{"sub":12,"event":"focus","text":"\"event\":\"end\""}"#));
        assert!(!is_end(br#"{"id":1,"ok":true}"#));
    }
}
