//! Parses the command line. Only the command that is named is built, because building all of them takes longer than a call
//! to the daemon.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use axd_client::DaemonStart;
use axd_client::protocol::PROTOCOL_VERSION;
use axd_client::protocol::command::{ALL_NAMES, Invocation};
use clap::error::{ContextKind, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::format::{FORMAT, mode_of_environment};
use super::output::{self, Mode};
use super::{extension, help};

/// Another name of `subscribe`.
pub const WATCH: &str = "watch";
/// The variable that turns auto-start off, if set to anything but `0`.
pub const NO_AUTOSTART: &str = "AXD_NO_AUTOSTART";
/// The command whose answer is text wherever it is printed.
pub const LOOK: &str = "look";

// The ids of the options that every command has. The prefix keeps them different from the arguments of commands.
const JSON: &str = "ax-json";
const TEXT: &str = "ax-text";
const SOCKET: &str = "ax-socket";
const NO_START: &str = "ax-no-autostart";
const DEADLINE: &str = "ax-deadline-ms";
const PLATFORM: &str = "ax-platform";

/// The options that every command has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// The output format, if given; otherwise it depends on whether standard output is a terminal.
    pub mode: Option<Mode>,
    /// The path of the socket, if given.
    pub socket: Option<PathBuf>,
    /// Whether a missing daemon is not started.
    pub no_autostart: bool,
    /// The time limit for the request.
    pub deadline: Option<Duration>,
    /// The platform of a daemon that is started.
    pub platform: Option<String>,
}

impl Options {
    /// Those of the environment alone.
    pub fn from_environment(deadline: Option<Duration>) -> Options {
        Options { no_autostart: is_start_forbidden(), deadline, ..Options::default() }
    }

    /// The socket to use.
    pub fn socket(&self) -> PathBuf {
        self.socket.clone().unwrap_or_else(|| axd_client::paths().socket)
    }

    /// How to start a missing daemon; `None` if it must not be started.
    pub fn start(&self) -> Option<DaemonStart> {
        let start = DaemonStart {
            platform: self.platform.clone(),
            on_message: output::on_message(),
            timeout: self.deadline,
            ..DaemonStart::default()
        };
        (!self.no_autostart).then_some(start)
    }
}

/// The result of parsing a command line.
#[derive(Debug)]
pub enum Parsed {
    /// A command to run.
    Run(Box<Invocation>, Options),
    /// A text to print: help or version.
    Text(String),
    /// The command line is invalid.
    Usage(Usage),
}

/// What is wrong with a command line.
#[derive(Debug)]
pub struct Usage {
    /// The command, or an empty string if there is none.
    pub command: String,
    /// Clap's message, for people.
    pub text: String,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What may have been meant, or what to do.
    pub tip: Option<String>,
}

/// Parses a command line, without the program's name.
pub fn parse(args: &[OsString]) -> Parsed {
    let named = named_command(args);
    if let Err(wrong) = mode_of_environment() {
        let message = format!("{FORMAT} must be text or json, not '{wrong}'");
        let (command, text) = (named.unwrap_or_default().to_owned(), format!("error: {message}\n"));
        return Parsed::Usage(Usage { command, text, message, tip: None });
    }
    let known = |name: &str| ALL_NAMES.iter().copied().chain([extension::NAME]).find(|known| *known == name);
    let one = named.and_then(|name| known(canonical(name)));
    let root = match one {
        Some(extension::NAME) => root().subcommand(extension::clap_command()),
        Some(name) => root().subcommands(subcommand(name)),
        None => all(),
    };
    let args = &with_app_as_word(args, named);
    let argv = one.and_then(|name| with_dashed_words(args, name, &root));
    let argv = argv.as_deref().unwrap_or(args);
    let argv = std::iter::once(OsString::from("ax")).chain(argv.iter().cloned());
    let read = root.try_get_matches_from(argv).and_then(|matches| {
        // A subcommand is required, so there always is one.
        let (name, matched) = matches.subcommand().unwrap_or((ALL_NAMES[0], &matches));
        let invocation = match name {
            extension::NAME => extension::from_matches(matched),
            name => Invocation::from_matches(name, matched)?,
        };
        Ok(Parsed::Run(Box::new(invocation), options(matched)))
    });
    read.unwrap_or_else(|fault| match fault.kind() {
        ErrorKind::DisplayHelp => Parsed::Text(fault.to_string()),
        ErrorKind::DisplayVersion => {
            Parsed::Text(format!("ax {} (protocol {PROTOCOL_VERSION})\n", env!("CARGO_PKG_VERSION")))
        }
        _ => Parsed::Usage(usage(&fault, named.unwrap_or_default())),
    })
}

/// Moves the last word behind a `--`, if the command takes texts that start with a dash and one of the words is such a text.
/// `None` if nothing has to be changed.
fn with_dashed_words(args: &[OsString], name: &str, root: &Command) -> Option<Vec<OsString>> {
    let command = root.find_subcommand(name)?;
    if name != extension::NAME && !command.get_positionals().any(Arg::is_allow_hyphen_values_set) {
        return None;
    }
    let takes_value = |option: &str| {
        let known = root.get_arguments().chain(command.get_arguments());
        let mut named = known.filter(|arg| arg.get_long().is_some_and(|long| option[2..] == *long));
        named.any(|arg| arg.get_action().takes_values())
    };
    // A word that is not an option name, with or without a value, is text.
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
    // The first word is the command; the word after `--` is its last argument.
    let (command, last) = (words.remove(0), words.pop()?);
    let line = [command].into_iter().chain(options).chain(words);
    Some(line.chain([OsString::from("--"), last]).collect())
}

/// `ax look --app Notes` is `ax look Notes`: what every other command takes as an option is accepted as one.
fn with_app_as_word(args: &[OsString], named: Option<&str>) -> Vec<OsString> {
    let mut args = args.to_vec();
    if named != Some(LOOK) {
        return args;
    }
    match args.iter().position(|arg| arg == "--app") {
        Some(at) if at + 1 < args.len() => drop(args.remove(at)),
        _ => {}
    }
    for arg in &mut args {
        if let Some(app) = arg.to_str().and_then(|arg| arg.strip_prefix("--app=")) {
            *arg = app.into();
        }
    }
    args
}

/// `ax` with all its commands, for the help and for suggestions of similar commands.
pub fn all() -> Command {
    let commands = ALL_NAMES.iter().filter_map(|name| subcommand(name));
    root().override_help(help::overview()).subcommands(commands).subcommand(extension::clap_command())
}

/// The clap command of one command.
pub fn subcommand(name: &str) -> Option<Command> {
    let command = Invocation::clap_command(name)?;
    // `-h` and `--help` both print the full description and one line per argument, because clap's long form takes too much space.
    let about = command.get_long_about().or_else(|| command.get_about()).cloned().unwrap_or_default();
    let command = command.about(about).long_about(None::<&str>).disable_help_flag(true);
    Some(if name == "subscribe" { command.visible_alias(WATCH) } else { command })
}

fn canonical(name: &str) -> &str {
    if name == WATCH { "subscribe" } else { name }
}

/// The first word that is not an option, unless help is asked for before it.
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
            .help("Print JSON [default: unless on a terminal; never for look]"),
        option(TEXT)
            .action(ArgAction::SetTrue)
            .overrides_with(JSON)
            .help("Print text [default: on a terminal]"),
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
        option(NO_START).action(ArgAction::SetTrue).help("Do not start a missing daemon"),
    ]
}

/// Whether the environment says that a missing daemon is not started.
fn is_start_forbidden() -> bool {
    std::env::var_os(NO_AUTOSTART).is_some_and(|set| !set.is_empty() && set != "0")
}

fn options(matches: &ArgMatches) -> Options {
    let mode = match (matches.get_flag(JSON), matches.get_flag(TEXT)) {
        (true, _) => Some(Mode::Json),
        (_, true) => Some(Mode::Text),
        _ => mode_of_environment().ok().flatten(),
    };
    Options {
        mode,
        socket: matches.get_one(SOCKET).cloned(),
        no_autostart: matches.get_flag(NO_START) || is_start_forbidden(),
        deadline: matches.get_one(DEADLINE).copied().map(Duration::from_millis),
        platform: matches.get_one(PLATFORM).cloned(),
    }
}

fn usage(fault: &clap::Error, command: &str) -> Usage {
    let text = fault.to_string();
    if fault.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        || fault.kind() == ErrorKind::MissingSubcommand
    {
        let message = "the command is missing".to_owned();
        return Usage { command: String::new(), text: help::overview(), message, tip: None };
    }
    // Clap's text has three parts, separated by empty lines: what is wrong (perhaps with a list), a tip, and the usage.
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
    use axd_client::{RequestOptions, request_line};

    fn read(line: &str) -> Parsed {
        parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    /// What `ax` would send, and with which options.
    fn sent(line: &str) -> (String, Options) {
        match read(line) {
            Parsed::Run(invocation, options) => match *invocation {
                Invocation::Wire(command) => (
                    request_line(1, &command, RequestOptions::any_protocol()).unwrap().trim_end().to_owned(),
                    options,
                ),
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
                r#"{"id":1,"command":"sim","args":["Notes","type","body","-5"]}"#,
            ),
            ("sim Notes heal --json", r#"{"id":1,"command":"sim","args":["Notes","heal"]}"#),
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
        let sent = request_line(1, &command, RequestOptions::any_protocol()).unwrap();
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
            ("--json", "the command is missing", None),
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
            let Parsed::Text(text) = read(line) else { panic!("{line}") };
            assert!(text.contains("Exit codes") && text.contains("  snapshot  "), "{line}: {text}");
        }
        for line in ["type -h", "type textfield:Name --help", "click -h"] {
            assert!(matches!(read(line), Parsed::Text(_)), "{line}");
        }
        for line in ["get --help", "get -h", "help get", "--json get --help"] {
            let Parsed::Text(text) = read(line) else { panic!("{line}") };
            assert!(text.contains("Usage: ax get [OPTIONS] <TARGET>"), "{line}: {text}");
            assert!(text.contains("\n  ax get btn_4k2p9x\n"), "examples stay lines: {text}");
        }
        assert!(matches!(read("-V"), Parsed::Text(text) if text.starts_with("ax ")));
    }

    #[test]
    fn every_command_is_well_formed() {
        all().debug_assert();
    }
}
