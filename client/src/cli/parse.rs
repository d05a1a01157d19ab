//! Argv → what to do. Only the one command that is named is built: building all of them takes longer than a whole call
//! to the daemon.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use axd_client::DaemonStart;
use axd_client::protocol::PROTOCOL_VERSION;
use axd_client::protocol::command::{ALL_NAMES, Invocation};
use clap::error::{ContextKind, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::help;
use super::output::Mode;

/// Another name of `subscribe`.
pub const WATCH: &str = "watch";
/// Turns auto-start off, when set to anything but `0`.
pub const NO_AUTOSTART: &str = "AXD_NO_AUTOSTART";

// The ids of the options every command has. Prefixed, so that none is ever the name of a command's own arg.
const JSON: &str = "ax-json";
const TEXT: &str = "ax-text";
const SOCKET: &str = "ax-socket";
const STAY: &str = "ax-no-autostart";
const DEADLINE: &str = "ax-deadline-ms";
const PLATFORM: &str = "ax-platform";

/// The options every command has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// The form asked for; the terminal decides unless said.
    pub mode: Option<Mode>,
    /// The socket asked for.
    pub socket: Option<PathBuf>,
    /// Whether a missing daemon stays missing.
    pub no_autostart: bool,
    /// Bounds the request.
    pub deadline: Option<Duration>,
    /// For a daemon that is started.
    pub platform: Option<String>,
}

impl Options {
    /// The socket to use.
    pub fn socket(&self) -> PathBuf {
        self.socket.clone().unwrap_or_else(|| axd_client::places().socket)
    }

    /// How to start a missing daemon; `None` if it is to stay missing.
    pub fn start(&self) -> Option<DaemonStart> {
        // Something on standard error is for people: a program may take it for a failure.
        let tell = std::io::stderr().is_terminal().then_some((|told| eprintln!("{told}")) as fn(&str));
        let start = DaemonStart { platform: self.platform.clone(), tell, ..DaemonStart::default() };
        (!self.no_autostart).then_some(start)
    }
}

/// What a command line comes to.
#[derive(Debug)]
pub enum Parsed {
    /// Something to do.
    Run(Box<Invocation>, Options),
    /// Something to print: help or version.
    Plain(String),
    /// It makes no sense.
    Usage(Usage),
}

/// What is wrong with a command line.
#[derive(Debug)]
pub struct Usage {
    /// The command it seems to be about; empty if there is none.
    pub command: String,
    /// What clap says, for people.
    pub text: String,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What may have been meant.
    pub tip: Option<String>,
}

/// Reads a command line, without the program's name.
pub fn parse(args: &[OsString]) -> Parsed {
    let named = named_command(args);
    let one = named.and_then(|name| ALL_NAMES.iter().find(|known| **known == canonical(name)));
    let root = match one {
        Some(name) => root().subcommands(subcommand(name)),
        None => all(),
    };
    let argv = one.and_then(|name| with_dashed_words(args, name, &root));
    let argv = argv.as_deref().unwrap_or(args);
    let argv = std::iter::once(OsString::from("ax")).chain(argv.iter().cloned());
    let read = root.try_get_matches_from(argv).and_then(|matches| {
        // A subcommand is required, so there is one.
        let (name, matched) = matches.subcommand().unwrap_or((ALL_NAMES[0], &matches));
        let invocation = Invocation::from_matches(name, matched)?;
        Ok(Parsed::Run(Box::new(invocation), options(matched)))
    });
    read.unwrap_or_else(|fault| match fault.kind() {
        ErrorKind::DisplayHelp => Parsed::Plain(fault.to_string()),
        ErrorKind::DisplayVersion => {
            Parsed::Plain(format!("ax {} (protocol {PROTOCOL_VERSION})\n", env!("CARGO_PKG_VERSION")))
        }
        _ => Parsed::Usage(usage(&fault, named.unwrap_or_default())),
    })
}

/// The command line with its last word after a `--`, if a word begins with a dash, or comes after a `--`, and the command takes
/// such words: there is no option that it could be. `None` if there is nothing to do.
fn with_dashed_words(args: &[OsString], name: &str, root: &Command) -> Option<Vec<OsString>> {
    let command = root.find_subcommand(name)?;
    if !command.get_positionals().any(Arg::is_allow_hyphen_values_set) {
        return None;
    }
    let takes_value = |option: &str| {
        let known = root.get_arguments().chain(command.get_arguments());
        let mut named = known.filter(|arg| arg.get_long().is_some_and(|long| option[2..] == *long));
        named.any(|arg| arg.get_action().takes_values())
    };
    // What has something else than a name before its value is text.
    let is_option = |word: &str| {
        let name = word[2..].split('=').next().unwrap_or_default();
        name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
    };
    let (mut options, mut words) = (Vec::new(), Vec::new());
    let mut dashed = false;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.to_str().unwrap_or_default() {
            "--" => {
                words.extend(rest.by_ref().cloned());
                dashed = true;
            }
            "-h" | "-V" => return None,
            option if option.starts_with("--") && is_option(option) => {
                options.push(arg.clone());
                if takes_value(option) {
                    options.extend(rest.next().cloned());
                }
            }
            word => {
                dashed |= word.len() > 1 && word.starts_with('-');
                words.push(arg.clone());
            }
        }
    }
    if !dashed || words.len() < 2 {
        return None;
    }
    // The first word is the command itself; what comes after `--` is taken for the last that it has.
    let (command, last) = (words.remove(0), words.pop()?);
    let line = [command].into_iter().chain(options).chain(words);
    Some(line.chain([OsString::from("--"), last]).collect())
}

/// The form asked for on a command line that may make no sense otherwise.
pub fn mode_asked(args: &[OsString]) -> Option<Mode> {
    args.iter().take_while(|arg| *arg != "--").fold(None, |mode, arg| match arg.to_str() {
        Some("--json") => Some(Mode::Json),
        Some("--text") => Some(Mode::Text),
        _ => mode,
    })
}

/// `ax` with all its commands: for help, and to say which command may have been meant.
pub fn all() -> Command {
    root().override_help(help::overview()).subcommands(ALL_NAMES.iter().filter_map(|name| subcommand(name)))
}

/// One command, as `ax` has it.
pub fn subcommand(name: &str) -> Option<Command> {
    let command = Invocation::clap_command(name)?;
    // The one help there is has the whole description and a line per arg; clap's long form takes a screen for few args.
    let about = command.get_long_about().or_else(|| command.get_about()).cloned().unwrap_or_default();
    let command = command.about(about).long_about(None::<&str>).disable_help_flag(true);
    Some(if name == "subscribe" { command.visible_alias(WATCH) } else { command })
}

fn canonical(name: &str) -> &str {
    if name == WATCH { "subscribe" } else { name }
}

/// The first word that is not an option, if help was not asked for before it.
pub fn named_command(args: &[OsString]) -> Option<&str> {
    let mut args = args.iter().map(|arg| arg.to_str().unwrap_or_default());
    loop {
        match args.next()? {
            "-h" | "--help" => return None,
            "--socket" | "--deadline-ms" | "--platform" => drop(args.next()),
            option if option.starts_with('-') => {}
            name => return Some(name),
        }
    }
}

fn root() -> Command {
    Command::new("ax")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .subcommand_value_name("COMMAND")
        .disable_help_flag(true)
        .next_help_heading("Options of every command")
        .args(global_options().map(|option| option.global(true)))
        .arg(
            Arg::new("help")
                .short('h')
                .long("help")
                .action(ArgAction::HelpShort)
                .help("Print help")
                .global(true),
        )
}

/// The options every command has; the help and the reference show them from here.
pub fn global_options() -> [Arg; 6] {
    let option = |id: &'static str| Arg::new(id).long(&id[3..]);
    [
        option(JSON)
            .action(ArgAction::SetTrue)
            .overrides_with(TEXT)
            .help("Print JSON; the default unless on a terminal"),
        option(TEXT)
            .action(ArgAction::SetTrue)
            .overrides_with(JSON)
            .help("Print text; the default on a terminal"),
        option(DEADLINE)
            .value_name("MS")
            .value_parser(value_parser!(u64))
            .help("Deadline of the request, in ms"),
        option(SOCKET)
            .value_name("PATH")
            .value_parser(value_parser!(PathBuf))
            .help("Use the daemon at this socket"),
        option(PLATFORM)
            .value_name("NAME")
            .help("Start a missing daemon on this platform: auto, macos, linux or sim"),
        option(STAY).action(ArgAction::SetTrue).help("Do not start a missing daemon"),
    ]
}

fn options(matches: &ArgMatches) -> Options {
    let mode = match (matches.get_flag(JSON), matches.get_flag(TEXT)) {
        (true, _) => Some(Mode::Json),
        (_, true) => Some(Mode::Text),
        _ => None,
    };
    let forbidden = || std::env::var_os(NO_AUTOSTART).is_some_and(|set| !set.is_empty() && set != "0");
    Options {
        mode,
        socket: matches.get_one(SOCKET).cloned(),
        no_autostart: matches.get_flag(STAY) || forbidden(),
        deadline: matches.get_one(DEADLINE).copied().map(Duration::from_millis),
        platform: matches.get_one(PLATFORM).cloned(),
    }
}

fn usage(fault: &clap::Error, command: &str) -> Usage {
    let text = fault.to_string();
    if fault.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        || fault.kind() == ErrorKind::MissingSubcommand
    {
        let message = "there is no command on the command line".to_owned();
        return Usage { command: String::new(), text: help::overview(), message, tip: None };
    }
    // Clap's text is: what is wrong (perhaps with a list of args), a tip, the usage, each after an empty line.
    let what = text.split("\n\n").next().unwrap_or(&text);
    let message = what.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message).to_owned();
    let meant = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let tip = meant.iter().find_map(|kind| fault.get(*kind)).map(|meant| format!("did you mean {meant}?"));
    Usage { command: command.to_owned(), text, message, tip }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axd_client::{Ask, request_line};

    fn read(line: &str) -> Parsed {
        parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    /// What `ax` would send, and with which options.
    fn sent(line: &str) -> (String, Options) {
        match read(line) {
            Parsed::Run(invocation, options) => match *invocation {
                Invocation::Wire(command) => {
                    (request_line(1, &command, Ask::any_protocol()).unwrap().trim_end().to_owned(), options)
                }
                other => (format!("{other:?}"), options),
            },
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_command_line_becomes_the_request_it_says() {
        for (line, request) in [
            ("get btn_4k2p9x", r#"{"id":1,"command":"get","args":{"target":"btn_4k2p9x"}}"#),
            ("snapshot", r#"{"id":1,"command":"snapshot"}"#),
            (
                "snapshot --app Notes --max-nodes 5 --interactive",
                r#"{"id":1,"command":"snapshot","args":{"app":"Notes","interactive":true,"max_nodes":5}}"#,
            ),
            (
                "find button:Save --nth -1",
                r#"{"id":1,"command":"find","args":{"selector":"button:Save","nth":-1}}"#,
            ),
            (
                "get x --property value --property native_role",
                r#"{"id":1,"command":"get","args":{"target":"x","property":["value","native_role"]}}"#,
            ),
            ("element-at -5,10", r#"{"id":1,"command":"element-at","args":{"point":"-5,10"}}"#),
            (
                "watch --app Notes --kind focus --kind window-opened --fields name,value",
                r#"{"id":1,"command":"subscribe","args":{"app":"Notes","kind":["focus","window-opened"],"fields":["name","value"]}}"#,
            ),
            (
                "changes --since c:9f2e01aa:4711",
                r#"{"id":1,"command":"changes","args":{"since":"c:9f2e01aa:4711"}}"#,
            ),
            ("cancel 7", r#"{"id":1,"command":"cancel","args":{"id":7}}"#),
            (
                "type hello --app Notes --no-effects",
                r#"{"id":1,"command":"type","args":{"text":"hello","app":"Notes","no_effects":true}}"#,
            ),
            (
                "type textfield:Search -5 --app Notes",
                r#"{"id":1,"command":"type","args":{"target":"textfield:Search","text":"-5","app":"Notes"}}"#,
            ),
            (
                "type textfield:Search -hello --app Notes",
                r#"{"id":1,"command":"type","args":{"target":"textfield:Search","text":"-hello","app":"Notes"}}"#,
            ),
            ("--text type -word", r#"{"id":1,"command":"type","args":{"text":"-word"}}"#),
            (
                "type 5,10 -x --window Inbox --no-effects",
                r#"{"id":1,"command":"type","args":{"target":"5,10","text":"-x","window":"Inbox","no_effects":true}}"#,
            ),
            ("type a -- --b", r#"{"id":1,"command":"type","args":{"target":"a","text":"--b"}}"#),
            (
                "type --app Notes -- textarea --help",
                r#"{"id":1,"command":"type","args":{"target":"textarea","text":"--help","app":"Notes"}}"#,
            ),
            ("type -- --b", r#"{"id":1,"command":"type","args":{"text":"--b"}}"#),
            ("type a -- -", r#"{"id":1,"command":"type","args":{"target":"a","text":"-"}}"#),
            (
                "type a --«help,me»! --app Notes",
                r#"{"id":1,"command":"type","args":{"target":"a","text":"--«help,me»!","app":"Notes"}}"#,
            ),
            (
                "set-value slider:Volume -3 --route semantic",
                r#"{"id":1,"command":"set-value","args":{"target":"slider:Volume","value":"-3","route":"semantic"}}"#,
            ),
            (
                "select tab:Advanced --app Notes",
                r#"{"id":1,"command":"select","args":{"target":"tab:Advanced","app":"Notes"}}"#,
            ),
            (
                "click -5,10 --window Inbox",
                r#"{"id":1,"command":"click","args":{"target":"-5,10","window":"Inbox"}}"#,
            ),
            (
                "move-window --to -5,10 --app Notes",
                r#"{"id":1,"command":"move-window","args":{"to":"-5,10","app":"Notes"}}"#,
            ),
            ("clipboard-set hello --json", r#"{"id":1,"command":"clipboard-set","args":{"text":"hello"}}"#),
            ("clipboard-set --json -5", r#"{"id":1,"command":"clipboard-set","args":{"text":"-5"}}"#),
            (
                "launch Notes --arg -v --arg --fast --env A=b",
                r#"{"id":1,"command":"launch","args":{"app":"Notes","arg":["-v","--fast"],"env":["A=b"]}}"#,
            ),
            (
                "screenshot --region -5,0,10,10 --json",
                r#"{"id":1,"command":"screenshot","args":{"region":"-5,0,10,10"}}"#,
            ),
            ("wait 250", r#"{"id":1,"command":"wait","args":{"ms":250}}"#),
            (
                "mouse-click 1,2 --modifiers ctrl+shift",
                r#"{"id":1,"command":"mouse-click","args":{"point":"1,2","modifiers":"ctrl+shift"}}"#,
            ),
            (
                "--text sim Notes type body -5",
                r#"{"id":1,"command":"sim","args":{"app":"Notes","verb":"type","target":"body","text":"-5"}}"#,
            ),
            ("pipe", "Pipe(Pipe)"),
        ] {
            assert_eq!(sent(line).0, request, "{line}");
        }
    }

    #[test]
    fn a_text_of_several_words_may_begin_with_dashes() {
        let words = ["type", "textarea", "--help me", "--app", "Notes"].map(OsString::from);
        let Parsed::Run(invocation, _) = parse(&words) else { panic!("it is no command") };
        let Invocation::Wire(command) = *invocation else { panic!("it is not sent") };
        let sent = request_line(1, &command, Ask::any_protocol()).unwrap();
        assert!(sent.contains(r#""text":"--help me""#) && sent.contains(r#""app":"Notes""#), "{sent}");
    }

    #[test]
    fn the_options_of_every_command_may_stand_before_or_after_it() {
        for line in [
            "--json --socket /s --deadline-ms 50 --platform sim --no-autostart get x",
            "get --json --socket=/s --deadline-ms=50 x --platform sim --no-autostart",
            "--text --socket /s get x --deadline-ms 50 --json --platform sim --no-autostart",
        ] {
            let (request, options) = sent(line);
            assert_eq!(request, r#"{"id":1,"command":"get","args":{"target":"x"}}"#, "{line}");
            assert_eq!(
                options,
                Options {
                    mode: Some(Mode::Json),
                    socket: Some("/s".into()),
                    no_autostart: true,
                    deadline: Some(Duration::from_millis(50)),
                    platform: Some("sim".into()),
                },
                "{line}"
            );
        }
    }

    #[test]
    fn a_command_line_that_makes_no_sense_says_what_was_meant() {
        for (line, message, tip) in [
            ("snapshto", "unrecognized subcommand 'snapshto'", Some("snapshot")),
            ("get", "required arguments were not provided: <TARGET>", None),
            ("get x --propertyy name", "unexpected argument '--propertyy' found", Some("--property")),
            ("is x --property visibl", "invalid value 'visibl'", Some("visible")),
            ("changes --since yesterday", "'yesterday' is not a clock token", None),
            ("wait button:Save", "to wait for an element, use --for \"button:Save\"", None),
            ("--deadline-ms soon get x", "invalid value 'soon'", None),
            ("--json", "no command", None),
        ] {
            let Parsed::Usage(usage) = read(line) else { panic!("{line}") };
            assert!(usage.message.contains(message), "{line}: {}", usage.message);
            assert_eq!(usage.tip.is_some(), tip.is_some(), "{line}: {:?}", usage.tip);
            assert!(tip.is_none_or(|tip| usage.tip.unwrap().contains(tip)), "{line}");
        }
    }

    #[test]
    fn help_is_plain_wherever_it_is_asked_for() {
        for line in ["--help", "-h", "help", "-h get"] {
            let Parsed::Plain(text) = read(line) else { panic!("{line}") };
            assert!(text.contains("Exit codes") && text.contains("  snapshot  "), "{line}: {text}");
        }
        for line in ["type -h", "type textfield:Name --help", "click -h"] {
            assert!(matches!(read(line), Parsed::Plain(_)), "{line}");
        }
        for line in ["get --help", "get -h", "help get", "--json get --help"] {
            let Parsed::Plain(text) = read(line) else { panic!("{line}") };
            assert!(text.contains("Usage: ax get [OPTIONS] <TARGET>"), "{line}: {text}");
            assert!(text.contains("\n  ax get btn_4k2p9x\n"), "examples stay lines: {text}");
        }
        assert!(matches!(read("-V"), Parsed::Plain(text) if text.starts_with("ax ")));
    }

    #[test]
    fn every_command_is_well_formed() {
        all().debug_assert();
    }
}
