//! AT-SPI's states, and the one vocabulary they become.
//!
//! What is content and what is not: `hidden` (not visible at all) and `offscreen` (there, but not shown: a closed
//! menu, a page under another tab) are content where a toolkit announces them. Of rows, cells and items, and in
//! browsers, "showing" only says how far something is scrolled: that is geometry, which nobody announces and
//! which is measured when it is asked for, so it is left out.

use axd_protocol::{Role, State, States};

use crate::atspi::toolkit::Toolkit;

/// A state, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum NativeState {
    Active = 1,
    Busy = 3,
    Checked = 4,
    Defunct = 6,
    Editable = 7,
    Enabled = 8,
    Expandable = 9,
    Expanded = 10,
    Focusable = 11,
    Focused = 12,
    Iconified = 15,
    Modal = 16,
    MultiLine = 17,
    Multiselectable = 18,
    Pressed = 20,
    Selected = 23,
    Sensitive = 24,
    Showing = 25,
    Vertical = 29,
    Visible = 30,
    ManagesDescendants = 31,
    Indeterminate = 32,
    Required = 33,
    InvalidEntry = 36,
    Checkable = 41,
    HasPopup = 42,
    ReadOnly = 43,
}

/// A set of native states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct NativeStates(u64);

impl NativeStates {
    /// Decodes the two words of bits that AT-SPI sends, the low one first.
    pub fn from_words(words: &[u32]) -> NativeStates {
        let low = words.first().copied().map_or(0, u64::from);
        let high = words.get(1).copied().map_or(0, u64::from);
        NativeStates(low | high << 32)
    }

    /// Whether the state is among them.
    pub fn has(self, state: NativeState) -> bool {
        self.0 & (1 << state as u8) != 0
    }

    /// Whether there is none: the toolkit does not say.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[cfg(test)]
    fn of(states: &[NativeState]) -> NativeStates {
        NativeStates(states.iter().fold(0, |bits, state| bits | 1 << *state as u8))
    }
}

/// Translates the native states of an element of this role.
pub(crate) fn states(natives: NativeStates, role: Role, toolkit: Toolkit) -> States {
    use NativeState as N;
    let mut states = States::NONE;
    if natives.is_empty() || role == Role::Application {
        return states;
    }
    let has = |state| natives.has(state);
    let current_tab = role == Role::Tab && toolkit.focuses_current_tab();
    states.set(State::Focused, has(N::Focused) && !current_tab);
    states.set(State::Disabled, !has(N::Sensitive) && !has(N::Enabled) && can_be_used(role));
    states.set(State::Expanded, has(N::Expandable) && has(N::Expanded));
    states.set(State::Collapsed, has(N::Expandable) && !has(N::Expanded));
    states.set(State::Selected, has(N::Selected) || current_tab && has(N::Focused));
    states.set(State::Busy, has(N::Busy));
    states.set(State::Modal, has(N::Modal));
    states.set(State::Required, has(N::Required));
    states.set(State::Readonly, has(N::ReadOnly) && holds_text(role));
    states.set(State::Invalid, has(N::InvalidEntry));
    states.set(State::Multiselectable, has(N::Multiselectable));
    states.set(State::Haspopup, has(N::HasPopup));
    states.set(State::Editable, has(N::Editable));
    // A progress bar or a slider is not checked, only unsure.
    let mixed = has(N::Indeterminate) && is_checkable(role);
    states.set(State::Mixed, mixed);
    // Toolkits differ in whether a toggle that is down is "checked" or "pressed": it is pressed.
    let down = has(N::Checked) || has(N::Pressed);
    states.set(State::Pressed, if role == Role::ToggleButton { down } else { has(N::Pressed) });
    states.set(State::Checked, has(N::Checked) && !mixed && role != Role::ToggleButton);
    let scrolled_away = toolkit.visible_is_scrolling() && scrolls(role);
    states.set(State::Hidden, !has(N::Visible) && !scrolled_away);
    let shown = has(N::Showing) || !has(N::Visible) || !toolkit.showing_is_content() || scrolls(role);
    states.set(State::Offscreen, !shown);
    states
}

/// Whether "disabled" says anything of it: GTK leaves out both states of what nobody could use anyway.
fn can_be_used(role: Role) -> bool {
    !matches!(role, Role::Window | Role::Dialog | Role::Alert | Role::Separator | Role::Unknown)
}

fn holds_text(role: Role) -> bool {
    use Role::{Combobox, DateField, SearchField, SpinButton, TextArea, TextField};
    matches!(role, TextField | TextArea | SearchField | Combobox | SpinButton | DateField)
}

fn is_checkable(role: Role) -> bool {
    use Role::{Cell, Checkbox, ListItem, MenuItemCheckbox, Radio, Switch, ToggleButton, TreeItem};
    matches!(role, Checkbox | ToggleButton | Radio | Switch | MenuItemCheckbox | TreeItem | ListItem | Cell)
}

/// Whether an element of this role is shown or not by how far its container is scrolled.
fn scrolls(role: Role) -> bool {
    use Role::{Cell, ColumnHeader, ListItem, Row, RowHeader, TreeItem};
    matches!(role, Cell | Row | ListItem | TreeItem | ColumnHeader | RowHeader)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(natives: &[NativeState], role: Role, toolkit: Toolkit) -> Vec<&'static str> {
        states(NativeStates::of(natives), role, toolkit).iter().map(State::name).collect()
    }

    const WELL: [NativeState; 4] =
        [NativeState::Enabled, NativeState::Sensitive, NativeState::Visible, NativeState::Showing];

    fn well(more: &[NativeState]) -> Vec<NativeState> {
        [&WELL, more].concat()
    }

    #[test]
    fn an_ordinary_button_has_no_states() {
        assert!(names(&WELL, Role::Button, Toolkit::Gtk3).is_empty());
    }

    #[test]
    fn a_toggle_that_is_down_is_pressed_in_every_toolkit() {
        for state in [NativeState::Checked, NativeState::Pressed] {
            assert_eq!(names(&well(&[state]), Role::ToggleButton, Toolkit::Gtk4), ["pressed"]);
        }
        assert_eq!(names(&well(&[NativeState::Checked]), Role::Checkbox, Toolkit::Qt), ["checked"]);
    }

    #[test]
    fn the_current_tab_of_qt_is_selected_and_not_focused() {
        let current = well(&[NativeState::Focused]);
        assert_eq!(names(&current, Role::Tab, Toolkit::Qt), ["selected"]);
        assert_eq!(names(&current, Role::Tab, Toolkit::Gtk3), ["focused"]);
        assert_eq!(names(&current, Role::Button, Toolkit::Qt), ["focused"]);
    }

    #[test]
    fn mixed_is_not_checked_and_progress_is_never_mixed() {
        let unsure = well(&[NativeState::Indeterminate, NativeState::Checked]);
        assert_eq!(names(&unsure, Role::Checkbox, Toolkit::Gtk3), ["mixed"]);
        assert!(names(&well(&[NativeState::Indeterminate]), Role::ProgressBar, Toolkit::Gtk3).is_empty());
    }

    #[test]
    fn only_what_can_be_expanded_is_collapsed() {
        assert!(names(&WELL, Role::TreeItem, Toolkit::Gtk3).is_empty());
        assert_eq!(names(&well(&[NativeState::Expandable]), Role::TreeItem, Toolkit::Gtk3), ["collapsed"]);
    }

    #[test]
    fn how_far_something_is_scrolled_is_not_content() {
        let scrolled = [NativeState::Enabled, NativeState::Sensitive, NativeState::Visible];
        assert_eq!(names(&scrolled, Role::Button, Toolkit::Gtk3), ["offscreen"]);
        assert!(names(&scrolled, Role::Cell, Toolkit::Gtk3).is_empty());
        assert!(names(&scrolled, Role::Button, Toolkit::Chromium).is_empty());
        assert_eq!(names(&scrolled[..2], Role::Button, Toolkit::Chromium), ["hidden"]);
        assert!(names(&scrolled[..2], Role::Cell, Toolkit::Qt).is_empty());
    }

    #[test]
    fn an_element_that_says_nothing_is_not_disabled() {
        assert!(names(&[], Role::Button, Toolkit::Other).is_empty());
        assert_eq!(
            names(&[NativeState::Visible, NativeState::Showing], Role::Button, Toolkit::Other),
            ["disabled"]
        );
    }

    #[test]
    fn bits_of_both_words_count() {
        let natives = NativeStates::from_words(&[1 << 12, 1 << 10]);
        assert!(natives.has(NativeState::Focused) && natives.has(NativeState::HasPopup));
    }
}
