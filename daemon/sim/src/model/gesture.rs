//! Mouse and keyboard events, as the windows of an app receive them.

use std::time::Instant;

use axd_protocol::Point;
use axd_protocol::keys::{Button, Key};

use super::{Handle, Model};

/// The modifiers that are held. These apps treat `ctrl` and `cmd` alike, so that scripts and tests are the same on
/// all platforms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub struct Modifiers {
    pub command: bool,
    pub shift: bool,
    pub alt: bool,
}

/// An input event of an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gesture {
    /// The pointer moved over the app, or anywhere while a button is down that was pressed over the app.
    Move(Point),
    /// The pointer left the app.
    Leave,
    /// A button was pressed.
    Down {
        /// The position of the pointer.
        at: Point,
        /// The button.
        button: Button,
        /// The click count.
        clicks: u32,
        /// The modifiers that were held.
        modifiers: Modifiers,
    },
    /// A button that was pressed over the app was released.
    Up {
        /// The position of the pointer.
        at: Point,
        /// The button.
        button: Button,
        /// Whether the pointer is over another app.
        outside: bool,
    },
    /// The wheel was turned.
    Wheel {
        /// The position of the pointer.
        at: Point,
        /// The number of notches down; negative for up.
        down: i32,
    },
    /// Something from another app was dropped.
    Drop {
        /// The position of the pointer.
        at: Point,
        /// What it is called.
        text: String,
    },
    /// A key was pressed.
    Key {
        /// The key.
        key: Key,
        /// The modifiers that were held.
        modifiers: Modifiers,
    },
    /// A character was typed.
    Text(char),
}

/// The effects of a gesture outside of the app.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GestureOutcome {
    /// A text for the clipboard.
    pub copied: Option<String>,
    /// The name of the item that was dragged out of the app.
    pub dragged_out: Option<String>,
}

/// The state of the pointer in an app.
#[derive(Debug, Default)]
pub(super) struct PointerState {
    pub pressed: Option<PressedButton>,
    pub hovered: Option<Handle>,
    /// The open tooltip.
    pub tip: Option<Handle>,
    /// The widget that is being dragged.
    pub dragged: Option<Handle>,
}

/// A button that is held down.
#[derive(Debug, Clone, Copy)]
pub(super) struct PressedButton {
    pub handle: Handle,
    pub at: Point,
    pub clicks: u32,
    pub drag: DragPhase,
}

/// The phase of a drag. A pointer that jumps from the source to the target does not drag: it must move in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DragPhase {
    NotStarted,
    Started,
    Moving,
}

impl Model {
    /// Handles an input event; `clipboard` is the text that a paste would insert.
    pub fn handle_gesture(
        &mut self,
        gesture: &Gesture,
        clipboard: Option<&str>,
        now: Instant,
    ) -> GestureOutcome {
        let mut outcome = GestureOutcome::default();
        match gesture {
            Gesture::Move(at) => self.pointer_moved(*at, now),
            Gesture::Leave => self.hover(None, now),
            Gesture::Down { at, button, clicks, modifiers } => {
                self.pointer_down(*at, *button, *clicks, *modifiers, now);
            }
            Gesture::Up { at, button, outside } => {
                outcome.dragged_out = self.pointer_up(*at, *button, *outside, now);
            }
            Gesture::Wheel { at, down } => self.wheel(*at, *down),
            Gesture::Drop { at, text } => self.drop_from_outside(*at, text, now),
            Gesture::Key { key, modifiers } => outcome.copied = self.key(*key, *modifiers, clipboard, now),
            Gesture::Text(character) => self.on_character(*character, now),
        }
        outcome
    }
}
