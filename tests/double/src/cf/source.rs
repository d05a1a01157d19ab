//! The sources of a run loop: those that are signalled by their creator, and ports, which wake the loop by themselves.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::object::{Body, CFTypeRef, Foreign, ObjectKind, Owned, foreign, owned};
use super::run_loop::Loop;

/// What a source does, as C callers say it: `CFRunLoopSourceContext` of version 0.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SourceContext {
    version: isize,
    info: *mut c_void,
    retain: Option<unsafe extern "C" fn(*const c_void) -> *const c_void>,
    release: Option<unsafe extern "C" fn(*const c_void)>,
    describe: Option<unsafe extern "C" fn(*const c_void) -> CFTypeRef>,
    equal: Option<unsafe extern "C" fn(*const c_void, *const c_void) -> u8>,
    hash: Option<unsafe extern "C" fn(*const c_void) -> usize>,
    schedule: Option<unsafe extern "C" fn(*mut c_void, CFTypeRef, CFTypeRef)>,
    cancel: Option<unsafe extern "C" fn(*mut c_void, CFTypeRef, CFTypeRef)>,
    perform: Option<unsafe extern "C" fn(*mut c_void)>,
}

// SAFETY: who makes a source for another thread's loop promises that its info may go there.
unsafe impl Send for SourceContext {}
// SAFETY: as above.
unsafe impl Sync for SourceContext {}

/// A port, where messages arrive.
pub(crate) trait Port: Send + Sync {
    /// Delivers the next message. False if there was none.
    fn deliver(&self) -> bool;

    /// Whether a message waits.
    fn has_pending(&self) -> bool;
}

/// A source.
pub(crate) struct Source {
    pub(super) order: isize,
    work: Work,
    signalled: AtomicBool,
    valid: AtomicBool,
    loops: Mutex<Vec<Weak<Loop>>>,
}

enum Work {
    Custom(SourceContext),
    Port(Weak<dyn Port>),
}

impl Source {
    /// Whether it is to be performed; clears the signal.
    pub(super) fn take_signal(&self) -> bool {
        if !self.is_valid() {
            return false;
        }
        match &self.work {
            Work::Custom(_) => self.signalled.swap(false, Ordering::AcqRel),
            Work::Port(port) => port.upgrade().is_some_and(|port| port.has_pending()),
        }
    }

    /// Performs it. False if there was nothing to do.
    pub(super) fn perform(&self) -> bool {
        if !self.is_valid() {
            return false;
        }
        match &self.work {
            Work::Custom(context) => {
                if let Some(perform) = context.perform {
                    // SAFETY: the info is what the callback was made for, and is held until the source is invalid.
                    unsafe { perform(context.info) };
                }
                true
            }
            Work::Port(port) => port.upgrade().is_some_and(|port| port.deliver()),
        }
    }

    pub(super) fn is_valid(&self) -> bool {
        self.valid.load(Ordering::Acquire)
    }

    pub(super) fn added_to(&self, run_loop: &Arc<Loop>) {
        self.loops.lock().push(Arc::downgrade(run_loop));
    }

    pub(super) fn removed_from(&self, run_loop: &Arc<Loop>) {
        self.loops.lock().retain(|other| other.as_ptr() != Arc::as_ptr(run_loop));
    }

    /// Wakes the loops it is in, as a port does when a message arrives.
    pub(crate) fn wake(&self) {
        let loops: Vec<Arc<Loop>> = self.loops.lock().iter().filter_map(Weak::upgrade).collect();
        loops.iter().for_each(|run_loop| run_loop.wake());
    }

    /// Makes it invalid, and removes it from all loops.
    pub(crate) fn invalidate(&self) {
        if !self.valid.swap(false, Ordering::AcqRel) {
            return;
        }
        let loops = std::mem::take(&mut *self.loops.lock());
        for run_loop in loops.iter().filter_map(Weak::upgrade) {
            run_loop.forget(self);
        }
        self.let_go();
    }

    fn let_go(&self) {
        if let Work::Custom(SourceContext { release: Some(release), info, .. }) = &self.work {
            // SAFETY: it was retained when the source was made, and this comes once.
            unsafe { release(info.cast_const()) };
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        if *self.valid.get_mut() {
            self.let_go();
        }
    }
}

impl Foreign for Source {
    fn describe(&self) -> String {
        let what = match &self.work {
            Work::Custom(_) => "custom",
            Work::Port(_) => "port",
        };
        format!("{what}, valid: {}, in {} loops", self.is_valid(), self.loops.lock().len())
    }
}

/// A source for a port: the object, and the source that wakes its loops.
pub(crate) fn port_source(port: Weak<dyn Port>, made_by: &'static str) -> (Owned, Arc<Source>) {
    let source = Arc::new(Source {
        order: 0,
        work: Work::Port(port),
        signalled: AtomicBool::new(false),
        valid: AtomicBool::new(true),
        loops: Mutex::default(),
    });
    let body = Body::Foreign(Arc::clone(&source) as Arc<dyn Foreign>);
    (owned(ObjectKind::RunLoopSource, body, made_by), source)
}

pub(super) fn source_of(source: CFTypeRef, function: &'static str) -> Option<Arc<Source>> {
    foreign(source, ObjectKind::RunLoopSource, function)
}

/// `CFRunLoopSourceGetTypeID`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopSourceGetTypeID() -> usize {
    ObjectKind::RunLoopSource as usize
}

/// `CFRunLoopSourceCreate`.
///
/// # Safety
/// The context is one of version 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CFRunLoopSourceCreate(
    _allocator: CFTypeRef,
    order: isize,
    context: *const SourceContext,
) -> CFTypeRef {
    if context.is_null() {
        return std::ptr::null();
    }
    // SAFETY: as above.
    let mut context = unsafe { *context };
    if let Some(retain) = context.retain {
        // SAFETY: the callback is for this info.
        context.info = unsafe { retain(context.info) }.cast_mut();
    }
    let source = Source {
        order,
        work: Work::Custom(context),
        signalled: AtomicBool::new(false),
        valid: AtomicBool::new(true),
        loops: Mutex::default(),
    };
    owned(ObjectKind::RunLoopSource, Body::Foreign(Arc::new(source)), "CFRunLoopSourceCreate").give()
}

/// `CFRunLoopSourceSignal`: it is done when the loop next looks; this does not wake it.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopSourceSignal(source: CFTypeRef) {
    if let Some(source) = source_of(source, "CFRunLoopSourceSignal") {
        source.signalled.store(true, Ordering::Release);
    }
}

/// `CFRunLoopSourceIsValid`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopSourceIsValid(source: CFTypeRef) -> u8 {
    u8::from(source_of(source, "CFRunLoopSourceIsValid").is_some_and(|source| source.is_valid()))
}

/// `CFRunLoopSourceInvalidate`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRunLoopSourceInvalidate(source: CFTypeRef) {
    if let Some(source) = source_of(source, "CFRunLoopSourceInvalidate") {
        source.invalidate();
    }
}
