//! Where the engine asks the policy, and where it writes the audit.

use axd_protocol::error::Delivery;
use axd_protocol::keys::Combo;
use axd_protocol::{Command, Error, NodeId, Result};

use crate::Engine;
use crate::policy::{Entry, Intent};
use axd_platform::RunningApp;
use axd_service::Call;

/// The subject of an action, as far as the policy and the audit need it.
#[derive(Debug, Default)]
pub(crate) struct ActionSubject<'a> {
    pub app: Option<RunningApp>,
    pub target: Option<NodeId>,
    pub keys: Option<&'a Combo>,
    pub text: Option<&'a str>,
}

impl Engine {
    /// Asks the policy whether an action is allowed.
    pub(crate) fn permit(&self, call: &Call, about: &ActionSubject<'_>) -> Result<()> {
        let intent = Intent {
            command: call.command.name(),
            app: about.app.as_ref(),
            foreign: about.app.as_ref().is_some_and(|seen| !self.platform.is_ours(seen.pid)),
            keys: about.keys,
            text: about.text,
        };
        self.policy.check(&intent).map_err(Error::from)
    }

    /// Asks the policy about an action on an app as a whole.
    pub(crate) fn permit_on(&self, call: &Call, app: Option<RunningApp>) -> Result<()> {
        self.permit(call, &ActionSubject { app, ..ActionSubject::default() })
    }

    /// Writes the audit line of an action.
    pub(crate) fn record(
        &self,
        call: &Call,
        about: &ActionSubject<'_>,
        delivery: Delivery,
        error: Option<&Error>,
    ) {
        let names = call.session.names.lock();
        self.audit.write(&Entry {
            client: call.session.client,
            client_pid: call.session.pid,
            agent: names.1.as_deref(),
            command: call.command.name(),
            app: about.app.as_ref().map_or_else(|| named(&call.command), |app| Some(&app.name)),
            pid: about.app.as_ref().map(|app| app.pid),
            target: about.target,
            delivery,
            error: error.map(|error| error.code),
        });
    }
}

/// The app or window that a desktop command names.
fn named(command: &Command) -> Option<&str> {
    match command {
        Command::Launch(args) => Some(&args.app),
        Command::CloseApp(args) => Some(&args.app),
        Command::FocusWindow(args) => args.app.as_deref().or(args.window.as_deref()),
        Command::MoveWindow(args) => args.app.as_deref().or(args.window.as_deref()),
        Command::ResizeWindow(args) => args.app.as_deref().or(args.window.as_deref()),
        Command::Minimize(args) => args.app.as_deref().or(args.window.as_deref()),
        Command::Maximize(args) => args.app.as_deref().or(args.window.as_deref()),
        Command::Restore(args) => args.app.as_deref().or(args.window.as_deref()),
        _ => None,
    }
}
