//! An element's own actions: press, any action by its name, focus, expand and collapse.

use axd_protocol::Role;

use super::{ActionContext, as_not_sent};
use crate::ax::element::Element;
use crate::ax::error::AxError;
use crate::ax::value::from_bool;
use crate::ffi::names as n;
use axd_platform::{Failure, Sent};

impl ActionContext<'_> {
    /// Performs the action that a click on the element has.
    pub(super) fn press(&self) -> Result<(), Failure> {
        let actions = self.actions(&self.element)?;
        match press_action(self.target.role, &self.target.native, &actions) {
            Some(action) => self.perform(&self.element, action),
            None => Err(Failure::unsupported(format!("it has no press action; {}", list_actions(&actions)))),
        }
    }

    /// Performs the action with this name.
    pub(super) fn perform_named(&self, name: &str) -> Result<(), Failure> {
        let actions = self.actions(&self.element)?;
        match find_action(name, &actions) {
            Some(action) => self.perform(&self.element, action),
            None => {
                Err(Failure::unsupported(format!("it has no action {name:?}; {}", list_actions(&actions))))
            }
        }
    }

    pub(super) fn actions(&self, element: &Element) -> Result<Vec<String>, Failure> {
        self.read(element.actions())
    }

    /// Gives the element the keyboard focus. Focus can be read back and a request for it has no other effect, so an app
    /// that did not give it counts as not asked.
    pub(super) fn focus(&self) -> Result<(), Failure> {
        if !self.can_set(&self.element, n::kAXFocusedAttribute)? {
            return Err(Failure::unsupported("it cannot be focused"));
        }
        let has = || Ok(self.element.boolean(n::kAXFocusedAttribute)?.unwrap_or_default());
        let focused = self.set_until(&self.element, n::kAXFocusedAttribute, &from_bool(true), has);
        focused.map_err(|failure| match failure.sent {
            Sent::Yes => Failure::new(failure.kind, "the app did not focus it"),
            Sent::No | Sent::Maybe => as_not_sent(failure),
        })
    }

    /// Expands or collapses the element. Nothing is sent if it is in that state already.
    pub(super) fn set_expanded(&mut self, open: bool) -> Result<(), Failure> {
        for attribute in [n::kAXDisclosingAttribute, n::kAXExpandedAttribute] {
            let Some(is_open) = self.read(self.element.boolean(attribute))? else { continue };
            if !self.can_set(&self.element, attribute)? {
                continue;
            }
            if is_open == open {
                return Ok(());
            }
            let is_so = || Ok(self.element.boolean(attribute)? == Some(open));
            return self.set_until(&self.element, attribute, &from_bool(open), is_so);
        }
        let actions = self.actions(&self.element)?;
        let by_action: &[&str] = if open { &["AXExpand"] } else { &["AXCollapse"] };
        if let Some(action) = by_action.iter().find(|action| actions.iter().any(|offered| offered == *action))
        {
            return self.perform(&self.element, action);
        }
        let is_open = self.is_open()?;
        if is_open == Some(open) {
            return Ok(());
        }
        let what = if open { "expands" } else { "collapses" };
        let none = || {
            Err(Failure::unsupported(format!("it has no action that {what} it; {}", list_actions(&actions))))
        };
        match (self.target.role, is_open) {
            // The action that opens a menu does not close it.
            (Role::Menu | Role::Combobox, _) | (_, None) if !open => {
                self.close_menu(&actions).unwrap_or_else(none)
            }
            (Role::Menu | Role::Combobox, _) => match menu_opening_action(&actions) {
                Some(action) => self.perform(&self.element, action),
                None => none(),
            },
            // It is known to be in the other state, so a press toggles it.
            (_, Some(_)) => self.press(),
            (_, None) => match actions.iter().any(|action| action == n::kAXShowMenuAction) {
                true => self.perform(&self.element, n::kAXShowMenuAction),
                false => none(),
            },
        }
    }

    /// Whether the element is expanded, if that can be read.
    fn is_open(&self) -> Result<Option<bool>, Failure> {
        if let Some(expanded) = self.read(self.element.boolean(n::kAXExpandedAttribute))? {
            return Ok(Some(expanded));
        }
        match self.target.native.as_str() {
            "AXDisclosureTriangle" => {
                Ok(self.read(self.element.number(n::kAXValueAttribute))?.map(|value| value != 0.0))
            }
            "AXMenuBarItem" => self.read(self.element.boolean(n::kAXSelectedAttribute)),
            "AXPopUpButton" | "AXMenuButton" => {
                let children = self.read(self.element.elements(n::kAXChildrenAttribute))?;
                Ok(Some(children.iter().any(is_menu)))
            }
            _ => Ok(None),
        }
    }

    /// Closes the menu that the element has opened; `None` if no action does that.
    fn close_menu(&self, actions: &[String]) -> Option<Result<(), Failure>> {
        if actions.iter().any(|action| action == n::kAXCancelAction) {
            return Some(self.perform(&self.element, n::kAXCancelAction));
        }
        let children = self.element.elements(n::kAXChildrenAttribute).ok()?;
        let menu = children.into_iter().find(is_menu)?;
        let offers = menu.actions().ok()?.iter().any(|action| action == n::kAXCancelAction);
        offers.then(|| self.perform(&menu, n::kAXCancelAction))
    }
}

fn is_menu(element: &Element) -> bool {
    let role: Result<Option<String>, AxError> = element.text(n::kAXRoleAttribute);
    role.ok().flatten().as_deref() == Some("AXMenu")
}

/// The action that has the effect of a click.
fn press_action<'a>(role: Role, native: &str, actions: &'a [String]) -> Option<&'a str> {
    let has = |name: &str| actions.iter().find(|action| *action == name).map(String::as_str);
    let pressed = has(n::kAXPressAction);
    match role {
        // A click into a field sets the caret, which no action does.
        Role::TextField | Role::TextArea | Role::SearchField => None,
        Role::MenuItem | Role::MenuItemCheckbox | Role::MenuItemRadio | Role::Menu => {
            pressed.or_else(|| has(n::kAXPickAction))
        }
        Role::Combobox => pressed.or_else(|| has(n::kAXShowMenuAction)),
        _ if native == "AXMenuButton" => pressed.or_else(|| has(n::kAXShowMenuAction)),
        _ => pressed,
    }
}

fn menu_opening_action(actions: &[String]) -> Option<&'static str> {
    [n::kAXPressAction, n::kAXShowMenuAction]
        .into_iter()
        .find(|name| actions.iter().any(|action| action == name))
}

/// The action with this name: exactly, or else the only one that matches without case and the prefix "AX".
fn find_action<'a>(name: &str, actions: &'a [String]) -> Option<&'a str> {
    let exact = actions.iter().find(|action| *action == name);
    exact.map(String::as_str).or_else(|| {
        let plain = |text: &str| {
            let letters: String =
                text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
            letters.strip_prefix("ax").map(str::to_owned).unwrap_or(letters)
        };
        let mut found = actions.iter().filter(|action| plain(action) == plain(name));
        found.next().filter(|_| found.next().is_none()).map(String::as_str)
    })
}

/// The available actions, for an error message.
fn list_actions(actions: &[String]) -> String {
    if actions.is_empty() { "it has none".to_owned() } else { format!("it has {}", actions.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actions(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_press_is_what_a_click_does() {
        let pressed =
            |role, names: &[&str]| press_action(role, "AXButton", &actions(names)).map(str::to_owned);
        assert_eq!(pressed(Role::Button, &["AXShowMenu", "AXPress"]).as_deref(), Some("AXPress"));
        assert_eq!(pressed(Role::MenuItem, &["AXPick", "AXCancel"]).as_deref(), Some("AXPick"));
        assert_eq!(pressed(Role::Combobox, &["AXShowMenu"]).as_deref(), Some("AXShowMenu"));
        assert_eq!(pressed(Role::TextField, &["AXPress", "AXConfirm"]), None);
        assert_eq!(pressed(Role::Row, &["AXShowMenu", "AXOpen"]), None);
    }

    #[test]
    fn a_name_is_found_with_or_without_its_prefix() {
        let offered = actions(&["AXPress", "AXShowMenu", "Name:Delete"]);
        assert_eq!(find_action("press", &offered), Some("AXPress"));
        assert_eq!(find_action("show-menu", &offered), Some("AXShowMenu"));
        assert_eq!(find_action("AXShowMenu", &offered), Some("AXShowMenu"));
        assert_eq!(find_action("raise", &offered), None);
    }
}
