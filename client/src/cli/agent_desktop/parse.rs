//! The flags of agent-desktop, from the table of its commands.

use std::ffi::OsString;
use std::time::Duration;

use axd_client::agent_desktop::table::{ArgKind, ArgSpec, COMMANDS, CommandSpec, Place};
use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Map, Value};

use super::PROGRAM;

/// A command line that was understood.
#[derive(Debug)]
pub struct Line {
    /// The command.
    pub command: String,
    /// Its arguments, by the names of the table.
    pub fields: Map<String, Value>,
    /// Whether errors have more details.
    pub verbose: bool,
    /// The time that axd has for a request.
    pub deadline: Option<Duration>,
    /// Whom it is for.
    pub session: Option<String>,
}

/// The result of parsing a command line.
#[derive(Debug)]
pub enum Parsed {
    /// A command to run.
    Run(Line),
    /// Help, or the version.
    Text(String),
    /// It makes no sense, and why.
    Usage(String),
}

// The ids of the flags that every command has. The prefix keeps them different from the arguments of commands.
const VERBOSE: &str = "ad-verbose";
const DEADLINE: &str = "ad-timeout";
const SESSION: &str = "ad-session";

/// Parses a command line, without the program's name.
pub fn parse(args: &[OsString]) -> Parsed {
    let argv = std::iter::once(OsString::from(PROGRAM)).chain(args.iter().cloned());
    let matches = match program().try_get_matches_from(argv) {
        Ok(matches) => matches,
        Err(fault) => return failed(&fault),
    };
    // A subcommand is required, so there always is one, and it is one of the table.
    let Some((name, matched)) = matches.subcommand() else {
        return Parsed::Usage("the command is missing".into());
    };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return Parsed::Usage(format!("there is no command '{name}'"));
    };
    match fields(command, matched) {
        Ok(fields) => Parsed::Run(Line {
            command: name.to_owned(),
            fields,
            verbose: matched.get_flag(VERBOSE),
            deadline: matched.get_one::<u64>(DEADLINE).copied().map(Duration::from_millis),
            session: matched.get_one::<String>(SESSION).cloned(),
        }),
        Err(message) => Parsed::Usage(message),
    }
}

fn failed(fault: &clap::Error) -> Parsed {
    match fault.kind() {
        ErrorKind::DisplayHelp => Parsed::Text(fault.to_string()),
        ErrorKind::DisplayVersion => Parsed::Text(fault.to_string()),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            Parsed::Usage("the command is missing".to_owned())
        }
        _ => {
            let text = fault.to_string();
            let first = text.lines().next().unwrap_or_default();
            Parsed::Usage(first.strip_prefix("error: ").unwrap_or(first).to_owned())
        }
    }
}

fn program() -> Command {
    let global = |id: &'static str, long: &'static str, help: &'static str| {
        Arg::new(id).long(long).help(help).global(true)
    };
    Command::new(PROGRAM)
        .version(env!("CARGO_PKG_VERSION"))
        .about("Desktop apps through their accessibility trees; answers are JSON")
        .subcommand_required(true)
        .disable_help_subcommand(true)
        .arg(global(VERBOSE, "verbose", "More details in errors").short('v').action(ArgAction::SetTrue))
        .arg(global(SESSION, "session", "Whom this is for, in the audit").value_name("ID"))
        .subcommands(COMMANDS.iter().map(subcommand))
}

fn subcommand(command: &'static CommandSpec) -> Command {
    let mut built = Command::new(command.name).about(command.about);
    for spec in command.args {
        built = built.arg(arg(spec));
    }
    // `wait` has a --timeout of its own.
    if !command.args.iter().any(|spec| spec.flag == "timeout") {
        let help = "Time for the whole request, in ms";
        built = built.arg(
            Arg::new(DEADLINE).long("timeout").value_name("MS").value_parser(value_parser!(u64)).help(help),
        );
    } else {
        built = built.arg(Arg::new(DEADLINE).long("deadline-ms").hide(true).value_parser(value_parser!(u64)));
    }
    built
}

fn arg(spec: &'static ArgSpec) -> Arg {
    let arg = Arg::new(spec.flag).help(spec.about);
    let arg = match spec.place {
        Place::Required => arg.required(true),
        Place::Optional => arg,
        Place::Flag | Place::RequiredFlag => {
            let arg = arg.long(spec.flag).required(spec.place == Place::RequiredFlag);
            let arg = spec.aliases.iter().fold(arg, |arg, alias| arg.visible_alias(*alias));
            match spec.short {
                Some(letter) => arg.short(letter),
                None => arg,
            }
        }
    };
    match spec.kind {
        ArgKind::Flag => arg.action(ArgAction::SetTrue),
        ArgKind::Number => arg.value_parser(value_parser!(u64)),
        ArgKind::OneOf(words) => arg.value_parser(PossibleValuesParser::new(words)),
        ArgKind::Text | ArgKind::Items => arg.allow_hyphen_values(true),
    }
}

/// The arguments of a command, as they are called in a batch.
fn fields(command: &CommandSpec, matched: &ArgMatches) -> Result<Map<String, Value>, String> {
    let mut fields = Map::new();
    for spec in command.args {
        let value = match spec.kind {
            ArgKind::Flag => matched.get_flag(spec.flag).then(|| Value::from(true)),
            ArgKind::Number => matched.get_one::<u64>(spec.flag).map(|number| Value::from(*number)),
            ArgKind::Text | ArgKind::OneOf(_) => {
                matched.get_one::<String>(spec.flag).map(|text| Value::from(text.as_str()))
            }
            ArgKind::Items => match matched.get_one::<String>(spec.flag) {
                Some(text) => Some(items(text)?),
                None => None,
            },
        };
        if let Some(value) = value {
            fields.insert(spec.name(), value);
        }
    }
    Ok(fields)
}

/// The commands of a batch, which are JSON.
fn items(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(value @ Value::Array(_)) => Ok(value),
        Ok(_) => Err("batch takes a JSON list of {\"command\", \"args\"}".to_owned()),
        Err(fault) => Err(format!("batch takes a JSON list of {{\"command\", \"args\"}}: {fault}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parsed(line: &str) -> Parsed {
        parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    fn run(line: &str) -> Line {
        match parsed(line) {
            Parsed::Run(line) => line,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn the_program_is_well_formed() {
        program().debug_assert();
    }

    #[test]
    fn flags_are_arguments_of_the_table() {
        for (line, fields) in [
            (
                "snapshot -i --max-depth 3 --root @e4",
                json!({ "interactive_only": true, "max_depth": 3, "subtree": "@e4" }),
            ),
            ("type @e1 -x", json!({ "ref": "@e1", "text": "-x" })),
            ("get @e1 --property text", json!({ "ref": "@e1", "property": "text" })),
            ("wait 100", json!({ "ms": 100 })),
            ("wait --element @e1 --timeout 5", json!({ "element": "@e1", "timeout": 5 })),
            ("wait --element @e1 --timeout-ms 5", json!({ "element": "@e1", "timeout": 5 })),
            (
                "batch [{\"command\":\"status\"}] --stop-on-error",
                json!({ "commands": [{ "command": "status" }], "stop_on_error": true }),
            ),
            ("version --json", json!({ "json": true })),
        ] {
            assert_eq!(Value::Object(run(line).fields), fields, "{line}");
        }
        let line = run("-v click @e1 --timeout 50 --session me");
        assert_eq!(
            (line.verbose, line.deadline, line.session.as_deref()),
            (true, Some(Duration::from_millis(50)), Some("me"))
        );
    }

    #[test]
    fn what_makes_no_sense_is_told_in_one_line() {
        for (line, said) in [
            ("clik @e1", "unrecognized subcommand 'clik'"),
            ("click", "the following required arguments were not provided:"),
            ("snapshot --depth 3", "unexpected argument '--depth' found"),
            ("get @e1 --property colour", "invalid value 'colour' for '--property <property>'"),
            ("batch {}", "batch takes a JSON list of {\"command\", \"args\"}"),
        ] {
            match parsed(line) {
                Parsed::Usage(message) => {
                    assert!(message.starts_with(said) && !message.contains('\n'), "{line}: {message}")
                }
                other => panic!("{line}: {other:?}"),
            }
        }
        assert!(matches!(parsed("--help"), Parsed::Text(text) if text.contains("focus-window")));
        assert!(matches!(parsed("--version"), Parsed::Text(text) if text.starts_with("agent-desktop ")));
    }
}
