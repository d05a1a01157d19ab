//! The elements that may get a mark, measured.

use std::sync::Arc;

use axd_platform::ElementKey;
use axd_protocol::command::Screenshot;
use axd_protocol::{Bounds, NodeId, Result, Role, State};
use axd_service::Call;
use axd_tree::{Ix, Tree};
use tokio::time::Instant;

use crate::Engine;
use crate::action::actionability::pops_up;
use crate::apps::app::App;
use crate::apps::measure::Measurements;
use crate::apps::target::{Where, alive};
use crate::marks::visible::ElementPlace;

/// The maximum number of elements that are measured for one picture.
const MAX_MEASURED: usize = 5_000;

/// Whose elements may get a mark.
pub(crate) struct MarkScope {
    /// The apps in the picture, each with the element within which marks are made; in all of it, if `None`.
    pub apps: Vec<(Arc<App>, Option<NodeId>)>,
    /// The window of the picture, if it is of one.
    pub window: Option<u64>,
    /// The roles that get marks; all, if there are none.
    pub roles: Vec<Role>,
    /// The names of apps that were not read in time.
    pub unread: Vec<String>,
}

/// An element that may get a mark, as it was measured.
#[derive(Clone)]
pub(crate) struct MarkElement {
    pub app: Arc<App>,
    pub id: NodeId,
    pub key: ElementKey,
    pub role: Role,
    pub name: Option<String>,
    pub place: ElementPlace,
}

impl PartialEq for MarkElement {
    fn eq(&self, other: &MarkElement) -> bool {
        let fields = |of: &MarkElement| (of.app.slot, of.id, of.role, of.place);
        fields(self) == fields(other) && self.name == other.name
    }
}

/// The elements and windows of one moment.
#[derive(PartialEq)]
pub(crate) struct Look {
    pub elements: Vec<MarkElement>,
    /// The windows, front to back: their numbers and bounds.
    pub windows: Vec<(u64, Bounds)>,
    /// The apps that did not say where their elements are.
    pub silent: Vec<String>,
}

/// What is known of an element before it is measured.
struct Found {
    id: NodeId,
    key: ElementKey,
    role: Role,
    name: Option<String>,
    window: Option<u64>,
    pops_up: bool,
}

impl Engine {
    /// Whose elements get marks in a picture of one window.
    pub(crate) async fn mark_scope_of_window(
        self: &Arc<Self>,
        call: &Call,
        (pid, window): (u32, Option<u64>),
        args: &Screenshot,
        deadline: Instant,
    ) -> Result<MarkScope> {
        let pid = pid.to_string();
        let app = self.app(call, Some(&pid), deadline).await?;
        let root = match args.root.as_deref().or(args.element.as_deref()) {
            Some(root) => {
                let place = Where { app: Some(&pid), ..Where::default() };
                Some(self.locate(call, root, place, deadline).await?.id)
            }
            None => None,
        };
        Ok(MarkScope { apps: vec![(app, root)], window, roles: args.roles.clone(), unread: Vec::new() })
    }

    /// Whose elements get marks in a picture of the screen: those of the apps that have windows in this area and may be read.
    pub(crate) async fn mark_scope_of_screen(
        self: &Arc<Self>,
        call: &Call,
        area: Option<Bounds>,
        args: &Screenshot,
        deadline: Instant,
    ) -> Result<MarkScope> {
        let mut scope =
            MarkScope { apps: Vec::new(), window: None, roles: args.roles.clone(), unread: Vec::new() };
        if let Some(root) = &args.root {
            let located = self.locate(call, root, Where::default(), deadline).await?;
            scope.apps.push((located.app, Some(located.id)));
            return Ok(scope);
        }
        let seen = {
            let desktop = self.desktop.read();
            let is_shown = |bounds: Bounds| area.is_none_or(|area| area.intersection(&bounds).is_some());
            let shown = desktop.windows.iter().filter(|window| !window.minimized);
            let mut pids: Vec<u32> =
                shown.filter(|window| window.bounds.is_some_and(is_shown)).map(|window| window.pid).collect();
            pids.sort_unstable();
            pids.dedup();
            let apps = pids.into_iter().filter_map(|pid| desktop.by_pid(pid).cloned());
            apps.collect::<Vec<_>>()
        };
        let reader = self.reader(call);
        let apps: Vec<Arc<App>> = seen.iter().map(|seen| self.attached(seen)).collect();
        for app in apps.into_iter().filter(|app| self.may_read(&reader, app)) {
            if self.wait_for_walk(&app, deadline).await? {
                scope.apps.push((app, None));
            } else {
                scope.unread.push(app.seen().name);
            }
        }
        Ok(scope)
    }

    /// Measures the elements that may get a mark.
    pub(crate) async fn look_for_marks(
        self: &Arc<Self>,
        scope: &MarkScope,
        deadline: Instant,
    ) -> Result<Look> {
        let mut elements = Vec::new();
        let mut silent = Vec::new();
        for (app, root) in &scope.apps {
            let found = self
                .search(app, deadline, |tree| {
                    let root = match root {
                        Some(root) => Some(alive(app, tree, *root)?),
                        None => tree.root(),
                    };
                    Ok(root.map(|root| found_in(tree, root, &scope.roles)).unwrap_or_default())
                })
                .await?;
            let keys = found.iter().map(|found| found.key).collect();
            let places = Measurements::to_act(app, keys, deadline).await;
            if places.age.is_some() {
                silent.push(app.seen().name);
                continue;
            }
            elements.extend(found.into_iter().filter_map(|found| {
                let Found { id, key, role, name, window, pops_up } = found;
                let is_seen = places.visible(key) != Some(false) && !places.misplaced(key);
                let bounds = places.bounds(key).filter(|_| is_seen)?;
                let app = Arc::clone(app);
                Some(MarkElement {
                    app,
                    id,
                    key,
                    role,
                    name,
                    place: ElementPlace { window, pops_up, bounds },
                })
            }));
        }
        self.drain_desktop_events();
        let desktop = self.desktop.read();
        let shown = desktop.stack().iter().filter(|window| !window.minimized);
        // A window behind the one of the picture, or before it, does not concern it.
        let concerns = |window: u64| scope.window.is_none_or(|only| only == window);
        let windows = shown
            .filter(|window| concerns(window.window))
            .filter_map(|window| Some((window.window, window.bounds?)))
            .collect();
        Ok(Look { elements, windows, silent })
    }
}

/// The combo box in whose popup an element is.
pub(crate) fn combo_box_around(tree: &Tree, ix: Ix) -> Option<Ix> {
    if matches!(tree.role(ix), Role::TextField | Role::Button | Role::ToggleButton) {
        return None;
    }
    std::iter::successors(tree.parent(ix), |at| tree.parent(*at)).find(|at| tree.role(*at) == Role::Combobox)
}

/// The elements below a root that can be acted on and have one of these roles.
fn found_in(tree: &Tree, root: Ix, roles: &[Role]) -> Vec<Found> {
    let is_wanted = |ix: &Ix| {
        let (role, states) = (tree.role(*ix), tree.states(*ix));
        let can_be_acted_on = role.is_interactive() || states.has(State::Editable);
        // What is in a combo box is shown while that is open, whatever it said of itself before; its list is no item of it.
        let combo_box = combo_box_around(tree, *ix);
        let is_shown = match combo_box {
            Some(combo_box) => !tree.states(combo_box).has(State::Collapsed),
            None => !states.has(State::Hidden),
        };
        let is_list = role == Role::Menu && combo_box.is_some();
        can_be_acted_on
            && is_shown
            && !is_list
            && !states.has(State::Disabled)
            && (roles.is_empty() || roles.contains(&role))
    };
    let wanted = tree.subtree(root).filter(is_wanted).take(MAX_MEASURED);
    let found = wanted.filter_map(|ix| {
        let window = tree.window_of(ix).and_then(|window| tree.window_number(window));
        Some(Found {
            id: tree.id(ix),
            key: tree.key(ix)?,
            role: tree.role(ix),
            name: tree.name_or_text(ix),
            window,
            pops_up: pops_up(tree, ix),
        })
    });
    found.collect()
}
