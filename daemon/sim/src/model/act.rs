//! Actions on widgets without mouse and keyboard, as assistive technology requests them.
//!
//! They work on windows in the background, and do not raise them. A widget that a person could not use, because it
//! is disabled, hidden or behind a modal dialog, refuses them.

use std::time::Instant;

use axd_protocol::{Role, State};

use super::build::{is_branch, is_popup};
use super::layout::scrolls;
use super::{Handle, Model, Widget};
use crate::rule::TriggerKind;
use axd_platform::{Act, Direction};

/// Why an action was refused. Nothing of it was done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Refusal {
    /// The kind of refusal.
    pub kind: RefusalKind,
    /// The reason, for people.
    pub text: String,
}

/// The kind of a [`Refusal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// The widget no longer exists.
    Gone,
    /// Widgets of this role do not support the action.
    Unable,
    /// The widget supports the action, but not in its current state.
    Refused,
    /// The widget supports the action, but not with this value.
    Invalid,
}

impl Refusal {
    /// The widget no longer exists.
    pub fn gone() -> Refusal {
        Refusal { kind: RefusalKind::Gone, text: "the element is gone".to_owned() }
    }

    /// Widgets of this role do not support the action.
    pub fn unable(text: impl Into<String>) -> Refusal {
        Refusal { kind: RefusalKind::Unable, text: text.into() }
    }

    /// The widget supports the action, but not in its current state.
    pub fn refused(text: impl Into<String>) -> Refusal {
        Refusal { kind: RefusalKind::Refused, text: text.into() }
    }

    /// The widget supports the action, but not with this value.
    pub fn invalid(text: impl Into<String>) -> Refusal {
        Refusal { kind: RefusalKind::Invalid, text: text.into() }
    }
}

impl Model {
    /// Performs an action on a widget.
    pub fn perform(&mut self, handle: Handle, act: &Act, now: Instant) -> Result<(), Refusal> {
        if *act == Act::TellsChecked {
            return Ok(());
        }
        self.check_usable(handle, act)?;
        match act {
            Act::Press => self.press_by_action(handle, now),
            Act::Native(name) => self.run_native_action(handle, name, now),
            Act::SetValue(value) => self.enter_value(handle, value, now),
            Act::Insert(text) => self.insert_text(handle, text, now),
            Act::CaretToEnd => {
                self.takes_text(handle)?;
                self.caret_to_end(handle);
                Ok(())
            }
            Act::Focus => self.give_focus(handle, now),
            Act::Select => self.select_item(handle, now),
            Act::Expand => self.set_expanded(handle, true, now),
            Act::Collapse => self.set_expanded(handle, false, now),
            Act::TellsChecked => Ok(()),
            Act::ScrollTo => {
                self.scroll_to(handle);
                Ok(())
            }
            Act::Reveal(row) => self.scroll_to_row(handle, *row),
            Act::Scroll(direction, steps) => self.scroll_by(handle, *direction, *steps),
        }
    }

    /// Checks that actions can be performed on the widget now.
    fn check_usable(&self, handle: Handle, act: &Act) -> Result<(), Refusal> {
        let widget = self.widget(handle).ok_or_else(Refusal::gone)?;
        if !widget.semantic {
            return Err(Refusal::unable(format!("{} has no native actions", widget.describe())));
        }
        // The items of a closed menu can be used, because actions need no pointer to reach them.
        self.check_shown(handle, |above| is_popup(above.role))?;
        let uses = !matches!(act, Act::ScrollTo | Act::Reveal(_) | Act::Scroll(..));
        if uses && widget.states.has(State::Disabled) {
            return Err(Refusal::refused(format!("{} is disabled", widget.describe())));
        }
        self.check_modal(handle)
    }

    /// Checks that neither the widget nor an ancestor is hidden, except for children of a widget that is `let_through`.
    pub(super) fn check_shown(
        &self,
        handle: Handle,
        let_through: impl Fn(&Widget) -> bool,
    ) -> Result<(), Refusal> {
        let path = self.path(handle).unwrap_or_default();
        let is_inside = |part: Handle| {
            let above = self.widget(part).and_then(|widget| self.widget(widget.parent?));
            above.is_some_and(&let_through)
        };
        match path.iter().find(|part| self.has(**part, State::Hidden) && !is_inside(**part)) {
            Some(hidden) => {
                let what = if *hidden == handle { "it".to_owned() } else { self.describe(*hidden) };
                let label = self.describe(handle);
                Err(Refusal::refused(format!("{label} cannot be reached: {what} is hidden now")))
            }
            None => Ok(()),
        }
    }

    /// Checks that no modal dialog blocks the widget.
    pub(super) fn check_modal(&self, handle: Handle) -> Result<(), Refusal> {
        let window = self.window_of(handle);
        match self.modal().filter(|modal| window.is_some_and(|window| window != *modal)) {
            Some(modal) => {
                let (label, dialog) = (self.describe(handle), self.describe(modal));
                Err(Refusal::refused(format!("{label} is blocked by the {dialog}")))
            }
            None => Ok(()),
        }
    }

    /// The dialog that blocks the app's other windows, if any.
    pub fn modal(&self) -> Option<Handle> {
        self.stack.iter().copied().find(|window| self.has(*window, State::Modal))
    }

    pub(super) fn describe(&self, handle: Handle) -> String {
        self.widget(handle).map(Widget::describe).unwrap_or_default()
    }

    /// Does what a click would do, if the widget has an action for it.
    fn press_by_action(&mut self, handle: Handle, now: Instant) -> Result<(), Refusal> {
        let Some(widget) = self.widget(handle) else { return Err(Refusal::gone()) };
        let actions = widget.actions();
        match actions.iter().find(|action| matches!(action.as_str(), "press" | "select")) {
            Some(_) => self.press(handle, now),
            None => Err(Refusal::unable(format!(
                "{} has no action for a press; it has {}",
                widget.describe(),
                join_actions(&actions)
            ))),
        }
    }

    fn run_native_action(&mut self, handle: Handle, name: &str, now: Instant) -> Result<(), Refusal> {
        let Some(widget) = self.widget(handle) else { return Err(Refusal::gone()) };
        let actions = widget.actions();
        if !actions.iter().any(|action| action == name) {
            let label = widget.describe();
            return Err(Refusal::unable(format!(
                "{label} has no '{name}'; it has {}",
                join_actions(&actions)
            )));
        }
        match name {
            "press" => self.press(handle, now),
            "select" => self.select_item(handle, now),
            "increment" => self.step(handle, 1.0, now),
            "decrement" => self.step(handle, -1.0, now),
            "confirm" => {
                self.confirm(handle, now);
                Ok(())
            }
            "show-menu" => {
                self.show_menu(handle, None);
                Ok(())
            }
            "expand" => self.set_expanded(handle, true, now),
            "collapse" => self.set_expanded(handle, false, now),
            "raise" => {
                self.raise(handle);
                Ok(())
            }
            // An action that only the script defines is handled by its rules.
            own => {
                self.trigger(TriggerKind::Action, Some(handle), own, now);
                Ok(())
            }
        }
    }

    /// Moves the focus to a widget, if widgets of its role can have it.
    pub(super) fn give_focus(&mut self, handle: Handle, now: Instant) -> Result<(), Refusal> {
        match self.widget(handle) {
            None => Err(Refusal::gone()),
            Some(widget) if !widget.role.is_interactive() => {
                Err(Refusal::unable(format!("{} cannot be focused", widget.describe())))
            }
            Some(_) => {
                self.focus_on(handle, now);
                Ok(())
            }
        }
    }

    /// Expands or collapses a widget.
    pub(super) fn set_expanded(&mut self, handle: Handle, open: bool, now: Instant) -> Result<(), Refusal> {
        let Some(widget) = self.widget(handle) else { return Err(Refusal::gone()) };
        let (role, label) = (widget.role, widget.describe());
        let is_open = widget.states.has(State::Expanded);
        if is_popup(role) {
            if open != is_open {
                self.close_popups(handle);
                self.set_popup_open(handle, open);
            }
        } else if is_branch(widget) {
            self.open_branch(handle, open);
        } else if self.shown_by(handle).is_some() && role != Role::Tab {
            if open != is_open {
                self.press(handle, now)?;
            }
        } else {
            let verb = if open { "expanded" } else { "collapsed" };
            return Err(Refusal::unable(format!("{label} cannot be {verb}")));
        }
        Ok(())
    }

    /// Scrolls the ancestors of a widget until it is visible.
    pub(super) fn scroll_to(&mut self, handle: Handle) {
        let path = self.path(handle).unwrap_or_default();
        for pair in path.windows(2) {
            let [container, child] = pair else { continue };
            let is_list = self.widget(*container).is_some_and(|widget| {
                scrolls(widget.role) && widget.total().is_none() && widget.children.contains(child)
            });
            if is_list && !self.is_fully_visible(*child) {
                let index = self.widget(*container).and_then(|widget| widget.index_of(*child));
                if let Some(widget) = self.widget_mut(*container) {
                    widget.scroll_offset = index.unwrap_or(0);
                    self.layout = None;
                }
            }
        }
    }

    fn scroll_to_row(&mut self, handle: Handle, row: u32) -> Result<(), Refusal> {
        let Some(widget) = self.widget(handle) else { return Err(Refusal::gone()) };
        let label = widget.describe();
        if !scrolls(widget.role) {
            return Err(Refusal::unable(format!("{label} does not scroll")));
        }
        let real = u32::try_from(widget.children.len()).unwrap_or(u32::MAX);
        let total = widget.total().unwrap_or(real);
        if row >= total {
            return Err(Refusal::invalid(format!(
                "row index {row} of {label} is out of range; it has {total} rows"
            )));
        }
        match widget.rows_in_view() {
            Some(view) if view.contains(&row) => Ok(()),
            Some(_) => self.scroll(handle, row),
            None => {
                let child = usize::try_from(row).ok().and_then(|row| widget.children.get(row).copied());
                child.into_iter().for_each(|child| self.scroll_to(child));
                Ok(())
            }
        }
    }

    /// Scrolls a container by rows, at most to its end.
    pub(super) fn scroll_by(
        &mut self,
        handle: Handle,
        direction: Direction,
        steps: u32,
    ) -> Result<(), Refusal> {
        let Some(widget) = self.widget(handle) else { return Err(Refusal::gone()) };
        if !scrolls(widget.role) {
            return Err(Refusal::unable(format!("{} does not scroll", widget.describe())));
        }
        let top = widget
            .rows_in_view()
            .map_or_else(|| u32::try_from(widget.scroll_offset).unwrap_or(u32::MAX), |view| view.start);
        match direction {
            Direction::Up => self.scroll(handle, top.saturating_sub(steps)),
            Direction::Down => self.scroll(handle, top.saturating_add(steps)),
            Direction::Left | Direction::Right => {
                Err(Refusal::unable(format!("{} does not scroll sideways", widget.describe())))
            }
        }
    }
}

fn join_actions(actions: &[String]) -> String {
    if actions.is_empty() { "none".to_owned() } else { actions.join(", ") }
}
