//! The timers of a run loop.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::number::CFAbsoluteTimeGetCurrent;
use super::object::{Body, CFTypeRef, Foreign, ObjectKind, foreign, owned};

/// What goes with a timer, as C callers say it: `CFRunLoopTimerContext`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct TimerContext {
    version: isize,
    info: *mut c_void,
    retain: Option<unsafe extern "C" fn(*const c_void) -> *const c_void>,
    release: Option<unsafe extern "C" fn(*const c_void)>,
    describe: Option<unsafe extern "C" fn(*const c_void) -> CFTypeRef>,
}

type Callout = unsafe extern "C" fn(CFTypeRef, *mut c_void);

/// A timer.
pub(super) struct Timer {
    interval: f64,
    callout: Callout,
    context: Option<TimerContext>,
    /// When it fires next; `None` once it is invalid.
    next: Mutex<Option<f64>>,
}

// SAFETY: who makes a timer for another thread's loop promises that its info may go there.
unsafe impl Send for Timer {}
// SAFETY: as above.
unsafe impl Sync for Timer {}

impl Timer {
    /// How long until it fires; `None` if it never does.
    pub(super) fn due_in(&self) -> Option<Duration> {
        let left = (*self.next.lock())? - CFAbsoluteTimeGetCurrent();
        Some(Duration::try_from_secs_f64(left.max(0.0)).unwrap_or(Duration::MAX))
    }

    /// Fires, if it is time. One that does not repeat is invalid afterwards.
    pub(super) fn fire(&self, timer: CFTypeRef) -> bool {
        let now = CFAbsoluteTimeGetCurrent();
        {
            let mut next = self.next.lock();
            match *next {
                Some(due) if due <= now => {
                    // What was missed is not made up for.
                    *next = (self.interval > 0.0)
                        .then(|| due + self.interval * (((now - due) / self.interval).floor() + 1.0));
                }
                _ => return false,
            }
        }
        let info = self.context.map_or(std::ptr::null_mut(), |context| context.info);
        // SAFETY: the callback was made for this info, which is held for as long as the timer is.
        unsafe { (self.callout)(timer, info) };
        true
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if let Some(TimerContext { release: Some(release), info, .. }) = self.context {
            // SAFETY: it was retained when the timer was made.
            unsafe { release(info.cast_const()) };
        }
    }
}

impl Foreign for Timer {
    fn describe(&self) -> String {
        format!("every {} s, next at {:?}", self.interval, self.next.lock())
    }
}

pub(super) fn timer_of(timer: CFTypeRef, function: &'static str) -> Option<Arc<Timer>> {
    foreign(timer, ObjectKind::RunLoopTimer, function)
}

/// `CFRunLoopTimerGetTypeID`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopTimerGetTypeID() -> usize {
    ObjectKind::RunLoopTimer as usize
}

/// `CFRunLoopTimerCreate`.
///
/// # Safety
/// The callback is for the context's info.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CFRunLoopTimerCreate(
    _allocator: CFTypeRef,
    date: f64,
    interval: f64,
    _flags: usize,
    _order: isize,
    callout: Callout,
    context: *const TimerContext,
) -> CFTypeRef {
    // SAFETY: as above.
    let mut context = (!context.is_null()).then(|| unsafe { *context });
    if let Some(context) = &mut context
        && let Some(retain) = context.retain
    {
        // SAFETY: the callback is for this info.
        context.info = unsafe { retain(context.info) }.cast_mut();
    }
    let timer = Timer { interval, callout, context, next: Mutex::new(Some(date)) };
    owned(ObjectKind::RunLoopTimer, Body::Foreign(Arc::new(timer)), "CFRunLoopTimerCreate").give()
}

/// `CFRunLoopTimerInvalidate`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopTimerInvalidate(timer: CFTypeRef) {
    if let Some(timer) = timer_of(timer, "CFRunLoopTimerInvalidate") {
        *timer.next.lock() = None;
    }
}

/// `CFRunLoopTimerIsValid`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopTimerIsValid(timer: CFTypeRef) -> u8 {
    u8::from(timer_of(timer, "CFRunLoopTimerIsValid").is_some_and(|timer| timer.next.lock().is_some()))
}

/// `CFRunLoopTimerSetNextFireDate`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopTimerSetNextFireDate(timer: CFTypeRef, date: f64) {
    if let Some(timer) = timer_of(timer, "CFRunLoopTimerSetNextFireDate")
        && let Some(next) = &mut *timer.next.lock()
    {
        *next = date;
    }
}
