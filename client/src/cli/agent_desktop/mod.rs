//! `agent-desktop`: the command line of another design, which `ax` understands when it is called by that name.
//!
//! What the commands come to is in `axd_client::agent_desktop`. Here is what a command line adds: its flags (`parse.rs`), a file for the
//! refs (`store.rs`), and one line of JSON on standard output.

mod parse;
mod store;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use axd_client::agent_desktop::{Axd, Envelope, Outcome, Picture, run as run_command};
use axd_client::files::save_picture;
use axd_client::protocol::command::{Command, Hello};
use axd_client::protocol::{Error, ErrorCode, Result};
use axd_client::{ClientError, Connection, Reply, RequestOptions};

use super::output::print_text;
use super::parse::Options;
use super::{Exit, connect, replace_daemon};
use parse::{Line, Parsed};
use store::Store;

/// The name under which `ax` is this program.
pub const PROGRAM: &str = "agent-desktop";

/// Whether `ax` was called by that name.
pub fn is_called(argv0: Option<&OsStr>) -> bool {
    argv0.and_then(|path| Path::new(path).file_name()).is_some_and(|name| name == PROGRAM)
}

/// Runs a command line.
pub fn run(args: &[OsString]) -> Exit {
    match parse::parse(args) {
        Parsed::Text(text) => print_text(&text),
        Parsed::Usage(message) => {
            print(&Envelope::usage(&message));
            Exit::Usage
        }
        Parsed::Run(line) => print_outcome(execute(&line), line.verbose),
    }
}

fn execute(line: &Line) -> Outcome {
    let options = Options::from_environment(line.deadline);
    let store = Store::beside(&options.socket());
    let refs = store.load();
    let connection = match greeted(&options, line) {
        Ok(connection) => connection,
        Err(fault) => return Outcome::failed(&line.command, fault.to_error()),
    };
    let axd = Blocking { connection: Mutex::new(connection), deadline: line.deadline };
    let before = refs.clone();
    let refs = Mutex::new(refs);
    let Some(mut outcome) = at_once(run_command(&axd, &refs, &line.command, line.fields.clone())) else {
        let error = Error::new(ErrorCode::Internal, "a command waited for something that never comes");
        return Outcome::failed(&line.command, error);
    };
    let refs = refs.into_inner().unwrap_or_else(PoisonError::into_inner);
    if refs != before
        && let Err(error) = store.save(&refs)
    {
        return Outcome::failed(&line.command, error);
    }
    if let Some(Picture { base64, path: Some(path), .. }) = &outcome.picture
        && let Err(message) = save_picture(path, base64)
    {
        outcome = Outcome::failed(&line.command, Error::new(ErrorCode::ActionFailed, message));
    }
    outcome
}

/// A connection that says who uses it. A daemon of another version is replaced, if it may be.
fn greeted(options: &Options, line: &Line) -> std::result::Result<Connection, ClientError> {
    let hello = Command::Hello(Hello { client: PROGRAM.to_owned(), agent: line.session.clone() });
    let greet = |connection: &mut Connection| {
        connection.request(&hello, RequestOptions { deadline: line.deadline, ..RequestOptions::default() })
    };
    let mut connection = connect(options)?;
    match greet(&mut connection) {
        Err(ClientError::Daemon(error)) if error.code == ErrorCode::ProtocolMismatch => {
            connection = replace_daemon(options)?.ok_or(ClientError::Daemon(error))?;
            greet(&mut connection)?;
        }
        greeted => drop(greeted?),
    }
    if line.deadline.is_none() {
        connection.check_liveness(&options.socket())?;
    }
    Ok(connection)
}

/// axd, over a connection that blocks.
struct Blocking {
    connection: Mutex<Connection>,
    deadline: Option<Duration>,
}

impl Axd for Blocking {
    async fn ask(&self, command: Command, deadline: Option<Duration>) -> Result<Reply> {
        let options = RequestOptions { deadline: self.deadline.or(deadline), ..RequestOptions::default() };
        // Nobody else has it: a command asks one thing after the other.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        connection.request(&command, options).map_err(|fault| fault.to_error())
    }
}

/// The result of a future that never waits, because all that it asks blocks. `None` if it waits after all.
fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

fn print_outcome(mut outcome: Outcome, verbose: bool) -> Exit {
    if let (Some(told), Some(error)) =
        (&mut outcome.envelope.error, outcome.error.as_ref().filter(|_| verbose))
    {
        told.platform_detail = Some(format!("axd {}", error.code.name()));
    }
    let exit = if outcome.envelope.ok { Exit::Done } else { Exit::Failed };
    match print(&outcome.envelope) {
        Exit::Done => exit,
        failed => failed,
    }
}

fn print(envelope: &Envelope) -> Exit {
    print_text(&envelope.to_line())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_counts_and_not_the_folder() {
        for (argv0, expected) in [
            ("agent-desktop", true),
            ("/usr/bin/agent-desktop", true),
            ("ax", false),
            ("/opt/agent-desktop/ax", false),
        ] {
            assert_eq!(is_called(Some(OsStr::new(argv0))), expected, "{argv0}");
        }
        assert!(!is_called(None));
    }

    #[test]
    fn what_waits_is_not_waited_for() {
        assert_eq!(at_once(async { 1 }), Some(1));
        assert_eq!(at_once(std::future::pending::<()>()), None);
    }
}
