//! Menus as they are measured on Macs: an app builds the items of a closed menu when they are asked for, a status menu is shown by
//! that, and which items are enabled is known only while the menu is open.

use axd_protocol::{Role, State};
use axd_sim::model::{Handle, Model};

use super::attributes::Value;
use super::tree::{Id, Part, View};
use crate::world::Inner;

/// The menu of a menu bar that an item is in, if it is in one.
fn menu_above(model: &Model, item: Handle) -> Option<Handle> {
    let parent = model.widget(item)?.parent?;
    let is_menu = model.widget(parent)?.role == Role::Menu && !model.is_floating(parent);
    (is_menu && is_in_bar(model, item)).then_some(parent)
}

/// Whether a widget is in a menu bar.
fn is_in_bar(model: &Model, handle: Handle) -> bool {
    let above = std::iter::successors(Some(handle), |at| model.widget(*at)?.parent);
    above.skip(1).any(|at| model.widget(at).is_some_and(|widget| widget.role == Role::MenuBar))
}

fn is_open(model: &Model, menu: Handle) -> bool {
    model.widget(menu).is_some_and(|menu| menu.states.has(State::Expanded))
}

impl View<'_> {
    /// Whether an item of a menu bar does nothing because its app is not in front.
    pub(crate) fn is_idle_item(&self, id: Id) -> bool {
        let is_item =
            |role: Role| matches!(role, Role::MenuItem | Role::MenuItemCheckbox | Role::MenuItemRadio);
        let widget = self.model.widget(id.widget());
        self.standing.idle_menus
            && !self.standing.frontmost
            && widget.is_some_and(|widget| is_item(widget.role))
            && is_in_bar(self.model, id.widget())
    }
}

impl Inner {
    /// What asking for an attribute does to the menus of an app, and what the attribute says then.
    pub(crate) fn through_menus(
        &self,
        view: &mut View<'_>,
        pid: u32,
        id: Id,
        name: &str,
        value: Value,
    ) -> Value {
        match name {
            "AXChildren" if id.part == Part::Menu && !is_open(view.model, id.widget()) => {
                self.trace.record_menu_built();
                if self.is_status_app(pid) {
                    view.model.set_state(id.widget(), State::Expanded, true);
                }
                value
            }
            "AXEnabled" if id.part == Part::Itself && !self.settings.lock().manners.menus_are_live => {
                let Some(menu) = menu_above(view.model, id.widget()) else { return value };
                let mut validated = self.validated.lock();
                match is_open(view.model, menu) {
                    true => {
                        validated.insert((pid, id), value == Value::Truth(true));
                        value
                    }
                    false => Value::Truth(validated.get(&(pid, id)).copied().unwrap_or(false)),
                }
            }
            _ => value,
        }
    }

    /// Whether an app is no more than an item at the right of the menu bar.
    pub(crate) fn is_status_app(&self, pid: u32) -> bool {
        self.sim.apps().iter().any(|app| app.pid == pid && app.identity.contains("statusitem"))
    }
}
