//! Where panics and exceptions end. A panic must not cross into C, which would abort the daemon, nor end a thread that serves an
//! app; and Apple's frameworks throw Objective-C exceptions, which must not cross into Rust.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use tracing::error;
#[cfg(target_os = "macos")]
use tracing::warn;

use crate::ffi::ax::{AXError, kAXErrorFailure};

/// How long a thread waits for other work after a panic.
pub const PAUSE_AFTER_PANIC: Duration = Duration::from_millis(100);

/// Does something that must not panic; `None` if it did. `place` says where, for the log.
pub fn catch_panic<T>(place: &str, work: impl FnOnce() -> T) -> Option<T> {
    // What the closure leaves behind when it panics is read again from the app, or was only passed on.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => Some(done),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            error!(place, panic = text, "axd panicked; it goes on");
            None
        }
    }
}

/// A block of Objective-C that keeps its panics to itself.
#[cfg(target_os = "macos")]
pub fn block<A>(place: &'static str, work: impl Fn(A)) -> impl Fn(A) {
    move |argument| catch_panic(place, || work(argument)).unwrap_or_default()
}

/// Like [`block`], with two arguments.
#[cfg(target_os = "macos")]
pub fn block2<A, B>(place: &'static str, work: impl Fn(A, B)) -> impl Fn(A, B) {
    move |first, second| catch_panic(place, || work(first, second)).unwrap_or_default()
}

/// Calls a function of the accessibility API that answers with an error code. An exception counts as a failure of the call.
pub fn call(function: impl FnOnce() -> AXError) -> AXError {
    catch_exception(function).unwrap_or(kAXErrorFailure)
}

/// Calls a function of Apple's; `None` if it threw an exception.
#[cfg(target_os = "macos")]
fn catch_exception<T>(function: impl FnOnce() -> T) -> Option<T> {
    let called = objc2::exception::catch(AssertUnwindSafe(function));
    called
        .inspect_err(|exception| warn!(?exception, "a call to the accessibility API threw an exception"))
        .ok()
}

/// Calls a function of the double; `None` if it threw. It has no Objective-C, and unwinds as a panic does.
#[cfg(not(target_os = "macos"))]
fn catch_exception<T>(function: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(function)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_where_it_is_caught_and_what_comes_next_is_done() {
        assert_eq!(catch_panic("a test", || panic!("on purpose")), None::<u8>);
        assert_eq!(catch_panic("a test", || 7), Some(7));
    }

    #[test]
    fn a_call_that_throws_has_failed() {
        assert_eq!(call(|| 0), 0);
        #[cfg(not(target_os = "macos"))]
        assert_eq!(call(|| std::panic::resume_unwind(Box::new(()))), kAXErrorFailure);
    }
}
