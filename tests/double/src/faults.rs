//! Fault injection: any call about any element can be answered with any error, a number of times. A call that acts is
//! carried out all the same, because that is what apps do: AppKit answers an error to an AXPress that it has performed.

use parking_lot::Mutex;

use crate::ax::Error;

/// A kind of call to an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Call {
    Names,
    Read,
    ReadMany,
    Count,
    Settable,
    Set,
    ActionNames,
    Perform,
    Parameterized,
    At,
    AddNotification,
    RemoveNotification,
    Window,
}

/// An error to inject, and into which calls.
#[derive(Debug, Clone, Default)]
pub struct Fault {
    /// The kind of call; any if `None`. An attribute that is read among many counts as `Read` too: then the error is
    /// in its place.
    pub call: Option<Call>,
    /// The app.
    pub pid: Option<u32>,
    /// The widget, by its identifier.
    pub widget: Option<String>,
    /// The attribute, action or notification.
    pub name: Option<String>,
    /// The error that is answered.
    pub error: Option<Error>,
    /// How often; always if `None`.
    pub times: Option<u32>,
    /// Whether the element is removed at that moment.
    pub kills: bool,
    /// Whether a call that acts has no effect, as the error says. By default it takes effect first.
    pub instead: bool,
}

/// The faults that are injected now.
#[derive(Debug, Default)]
pub struct Faults(Mutex<Vec<Fault>>);

impl Faults {
    /// Injects a fault from now on.
    pub fn add(&self, fault: Fault) {
        self.0.lock().push(fault);
    }

    /// Removes all faults.
    pub fn clear(&self) {
        self.0.lock().clear();
    }

    /// The fault for a call, if there is one. It counts as used.
    pub(crate) fn take(&self, call: Call, pid: u32, widget: Option<&str>, name: &str) -> Option<Fault> {
        let mut faults = self.0.lock();
        let fits = |fault: &Fault| {
            fault.call.is_none_or(|other| other == call)
                && fault.pid.is_none_or(|other| other == pid)
                && fault.widget.as_deref().is_none_or(|other| Some(other) == widget)
                && fault.name.as_deref().is_none_or(|other| other == name)
                && fault.times != Some(0)
        };
        let found = faults.iter_mut().find(|fault| fits(fault))?;
        if let Some(times) = &mut found.times {
            *times -= 1;
        }
        Some(found.clone())
    }
}
