//! Where the engine asks the policy before a request begins.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use axd_policy::{Decision, Fact, Stage, Verdict};
use axd_protocol::command::CommandKind;
use axd_protocol::event::Event;
use axd_protocol::keys::Combo;
use axd_protocol::{Command, Error, ErrorCode, NodeId, NodeRef, Result};
use parking_lot::Mutex;

use crate::Engine;
use crate::apps::app::App;
use crate::policy::approvals::Wanted;
use crate::policy::facts::{About, AppView, ElementView, Requester};
use crate::subscribe::event_log::event_data;
use axd_platform::RunningApp;
use axd_service::Call;

/// The subject of an action, as far as the policy and the audit need it.
#[derive(Debug, Default)]
pub(crate) struct ActionSubject<'a> {
    pub app: Option<RunningApp>,
    pub target: Option<NodeId>,
    /// The target as it was before anything was done to it.
    pub described: Option<NodeRef>,
    pub keys: Option<&'a Combo>,
    pub text: Option<&'a str>,
    /// What was approved of it.
    pub grants: Grants,
    /// What must be approved before it is sent, as was found out just before.
    pub must_be_approved: Option<(Decision, Wanted)>,
    /// Who approved it.
    pub approved_by: Option<u64>,
}

/// What was approved of an action: which rule asked, and about which app and window. Another one is another question.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grants(Arc<Mutex<Vec<Grant>>>);

#[derive(Debug)]
struct Grant {
    rule: String,
    pid: Option<u32>,
    window: Option<String>,
}

impl Grants {
    pub fn add(&self, decision: &Decision, wanted: &Wanted) {
        let rule = decision.rule.clone();
        self.0.lock().push(Grant { rule, pid: wanted.pid(), window: wanted.window.clone() });
    }

    pub fn has(&self, decision: &Decision, wanted: &Wanted) -> bool {
        self.0.lock().iter().any(|grant| {
            // Before the action began, its window may not have been known; its app was.
            let is_window = grant.window.is_none() || grant.window == wanted.window;
            grant.rule == decision.rule && grant.pid == wanted.pid() && is_window
        })
    }
}

/// What the policy knows of a connected client.
#[derive(Debug, Default)]
pub(crate) struct ClientGrants {
    /// The rules that need not ask about it again while it is connected.
    always: Mutex<HashSet<String>>,
    /// The characters that its batch has entered so far. Its batches run one after another.
    pub batch_chars: AtomicUsize,
}

/// A client that reads.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    requester: Requester,
    client: u64,
}

impl ClientGrants {
    pub fn allow_always(&self, decision: &Decision) {
        self.always.lock().insert(decision.rule.clone());
    }

    pub fn is_always_allowed(&self, decision: &Decision) -> bool {
        self.always.lock().contains(&decision.rule)
    }
}

impl Engine {
    /// Asks whether a command may be executed at all, whatever it is about: before anything else is done for it.
    pub(crate) async fn permit_command(self: &Arc<Self>, call: &Call) -> Result<()> {
        // The parts of a batch are asked about one by one.
        if matches!(call.command, Command::Batch(_)) {
            return Ok(());
        }
        let requester = Requester::of(call);
        // An app, a window or an element that it is about is asked about where it is found.
        let stage = if finds_out_more(&call.command) { Stage::Before } else { Stage::Final };
        let unknown = stage == Stage::Before;
        let about = About {
            app: if unknown { Fact::Unknown } else { Fact::None },
            window: if unknown { Fact::Unknown } else { Fact::None },
            element: if unknown { Fact::Unknown } else { Fact::None },
            text: match &call.command {
                Command::ClipboardSet(args) => args.text.as_deref(),
                _ => None,
            },
            files: match &call.command {
                Command::ClipboardSet(args) => {
                    args.image.as_ref().map_or(&args.file[..], std::slice::from_ref)
                }
                _ => &[],
            },
            ..About::default()
        };
        if let Command::Launch(args) = &call.command {
            let launch = self.launch_view(args).await;
            let about = About { launch: Some(&launch), ..About::default() };
            return self.permit(call, &requester, &about, Stage::Final).await.map(drop);
        }
        let decision = self.decide(&requester, &about, stage);
        if decision.verdict == Verdict::Ask && stage == Stage::Before {
            // Somebody is asked when it is known what it is about.
            return Ok(());
        }
        self.follow(call, &decision, || Wanted::of(&about)).await.map(drop)
    }

    /// Asks whether an action may begin.
    pub(crate) async fn permit_action(
        self: &Arc<Self>,
        call: &Call,
        about: &mut ActionSubject<'_>,
        element: Option<ElementView>,
        window: Option<String>,
    ) -> Result<()> {
        let requester = Requester::of(call);
        let app = about.app.as_ref().and_then(|app| self.app_view(app.pid));
        let keys: Vec<Combo> = about.keys.into_iter().cloned().collect();
        let view = About {
            app: app.as_ref().map_or(Fact::Unknown, Fact::Known),
            window: window.as_deref().map_or(Fact::Unknown, Fact::Known),
            element: element.as_ref().map_or(Fact::Unknown, Fact::Known),
            keys: &keys,
            text: about.text,
            ..About::default()
        };
        let decision = self.decide(&requester, &view, Stage::Before);
        let wanted = Wanted::of(&view);
        if !(decision.verdict == Verdict::Ask && about.grants.has(&decision, &wanted)) {
            if let Some(by) = self.follow(call, &decision, || wanted.clone()).await? {
                about.approved_by = Some(by);
            }
            // It is not asked about again when it is sent.
            about.grants.add(&decision, &wanted);
        }
        self.count_text(call, about.text)?;
        let most = self.policy.current().limits.actions_per_minute;
        self.rates.actions.count(most).map_err(|left| too_many("actions", most, left))
    }

    /// A batch enters no more at once than a single action may.
    fn count_text(&self, call: &Call, text: Option<&str>) -> Result<()> {
        let Some(text) = text.filter(|_| call.is_part) else { return Ok(()) };
        let most = self.policy.current().limits.text_chars;
        let length = text.chars().count();
        let entered = self.client_grants(call.session.client).batch_chars.fetch_add(length, Relaxed) + length;
        if entered <= most {
            return Ok(());
        }
        let message = format!(
            "the texts of this batch have {entered} characters so far; at most {most} are allowed at once (text-too-long)"
        );
        Err(Error::new(ErrorCode::PolicyDenied, message).suggest("enter it with several requests"))
    }

    /// Asks whether an app may be read, or a command about it as a whole may be executed.
    pub(crate) async fn permit_app(self: &Arc<Self>, call: &Call, app: &App) -> Result<()> {
        let acts = call.command.kind() == CommandKind::Acts;
        if !acts && !self.policy.restricts_reading() {
            return Ok(());
        }
        // Whatever an action does to the app is asked about when it is done.
        let stage = if acts { Stage::Before } else { Stage::Final };
        let view = self.view_to_read(app);
        let unknown = stage == Stage::Before;
        let about = About {
            app: Fact::Known(&view),
            window: if unknown { Fact::Unknown } else { Fact::None },
            element: if unknown { Fact::Unknown } else { Fact::None },
            ..About::default()
        };
        let decision = self.decide(&Requester::of(call), &about, stage);
        if decision.verdict == Verdict::Ask && acts {
            // Somebody is asked when the element is known.
            return Ok(());
        }
        self.follow(call, &decision, || Wanted::of(&about)).await.map(drop)
    }

    /// Who reads, for commands that read more than one app.
    pub(crate) fn reader(&self, call: &Call) -> Reader {
        Reader { requester: Requester::of(call), client: call.session.client }
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
        match decision.verdict {
            Verdict::Allow => true,
            Verdict::Ask => self.client_grants(reader.client).is_always_allowed(&decision),
            Verdict::Deny => false,
        }
    }

    /// The attached apps that a client may read.
    pub(crate) fn readable_apps(&self, reader: &Reader) -> Vec<Arc<App>> {
        let mut apps = self.all_apps();
        apps.retain(|app| self.may_read(reader, app));
        apps
    }

    /// Asks about an operation on a window, or on an app as a whole.
    pub(crate) async fn permit_on(
        self: &Arc<Self>,
        call: &Call,
        pid: u32,
        window: Option<&str>,
    ) -> Result<Option<u64>> {
        let app: Option<AppView> = self.app_view(pid);
        let about = About {
            app: app.as_ref().map_or(Fact::Unknown, Fact::Known),
            window: window.into(),
            ..About::default()
        };
        self.permit(call, &Requester::of(call), &about, Stage::Final).await
    }

    /// Asks about a picture of the screen, whatever windows are in it: those that may not be are painted over.
    pub(crate) async fn permit_screen(self: &Arc<Self>, call: &Call) -> Result<()> {
        self.permit(call, &Requester::of(call), &About::default(), Stage::Final).await.map(drop)
    }

    /// Asks the policy, and whoever approves if it says so; returns who approved. Fails if it is not allowed.
    async fn permit(
        self: &Arc<Self>,
        call: &Call,
        requester: &Requester,
        about: &About<'_>,
        stage: Stage,
    ) -> Result<Option<u64>> {
        let decision = self.decide(requester, about, stage);
        self.follow(call, &decision, || Wanted::of(about)).await
    }

    /// Does what the policy has decided: goes on, has it approved, or fails.
    async fn follow(
        self: &Arc<Self>,
        call: &Call,
        decision: &Decision,
        wanted: impl FnOnce() -> Wanted,
    ) -> Result<Option<u64>> {
        match decision.verdict {
            Verdict::Allow => Ok(None),
            Verdict::Deny => {
                tracing::info!(command = call.command.name(), rule = decision.rule, "denied");
                Err(decision.to_error())
            }
            Verdict::Ask => self.have_approved(call, decision, wanted()).await,
        }
    }
}

/// The error for more than a limit allows in a minute.
pub(crate) fn too_many(what: &str, most: Option<u32>, left: std::time::Duration) -> Error {
    let (most, seconds) = (most.unwrap_or_default(), left.as_secs() + 1);
    Error::new(
        ErrorCode::RateLimited,
        format!("at most {most} {what} a minute are allowed (limits.{what}_per_minute)"),
    )
    .suggest(format!("try again in {seconds} s, or have the limit raised in the policy file"))
}

/// Whether what a command is about is found out later, and asked about then.
fn finds_out_more(command: &Command) -> bool {
    match command {
        Command::Act(_)
        | Command::Snapshot(_)
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
