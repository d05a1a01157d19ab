//! What the command `sim` does to an app: the actions of a user, on widgets that are named by their ids.

use std::time::Instant;

use axd_protocol::State;

use super::{Handle, Model, Refusal};

/// An action of a user; widgets are named by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserAction {
    /// Presses the widget.
    Press(String),
    /// Replaces the value.
    Set(String, String),
    /// Types at the end of the value.
    Type(String, String),
    /// Selects the widget, or an item in it by name or by number from 1.
    Select(String, Option<String>),
    /// Moves the focus to the widget.
    Focus(String),
    /// Scrolls to a row, numbered from 1.
    Scroll(String, u32),
    /// Brings a window to the front, or the front window of the app.
    Raise(Option<String>),
}

impl Model {
    /// Does what a user would do, and describes what was done.
    pub fn act(&mut self, action: &UserAction, now: Instant) -> Result<String, Refusal> {
        match action {
            UserAction::Press(id) => {
                let handle = self.find_and_raise(id)?;
                self.press(handle, now)?;
                Ok(format!("pressed {id}"))
            }
            UserAction::Set(id, text) => {
                let handle = self.find_and_raise(id)?;
                self.enter_value(handle, text, now)?;
                Ok(format!("set {id}"))
            }
            UserAction::Type(id, text) => {
                let handle = self.find_and_raise(id)?;
                if self.takes_text(handle).is_ok() {
                    self.focus_on(handle, now);
                    self.caret_to_end(handle);
                    self.insert_text(handle, text, now)?;
                } else {
                    let before =
                        self.widget(handle).and_then(|widget| widget.value.clone()).unwrap_or_default();
                    self.enter_value(handle, &(before + text), now)?;
                }
                Ok(format!("typed into {id}"))
            }
            UserAction::Select(id, choice) => {
                let handle = self.find_and_raise(id)?;
                match choice {
                    Some(choice) => self.select_by_text(handle, choice, now)?,
                    None => self.select_item(handle, now)?,
                }
                Ok(format!("selected {}", choice.as_deref().unwrap_or(id)))
            }
            UserAction::Focus(id) => {
                let handle = self.find_and_raise(id)?;
                self.give_focus(handle, now)?;
                Ok(format!("focused {id}"))
            }
            UserAction::Scroll(id, row) => {
                let handle = self.find_usable(id)?;
                self.scroll(handle, row.saturating_sub(1))?;
                Ok(format!("scrolled {id} to row {row}"))
            }
            UserAction::Raise(id) => {
                let window = match id {
                    Some(id) => self.find_named(id).map(|handle| self.window_of(handle))?,
                    None => self.stack.first().copied(),
                };
                let window = window.ok_or_else(|| Refusal::refused("the app has no window open"))?;
                self.raise(window);
                Ok("raised".to_owned())
            }
        }
    }

    fn find_named(&self, id: &str) -> Result<Handle, Refusal> {
        self.find(id).ok_or_else(|| {
            Refusal::invalid(format!("widget '{id}' not found; widgets: {}", self.ids().join(", ")))
        })
    }

    /// The widget with an id, if a user could use it now.
    fn find_usable(&self, id: &str) -> Result<Handle, Refusal> {
        let handle = self.find_named(id)?;
        self.check_shown(handle, |_| false)?;
        if self.has(handle, State::Disabled) {
            return Err(Refusal::refused(format!("{} is disabled", self.describe(handle))));
        }
        self.check_modal(handle)?;
        Ok(handle)
    }

    /// The widget with an id, if a user could use it now. Its window is raised, as a click into it would.
    fn find_and_raise(&mut self, id: &str) -> Result<Handle, Refusal> {
        let handle = self.find_usable(id)?;
        match self.window_of(handle) {
            Some(window) if self.stack.first() != Some(&window) => self.raise(window),
            _ => {}
        }
        Ok(handle)
    }
}
