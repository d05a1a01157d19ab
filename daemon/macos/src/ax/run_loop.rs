//! A thread's run loop, and a message queue that wakes it.

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

/// What a run loop takes as "no timeout", in seconds.
const NO_TIMEOUT: f64 = 1e9;

/// Runs the current thread's loop until one source was handled, or until the timeout. False if no source was.
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
        // SAFETY: the reference is ours, and released once.
        unsafe { CFRelease(self.0.as_ptr() as CFTypeRef) };
    }
}

/// Wakes a run loop from any thread.
struct LoopWaker {
    source: ThreadSafeRef<c_void>,
    run_loop: ThreadSafeRef<c_void>,
}

impl LoopWaker {
    fn wake(&self) {
        // SAFETY: both live as long as the waker does.
        unsafe {
            CFRunLoopSourceSignal(self.source.0.as_ptr() as CFRunLoopSourceRef);
            CFRunLoopWakeUp(self.run_loop.0.as_ptr() as CFRunLoopRef);
        }
    }
}

/// Messages to a thread with a run loop. Any thread may send; the one that owns the [`MessageReceiver`] receives.
pub struct MessageQueue<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    messages: VecDeque<T>,
    waker: Option<LoopWaker>,
    closed: bool,
}

impl<T> MessageQueue<T> {
    /// An empty queue.
    pub fn new() -> Arc<MessageQueue<T>> {
        let state = State { messages: VecDeque::new(), waker: None, closed: false };
        Arc::new(MessageQueue { state: Mutex::new(state) })
    }

    /// Sends a message; false if the receiver is gone.
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

/// The receiving end of a queue. It is made and stays on the thread whose run loop the messages wake.
pub struct MessageReceiver<T> {
    queue: Arc<MessageQueue<T>>,
    source: CFRunLoopSourceRef,
}

impl<T> MessageReceiver<T> {
    /// Receives on this thread. `None` if the system refuses a run loop source.
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
        // SAFETY: the context is copied, and its info pointer is unused.
        let source = unsafe { CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &mut context) };
        let source_ref = ThreadSafeRef(NonNull::new(source.cast::<c_void>())?);
        // SAFETY: source and loop live; the loop is this thread's. It is retained for the waker.
        let run_loop = unsafe {
            CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode);
            CFRetain(CFRunLoopGetCurrent() as CFTypeRef)
        };
        let run_loop = ThreadSafeRef(NonNull::new(run_loop.cast_mut())?);
        let waker = LoopWaker { source: source_ref, run_loop };
        // Messages may have been sent before there was a waker.
        waker.wake();
        queue.state.lock().waker = Some(waker);
        Some(MessageReceiver { queue, source })
    }

    /// The next message, if there is one.
    pub fn try_recv(&self) -> Option<T> {
        self.queue.state.lock().messages.pop_front()
    }
}

impl<T> Drop for MessageReceiver<T> {
    fn drop(&mut self) {
        // SAFETY: the waker still holds the source.
        unsafe { CFRunLoopSourceInvalidate(self.source) };
        let mut state = self.queue.state.lock();
        state.closed = true;
        state.waker = None;
        let unread = std::mem::take(&mut state.messages);
        drop(state);
        // The queue must not be locked here: a message may notify others when it is dropped.
        drop(unread);
    }
}

/// Does nothing: that the source was handled makes the loop return, and then the thread receives.
extern "C" fn on_signal(_: *const c_void) {}
