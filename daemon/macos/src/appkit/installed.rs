//! AppKit where there is none: a table of functions that the double of macOS installs before the backend starts.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::host::{
    HostApp, HostCapture, HostCaptureError, HostEvent, HostItem, HostKeyboard, HostLaunch, HostScreen,
    LaunchCallback, TestChange,
};
use crate::cg::image::Image;

static INSTALLED: OnceLock<&'static AppKit> = OnceLock::new();

/// Installs the functions. They stay for as long as the process runs.
pub fn install(appkit: &'static AppKit) {
    // A second double in the same process brings the same functions.
    let _ = INSTALLED.set(appkit);
}

/// Declares the table, and a function for each of its entries with the same name and signature as the native one.
macro_rules! appkit {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?;)*) => {
        /// What the backend needs of AppKit.
        #[derive(Debug)]
        pub struct AppKit {
            $($(#[$doc])* pub $name: fn($($type),*) $(-> $out)?,)*
        }

        $($(#[$doc])*
        pub fn $name($($arg: $type),*) $(-> $out)? {
            let appkit = INSTALLED.get().expect("the double installs AppKit before it starts the backend");
            (appkit.$name)($($arg),*)
        })*
    };
}

appkit! {
    /// Runs the loop of thread 0 until `stop_main`.
    fn run_main();
    /// Ends the loop of thread 0.
    fn stop_main();
    /// Runs `work` on thread 0.
    fn on_main(work: Box<dyn FnOnce() + Send>);
    /// Reports apps that start, end and become active, and sleep.
    fn observe(out: Box<dyn Fn(HostEvent) + Send>);
    /// The running apps.
    fn running() -> Vec<HostApp>;
    /// The active app.
    fn frontmost() -> Option<u32>;
    /// The bundle of an app, by its identifier, name or path.
    fn find_app(named: &str) -> Option<PathBuf>;
    /// The identifier of a bundle.
    fn bundle_identifier(bundle: &Path) -> Option<String>;
    /// Opens a bundle.
    fn launch(plan: &HostLaunch, done: LaunchCallback);
    /// Brings an app to the front.
    fn activate(pid: u32) -> bool;
    /// Shows a hidden app.
    fn unhide(pid: u32) -> bool;
    /// Asks an app to quit, or kills it.
    fn terminate(pid: u32, force: bool) -> bool;
    /// Whether the user has forbidden programs to read the pasteboard. On any thread.
    fn pasteboard_denied() -> bool;
    /// The types of what is on the pasteboard. On any thread.
    fn pasteboard_types() -> Vec<String>;
    /// What the pasteboard holds of this type. On any thread.
    fn pasteboard_read(kind: &str) -> Option<Vec<u8>>;
    /// The files on the pasteboard. On any thread.
    fn pasteboard_files() -> Vec<PathBuf>;
    /// Replaces what is on the pasteboard. On any thread.
    fn pasteboard_write(items: Vec<HostItem>) -> bool;
    /// Replaces what is on the pasteboard with files. On any thread.
    fn pasteboard_write_files(files: Vec<PathBuf>) -> bool;
    /// The keyboard layouts.
    fn keyboard() -> HostKeyboard;
    /// Opens the window of `selftest`. Returns the process that it belongs to; `None` if it cannot be opened.
    fn open_test_window() -> Option<u32>;
    /// Changes that window.
    fn change_test_window(change: TestChange);
    /// How often the button `button` of that window was pressed.
    fn test_window_presses() -> u32;
    /// The displays.
    fn screens() -> Vec<HostScreen>;
    /// Whether a process runs. May be called on any thread.
    fn is_running(pid: u32) -> bool;
    /// Whether the machine saves power. May be called on any thread.
    fn saves_power() -> bool;
    /// An image by ScreenCaptureKit; `None` where that does not exist.
    fn capture_image(request: HostCapture, cursor: bool) -> Option<Result<Image, HostCaptureError>>;
}
