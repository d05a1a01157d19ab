//! Expands and collapses elements: rows of trees, and what opens a popup.

use axd_protocol::command::{Collapse, Expand, Route};
use axd_protocol::error::Delivery;
use axd_protocol::keys::Button;
use axd_protocol::{Result, Role, State};

use crate::action::context::{ActionContext, Outcome};
use crate::action::spec::{Action, ActionSpec};
use axd_platform::Act;
use axd_tree::{Ix, Tree};

impl Action for Expand {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        Ok(ActionSpec::on_element(&self.target))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        context.expand(true).await
    }
}

impl Action for Collapse {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        Ok(ActionSpec::on_element(&self.target))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        context.expand(false).await
    }
}

impl ActionContext<'_> {
    async fn expand(&self, on: bool) -> Result<Outcome> {
        if self.opens_popup() {
            return self.set_expanded(on).await;
        }
        if !self.has(State::Expanded) && !self.has(State::Collapsed) && !self.has(State::Haspopup) {
            return Err(self.unsupported(if on { "be expanded" } else { "be collapsed" }));
        }
        if self.has(State::Expanded) == on {
            return Ok(Outcome::already(if on {
                "it was already expanded"
            } else {
                "it was already collapsed"
            }));
        }
        let what = if on { "expanded" } else { "collapsed" };
        let act = if on { Act::Expand } else { Act::Collapse };
        if let Some(done) = self.try_semantic(act).await? {
            self.wait_for_effect(|| self.now().is_none_or(|now| now.expanded == on)).await;
            if self.now().is_none_or(|now| now.expanded == on) {
                return Ok(done.seen());
            }
            if self.options.route == Some(Route::Semantic) || done.delivery == Delivery::Uncertain {
                return Err(self.not_effective(what));
            }
        }
        let done = self.click(Button::Left, 1).await?;
        self.verified(done, what, |now| now.expanded == on).await
    }

    /// Whether the target opens a popup: a combo box, a menu, an item with a menu of its own.
    fn opens_popup(&self) -> bool {
        let holds_menu = || {
            self.target.is_some_and(|id| {
                let is_menu = |tree: &Tree, ix: Ix| tree.role(ix) == Role::Menu;
                let below = |tree: &Tree, ix: Ix| tree.children(ix).iter().any(|at| is_menu(tree, *at));
                self.read_node(id, below).unwrap_or(false)
            })
        };
        match self.role() {
            Some(Role::Combobox | Role::Menu) => true,
            Some(Role::MenuItem) => holds_menu(),
            _ => false,
        }
    }

    /// Opens or closes the popup of the target. If it is not seen to open, it is closed again.
    async fn set_expanded(&self, on: bool) -> Result<Outcome> {
        let id = self.id()?;
        match (self.is_open(id).await, on) {
            (Some(true), true) => return Ok(Outcome::already("it was already expanded")),
            (Some(false), false) => return Ok(Outcome::already("it was already collapsed")),
            (None, false) => {
                let note = Some("its popup was not seen to open".to_owned());
                return Ok(Outcome {
                    note,
                    ..Outcome::by("none", Route::Auto, Delivery::DeliveredUnverified)
                });
            }
            _ => {}
        }
        if on {
            return self.open(id).await;
        }
        match self.close(id).await? {
            // Some elements no longer show whether they are open.
            Some(done) if self.is_open(id).await != Some(true) => Ok(done),
            _ => Err(self.not_effective("collapsed")),
        }
    }
}
