//! What the hand outside does: what a person would, to widgets named by their ids.

use std::time::Instant;

use axd_protocol::State;

use super::{Handle, Model, Refusal};

/// What a person does; widgets are named by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserAction {
    /// Presses it.
    Press(String),
    /// Puts this in, instead of what it holds.
    Set(String, String),
    /// Types this at the end of what it holds.
    Type(String, String),
    /// Selects it, or the item named or numbered (from 1) in it.
    Select(String, Option<String>),
    /// Gives it the focus.
    Focus(String),
    /// Scrolls it to a row, numbered from 1.
    Scroll(String, u32),
    /// Brings a window, or the app's front window, to the front.
    Raise(Option<String>),
}

impl Model {
    /// Does what a person does; says what came of it.
    pub fn act(&mut self, deed: &UserAction, now: Instant) -> Result<String, Refusal> {
        match deed {
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

    /// The widget, if a person could use it now.
    fn find_usable(&self, id: &str) -> Result<Handle, Refusal> {
        let handle = self.find_named(id)?;
        self.check_shown(handle, |_| false)?;
        if self.has(handle, State::Disabled) {
            return Err(Refusal::refused(format!("{} is disabled", self.describe(handle))));
        }
        self.check_modal(handle)?;
        Ok(handle)
    }

    /// The same, with its window brought forward, as a click into it would.
    fn find_and_raise(&mut self, id: &str) -> Result<Handle, Refusal> {
        let handle = self.find_usable(id)?;
        match self.window_of(handle) {
            Some(window) if self.stack.first() != Some(&window) => self.raise(window),
            _ => {}
        }
        Ok(handle)
    }
}
