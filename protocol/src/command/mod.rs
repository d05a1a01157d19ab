//! The commands: one documented struct each, from which the wire form, the command line, the JSON Schema and the
//! reference page follow.
//!
//! To add a command: write its struct (and its answer) in the file of its family, list it in `commands!` below, and
//! give it an arm in the daemon's engine.

mod daemon;
mod desktop;
mod listen;
mod local;
mod observe;
mod sim;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{Error, ErrorCode, Result};

pub use daemon::*;
pub use desktop::*;
pub use listen::*;
pub use local::*;
pub use observe::*;
pub use sim::*;

/// Declares a command's args: every field either `required` or `optional`, its clap attributes in brackets.
macro_rules! args {
    ($(#[$meta:meta])* struct $name:ident { $($body:tt)* }) => {
        $crate::command::args! { @fields [$(#[$meta])* $name] [] $($body)* }
    };
    (@fields [$(#[$meta:meta])* $name:ident] [$($done:tt)*]) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        // Verbatim, because the examples are lines.
        #[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name { $($done)* }
    };
    (@fields $head:tt [$($done:tt)*] $(#[$meta:meta])* required $field:ident : $type:ty [$($clap:tt)*], $($rest:tt)*) => {
        $crate::command::args! { @fields $head [$($done)*
            $(#[$meta])* #[cfg_attr(feature = "cli", arg($($clap)*))] pub $field: $type,] $($rest)* }
    };
    (@fields $head:tt [$($done:tt)*] $(#[$meta:meta])* optional $field:ident : $type:ty [$($clap:tt)*], $($rest:tt)*) => {
        $crate::command::args! { @fields $head [$($done)*
            $(#[$meta])* #[serde(default, skip_serializing_if = "crate::command::is_default")]
            #[cfg_attr(feature = "cli", arg($($clap)*))] pub $field: $type,] $($rest)* }
    };
}
pub(crate) use args;

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What a command is for; the headings of the help and of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Family {
    /// Looking at what is there.
    Observe,
    /// Apps, windows and displays.
    Desktop,
    /// Being told of changes.
    Listen,
    /// The daemon itself.
    Daemon,
    /// What `ax` does by itself.
    Client,
}

macro_rules! commands {
    (wire { $($variant:ident = $name:literal in $family:ident;)+ } local { $($local:ident = $local_name:literal;)+ }) => {
        /// A request the daemon answers.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Command { $(#[doc = concat!("`", $name, "`")] $variant($variant),)+ }

        impl Command {
            /// The names of all commands the daemon answers.
            pub const NAMES: &'static [&'static str] = &[$($name,)+];

            /// The command's name, on the wire and on the command line.
            pub const fn name(&self) -> &'static str {
                match self { $(Command::$variant(_) => $name,)+ }
            }

            /// Reads a command off the wire.
            pub fn parse(name: &str, args: Option<&RawValue>) -> Result<Command> {
                match name {
                    $($name => parse_args($name, args).map(Command::$variant),)+
                    _ => Err(unknown_command(name)),
                }
            }

            /// The command's args as they travel.
            pub fn args(&self) -> serde_json::Result<Box<RawValue>> {
                match self { $(Command::$variant(args) => serde_json::value::to_raw_value(args),)+ }
            }
        }

        /// The family of a command, the client's own included.
        pub fn family(name: &str) -> Option<Family> {
            match name {
                $($name => Some(Family::$family),)+
                $($local_name => Some(Family::Client),)+
                _ => None,
            }
        }

        /// Every command of `ax`: those the daemon answers, then the client's own.
        pub const ALL_NAMES: &[&str] = &[$($name,)+ $($local_name,)+];

        /// A command of `ax`, with its args.
        #[cfg(feature = "cli")]
        #[derive(Debug, Clone, PartialEq)]
        pub enum Invocation {
            /// One to send to the daemon.
            Wire(Command),
            $(#[doc = concat!("`", $local_name, "`: done by `ax` itself.")] $local($local),)+
        }

        #[cfg(feature = "cli")]
        impl Invocation {
            /// The clap command of that name. Built one at a time, because building all of them costs more than a
            /// whole call to the daemon.
            pub fn clap_command(name: &str) -> Option<clap::Command> {
                match name {
                    $($name => Some(<$variant as clap::Args>::augment_args(clap::Command::new($name))),)+
                    $($local_name => Some(<$local as clap::Args>::augment_args(clap::Command::new($local_name))),)+
                    _ => None,
                }
            }

            /// Reads what clap matched for the command of that name.
            pub fn from_matches(name: &str, matches: &clap::ArgMatches) -> std::result::Result<Invocation, clap::Error> {
                match name {
                    $($name => <$variant as clap::FromArgMatches>::from_arg_matches(matches).map(|args| Invocation::Wire(Command::$variant(args))),)+
                    $($local_name => <$local as clap::FromArgMatches>::from_arg_matches(matches).map(Invocation::$local),)+
                    _ => Err(clap::Error::new(clap::error::ErrorKind::InvalidSubcommand)),
                }
            }
        }

        /// The JSON Schema of a command's args.
        #[cfg(feature = "schema")]
        pub fn args_schema(name: &str) -> Option<schemars::Schema> {
            match name {
                $($name => Some(schemars::schema_for!($variant)),)+
                $($local_name => Some(schemars::schema_for!($local)),)+
                _ => None,
            }
        }
    };
}

commands! {
    wire {
        Snapshot = "snapshot" in Observe;
        Changes = "changes" in Observe;
        Find = "find" in Observe;
        Get = "get" in Observe;
        Is = "is" in Observe;
        ElementAt = "element-at" in Observe;
        Focused = "focused" in Observe;
        ListApps = "list-apps" in Desktop;
        ListWindows = "list-windows" in Desktop;
        ListDisplays = "list-displays" in Desktop;
        Attach = "attach" in Desktop;
        Detach = "detach" in Desktop;
        Subscribe = "subscribe" in Listen;
        Status = "status" in Daemon;
        Doctor = "doctor" in Daemon;
        Version = "version" in Daemon;
        Hello = "hello" in Daemon;
        Cancel = "cancel" in Daemon;
        Shutdown = "shutdown" in Daemon;
        Sim = "sim" in Daemon;
    }
    local {
        Pipe = "pipe";
        Schema = "schema";
        Demo = "demo";
        Service = "service";
    }
}

/// Reads a command's args. The first try is the fast one; only what fails is read again, to find out which field is
/// at fault and whether its name was merely spelled in camel case.
fn parse_args<T: for<'de> Deserialize<'de>>(command: &str, args: Option<&RawValue>) -> Result<T> {
    let text = args.map_or("{}", RawValue::get);
    if let Ok(args) = serde_json::from_str(text) {
        return Ok(args);
    }
    let invalid = |message: String| {
        Error::new(ErrorCode::InvalidArgs, message)
            .suggest(format!("`ax {command} --help` says what {command} takes"))
            .retry(format!("{command} --help"))
    };
    let mut value: serde_json::Value = serde_json::from_str(text)
        .map_err(|fault| invalid(format!("{command}: args are not JSON: {fault}")))?;
    let serde_json::Value::Object(fields) = &mut value else {
        return Err(invalid(format!("{command}: args is to be an object with named fields")));
    };
    *fields = std::mem::take(fields).into_iter().map(|(key, value)| (snake_case(&key), value)).collect();
    serde_path_to_error::deserialize(value).map_err(|fault| {
        let field = fault.path().to_string();
        let place = if field == "." { String::new() } else { format!("{field}: ") };
        invalid(format!("{command}: {place}{}", fault.into_inner()))
    })
}

/// `settleMs` → `settle_ms`.
fn snake_case(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 4);
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

fn unknown_command(name: &str) -> Error {
    Error::new(ErrorCode::InvalidArgs, format!("there is no command '{name}'"))
        .suggest(format!("the commands are: {}", Command::NAMES.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, args: &str) -> Result<Command> {
        let raw = RawValue::from_string(args.to_owned()).unwrap();
        Command::parse(name, Some(&raw))
    }

    #[test]
    fn args_may_be_spelled_in_camel_case() {
        let snake = parse("snapshot", r#"{"max_nodes":5}"#).unwrap();
        assert_eq!(parse("snapshot", r#"{"maxNodes":5}"#).unwrap(), snake);
    }

    #[test]
    fn a_wrong_arg_is_named_with_what_it_takes() {
        for (name, args, said) in [
            ("get", "{}", "missing field `target`"),
            ("get", r#"{"target":"a","colour":1}"#, "unknown field `colour`"),
            ("snapshot", r#"{"depth":"deep"}"#, "depth: invalid type: string \"deep\", expected u32"),
            ("snapshot", r#"[1]"#, "object with named fields"),
            ("changes", r#"{"since":"yesterday"}"#, "since: 'yesterday' is not a clock token"),
            ("gte", "{}", "no command 'gte'"),
        ] {
            let error = parse(name, args).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidArgs);
            assert!(error.message.contains(said), "{}", error.message);
        }
    }

    #[test]
    fn a_command_reads_back_as_it_was_written_and_leaves_out_what_is_not_set() {
        let command = parse("find", r#"{"selector":"button","limit":3}"#).unwrap();
        let args = command.args().unwrap();
        assert_eq!(args.get(), r#"{"selector":"button","limit":3}"#);
        assert_eq!(Command::parse("find", Some(&args)).unwrap(), command);
    }
}
