//! The command line: arguments become a request, and its answer is printed; and the commands that need no daemon.

mod agent_desktop;
mod approve;
mod audit;
mod batch_lines;
mod demo;
mod doctor;
mod extension;
mod format;
mod format_event;
mod help;
mod image_output;
mod mcp;
mod output;
mod parse;
mod pipe;
mod policy;
mod reference;
mod request;
mod schema;
mod selftest;
mod service;
mod skills;
mod stdin;
mod watch;

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use axd_client::{ClientError, Connection, DaemonStart};
use axd_protocol::Command;
use axd_protocol::command::Invocation;

use output::Mode;
use parse::{Options, Parsed};

/// The exit codes of `ax`, which are documented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Done = 0,
    /// The daemon answered with an error, or the connection was lost.
    Failed = 1,
    /// The command line is invalid.
    Usage = 2,
    /// No daemon could be reached or started.
    Unavailable = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Runs a command line under the name that the program was called by.
pub fn run_as(name: Option<&OsStr>, args: Vec<OsString>) -> Exit {
    if agent_desktop::is_called(name) { agent_desktop::run(&args) } else { run(args) }
}

/// Runs a command line of `ax`.
fn run(args: Vec<OsString>) -> Exit {
    let args = match stdin::fill_in(args) {
        Ok(args) => args,
        Err(failed) => {
            output::failure("batch", &(*failed.error).into(), Mode::of(failed.mode));
            return failed.exit;
        }
    };
    let (mut invocation, options) = match parse::parse(&args) {
        Parsed::Run(invocation, options) => (*invocation, options),
        Parsed::Text(text) => return output::print_text(&text),
        Parsed::Usage(usage) => return output::usage(&usage, format::mode_asked(&args)),
    };
    let is_look = matches!(&invocation, Invocation::Wire(command) if matches!(**command, Command::Look(_)));
    let mode = Mode::of(options.mode.or(is_look.then_some(Mode::Text)));
    if let Err(error) = stdin::fill_in_text(&mut invocation, &args) {
        return output::failure("type", &error.into(), mode);
    }
    match invocation {
        Invocation::Wire(command) => match *command {
            Command::Subscribe(what) => watch::run(what, &options, mode),
            command => request::run(command, &options, mode),
        },
        Invocation::Pipe(_) => pipe::run(&options, mode),
        Invocation::Schema(what) => schema::run(&what, mode),
        Invocation::Demo(_) => demo::run(mode),
        Invocation::Approve(what) => approve::run(&what, &options, mode),
        Invocation::Audit(what) => audit::run(&what, mode),
        Invocation::Policy(what) => policy::run(what, &options, mode),
        Invocation::Service(what) => service::run(&what, &options, mode),
        Invocation::Mcp(what) => mcp::run(&what, &options, mode),
        Invocation::Skills(what) => skills::run(&what, options.mode),
        Invocation::Selftest(_) => selftest::run(&options, mode),
    }
}

/// Connects to the daemon, and starts it if that is allowed.
fn connect(options: &Options) -> Result<Connection, ClientError> {
    let socket = options.socket();
    match options.start() {
        Some(start) => {
            let connection = axd_client::connect_or_start(&socket, &start)?;
            if let Some(on_message) = start.on_message.filter(|_| start.uses_launchd()) {
                axd_client::launchd::tell_if_throttled(&socket, on_message);
            }
            Ok(connection)
        }
        None => Connection::open_within(&socket, options.deadline),
    }
}

/// Replaces a daemon of another protocol version, if that one may be stopped.
fn replace_daemon(options: &Options) -> Result<Option<Connection>, ClientError> {
    let start: Option<DaemonStart> = options.start();
    start.map_or(Ok(None), |start| axd_client::restart_if_idle(&options.socket(), &start))
}
