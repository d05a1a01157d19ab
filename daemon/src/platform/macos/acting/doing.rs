//! An element's own actions: pressing it, doing what its app offers by name, showing and hiding what it holds.

use axd_protocol::Role;

use super::{Actor, harmless, not_done, not_offered};
use crate::platform::macos::element::Element;
use crate::platform::macos::fault::Fault;
use crate::platform::macos::ffi::names as n;
use crate::platform::macos::value::from_truth;
use crate::platform::{Failure, FailureKind};

impl Actor<'_> {
    /// Does what a click on the element does.
    pub(super) fn press(&self) -> Result<(), Failure> {
        let actions = self.actions(&self.element)?;
        match press(self.subject.role, &self.subject.native, &actions) {
            Some(action) => self.perform(&self.element, action),
            None => Err(not_offered(format!("it has no press action; {}", offered(&actions)))),
        }
    }

    /// Does the action of this name.
    pub(super) fn native(&self, name: &str) -> Result<(), Failure> {
        let actions = self.actions(&self.element)?;
        match by_name(name, &actions) {
            Some(action) => self.perform(&self.element, action),
            None => Err(not_offered(format!("it has no action {name:?}; {}", offered(&actions)))),
        }
    }

    pub(super) fn actions(&self, element: &Element) -> Result<Vec<String>, Failure> {
        self.ask(element.actions())
    }

    /// Gives the element the keyboard focus. Having it can be read back, and asking for it leaves nothing behind, so an
    /// app that did not give it counts as not having been asked.
    pub(super) fn focus(&self) -> Result<(), Failure> {
        if !self.can_set(&self.element, n::kAXFocusedAttribute)? {
            return Err(not_offered("it cannot be focused"));
        }
        self.set(&self.element, n::kAXFocusedAttribute, &from_truth(true)).map_err(harmless)?;
        let has = || Ok(self.element.truth(n::kAXFocusedAttribute)?.unwrap_or_default());
        match self.until(has)? {
            true => Ok(()),
            false => Err(Failure::new(FailureKind::Refused, "the app did not focus it")),
        }
    }

    /// Shows what the element holds, or hides it. Nothing is sent if it is so already.
    pub(super) fn unfold(&mut self, open: bool) -> Result<(), Failure> {
        for attribute in [n::kAXDisclosingAttribute, n::kAXExpandedAttribute] {
            let Some(is_open) = self.ask(self.element.truth(attribute))? else { continue };
            if !self.can_set(&self.element, attribute)? {
                continue;
            }
            if is_open == open {
                return Ok(());
            }
            self.set(&self.element, attribute, &from_truth(open))?;
            let came = self.until(|| Ok(self.element.truth(attribute)? == Some(open)))?;
            return if came {
                Ok(())
            } else {
                Err(not_done("it did not change, although the app accepted it"))
            };
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
        let none = || Err(not_offered(format!("it has no action that {what} it; {}", offered(&actions))));
        match (self.subject.role, is_open) {
            // What opens a menu does not close it.
            (Role::Menu | Role::Combobox, _) | (_, None) if !open => {
                self.close_menu(&actions).unwrap_or_else(none)
            }
            (Role::Menu | Role::Combobox, _) => match opener(&actions) {
                Some(action) => self.perform(&self.element, action),
                None => none(),
            },
            // It is known to be the other way, so that what turns it round will do.
            (_, Some(_)) => self.press(),
            (_, None) => match actions.iter().any(|action| action == n::kAXShowMenuAction) {
                true => self.perform(&self.element, n::kAXShowMenuAction),
                false => none(),
            },
        }
    }

    /// Whether the element shows what it holds, where that can be known.
    fn is_open(&self) -> Result<Option<bool>, Failure> {
        if let Some(expanded) = self.ask(self.element.truth(n::kAXExpandedAttribute))? {
            return Ok(Some(expanded));
        }
        match self.subject.native.as_str() {
            "AXDisclosureTriangle" => {
                Ok(self.ask(self.element.number(n::kAXValueAttribute))?.map(|value| value != 0.0))
            }
            "AXMenuBarItem" => self.ask(self.element.truth(n::kAXSelectedAttribute)),
            "AXPopUpButton" | "AXMenuButton" => {
                let children = self.ask(self.element.elements(n::kAXChildrenAttribute))?;
                Ok(Some(children.iter().any(is_menu)))
            }
            _ => Ok(None),
        }
    }

    /// Closes the menu of what opens one; `None` if there is no way.
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
    let role: Result<Option<String>, Fault> = element.text(n::kAXRoleAttribute);
    role.ok().flatten().as_deref() == Some("AXMenu")
}

/// The action that does what a click does.
fn press<'a>(role: Role, native: &str, actions: &'a [String]) -> Option<&'a str> {
    let has = |name: &str| actions.iter().find(|action| *action == name).map(String::as_str);
    let pressed = has(n::kAXPressAction);
    match role {
        // A click into a field puts the caret there; "press" of a field is something else, if it is anything.
        Role::TextField | Role::TextArea | Role::SearchField => None,
        Role::MenuItem | Role::MenuItemCheckbox | Role::MenuItemRadio | Role::Menu => {
            pressed.or_else(|| has(n::kAXPickAction))
        }
        Role::Combobox => pressed.or_else(|| has(n::kAXShowMenuAction)),
        _ if native == "AXMenuButton" => pressed.or_else(|| has(n::kAXShowMenuAction)),
        _ => pressed,
    }
}

fn opener(actions: &[String]) -> Option<&'static str> {
    [n::kAXPressAction, n::kAXShowMenuAction]
        .into_iter()
        .find(|name| actions.iter().any(|action| action == name))
}

/// The action of this name; exactly, or else, if that is only one, whatever its case and with or without "AX".
fn by_name<'a>(name: &str, actions: &'a [String]) -> Option<&'a str> {
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

/// What there is instead.
fn offered(actions: &[String]) -> String {
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
        let pressed = |role, names: &[&str]| press(role, "AXButton", &actions(names)).map(str::to_owned);
        assert_eq!(pressed(Role::Button, &["AXShowMenu", "AXPress"]).as_deref(), Some("AXPress"));
        assert_eq!(pressed(Role::MenuItem, &["AXPick", "AXCancel"]).as_deref(), Some("AXPick"));
        assert_eq!(pressed(Role::Combobox, &["AXShowMenu"]).as_deref(), Some("AXShowMenu"));
        assert_eq!(pressed(Role::TextField, &["AXPress", "AXConfirm"]), None);
        assert_eq!(pressed(Role::Row, &["AXShowMenu", "AXOpen"]), None);
    }

    #[test]
    fn a_name_is_found_with_or_without_its_prefix() {
        let offered = actions(&["AXPress", "AXShowMenu", "Name:Delete"]);
        assert_eq!(by_name("press", &offered), Some("AXPress"));
        assert_eq!(by_name("show-menu", &offered), Some("AXShowMenu"));
        assert_eq!(by_name("AXShowMenu", &offered), Some("AXShowMenu"));
        assert_eq!(by_name("raise", &offered), None);
    }
}
