//! A thread's run loop, and a mailbox that wakes it.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::ffi::cf::{
    CFRelease, CFRetain, CFRunLoopAddSource, CFRunLoopGetCurrent, CFRunLoopRef, CFRunLoopRunInMode,
    CFRunLoopSourceContext, CFRunLoopSourceCreate, CFRunLoopSourceInvalidate, CFRunLoopSourceRef,
    CFRunLoopSourceSignal, CFRunLoopWakeUp, CFTypeRef, kCFAllocatorDefault, kCFRunLoopDefaultMode,
    kCFRunLoopRunHandledSource,
};

/// As long as a run loop can wait.
const FOR_EVER: f64 = 1e9;

/// Runs the current thread's loop until one source was handled, or for that long. False if nothing came.
pub fn wait(longest: Option<Duration>) -> bool {
    let seconds = longest.map_or(FOR_EVER, |longest| longest.as_secs_f64());
    // SAFETY: the mode is a constant, and running the current thread's own loop has no other conditions.
    unsafe { CFRunLoopRunInMode(kCFRunLoopDefaultMode, seconds, 1) == kCFRunLoopRunHandledSource }
}

/// A reference to a CoreFoundation object that may be used from any thread.
struct Shared<T>(NonNull<T>);

// SAFETY: run loops and their sources may be signalled, woken, retained and released from any thread; nothing else is
// done with them through this.
unsafe impl<T> Send for Shared<T> {}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: the reference is ours, and given back once.
        unsafe { CFRelease(self.0.as_ptr() as CFTypeRef) };
    }
}

/// What wakes a run loop.
struct Bell {
    source: Shared<c_void>,
    run_loop: Shared<c_void>,
}

impl Bell {
    fn ring(&self) {
        // SAFETY: both live as long as the bell does.
        unsafe {
            CFRunLoopSourceSignal(self.source.0.as_ptr() as CFRunLoopSourceRef);
            CFRunLoopWakeUp(self.run_loop.0.as_ptr() as CFRunLoopRef);
        }
    }
}

/// Letters for a thread with a run loop. Anybody may post; the thread that holds the [`Inbox`] takes them.
pub struct Mailbox<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    letters: VecDeque<T>,
    bell: Option<Bell>,
    closed: bool,
}

impl<T> Mailbox<T> {
    /// An empty one.
    pub fn new() -> Arc<Mailbox<T>> {
        let state = State { letters: VecDeque::new(), bell: None, closed: false };
        Arc::new(Mailbox { state: Mutex::new(state) })
    }

    /// Posts a letter; false if nobody will ever take it.
    pub fn post(&self, letter: T) -> bool {
        let mut state = self.state.lock();
        if state.closed {
            return false;
        }
        state.letters.push_back(letter);
        if let Some(bell) = &state.bell {
            bell.ring();
        }
        true
    }
}

/// The end of a mailbox at which letters are taken. Made and kept on the thread whose loop they are to wake.
pub struct Inbox<T> {
    mailbox: Arc<Mailbox<T>>,
    source: CFRunLoopSourceRef,
}

impl<T> Inbox<T> {
    /// Begins to take letters on this thread. `None` if the system has no source to give.
    pub fn open(mailbox: Arc<Mailbox<T>>) -> Option<Inbox<T>> {
        let mut context = CFRunLoopSourceContext {
            version: 0,
            info: null_mut(),
            retain: None,
            release: None,
            copyDescription: None,
            equal: None,
            hash: None,
            schedule: None,
            cancel: None,
            perform: rung,
        };
        // SAFETY: the context is copied; it points to nothing.
        let source = unsafe { CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &mut context) };
        let owned = Shared(NonNull::new(source.cast::<c_void>())?);
        // SAFETY: source and loop live; the loop is this thread's. It is retained for the bell.
        let run_loop = unsafe {
            CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode);
            CFRetain(CFRunLoopGetCurrent() as CFTypeRef)
        };
        let run_loop = Shared(NonNull::new(run_loop.cast_mut())?);
        let bell = Bell { source: owned, run_loop };
        // What came before there was a bell.
        bell.ring();
        mailbox.state.lock().bell = Some(bell);
        Some(Inbox { mailbox, source })
    }

    /// The next letter, if there is one.
    pub fn take(&self) -> Option<T> {
        self.mailbox.state.lock().letters.pop_front()
    }
}

impl<T> Drop for Inbox<T> {
    fn drop(&mut self) {
        // SAFETY: the bell still holds the source.
        unsafe { CFRunLoopSourceInvalidate(self.source) };
        let mut state = self.mailbox.state.lock();
        state.closed = true;
        state.bell = None;
        let left = std::mem::take(&mut state.letters);
        drop(state);
        // Not while the mailbox is locked: letters may have others to tell of their end.
        drop(left);
    }
}

/// The letters are taken by whoever runs the loop, as soon as it returns.
extern "C" fn rung(_: *const c_void) {}
