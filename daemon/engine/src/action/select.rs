//! Selects items of lists and combo boxes.

use std::sync::Arc;

use axd_protocol::command::{Route, Select};
use axd_protocol::error::Delivery;
use axd_protocol::keys::{Combo, Key, Named};
use axd_protocol::selector::fold;
use axd_protocol::{Error, ErrorCode, NodeId, NodeRef, Result, Role, State};

use tokio::time::Instant;

use crate::action::context::{ActionContext, Outcome};
use crate::action::input::press;
use crate::action::popup::{POPUP_TIMEOUT, is_shown, twin};
use crate::action::settle::Watch;
use crate::action::spec::{Action, ActionSpec};
use crate::apps::target::not_looked_at;
use axd_platform::{Act, FailureKind, InputStep, Sent};
use axd_tree::{Ix, Tree};

/// The maximum number of items that an error lists.
pub(crate) const MAX_CANDIDATES: usize = 8;

/// An item at most this many steps away is reached with the arrow keys rather than by a click.
const MAX_KEY_STEPS: usize = 30;

impl Action for Select {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        Ok(ActionSpec::on_element(&self.target))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        context.select(self.value.as_ref().map(|value| value.0.as_str())).await
    }
}

impl ActionContext<'_> {
    /// Selects an item of the target, or the target itself.
    async fn select(&mut self, item: Option<&str>) -> Result<Outcome> {
        let holder = self.id()?;
        let pops_up = self.role() == Some(Role::Combobox) || self.has(State::Collapsed);
        if let Some(name) = item.filter(|_| pops_up) {
            return self.select_choice(holder, name).await;
        }
        let chosen = match item {
            None => holder,
            Some(name) => self.item(holder, name).await?,
        };
        // The label is remembered, because some elements are replaced when they are selected.
        let called = self.read_node(chosen, label).unwrap_or_default();
        let is_chosen = |context: &ActionContext<'_>| context.is_chosen(holder, chosen, called.as_deref());
        if is_chosen(self) {
            return Ok(Outcome::already("it was already selected"));
        }
        for act in [Act::Select, Act::Press] {
            let Some(done) = self.try_semantic_on(chosen, act.clone()).await? else { continue };
            self.wait_for_effect(|| is_chosen(self)).await;
            if is_chosen(self) {
                return Ok(done.seen());
            }
            // If the app confirmed the selection it counts as selected, though the tree may not show it.
            if act == Act::Select || done.delivery == Delivery::Uncertain {
                return Ok(done);
            }
        }
        if self.options.route == Some(Route::Semantic) {
            return Err(self.not_effective("selected"));
        }
        let done = self.click_on(chosen).await?;
        self.wait_for_effect(|| is_chosen(self)).await;
        if is_chosen(self) {
            Ok(done.seen())
        } else if self.read_node(chosen, |_, _| ()).is_err() {
            Ok(done)
        } else {
            Err(self.not_effective("selected"))
        }
    }

    /// Selects a choice of a combo box: through the app if that is seen to work, else by opening the popup. Selecting twice
    /// does no harm, so every way is tried. If all fail, an opened popup is closed again.
    async fn select_choice(&self, holder: NodeId, name: &str) -> Result<Outcome> {
        let known = self.find_below(holder, name);
        if let Some(choice) = known {
            let called = self.read_node(choice, label)?;
            if self.is_chosen(holder, choice, called.as_deref()) {
                return Ok(Outcome::already("it was already selected"));
            }
            if let Some(done) = self.choose_by_app(holder, choice, Act::Select).await? {
                return Ok(done);
            }
        } else if self.read_node(holder, shown_choice)?.is_some_and(|shown| shown == plain(name)) {
            return Ok(Outcome::already("it was already selected"));
        } else if self.knows_choices(holder) {
            return Err(self.no_such_choice(holder, name));
        }
        let was_open = self.is_open(holder).await == Some(true);
        let done = self.choose_in_popup(holder, name, known, was_open).await;
        if !was_open && (done.is_err() || self.is_open(holder).await == Some(true)) {
            // The failure of the selection is reported, rather than a failure to close the popup.
            let closed = self.close(holder).await;
            if done.is_ok() {
                closed?;
            }
        }
        done
    }

    /// Selects a choice through the app; `None` if no effect is seen, and another way may be tried.
    async fn choose_by_app(&self, holder: NodeId, choice: NodeId, act: Act) -> Result<Option<Outcome>> {
        if self.options.route == Some(Route::Input) {
            return Ok(None);
        }
        self.until_enabled().await?;
        let called = self.read_node(choice, label).ok().flatten();
        let uncertain = match self.perform(choice, act).await {
            Ok(()) => None,
            Err(failure) if failure.kind == FailureKind::Unresponsive => return Err(self.failed(&failure)),
            Err(failure) if failure.sent == Sent::Maybe => Some(self.outcome_without_reply(&failure)?),
            Err(_) => return Ok(None),
        };
        let is_chosen = || self.is_chosen(holder, choice, called.as_deref());
        self.wait_for_effect(is_chosen).await;
        if uncertain.is_some() {
            self.until(self.outcome_deadline(), is_chosen).await?;
        }
        match is_chosen() {
            true => Ok(Some(self.semantic_outcome(Delivery::DeliveredVerified))),
            false => Ok(uncertain),
        }
    }

    /// Opens a combo box, if it is closed, and selects a choice.
    async fn choose_in_popup(
        &self,
        holder: NodeId,
        name: &str,
        known: Option<NodeId>,
        is_open: bool,
    ) -> Result<Outcome> {
        if !is_open {
            self.open(holder).await?;
        }
        let called = known.and_then(|choice| self.read_node(choice, label).ok().flatten());
        let wanted = called.clone().unwrap_or_else(|| name.to_owned());
        let find = || self.find_choice(holder, &wanted).or(known);
        let end = self.action_deadline().min(Instant::now() + POPUP_TIMEOUT);
        self.until(end, || self.find_choice(holder, &wanted).is_some()).await?;
        let Some(choice) = find() else { return Err(self.no_such_choice(holder, name)) };
        let called = called.or_else(|| self.read_node(choice, label).ok().flatten());
        let is_chosen = || self.is_chosen(holder, choice, called.as_deref());
        let was = self.read_node(holder, shown_choice)?;
        let mut done = None;
        for act in [Act::Press, Act::Select] {
            if self.read_node(choice, |_, _| ()).is_err() {
                break;
            }
            if let Some(done) = self.choose_by_app(holder, choice, act).await? {
                return Ok(done);
            }
        }
        if self.options.route != Some(Route::Semantic) && self.read_node(choice, |_, _| ()).is_ok() {
            done = Some(self.take_choice(holder, choice).await?);
            self.wait_for_effect(is_chosen).await;
        }
        if is_chosen() || was.is_some() && self.until(self.outcome_deadline(), is_chosen).await? {
            let done = done.unwrap_or_else(|| self.semantic_outcome(Delivery::DeliveredUnverified));
            return Ok(done.seen());
        }
        // If the combo box does not show its choice, all that is known is that the popup is gone, together with the selected
        // choice.
        let shows = self.read_node(holder, shown_choice).ok().flatten().or(was);
        if shows.is_some() || self.is_open(holder).await == Some(true) {
            return Err(self.not_effective("selected"));
        }
        let note = Some("it does not report its selection".to_owned());
        let done = done.unwrap_or_else(|| self.semantic_outcome(Delivery::DeliveredUnverified));
        Ok(Outcome { note, ..done })
    }

    /// Selects a choice of an open popup with the mouse, or with the keyboard where the mouse cannot reach it: some apps do not
    /// report the bounds of their popups, or what covers what.
    async fn take_choice(&self, holder: NodeId, choice: NodeId) -> Result<Outcome> {
        let app = Arc::clone(self.app()?);
        let popup = self.popup_of(holder, choice);
        // With the keyboard it can be seen which item would be selected. A click may come too early: Qt ignores clicks for a
        // while after a popup has opened.
        let by_keys = self.is_near(popup, choice)
            || self.pointed_at(popup).is_some() && !self.can_reach(&app, choice).await?;
        if by_keys && let Some(done) = self.choose_by_keys(popup, choice).await? {
            return Ok(done);
        }
        self.click_on(choice).await
    }

    /// Whether the keyboard is at an item of an open popup that is close to this one.
    fn is_near(&self, popup: NodeId, choice: NodeId) -> bool {
        let place = self.read_node(popup, |tree, ix| items(tree, ix).position(|at| tree.id(at) == choice));
        match (self.pointed_at(popup), place) {
            (Some(from), Ok(Some(to))) => from.abs_diff(to) <= MAX_KEY_STEPS,
            _ => false,
        }
    }

    /// The root of the choices of an open combo box: the combo box itself, or a popup elsewhere.
    fn popup_of(&self, holder: NodeId, choice: NodeId) -> NodeId {
        self.read_node(choice, |tree, ix| {
            let above = std::iter::successors(tree.parent(ix), |at| tree.parent(*at));
            let mut above = above.filter(|at| {
                tree.id(*at) == holder || matches!(tree.role(*at), Role::Combobox | Role::List | Role::Menu)
            });
            above.next().map(|at| tree.id(at))
        })
        .ok()
        .flatten()
        .unwrap_or(holder)
    }

    /// Whether all choices of a combo box are known without opening it.
    fn knows_choices(&self, holder: NodeId) -> bool {
        self.read_node(holder, |tree, ix| {
            let cut = tree.subtree(ix).any(|at| tree.total(at).is_some());
            !cut && items(tree, ix).any(|item| label(tree, item).is_some())
        })
        .unwrap_or(false)
    }

    fn no_such_choice(&self, holder: NodeId, name: &str) -> Error {
        let candidates = self.read_node(holder, |tree, ix| {
            let below: Vec<Ix> = items(tree, ix).take(MAX_CANDIDATES).collect();
            let came =
                || appeared(tree, self.since.tick).filter(|ix| is_shown(tree, *ix)).take(MAX_CANDIDATES);
            let of = if below.is_empty() { came().collect() } else { below };
            of.into_iter().map(|item| tree.node_ref(item)).collect::<Vec<NodeRef>>()
        });
        let error =
            Error::new(ErrorCode::ElementNotFound, format!("{} has no item '{name}'", self.target_label()))
                .candidates(candidates.unwrap_or_default())
                .suggest("use the name or the number of one of the candidates");
        let unread = self.read_node(holder, |tree, ix| tree.unread_of(ix)).ok().flatten();
        not_looked_at(error, unread.into_iter().collect())
    }

    /// The index, among the items of an open popup, of the one the keyboard is at: the item that has the focus or, where
    /// another element is reported to have it, the selected item.
    fn pointed_at(&self, holder: NodeId) -> Option<usize> {
        self.read_node(holder, |tree, ix| {
            let with = |state| items(tree, ix).position(|item| tree.states(item).has(state));
            with(State::Focused).or_else(|| with(State::Selected))
        })
        .ok()
        .flatten()
    }

    /// Moves to an item of an open popup with the arrow keys and selects it; `None` if the keyboard is not seen to arrive
    /// there.
    async fn choose_by_keys(&self, holder: NodeId, item: NodeId) -> Result<Option<Outcome>> {
        let place = self.read_node(holder, |tree, ix| items(tree, ix).position(|at| tree.id(at) == item))?;
        let (Some(from), Some(to)) = (self.pointed_at(holder), place) else {
            return Ok(None);
        };
        let key = |key| press(&Combo { modifiers: Vec::new(), key: Key::Named(key) });
        let arrow = if to > from { Named::Down } else { Named::Up };
        let steps: Vec<InputStep> = (0..to.abs_diff(from)).flat_map(|_| key(arrow)).collect();
        if !steps.is_empty() {
            self.by_keys(steps).await?;
            // Qt sends no event when the keyboard moves in a popup, so the popup is read again regularly during the wait.
            let app = Arc::clone(self.app()?);
            let _watch = Watch::new(self.engine, &app, self.key(holder)?);
            self.until(self.outcome_deadline(), || self.pointed_at(holder) == Some(to)).await?;
        }
        // Enter is not pressed unless the keyboard is at the item.
        if self.pointed_at(holder) != Some(to) {
            return Ok(None);
        }
        self.by_keys(key(Named::Return)).await.map(Some)
    }

    /// Whether the item is selected: it reports so, or its container shows its label.
    fn is_chosen(&self, holder: NodeId, item: NodeId, called: Option<&str>) -> bool {
        let says_so = self.read_node(item, |tree, ix| {
            let states = tree.states(ix);
            states.has(State::Selected) || states.has(State::Checked)
        });
        let combo = self.read_node(holder, |tree, ix| {
            // A combo box shows the selected choice. Its items may not report it, or may report it of an item that is only
            // highlighted.
            (tree.role(ix) == Role::Combobox && holder != item).then(|| shown_choice(tree, ix))
        });
        match (combo, called) {
            (Ok(Some(Some(shown))), Some(called)) => shown == called,
            _ => says_so.unwrap_or(false),
        }
    }

    /// The item with that name or number; its container is scrolled if the item is not in the tree.
    async fn item(&self, holder: NodeId, name: &str) -> Result<NodeId> {
        if let Some(found) = self.find_below(holder, name) {
            return Ok(found);
        }
        let number = name.trim().parse::<u32>().ok().filter(|number| *number > 0);
        let total = self.read_node(holder, |tree, ix| tree.total(ix))?;
        if let (Some(number), Some(total)) = (number, total)
            && number <= total
        {
            let row = number - 1;
            if self.try_semantic(Act::Reveal(row)).await?.is_some() {
                let find = || self.read_node(holder, |tree, ix| row_of(tree, ix, row)).ok().flatten();
                self.until(self.action_deadline(), || find().is_some()).await?;
                if let Some(found) = find() {
                    return Ok(found);
                }
            }
        }
        Err(self.no_such_choice(holder, name))
    }

    /// An item below its container, by name or else by number.
    fn find_below(&self, holder: NodeId, name: &str) -> Option<NodeId> {
        let wanted = plain(name);
        self.read_node(holder, |tree, ix| {
            let below = items(tree, ix).find(|item| says(tree, *item, &wanted));
            let numbered = || {
                let number = name.trim().parse::<usize>().ok()?.checked_sub(1)?;
                if tree.total(ix).is_some() {
                    return row_of(tree, ix, u32::try_from(number).ok()?).and_then(|id| {
                        match tree.resolve(id) {
                            axd_tree::Resolved::Alive(ix) => Some(ix),
                            _ => None,
                        }
                    });
                }
                items(tree, ix).nth(number)
            };
            below.or_else(numbered).map(|item| tree.id(item))
        })
        .ok()
        .flatten()
    }

    /// A choice of an open combo box: in a popup that stands in for it, among the elements that appeared when it was opened,
    /// below it or, if only one has the name, anywhere in the app.
    fn find_choice(&self, holder: NodeId, name: &str) -> Option<NodeId> {
        let wanted = plain(name);
        self.read_node(holder, |tree, ix| {
            let called = |item: &Ix| says(tree, *item, &wanted) && is_shown(tree, *item);
            let in_twin = twin(tree, ix).and_then(|twin| items(tree, twin).find(called));
            let came = || appeared(tree, self.since.tick).find(called);
            let below = || items(tree, ix).find(called);
            let numbered = || {
                let number = name.trim().parse::<usize>().ok()?.checked_sub(1)?;
                appeared(tree, self.since.tick).filter(|item| is_shown(tree, *item)).nth(number)
            };
            let anywhere = || {
                let mut shown = items(tree, tree.root()?).filter(called);
                shown.next().filter(|_| shown.next().is_none())
            };
            let found = in_twin.or_else(came).or_else(below).or_else(numbered).or_else(anywhere);
            found.map(|item| tree.id(item))
        })
        .ok()
        .flatten()
    }
}

/// The items that were added since a tick.
fn appeared(tree: &Tree, since: axd_protocol::Tick) -> impl Iterator<Item = Ix> {
    let added = tree.changes_since(since).map(|changes| changes.added).unwrap_or_default();
    let items: Vec<Ix> =
        added.iter().flat_map(|(root, _)| tree.subtree(*root)).filter(|ix| is_item(tree.role(*ix))).collect();
    items.into_iter()
}

/// The selectable items below an element.
pub(crate) fn items(tree: &Tree, holder: Ix) -> impl Iterator<Item = Ix> {
    tree.subtree(holder).filter(move |ix| *ix != holder && is_item(tree.role(*ix)))
}

pub(crate) fn is_item(role: Role) -> bool {
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

/// The label of an item: its own name, or that of the first element in it that has one.
pub(crate) fn label(tree: &Tree, item: Ix) -> Option<String> {
    let named = |ix: Ix| tree.name(ix).map(plain).filter(|name| !name.is_empty());
    named(item).or_else(|| tree.subtree(item).find_map(named))
}

/// The choice that a combo box shows: its value, else the text on it, else its name.
fn shown_choice(tree: &Tree, holder: Ix) -> Option<String> {
    let fields = || tree.subtree(holder).filter(|ix| tree.role(*ix) == Role::TextField);
    if let Some(value) = tree.value(holder).or_else(|| fields().find_map(|ix| tree.value(ix))) {
        return Some(plain(value));
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
    // Only one text on the combo box is visible, the last; others, such as those of another state, may be in the tree before
    // it.
    let texts = tree.subtree(holder).filter(|ix| tree.role(*ix) == Role::Text && !in_item(*ix));
    let face = texts.filter_map(|ix| tree.name(ix).map(plain)).last();
    face.or_else(|| tree.name(holder).map(plain).filter(|name| choices.contains(name)))
}

/// A name in the form used for comparisons: case-folded, and without the mark that browsers put before list items.
fn plain(name: &str) -> String {
    let folded = fold(name);
    folded.trim_start_matches(['•', '◦', '▪']).trim().to_owned()
}

/// Whether an item has this name: its own, or that of an element in it.
fn says(tree: &Tree, item: Ix, wanted: &str) -> bool {
    let is = |ix: Ix| tree.name(ix).is_some_and(|name| plain(name) == wanted);
    match tree.name(item) {
        Some(name) if !name.is_empty() => is(item),
        _ => tree.subtree(item).any(is),
    }
}

/// The row with an index in a container that lists some of its rows.
pub(crate) fn row_of(tree: &Tree, holder: Ix, row: u32) -> Option<NodeId> {
    tree.subtree(holder).find(|ix| tree.row(*ix) == Some(row)).map(|ix| tree.id(ix))
}
