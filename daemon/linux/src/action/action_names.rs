//! Which of an element's native actions is which: toolkits call the same thing by many names. Pure tables.

use axd_protocol::Role;

/// An element's action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NativeAction {
    /// Its place in the element's list, by which it is done.
    pub index: i32,
    /// Its native name.
    pub name: String,
    /// What the app calls it in its user's language; it may be empty.
    pub label: String,
}

/// What a click on a control does. GTK: click, press, toggle, activate. Qt: Press, Toggle. Browsers: press, click, jump,
/// check and uncheck, switch, open, select; doDefault where they have no better name for it.
const CONTROL_PRESS: &[&str] = &[
    "click",
    "press",
    "toggle",
    "activate",
    "jump",
    "check",
    "uncheck",
    "switch",
    "open",
    "select",
    "dodefault",
    "clickancestor",
];
/// A menu or a field with choices opens. In Qt its only action may be ShowMenu.
const OPENER_PRESS: &[&str] = &["press", "click", "open", "showmenu", "select", "dodefault", "clickancestor"];
/// A click on an item selects it. GTK's "activate" is a double click, Qt's "Toggle" takes a selection back: neither is
/// here.
const ITEM_PRESS: &[&str] = &["click", "press", "jump", "select", "dodefault", "clickancestor"];
/// A click into a field puts the caret there. GTK's "activate" is the Enter key: not here.
const FIELD_PRESS: &[&str] = &["click"];
/// Only what the app itself calls a click, a press or a jump.
const OTHER_PRESS: &[&str] = &["click", "press", "jump", "clickancestor"];

/// The action that does what a click on an element of this role does.
pub(crate) fn press_action(role: Role, actions: &[NativeAction]) -> Option<&NativeAction> {
    use Role as R;
    let wanted = match role {
        R::Button | R::ToggleButton | R::Checkbox | R::Switch | R::Radio | R::Tab | R::Link => CONTROL_PRESS,
        R::MenuItemCheckbox | R::MenuItemRadio => CONTROL_PRESS,
        R::Menu | R::MenuItem | R::Combobox => OPENER_PRESS,
        R::ListItem | R::TreeItem | R::Row | R::Cell | R::ColumnHeader | R::RowHeader => ITEM_PRESS,
        R::TextField | R::TextArea | R::SearchField | R::SpinButton | R::DateField | R::Slider => FIELD_PRESS,
        R::ScrollBar | R::ProgressBar | R::Meter | R::Window | R::Application => &[],
        _ => OTHER_PRESS,
    };
    first(wanted, actions)
}

/// The action that selects an item, whatever else it may do.
pub(crate) fn select_action(actions: &[NativeAction]) -> Option<&NativeAction> {
    first(&["select"], actions)
}

/// The action that shows what an element holds (`open`), or hides it. `toggles` says whether the element is known to be
/// the other way now, so that what turns it round will do; `role` what is known to turn round when pressed.
pub(crate) fn expand_action(
    role: Role,
    open: bool,
    toggles: bool,
    actions: &[NativeAction],
) -> Option<&NativeAction> {
    let plain: &[&str] =
        if open { &["expand", "open", "showmenu"] } else { &["collapse", "contract", "close"] };
    let found = first(plain, actions);
    if found.is_some() || !toggles {
        return found;
    }
    let turning: &[&str] = match role {
        // A menu of GTK opens when it is clicked and does not close when it is clicked again.
        Role::Menu if open => &["click", "press"],
        Role::Menu => &[],
        Role::MenuItem => &["showmenu", "press", "click"],
        Role::Combobox => &["expandorcontract", "togglepopup", "showmenu", "press", "open", "click"],
        Role::Button | Role::ToggleButton | Role::Link => {
            &["expandorcontract", "togglepopup", "toggle", "activate", "press", "click", "dodefault"]
        }
        _ => &["expandorcontract", "togglepopup"],
    };
    first(turning, actions)
}

/// The action of this name, native or the user's; exactly, or else, if that is only one, whatever its case.
pub(crate) fn action_by_name<'a>(name: &str, actions: &'a [NativeAction]) -> Option<&'a NativeAction> {
    let exact = actions.iter().find(|action| action.name == name || action.label == name);
    exact.or_else(|| {
        let alike = |text: &str| text.to_lowercase() == name.to_lowercase();
        let mut found = actions.iter().filter(|action| alike(&action.name) || alike(&action.label));
        found.next().filter(|_| found.next().is_none())
    })
}

fn first<'a>(wanted: &[&str], actions: &'a [NativeAction]) -> Option<&'a NativeAction> {
    wanted.iter().find_map(|wanted| actions.iter().find(|action| plain(&action.name) == *wanted))
}

/// A name without case and punctuation: "Expand or contract", "expand-or-contract", "expandOrContract".
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actions(names: &[&str]) -> Vec<NativeAction> {
        let named =
            |(index, name): (i32, &&str)| NativeAction { index, name: (*name).into(), label: String::new() };
        (0..).zip(names).map(named).collect()
    }

    fn pressed(role: Role, names: &[&str]) -> Option<i32> {
        press_action(role, &actions(names)).map(|action| action.index)
    }

    #[test]
    fn a_press_is_what_a_click_does_in_every_toolkit() {
        assert_eq!(pressed(Role::Button, &["click"]), Some(0));
        assert_eq!(pressed(Role::Checkbox, &["SetFocus", "Toggle"]), Some(1));
        assert_eq!(pressed(Role::ToggleButton, &["activate"]), Some(0));
        assert_eq!(pressed(Role::Radio, &["showContextMenu", "check"]), Some(1));
        assert_eq!(pressed(Role::Combobox, &["ShowMenu", "Press"]), Some(1));
        assert_eq!(pressed(Role::MenuItem, &["ShowMenu"]), Some(0));
        assert_eq!(pressed(Role::Text, &["clickAncestor", "showContextMenu"]), Some(0));
    }

    #[test]
    fn what_a_click_does_not_do_is_no_press() {
        assert_eq!(pressed(Role::TextField, &["activate", "showContextMenu"]), None);
        assert_eq!(pressed(Role::Cell, &["expand or contract", "edit", "activate"]), None);
        assert_eq!(pressed(Role::ListItem, &["Toggle"]), None);
        assert_eq!(pressed(Role::Button, &["ShowMenu", "SetFocus", "showContextMenu"]), None);
        assert_eq!(pressed(Role::Text, &["clipboard.copy", "link.open", "menu.popup"]), None);
        assert_eq!(pressed(Role::Window, &["window.close", "default.activate"]), None);
    }

    #[test]
    fn what_turns_round_is_used_only_if_it_is_the_other_way_now() {
        let found = |role, open, toggles, names: &[&str]| {
            expand_action(role, open, toggles, &actions(names)).map(|action| action.index)
        };
        assert_eq!(found(Role::Cell, true, true, &["expand or contract", "edit"]), Some(0));
        assert_eq!(found(Role::Cell, true, false, &["expand or contract", "edit"]), None);
        assert_eq!(found(Role::TreeItem, false, false, &["expand", "collapse"]), Some(1));
        assert_eq!(found(Role::Combobox, false, true, &["ShowMenu", "Press"]), Some(0));
        assert_eq!(found(Role::Menu, true, true, &["click"]), Some(0));
        assert_eq!(found(Role::Menu, false, true, &["click"]), None);
        assert_eq!(found(Role::Cell, true, true, &["activate"]), None);
    }

    #[test]
    fn a_name_is_found_whatever_its_case_if_it_is_the_only_one() {
        let named = |name, names: &[&str]| action_by_name(name, &actions(names)).map(|action| action.index);
        assert_eq!(named("press", &["Press", "SetFocus"]), Some(0));
        assert_eq!(named("press", &["Press", "press"]), Some(1));
        assert_eq!(named("PRESS", &["Press", "press"]), None);
        assert_eq!(named("jump", &["Press"]), None);
        let translated = [NativeAction { index: 0, name: "click".into(), label: "Klicken".into() }];
        assert!(action_by_name("klicken", &translated).is_some());
    }
}
