//! What a decision depends on: who requests something, and the app, window and element that it is about.

use axd_platform::RunningApp;
use axd_policy::{AppFacts, Decision, ElementFacts, Fact, LaunchFacts, Question, Stage};
use axd_protocol::command::{ClipboardSet, Launch};
use axd_protocol::keys::Combo;
use axd_protocol::{NodeId, NodeRef, Role, State};
use axd_service::Call;
use axd_tree::{Ix, Tree};

use crate::Engine;
use crate::apps::app::App;

/// Who requests something.
#[derive(Debug, Clone)]
pub(crate) struct Requester {
    pub command: &'static str,
    pub client: Option<String>,
    pub agent: Option<String>,
}

impl Requester {
    pub fn of(call: &Call) -> Requester {
        let (client, agent) = call.session.names.lock().clone();
        Requester { command: call.command.name(), client, agent }
    }
}

/// An app, as far as decisions depend on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AppView {
    pub pid: u32,
    pub name: String,
    pub identity: String,
    pub programs: Vec<String>,
    pub is_foreign: bool,
}

impl AppView {
    pub fn facts(&self) -> AppFacts<'_> {
        AppFacts {
            pid: self.pid,
            name: &self.name,
            identity: &self.identity,
            programs: &self.programs,
            is_foreign: self.is_foreign,
        }
    }
}

/// An element, as far as decisions depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ElementView {
    pub id: NodeId,
    pub role: Role,
    pub name: Option<String>,
    pub states: Vec<State>,
}

impl ElementView {
    pub fn of(tree: &Tree, ix: Ix) -> ElementView {
        let node = tree.node_ref(ix);
        let states = tree.states(ix);
        let states = State::ALL.iter().copied().filter(|state| states.has(*state)).collect();
        ElementView { id: node.id, role: node.role, name: node.name, states }
    }

    pub fn node_ref(&self) -> NodeRef {
        NodeRef { id: self.id, role: self.role, name: self.name.clone() }
    }

    fn facts(&self) -> ElementFacts<'_> {
        ElementFacts { role: self.role, name: self.name.as_deref(), states: &self.states }
    }
}

/// What a launch would start.
#[derive(Debug, Clone, Default)]
pub(crate) struct LaunchView {
    pub programs: Vec<String>,
    pub args: Vec<String>,
    pub env: Vec<String>,
}

/// What a request is about.
#[derive(Debug, Clone, Default)]
pub(crate) struct About<'a> {
    pub app: Fact<&'a AppView>,
    pub window: Fact<&'a str>,
    pub element: Fact<&'a ElementView>,
    pub keys: &'a [Combo],
    pub text: Option<&'a str>,
    pub launch: Option<&'a LaunchView>,
    pub files: &'a [std::path::PathBuf],
}

impl<'a> About<'a> {
    /// What is put on the clipboard.
    pub fn of_clipboard(args: &'a ClipboardSet) -> About<'a> {
        About {
            text: args.text.as_deref(),
            files: args.image.as_ref().map_or(&args.file[..], std::slice::from_ref),
            ..About::default()
        }
    }
}

/// What the policy is asked.
pub(crate) fn question<'a>(requester: &'a Requester, about: &About<'a>, stage: Stage) -> Question<'a> {
    Question {
        stage,
        command: requester.command,
        client: requester.client.as_deref(),
        agent: requester.agent.as_deref(),
        app: about.app.map(AppView::facts),
        window: about.window,
        element: about.element.map(ElementView::facts),
        keys: about.keys,
        text: about.text,
        launch: about.launch.map(|launch| LaunchFacts {
            programs: &launch.programs,
            args: &launch.args,
            env: &launch.env,
        }),
        files: about.files,
    }
}

impl Engine {
    /// What the policy in force decides.
    pub(crate) fn decide(&self, requester: &Requester, about: &About<'_>, stage: Stage) -> Decision {
        self.policy.current().decide(&question(requester, about, stage))
    }

    /// The app of a process, as it is now; `None` if nobody knows the process.
    pub(crate) fn app_view(&self, pid: u32) -> Option<AppView> {
        let seen = self.desktop.read().by_pid(pid).cloned();
        let programs = self.platform.programs_of(pid);
        let seen = match (seen, &programs) {
            (Some(seen), _) => seen,
            (None, Some(programs)) => {
                let identity = programs.first().cloned()?;
                let name = identity.rsplit('/').next().unwrap_or_default().to_owned();
                RunningApp { pid, name, identity, aliases: Vec::new() }
            }
            (None, None) => return None,
        };
        Some(self.view_with(seen, programs.unwrap_or_default()))
    }

    /// The view of an app for reading it, which asks the system once only.
    pub(crate) fn view_to_read(&self, app: &App) -> AppView {
        let programs = app.programs.get_or_init(|| self.platform.programs_of(app.pid()).unwrap_or_default());
        self.view_with(app.seen(), programs.clone())
    }

    /// The view of an app that the desktop has told of, whose lock may be held.
    pub(crate) fn view_of(&self, seen: &RunningApp) -> AppView {
        let programs = self.platform.programs_of(seen.pid).unwrap_or_default();
        self.view_with(seen.clone(), programs)
    }

    fn view_with(&self, seen: RunningApp, programs: Vec<String>) -> AppView {
        AppView {
            pid: seen.pid,
            is_foreign: !self.platform.is_ours(seen.pid),
            name: seen.name,
            identity: seen.identity,
            programs,
        }
    }

    /// What a launch would start. Looks for it on disk.
    pub(crate) async fn launch_view(&self, args: &Launch) -> LaunchView {
        let found = crate::tree_work::blocking(|| self.platform.programs_to_launch(args.app.trim()));
        let mut programs = vec![args.app.trim().to_owned()];
        programs.extend(found);
        programs.dedup();
        let env = args.env.iter().map(|pair| pair.split('=').next().unwrap_or_default().to_owned());
        LaunchView { programs, args: args.arg.clone(), env: env.collect() }
    }

    /// The title of the window that an element is in, which may be empty: as the desktop tells it, else as its app does.
    pub(crate) fn window_title(&self, tree: &Tree, ix: Ix) -> Option<String> {
        let window = tree.windows().find(|window| tree.is_within(ix, *window))?;
        let number = tree.window_number(window);
        let told = number.and_then(|number| Some(self.desktop.read().window(number)?.title.clone()));
        let told = told.filter(|title| !title.is_empty()).or_else(|| tree.node_ref(window).name);
        Some(told.unwrap_or_default())
    }
}
