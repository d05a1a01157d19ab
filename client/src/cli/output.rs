//! Prints answers and errors, as JSON and as text. A closed pipe is not an error.

use std::io::{self, IsTerminal, Write};

use axd_client::ClientError;
use axd_client::protocol::command::family;
use axd_client::protocol::envelope::AnswerHead;
use axd_client::protocol::render::Render;
use axd_client::protocol::text::defuse;
use axd_client::protocol::{Error, ErrorCode, PROTOCOL_VERSION};
use serde::Serialize;

use super::Exit;
use super::parse::Usage;

/// The output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// JSON: the daemon's lines unchanged.
    Json,
    /// Text, for people and for models.
    Text,
}

impl Mode {
    /// The given format; otherwise text on a terminal and JSON elsewhere.
    pub fn of(asked: Option<Mode>) -> Mode {
        asked.unwrap_or_else(|| if io::stdout().is_terminal() { Mode::Text } else { Mode::Json })
    }
}

/// Prints remarks while something is waited for. It does so on a terminal only, because a program may take output on standard
/// error for a failure.
pub fn on_message() -> Option<fn(&str)> {
    io::stderr().is_terminal().then_some(|message| eprintln!("{message}"))
}

/// Standard output without a buffer, so that a line is written at once and with one call.
pub struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        nix::unistd::write(io::stdout(), bytes).map_err(io::Error::from)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Prints a text such as help, the version or a schema.
pub fn print_text(text: &str) -> Exit {
    finish(Stdout.write_all(text.as_bytes()), Exit::Done)
}

/// Prints an answer of `ax` itself in the form of the daemon's answers.
pub fn answer(command: &str, answer: &(impl Serialize + Render), mode: Mode, exit: Exit) -> Exit {
    let mut out = Vec::new();
    match mode {
        Mode::Json => {
            let platform = std::env::consts::OS;
            let head = AnswerHead {
                id: None,
                ok: true,
                command,
                version: PROTOCOL_VERSION,
                platform,
                clock: None,
                app: None,
            };
            head.write_data(answer, &mut out);
        }
        Mode::Text => {
            let mut text = String::new();
            answer.render(&mut text);
            out = defuse(&text).into_owned().into_bytes();
        }
    }
    finish(Stdout.write_all(&out), exit)
}

/// The exit code after a write. A closed pipe is not a failure.
pub fn finish(written: io::Result<()>, exit: Exit) -> Exit {
    match written {
        Ok(()) => exit,
        Err(fault) if fault.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
        Err(fault) => {
            eprintln!("error: cannot write the answer: {fault}");
            Exit::Failed
        }
    }
}

/// Prints what is wrong with a command line.
pub fn usage(usage: &Usage, asked: Option<Mode>) -> Exit {
    if Mode::of(asked) == Mode::Text {
        eprint!("{}", defuse(&usage.text));
        return Exit::Usage;
    }
    let known = family(&usage.command).is_some();
    let help = if known { format!("{} --help", usage.command) } else { "--help".to_owned() };
    let suggestion = usage.tip.clone().unwrap_or_else(|| format!("see `ax {help}`"));
    let error = Error::new(ErrorCode::InvalidArgs, usage.message.as_str()).suggest(suggestion).retry(help);
    finish(write_error_line(&usage.command, &error), Exit::Usage)
}

/// Prints the error for a request without an answer.
pub fn failure(command: &str, fault: &ClientError, mode: Mode) -> Exit {
    let exit = if fault.is_unavailable() { Exit::Unavailable } else { Exit::Failed };
    match mode {
        Mode::Json => finish(write_error_line(command, &fault.to_error()), exit),
        Mode::Text => {
            error_text(&fault.to_error());
            exit
        }
    }
}

/// Prints an error for people.
pub fn error_text(error: &Error) {
    let mut text = String::new();
    error.render(&mut text);
    eprint!("{}", defuse(&text));
}

/// Prints an error of the client in the form of the daemon's answers.
fn write_error_line(command: &str, error: &Error) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        id: (),
        ok: bool,
        command: &'a str,
        version: &'static str,
        error: &'a Error,
    }
    let line = Line { id: (), ok: false, command, version: PROTOCOL_VERSION, error };
    let mut bytes = serde_json::to_vec(&line)?;
    bytes.push(b'\n');
    Stdout.write_all(&bytes)
}
