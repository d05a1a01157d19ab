//! Popups, which combo boxes and menus open: opens them, finds out whether they are open, and closes them again. A popup that
//! is left open grabs the pointer and the keyboard.

use std::sync::Arc;
use std::time::Duration;

use axd_protocol::command::Route;
use axd_protocol::error::Delivery;
use axd_protocol::keys::{Combo, Key, Named};
use axd_protocol::{Bounds, NodeId, Point, Result, Role, State};
use tokio::time::Instant;

use crate::Engine;
use crate::action::context::{ActionContext, Outcome};
use crate::action::input::press;
use crate::action::receiver::Expected;
use crate::action::select::{is_item, items, label};
use crate::apps::app::App;
use crate::apps::measure::Measurements;
use crate::change_wait::Next;
use axd_platform::{Act, FailureKind, Gate, Sent};
use axd_tree::{Ix, Tree};

/// How long a popup may take to open or close.
pub(crate) const POPUP_TIMEOUT: Duration = Duration::from_millis(1_500);
/// The maximum wait before the windows on the screen are examined again. The window system sends no events about popups.
const RECHECK_INTERVAL: Duration = Duration::from_millis(50);
/// How far the items of a popup may be from its edges: its frame, and the shadow that some toolkits draw around it.
const FRAME: i32 = 40;
/// The maximum number of items of a popup that are measured.
const MAX_SIBLINGS: usize = 64;
/// The maximum number of nested popups that are closed.
const MAX_LEVELS: usize = 8;

impl Engine {
    /// Whether the topmost window at a point is a popup of the app that `window` belongs to; `None` where the platform does not
    /// know.
    pub(crate) async fn popup_at(self: &Arc<Self>, window: u64, point: Point) -> Option<bool> {
        let engine = Arc::clone(self);
        let asked = tokio::task::spawn_blocking(move || engine.platform.popup_at(window, point));
        asked.await.ok().flatten()
    }
}

impl ActionContext<'_> {
    /// Whether the popup of an element is open, as far as can be known.
    pub async fn is_open(&self, holder: NodeId) -> Option<bool> {
        let reported = self.read_node(holder, |tree, ix| {
            let states = tree.states(ix);
            if states.has(State::Expanded) || twin(tree, ix).is_some() {
                return Reported::Open(true);
            }
            if states.has(State::Collapsed) {
                return Reported::Open(false);
            }
            let is_part = |at: &Ix| *at != ix && (is_item(tree.role(*at)) || tree.role(*at) == Role::Menu);
            let parts = || tree.subtree(ix).filter(is_part);
            match parts().find(|at| is_item(tree.role(*at)) && is_shown(tree, *at)) {
                // The choices of some combo boxes report that they are shown whether the popup is open or not.
                Some(first) if tree.role(ix) == Role::Combobox => Reported::Choice(tree.id(first)),
                Some(_) => Reported::Open(true),
                None if parts().next().is_none() => Reported::Nothing,
                None => Reported::Open(parts().any(|at| is_shown(tree, at))),
            }
        });
        match reported.ok()? {
            Reported::Open(open) => Some(open),
            Reported::Nothing => None,
            Reported::Choice(first) => self.is_in_popup(first).await,
        }
    }

    /// Whether an element lies in a popup of its app; `None` where the platform does not know.
    async fn is_in_popup(&self, id: NodeId) -> Option<bool> {
        let app = Arc::clone(self.app().ok()?);
        let key = self.key(id).ok()?;
        let window = self.read_node(id, |tree, ix| tree.window_number(tree.window_of(ix)?)).ok().flatten()?;
        let places = Measurements::to_act(&app, vec![key], self.deadline).await;
        let Some(bounds) = places.bounds(key) else { return Some(false) };
        for point in along(bounds) {
            match self.popup_at(window, point).await {
                Some(false) => {}
                known => return known,
            }
        }
        Some(false)
    }

    /// Whether the topmost window at a point is a popup of the app that `window` belongs to.
    async fn popup_at(&self, window: u64, point: Point) -> Option<bool> {
        self.engine.popup_at(window, point).await
    }

    /// Whether an element and its siblings fill a popup that the desktop shows: the menus of some toolkits have no element of
    /// their own in the tree, only items.
    pub async fn are_items_there(&self, app: &App, id: NodeId, popup: Bounds) -> Result<bool> {
        let beside = self.read_node(id, |tree, ix| {
            let parent = tree.parent(ix);
            let all = parent.map_or(&[][..], |parent| tree.children(parent));
            all.iter().filter_map(|at| tree.key(*at)).take(MAX_SIBLINGS).collect::<Vec<_>>()
        })?;
        let places = Measurements::to_act(app, beside.clone(), self.deadline).await;
        let bounds: Vec<Bounds> = beside.iter().filter_map(|key| places.bounds(*key)).collect();
        let (Some(left), Some(top)) =
            (bounds.iter().map(|at| at.x).min(), bounds.iter().map(|at| at.y).min())
        else {
            return Ok(false);
        };
        let right = bounds.iter().map(|at| at.x + at.width).max().unwrap_or(left);
        let bottom = bounds.iter().map(|at| at.y + at.height).max().unwrap_or(top);
        let edges =
            [left - popup.x, top - popup.y, popup.x + popup.width - right, popup.y + popup.height - bottom];
        Ok(places.age.is_none() && edges.iter().all(|edge| (0..=FRAME).contains(edge)))
    }

    /// Waits until a popup is open, or closed. Returns whether it is known to be.
    async fn until_open(&self, holder: NodeId, open: bool) -> Result<bool> {
        let end = self.deadline.min(Instant::now() + POPUP_TIMEOUT);
        let mut wait = self.engine.change_wait(end, &self.call.gate);
        loop {
            if self.is_open(holder).await == Some(open) {
                return Ok(true);
            }
            match wait.next_within(RECHECK_INTERVAL).await {
                Next::Check => {}
                Next::TimedOut => return Ok(false),
                Next::Cancelled => return Err(self.cancelled()),
            }
        }
    }

    /// Opens the popup of an element: through the app, else with the mouse. Succeeds if the popup is seen to be open, or if
    /// that cannot be known.
    pub async fn open(&self, holder: NodeId) -> Result<Outcome> {
        if self.options.route != Some(Route::Input) {
            self.until_enabled().await?;
            for act in [Act::Expand, Act::Press] {
                let done = match self.perform(holder, act).await {
                    Ok(()) => self.semantic_outcome(Delivery::DeliveredUnverified),
                    Err(failure) if failure.sent == Sent::No => continue,
                    // Some elements open their popup and go on reporting that it is closed.
                    Err(failure) if failure.kind == FailureKind::Refused && failure.sent == Sent::Yes => {
                        self.semantic_outcome(Delivery::DeliveredUnverified)
                    }
                    Err(failure) => self.outcome_without_reply(&failure)?,
                };
                return self.opened(holder, done).await;
            }
        }
        if self.options.route == Some(Route::Semantic) {
            return Err(self.unsupported("be opened by its app"));
        }
        let done = self.click_on(holder).await?;
        self.opened(holder, done).await
    }

    async fn opened(&self, holder: NodeId, done: Outcome) -> Result<Outcome> {
        if self.until_open(holder, true).await? {
            return Ok(done.seen());
        }
        match self.is_open(holder).await {
            Some(false) => Err(self.not_effective("open")),
            _ => Ok(done),
        }
    }

    /// Closes the popup of an element, through the app or with Escape, and checks that it is closed. Escape is sent only while
    /// a popup is known to be open, so that nothing else gets it.
    pub async fn close(&self, holder: NodeId) -> Result<Option<Outcome>> {
        let mut done = None;
        for level in 0..MAX_LEVELS {
            if self.is_open(holder).await != Some(true) {
                break;
            }
            // An element that reports to be collapsed cannot be collapsed by its app.
            let says_closed = self.read_node(holder, |tree, ix| tree.states(ix).has(State::Collapsed));
            if level == 0
                && !says_closed.unwrap_or(false)
                && self.options.route != Some(Route::Input)
                && let (Ok(app), Ok(key)) = (self.app(), self.key(holder))
            {
                // The popup is closed even if the caller has cancelled the request.
                let end = Instant::now() + POPUP_TIMEOUT;
                let asked = app.perform(key, Act::Collapse, Gate::new(), end).await;
                if asked.map_or_else(|failure| failure.sent == Sent::Maybe, |()| true)
                    && self.until_open(holder, false).await?
                {
                    done = Some(self.semantic_outcome(Delivery::DeliveredVerified));
                    break;
                }
            }
            let escape = press(&Combo { modifiers: Vec::new(), key: Key::Named(Named::Escape) });
            let pressed = self.send(escape, Expected::Popup(self.app()?.pid())).await?;
            let closed = self.until_open(holder, false).await?;
            let delivery = if closed { Delivery::DeliveredVerified } else { pressed.delivery };
            done = Some(Outcome { delivery, ..pressed });
        }
        Ok(done)
    }
}

/// What the tree reports about whether a popup is open.
enum Reported {
    Open(bool),
    /// It depends on whether this choice lies in a popup.
    Choice(NodeId),
    Nothing,
}

/// Points of an item: its center, and near either end. Qt 5 reports choices as wide as the longest text needs, however narrow
/// the popup that shows them.
pub(crate) fn along(bounds: Bounds) -> [Point; 3] {
    let (half, inset) = (bounds.width / 2, bounds.width.min(bounds.height) / 2);
    let y = bounds.y + bounds.height / 2;
    [half, inset, bounds.width - inset].map(|x| Point { x: bounds.x + x, y })
}

/// Whether an element and all its ancestors are shown, as far as they report it.
pub(crate) fn is_shown(tree: &Tree, ix: Ix) -> bool {
    std::iter::successors(Some(ix), |at| tree.parent(*at)).all(|at| {
        let states = tree.states(at);
        !states.has(State::Hidden) && !states.has(State::Offscreen)
    })
}

/// A popup elsewhere in the tree that stands in for that of a combo box: Firefox shows the choices of a page's field in a popup
/// of its own, with the same items, and the field goes on reporting that it is collapsed.
pub(crate) fn twin(tree: &Tree, holder: Ix) -> Option<Ix> {
    if tree.role(holder) != Role::Combobox {
        return None;
    }
    let labels = |of: Ix| items(tree, of).map(|item| label(tree, item)).collect::<Vec<_>>();
    let ours = labels(holder);
    let root = tree.root()?;
    tree.subtree(root).find(|other| {
        *other != holder
            && tree.role(*other) == Role::Combobox
            && tree.states(*other).has(State::Expanded)
            && !ours.is_empty()
            && labels(*other) == ours
    })
}
