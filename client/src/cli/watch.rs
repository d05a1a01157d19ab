//! `ax subscribe`, or `ax watch`: the stream, as it comes, until it ends or is interrupted.

use std::io::{IsTerminal, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use axd_client::protocol::command::Subscribe;
use axd_client::protocol::event::EventKind;
use axd_client::protocol::{Command, ErrorCode};
use axd_client::{Ask, ClientError, Connection, is_ok, request_line};
use nix::libc;
use nix::sys::signal::{SigSet, Signal};

use super::narrate::Narrator;
use super::output::{self, Mode, Stdout, finish};
use super::parse::Options;
use super::{Exit, ask, connect, replace_daemon};

/// Prints the stream.
pub fn run(what: Subscribe, options: &Options, mode: Mode) -> Exit {
    let attempt = |connection| match mode {
        Mode::Json => lines(connection, what.clone(), options),
        Mode::Text => narrated(connection, what.clone()),
    };
    let watched =
        end_on_interrupt().map_err(ClientError::from).and_then(|()| connect(options)).and_then(attempt);
    let watched = match watched {
        refused if is_mismatch(&refused) => match replace_daemon(options) {
            Ok(Some(connection)) => attempt(connection),
            // Not ours to replace: the daemon's own words say what to do.
            Ok(None) => refused,
            Err(fault) => Err(fault),
        },
        watched => watched,
    };
    match watched {
        Ok(Watched::Over(exit)) => exit,
        Ok(Watched::Refused(line)) => ask::print_error_line(&line, mode),
        Err(fault) => output::failure("subscribe", &fault, mode),
    }
}

/// How a stream ended, or that it did not begin.
enum Watched {
    Over(Exit),
    /// What the daemon answered instead.
    Refused(Vec<u8>),
}

fn is_mismatch(watched: &Result<Watched, ClientError>) -> bool {
    match watched {
        Ok(Watched::Refused(line)) => ask::mentions_mismatch(line),
        Err(ClientError::Daemon(error)) => error.code == ErrorCode::ProtocolMismatch,
        _ => false,
    }
}

/// From here on an interrupt ends `ax`, and well: a stream has no other end.
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

/// The daemon's lines as they are.
fn lines(mut connection: Connection, what: Subscribe, options: &Options) -> Result<Watched, ClientError> {
    let ask = Ask { deadline: options.deadline, ..Ask::default() };
    connection.send_line(&request_line(1, &Command::Subscribe(what), ask)?)?;
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
            // A reader that went away ends the stream; the error only has to stop the reading.
            if printed.is_err() { Err(std::io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
        });
        if printed.is_err() {
            return Ok(Watched::Over(finish(printed, Exit::Done)));
        }
        match start {
            _ if !came? => return Err(closed()),
            Some(Start::Refused) => return Ok(Watched::Refused(refusal)),
            Some(Start::End) => return Ok(Watched::Over(Exit::Done)),
            _ => {}
        }
    }
}

/// What the start of a line says about the whole.
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

/// For people: a line per change, with names.
fn narrated(connection: Connection, mut what: Subscribe) -> Result<Watched, ClientError> {
    // Names come from the tree, so it is asked for even if it is not to be shown; with `since` what comes first is the
    // difference, and a tree before it would swallow that.
    let changes_wanted = what.kind.is_empty() || what.kind.contains(&EventKind::Changes);
    what.snapshot |= changes_wanted && what.since.is_none();
    let whom = what.app.clone().unwrap_or_else(|| "every attached app".into());
    let subscription = connection.subscribe(what)?;
    let colour = colours();
    let (dim, plain) = if colour { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
    let mut written = Stdout.write_all(format!("{dim}watching {whom}; Ctrl-C ends it{plain}\n").as_bytes());
    let mut narrator = Narrator::new(colour);
    for push in subscription {
        if written.is_err() {
            break;
        }
        written = Stdout.write_all(narrator.tell(push?, &time_of_day()).as_bytes());
    }
    Ok(Watched::Over(finish(written, Exit::Done)))
}

/// Colours are for terminals, and for those who did not say no (<https://no-color.org>).
pub fn colours() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty())
}

/// The local time, to the millisecond.
pub fn time_of_day() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = now.as_secs() as libc::time_t;
    // SAFETY: all-zero is a valid `tm`, and both pointers are to live values of our own.
    let local = unsafe {
        let mut local: libc::tm = std::mem::zeroed();
        libc::localtime_r(&seconds, &mut local);
        local
    };
    format!("{:02}:{:02}:{:02}.{:03}", local.tm_hour, local.tm_min, local.tm_sec, now.subsec_millis())
}

fn closed() -> ClientError {
    std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "it closed in the middle of the stream").into()
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
