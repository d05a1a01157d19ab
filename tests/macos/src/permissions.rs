//! Asking for the permissions: once, with the places in the settings opened, and then waiting until they are there.

use std::io::{BufRead, IsTerminal};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::ax::{Ax, Checked};
use crate::process;

/// The places in System Settings.
const PANES: [&str; 2] = [
    "x-apple.systempreferences:com.apple.preference.security?Privacy_Accessibility",
    "x-apple.systempreferences:com.apple.preference.security?Privacy_ScreenCapture",
];
/// The time between two questions whether a permission is there.
const QUERY_INTERVAL: Duration = Duration::from_millis(500);
/// The time after which a fresh daemon is asked. A process may never hear of a permission that was granted after its start. It
/// is longer than launchd's own pause between two starts.
const RESTART_INTERVAL: Duration = Duration::from_secs(15);
/// How long to wait for Return.
const RETURN_LIMIT: Duration = Duration::from_secs(180);

/// Which permissions there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Permissions {
    /// Reading apps and acting on them.
    pub accessibility: bool,
    /// Pictures of the screen.
    pub pictures: bool,
}

impl Permissions {
    fn of(answer: &Value) -> Permissions {
        let is_granted = |name: &str| {
            let permissions = answer["permissions"].as_array().map(Vec::as_slice).unwrap_or_default();
            // Where none is needed none is listed.
            permissions.iter().all(|permission| permission["name"] != name || permission["granted"] == true)
        };
        Permissions { accessibility: is_granted("accessibility"), pictures: is_granted("screen recording") }
    }

    fn are_complete(self) -> bool {
        self.accessibility && self.pictures
    }
}

/// Waits until both permissions are there, or the time is over. What is there then is told, with what went wrong last.
pub fn wait_for_both(ax: &Ax, patience: Duration) -> (Permissions, Option<String>) {
    let begin = Instant::now();
    let mut restarted = begin;
    let mut has_asked = false;
    loop {
        let (now, fault) = match query(ax) {
            Ok(now) => (now, None),
            Err(fault) => (Permissions::default(), Some(fault)),
        };
        if now.are_complete() || begin.elapsed() >= patience {
            return (now, fault);
        }
        if !has_asked {
            has_asked = true;
            request(ax, now);
            continue;
        }
        if restarted.elapsed() >= RESTART_INTERVAL {
            restarted = Instant::now();
            // The next question starts another one.
            let _ = ax.ask(&["shutdown"]);
        }
        std::thread::sleep(QUERY_INTERVAL.min(patience));
    }
}

fn query(ax: &Ax) -> Checked<Permissions> {
    ax.data(&["permissions"]).map(|answer| Permissions::of(&answer))
}

/// Has macOS ask, and opens the settings. It is done once, because each time is a dialog.
fn request(ax: &Ax, now: Permissions) {
    let _ = ax.ask(&["permissions", "--request"]);
    println!("\nAllow {} in System Settings › Privacy & Security,", ax.bundle().display());
    println!(
        "under Accessibility and under Screen & System Audio Recording; if it is not listed, press + and choose it."
    );
    println!(
        "If it is listed and on already, remove it with - and add it again: this is another build of it."
    );
    println!("Waiting until both are on …\n");
    for (pane, is_granted) in PANES.iter().zip([now.accessibility, now.pictures]) {
        if !is_granted {
            // Without it the user finds the way by the words above.
            let _ = process::tool("open", [pane], Duration::from_secs(10));
        }
    }
}

/// Asks the user to let go of mouse and keyboard, if there is one.
pub fn wait_for_return() {
    if !std::io::stdin().is_terminal() {
        return;
    }
    println!(
        "From here on mouse and keyboard are used by the test, for about five minutes. Press Return, and let go of them."
    );
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let _ = std::io::stdin().lock().read_line(&mut line);
        let _ = sender.send(());
    });
    if receiver.recv_timeout(RETURN_LIMIT).is_err() {
        println!("Nobody pressed Return in {} s; going on.", RETURN_LIMIT.as_secs());
    }
}
