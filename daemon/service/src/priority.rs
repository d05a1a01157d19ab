//! Which threads the system lets go first, where a processor has more to do than it can.

/// How much less of a busy processor a background thread gets: about a tenth of what others get.
#[cfg(target_os = "linux")]
pub(crate) const NICENESS: i32 = 10;

/// How long the thread that answers sockets computes before others get their turn. Linux lets a thread that asks for less at a
/// time run sooner (since 6.12; before, this changes nothing).
#[cfg(target_os = "linux")]
const PROMPT_SLICE_NS: u64 = 100_000;
/// How long a background thread keeps a processor from one that has woken up. Its turn is still behind that of others, because the
/// system measures it by the thread's niceness.
#[cfg(target_os = "linux")]
const BACKGROUND_SLICE_NS: u64 = 400_000;

/// Lets this thread answer as soon as there is something to answer. If that fails, everything goes on as it would have without.
#[cfg(target_os = "linux")]
pub fn answer_promptly() {
    // SAFETY: The call takes no pointers. On Linux 0 means the calling thread.
    set(unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }, PROMPT_SLICE_NS);
}

/// Lets this thread answer as soon as there is something to answer. If that fails, everything goes on as it would have without.
#[cfg(target_os = "macos")]
pub fn answer_promptly() {
    // SAFETY: The call takes no pointers, and changes the calling thread only.
    unsafe { libc::pthread_set_qos_class_self_np(libc::qos_class_t::QOS_CLASS_USER_INITIATED, 0) };
}

/// Lets other threads go before this one. If that fails, everything goes on as it would have without.
#[cfg(target_os = "linux")]
pub(crate) fn lower() {
    // SAFETY: The call takes no pointers.
    let inherited = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    set(inherited.max(NICENESS), BACKGROUND_SLICE_NS);
}

/// Lets other threads go before this one. If that fails, everything goes on as it would have without.
#[cfg(target_os = "macos")]
pub(crate) fn lower() {
    // SAFETY: The call takes no pointers, and changes the calling thread only.
    unsafe { libc::pthread_set_qos_class_self_np(libc::qos_class_t::QOS_CLASS_UTILITY, 0) };
}

/// Sets the niceness of this thread, and how long it computes at a time.
#[cfg(target_os = "linux")]
fn set(niceness: i32, slice_ns: u64) {
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_OTHER as u32,
        sched_flags: 0,
        sched_nice: niceness,
        sched_priority: 0,
        sched_runtime: slice_ns,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: The attributes live until the call returns and say their own size. 0 means the calling thread.
    let done = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if done != 0 {
        // A system that filters this call may allow the older one.
        // SAFETY: The call takes no pointers.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, niceness) };
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod elsewhere {
    /// Changes nothing here.
    pub fn answer_promptly() {}
    /// Changes nothing here.
    pub(crate) fn lower() {}
}
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub use elsewhere::answer_promptly;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) use elsewhere::lower;
