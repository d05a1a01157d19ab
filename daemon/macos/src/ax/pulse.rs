//! The pulse of the app that a thread serves: every answer of the app is recorded, because one request of the worker takes many
//! calls, and an app that answers each of them is slow but not silent.

use std::cell::RefCell;
use std::sync::Arc;

use axd_platform::worker::Pulse;

thread_local! {
    static PULSE: RefCell<Option<Arc<Pulse>>> = const { RefCell::new(None) };
}

/// From now on records the answers that this thread gets.
pub fn record_to(pulse: Arc<Pulse>) {
    PULSE.with_borrow_mut(|current| *current = Some(pulse));
}

/// Records that an app has answered a call of this thread.
pub fn beat() {
    // The thread may be ending, and then nobody looks any more.
    let _ = PULSE.try_with(|pulse| {
        if let Some(pulse) = &*pulse.borrow() {
            pulse.beat();
        }
    });
}
