//! `policy-check` and `policy-show`: what is allowed, without doing it.

use std::sync::Arc;

use axd_policy::{Fact, Stage, Verdict};
use axd_protocol::command::{CommandKind, PolicyCheck};
use axd_protocol::keys::Combo;
use axd_protocol::{Command, NodeId, Result};

use crate::Engine;
use crate::action::spec::action_of;
use crate::answer::Answer;
use crate::apps::app::App;
use crate::policy::facts::{About, AppView, ElementView, LaunchView, Requester, question};
use axd_service::Call;

/// What a command would be about, as far as it can be found out without executing it.
#[derive(Debug, Default)]
struct Found {
    app: Fact<AppView>,
    window: Fact<String>,
    element: Fact<ElementView>,
    /// Why something was not found.
    fault: Option<String>,
}

impl Engine {
    pub(crate) fn policy_show(&self, answer: &mut Answer<'_>) -> Result<()> {
        answer.value(Some(self.clock.now()), None, &self.policy.show());
        Ok(())
    }

    pub(crate) async fn policy_check(
        self: &Arc<Self>,
        call: &Call,
        args: &PolicyCheck,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let request = &args.request;
        let command =
            Command::parse_extended(&request.command, request.args.as_deref(), self.extensions.names())?;
        let (client, agent) = call.session.names.lock().clone();
        let requester = Requester {
            command: command.name(),
            client: args.client.clone().or(client),
            agent: args.agent.clone().or(agent),
        };
        let mut found = self.found(call, &requester, &command).await;
        if let Some(title) = &args.window {
            found.window = Fact::Known(title.clone());
        }
        let (mut keys, launch) = (Vec::<Combo>::new(), self.launch_of(&command).await);
        let about = match &command {
            Command::Act(act) => {
                let spec = action_of(act).spec_of()?;
                keys.extend(spec.keys.cloned());
                About { keys: &keys, text: spec.text, ..About::default() }
            }
            Command::ClipboardSet(args) => About::of_clipboard(args),
            _ => About { launch: launch.as_ref(), ..About::default() },
        };
        let about = About {
            app: found.app.as_ref(),
            window: found.window.as_ref().map(String::as_str),
            element: found.element.as_ref(),
            ..about
        };
        // What is not known now is known when something is sent.
        let policy = self.policy.current();
        let mut data = policy.check(&question(&requester, &about, Stage::Before));
        data.element = about.element.known().map(ElementView::node_ref);
        data.not_found = found.fault;
        answer.value(Some(self.clock.now()), None, &data);
        Ok(())
    }

    async fn launch_of(&self, command: &Command) -> Option<LaunchView> {
        match command {
            Command::Launch(args) => Some(self.launch_view(args).await),
            _ => None,
        }
    }

    /// What a command would be about. An app that its client may not read is not looked into.
    async fn found(self: &Arc<Self>, call: &Call, requester: &Requester, command: &Command) -> Found {
        let is_about_app = match command {
            Command::Launch(_) | Command::Batch(_) | Command::Extension(_) => false,
            Command::ClipboardGet(_) | Command::ClipboardSet(_) | Command::ClipboardClear(_) => false,
            command => command.kind() != CommandKind::Manages,
        };
        if !is_about_app {
            return Found::default();
        }
        let mut found = Found { app: Fact::Unknown, window: Fact::Unknown, ..Found::default() };
        let named = match named_app(command).map(|named| self.desktop.read().named(&named).cloned()) {
            Some(Ok(seen)) => Some(seen),
            Some(Err(error)) => {
                found.fault = Some(error.message);
                None
            }
            None => self.desktop.read().frontmost().ok().cloned(),
        };
        found.app = Fact::known_or_not(named.and_then(|seen| self.app_view(seen.pid)));
        let Command::Act(act) = command else { return found };
        found.element = Fact::Unknown;
        let reads = Requester { command: "get", ..requester.clone() };
        let about = About { app: found.app.as_ref(), ..About::default() };
        if found.fault.is_some() || self.decide(&reads, &about, Stage::Final).verdict != Verdict::Allow {
            return found;
        }
        let spec = match action_of(act).spec_of() {
            Ok(spec) => spec,
            Err(error) => return Found { fault: Some(error.message), ..found },
        };
        match self.find_target(call, &spec, act.options(), Engine::deadline(call)).await {
            Ok(subject) => self.look_at(found, subject.app.as_deref(), subject.target, &reads),
            Err(error) => Found { fault: Some(error.message), ..found },
        }
    }

    fn look_at(
        &self,
        mut found: Found,
        app: Option<&App>,
        target: Option<NodeId>,
        reads: &Requester,
    ) -> Found {
        let Some(app) = app else { return found };
        let view = self.view_to_read(app);
        let about = About { app: Fact::Known(&view), ..About::default() };
        if self.decide(reads, &about, Stage::Final).verdict == Verdict::Allow {
            let (element, window) = self.described(Some(app), target);
            found.element = element.into();
            found.window = Fact::known_or_not(window);
            found.app = Fact::Known(view);
        } else {
            found.app = Fact::Unknown;
        }
        found
    }
}

/// The app that a command names.
fn named_app(command: &Command) -> Option<String> {
    let args: serde_json::Value = serde_json::from_str(command.args().ok()?.get()).ok()?;
    args.get("app")?.as_str().map(str::to_owned)
}
