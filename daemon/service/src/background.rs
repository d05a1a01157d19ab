//! Work that takes long, on threads that let others go first.
//!
//! A machine may have one processor to spare for the daemon. Then a thread that computes for a second keeps the one that answers
//! sockets waiting for the system's time slices, several milliseconds each. So long work has threads of a lower priority. They stay:
//! a system favours threads that are new.

use std::sync::OnceLock;

use rayon_core::{ThreadPool, ThreadPoolBuilder};

use crate::priority;

/// How much long work is done at a time at most; whoever asks for more has limits of its own.
const THREADS: usize = 8;

/// Does work on a thread of a lower priority, and waits for it. The caller must be allowed to block.
pub fn run<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let start = || {
        let threads = ThreadPoolBuilder::new().num_threads(THREADS).start_handler(|_| priority::lower());
        threads.thread_name(|_| "axd-long".to_owned()).build().ok()
    };
    match POOL.get_or_init(start) {
        Some(pool) => pool.install(work),
        // Without threads it is done here: late is better than not at all.
        None => work(),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

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
        assert_eq!(run(niceness), priority::NICENESS.max(before));
        assert_eq!(niceness(), before);
    }

    #[test]
    #[should_panic(expected = "a bug")]
    fn a_panic_is_the_callers() {
        run(|| panic!("a bug"));
    }
}
