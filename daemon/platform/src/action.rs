//! What a platform can be asked to do: acts on elements, input, windows, apps, the clipboard and images of the screen.
//!
//! Acts on an element go to its app's worker ([`WorkerRequest::Perform`](super::WorkerRequest)); everything else is a method of
//! [`Platform`](super::Platform). Whatever sends something passes its [`Gate`](super::Gate) first.

use std::path::PathBuf;
use std::time::Duration;

use axd_protocol::keys::{Button, Key};
use axd_protocol::{Bounds, Point};

use super::Stretch;

/// What is done to an element by its app, without the mouse or the keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// What a click on it does: the element's own first action.
    Press,
    /// A native action, by its native name.
    Native(String),
    /// Puts this in instead of what it holds: text into a field, a number into a slider. The app's own limits hold.
    SetValue(String),
    /// Puts this text in at the caret, instead of what is selected.
    Insert(String),
    /// Puts the caret at the end of its text, with nothing selected.
    CaretToEnd,
    /// Gives it the keyboard focus.
    Focus,
    /// Selects it in its container, and nothing else beside it. Done only if the app was seen to have done it.
    Select,
    /// Shows what it holds.
    Expand,
    /// Hides what it holds.
    Collapse,
    /// Nothing; done if the app says of the element whether it is checked, not supported if it does not.
    TellsChecked,
    /// Scrolls it into view.
    ScrollTo,
    /// Scrolls a container to its row of this index (from 0), which then becomes an element if it was none.
    Reveal(u32),
    /// Scrolls a container by so many steps of its own.
    Scroll(Direction, u32),
}

/// A direction to scroll in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Towards the top.
    Up,
    /// Towards the bottom.
    Down,
    /// Towards the left.
    Left,
    /// Towards the right.
    Right,
}

/// A step of what a person does with mouse and keyboard.
#[derive(Debug, Clone, PartialEq)]
pub enum InputStep {
    /// Moves the pointer there.
    Move(Point),
    /// Presses or lets go of a mouse button.
    Button(Button, bool),
    /// Turns the wheel: notches to the right and down.
    Wheel {
        /// To the right; negative to the left.
        right: i32,
        /// Down; negative up.
        down: i32,
    },
    /// Presses or lets go of a key.
    Key(Key, bool),
    /// Types this text, whatever the keyboard's layout. Counts what was sent with [`Gate::typed`](super::Gate::typed).
    Text(String),
    /// Waits that long before the next step: a drag that jumps is none.
    Pause(Duration),
    /// Waits until the app under the pointer has read where the pointer is, where it can be asked, and not for long: some apps
    /// say where things are only then.
    Arrive,
    /// Fails unless who would receive this now may.
    Expect(Stretch),
}

/// What is done to a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowOp {
    /// Brings it to the front and gives it the focus.
    Focus,
    /// The same, because it was asked for before and did not come to be: also in ways that go around the window manager.
    Insist,
    /// Moves its top left corner there.
    Move(Point),
    /// Makes it this large.
    Resize {
        /// Width.
        width: u32,
        /// Height.
        height: u32,
    },
    /// Puts it away.
    Minimize,
    /// Makes it fill the screen.
    Maximize,
    /// Undoes both.
    Restore,
}

/// How to start an app.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaunchPlan {
    /// The app: a name, an identity or a path.
    pub app: String,
    /// What it is given on its command line.
    pub args: Vec<String>,
    /// What is added to its environment.
    pub env: Vec<(String, String)>,
    /// Where it starts.
    pub cwd: Option<PathBuf>,
    /// What this start is called, when it is asked what came of it; no other has it.
    pub mark: String,
}

/// What is asked of the clipboard.
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

/// What is on the clipboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClipboardContent {
    /// Text.
    Text(String),
    /// An image, as PNG.
    Image(Vec<u8>),
    /// Files, by path.
    Files(Vec<PathBuf>),
}

/// What a picture is taken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureTarget {
    /// All displays.
    All,
    /// A display, by its id.
    Display(u32),
    /// A window: what it shows, whatever covers it, where the platform can; else what is on the screen there.
    Window(u64),
    /// A part of the screen.
    Region(Bounds),
}

/// A picture.
#[derive(Clone, PartialEq)]
pub struct CapturedImage {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Three bytes a pixel, red first, rows from the top, without gaps.
    pub rgb: Vec<u8>,
    /// Where its top left corner is on the desktop, in points.
    pub origin: Point,
    /// Pixels a point.
    pub scale: f64,
}

impl std::fmt::Debug for CapturedImage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture({}x{} at {:?})", self.width, self.height, self.origin)
    }
}

/// An app that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launched {
    /// Its process, where that is known.
    pub pid: Option<u32>,
    /// What it goes by, as [`RunningApp::identity`](super::RunningApp) will say, where that is known.
    pub identity: Option<String>,
}
