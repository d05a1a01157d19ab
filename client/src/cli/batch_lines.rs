//! A batch in the words of the command line: one command a line, as it is typed after `ax`. It becomes the JSON list that the daemon
//! takes.

use std::ffi::OsString;

use axd_client::protocol::command::{BatchItem, Invocation};
use axd_client::protocol::{Error, ErrorCode};

use super::parse::{self, Options, Parsed};
use super::{image_output, stdin};

/// The items of a batch as JSON: the text itself if it is JSON, else a command of each line.
pub fn items_of(text: &str) -> Result<String, Error> {
    if text.trim_start().starts_with(['[', '{']) {
        return Ok(text.to_owned());
    }
    let lines = text.lines().enumerate().filter_map(|(at, line)| {
        let line = line.trim();
        let is_command = !line.is_empty() && !line.starts_with('#');
        is_command.then(|| item(line).map_err(|error| at_line(at + 1, error)))
    });
    let items: Vec<BatchItem> = lines.collect::<Result<_, _>>()?;
    // Strings and raw JSON always serialize.
    Ok(serde_json::to_string(&items).unwrap_or_default())
}

/// The command of a line.
fn item(line: &str) -> Result<BatchItem, Error> {
    let mut words = words(line)?;
    if words.first().is_some_and(|word| word == "ax") {
        words.remove(0);
    }
    if words.first().is_some_and(|word| word == "batch") {
        return Err(invalid("batch cannot be part of a batch"));
    }
    let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let (mut invocation, options) = match parse::parse(&words) {
        Parsed::Run(invocation, options) => (*invocation, options),
        Parsed::Text(_) => return Err(invalid("this prints a help and is no command for a batch")),
        Parsed::Usage(usage) => {
            let error = invalid(&usage.message);
            return Err(usage.tip.into_iter().fold(error, Error::suggest));
        }
    };
    if options != (Options { mode: options.mode, no_autostart: options.no_autostart, ..Options::default() }) {
        return Err(invalid("--socket, --platform and --deadline-ms belong after `ax batch`, not in a line"));
    }
    if stdin::is_stdin(&mut invocation, &words) {
        return Err(invalid("`-` cannot stand for standard input in a batch; write the text itself"));
    }
    let Invocation::Wire(mut command) = invocation else {
        return Err(invalid("ax runs this command without the daemon, so it cannot be part of a batch"));
    };
    match image_output::prepare(&mut command) {
        Ok(None) => {}
        Ok(Some(_)) => {
            return Err(invalid("a batch writes no files")
                .suggest("leave the file out, or run this command by itself"));
        }
        Err(usage) => return Err(invalid(&usage.message)),
    }
    let args = command.args().map_err(|fault| invalid(&fault.to_string()))?;
    Ok(BatchItem { command: command.name().to_owned(), args: Some(args) })
}

fn invalid(message: &str) -> Error {
    Error::new(ErrorCode::InvalidArgs, message)
}

fn at_line(number: usize, error: Error) -> Error {
    Error { message: format!("line {number}: {}", error.message), ..error }
}

/// The words of a line, as a shell has them, with one difference: quotes in the middle of a word stay, because selectors are written so
/// (`button:"Save As"`).
fn words(line: &str) -> Result<Vec<String>, Error> {
    let mut words = Vec::new();
    let mut chars = line.chars().peekable();
    loop {
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        let Some(first) = chars.peek().copied() else { return Ok(words) };
        let mut word = String::new();
        let is_quoted = matches!(first, '"' | '\'');
        while let Some(c) = chars.next_if(|c| !c.is_whitespace()) {
            match c {
                '"' | '\'' => {
                    // The value of an option is a word of its own: --window="Save As".
                    let stays = !is_quoted && !word.starts_with("--");
                    let text = quoted(c, stays, &mut chars)
                        .ok_or_else(|| invalid(&format!("the quote {c} has no end: {line}")))?;
                    word.push_str(&text);
                }
                '\\' => word.extend(chars.next()),
                c => word.push(c),
            }
        }
        words.push(word);
    }
}

/// The text up to the end of a quote, with the quotes and escapes if they are to stay.
fn quoted(quote: char, stays: bool, chars: &mut impl Iterator<Item = char>) -> Option<String> {
    let mut text = if stays { quote.to_string() } else { String::new() };
    loop {
        match chars.next()? {
            c if c == quote => {
                text.extend(stays.then_some(quote));
                return Some(text);
            }
            '\\' if quote == '"' => match chars.next()? {
                c if stays || !matches!(c, '"' | '\\') => text.extend(['\\', c]),
                c => text.push(c),
            },
            c => text.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[&str]) {
        assert_eq!(words(line).unwrap(), expected, "{line}");
    }

    #[test]
    fn a_line_has_the_words_that_a_shell_would_find() {
        check("click button:Save", &["click", "button:Save"]);
        check("  type  textfield:Name  'Ada Lovelace' ", &["type", "textfield:Name", "Ada Lovelace"]);
        check(r#"type "say \"hi\" \n" x\ y ''"#, &["type", r#"say "hi" \n"#, "x y", ""]);
        check(r#"click 'button:"Save As"'"#, &["click", r#"button:"Save As""#]);
        check(r#"click button:"Save As""#, &["click", r#"button:"Save As""#]);
        check(r#"click --window="Save As" x"#, &["click", "--window=Save As", "x"]);
        assert!(words("type 'open").unwrap_err().message.contains("has no end"));
    }

    #[test]
    fn lines_become_the_list_that_the_daemon_takes() {
        let json = items_of(
            "# a comment\nclick togglebutton:1\n\nax press ctrl+s --app Notes\nset-value slider:Volume 30\n",
        );
        assert_eq!(
            json.unwrap(),
            r#"[{"command":"click","args":{"target":"togglebutton:1"}},{"command":"press","args":{"combo":"ctrl+s","app":"Notes"}},{"command":"set-value","args":{"target":"slider:Volume","value":"30"}}]"#
        );
        assert_eq!(items_of(" [1]").unwrap(), " [1]");
    }

    #[test]
    fn an_error_names_the_line() {
        for (text, message) in [
            ("look\nclik button", "line 2: unrecognized subcommand 'clik'"),
            ("\nclick", "line 2: the following required arguments were not provided"),
            ("type textfield -", "line 1: `-` cannot stand for standard input"),
            ("click a --socket /x", "line 1: --socket, --platform"),
            ("schema", "line 1: ax runs this command without the daemon"),
            ("click --help", "line 1: this prints a help"),
            ("screenshot shot.png", "line 1: a batch writes no files"),
        ] {
            let error = items_of(text).unwrap_err();
            assert!(error.message.starts_with(message), "{text}: {}", error.message);
        }
    }
}
