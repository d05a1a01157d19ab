//! Choosing: items of lists and combo boxes.

use std::sync::Arc;

use axd_protocol::command::Route;
use axd_protocol::error::Delivery;
use axd_protocol::keys::{Button, Combo, Key, Named};
use axd_protocol::selector::fold;
use axd_protocol::{Error, ErrorCode, NodeId, NodeRef, Result, Role, State};

use super::physical::press;
use super::scene::{Done, Scene};
use crate::engine::target::not_looked_at;
use crate::platform::{Act, InputStep};
use crate::tree::{Ix, Tree};

/// How many items an error names.
pub(super) const CANDIDATES: usize = 8;

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
        let method = self.engine.platform.input_method();
        let done = Done::by(method, Route::Input, Delivery::DeliveredVerified);
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
        self.click_on(item).await.map(drop)
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
            self.by_keys(steps).await?;
            self.pause(|| self.pointed_at(holder) == Some(to)).await;
        }
        // What the keyboard is not at is not taken.
        if self.pointed_at(holder) != Some(to) {
            self.by_keys(key(Named::Escape)).await?;
            return Err(self.not_achieved("selected"));
        }
        self.by_keys(key(Named::Return)).await.map(drop)
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
        let error = Error::new(ErrorCode::ElementNotFound, format!("{} has no item '{name}'", self.called()))
            .candidates(candidates)
            .suggest("use the name of one of the candidates, or its number");
        let unread = self.look(holder, |tree, ix| tree.unread_of(ix))?;
        Err(not_looked_at(error, unread.into_iter().collect()))
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
pub(super) fn row_of(tree: &Tree, holder: Ix, row: u32) -> Option<NodeId> {
    tree.subtree(holder).find(|ix| tree.row(*ix) == Some(row)).map(|ix| tree.id(ix))
}
