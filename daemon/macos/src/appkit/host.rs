//! What the backend needs of AppKit, in plain types: who runs, who is in front, starting and ending apps, the
//! pasteboard, and thread 0's loop. `appkit` does it.
//!
//! All functions of `appkit` are called on thread 0, except `run_main`'s two friends, `stop_main` and `on_main`, and
//! those that say otherwise. [`run_on_main`] is how other threads get there.

use std::ffi::OsString;
use std::path::PathBuf;

use tokio::sync::oneshot;

use crate::appkit;

/// An app that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostApp {
    /// Its process.
    pub pid: u32,
    /// What people call it.
    pub name: String,
    /// Its bundle identifier, if it has one.
    pub bundle: Option<String>,
    /// Its bundle, or else its executable.
    pub path: Option<PathBuf>,
    /// How it shows itself.
    pub kind: HostAppKind,
    /// Whether all of it is hidden.
    pub hidden: bool,
}

/// How an app shows itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostAppKind {
    /// In the Dock, with a menu bar.
    Regular,
    /// Not in the Dock, but it may have windows.
    Accessory,
    /// It has no face at all.
    Background,
}

/// What the host tells by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostEvent {
    /// An app has started.
    Launched(HostApp),
    /// An app has ended.
    Terminated {
        /// Its process.
        pid: u32,
    },
    /// An app has come to the front.
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
    /// What it is given on its command line.
    pub args: Vec<OsString>,
    /// What is added to its environment.
    pub env: Vec<(OsString, OsString)>,
    /// Where it starts, where the host can do that.
    pub cwd: Option<PathBuf>,
}

/// Where the answer to a launch goes: the app, or what the host said.
pub type LaunchCallback = Box<dyn FnOnce(Result<HostApp, String>) + Send>;

/// Something on the pasteboard: its type (a UTI) and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostItem {
    /// The type, as in `public.utf8-plain-text`.
    pub kind: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// What the host is asked to take a picture of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HostCapture {
    /// A display, or a part of it, in points from the desktop's origin.
    Display {
        /// Its number.
        display: u32,
        /// Which part of it; all of it if `None`.
        part: Option<crate::ffi::cg::CGRect>,
        /// Pixels a point.
        scale: f64,
    },
    /// A window alone.
    Window {
        /// Its number.
        window: u32,
        /// Pixels a point.
        scale: f64,
    },
}

/// A display, as AppKit sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct HostScreen {
    /// Its number, as CoreGraphics has it.
    pub display: u32,
    /// What people call it.
    pub name: String,
    /// The part of it that windows may use: without the menu bar and the Dock. From the desktop's top left corner.
    pub usable: crate::ffi::cg::CGRect,
}

/// A key of the current keyboard layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostKey {
    /// Its virtual key code.
    pub code: u16,
    /// What it types by itself.
    pub plain: Option<char>,
    /// What it types with shift.
    pub shifted: Option<char>,
}

/// Has something done on thread 0, and hands back what came of it. `None` if the loop there has ended.
pub async fn run_on_main<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (answer, reply) = oneshot::channel();
    appkit::on_main(Box::new(move || {
        // Whoever asked may have gone.
        let _ = answer.send(work());
    }));
    reply.await.ok()
}

/// The same for a thread that may wait.
pub fn run_on_main_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (answer, reply) = std::sync::mpsc::channel();
    appkit::on_main(Box::new(move || {
        // Whoever asked may have gone.
        let _ = answer.send(work());
    }));
    reply.recv().ok()
}

/// Does something, and lets go of all that AppKit and its kin put by on the way: threads that are not theirs have to.
pub fn with_autorelease_pool<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(target_os = "macos")]
    return objc2::rc::autoreleasepool(|_| work());
    #[cfg(not(target_os = "macos"))]
    work()
}
