//! Processes that axd starts and does not end.

use std::process::Child;

use tracing::debug;

/// Waits for a child's end, so that it does not stay as a zombie, and tells if it was a bad one.
pub fn reap(mut child: Child, failed: impl FnOnce(u32, String) + Send + 'static) {
    let waiting = std::thread::Builder::new().name("axd-child".to_owned()).stack_size(64 * 1024);
    let wait = move || match child.wait() {
        Ok(status) if !status.success() => failed(child.id(), status.to_string()),
        _ => {}
    };
    if let Err(fault) = waiting.spawn(wait) {
        debug!(%fault, "nobody waits for the end of an app");
    }
}
