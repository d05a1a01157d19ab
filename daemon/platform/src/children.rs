//! Child processes that axd starts but does not end.

use std::process::Child;

use tracing::debug;

/// Waits until a child exits, so that it does not stay a zombie, and calls `ended`, with the reason if it failed.
pub fn reap(mut child: Child, ended: impl FnOnce(u32, Option<String>) + Send + 'static) {
    let waiting = std::thread::Builder::new().name("axd-child".to_owned()).stack_size(64 * 1024);
    let wait = move || {
        let bad = child.wait().ok().filter(|status| !status.success());
        ended(child.id(), bad.map(|status| status.to_string()));
    };
    if let Err(error) = waiting.spawn(wait) {
        debug!(%error, "nobody waits for the end of an app");
    }
}
