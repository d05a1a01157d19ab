//! Where the engine writes the audit.

use axd_protocol::command::CommandKind;
use axd_protocol::error::Delivery;
use axd_protocol::{Command, Error, ErrorCode};

use crate::Engine;
use crate::policy::permit::ActionSubject;
use crate::policy::{Entry, Launched};
use axd_service::Call;

/// Records an action that is dropped before it has ended, as one that is cancelled before anything was sent.
pub(crate) struct RecordIfDropped<'a> {
    engine: &'a Engine,
    call: &'a Call,
    is_over: bool,
}

impl<'a> RecordIfDropped<'a> {
    pub fn new(engine: &'a Engine, call: &'a Call) -> RecordIfDropped<'a> {
        // A batch leaves the lines of its parts.
        let acts = call.command.kind() == CommandKind::Acts && !matches!(call.command, Command::Batch(_));
        RecordIfDropped { engine, call, is_over: !acts }
    }

    /// It has ended, and is recorded with what came of it.
    pub fn end(mut self) {
        self.is_over = true;
    }
}

impl Drop for RecordIfDropped<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let message = format!("{} was cancelled", self.call.command.name());
        let delivery = if self.call.gate.is_sent() { Delivery::Uncertain } else { Delivery::NotDelivered };
        let error = Error::new(ErrorCode::Cancelled, message);
        self.engine.record(self.call, &ActionSubject::default(), delivery, Some(&error));
    }
}

impl Engine {
    /// Writes the audit line of an action.
    pub(crate) fn record(
        &self,
        call: &Call,
        about: &ActionSubject<'_>,
        delivery: Delivery,
        error: Option<&Error>,
    ) {
        let names = call.session.names.lock();
        let described = about.described.as_ref();
        self.audit.write(&Entry {
            client: call.session.client,
            client_name: names.0.as_deref(),
            client_pid: call.session.pid,
            agent: names.1.as_deref(),
            command: call.command.name(),
            app: about.app.as_ref().map_or_else(|| named(&call.command), |app| Some(&app.name)),
            pid: about.app.as_ref().map(|app| app.pid),
            target: about.target,
            role: described.map(|node| node.role),
            name: described.and_then(|node| node.name.as_deref()).map(start_of),
            keys: about.keys.map(ToString::to_string),
            launch: launched(&call.command),
            approved_by: call.approved.by(),
            delivery,
            error: error.map(|error| error.code),
            rule: error.and_then(rule_of),
        });
    }
}

/// The maximum number of characters of a name or an argument in the audit.
const MAX_NAME_CHARS: usize = 80;

fn start_of(text: &str) -> &str {
    text.char_indices().nth(MAX_NAME_CHARS).map_or(text, |(end, _)| &text[..end])
}

/// Whether the policy is why a request was refused.
pub(crate) fn is_refused(error: &Error) -> bool {
    matches!(error.code, ErrorCode::PolicyDenied | ErrorCode::ApprovalRequired)
}

/// The rule that denied an action, which is in parentheses at the end of the error's message.
fn rule_of(error: &Error) -> Option<&str> {
    let message = error.message.strip_suffix(')').filter(|_| is_refused(error))?;
    message.rsplit_once('(').map(|(_, rule)| rule)
}

fn launched(command: &Command) -> Option<Launched<'_>> {
    let Command::Launch(args) = command else { return None };
    Some(Launched {
        program: &args.app,
        args: args.arg.iter().map(|arg| start_of(arg)).collect(),
        env: args.env.iter().map(|pair| pair.split('=').next().unwrap_or_default()).collect(),
        cwd: args.cwd.as_deref(),
    })
}

/// The app or window that a desktop command names.
fn named(command: &Command) -> Option<&str> {
    match command {
        Command::Launch(args) => Some(&args.app),
        Command::CloseApp(args) => Some(&args.app),
        Command::Screenshot(args) => args.app.as_deref(),
        Command::FocusWindow(args) => args.app.as_deref().or(args.window.as_deref()),
        Command::MoveWindow(args) => args.app.as_deref().or(args.window.as_deref()),
        Command::ResizeWindow(args) => args.app.as_deref().or(args.window.as_deref()),
        Command::Minimize(args) => args.app.as_deref().or(args.window.as_deref()),
        Command::Maximize(args) => args.app.as_deref().or(args.window.as_deref()),
        Command::Restore(args) => args.app.as_deref().or(args.window.as_deref()),
        _ => None,
    }
}
