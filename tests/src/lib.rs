//! What the whole-system tests stand on: the real programs, a daemon of each test's own, a client that speaks raw
//! lines, and apps for the built-in desktop.
//!
//! Nothing here sleeps. What a test waits for is an answer, an event, an end of file or an exit; each wait has a limit,
//! so that a test fails instead of hanging.

pub mod apps;
mod ax;
mod daemon;
mod mcp;
pub mod picture;
mod policed;
mod programs;
mod raw;
pub mod soak;
pub mod stage;
mod tree;

use std::time::Duration;

pub use ax::{Ax, Ran, lines};
pub use daemon::{Daemon, Setup, folder, wait_for_exit};
pub use mcp::{Mcp, Reviewed};
pub use policed::Policed;
pub use programs::{ax, ax_mcp, axd, axd_on_double, workspace};
pub use raw::Raw;
pub use stage::Stage;
pub use tree::{Mirror, content, find, fresh, ids, sync};

/// How long anything may take before a test gives up on it. Far longer than it takes: the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Says that a test does not run here, and why.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    // Past the capture of the test harness, so that it is seen without --nocapture.
    let line = format!("SKIPPED {}: {why}\n", thread.name().unwrap_or("a test"));
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
}

/// Whether the tests run as root, who alone can become another user or mount something.
pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}
