//! Waits until an element can be reached with the mouse: visible, enabled, on the screen, in front, and not covered.

use std::sync::Arc;
use std::time::Duration;

use axd_protocol::command::Route;
use axd_protocol::error::Delivery;
use axd_protocol::selector::Target;
use axd_protocol::{Bounds, Error, ErrorCode, NodeId, Point, Result, Role, State};
use tokio::time::{Instant, timeout_at};

use crate::action::context::{ActionContext, Outcome};
use crate::action::popup::along;
use crate::action::receiver::Expected;
use crate::apps::app::App;
use crate::apps::measure::Measurements;
use crate::apps::one_match::Choice;
use crate::apps::target::{Where, alive, parse_target};
use crate::change_wait::Next;
use axd_platform::{
    Act, DesktopWindow, ElementKey, Gate, InputStep, Receiver, Stretch, WindowOp, WorkerRequest,
};
use axd_tree::{Ix, Tree};

/// How often bounds are measured again during a wait. Apps do not reliably send events when bounds change.
const RECHECK_INTERVAL: Duration = Duration::from_millis(50);
/// How many times an element may have moved when the pointer arrives, before the action fails.
const MAX_MOVES: usize = 4;
/// The maximum thickness of a popup's border that its app does not include in its bounds.
const POPUP_EDGE: i32 = 12;
/// How long a window may take to come to the front before the request is repeated.
const RAISE_TIMEOUT: Duration = Duration::from_millis(300);

/// Whether an element can be reached now.
enum Actionability {
    /// It can be reached at this point.
    At(Point),
    /// It cannot be reached, for this reason.
    Not(String),
    /// It cannot be reached, because another window covers it.
    Covered(String),
    /// It cannot be reached at this point, where its app says that another element is.
    CoveredInside(Point, String),
}

/// The attempts that were made to reach an element.
#[derive(Default)]
struct Tries {
    /// Its app was asked to scroll to it.
    scrolled: bool,
    /// Its window was brought to the front, and another window still covered it.
    covered: bool,
    /// The pointer was moved to where it is said to be.
    pointed: bool,
}

/// What is known of a target before it is reached.
struct TargetGeometry {
    key: ElementKey,
    /// The window system's number of the window it is in.
    window: Option<u64>,
    /// Whether it is in a popup, which need not lie within the element's own window.
    pops_up: bool,
}

impl ActionContext<'_> {
    /// The point to click: the point that the request names, else a point where the target can be reached.
    pub async fn click_point(&self) -> Result<Point> {
        match self.point {
            Some(point) => Ok(point),
            None => {
                let (app, id) = (Arc::clone(self.app()?), self.id()?);
                self.wait_until_actionable(&app, id).await
            }
        }
    }

    /// Moves the pointer to the target, or to the point that the request names. Afterwards the element under the pointer is
    /// known.
    pub async fn point_at(&self) -> Result<Point> {
        match self.point {
            Some(point) => {
                self.take_input_lock().await?;
                // If the request names an app, its window at the point comes to the front first: some window managers swallow
                // the first click into a window that is behind others.
                if let (Some(app), Some(_)) = (&self.app, self.options.app) {
                    let window = {
                        let desktop = self.engine.desktop.read();
                        let is_there = |seen: &&DesktopWindow| {
                            let inside = seen.bounds.is_some_and(|bounds| bounds.contains(point));
                            seen.pid == app.pid() && !seen.minimized && inside
                        };
                        desktop.windows.iter().find(is_there).map(|seen| seen.window)
                    };
                    self.raise(window, false).await?;
                }
                if let Some(app) = &self.app {
                    let hit =
                        app.ask_raw(self.deadline, |reply| WorkerRequest::HitTest { point, reply }).await;
                    self.note_hit(app, hit.ok().flatten());
                }
                Ok(point)
            }
            None => {
                let (app, id) = (Arc::clone(self.app()?), self.id()?);
                self.point_at_element(&app, id).await
            }
        }
    }

    /// Moves the pointer to an element. Some apps report bounds only once the pointer has been in their window, so the pointer
    /// goes there first, and the element is measured again until it is where the app says.
    pub async fn point_at_element(&self, app: &Arc<App>, id: NodeId) -> Result<Point> {
        let mut at = self.wait_until_actionable(app, id).await?;
        for _ in 0..MAX_MOVES {
            self.send(vec![InputStep::Move(at), InputStep::Arrive], Expected::Anyone).await?;
            let there = self.wait_until_actionable(app, id).await?;
            if there == at {
                return Ok(at);
            }
            at = there;
        }
        Err(self.not_actionable("does not stop moving"))
    }

    /// The point to click of another target.
    pub async fn click_point_of(&self, target: &str) -> Result<Point> {
        if let Target::Point { x, y } = parse_target(target)? {
            return self.engine.place_of(self.call, Point { x, y }, self.options, self.deadline).await;
        }
        let (app, window) = (self.options.app, self.options.window);
        let place = Where { app, window, choice: Choice::Usable };
        let located = self.engine.locate(self.call, target, place, self.deadline).await?;
        self.wait_until_actionable(&located.app, located.id).await
    }

    /// Waits until an element can be reached, and returns the point. The input lock is held afterwards, because the element can
    /// be reached only as long as its window stays in front.
    pub async fn wait_until_actionable(&self, app: &Arc<App>, id: NodeId) -> Result<Point> {
        let end = self.action_deadline();
        let mut wait = self.engine.change_wait(end, &self.call.gate);
        let mut tries = Tries::default();
        let mut taken = false;
        loop {
            taken |= self.take_input_lock().await?;
            let why = match self.check_actionability(app, id, &mut tries).await? {
                Actionability::At(point) => return Ok(point),
                Actionability::Not(why) => why,
                Actionability::Covered(why) => {
                    tries.covered = true;
                    why
                }
                Actionability::CoveredInside(point, why) => {
                    // Some apps report where their elements are only once the pointer has moved in their window. That it has
                    // come into the window is not enough, so it is moved twice.
                    if !std::mem::replace(&mut tries.pointed, true) {
                        let beside = InputStep::Move(Point { x: point.x - 1, ..point });
                        let steps =
                            vec![beside, InputStep::Arrive, InputStep::Move(point), InputStep::Arrive];
                        self.send(steps, Expected::Anyone).await?;
                        continue;
                    }
                    why
                }
            };
            // Other clients need not wait while this action waits.
            if std::mem::take(&mut taken) {
                self.release_input_lock();
            }
            match wait.next_within(RECHECK_INTERVAL).await {
                Next::Check => {}
                Next::TimedOut => {
                    let mut what = String::new();
                    let tree = app.tree.read();
                    if let axd_tree::Resolved::Alive(ix) = tree.resolve(id) {
                        axd_protocol::text::write_ref(&tree.node_ref(ix), &mut what);
                    }
                    return Err(axd_protocol::Error::new(ErrorCode::NotActionable, format!("{what} {why}")));
                }
                Next::Cancelled => return Err(self.cancelled()),
            }
        }
    }

    /// Whether an element can be reached now.
    pub async fn can_reach(&self, app: &Arc<App>, id: NodeId) -> Result<bool> {
        Ok(matches!(
            self.check_actionability(app, id, &mut Tries { scrolled: true, ..Tries::default() }).await?,
            Actionability::At(_)
        ))
    }

    async fn check_actionability(
        &self,
        app: &Arc<App>,
        id: NodeId,
        tries: &mut Tries,
    ) -> Result<Actionability> {
        let not = |why: &str| Ok(Actionability::Not(why.to_owned()));
        let sight = {
            let tree = app.tree.read();
            let ix = alive(app, &tree, id)?;
            let states = tree.states(ix);
            if states.has(State::Disabled) {
                return not("is disabled");
            }
            if states.has(State::Hidden) {
                return not("is hidden");
            }
            let Some(key) = tree.key(ix) else { return not("is about to be replaced") };
            let window = self.window_number(app, &tree, ix);
            TargetGeometry { key, window, pops_up: pops_up(&tree, ix) }
        };
        if !sight.pops_up {
            self.raise(sight.window, tries.covered).await?;
        }
        let places = Measurements::to_act(app, vec![sight.key], self.deadline).await;
        if places.age.is_some() {
            return not("has no known position: the app does not answer");
        }
        if places.misplaced(sight.key) {
            return not(
                "has no known position: its toolkit does not say where this popup is, or the app scales by itself; use \
                 --route semantic, `ax select` or keys",
            );
        }
        // In some toolkits an element that is scrolled out of view has no bounds at all.
        if places.visible(sight.key) == Some(false) && !std::mem::replace(&mut tries.scrolled, true) {
            self.guard_act(app, id, &Act::ScrollTo).map_err(|failure| self.failed(&failure))?;
            let gate = self.call.gate.part();
            // If the app cannot scroll, the next check reports it.
            let _ = app.perform(sight.key, Act::ScrollTo, gate, self.deadline).await;
        }
        let Some(bounds) = places.bounds(sight.key) else { return not("has no position on the screen") };
        if places.visible(sight.key) == Some(false) {
            return not("is scrolled out of view, and its app does not scroll to it");
        }
        let Some(point) = self.middle(bounds, &sight) else { return not("is off the screen") };
        let Some(cover) = self.covered(app, id, point, &sight).await? else {
            return Ok(Actionability::At(point));
        };
        // An app may report an item as wider than the popup that shows it, so several points along the item are tried.
        for point in along(bounds).into_iter().filter(|_| sight.pops_up) {
            if self.covered(app, id, point, &sight).await?.is_none() {
                return Ok(Actionability::At(point));
            }
        }
        Ok(cover)
    }

    /// The center of the part of an element that is on the screen and in its window.
    fn middle(&self, bounds: Bounds, sight: &TargetGeometry) -> Option<Point> {
        let desktop = self.engine.desktop.read();
        let window = sight.window.and_then(|window| desktop.window(window)?.bounds);
        let inside = match window.filter(|_| !sight.pops_up) {
            Some(window) => bounds.intersection(&window)?,
            None => bounds,
        };
        let shown = match &desktop.displays[..] {
            [] => inside,
            displays => displays.iter().find_map(|display| inside.intersection(&display.bounds))?,
        };
        Some(Point { x: shown.x + shown.width / 2, y: shown.y + shown.height / 2 })
    }

    /// What covers an element at a point, if anything does: another window, according to the desktop, or another element,
    /// according to the app.
    async fn covered(
        &self,
        app: &Arc<App>,
        id: NodeId,
        point: Point,
        sight: &TargetGeometry,
    ) -> Result<Option<Actionability>> {
        let expected = match (sight.pops_up, sight.window) {
            (true, _) => Expected::Popup(app.pid()),
            (false, Some(window)) => Expected::Window(app.pid(), window),
            (false, None) => Expected::App(app.pid()),
        };
        let receiver = match self.receiver_of(Stretch::Pointer(point), expected).await? {
            Ok(receiver) => receiver,
            Err(why) => return Ok(Some(Actionability::Covered(format!("is {why}")))),
        };
        let hit = app.ask_raw(self.deadline, |reply| WorkerRequest::HitTest { point, reply }).await;
        let hit = hit.ok().flatten();
        self.note_hit(app, hit);
        let Some(key) = hit else { return Ok(None) };
        let cover = {
            let tree = app.tree.read();
            if tree.is_concealed_key(key) {
                return Ok(Some(Actionability::CoveredInside(
                    point,
                    "is covered by a hidden window".to_owned(),
                )));
            }
            let Some(top) = tree.by_key(key) else { return Ok(None) };
            let ix = alive(app, &tree, id)?;
            if tree.is_within(top, ix) || tree.is_within(ix, top) {
                return Ok(None);
            }
            tree.node_ref(top)
        };
        // The hit tests of some apps do not look into popups.
        if sight.pops_up
            && let Some(Receiver { popup: true, bounds: Some(window), .. }) = receiver
            && (self.is_popup_there(app, id, window).await? || self.are_items_there(app, id, window).await?)
        {
            self.note_hit(app, Some(sight.key));
            return Ok(None);
        }
        let mut what = String::new();
        axd_protocol::text::write_ref(&cover, &mut what);
        Ok(Some(Actionability::CoveredInside(point, format!("is covered by {what}"))))
    }

    /// Whether the popup that an element is in has the bounds of the popup that the desktop shows. Then the bounds that the app
    /// reports in it can be relied on.
    async fn is_popup_there(&self, app: &App, id: NodeId, window: Bounds) -> Result<bool> {
        let popup = {
            let tree = app.tree.read();
            let ix = alive(app, &tree, id)?;
            let above = std::iter::successors(Some(ix), |at| tree.parent(*at));
            let inside = above.take_while(|at| tree.role(*at) != Role::Combobox);
            // The popup is the menu itself, or the element directly below the combo box.
            let mut popup = None;
            for at in inside {
                popup = Some(at);
                if tree.role(at) == Role::Menu {
                    break;
                }
            }
            popup.and_then(|at| tree.key(at))
        };
        let Some(popup) = popup else { return Ok(false) };
        let places = Measurements::to_act(app, vec![popup], self.deadline).await;
        let Some(said) = places.bounds(popup).filter(|_| places.age.is_none()) else { return Ok(false) };
        let edges = [
            said.x - window.x,
            said.y - window.y,
            said.x + said.width - window.x - window.width,
            said.y + said.height - window.y - window.height,
        ];
        Ok(edges.iter().all(|edge| edge.abs() <= POPUP_EDGE))
    }

    /// Fails if a click on an item hit an item beside it instead: that one has the focus now, and did not have it before.
    pub fn check_hit(&self, done: &Outcome) -> Result<()> {
        let (Some(id), Some(app), None) = (self.target, &self.app, self.point) else { return Ok(()) };
        if done.route != Route::Input || done.delivery == Delivery::DeliveredVerified {
            return Ok(());
        }
        let tree = app.tree.read();
        let (Ok(ix), Some(focused)) = (alive(app, &tree, id), tree.focused()) else { return Ok(()) };
        let is_item =
            matches!(tree.role(ix), Role::Cell | Role::Row | Role::ListItem | Role::TreeItem | Role::Tab);
        let beside = tree.parent(focused) == tree.parent(ix) && tree.role(focused) == tree.role(ix);
        if !is_item || focused == ix || !beside || self.focused == Some(tree.id(focused)) {
            return Ok(());
        }
        let mut other = String::new();
        axd_protocol::text::write_ref(&tree.node_ref(focused), &mut other);
        Err(Error::new(ErrorCode::ActionFailed, format!("the click on {} hit {other}", self.target_label()))
            .delivered(Delivery::Uncertain)
            .suggest("the app reports wrong positions; check with `ax snapshot`, then use the keyboard or --route semantic"))
    }

    /// Records the element that a hit test found.
    fn note_hit(&self, app: &App, hit: Option<ElementKey>) {
        let Some(key) = hit else { return };
        let tree = app.tree.read();
        *self.hit.lock() = tree.by_key(key).map(|ix| tree.node_ref(ix));
    }

    /// Whether an element is shown in a popup.
    pub fn pops_up(&self, id: NodeId) -> bool {
        self.read_node(id, pops_up).unwrap_or(false)
    }

    /// The window system's number of the window of an element.
    pub fn window_of(&self, id: NodeId) -> Result<Option<u64>> {
        let app = self.app()?;
        let tree = app.tree.read();
        let ix = alive(app, &tree, id)?;
        Ok(self.window_number(app, &tree, ix))
    }

    /// The window number of an element in a tree. Some apps do not report a window as one: then it is the app's window with the
    /// same title, else its only window.
    fn window_number(&self, app: &App, tree: &Tree, ix: Ix) -> Option<u64> {
        if let Some(window) = tree.window_of(ix) {
            return tree.window_number(window);
        }
        let top = std::iter::successors(Some(ix), |at| tree.parent(*at))
            .take_while(|at| Some(*at) != tree.root())
            .last()?;
        let desktop = self.engine.desktop.read();
        let of_app: Vec<_> = desktop.windows.iter().filter(|window| window.pid == app.pid()).collect();
        let titled = of_app.iter().find(|window| tree.name(top) == Some(window.title.as_str()));
        let only = || of_app.first().filter(|_| of_app.len() == 1);
        titled.or_else(only).map(|window| window.window)
    }

    /// Whether the window of an element is the active one, as far as is known.
    pub fn is_in_front(&self, id: NodeId) -> bool {
        match self.window_of(id) {
            Ok(Some(number)) => self.engine.desktop.read().active_window == Some(number),
            _ => self.app.as_ref().is_some_and(|app| self.engine.desktop.read().frontmost == Some(app.pid())),
        }
    }

    /// Brings the window of an element to the front.
    pub async fn bring_to_front(&self, id: NodeId) -> Result<()> {
        self.raise(self.window_of(id)?, false).await
    }

    /// Brings a window to the front, unless it is there, and waits until it is. If it does not come, a later check finds it
    /// covered or without the keyboard. With `again` the request is sent even if the window is reported to be in front.
    pub async fn raise(&self, window: Option<u64>, again: bool) -> Result<()> {
        let Some(window) = window else { return Ok(()) };
        let is_active = || self.engine.desktop.read().active_window == Some(window);
        if is_active() && !again {
            return Ok(());
        }
        self.take_input_lock().await?;
        let op = if again { WindowOp::Insist } else { WindowOp::Focus };
        let asked = self.engine.platform.window_op(window, op, Gate::new());
        if let Ok(Ok(Ok(_))) = timeout_at(self.deadline, asked).await {
            let end = self.deadline.min(Instant::now() + RAISE_TIMEOUT);
            self.until(end, is_active).await?;
        }
        Ok(())
    }
}

/// Whether an element is a popup or is in one: a menu, a tooltip, the list of a combo box.
pub(crate) fn pops_up(tree: &Tree, ix: Ix) -> bool {
    let is_popup = |at: Ix| match tree.role(at) {
        Role::Menu | Role::Tooltip => true,
        Role::Combobox => {
            at != ix && !matches!(tree.role(ix), Role::TextField | Role::Button | Role::ToggleButton)
        }
        _ => false,
    };
    std::iter::successors(Some(ix), |at| tree.parent(*at)).any(is_popup)
}
