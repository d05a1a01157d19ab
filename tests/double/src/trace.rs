//! What was asked of the apps, for tests that say what must not be asked.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::ax::Id;
use crate::faults::Call;

/// Something that was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// How.
    pub call: Call,
    /// Of which app.
    pub pid: u32,
    /// Of which element.
    pub element: Id,
    /// Of which widget, if it has an identifier.
    pub widget: Option<String>,
    /// For which attribute, action or notification.
    pub name: String,
}

/// What was asked.
#[derive(Debug, Default)]
pub struct Trace {
    on: AtomicBool,
    asked: Mutex<Vec<Asked>>,
    secrets: AtomicU64,
    elements: AtomicU64,
    calls: AtomicU64,
}

impl Trace {
    /// Writes down from now on what is asked, and forgets what was.
    pub fn begin(&self) {
        self.asked.lock().clear();
        self.on.store(true, Ordering::Release);
    }

    /// What was asked since, in order; nothing is written down any more.
    pub fn end(&self) -> Vec<Asked> {
        self.on.store(false, Ordering::Release);
        std::mem::take(&mut *self.asked.lock())
    }

    /// How often the value of a secure field was asked for, ever.
    pub fn secrets(&self) -> u64 {
        self.secrets.load(Ordering::Acquire)
    }

    /// How many elements were handed out, ever.
    pub fn elements(&self) -> u64 {
        self.elements.load(Ordering::Acquire)
    }

    /// How many messages were sent to apps, ever.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Acquire)
    }

    pub(crate) fn note(&self, asked: impl FnOnce() -> Asked) {
        if self.on.load(Ordering::Acquire) {
            self.asked.lock().push(asked());
        }
    }

    pub(crate) fn note_secret(&self) {
        self.secrets.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn note_elements(&self, count: usize) {
        self.elements.fetch_add(count as u64, Ordering::AcqRel);
    }

    pub(crate) fn note_call(&self) {
        self.calls.fetch_add(1, Ordering::AcqRel);
    }
}
