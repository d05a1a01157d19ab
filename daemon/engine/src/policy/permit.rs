//! Where the engine asks the policy before a request begins.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use axd_policy::{Decision, Fact, Stage, Verdict};
use axd_protocol::command::CommandKind;
use axd_protocol::event::Event;
use axd_protocol::keys::Combo;
use axd_protocol::{Command, NodeId, NodeRef, Result};
use parking_lot::Mutex;

use crate::Engine;
use crate::apps::app::App;
use crate::policy::approvals::asked;
use crate::policy::facts::{About, AppView, ElementView, Requester};
use crate::subscribe::event_log::event_data;
use axd_platform::RunningApp;
use axd_service::{Approved, Call};

/// The subject of an action, as far as the policy and the audit need it.
#[derive(Debug, Default)]
pub(crate) struct ActionSubject<'a> {
    pub app: Option<RunningApp>,
    pub target: Option<NodeId>,
    /// The target as it was before anything was done to it.
    pub described: Option<NodeRef>,
    pub keys: Option<&'a Combo>,
    pub text: Option<&'a str>,
}

/// What the policy knows of a connected client.
#[derive(Debug, Default)]
pub(crate) struct ClientGrants {
    /// The rules that need not ask about it again while it is connected.
    always: Mutex<HashSet<String>>,
    /// The characters that its batch in progress has entered so far. Its batches run one after another.
    pub batch_chars: AtomicUsize,
}

/// A client that reads.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    requester: Requester,
    client: u64,
    approved: Approved,
}

impl ClientGrants {
    pub fn allow_always(&self, rule: String) {
        self.always.lock().insert(rule);
    }

    pub fn is_always_allowed(&self, rule: &str) -> bool {
        self.always.lock().contains(rule)
    }
}

impl Engine {
    /// Asks whether a command may be executed at all, whatever it is about: before anything else is done for it.
    pub(crate) async fn permit_command(self: &Arc<Self>, call: &Call) -> Result<()> {
        let launch;
        let about = match &call.command {
            // The parts of a batch are asked about one by one.
            Command::Batch(_) => return Ok(()),
            // An app, a window or an element that it is about is asked about where it is found.
            command if finds_out_more(command) => {
                return self.permit_to_begin(call, Fact::Unknown);
            }
            Command::Launch(args) => {
                launch = self.launch_view(args).await;
                About { launch: Some(&launch), ..About::default() }
            }
            Command::ClipboardSet(args) => About::of_clipboard(args),
            _ => About::default(),
        };
        self.permit(call, &about)
    }

    /// Asks whether a command may begin, of which it is found out later what else it is about. Somebody is asked then, too.
    fn permit_to_begin(&self, call: &Call, app: Fact<&AppView>) -> Result<()> {
        let about = About { app, window: Fact::Unknown, element: Fact::Unknown, ..About::default() };
        let decision = self.decide(&Requester::of(call), &about, Stage::Before);
        if decision.verdict == Verdict::Ask {
            return Ok(());
        }
        self.follow(call, decision, &about)
    }

    /// Asks whether an action may begin.
    pub(crate) fn permit_action(
        &self,
        call: &Call,
        subject: &ActionSubject<'_>,
        element: Option<&ElementView>,
        window: Option<&str>,
    ) -> Result<()> {
        let app = subject.app.as_ref().and_then(|app| self.app_view(app.pid));
        let keys: Vec<Combo> = subject.keys.into_iter().cloned().collect();
        let about = About {
            app: Fact::known_or_not(app.as_ref()),
            window: Fact::known_or_not(window),
            element: Fact::known_or_not(element),
            keys: &keys,
            text: subject.text,
            ..About::default()
        };
        let decision = self.decide(&Requester::of(call), &about, Stage::Before);
        self.follow(call, decision, &about)
    }

    /// Asks whether an app may be read, or a command about it as a whole may be executed.
    pub(crate) fn permit_app(&self, call: &Call, app: &App) -> Result<()> {
        let acts = call.command.kind() == CommandKind::Acts;
        if !acts && !self.policy.restricts_reading() {
            return Ok(());
        }
        let view = self.view_to_read(app);
        match acts {
            // Whatever an action does to the app is asked about when it is done.
            true => self.permit_to_begin(call, Fact::Known(&view)),
            false => self.permit(call, &About { app: Fact::Known(&view), ..About::default() }),
        }
    }

    /// Who reads, for commands that read more than one app.
    pub(crate) fn reader(&self, call: &Call) -> Reader {
        Reader {
            requester: Requester::of(call),
            client: call.session.client,
            approved: call.approved.clone(),
        }
    }

    /// Whether a client may read an app without being asked for approval.
    pub(crate) fn may_read(&self, reader: &Reader, app: &App) -> bool {
        !self.policy.restricts_reading() || self.may_see(reader, &self.view_to_read(app), None)
    }

    /// Whether a client may be told of a window of a process, or of the process itself.
    pub(crate) fn may_see_pid(&self, reader: &Reader, pid: u32, window: Option<&str>) -> bool {
        if !self.policy.restricts_reading() {
            return true;
        }
        let view = match self.by_pid(pid) {
            Some(app) => Some(self.view_to_read(&app)),
            None => self.app_view(pid),
        };
        view.is_some_and(|view| self.may_see(reader, &view, window))
    }

    /// Whether a client may be told of an event.
    pub(crate) fn may_see_event(&self, reader: &Reader, event: &Event) -> bool {
        let Some((_, data)) = event_data(event) else { return true };
        !self.is_hidden_event(data)
            && self.may_see_pid(
                reader,
                data.app.pid,
                data.window.as_ref().map(|window| window.title.as_str()),
            )
    }

    fn may_see(&self, reader: &Reader, view: &AppView, window: Option<&str>) -> bool {
        let about = About { app: Fact::Known(view), window: window.into(), ..About::default() };
        let decision = self.decide(&reader.requester, &about, Stage::Final);
        self.is_allowed(&decision, reader.client, &reader.approved, &about)
    }

    /// Whether the policy has decided for something, or somebody has approved it.
    pub(crate) fn is_allowed(
        &self,
        decision: &Decision,
        client: u64,
        approved: &Approved,
        about: &About<'_>,
    ) -> bool {
        match decision.verdict {
            Verdict::Allow => true,
            Verdict::Ask => {
                approved.has(&asked(decision, about))
                    || self.client_grants(client).is_always_allowed(&decision.rule)
            }
            Verdict::Deny => false,
        }
    }

    /// Fails with the decision unless something is allowed. Notes what must be approved for it.
    pub(crate) fn check(
        &self,
        decision: Decision,
        client: u64,
        approved: &Approved,
        about: &About<'_>,
    ) -> std::result::Result<(), Decision> {
        if self.is_allowed(&decision, client, approved, about) {
            return Ok(());
        }
        if decision.verdict == Verdict::Ask {
            approved.need(asked(&decision, about));
        }
        Err(decision)
    }

    /// The attached apps that a client may read.
    pub(crate) fn readable_apps(&self, reader: &Reader) -> Vec<Arc<App>> {
        let mut apps = self.all_apps();
        apps.retain(|app| self.may_read(reader, app));
        apps
    }

    /// Asks about an operation on a window, or on an app as a whole.
    pub(crate) fn permit_on(&self, call: &Call, pid: u32, window: Option<&str>) -> Result<()> {
        let app = self.app_view(pid);
        let app = Fact::known_or_not(app.as_ref());
        self.permit(call, &About { app, window: window.into(), ..About::default() })
    }

    /// Asks about a picture of the screen, whatever windows are in it: those that may not be are painted over.
    pub(crate) fn permit_screen(&self, call: &Call) -> Result<()> {
        self.permit(call, &About::default())
    }

    fn permit(&self, call: &Call, about: &About<'_>) -> Result<()> {
        self.follow(call, self.decide(&Requester::of(call), about, Stage::Final), about)
    }

    /// Does what the policy has decided. What must be approved fails, and the request is tried again when it has been.
    fn follow(&self, call: &Call, decision: Decision, about: &About<'_>) -> Result<()> {
        self.check(decision, call.session.client, &call.approved, about).map_err(|decision| {
            tracing::info!(command = call.command.name(), rule = decision.rule, "not allowed");
            decision.to_error()
        })
    }
}

/// Whether what a command is about is found out later, and asked about then.
fn finds_out_more(command: &Command) -> bool {
    match command {
        Command::Act(_)
        | Command::Snapshot(_)
        | Command::Look(_)
        | Command::Changes(_)
        | Command::Find(_)
        | Command::Get(_)
        | Command::Is(_)
        | Command::ElementAt(_)
        | Command::Focused(_)
        | Command::Attach(_)
        | Command::Subscribe(_)
        | Command::Wait(_)
        | Command::Screenshot(_)
        | Command::CloseApp(_)
        | Command::FocusWindow(_)
        | Command::MoveWindow(_)
        | Command::ResizeWindow(_)
        | Command::Minimize(_)
        | Command::Maximize(_)
        | Command::Restore(_) => true,
        Command::ListApps(_)
        | Command::ListWindows(_)
        | Command::ListDisplays(_)
        | Command::Detach(_)
        | Command::Launch(_)
        | Command::ClipboardGet(_)
        | Command::ClipboardSet(_)
        | Command::ClipboardClear(_)
        | Command::MousePosition(_)
        | Command::Batch(_)
        | Command::Status(_)
        | Command::Doctor(_)
        | Command::Permissions(_)
        | Command::Version(_)
        | Command::Hello(_)
        | Command::Cancel(_)
        | Command::Shutdown(_)
        | Command::Approvals(_)
        | Command::Decide(_)
        | Command::Pause(_)
        | Command::Resume(_)
        | Command::PolicyCheck(_)
        | Command::PolicyShow(_)
        | Command::Extension(_) => false,
    }
}
