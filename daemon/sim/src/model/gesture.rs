//! What mouse and keyboard do to an app, as its windows get it.

use std::time::Instant;

use axd_protocol::Point;
use axd_protocol::keys::{Button, Key};

use super::{Handle, Model};

/// The modifiers that are held. `ctrl` and `cmd` are the same to these apps, so that scripts and tests read alike
/// everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub struct Modifiers {
    pub command: bool,
    pub shift: bool,
    pub alt: bool,
}

/// What an app gets of what a person does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gesture {
    /// The pointer is here now, over the app or held down since it was.
    Move(Point),
    /// The pointer is somewhere else.
    Leave,
    /// A button went down.
    Down {
        /// Where.
        at: Point,
        /// Which.
        button: Button,
        /// The how many-th time in a row.
        clicks: u32,
        /// What was held.
        modifiers: Modifiers,
    },
    /// A button that went down on the app came up.
    Up {
        /// Where.
        at: Point,
        /// Which.
        button: Button,
        /// Whether something of another app is there.
        outside: bool,
    },
    /// The wheel was turned: notches down, negative up.
    Wheel {
        /// Where.
        at: Point,
        /// How far.
        down: i32,
    },
    /// Something that was dragged out of another app was dropped.
    Drop {
        /// Where.
        at: Point,
        /// What it is called.
        text: String,
    },
    /// A key went down.
    Key {
        /// Which.
        key: Key,
        /// What was held.
        modifiers: Modifiers,
    },
    /// A character was typed.
    Text(char),
}

/// What comes of it outside the app.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GestureOutcome {
    /// What is to go onto the clipboard.
    pub copied: Option<String>,
    /// What was dragged out of the app.
    pub dragged_out: Option<String>,
}

/// What an app remembers of the mouse.
#[derive(Debug, Default)]
pub(super) struct PointerState {
    pub pressed: Option<PressedButton>,
    pub hovered: Option<Handle>,
    /// The tooltip that is shown.
    pub tip: Option<Handle>,
    /// What is being dragged.
    pub dragged: Option<Handle>,
}

/// A button is down.
#[derive(Debug, Clone, Copy)]
pub(super) struct PressedButton {
    pub handle: Handle,
    pub at: Point,
    pub clicks: u32,
    pub drag: DragPhase,
}

/// How far a drag is. What jumps from its source onto its target is none: the target must have seen it come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DragPhase {
    NotStarted,
    Started,
    Moving,
}

impl Model {
    /// Takes in what mouse and keyboard do; `clipboard` is the text that a paste would bring.
    pub fn handle_gesture(
        &mut self,
        gesture: &Gesture,
        clipboard: Option<&str>,
        now: Instant,
    ) -> GestureOutcome {
        let mut heard = GestureOutcome::default();
        match gesture {
            Gesture::Move(at) => self.pointer_moved(*at, now),
            Gesture::Leave => self.hover(None, now),
            Gesture::Down { at, button, clicks, modifiers } => {
                self.pointer_down(*at, *button, *clicks, *modifiers, now);
            }
            Gesture::Up { at, button, outside } => {
                heard.dragged_out = self.pointer_up(*at, *button, *outside, now);
            }
            Gesture::Wheel { at, down } => self.wheel(*at, *down),
            Gesture::Drop { at, text } => self.drop_from_outside(*at, text, now),
            Gesture::Key { key, modifiers } => heard.copied = self.key(*key, *modifiers, clipboard, now),
            Gesture::Text(character) => self.on_character(*character, now),
        }
        heard
    }
}
