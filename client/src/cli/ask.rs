//! One request, one answer: what almost every `ax` does.

use std::io::Write;

use axd_client::protocol::command::{Command, Family, family};
use axd_client::protocol::error::{Delivery, Disposition};
use axd_client::protocol::{Answer, ErrorCode, Format};
use axd_client::{Ask, ClientError, Connection, is_ok, request_line};

use super::keep::{self, Keep};
use super::output::{self, Mode, Stdout};
use super::parse::Options;
use super::{Exit, connect, doctor, replace_daemon};

/// Asks and prints the answer.
pub fn run(mut command: Command, options: &Options, mode: Mode) -> Exit {
    let keep = match keep::prepare(&mut command) {
        Ok(keep) => keep,
        Err(usage) => return output::usage(&usage, Some(mode)),
    };
    // Where a picture goes nothing else does.
    let mode = if matches!(keep, Some(Keep::Stdout)) { Mode::Text } else { mode };
    let (command, keep) = (&command, keep.as_ref());
    let mut options = options.clone();
    // To start a daemon in order to stop it helps nobody.
    options.no_autostart |= matches!(command, Command::Shutdown(_));
    let mut ask = Ask { deadline: options.deadline, ..Ask::default() };
    if mode == Mode::Text && keep.is_none() {
        ask.format = Format::Text;
    }
    if matches!(command, Command::Shutdown(_) | Command::Status(_) | Command::Version(_)) {
        // With these one finds out about, and gets rid of, a daemon of another major.
        ask.protocol = None;
    }
    let asked =
        connect(&options).and_then(|mut connection| exchange(&mut connection, command, ask, keep, mode));
    let asked = match asked {
        Ok(Outcome::Mismatch(line)) => match replace_daemon(&options) {
            Ok(Some(mut connection)) => exchange(&mut connection, command, ask, keep, mode),
            // Not ours to replace: the daemon's own words say what to do.
            Ok(None) => return print_error_line(&line, mode),
            Err(fault) => Err(fault),
        },
        asked => asked,
    };
    if matches!((command, &asked), (Command::Shutdown(_), Ok(Outcome::Printed(Exit::Done)))) {
        // What is typed next is to find no daemon, or a new one. That this one takes long is no reason to fail.
        let _ = axd_client::await_end(&options.socket());
    }
    match asked {
        Ok(Outcome::Printed(exit)) => exit,
        Ok(Outcome::Mismatch(line)) => print_error_line(&line, mode),
        Err(fault) if fault.is_unavailable() && matches!(command, Command::Doctor(_)) => {
            doctor::run(&fault, &options, mode)
        }
        Err(fault) => output::failure(command.name(), &weighed(fault, command), mode),
    }
}

enum Outcome {
    Printed(Exit),
    /// The daemon speaks another major; what it answered.
    Mismatch(Vec<u8>),
}

/// Sends the request and prints what comes, piece by piece as it comes. Only an error is held back until it is whole,
/// because one of them is not for printing.
fn exchange(
    connection: &mut Connection,
    command: &Command,
    ask: Ask,
    keep: Option<&Keep>,
    mode: Mode,
) -> Result<Outcome, ClientError> {
    if ask.deadline.is_some() {
        connection.stream().set_read_timeout(ask.patience())?;
    }
    connection.send_line(&request_line(1, command, ask)?)?;
    let mut held = Vec::new();
    let mut ok = None;
    let mut printed = Ok(());
    let came = connection.stream_line(|piece| {
        let ok = *ok.get_or_insert_with(|| is_ok(piece).unwrap_or(false));
        if ok && mode == Mode::Json && keep.is_none() {
            // After a failed write the rest is still read to the end of the loop's turn, and thrown away.
            if printed.is_ok() {
                printed = Stdout.write_all(piece);
            }
            if printed.is_err() {
                return Err(std::io::ErrorKind::BrokenPipe.into());
            }
        } else {
            held.extend_from_slice(piece);
        }
        Ok(())
    });
    if printed.is_err() {
        return Ok(Outcome::Printed(output::finish(printed, Exit::Done)));
    }
    if !came? {
        let closed = std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "it closed without an answer");
        return Err(closed.into());
    }
    if ok == Some(false) {
        return if mentions_mismatch(&held) {
            Ok(Outcome::Mismatch(held))
        } else {
            Ok(Outcome::Printed(print_error_line(&held, mode)))
        };
    }
    if let Some(keep) = keep {
        return Ok(Outcome::Printed(keep.put(&held, mode)));
    }
    match mode {
        Mode::Json => Ok(Outcome::Printed(Exit::Done)),
        Mode::Text => {
            let answer: Answer<'_> = read(&held)?;
            let mut text = answer.text.unwrap_or_default().into_owned();
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            Ok(Outcome::Printed(output::plain(&text)))
        }
    }
}

/// Prints an answer that says `"ok":false`.
pub fn print_error_line(line: &[u8], mode: Mode) -> Exit {
    match mode {
        Mode::Json => output::finish(Stdout.write_all(line), Exit::Failed),
        Mode::Text => {
            match read(line).map(|answer| answer.error) {
                Ok(Some(error)) => output::error_text(&error),
                Ok(None) => eprintln!("error: axd answered with neither success nor an error"),
                Err(fault) => output::error_text(&fault.to_error()),
            }
            Exit::Failed
        }
    }
}

/// Whether a line is the answer of a daemon that speaks another major.
pub fn mentions_mismatch(line: &[u8]) -> bool {
    read(line).is_ok_and(|answer| answer.error.is_some_and(|error| error.code == ErrorCode::ProtocolMismatch))
}

pub fn read(line: &[u8]) -> Result<Answer<'_>, ClientError> {
    serde_json::from_slice(line).map_err(|fault| ClientError::Protocol(fault.to_string()))
}

/// A question whose answer was lost may be asked again; of anything else nobody knows whether it was done.
fn weighed(fault: ClientError, command: &Command) -> ClientError {
    if fault.is_unavailable() || family(command.name()) != Some(Family::Observe) {
        return fault;
    }
    let mut error = fault.to_error();
    error.disposition = Disposition::of(Delivery::NotDelivered);
    ClientError::Daemon(error)
}
