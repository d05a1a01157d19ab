//! Choosing: items of lists and combo boxes, items of menus, and rows to scroll to.

use std::sync::Arc;

use axd_protocol::command::Route;
use axd_protocol::error::Delivery;
use axd_protocol::keys::{Button, Combo, Key, Named};
use axd_protocol::selector::fold;
use axd_protocol::{Bounds, Error, ErrorCode, NodeId, NodeRef, Point, Result, Role, State};

use super::physical::{clicks, press, turn};
use super::scene::{Done, Scene};
use crate::engine::measure::Places;
use crate::engine::target::MEANT;
use crate::platform::{Act, Direction, InputStep, Sent};
use crate::tree::{Ix, Tree};

/// How many items an error names.
const CANDIDATES: usize = 8;
/// How many turns of the wheel it takes at most to bring something into sight.
const MOST_TURNS: u32 = 400;
/// How many elements on each side of one are looked at to find out where it lies.
const MOST_BESIDE: usize = 256;

impl Scene<'_> {
    /// Chooses an item of the target, or the target itself.
    pub async fn select(&mut self, item: Option<&str>) -> Result<Done> {
        let holder = self.id()?;
        let chosen = match item {
            None => holder,
            Some(name) => self.item(holder, name).await?,
        };
        // What it is called is kept: the items of a popup go with it.
        let called = self.look(chosen, label).unwrap_or_default();
        let is_chosen = |scene: &Scene<'_>| scene.is_chosen(holder, chosen, called.as_deref());
        if is_chosen(self) {
            return Ok(Done::already("it was selected already"));
        }
        for act in [Act::Select, Act::Press] {
            let Some(done) = self.by_app_on(chosen, act.clone()).await? else { continue };
            self.pause(|| is_chosen(self)).await;
            if is_chosen(self) {
                return Ok(Done { delivery: Delivery::DeliveredVerified, ..done });
            }
            // What the app is seen to have selected is selected, though nothing in its tree may show it.
            if act == Act::Select || done.delivery == Delivery::Uncertain {
                return Ok(done);
            }
        }
        if self.options.route == Some(Route::Semantic) {
            return Err(self.not_achieved("selected"));
        }
        self.click_item(holder, chosen, item).await?;
        self.pause(|| is_chosen(self)).await;
        let done = Done {
            method: self.engine.platform.input_method(),
            route: Route::Input,
            delivery: Delivery::DeliveredVerified,
            note: None,
        };
        // An item of a popup is gone with it; what its holder says is all there is.
        if is_chosen(self) {
            Ok(done)
        } else if self.look(chosen, |_, _| ()).is_err() {
            Ok(Done { delivery: Delivery::DeliveredUnverified, ..done })
        } else {
            Err(self.not_achieved("selected"))
        }
    }

    /// Clicks an item, opening what holds it first if that is closed.
    async fn click_item(&self, holder: NodeId, item: NodeId, name: Option<&str>) -> Result<()> {
        let app = Arc::clone(self.app()?);
        let mut item = item;
        let is_closed = self.has(State::Collapsed)
            || self.role() == Some(Role::Combobox)
                && !self.has(State::Expanded)
                && !self.is_shown_in(holder, item);
        if holder != item && is_closed {
            self.click(Button::Left, 1).await?;
            let find = || name.and_then(|name| self.find_item(holder, name, true));
            self.until(self.patience(), || find().is_some_and(|id| self.is_shown_in(holder, id))).await?;
            item = find().unwrap_or(item);
        }
        // Of what pops up some apps do not tell where it is, or what lies over what; the keyboard gets there.
        if holder != item
            && self.role() == Some(Role::Combobox)
            && self.pointed_at(holder).is_some()
            && !self.can_reach(&app, item).await?
        {
            return self.choose_by_keys(holder, item).await;
        }
        let at = self.reach(&app, item).await?;
        self.input(clicks(at, Button::Left, 1, &[])).await.map(drop)
    }

    /// Whether an item and all between it and its holder is shown, as far as it says.
    fn is_shown_in(&self, holder: NodeId, item: NodeId) -> bool {
        let is_holder = |tree: &Tree, ix: Ix| tree.id(ix) == holder;
        self.look(item, |tree, ix| {
            let mut at = Some(ix);
            while let Some(part) = at.filter(|part| !is_holder(tree, *part)) {
                let states = tree.states(part);
                if states.has(State::Hidden) || states.has(State::Offscreen) {
                    return false;
                }
                at = tree.parent(part);
            }
            true
        })
        .unwrap_or(false)
    }

    /// The place, among the items of an open popup, of the one the keyboard is at.
    fn pointed_at(&self, holder: NodeId) -> Option<usize> {
        self.look(holder, |tree, ix| items(tree, ix).position(|item| tree.states(item).has(State::Focused)))
            .ok()
            .flatten()
    }

    /// Goes to an item of an open popup with the arrow keys, and takes it.
    async fn choose_by_keys(&self, holder: NodeId, item: NodeId) -> Result<()> {
        let place = self.look(holder, |tree, ix| items(tree, ix).position(|at| tree.id(at) == item))?;
        let (Some(from), Some(to)) = (self.pointed_at(holder), place) else {
            return Err(self.not_achieved("selected"));
        };
        let key = |key| press(&Combo { modifiers: Vec::new(), key: Key::Named(key) });
        let arrow = if to > from { Named::Down } else { Named::Up };
        let steps: Vec<InputStep> = (0..to.abs_diff(from)).flat_map(|_| key(arrow)).collect();
        if !steps.is_empty() {
            self.input(steps).await?;
            self.pause(|| self.pointed_at(holder) == Some(to)).await;
        }
        // What the keyboard is not at is not taken.
        if self.pointed_at(holder) != Some(to) {
            self.input(key(Named::Escape)).await?;
            return Err(self.not_achieved("selected"));
        }
        self.input(key(Named::Return)).await.map(drop)
    }

    /// Whether the item is what is chosen: it says so, or what holds it shows its name.
    fn is_chosen(&self, holder: NodeId, item: NodeId, called: Option<&str>) -> bool {
        let says_so = self.look(item, |tree, ix| {
            let states = tree.states(ix);
            states.has(State::Selected) || states.has(State::Checked)
        });
        let combo = self.look(holder, |tree, ix| {
            // A combo box shows what is chosen; its items may not say it, or say it of what is only pointed at.
            (tree.role(ix) == Role::Combobox && holder != item).then(|| shown_choice(tree, ix))
        });
        match (combo, called) {
            (Ok(Some(Some(shown))), Some(called)) => shown == called,
            _ => says_so.unwrap_or(false),
        }
    }

    /// The item of that name or number, opened up to if it is not there before.
    async fn item(&self, holder: NodeId, name: &str) -> Result<NodeId> {
        if let Some(found) = self.find_item(holder, name, false) {
            return Ok(found);
        }
        let number = name.trim().parse::<u32>().ok().filter(|number| *number > 0);
        let total = self.look(holder, |tree, ix| tree.total(ix))?;
        if let (Some(number), Some(total)) = (number, total)
            && number <= total
        {
            let row = number - 1;
            if self.by_app(Act::Reveal(row)).await?.is_some() {
                let find = || self.look(holder, |tree, ix| row_of(tree, ix, row)).ok().flatten();
                self.until(self.patience(), || find().is_some()).await?;
                if let Some(found) = find() {
                    return Ok(found);
                }
            }
        }
        if self.has(State::Collapsed) || self.role() == Some(Role::Combobox) {
            if self.by_app(Act::Expand).await?.is_none() {
                self.click(Button::Left, 1).await?;
            }
            let end = self.patience().min(tokio::time::Instant::now() + std::time::Duration::from_secs(2));
            self.until(end, || self.find_item(holder, name, true).is_some()).await?;
            if let Some(found) = self.find_item(holder, name, true) {
                return Ok(found);
            }
        }
        let candidates = self.look(holder, |tree, ix| {
            items(tree, ix).take(CANDIDATES).map(|item| tree.node_ref(item)).collect::<Vec<NodeRef>>()
        })?;
        Err(Error::new(ErrorCode::ElementNotFound, format!("{} has no item '{name}'", self.called()))
            .candidates(candidates)
            .suggest("use the name of one of the candidates, or its number"))
    }

    /// An item below its holder, or, once that is open, anywhere in the app if there is only one of the name.
    fn find_item(&self, holder: NodeId, name: &str, open: bool) -> Option<NodeId> {
        let wanted = fold(name).into_owned();
        self.look(holder, |tree, ix| {
            let called = |item: &Ix| says(tree, *item, &wanted);
            let below = items(tree, ix).find(called);
            let numbered = || {
                let number = name.trim().parse::<usize>().ok()?.checked_sub(1)?;
                if tree.total(ix).is_some() {
                    return row_of(tree, ix, u32::try_from(number).ok()?).and_then(|id| {
                        match tree.resolve(id) {
                            crate::tree::Resolved::Alive(ix) => Some(ix),
                            _ => None,
                        }
                    });
                }
                items(tree, ix).nth(number)
            };
            let anywhere = || {
                let root = tree.root().filter(|_| open)?;
                let mut shown =
                    items(tree, root).filter(called).filter(|item| !tree.states(*item).has(State::Hidden));
                shown.next().filter(|_| shown.next().is_none())
            };
            below.or_else(numbered).or_else(anywhere).map(|item| tree.id(item))
        })
        .ok()
        .flatten()
    }

    /// Picks an item of a menu: at once if the app lets it, else by opening one menu after the other.
    pub async fn menu(&mut self, path: &[&str]) -> Result<Done> {
        let Some((last, above)) = path.split_last() else { return Err(self.no_such_item("", &[])) };
        if self.options.route != Some(Route::Input)
            && let Some(leaf) = self.menu_item(path, false)
        {
            match self.perform(leaf, Act::Press).await {
                Ok(()) => return Ok(self.by_semantics(Delivery::DeliveredUnverified)),
                Err(failure) if failure.sent != Sent::No => return self.unanswered(&failure),
                // Closed menus may not let their items be picked; open ones do.
                Err(_) => {}
            }
        }
        for depth in 1..=above.len() {
            let opened = &path[..depth];
            let next = &path[..=depth];
            if self.menu_item(next, true).is_some() {
                continue;
            }
            let Some(menu) = self.menu_item(opened, depth > 1) else {
                return Err(self.no_such_item(opened[depth - 1], &path[..depth - 1]));
            };
            // What is known to hold other items is not opened to find that out.
            if self.menu_item(next, false).is_none() && self.holds_items(menu) {
                return Err(self.no_such_item(path[depth], opened));
            }
            self.pick(menu).await?;
            let end = self.patience().min(tokio::time::Instant::now() + std::time::Duration::from_secs(2));
            self.until(end, || self.menu_item(next, true).is_some()).await?;
        }
        match self.menu_item(path, true).or_else(|| self.menu_item(path, false)) {
            Some(leaf) => {
                self.target = Some(leaf);
                self.before = self.now();
                self.pick(leaf).await
            }
            None => Err(self.no_such_item(last, above)),
        }
    }

    /// Whether items of a menu are known.
    fn holds_items(&self, menu: NodeId) -> bool {
        self.look(menu, |tree, ix| tree.subtree(ix).skip(1).any(|below| is_menu(tree.role(below))))
            .unwrap_or(false)
    }

    /// Presses a menu or an item of one.
    async fn pick(&self, id: NodeId) -> Result<Done> {
        match self.by_app_on(id, Act::Press).await? {
            Some(done) => Ok(done),
            None => {
                let app = Arc::clone(self.app()?);
                let at = self.reach(&app, id).await?;
                self.input(clicks(at, Button::Left, 1, &[])).await
            }
        }
    }

    /// The item at a path of names from the menu bar, or from an open menu, down.
    fn menu_item(&self, path: &[&str], shown: bool) -> Option<NodeId> {
        let app = self.app.as_ref()?;
        let tree = app.tree.read();
        let root = tree.root()?;
        let bars = tree.subtree(root).filter(|ix| matches!(tree.role(*ix), Role::MenuBar));
        let mut at: Vec<Ix> = bars.collect();
        // The menus of the window in front come first.
        if let Some(front) = self.engine.focused_window(&tree) {
            at.sort_by_key(|bar| !tree.is_within(*bar, front));
        }
        for (depth, name) in path.iter().enumerate() {
            let wanted = fold(name).into_owned();
            let fits = |ix: &Ix| {
                is_menu(tree.role(*ix))
                    && tree.name(*ix).is_some_and(|name| fold(name) == wanted)
                    && !(shown && tree.states(*ix).has(State::Hidden))
            };
            let found = at.iter().find_map(|above| nearest(&tree, *above, &fits)).or_else(|| {
                // What a menu opens may hang elsewhere in the tree.
                (depth > 0).then(|| {
                    let menus = tree.subtree(root).filter(|ix| tree.role(*ix) == Role::Menu);
                    menus
                        .filter(|menu| !tree.states(*menu).has(State::Hidden))
                        .find_map(|menu| nearest(&tree, menu, &fits))
                })?
            })?;
            at = vec![found];
        }
        at.first().map(|ix| tree.id(*ix))
    }

    fn no_such_item(&self, name: &str, above: &[&str]) -> Error {
        let place =
            if above.is_empty() { "menu bar".to_owned() } else { format!("menu '{}'", above.join(" > ")) };
        let mut candidates = Vec::new();
        // Looked for before the tree is held: one lock is not taken twice.
        let opened = self.menu_item(above, false);
        if let Some(app) = &self.app {
            let tree = app.tree.read();
            let within = match above {
                [] => {
                    tree.root().and_then(|root| tree.subtree(root).find(|ix| tree.role(*ix) == Role::MenuBar))
                }
                _ => opened.and_then(|id| match tree.resolve(id) {
                    crate::tree::Resolved::Alive(ix) => Some(ix),
                    _ => None,
                }),
            };
            if let Some(within) = within {
                let items = tree
                    .subtree(within)
                    .skip(1)
                    .filter(|ix| is_menu(tree.role(*ix)) && tree.name(*ix).is_some());
                candidates = items.take(CANDIDATES).map(|ix| tree.node_ref(ix)).collect();
            } else if above.is_empty() {
                let name = app.seen().name;
                return Error::new(ErrorCode::ActionNotSupported, format!("{name} has no menu bar"))
                    .suggest("open the menu by the button it has, with `ax click`");
            }
        }
        let error = Error::new(ErrorCode::ElementNotFound, format!("there is no '{name}' in the {place}"));
        let error = if candidates.is_empty() { error } else { error.suggest(MEANT).candidates(candidates) };
        error.retry("snapshot --menubar")
    }

    /// Scrolls until the target, or a row of it, can be seen.
    pub async fn scroll_to(&mut self, row: Option<u32>) -> Result<Done> {
        if let Some(row) = row {
            let row = row - 1;
            let Some(done) = self.by_app(Act::Reveal(row)).await? else {
                return Err(self.not_offered("scroll to a row by its number"));
            };
            let holder = self.id()?;
            let find = || self.look(holder, |tree, ix| row_of(tree, ix, row)).ok().flatten();
            self.until(self.patience(), || find().is_some()).await?;
            let Some(found) = find() else { return Err(self.not_achieved("scrolled to that row")) };
            self.target = Some(found);
            self.before = None;
            return Ok(Done { delivery: Delivery::DeliveredVerified, ..done });
        }
        if self.in_sight().await.is_some_and(|(_, visible)| visible) {
            return Ok(Done::already("it was in sight already"));
        }
        if let Some(done) = self.by_app(Act::ScrollTo).await? {
            self.rest().await;
            if self.in_sight().await.is_some_and(|(_, visible)| visible) {
                return Ok(Done { delivery: Delivery::DeliveredVerified, ..done });
            }
            if self.options.route == Some(Route::Semantic) {
                return Err(self.not_achieved("in sight"));
            }
        }
        self.wheel_to().await
    }

    /// Turns the wheel over what holds the target until it is in sight, or nothing moves any more.
    async fn wheel_to(&self) -> Result<Done> {
        let mut still = 0;
        let mut before = None;
        for _ in 0..MOST_TURNS {
            let Some((at, frame)) = self.holder_in_sight().await else {
                return Err(self.not_actionable("is in nothing that can be scrolled"));
            };
            let now = match self.in_sight().await {
                Some((Some(bounds), _)) => (toward(bounds, frame), Progress::At(bounds)),
                // Some toolkits do not tell the places of what is scrolled away, but its order.
                Some((None, _)) | None => match self.way_by_order().await {
                    Some((direction, first)) => (direction, Progress::Past(first)),
                    None => return Err(self.not_actionable("has no place to scroll to")),
                },
            };
            // Some move a moment later; what has not moved after several turns does not.
            still = if before == Some(now) { still + 1 } else { 0 };
            if still > 3 {
                break;
            }
            before = Some(now);
            self.input(vec![InputStep::Move(at), turn(now.0, 2)]).await?;
            self.rest().await;
            if self.in_sight().await.is_some_and(|(_, visible)| visible) {
                let method = self.engine.platform.input_method();
                let delivery = Delivery::DeliveredVerified;
                return Ok(Done { method, route: Route::Input, delivery, note: None });
            }
        }
        Err(self.not_achieved("in sight"))
    }

    /// Which way the target lies from those beside it that are in sight, and the place of the first of these.
    async fn way_by_order(&self) -> Option<(Direction, usize)> {
        let app = self.app.as_ref()?;
        let (own, beside) = self
            .look(self.id().ok()?, |tree, ix| {
                let beside = tree.children(tree.parent(ix)?);
                let own = beside.iter().position(|other| *other == ix)?;
                let from = own.saturating_sub(MOST_BESIDE);
                let some = beside.iter().enumerate().skip(from).take(2 * MOST_BESIDE);
                Some((own, some.filter_map(|(place, ix)| Some((place, tree.key(*ix)?))).collect::<Vec<_>>()))
            })
            .ok()??;
        let places = Places::to_act(app, beside.iter().map(|(_, key)| *key).collect(), self.deadline).await;
        let mut seen = beside.iter().filter(|(_, key)| places.visible(*key) == Some(true));
        let first = seen.next()?.0;
        Some((if own > first { Direction::Down } else { Direction::Up }, first))
    }

    /// Where the target is, and whether it can be seen.
    async fn in_sight(&self) -> Option<(Option<Bounds>, bool)> {
        let (app, key) = (self.app.as_ref()?, self.key(self.id().ok()?).ok()?);
        let places = Places::to_act(app, vec![key], self.deadline).await;
        Some((places.bounds(key), places.visible(key)?))
    }

    /// The nearest thing around the target that can be seen, and a place in it.
    async fn holder_in_sight(&self) -> Option<(Point, Bounds)> {
        let app = self.app.as_ref()?;
        let above: Vec<_> = self
            .look(self.id().ok()?, |tree, ix| {
                let mut at = tree.parent(ix);
                std::iter::from_fn(move || {
                    let above = at?;
                    at = tree.parent(above);
                    Some(above)
                })
                .filter_map(|above| tree.key(above))
                .collect()
            })
            .ok()?;
        let places = Places::to_act(app, above.clone(), self.deadline).await;
        let seen = |key| {
            let bounds = places.bounds(key).filter(|bounds| bounds.width > 0 && bounds.height > 0)?;
            places.visible(key).filter(|visible| *visible)?;
            Some(bounds)
        };
        // What holds a long list is seen through what holds that.
        let mut frames = above.into_iter().filter_map(seen);
        let nearest = frames.next()?;
        let frame = frames.fold(nearest, |part, frame| part.intersection(&frame).unwrap_or(part));
        Some((Point { x: frame.x + frame.width / 2, y: frame.y + frame.height / 2 }, frame))
    }
}

/// How far scrolling has come.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Progress {
    /// The target is here.
    At(Bounds),
    /// Of those beside the target, this is the first in sight.
    Past(usize),
}

/// The way to scroll so that what is at `bounds` comes into `frame`.
fn toward(bounds: Bounds, frame: Bounds) -> Direction {
    if bounds.y + bounds.height > frame.y + frame.height {
        Direction::Down
    } else if bounds.y < frame.y {
        Direction::Up
    } else if bounds.x + bounds.width > frame.x + frame.width {
        Direction::Right
    } else {
        Direction::Left
    }
}

/// What can be chosen below an element.
fn items(tree: &Tree, holder: Ix) -> impl Iterator<Item = Ix> {
    tree.subtree(holder).filter(move |ix| *ix != holder && is_item(tree.role(*ix)))
}

fn is_item(role: Role) -> bool {
    matches!(
        role,
        Role::ListItem
            | Role::TreeItem
            | Role::Row
            | Role::MenuItem
            | Role::MenuItemCheckbox
            | Role::MenuItemRadio
            | Role::Tab
            | Role::Radio
    )
}

fn is_menu(role: Role) -> bool {
    matches!(
        role,
        Role::Menu
            | Role::MenuItem
            | Role::MenuItemCheckbox
            | Role::MenuItemRadio
            | Role::Button
            | Role::ToggleButton
    )
}

/// What an item is called, by itself or by the first in it that has a name.
fn label(tree: &Tree, item: Ix) -> Option<String> {
    let named = |ix: Ix| tree.name(ix).filter(|name| !name.is_empty()).map(|name| fold(name).into_owned());
    named(item).or_else(|| tree.subtree(item).find_map(named))
}

/// The choice that a combo box shows: its value, else the text on its face, else its name.
fn shown_choice(tree: &Tree, holder: Ix) -> Option<String> {
    let folded = |text: &str| fold(text).into_owned();
    if let Some(value) = tree.value(holder) {
        return Some(folded(value));
    }
    let choices: Vec<String> = items(tree, holder).filter_map(|item| label(tree, item)).collect();
    let in_item = |ix: Ix| {
        let mut above = tree.parent(ix);
        std::iter::from_fn(|| {
            let at = above.filter(|at| *at != holder)?;
            above = tree.parent(at);
            Some(at)
        })
        .any(|at| is_item(tree.role(at)))
    };
    // A face holds one text that is shown; others, as of a state that it is not in, may lie beneath it.
    let texts = tree.subtree(holder).filter(|ix| tree.role(*ix) == Role::Text && !in_item(*ix));
    let face = texts.filter_map(|ix| tree.name(ix).map(folded)).last();
    face.or_else(|| tree.name(holder).map(folded).filter(|name| choices.contains(name)))
}

/// Whether an item goes by this name: its own, or that of what is in it.
fn says(tree: &Tree, item: Ix, wanted: &str) -> bool {
    let is = |ix: Ix| tree.name(ix).is_some_and(|name| fold(name) == wanted);
    match tree.name(item) {
        Some(name) if !name.is_empty() => is(item),
        _ => tree.subtree(item).any(is),
    }
}

/// The row of an index in a container that shows some of its rows.
fn row_of(tree: &Tree, holder: Ix, row: u32) -> Option<NodeId> {
    tree.subtree(holder).find(|ix| tree.row(*ix) == Some(row)).map(|ix| tree.id(ix))
}

/// The first below an element that fits, not looking inside other menus that do not.
fn nearest(tree: &Tree, above: Ix, fits: &impl Fn(&Ix) -> bool) -> Option<Ix> {
    let mut level: Vec<Ix> = tree.children(above).to_vec();
    while !level.is_empty() {
        if let Some(found) = level.iter().copied().find(|ix| fits(ix)) {
            return Some(found);
        }
        let passed =
            level.iter().filter(|ix| !is_menu(tree.role(**ix)) || tree.name(**ix).is_none_or(str::is_empty));
        level = passed.flat_map(|ix| tree.children(*ix).iter().copied()).collect();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_scroll_is_the_way_to_the_element() {
        let frame = Bounds { x: 0, y: 100, width: 200, height: 300 };
        let at = |x, y| Bounds { x, y, width: 20, height: 20 };
        assert_eq!(toward(at(10, 900), frame), Direction::Down);
        assert_eq!(toward(at(10, 0), frame), Direction::Up);
        assert_eq!(toward(at(900, 200), frame), Direction::Right);
        assert_eq!(toward(at(-90, 200), frame), Direction::Left);
    }
}
