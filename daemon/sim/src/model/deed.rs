//! What the hand outside does: what a person would, to widgets named by their ids.

use std::time::Instant;

use axd_protocol::State;

use super::{Handle, Model, Refusal};

/// What a person does; widgets are named by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
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
    pub fn act(&mut self, deed: &Deed, now: Instant) -> Result<String, Refusal> {
        match deed {
            Deed::Press(id) => {
                let handle = self.come_to(id)?;
                self.press(handle, now)?;
                Ok(format!("pressed {id}"))
            }
            Deed::Set(id, text) => {
                let handle = self.come_to(id)?;
                self.put(handle, text, now)?;
                Ok(format!("set {id}"))
            }
            Deed::Type(id, text) => {
                let handle = self.come_to(id)?;
                if self.takes_text(handle).is_ok() {
                    self.focus_on(handle, now);
                    self.caret_to_end(handle);
                    self.insert_text(handle, text, now)?;
                } else {
                    let before =
                        self.widget(handle).and_then(|widget| widget.value.clone()).unwrap_or_default();
                    self.put(handle, &(before + text), now)?;
                }
                Ok(format!("typed into {id}"))
            }
            Deed::Select(id, choice) => {
                let handle = self.come_to(id)?;
                match choice {
                    Some(choice) => self.choose(handle, choice, now)?,
                    None => self.pick(handle, now)?,
                }
                Ok(format!("selected {}", choice.as_deref().unwrap_or(id)))
            }
            Deed::Focus(id) => {
                let handle = self.come_to(id)?;
                self.give_focus(handle, now)?;
                Ok(format!("focused {id}"))
            }
            Deed::Scroll(id, row) => {
                let handle = self.reach(id)?;
                self.scroll(handle, row.saturating_sub(1))?;
                Ok(format!("scrolled {id} to row {row}"))
            }
            Deed::Raise(id) => {
                let window = match id {
                    Some(id) => self.named(id).map(|handle| self.window_of(handle))?,
                    None => self.stack.first().copied(),
                };
                let window = window.ok_or_else(|| Refusal::refused("the app has no window open"))?;
                self.raise(window);
                Ok("raised".to_owned())
            }
        }
    }

    fn named(&self, id: &str) -> Result<Handle, Refusal> {
        self.find(id).ok_or_else(|| {
            Refusal::invalid(format!("widget '{id}' not found; widgets: {}", self.ids().join(", ")))
        })
    }

    /// The widget, if a person could use it now.
    fn reach(&self, id: &str) -> Result<Handle, Refusal> {
        let handle = self.named(id)?;
        self.check_shown(handle, |_| false)?;
        if self.has(handle, State::Disabled) {
            return Err(Refusal::refused(format!("{} is disabled", self.called(handle))));
        }
        self.check_modal(handle)?;
        Ok(handle)
    }

    /// The same, with its window brought forward, as a click into it would.
    fn come_to(&mut self, id: &str) -> Result<Handle, Refusal> {
        let handle = self.reach(id)?;
        match self.window_of(handle) {
            Some(window) if self.stack.first() != Some(&window) => self.raise(window),
            _ => {}
        }
        Ok(handle)
    }
}
