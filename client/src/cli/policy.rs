//! `ax policy`: asks the daemon what is allowed, and has `axd` check a policy file without a daemon.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;

use axd_client::ClientError;
use axd_client::protocol::command::{
    BatchItem, Command, Invocation, Policy, PolicyAction, PolicyCheck, PolicyShow, PolicyTestAnswer,
};
use axd_client::protocol::{Error, ErrorCode};

use super::output::{self, Mode};
use super::parse::{self, Options, Parsed, Usage};
use super::{Exit, request};

/// Runs an action of `ax policy`.
pub fn run(what: Policy, options: &Options, mode: Mode) -> Exit {
    match (what.action, what.subject) {
        (PolicyAction::Show, None) => request::run(Command::PolicyShow(PolicyShow {}), options, mode),
        (PolicyAction::Show, Some(_)) => output::usage(&usage("`show` takes nothing more"), Some(mode)),
        (PolicyAction::Check, None) => {
            let usage = usage("`check` needs a command in quotes, as in 'click button:Pay --app Bank'");
            output::usage(&usage, Some(mode))
        }
        (PolicyAction::Check, Some(line)) => match nested(&line) {
            Ok(request) => {
                let (client, agent, window) = (what.client, what.agent, what.window);
                let check = PolicyCheck { request, client, agent, window };
                request::run(Command::PolicyCheck(check), options, mode)
            }
            Err(usage) => output::usage(&usage, Some(mode)),
        },
        (PolicyAction::Test, file) => {
            match test(file.map_or_else(|| axd_client::paths().config, PathBuf::from)) {
                Ok(answer) => {
                    let exit = if answer.valid { Exit::Done } else { Exit::Usage };
                    output::answer("policy", &answer, mode, exit)
                }
                Err(error) => output::failure("policy", &ClientError::from(error), mode),
            }
        }
    }
}

fn usage(message: &str) -> Usage {
    let text = format!("error: {message}\n\nFor more information, try 'ax policy --help'.\n");
    Usage { command: "policy".to_owned(), text, message: message.to_owned(), tip: None }
}

/// The command that a line of words stands for, as `ax` itself would read it.
fn nested(line: &str) -> Result<BatchItem, Usage> {
    let words = split(line).map_err(|fault| usage(&fault))?;
    let words = words.strip_prefix(&["ax".to_owned()]).unwrap_or(&words);
    let args: Vec<OsString> = words.iter().map(OsString::from).collect();
    match parse::parse(&args) {
        Parsed::Run(invocation, _) => match *invocation {
            Invocation::Wire(command) => {
                let args = command.args().map_err(|fault| usage(&fault.to_string()))?;
                Ok(BatchItem { command: command.name().to_owned(), args: Some(args) })
            }
            _ => {
                Err(usage(&format!("{} runs without the daemon, which no policy is about", words.join(" "))))
            }
        },
        Parsed::Text(_) => Err(usage(&format!("'{line}' asks for help; give a command"))),
        Parsed::Usage(usage) => Err(usage),
    }
}

/// Divides a line into words as a shell does: by spaces, unless they are in quotes or behind a backslash.
fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', None | Some('"')) => {
                let next = characters.next().ok_or("the command ends with a backslash")?;
                word.get_or_insert_default().push(next);
            }
            (mark, Some(open)) if mark == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (space, None) if space.is_whitespace() => words.extend(word.take()),
            (other, _) => word.get_or_insert_default().push(other),
        }
    }
    if let Some(open) = quote {
        return Err(format!("the command has a {open} without its end"));
    }
    words.extend(word);
    Ok(words)
}

/// Has `axd` check a file: it is the one that reads it.
fn test(file: PathBuf) -> Result<PolicyTestAnswer, Error> {
    let unavailable = |message: String| Error::new(ErrorCode::DaemonUnavailable, message);
    let program = axd_client::find_daemon().ok_or_else(|| {
        unavailable("axd not found".to_owned())
            .suggest("install it beside ax, put it on the PATH, or set AXD_BIN")
    })?;
    let output = std::process::Command::new(&program)
        .arg("--policy-test")
        .arg(&file)
        .stdin(Stdio::null())
        .output()
        .map_err(|fault| unavailable(format!("{} cannot be run: {fault}", program.display())))?;
    serde_json::from_slice(&output.stdout).map_err(|_| {
        let said = String::from_utf8_lossy(&output.stderr);
        unavailable(format!("{}: {}", program.display(), said.trim())).suggest("install axd and ax together")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(line: &str) -> String {
        serde_json::to_string(&nested(line).unwrap()).unwrap()
    }

    #[test]
    fn a_line_of_words_becomes_the_command_that_ax_would_send() {
        assert_eq!(
            request("click button:Pay --app Bank"),
            r#"{"command":"click","args":{"target":"button:Pay","app":"Bank"}}"#
        );
        assert_eq!(request("ax press ctrl+w"), r#"{"command":"press","args":{"combo":"ctrl+w"}}"#);
        assert_eq!(
            request(r#"click 'button:"Pay now"' --app "My Bank""#),
            r#"{"command":"click","args":{"target":"button:\"Pay now\"","app":"My Bank"}}"#
        );
    }

    #[test]
    fn words_are_divided_as_a_shell_divides_them() {
        assert_eq!(split(r#" a  'b c' "d \" e" f\ g "" "#).unwrap(), ["a", "b c", "d \" e", "f g", ""]);
        assert!(split("a 'b").unwrap_err().contains("without its end"));
        assert!(split("a \\").is_err());
    }

    #[test]
    fn what_is_no_command_for_the_daemon_is_told() {
        let message = |line: &str| nested(line).unwrap_err().message;
        assert!(message("clik x").contains("clik"));
        assert!(message("demo").contains("without the daemon"));
        assert!(message("click --help").contains("asks for help"));
        assert!(message("").contains("command is missing"));
    }
}
