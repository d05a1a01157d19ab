//! A trace of the calls to apps, for tests that check which calls are made.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::ax::Id;
use crate::faults::Call;

/// A call to an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedCall {
    /// The kind of call.
    pub call: Call,
    /// The app.
    pub pid: u32,
    /// The element.
    pub element: Id,
    /// The widget's identifier, if it has one.
    pub widget: Option<String>,
    /// The attribute, action or notification.
    pub name: String,
}

/// The calls to apps, and how many there were.
#[derive(Debug, Default)]
pub struct Trace {
    on: AtomicBool,
    asked: Mutex<Vec<TracedCall>>,
    secure_reads: AtomicU64,
    elements: AtomicU64,
    calls: AtomicU64,
    menus_built: AtomicU64,
}

impl Trace {
    /// Starts a new trace.
    pub fn begin(&self) {
        self.asked.lock().clear();
        self.on.store(true, Ordering::Release);
    }

    /// Ends the trace, and returns its calls in order.
    pub fn end(&self) -> Vec<TracedCall> {
        self.on.store(false, Ordering::Release);
        std::mem::take(&mut *self.asked.lock())
    }

    /// How often the value of a secure field was read since the start.
    pub fn secure_reads(&self) -> u64 {
        self.secure_reads.load(Ordering::Acquire)
    }

    /// How many elements were returned since the start.
    pub fn elements(&self) -> u64 {
        self.elements.load(Ordering::Acquire)
    }

    /// How many messages were sent to apps since the start.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Acquire)
    }

    /// How often an app had to build the items of a closed menu since the start, because they were asked for.
    pub fn menus_built(&self) -> u64 {
        self.menus_built.load(Ordering::Acquire)
    }

    pub(crate) fn record_menu_built(&self) {
        self.menus_built.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn record(&self, asked: impl FnOnce() -> TracedCall) {
        if self.on.load(Ordering::Acquire) {
            self.asked.lock().push(asked());
        }
    }

    pub(crate) fn record_secure_read(&self) {
        self.secure_reads.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn record_elements(&self, count: usize) {
        self.elements.fetch_add(count as u64, Ordering::AcqRel);
    }

    pub(crate) fn record_call(&self) {
        self.calls.fetch_add(1, Ordering::AcqRel);
    }
}
