//! Processes that axd starts and does not end.

use std::process::Child;

use tracing::debug;

/// Waits for a child's end, so that it does not stay as a zombie, and tells of it; how, if it was a bad one.
pub fn reap(mut child: Child, ended: impl FnOnce(u32, Option<String>) + Send + 'static) {
    let waiting = std::thread::Builder::new().name("axd-child".to_owned()).stack_size(64 * 1024);
    let wait = move || {
        let bad = child.wait().ok().filter(|status| !status.success());
        ended(child.id(), bad.map(|status| status.to_string()));
    };
    if let Err(fault) = waiting.spawn(wait) {
        debug!(%fault, "nobody waits for the end of an app");
    }
}
