//! In which format answers are printed: as an option says, else the environment, else as the command has it.

use std::ffi::OsString;

use super::output::Mode;
use super::parse::{LOOK, named_command};

/// The variable that says in which format answers are printed.
pub const FORMAT: &str = "AX_FORMAT";

/// The output format that a command line asks for, even if it is invalid otherwise.
pub fn mode_asked(args: &[OsString]) -> Option<Mode> {
    let by_default = (named_command(args) == Some(LOOK)).then_some(Mode::Text);
    let otherwise = mode_of_environment().ok().flatten().or(by_default);
    args.iter().take_while(|arg| *arg != "--").fold(otherwise, |mode, arg| match arg.to_str() {
        Some("--json") => Some(Mode::Json),
        Some("--text") => Some(Mode::Text),
        _ => mode,
    })
}

/// The output format that the environment asks for; the error is what it says instead.
pub fn mode_of_environment() -> Result<Option<Mode>, String> {
    match std::env::var_os(FORMAT).unwrap_or_default().to_string_lossy().as_ref() {
        "" => Ok(None),
        "json" => Ok(Some(Mode::Json)),
        "text" => Ok(Some(Mode::Text)),
        other => Err(other.to_owned()),
    }
}
