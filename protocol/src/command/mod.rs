//! The commands: one documented struct for each, from which the wire form, the command line, the JSON Schema and the
//! reference page are derived.
//!
//! To add a command: write its struct (and its answer) in the file of its family, list it in `commands!` below (as
//! `ActArgs<…>` if it acts), and give it an arm in the daemon's engine.

mod act;
mod act_answer;
mod act_args;
mod batch;
mod clipboard;
mod daemon;
mod desktop;
mod extension;
mod input;
mod local;
mod observe;
mod screenshot;
mod subscribe;
mod wait;
mod window;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{Error, ErrorCode, Result};

pub use act::*;
pub use act_answer::*;
pub use act_args::*;
pub use batch::*;
pub use clipboard::*;
pub use daemon::*;
pub use desktop::*;
pub use extension::ExtensionCommand;
pub use input::*;
pub use local::*;
pub use observe::*;
pub use screenshot::*;
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

/// Lists the commands: the variant, its arguments, its name and its family. It declares nothing but the enums and the functions that
/// need all commands.
macro_rules! commands {
    (wire { $($variant:ident($args:ty) = $name:literal in $family:ident;)+ } local { $($local:ident($local_args:ty) = $local_name:literal;)+ }) => {
        /// A command that the daemon answers.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Command {
            $(#[doc = concat!("`", $name, "`")] $variant($args),)+
            /// A command that is no part of the contract, and that only some daemons answer.
            Extension(ExtensionCommand),
        }

        impl Command {
            /// The names of all commands that every daemon answers.
            pub const NAMES: &'static [&'static str] = &[$($name,)+];

            /// The command's name, on the wire and on the command line.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Command::$variant(_) => $name,)+
                    Command::Extension(extension) => extension.name,
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
                match name {
                    $($name => parse_args($name, args).map(Command::$variant),)+
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
                    Command::Extension(extension) => serde_json::value::to_raw_value(&extension.args),
                }
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
            $(#[doc = concat!("`", $local_name, "`, which `ax` runs without the daemon.")] $local($local_args),)+
        }

        #[cfg(feature = "cli")]
        impl Invocation {
            /// The clap command of that name. Commands are built one at a time, because building all of them takes longer
            /// than a call to the daemon.
            pub fn clap_command(name: &str) -> Option<clap::Command> {
                match name {
                    $($name => Some(<$args as clap::Args>::augment_args(clap::Command::new($name))),)+
                    $($local_name => Some(<$local_args as clap::Args>::augment_args(clap::Command::new($local_name))),)+
                    _ => None,
                }
            }

            /// Makes the command of that name from clap's matches.
            pub fn from_matches(name: &str, matches: &clap::ArgMatches) -> std::result::Result<Invocation, clap::Error> {
                match name {
                    $($name => <$args as clap::FromArgMatches>::from_arg_matches(matches).map(|args| Invocation::Wire(Box::new(Command::$variant(args)))),)+
                    $($local_name => <$local_args as clap::FromArgMatches>::from_arg_matches(matches).map(Invocation::$local),)+
                    _ => Err(clap::Error::new(clap::error::ErrorKind::InvalidSubcommand)),
                }
            }
        }

        /// The JSON Schema of a command's arguments.
        #[cfg(feature = "schema")]
        pub fn args_schema(name: &str) -> Option<schemars::Schema> {
            match name {
                $($name => Some(schemars::schema_for!($args)),)+
                $($local_name => Some(schemars::schema_for!($local_args)),)+
                _ => None,
            }
        }
    };
}

commands! {
    wire {
        Snapshot(Snapshot) = "snapshot" in Observe;
        Changes(Changes) = "changes" in Observe;
        Find(Find) = "find" in Observe;
        Get(Get) = "get" in Observe;
        Is(Is) = "is" in Observe;
        ElementAt(ElementAt) = "element-at" in Observe;
        Focused(Focused) = "focused" in Observe;
        Screenshot(Screenshot) = "screenshot" in Observe;
        Click(ActArgs<Click>) = "click" in Act;
        DoubleClick(ActArgs<DoubleClick>) = "double-click" in Act;
        TripleClick(ActArgs<TripleClick>) = "triple-click" in Act;
        RightClick(ActArgs<RightClick>) = "right-click" in Act;
        Type(ActArgs<Type>) = "type" in Act;
        SetValue(ActArgs<SetValue>) = "set-value" in Act;
        Clear(ActArgs<Clear>) = "clear" in Act;
        Focus(ActArgs<Focus>) = "focus" in Act;
        Select(ActArgs<Select>) = "select" in Act;
        Menu(ActArgs<Menu>) = "menu" in Act;
        Toggle(ActArgs<Toggle>) = "toggle" in Act;
        Check(ActArgs<Check>) = "check" in Act;
        Uncheck(ActArgs<Uncheck>) = "uncheck" in Act;
        Expand(ActArgs<Expand>) = "expand" in Act;
        Collapse(ActArgs<Collapse>) = "collapse" in Act;
        Scroll(ActArgs<Scroll>) = "scroll" in Act;
        ScrollTo(ActArgs<ScrollTo>) = "scroll-to" in Act;
        Drag(ActArgs<Drag>) = "drag" in Act;
        Hover(ActArgs<Hover>) = "hover" in Act;
        Perform(ActArgs<Perform>) = "perform" in Act;
        Press(ActArgs<Press>) = "press" in Act;
        KeyDown(ActArgs<KeyDown>) = "key-down" in Act;
        KeyUp(ActArgs<KeyUp>) = "key-up" in Act;
        MouseMove(ActArgs<MouseMove>) = "mouse-move" in Act;
        MouseClick(ActArgs<MouseClick>) = "mouse-click" in Act;
        MouseDown(ActArgs<MouseDown>) = "mouse-down" in Act;
        MouseUp(ActArgs<MouseUp>) = "mouse-up" in Act;
        MouseWheel(ActArgs<MouseWheel>) = "mouse-wheel" in Act;
        MousePosition(MousePosition) = "mouse-position" in Act;
        ListApps(ListApps) = "list-apps" in Desktop;
        ListWindows(ListWindows) = "list-windows" in Desktop;
        ListDisplays(ListDisplays) = "list-displays" in Desktop;
        Attach(Attach) = "attach" in Desktop;
        Detach(Detach) = "detach" in Desktop;
        Launch(Launch) = "launch" in Desktop;
        CloseApp(CloseApp) = "close-app" in Desktop;
        FocusWindow(FocusWindow) = "focus-window" in Desktop;
        MoveWindow(MoveWindow) = "move-window" in Desktop;
        ResizeWindow(ResizeWindow) = "resize-window" in Desktop;
        Minimize(Minimize) = "minimize" in Desktop;
        Maximize(Maximize) = "maximize" in Desktop;
        Restore(Restore) = "restore" in Desktop;
        ClipboardGet(ClipboardGet) = "clipboard-get" in Desktop;
        ClipboardSet(ClipboardSet) = "clipboard-set" in Desktop;
        ClipboardClear(ClipboardClear) = "clipboard-clear" in Desktop;
        Wait(Wait) = "wait" in Listen;
        Subscribe(Subscribe) = "subscribe" in Listen;
        Batch(Batch) = "batch" in Many;
        Status(Status) = "status" in Daemon;
        Doctor(Doctor) = "doctor" in Daemon;
        Permissions(Permissions) = "permissions" in Daemon;
        Version(Version) = "version" in Daemon;
        Hello(Hello) = "hello" in Daemon;
        Cancel(Cancel) = "cancel" in Daemon;
        Shutdown(Shutdown) = "shutdown" in Daemon;
    }
    local {
        Pipe(Pipe) = "pipe";
        Schema(Schema) = "schema";
        Demo(Demo) = "demo";
        Service(Service) = "service";
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
