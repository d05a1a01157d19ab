//! The actions of a platform: on elements, input, windows, apps, the clipboard and images of the screen.
//!
//! Actions on an element go to its app's worker ([`WorkerRequest::Perform`](super::WorkerRequest)); all others are methods of
//! [`Platform`](super::Platform). Whatever sends something passes its [`Gate`](super::Gate) first.

use std::path::PathBuf;
use std::time::Duration;

pub use axd_protocol::command::Direction;
use axd_protocol::keys::{Button, Key};
use axd_protocol::{Bounds, Point};

use super::Stretch;

/// An action that the app performs on an element, without the mouse or the keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// The element's own first action, which is what a click on it does.
    Press,
    /// A native action, by its native name.
    Native(String),
    /// Replaces its value: text in a field, a number in a slider. The app's own limits apply.
    SetValue(String),
    /// Inserts text at the caret, in place of the selection.
    Insert(String),
    /// Moves the caret to the end of the text, with nothing selected.
    CaretToEnd,
    /// Gives it the keyboard focus.
    Focus,
    /// Selects it in its container, and nothing else there. Succeeds only if the app was seen to have selected it.
    Select,
    /// Expands it.
    Expand,
    /// Collapses it.
    Collapse,
    /// Does nothing; succeeds if the app reports whether the element is checked, and is not supported if it does not.
    TellsChecked,
    /// Scrolls it into view.
    ScrollTo,
    /// Scrolls a container to the row with this index (from 0). The row becomes an element if it was none.
    Reveal(u32),
    /// Scrolls a container by this many steps of its own.
    Scroll(Direction, u32),
}

impl Act {
    /// Whether the element must be enabled: a disabled one can still be scrolled.
    pub fn needs_enabled(&self) -> bool {
        !matches!(self, Act::ScrollTo | Act::Reveal(_) | Act::Scroll(..))
    }
}

/// A step of mouse or keyboard input.
#[derive(Debug, Clone, PartialEq)]
pub enum InputStep {
    /// Moves the pointer to a point.
    Move(Point),
    /// Presses or releases a mouse button.
    Button(Button, bool),
    /// Turns the wheel by notches.
    Wheel {
        /// Notches to the right; negative to the left.
        right: i32,
        /// Notches down; negative up.
        down: i32,
    },
    /// Presses or releases a key.
    Key(Key, bool),
    /// Types a text, whatever the keyboard layout. Counts the characters sent with [`Gate::typed`](super::Gate::typed).
    Text(String),
    /// Waits before the next step: apps do not recognize a drag that jumps.
    Pause(Duration),
    /// Waits, briefly, until the app under the pointer has processed the pointer's position, where it can be asked. Some apps
    /// report bounds only then.
    Arrive,
    /// Fails unless the current receiver of this stretch is the right one.
    Expect(Stretch),
}

/// An operation on a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowOp {
    /// Brings it to the front and gives it the focus.
    Focus,
    /// Like `Focus`, after that had no effect: also by ways that bypass the window manager.
    Insist,
    /// Moves its top left corner to a point.
    Move(Point),
    /// Resizes it.
    Resize {
        /// The new width.
        width: u32,
        /// The new height.
        height: u32,
    },
    /// Minimizes it.
    Minimize,
    /// Maximizes it.
    Maximize,
    /// Undoes minimizing and maximizing.
    Restore,
}

/// How to start an app.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaunchPlan {
    /// The app: a name, an identity or a path.
    pub app: String,
    /// The arguments of its command line.
    pub args: Vec<String>,
    /// Variables that are added to its environment.
    pub env: Vec<(String, String)>,
    /// Its working directory.
    pub cwd: Option<PathBuf>,
    /// A unique mark for this launch, by which its processes are found later.
    pub mark: String,
}

/// The kind of content to read from the clipboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClipboardKind {
    /// Whatever is there: files, else an image, else text.
    Any,
    /// Text.
    Text,
    /// An image.
    Image,
    /// A list of files.
    Files,
}

/// The content of the clipboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClipboardContent {
    /// Text.
    Text(String),
    /// An image, as PNG.
    Image(Vec<u8>),
    /// Files, by path.
    Files(Vec<PathBuf>),
}

/// What to capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureTarget {
    /// All displays.
    All,
    /// A display, by its id.
    Display(u32),
    /// The content of a window with its popups, even where it is covered, if the platform can capture that; else what is on the
    /// screen there.
    Window(u64),
    /// A part of the screen.
    Region(Bounds),
}

/// A captured image.
#[derive(Clone, PartialEq)]
pub struct CapturedImage {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Three bytes per pixel, red first, rows from the top, without padding.
    pub rgb: Vec<u8>,
    /// The position of its top left corner on the desktop, in points.
    pub origin: Point,
    /// Pixels per point.
    pub scale: f64,
    /// Where popups of a captured window lie in it, from the lowest to the topmost, in points on the desktop. They may lie
    /// outside of the window, and where neither lies the image is filled with [`NO_WINDOW`].
    pub popups: Vec<Bounds>,
}

/// The colour of what is not of the captured window or its popups, in an image that shows both.
pub const NO_WINDOW: [u8; 3] = [0x30; 3];

impl std::fmt::Debug for CapturedImage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture({}x{} at {:?})", self.width, self.height, self.origin)
    }
}

/// An app that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launched {
    /// Its process id, where that is known.
    pub pid: Option<u32>,
    /// Its identity, as in [`RunningApp::identity`](super::RunningApp), where that is known.
    pub identity: Option<String>,
}
