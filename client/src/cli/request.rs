//! One request and one answer, which is what most commands of `ax` do.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use axd_client::protocol::command::{Command, CommandKind};
use axd_client::protocol::error::{Delivery, Disposition};
use axd_client::protocol::text::defuse;
use axd_client::protocol::{Answer, ErrorCode, Format};
use axd_client::{ClientError, Connection, RequestOptions, is_ok, request_line};

use super::image_output::{self, ImageOutput};
use super::output::{self, Mode, Stdout};
use super::parse::Options;
use super::{Exit, connect, doctor, replace_daemon};

/// The time within which a daemon that runs is connected to.
const AT_ONCE: Duration = Duration::from_millis(10);

/// Sends the command and prints the answer.
pub fn run(mut command: Command, options: &Options, mode: Mode) -> Exit {
    let output_to = match image_output::prepare(&mut command) {
        Ok(output_to) => output_to,
        Err(usage) => return output::usage(&usage, Some(mode)),
    };
    // If the image goes to standard output, nothing else may be printed there.
    let mode = if matches!(output_to, Some(ImageOutput::Stdout)) { Mode::Text } else { mode };
    let (command, output_to) = (&command, output_to.as_ref());
    let mut options = options.clone();
    // There is no point in starting a daemon in order to stop it.
    options.no_autostart |= matches!(command, Command::Shutdown(_));
    let mut request = RequestOptions { deadline: options.deadline, ..RequestOptions::default() };
    if mode == Mode::Text && output_to.is_none() {
        request.format = Format::Text;
    }
    if matches!(command, Command::Shutdown(_) | Command::Status(_) | Command::Version(_)) {
        // These commands must work with a daemon of another protocol version, to identify and stop it.
        request.protocol = None;
    }
    let begun = Instant::now();
    let asked = connect(&options).and_then(|mut connection| {
        request.deadline = remaining(&options, begun)?;
        if request.deadline.is_none() {
            connection.check_liveness(&options.socket())?;
        }
        exchange(&mut connection, command, request, output_to, mode)
    });
    let asked = match asked {
        Ok(Outcome::Mismatch(line)) => match replace_daemon(&options) {
            Ok(Some(mut connection)) => exchange(&mut connection, command, request, output_to, mode),
            // The daemon must not be replaced; its own error says what to do.
            Ok(None) => return print_error_line(&line, mode),
            Err(fault) => Err(fault),
        },
        asked => asked,
    };
    if matches!((command, &asked), (Command::Shutdown(_), Ok(Outcome::Printed(Exit::Done)))) {
        // The next command must not reach the old daemon. If it takes long to stop, that is not an error.
        let _ = axd_client::wait_until_stopped(&options.socket());
    }
    match asked {
        Ok(Outcome::Printed(exit)) => exit,
        Ok(Outcome::Mismatch(line)) => print_error_line(&line, mode),
        Err(fault) if fault.is_unavailable() && matches!(command, Command::Doctor(_)) => {
            doctor::run(&fault, &options, mode)
        }
        Err(fault) => output::failure(command.name(), &with_retry_safety(fault, command), mode),
    }
}

/// What starting the daemon left of the deadline.
fn remaining(options: &Options, begun: Instant) -> Result<Option<Duration>, ClientError> {
    let Some(deadline) = options.deadline else { return Ok(None) };
    // A daemon that was there already has the whole time.
    if begun.elapsed() < AT_ONCE {
        return Ok(Some(deadline));
    }
    match deadline.saturating_sub(begun.elapsed()) {
        Duration::ZERO if deadline > Duration::ZERO => Err(ClientError::StartTimeout {
            tried: options.socket(),
            message: format!("it is ready now, after {} ms", begun.elapsed().as_millis()),
        }),
        // The daemon counts in milliseconds.
        left => Ok(Some(left.max(Duration::from_millis(1).min(deadline)))),
    }
}

enum Outcome {
    Printed(Exit),
    /// The answer of a daemon that uses another protocol version.
    Mismatch(Vec<u8>),
}

/// Sends the request and prints the answer piece by piece as it arrives. Errors are buffered, because a protocol mismatch is
/// not printed but handled.
fn exchange(
    connection: &mut Connection,
    command: &Command,
    request: RequestOptions,
    output_to: Option<&ImageOutput>,
    mode: Mode,
) -> Result<Outcome, ClientError> {
    if request.deadline.is_some() {
        connection.stream().set_read_timeout(request.read_timeout())?;
    }
    connection.send_line(&request_line(1, command, request)?)?;
    let mut buffered = Vec::new();
    let mut ok = None;
    let mut printed = Ok(());
    let came = connection.stream_line(|piece| {
        let ok = *ok.get_or_insert_with(|| is_ok(piece).unwrap_or(false));
        if ok && mode == Mode::Json && output_to.is_none() {
            // After a failed write the rest of this buffer is discarded.
            if printed.is_ok() {
                printed = Stdout.write_all(piece);
            }
            if printed.is_err() {
                return Err(std::io::ErrorKind::BrokenPipe.into());
            }
        } else {
            buffered.extend_from_slice(piece);
        }
        Ok(())
    });
    if printed.is_err() {
        return Ok(Outcome::Printed(output::finish(printed, Exit::Done)));
    }
    if !came? {
        let closed =
            std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "it was closed without an answer");
        return Err(closed.into());
    }
    if ok == Some(false) {
        return if mentions_mismatch(&buffered) {
            Ok(Outcome::Mismatch(buffered))
        } else {
            Ok(Outcome::Printed(print_error_line(&buffered, mode)))
        };
    }
    if let Some(output_to) = output_to {
        return Ok(Outcome::Printed(output_to.write(&buffered, mode)));
    }
    match mode {
        Mode::Json => Ok(Outcome::Printed(Exit::Done)),
        Mode::Text => {
            let answer: Answer<'_> = read(&buffered)?;
            let mut text = answer.text.unwrap_or_default().into_owned();
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            // Only the clipboard's text is passed on as it is, and only to a pipe or a file: a daemon of another version may not
            // have escaped what apps say.
            let is_raw = matches!(command, Command::ClipboardGet(_)) && !std::io::stdout().is_terminal();
            let text = if is_raw { text.as_str().into() } else { defuse(&text) };
            Ok(Outcome::Printed(output::print_text(&text)))
        }
    }
}

/// Prints an answer with `"ok":false`.
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

/// Whether a line is the answer of a daemon that uses another protocol version.
pub fn mentions_mismatch(line: &[u8]) -> bool {
    read(line).is_ok_and(|answer| answer.error.is_some_and(|error| error.code == ErrorCode::ProtocolMismatch))
}

pub fn read(line: &[u8]) -> Result<Answer<'_>, ClientError> {
    serde_json::from_slice(line).map_err(|fault| ClientError::Protocol(fault.to_string()))
}

/// Marks the error of a lost answer as safe to retry if the command only reads. Of other commands it is unknown whether they
/// were executed.
fn with_retry_safety(fault: ClientError, command: &Command) -> ClientError {
    if fault.is_unavailable() || command.kind() != CommandKind::Reads {
        return fault;
    }
    let mut error = fault.to_error();
    error.disposition = Disposition::of(Delivery::NotDelivered);
    ClientError::Daemon(error)
}
