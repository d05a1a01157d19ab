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
const NO_TIMEOUT: f64 = 1e9;

/// Runs the current thread's loop until one source was handled, or for that long. False if nothing came.
pub fn wait(timeout: Option<Duration>) -> bool {
    let seconds = timeout.map_or(NO_TIMEOUT, |timeout| timeout.as_secs_f64());
    // SAFETY: the mode is a constant, and running the current thread's own loop has no other conditions.
    unsafe { CFRunLoopRunInMode(kCFRunLoopDefaultMode, seconds, 1) == kCFRunLoopRunHandledSource }
}

/// A reference to a CoreFoundation object that may be used from any thread.
struct ThreadSafeRef<T>(NonNull<T>);

// SAFETY: run loops and their sources may be signalled, woken, retained and released from any thread; nothing else is
// done with them through this.
unsafe impl<T> Send for ThreadSafeRef<T> {}

impl<T> Drop for ThreadSafeRef<T> {
    fn drop(&mut self) {
        // SAFETY: the reference is ours, and given back once.
        unsafe { CFRelease(self.0.as_ptr() as CFTypeRef) };
    }
}

/// What wakes a run loop.
struct LoopWaker {
    source: ThreadSafeRef<c_void>,
    run_loop: ThreadSafeRef<c_void>,
}

impl LoopWaker {
    fn wake(&self) {
        // SAFETY: both live as long as the bell does.
        unsafe {
            CFRunLoopSourceSignal(self.source.0.as_ptr() as CFRunLoopSourceRef);
            CFRunLoopWakeUp(self.run_loop.0.as_ptr() as CFRunLoopRef);
        }
    }
}

/// Letters for a thread with a run loop. Anybody may post; the thread that holds the [`MessageReceiver`] takes them.
pub struct MessageQueue<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    messages: VecDeque<T>,
    waker: Option<LoopWaker>,
    closed: bool,
}

impl<T> MessageQueue<T> {
    /// An empty one.
    pub fn new() -> Arc<MessageQueue<T>> {
        let state = State { messages: VecDeque::new(), waker: None, closed: false };
        Arc::new(MessageQueue { state: Mutex::new(state) })
    }

    /// Posts a letter; false if nobody will ever take it.
    pub fn send(&self, message: T) -> bool {
        let mut state = self.state.lock();
        if state.closed {
            return false;
        }
        state.messages.push_back(message);
        if let Some(waker) = &state.waker {
            waker.wake();
        }
        true
    }
}

/// The end of a mailbox at which letters are taken. Made and kept on the thread whose loop they are to wake.
pub struct MessageReceiver<T> {
    queue: Arc<MessageQueue<T>>,
    source: CFRunLoopSourceRef,
}

impl<T> MessageReceiver<T> {
    /// Begins to take letters on this thread. `None` if the system has no source to give.
    pub fn new(queue: Arc<MessageQueue<T>>) -> Option<MessageReceiver<T>> {
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
            perform: on_signal,
        };
        // SAFETY: the context is copied; it points to nothing.
        let source = unsafe { CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &mut context) };
        let source_ref = ThreadSafeRef(NonNull::new(source.cast::<c_void>())?);
        // SAFETY: source and loop live; the loop is this thread's. It is retained for the bell.
        let run_loop = unsafe {
            CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode);
            CFRetain(CFRunLoopGetCurrent() as CFTypeRef)
        };
        let run_loop = ThreadSafeRef(NonNull::new(run_loop.cast_mut())?);
        let waker = LoopWaker { source: source_ref, run_loop };
        // What came before there was a bell.
        waker.wake();
        queue.state.lock().waker = Some(waker);
        Some(MessageReceiver { queue, source })
    }

    /// The next letter, if there is one.
    pub fn try_recv(&self) -> Option<T> {
        self.queue.state.lock().messages.pop_front()
    }
}

impl<T> Drop for MessageReceiver<T> {
    fn drop(&mut self) {
        // SAFETY: the bell still holds the source.
        unsafe { CFRunLoopSourceInvalidate(self.source) };
        let mut state = self.queue.state.lock();
        state.closed = true;
        state.waker = None;
        let unread = std::mem::take(&mut state.messages);
        drop(state);
        // Not while the mailbox is locked: letters may have others to tell of their end.
        drop(unread);
    }
}

/// The letters are taken by whoever runs the loop, as soon as it returns.
extern "C" fn on_signal(_: *const c_void) {}
