//! What the backend needs of AppKit, in plain types: the running apps, starting and ending them, the pasteboard, and
//! how to run code on thread 0.
//!
//! All functions of `appkit` are called on thread 0, except `stop_main`, `on_main` and those whose comment says otherwise.
//! Other threads use [`run_on_main_blocking`].

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::appkit;

/// A running app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostApp {
    /// Its process.
    pub pid: u32,
    /// Its name for users.
    pub name: String,
    /// Its bundle identifier, if it has one.
    pub bundle: Option<String>,
    /// Its bundle, or else its executable.
    pub path: Option<PathBuf>,
    /// Whether it is in the Dock.
    pub kind: HostAppKind,
    /// Whether all of it is hidden.
    pub hidden: bool,
}

/// How an app appears on the desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostAppKind {
    /// In the Dock, with a menu bar.
    Regular,
    /// Not in the Dock, but it may have windows.
    Accessory,
    /// It has no user interface.
    Background,
}

/// An event that AppKit reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostEvent {
    /// An app has started.
    Launched(HostApp),
    /// An app has ended.
    Terminated {
        /// Its process.
        pid: u32,
    },
    /// An app became active.
    Activated {
        /// Its process.
        pid: u32,
    },
    /// An app was hidden.
    Hidden {
        /// Its process.
        pid: u32,
    },
    /// An app was shown again.
    Shown {
        /// Its process.
        pid: u32,
    },
    /// Another space is shown.
    SpaceChanged,
    /// The machine goes to sleep.
    WillSleep,
    /// The machine is awake again.
    DidWake,
}

/// How an app is to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostLaunch {
    /// The bundle to open.
    pub bundle: PathBuf,
    /// Its command line arguments.
    pub args: Vec<OsString>,
    /// Variables that are added to its environment.
    pub env: Vec<(OsString, OsString)>,
    /// Its working directory.
    pub cwd: Option<PathBuf>,
}

/// Called with the app that was launched, or the system's error message.
pub type LaunchCallback = Box<dyn FnOnce(Result<HostApp, String>) + Send>;

/// An item of the pasteboard: its type (a UTI) and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostItem {
    /// The type, as in `public.utf8-plain-text`.
    pub kind: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// What to capture.
#[derive(Debug, Clone, Copy)]
pub enum HostCapture {
    /// A display, or a part of it, in points from the desktop's origin.
    Display {
        /// Its number.
        display: u32,
        /// The part to capture; all of it if `None`.
        part: Option<crate::ffi::cg::CGRect>,
        /// Pixels per point.
        scale: f64,
    },
    /// A window alone.
    Window {
        /// Its number.
        window: u32,
        /// Pixels per point.
        scale: f64,
    },
}

/// A change of the window that `selftest` opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestChange {
    /// The label `label` shows this text, in UTF-16.
    Label(Vec<u16>),
    /// The field `field` gets a text.
    Field,
    /// The window gets another title.
    Title,
    /// A row of the table `rows` is selected.
    Select,
    /// The table `rows` gets one more row.
    AddRow,
    /// The field `field` gets the focus.
    Focus,
    /// The label `doomed` is removed.
    Remove,
}

/// Why there is no image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostCaptureError {
    /// The user has not permitted it.
    Denied,
    /// Another reason.
    Failed(String),
}

/// A display, as AppKit reports it.
#[derive(Debug, Clone)]
pub struct HostScreen {
    /// Its id in CoreGraphics.
    pub display: u32,
    /// Its name for users.
    pub name: String,
    /// The part of it that windows may use: without the menu bar and the Dock. From the desktop's top left corner.
    pub usable: crate::ffi::cg::CGRect,
}

/// The keyboard layouts that keys are looked up in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostKeyboard {
    /// The keys of the current layout; empty if it is not known, as with an input method.
    pub current: Vec<HostKey>,
    /// The keys of the layout that the system uses for shortcuts while the current one has no Latin letters.
    pub latin: Vec<HostKey>,
}

/// A key of a keyboard layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostKey {
    /// Its virtual key code.
    pub code: u16,
    /// What it types without modifiers.
    pub plain: Option<char>,
    /// What it types with shift.
    pub shifted: Option<char>,
    /// What it stands for with command: some layouts have another arrangement then.
    pub with_command: Option<char>,
}

/// How long thread 0 may take. Nothing that waits for another app runs there.
const MAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs something on thread 0, and blocks until it is done. `None` if the loop there has ended, or does not get to it in time.
pub fn run_on_main_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (answer, reply) = std::sync::mpsc::channel();
    appkit::on_main(Box::new(move || {
        // The caller may have stopped waiting.
        let _ = answer.send(work());
    }));
    reply.recv_timeout(MAIN_TIMEOUT).ok()
}

/// Runs something in an autorelease pool of its own, which every thread needs that the system did not start.
pub fn with_autorelease_pool<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(target_os = "macos")]
    return objc2::rc::autoreleasepool(|_| work());
    #[cfg(not(target_os = "macos"))]
    work()
}
