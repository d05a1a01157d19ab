//! Work that takes long, on threads that let others go first.
//!
//! A machine may have one processor to spare for the daemon. Then a thread that computes for a second keeps the one that answers
//! sockets waiting for the system's time slices, several milliseconds each. So long work has a thread of a lower priority.

use std::panic::resume_unwind;
use std::thread;

/// Does work on a thread of a lower priority, and waits for it. The caller must be allowed to block.
pub fn run<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            lower_priority();
            work()
        });
        worker.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Lowers the priority of this thread. If that fails, everything goes on as it would have without.
#[cfg(target_os = "linux")]
fn lower_priority() {
    // SAFETY: The call takes no pointers. On Linux 0 means the calling thread.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS) };
}

/// Lowers the priority of this thread. If that fails, everything goes on as it would have without.
#[cfg(target_os = "macos")]
fn lower_priority() {
    // SAFETY: The call takes no pointers, and changes the calling thread only.
    unsafe { libc::pthread_set_qos_class_self_np(libc::qos_class_t::QOS_CLASS_UTILITY, 0) };
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn lower_priority() {}

/// How much less of a busy processor such a thread gets: about a tenth of what others get.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_on_another_thread_and_may_borrow() {
        let text = "hello".to_owned();
        let (length, id) = run(|| (text.len(), thread::current().id()));
        assert_eq!(length, 5);
        assert_ne!(id, thread::current().id());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn it_lets_others_go_first_and_leaves_the_caller_as_it_was() {
        // SAFETY: The call takes no pointers.
        let niceness = || unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        let before = niceness();
        assert_eq!(run(niceness), NICENESS.max(before));
        assert_eq!(niceness(), before);
    }

    #[test]
    #[should_panic(expected = "a bug")]
    fn a_panic_is_the_callers() {
        run(|| panic!("a bug"));
    }
}
