//! `ax sim`: sends its words to a daemon that runs the built-in desktop. What they mean is not known here, because the command is no part
//! of the contract; so it is not in the help either.

use axd_client::protocol::command::{Command, ExtensionCommand, Invocation};
use clap::{Arg, ArgMatches};

/// The name of the extension.
pub const NAME: &str = "sim";
const WORDS: &str = "ax-words";

/// The clap command, which takes any words.
pub fn clap_command() -> clap::Command {
    clap::Command::new(NAME)
        .about("Use an app of the built-in desktop as a person would (axd --platform sim); see docs/sim.md")
        .hide(true)
        .disable_help_flag(true)
        .arg(Arg::new(WORDS).value_name("WORD").num_args(1..).required(true))
}

/// Makes the command from clap's matches.
pub fn from_matches(matches: &ArgMatches) -> Invocation {
    let words: Vec<&String> = matches.get_many(WORDS).unwrap_or_default().collect();
    // A list of strings always serialises.
    let args = serde_json::value::to_raw_value(&words).ok();
    Invocation::Wire(Box::new(Command::Extension(ExtensionCommand::new(NAME, args.as_deref()))))
}
