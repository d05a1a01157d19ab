//! The commands: one documented struct for each, from which the wire form, the command line, the JSON Schema and the
//! reference page are derived.
//!
//! To add a command: write its struct (and its answer) in the file of its family, list it in `commands!` below, and implement
//! it in the daemon's engine.

mod act;
mod act_answer;
mod act_args;
mod approval;
mod batch;
mod clipboard;
mod daemon;
mod desktop;
mod duplicates;
mod extension;
mod input;
mod local;
mod observe;
mod policy;
mod screenshot;
mod selftest;
mod subscribe;
mod wait;
mod window;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{Error, ErrorCode, Result};

pub use act::*;
pub use act_answer::*;
pub use act_args::*;
pub use approval::*;
pub use batch::*;
pub use clipboard::*;
pub use daemon::*;
pub use desktop::*;
pub use extension::ExtensionCommand;
pub use input::*;
pub use local::*;
pub use observe::*;
pub use policy::*;
pub use screenshot::*;
pub use selftest::*;
pub use subscribe::*;
pub use wait::*;
pub use window::*;

/// The heading in the help above what every action takes.
#[cfg(feature = "cli")]
pub const ACTION_OPTIONS: &str = "Action options";

/// Whether an optional argument has its default value, and is omitted on the wire.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The groups of commands, which are the headings of the help and of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Family {
    /// Reading the state of apps.
    Observe,
    /// Acting on elements, and using keyboard and mouse.
    Act,
    /// Apps, windows, displays and the clipboard.
    Desktop,
    /// Waiting for changes, and subscribing to them.
    Listen,
    /// Running several commands in one request.
    Many,
    /// The daemon itself.
    Daemon,
    /// Commands that `ax` runs without the daemon.
    Client,
}

/// What a command does besides answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandKind {
    /// Nothing that it would harm to repeat.
    Reads,
    /// It acts on the desktop. It passes the gate of its request first, so it is known whether anything was sent.
    Acts,
    /// It changes the daemon or the session. Nobody knows how far it got if it is interrupted.
    Manages,
}

/// Lists the commands: the struct of its arguments, which is its variant too, its name, its family and its kind. The commands under
/// `act` also take the options of [`ActArgs`]. The macro declares nothing but the enums and the functions that need all commands.
macro_rules! commands {
    (
        wire { $($variant:ident = $name:literal in $family:ident, $kind:ident;)+ }
        act { $($act:ident = $act_name:literal;)+ }
        local { $($local:ident = $local_name:literal;)+ }
    ) => {
        /// A command that the daemon answers.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Command {
            $(#[doc = concat!("`", $name, "`")] $variant($variant),)+
            /// A command of the family [`Family::Act`].
            Act(ActCommand),
            /// A command that is no part of the contract, and that only some daemons answer.
            Extension(ExtensionCommand),
        }

        /// A command that acts on an element, or uses the mouse and the keyboard.
        #[derive(Debug, Clone, PartialEq)]
        pub enum ActCommand {
            $(#[doc = concat!("`", $act_name, "`")] $act(ActArgs<$act>),)+
        }

        impl ActCommand {
            /// The command's name, on the wire and on the command line.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(ActCommand::$act(_) => $act_name,)+
                }
            }

            /// The options that every action takes.
            pub fn options(&self) -> ActOptions<'_> {
                match self {
                    $(ActCommand::$act(args) => args.options(),)+
                }
            }

            /// The options that every action takes, as arguments.
            fn options_mut(&mut self) -> &mut ActOptionArgs {
                match self {
                    $(ActCommand::$act(args) => &mut args.common,)+
                }
            }
        }

        /// Calls another macro with the names of all structs of commands that act.
        #[macro_export]
        macro_rules! with_act_commands {
            ($then:ident) => { $then! { $($act)+ } };
        }

        impl Command {
            /// The names of all commands that every daemon answers.
            pub const NAMES: &'static [&'static str] = &[$($name,)+ $($act_name,)+];

            /// The command's name, on the wire and on the command line.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Command::$variant(_) => $name,)+
                    Command::Act(command) => command.name(),
                    Command::Extension(extension) => extension.name,
                }
            }

            /// What the command does besides answering.
            pub const fn kind(&self) -> CommandKind {
                match self {
                    $(Command::$variant(_) => CommandKind::$kind,)+
                    Command::Act(_) => CommandKind::Acts,
                    Command::Extension(_) => CommandKind::Manages,
                }
            }

            /// Parses a command of the contract from its name and its JSON arguments.
            pub fn parse(name: &str, args: Option<&RawValue>) -> Result<Command> {
                Command::parse_extended(name, args, &[])
            }

            /// Parses a command of the contract, or one of these extensions. The arguments of an extension are not looked at.
            pub fn parse_extended(
                name: &str,
                args: Option<&RawValue>,
                extensions: &[&'static str],
            ) -> Result<Command> {
                duplicates::refuse_duplicates(name, args)?;
                match name {
                    $($name => parse_args($name, args).map(Command::$variant),)+
                    $($act_name => parse_args($act_name, args).map(ActCommand::$act).map(Command::Act),)+
                    _ => match extensions.iter().find(|extension| **extension == name) {
                        Some(name) => Ok(Command::Extension(ExtensionCommand::new(name, args))),
                        None => Err(unknown_command(name)),
                    },
                }
            }

            /// The command's arguments as JSON.
            pub fn args(&self) -> serde_json::Result<Box<RawValue>> {
                match self {
                    $(Command::$variant(args) => serde_json::value::to_raw_value(args),)+
                    $(Command::Act(ActCommand::$act(args)) => serde_json::value::to_raw_value(args),)+
                    Command::Extension(extension) => serde_json::value::to_raw_value(&extension.args),
                }
            }
        }

        /// The family of a command, those of the client included.
        pub fn family(name: &str) -> Option<Family> {
            match name {
                $($name => Some(Family::$family),)+
                $($act_name => Some(Family::Act),)+
                $($local_name => Some(Family::Client),)+
                _ => None,
            }
        }

        /// What the command of that name does besides answering, if the daemon answers it.
        pub fn kind(name: &str) -> Option<CommandKind> {
            match name {
                $($name => Some(CommandKind::$kind),)+
                $($act_name => Some(CommandKind::Acts),)+
                _ => None,
            }
        }

        /// The names of all commands of `ax`: those that the daemon answers, then those of the client.
        pub const ALL_NAMES: &[&str] = &[$($name,)+ $($act_name,)+ $($local_name,)+];

        /// A command of `ax`, with its arguments.
        #[cfg(feature = "cli")]
        #[derive(Debug, Clone, PartialEq)]
        pub enum Invocation {
            /// A command to send to the daemon.
            Wire(Box<Command>),
            $(#[doc = concat!("`", $local_name, "`, which `ax` runs without the daemon.")] $local($local),)+
        }

        #[cfg(feature = "cli")]
        impl Invocation {
            /// The clap command of that name. Commands are built one at a time, because building all of them takes longer
            /// than a call to the daemon.
            pub fn clap_command(name: &str) -> Option<clap::Command> {
                match name {
                    $($name => Some(<$variant as clap::Args>::augment_args(clap::Command::new($name))),)+
                    $($act_name => Some(<ActArgs<$act> as clap::Args>::augment_args(clap::Command::new($act_name))),)+
                    $($local_name => Some(<$local as clap::Args>::augment_args(clap::Command::new($local_name))),)+
                    _ => None,
                }
            }

            /// Makes the command of that name from clap's matches.
            pub fn from_matches(name: &str, matches: &clap::ArgMatches) -> std::result::Result<Invocation, clap::Error> {
                match name {
                    $($name => clap::FromArgMatches::from_arg_matches(matches).map(|args| Invocation::Wire(Box::new(Command::$variant(args)))),)+
                    $($act_name => {
                        let wire = |args| Invocation::Wire(Box::new(Command::Act(ActCommand::$act(args))));
                        clap::FromArgMatches::from_arg_matches(matches).map(wire)
                    })+
                    $($local_name => clap::FromArgMatches::from_arg_matches(matches).map(Invocation::$local),)+
                    _ => Err(clap::Error::new(clap::error::ErrorKind::InvalidSubcommand)),
                }
            }
        }

        /// The JSON Schema of a command's arguments.
        #[cfg(feature = "schema")]
        pub fn args_schema(name: &str) -> Option<schemars::Schema> {
            match name {
                $($name => Some(schemars::schema_for!($variant)),)+
                $($act_name => Some(schemars::schema_for!(ActArgs<$act>)),)+
                $($local_name => Some(schemars::schema_for!($local)),)+
                _ => None,
            }
        }
    };
}

commands! {
    wire {
        Snapshot = "snapshot" in Observe, Reads;
        Look = "look" in Observe, Reads;
        Changes = "changes" in Observe, Reads;
        Find = "find" in Observe, Reads;
        Get = "get" in Observe, Reads;
        Is = "is" in Observe, Reads;
        ElementAt = "element-at" in Observe, Reads;
        Focused = "focused" in Observe, Reads;
        Screenshot = "screenshot" in Observe, Reads;
        MousePosition = "mouse-position" in Observe, Reads;
        ListApps = "list-apps" in Desktop, Reads;
        ListWindows = "list-windows" in Desktop, Reads;
        ListDisplays = "list-displays" in Desktop, Reads;
        Attach = "attach" in Desktop, Reads;
        Detach = "detach" in Desktop, Reads;
        Launch = "launch" in Desktop, Acts;
        CloseApp = "close-app" in Desktop, Acts;
        FocusWindow = "focus-window" in Desktop, Acts;
        MoveWindow = "move-window" in Desktop, Acts;
        ResizeWindow = "resize-window" in Desktop, Acts;
        Minimize = "minimize" in Desktop, Acts;
        Maximize = "maximize" in Desktop, Acts;
        Restore = "restore" in Desktop, Acts;
        ClipboardGet = "clipboard-get" in Desktop, Reads;
        ClipboardSet = "clipboard-set" in Desktop, Acts;
        ClipboardClear = "clipboard-clear" in Desktop, Acts;
        Wait = "wait" in Listen, Reads;
        Subscribe = "subscribe" in Listen, Reads;
        Batch = "batch" in Many, Acts;
        Approvals = "approvals" in Daemon, Manages;
        Decide = "decide" in Daemon, Manages;
        Pause = "pause" in Daemon, Manages;
        Resume = "resume" in Daemon, Manages;
        Status = "status" in Daemon, Reads;
        Doctor = "doctor" in Daemon, Reads;
        Permissions = "permissions" in Daemon, Manages;
        Version = "version" in Daemon, Reads;
        PolicyCheck = "policy-check" in Daemon, Reads;
        PolicyShow = "policy-show" in Daemon, Reads;
        Hello = "hello" in Daemon, Manages;
        Cancel = "cancel" in Daemon, Manages;
        Shutdown = "shutdown" in Daemon, Manages;
    }
    act {
        Click = "click";
        DoubleClick = "double-click";
        TripleClick = "triple-click";
        RightClick = "right-click";
        Type = "type";
        SetValue = "set-value";
        Clear = "clear";
        Focus = "focus";
        Select = "select";
        Menu = "menu";
        Toggle = "toggle";
        Check = "check";
        Uncheck = "uncheck";
        Expand = "expand";
        Collapse = "collapse";
        Scroll = "scroll";
        ScrollTo = "scroll-to";
        Drag = "drag";
        Hover = "hover";
        Perform = "perform";
        Press = "press";
        KeyDown = "key-down";
        KeyUp = "key-up";
        MouseMove = "mouse-move";
        MouseClick = "mouse-click";
        MouseDown = "mouse-down";
        MouseUp = "mouse-up";
        MouseWheel = "mouse-wheel";
    }
    local {
        Pipe = "pipe";
        Schema = "schema";
        Demo = "demo";
        Service = "service";
        Approve = "approve";
        Audit = "audit";
        Policy = "policy";
        Selftest = "selftest";
        Mcp = "mcp";
        Skills = "skills";
    }
}

/// Parses a command's arguments. The first attempt is the fast one. Only if it fails are they parsed again, to accept names in
/// camel case and to find out which field is wrong.
fn parse_args<T: for<'de> Deserialize<'de>>(command: &str, args: Option<&RawValue>) -> Result<T> {
    let text = args.map_or("{}", RawValue::get);
    if let Ok(args) = serde_json::from_str(text) {
        return Ok(args);
    }
    let invalid = |message: String| {
        Error::new(ErrorCode::InvalidArgs, message)
            .suggest(format!("see `ax {command} --help`"))
            .retry(format!("{command} --help"))
    };
    let mut value: serde_json::Value = serde_json::from_str(text)
        .map_err(|error| invalid(format!("{command}: args are not JSON: {error}")))?;
    let serde_json::Value::Object(fields) = &mut value else {
        return Err(invalid(format!("{command}: args must be an object with named fields")));
    };
    *fields = std::mem::take(fields).into_iter().map(|(key, value)| (snake_case(&key), value)).collect();
    serde_path_to_error::deserialize(value).map_err(|error| {
        let field = error.path().to_string();
        let prefix = if field == "." { String::new() } else { format!("{field}: ") };
        invalid(format!("{command}: {prefix}{}", error.into_inner()))
    })
}

/// Turns `settleMs` into `settle_ms`.
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
    Error::new(ErrorCode::InvalidArgs, format!("unknown command '{name}'"))
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
            ("gte", "{}", "unknown command 'gte'"),
        ] {
            let error = parse(name, args).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidArgs);
            assert!(error.message.contains(said), "{}", error.message);
        }
    }

    #[test]
    fn an_extension_is_known_only_where_it_is_offered_and_keeps_its_args_as_they_were_written() {
        let args = RawValue::from_string(r#"["a", {"b":1}]"#.to_owned()).unwrap();
        let command = Command::parse_extended("juggle", Some(&args), &["juggle"]).unwrap();
        assert_eq!(command.name(), "juggle");
        assert_eq!(command.args().unwrap().get(), args.get());
        let elsewhere = Command::parse("juggle", Some(&args)).unwrap_err();
        assert!(elsewhere.message.contains("unknown command 'juggle'"));
        let own = Command::parse_extended("status", None, &["status"]).unwrap();
        assert!(matches!(own, Command::Status(_)), "an extension cannot replace a command of the contract");
    }

    #[test]
    fn a_command_reads_back_as_it_was_written_and_leaves_out_what_is_not_set() {
        let command = parse("find", r#"{"selector":"button","limit":3}"#).unwrap();
        let args = command.args().unwrap();
        assert_eq!(args.get(), r#"{"selector":"button","limit":3}"#);
        assert_eq!(Command::parse("find", Some(&args)).unwrap(), command);
    }
}
