//! Printing: answers and errors, in JSON and in text; and a reader that goes away is not an error.

use std::io::{self, IsTerminal, Write};

use axd_client::ClientError;
use axd_client::protocol::command::family;
use axd_client::protocol::envelope::AnswerHead;
use axd_client::protocol::render::Render;
use axd_client::protocol::{Error, ErrorCode, PROTOCOL_VERSION};
use serde::Serialize;

use super::Exit;
use super::parse::Usage;

/// The form of what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The daemon's lines as they are.
    Json,
    /// For people, and for models that pay by the token.
    Text,
}

impl Mode {
    /// What was asked for; else text on a terminal, JSON for programs.
    pub fn of(asked: Option<Mode>) -> Mode {
        asked.unwrap_or_else(|| if io::stdout().is_terminal() { Mode::Text } else { Mode::Json })
    }
}

/// Standard output without a buffer: what is written is out, and a whole line is one write.
pub struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        nix::unistd::write(io::stdout(), bytes).map_err(io::Error::from)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Prints help, a version, a schema.
pub fn plain(text: &str) -> Exit {
    finish(Stdout.write_all(text.as_bytes()), Exit::Done)
}

/// Prints what `ax` found out by itself, as the daemon would answer it.
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
            out = text.into_bytes();
        }
    }
    finish(Stdout.write_all(&out), exit)
}

/// How a write ended: a reader that has seen enough is no failure.
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
        eprint!("{}", usage.text);
        return Exit::Usage;
    }
    let known = family(&usage.command).is_some();
    let help = if known { format!("{} --help", usage.command) } else { "--help".to_owned() };
    let suggestion = usage.tip.clone().unwrap_or_else(|| format!("see `ax {help}`"));
    let error = Error::new(ErrorCode::InvalidArgs, usage.message.as_str()).suggest(suggestion).retry(help);
    finish(write_error_line(&usage.command, &error), Exit::Usage)
}

/// Prints why there is no answer.
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
    eprint!("{text}");
}

/// An error of the client's own, in the form of the daemon's.
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
