//! The commands: one documented struct for each, from which the wire form, the command line, the JSON Schema and the
//! reference page are derived.
//!
//! To add a command: write its struct (and its answer) in the file of its family, list it in `commands!` below, and
//! give it an arm in the daemon's engine.

mod act;
mod act_answer;
mod batch;
mod clipboard;
mod daemon;
mod desktop;
mod input;
mod local;
mod observe;
mod screenshot;
mod sim;
mod subscribe;
mod wait;
mod window;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{Error, ErrorCode, Result};

pub use act::*;
pub use act_answer::*;
pub use batch::*;
pub use clipboard::*;
pub use daemon::*;
pub use desktop::*;
pub use input::*;
pub use local::*;
pub use observe::*;
pub use screenshot::*;
pub use sim::*;
pub use subscribe::*;
pub use wait::*;
pub use window::*;

/// Declares a command's args: every field either `required` or `optional`, its clap attributes in brackets.
macro_rules! args {
    ($(#[$meta:meta])* struct $name:ident { $($body:tt)* }) => {
        $crate::command::args! { @fields [$(#[$meta])* $name] [] $($body)* }
    };
    (@fields [$(#[$meta:meta])* $name:ident] [$($done:tt)*]) => {
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        // Verbatim, because the examples are lines.
        #[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $(#[$meta])*
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

/// Declares the args of a command that acts: its own, then those that all of them have.
macro_rules! act_args {
    ($(#[$meta:meta])* struct $name:ident { $($own:tt)* }) => {
        $crate::command::args! {
            $(#[$meta])*
            struct $name {
                $($own)*
                /// App to act on [default: the frontmost].
                optional app: Option<String> [long, value_name = "APP", help_heading = $crate::command::ACTION_OPTIONS],
                /// Window to act in, by title, id or window number; points are relative to it.
                optional window: Option<String> [long, value_name = "WINDOW", help_heading = $crate::command::ACTION_OPTIONS],
                /// Use the accessibility API, or mouse and keyboard [default: auto].
                optional route: Option<$crate::command::Route> [long, value_name = "ROUTE", value_enum, help_heading = $crate::command::ACTION_OPTIONS],
                /// Maximum time to wait for the app to settle, in ms; 0 = do not wait [default: 1000].
                optional settle_ms: Option<u64> [long, value_name = "MS", help_heading = $crate::command::ACTION_OPTIONS],
                /// Time without changes after which the app counts as settled, in ms [default: 25].
                optional quiet_ms: Option<u64> [long, value_name = "MS", help_heading = $crate::command::ACTION_OPTIONS],
                /// Maximum time to wait until the target can be acted on, and for --wait-for, in ms [default: 5000].
                optional timeout_ms: Option<u64> [long, value_name = "MS", help_heading = $crate::command::ACTION_OPTIONS],
                /// After the action, wait until this selector matches an element.
                optional wait_for: Option<String> [long, value_name = "SELECTOR", help_heading = $crate::command::ACTION_OPTIONS],
                /// After the action, wait until this selector matches no element.
                optional wait_for_gone: Option<String> [long, value_name = "SELECTOR", help_heading = $crate::command::ACTION_OPTIONS],
                /// Omit what changed from the answer.
                optional no_effects: bool [long, help_heading = $crate::command::ACTION_OPTIONS],
                /// Show what would be done without doing it.
                optional dry_run: bool [long, help_heading = $crate::command::ACTION_OPTIONS],
            }
        }

        impl $crate::command::ActArgs for $name {
            fn options(&self) -> $crate::command::ActOptions<'_> {
                $crate::command::ActOptions {
                    app: self.app.as_deref(),
                    window: self.window.as_deref(),
                    route: self.route,
                    settle_ms: self.settle_ms,
                    quiet_ms: self.quiet_ms,
                    timeout_ms: self.timeout_ms,
                    wait_for: self.wait_for.as_deref(),
                    wait_for_gone: self.wait_for_gone.as_deref(),
                    no_effects: self.no_effects,
                    dry_run: self.dry_run,
                }
            }
        }
    };
}
pub(crate) use act_args;

/// The heading in the help above what every action takes.
#[cfg(feature = "cli")]
pub const ACTION_OPTIONS: &str = "Action options";

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

macro_rules! commands {
    (wire { $($variant:ident = $name:literal in $family:ident;)+ } local { $($local:ident = $local_name:literal;)+ }) => {
        /// A command that the daemon answers.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Command { $(#[doc = concat!("`", $name, "`")] $variant($variant),)+ }

        impl Command {
            /// The names of all commands that the daemon answers.
            pub const NAMES: &'static [&'static str] = &[$($name,)+];

            /// The command's name, on the wire and on the command line.
            pub const fn name(&self) -> &'static str {
                match self { $(Command::$variant(_) => $name,)+ }
            }

            /// Parses a command from its name and its JSON arguments.
            pub fn parse(name: &str, args: Option<&RawValue>) -> Result<Command> {
                match name {
                    $($name => parse_args($name, args).map(Command::$variant),)+
                    _ => Err(unknown_command(name)),
                }
            }

            /// The command's arguments as JSON.
            pub fn args(&self) -> serde_json::Result<Box<RawValue>> {
                match self { $(Command::$variant(args) => serde_json::value::to_raw_value(args),)+ }
            }
        }

        /// The family of a command, those of the client included.
        pub fn family(name: &str) -> Option<Family> {
            match name {
                $($name => Some(Family::$family),)+
                $($local_name => Some(Family::Client),)+
                _ => None,
            }
        }

        /// The names of all commands of `ax`: those that the daemon answers, then those of the client.
        pub const ALL_NAMES: &[&str] = &[$($name,)+ $($local_name,)+];

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
                    $($local_name => Some(<$local as clap::Args>::augment_args(clap::Command::new($local_name))),)+
                    _ => None,
                }
            }

            /// Makes the command of that name from clap's matches.
            pub fn from_matches(name: &str, matches: &clap::ArgMatches) -> std::result::Result<Invocation, clap::Error> {
                match name {
                    $($name => <$variant as clap::FromArgMatches>::from_arg_matches(matches).map(|args| Invocation::Wire(Box::new(Command::$variant(args)))),)+
                    $($local_name => <$local as clap::FromArgMatches>::from_arg_matches(matches).map(Invocation::$local),)+
                    _ => Err(clap::Error::new(clap::error::ErrorKind::InvalidSubcommand)),
                }
            }
        }

        /// The JSON Schema of a command's arguments.
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
        Screenshot = "screenshot" in Observe;
        Click = "click" in Act;
        DoubleClick = "double-click" in Act;
        TripleClick = "triple-click" in Act;
        RightClick = "right-click" in Act;
        Type = "type" in Act;
        SetValue = "set-value" in Act;
        Clear = "clear" in Act;
        Focus = "focus" in Act;
        Select = "select" in Act;
        Menu = "menu" in Act;
        Toggle = "toggle" in Act;
        Check = "check" in Act;
        Uncheck = "uncheck" in Act;
        Expand = "expand" in Act;
        Collapse = "collapse" in Act;
        Scroll = "scroll" in Act;
        ScrollTo = "scroll-to" in Act;
        Drag = "drag" in Act;
        Hover = "hover" in Act;
        Perform = "perform" in Act;
        Press = "press" in Act;
        KeyDown = "key-down" in Act;
        KeyUp = "key-up" in Act;
        MouseMove = "mouse-move" in Act;
        MouseClick = "mouse-click" in Act;
        MouseDown = "mouse-down" in Act;
        MouseUp = "mouse-up" in Act;
        MouseWheel = "mouse-wheel" in Act;
        MousePosition = "mouse-position" in Act;
        ListApps = "list-apps" in Desktop;
        ListWindows = "list-windows" in Desktop;
        ListDisplays = "list-displays" in Desktop;
        Attach = "attach" in Desktop;
        Detach = "detach" in Desktop;
        Launch = "launch" in Desktop;
        CloseApp = "close-app" in Desktop;
        FocusWindow = "focus-window" in Desktop;
        MoveWindow = "move-window" in Desktop;
        ResizeWindow = "resize-window" in Desktop;
        Minimize = "minimize" in Desktop;
        Maximize = "maximize" in Desktop;
        Restore = "restore" in Desktop;
        ClipboardGet = "clipboard-get" in Desktop;
        ClipboardSet = "clipboard-set" in Desktop;
        ClipboardClear = "clipboard-clear" in Desktop;
        Wait = "wait" in Listen;
        Subscribe = "subscribe" in Listen;
        Batch = "batch" in Many;
        Status = "status" in Daemon;
        Doctor = "doctor" in Daemon;
        Permissions = "permissions" in Daemon;
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
    fn a_command_reads_back_as_it_was_written_and_leaves_out_what_is_not_set() {
        let command = parse("find", r#"{"selector":"button","limit":3}"#).unwrap();
        let args = command.args().unwrap();
        assert_eq!(args.get(), r#"{"selector":"button","limit":3}"#);
        assert_eq!(Command::parse("find", Some(&args)).unwrap(), command);
    }
}
