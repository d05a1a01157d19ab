//! Waiting until an element can be reached with the mouse: shown, enabled, on the screen, in front, and not covered.

use std::sync::Arc;
use std::time::Duration;

use axd_protocol::selector::Target;
use axd_protocol::{Bounds, ErrorCode, NodeId, Point, Result, Role, State};
use tokio::time::{Instant, timeout_at};

use super::scene::Scene;
use crate::engine::app::App;
use crate::engine::measure::Places;
use crate::engine::target::{Where, alive, parse_target};
use crate::platform::{Act, DesktopCall, ElementKey, ToWorker, WindowOp, WorkerAnswer};

/// Where things are is announced badly: so often it is looked at again while somebody waits.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// How long a window may take to come to the front.
const RAISE: Duration = Duration::from_millis(1_500);

/// Whether an element can be reached now.
enum Reached {
    /// Here.
    At(Point),
    /// It cannot, for this reason.
    Not(String),
}

/// An element as it is about to be reached.
struct Sight {
    key: ElementKey,
    /// The window system's number of the window it is in.
    window: Option<u64>,
    /// Whether it pops up over windows, and need not lie within its own.
    pops_up: bool,
    /// Whether it is one of the choices of a combo box, which may lie in a popup.
    is_choice: bool,
}

impl Scene<'_> {
    /// The place to point at: the one that was named, else where the target can be reached.
    pub async fn spot(&self) -> Result<Point> {
        match self.point {
            Some(point) => Ok(point),
            None => {
                let (app, id) = (Arc::clone(self.app()?), self.id()?);
                self.reach(&app, id).await
            }
        }
    }

    /// The place of another target.
    pub async fn spot_of(&self, target: &str) -> Result<Point> {
        if let Target::Point { x, y } = parse_target(target)? {
            return self.engine.place_of(Point { x, y }, self.options, self.deadline).await;
        }
        let place = Where { app: self.options.app, window: self.options.window };
        let located = self.engine.locate(target, place, self.deadline).await?;
        self.reach(&located.app, located.id).await
    }

    /// Waits until an element can be reached, and says where.
    pub async fn reach(&self, app: &Arc<App>, id: NodeId) -> Result<Point> {
        let end = self.patience();
        let mut pulse = self.engine.pulse.subscribe();
        let mut scrolled = false;
        loop {
            pulse.mark_unchanged();
            let why = match self.try_to_reach(app, id, &mut scrolled).await? {
                Reached::At(point) => return Ok(point),
                Reached::Not(why) => why,
            };
            if Instant::now() >= end {
                let mut what = String::new();
                let node = app.tree.read().resolve(id);
                if let crate::tree::Resolved::Alive(ix) = node {
                    axd_protocol::text::write_ref(&app.tree.read().node_ref(ix), &mut what);
                }
                return Err(axd_protocol::Error::new(ErrorCode::NotActionable, format!("{what} {why}")));
            }
            tokio::select! {
                biased;
                () = self.call.gate.closed() => return Err(self.cancelled()),
                _ = timeout_at(end.min(Instant::now() + LOOK_AGAIN), pulse.changed()) => {}
            }
        }
    }

    /// Whether an element can be reached now.
    pub async fn can_reach(&self, app: &Arc<App>, id: NodeId) -> Result<bool> {
        Ok(matches!(self.try_to_reach(app, id, &mut true).await?, Reached::At(_)))
    }

    async fn try_to_reach(&self, app: &Arc<App>, id: NodeId, scrolled: &mut bool) -> Result<Reached> {
        let not = |why: &str| Ok(Reached::Not(why.to_owned()));
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
            let window = tree.window_of(ix).and_then(|window| tree.window_number(window));
            let mut above = Some(ix);
            let pops_up = std::iter::from_fn(|| {
                let at = above?;
                above = tree.parent(at);
                Some(tree.role(at))
            })
            .any(|role| matches!(role, Role::Menu | Role::Tooltip));
            let is_choice = std::iter::successors(tree.parent(ix), |at| tree.parent(*at))
                .any(|at| tree.role(at) == Role::Combobox);
            Sight { key, window, pops_up, is_choice }
        };
        if !sight.pops_up {
            self.raise(sight.window).await?;
        }
        let places = Places::to_act(app, vec![sight.key], self.deadline).await;
        let (Some(bounds), visible) = (places.bounds(sight.key), places.visible(sight.key)) else {
            return not("has no place on the screen");
        };
        if visible == Some(false) {
            if !std::mem::replace(scrolled, true) {
                let gate = self.call.gate.part();
                // If it cannot, the next look says so.
                let _ = app.perform(sight.key, Act::ScrollTo, gate, self.deadline).await;
            }
            return not("is scrolled out of sight, and its app does not scroll to it");
        }
        if (sight.is_choice || sight.pops_up)
            && let Some(point) = self.spot_in_popup(bounds, sight.window).await
        {
            return Ok(Reached::At(point));
        }
        let Some(point) = self.middle(bounds, &sight) else { return not("is off the screen") };
        if let Some(cover) = self.covered(app, id, point, &sight).await {
            return Ok(Reached::Not(format!("is covered by {cover}")));
        }
        Ok(Reached::At(point))
    }

    /// The middle of the part of an element that is on the screen and in its window.
    fn middle(&self, bounds: Bounds, sight: &Sight) -> Option<Point> {
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

    /// What lies over an element at a point, if anything does.
    async fn covered(&self, app: &Arc<App>, id: NodeId, point: Point, sight: &Sight) -> Option<String> {
        if !sight.pops_up {
            let desktop = self.engine.desktop.read();
            let top = desktop.window_at(point);
            if let (Some(top), Some(own)) = (top, sight.window)
                && top.window != own
                && top.pid != app.pid()
            {
                let whose = desktop.by_pid(top.pid).map_or("another app", |app| app.name.as_str());
                return Some(format!("the window \"{}\" of {whose}", top.title));
            }
        }
        let hit = app.ask_raw(self.deadline, |ticket| ToWorker::HitTest { point, ticket }).await;
        let Ok(WorkerAnswer::Element(Some(key))) = hit else { return None };
        let tree = app.tree.read();
        let (ix, top) = (alive(app, &tree, id).ok()?, tree.by_key(key)?);
        if tree.is_within(top, ix) || tree.is_within(ix, top) {
            return None;
        }
        let mut what = String::new();
        axd_protocol::text::write_ref(&tree.node_ref(top), &mut what);
        Some(what)
    }

    /// Whether the window of an element is the active one, as far as is known.
    pub fn is_in_front(&self, id: NodeId) -> bool {
        let number =
            self.look(id, |tree, ix| tree.window_of(ix).and_then(|window| tree.window_number(window)));
        match number {
            Ok(Some(number)) => self.engine.desktop.read().active_window == Some(number),
            _ => true,
        }
    }

    /// Brings the window of an element to the front.
    pub async fn bring_to_front(&self, id: NodeId) -> Result<()> {
        let number =
            self.look(id, |tree, ix| tree.window_of(ix).and_then(|window| tree.window_number(window)))?;
        self.raise(number).await
    }

    /// Brings a window to the front, if it is not, and waits until it is. One that does not come is seen to be covered.
    async fn raise(&self, window: Option<u64>) -> Result<()> {
        let Some(window) = window else { return Ok(()) };
        let is_active = || self.engine.desktop.read().active_window == Some(window);
        if is_active() {
            return Ok(());
        }
        let call = DesktopCall::Window { window, op: WindowOp::Focus };
        let asked = self.engine.platform.call(call, self.call.gate.part());
        if let Ok(Ok(Ok(_))) = timeout_at(self.deadline, asked).await {
            let end = self.deadline.min(Instant::now() + RAISE);
            self.until(end, is_active).await?;
        }
        Ok(())
    }
}
