//! Settings of glibc's malloc, so that the daemon keeps less free memory.

/// Limits malloc to one arena. Must be called before there are threads.
///
/// glibc gives each thread an arena of its own. A first walk is read by one thread and applied by another, so kept and freed
/// memory would be mixed in several arenas, and little could be returned to the system. Small allocations come from a cache per
/// thread anyway, so threads hardly wait for each other.
pub fn limit_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it takes two numbers, and changes nothing but where memory is taken from.
    unsafe {
        nix::libc::mallopt(nix::libc::M_ARENA_MAX, 1);
    }
}

/// Returns to the system the memory that the first walk of an app, or an app that has ended, no longer needs, if that is much. glibc
/// keeps it otherwise, because texts that are kept lie between texts that were freed. For little it is not worth the time, in
/// which nobody else gets any memory.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const MUCH: usize = 16 << 20;
        // SAFETY: it takes nothing and may be called at any time, from any thread.
        let free = unsafe { nix::libc::mallinfo2() }.fordblks;
        if free > MUCH {
            // SAFETY: it takes a number and may be called at any time, from any thread.
            unsafe {
                nix::libc::malloc_trim(0);
            }
        }
    }
}
