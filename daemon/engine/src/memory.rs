//! What malloc is told, where it is glibc's: to keep less than it would.

/// To be called before there are threads.
///
/// glibc gives each thread an arena of its own. A first walk is read by one thread and taken in by another, so that what stays
/// and what goes lie mixed in several of them, and little can be given back. Small things come from a cache a thread
/// anyway, so threads hardly wait for each other.
pub fn keep_little() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it takes two numbers, and changes nothing but where memory is taken from.
    unsafe {
        nix::libc::mallopt(nix::libc::M_ARENA_MAX, 1);
    }
}

/// Gives the system back what the first walk of a large app used and no longer needs: glibc keeps it, because texts that
/// stay lie between texts that went.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it takes a number and may be called at any time, from any thread.
    unsafe {
        nix::libc::malloc_trim(0);
    }
}
