//! Reads standard input for `-`: the commands of `ax batch -`, the text of `ax type TARGET -`.

use std::ffi::OsString;
use std::io::Read;

use axd_client::protocol::command::{ActCommand, Command, Invocation};
use axd_client::protocol::{Error, ErrorCode, MAX_REQUEST_BYTES};

use super::output::Mode;
use super::parse;

/// The argument that stands for standard input.
const STDIN: &str = "-";

/// The error of reading standard input, and the output format for it.
#[derive(Debug)]
pub struct StdinError {
    pub error: Box<Error>,
    pub mode: Option<Mode>,
}

/// Replaces the `-` of a batch by the content of standard input.
pub fn fill_in(mut args: Vec<OsString>) -> Result<Vec<OsString>, StdinError> {
    // Most command lines have no `-`.
    let Some(at) = args.iter().position(|arg| arg == STDIN) else { return Ok(args) };
    if parse::named_command(&args) == Some("batch") {
        let items = read(std::io::stdin().lock(), "a JSON list of commands")
            .map_err(|error| StdinError { error: Box::new(error), mode: parse::mode_asked(&args) })?;
        args[at] = items.into();
    }
    Ok(args)
}

/// Replaces a text that is `-` by the content of standard input, unless there is a `--`.
pub fn fill_in_text(invocation: &mut Invocation, args: &[OsString]) -> Result<(), Error> {
    if let Some(text) = stdin_text(invocation, args) {
        *text = read(std::io::stdin().lock(), "the text")?;
    }
    Ok(())
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
