//! Reads standard input for `-`: the commands of `ax batch -`, which may also be in a file, and the text of `ax type TARGET -`.

use std::ffi::OsString;
use std::io::Read;

use axd_client::protocol::command::{ActCommand, Command, Invocation};
use axd_client::protocol::{Error, ErrorCode, MAX_REQUEST_BYTES};

use super::output::Mode;
use super::{Exit, batch_lines, format, parse};

/// The argument that stands for standard input.
const STDIN: &str = "-";
/// The command that carries out several others.
const BATCH: &str = "batch";

/// The error of reading what a command line refers to, and how it is told.
#[derive(Debug)]
pub struct StdinError {
    pub error: Box<Error>,
    pub mode: Option<Mode>,
    pub exit: Exit,
}

/// Replaces the commands of a batch by a JSON list of them: `-` stands for standard input, and another word for a file, or for the
/// lines themselves.
pub fn fill_in(mut args: Vec<OsString>) -> Result<Vec<OsString>, StdinError> {
    let Some(at) = items_at(&args) else { return Ok(args) };
    let mode = format::mode_asked(&args);
    let failed = |exit: Exit| move |error: Error| StdinError { error: Box::new(error), mode, exit };
    let text = batch_text(&args[at]).map_err(failed(Exit::Failed))?;
    args[at] = batch_lines::items_of(&text).map_err(failed(Exit::Usage))?.into();
    Ok(args)
}

/// Where the commands of a batch are in a command line.
fn items_at(args: &[OsString]) -> Option<usize> {
    // Most command lines are of other commands.
    if !args.iter().any(|arg| arg == BATCH) || parse::named_command(args) != Some(BATCH) {
        return None;
    }
    let command = args.iter().position(|arg| arg == BATCH)?;
    let mut rest = args.iter().enumerate().skip(command + 1);
    loop {
        let (at, arg) = rest.next()?;
        match arg.to_str().unwrap_or_default() {
            "--help" | "-h" => return None,
            "--app" | "--socket" | "--deadline-ms" | "--platform" => drop(rest.next()),
            option if option.len() > 1 && option.starts_with('-') => {}
            _ => return Some(at),
        }
    }
}

/// What stands for the commands of a batch.
fn batch_text(word: &OsString) -> Result<String, Error> {
    const WHAT: &str = "commands, one a line, or a JSON list of them";
    if word == STDIN {
        return read(std::io::stdin().lock(), WHAT);
    }
    let text = word.to_string_lossy();
    match std::fs::File::open(word) {
        Ok(file) => read(file, WHAT),
        Err(_) if text.trim_start().starts_with('[') || text.trim().contains(char::is_whitespace) => {
            Ok(text.into_owned())
        }
        Err(fault) => {
            Err(Error::new(ErrorCode::InvalidArgs, format!("batch: {text} cannot be read: {fault}"))
                .suggest("give a file with one command a line, `-` for standard input, or a JSON list"))
        }
    }
}

/// Replaces a text that is `-` by the content of standard input, unless there is a `--`.
pub fn fill_in_text(invocation: &mut Invocation, args: &[OsString]) -> Result<(), Error> {
    if let Some(text) = stdin_text(invocation, args) {
        *text = read(std::io::stdin().lock(), "the text")?;
    }
    Ok(())
}

/// Whether a text of a command stands for standard input.
pub fn is_stdin(invocation: &mut Invocation, args: &[OsString]) -> bool {
    stdin_text(invocation, args).is_some()
}

/// The text argument of a command, if it stands for standard input.
fn stdin_text<'a>(invocation: &'a mut Invocation, args: &[OsString]) -> Option<&'a mut String> {
    let Invocation::Wire(command) = invocation else { return None };
    let text = match &mut **command {
        Command::Act(ActCommand::Type(args)) => &mut args.text.0,
        Command::Act(ActCommand::SetValue(args)) => &mut args.value.0,
        _ => return None,
    };
    let is_stdin = text == STDIN && !args.iter().any(|arg| arg == "--");
    is_stdin.then_some(text)
}

fn read(input: impl Read, what: &str) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let came = input.take(MAX_REQUEST_BYTES as u64 + 1).read_to_end(&mut bytes);
    came.map_err(|fault| {
        Error::new(ErrorCode::InvalidArgs, format!("standard input cannot be read: {fault}"))
    })?;
    if bytes.len() > MAX_REQUEST_BYTES {
        let message = format!("standard input has more than {} MiB", MAX_REQUEST_BYTES >> 20);
        return Err(Error::new(ErrorCode::PayloadTooLarge, message)
            .suggest("split it into several parts, or send many requests through `ax pipe`"));
    }
    String::from_utf8(bytes).map_err(|_| {
        Error::new(ErrorCode::InvalidArgs, "standard input is not UTF-8")
            .suggest(format!("send {what}, in UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::parse::Parsed;

    #[test]
    fn what_comes_in_is_at_most_a_request_and_is_text() {
        let read = |input: &mut dyn Read| read(input, "text");
        assert_eq!(read(&mut &b"[]"[..]).unwrap(), "[]");
        let most = vec![b' '; MAX_REQUEST_BYTES];
        assert_eq!(read(&mut &most[..]).unwrap().len(), MAX_REQUEST_BYTES);
        assert_eq!(read(&mut std::io::repeat(b' ')).unwrap_err().code, ErrorCode::PayloadTooLarge);
        assert!(read(&mut &[0xff][..]).unwrap_err().message.contains("UTF-8"));
    }

    #[test]
    fn the_commands_of_a_batch_are_found_among_its_options() {
        for (line, at) in [
            ("batch -", Some(1)),
            ("batch --app Notes - --stop-on-error", Some(3)),
            ("--json batch --stop-on-error steps.txt", Some(3)),
            ("batch --help", None),
            ("click batch", None),
        ] {
            let args: Vec<OsString> = line.split(' ').map(Into::into).collect();
            assert_eq!(items_at(&args), at, "{line}");
        }
        let text = |word: &str| batch_text(&OsString::from(word));
        assert_eq!(text("click a\nclick b").unwrap(), "click a\nclick b");
        assert_eq!(text("[]").unwrap(), "[]");
        assert!(text("no-such-file").unwrap_err().message.starts_with("batch: no-such-file cannot be read"));
    }

    #[test]
    fn a_dash_is_standard_input_only_for_a_batch_and_for_text() {
        let args: Vec<OsString> = ["screenshot", "-"].map(Into::into).to_vec();
        assert_eq!(fill_in(args.clone()).unwrap(), args);
        for (line, is_stdin) in [
            ("type textarea -", true),
            ("type -", true),
            ("type - --app Notes", true),
            ("set-value textfield:Name -", true),
            ("type textarea -- -", false),
            ("clipboard-set -", false),
        ] {
            let args: Vec<OsString> = line.split(' ').map(Into::into).collect();
            let Parsed::Run(mut invocation, _) = parse::parse(&args) else { panic!("{line}") };
            assert_eq!(stdin_text(&mut invocation, &args).is_some(), is_stdin, "{line}");
        }
    }
}
