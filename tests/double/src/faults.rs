//! What goes wrong on request: any call about any element can be answered with any error, so many times.

use parking_lot::Mutex;

use crate::ax::Error;

/// What is asked of an app.
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

/// Something that goes wrong.
#[derive(Debug, Clone, Default)]
pub struct Fault {
    /// In which call; any if not said. An attribute that is read among many counts as `Read` too: then the error is
    /// in its place.
    pub call: Option<Call>,
    /// Of which app.
    pub pid: Option<u32>,
    /// Of which widget, by its identifier.
    pub widget: Option<String>,
    /// Of which attribute, action or notification.
    pub name: Option<String>,
    /// What is answered.
    pub error: Option<Error>,
    /// How often; always if not said.
    pub times: Option<u32>,
    /// Whether the element ends at that moment.
    pub kills: bool,
}

/// All that goes wrong now.
#[derive(Debug, Default)]
pub struct Faults(Mutex<Vec<Fault>>);

impl Faults {
    /// Lets something go wrong from now on.
    pub fn add(&self, fault: Fault) {
        self.0.lock().push(fault);
    }

    /// Nothing goes wrong any more.
    pub fn heal(&self) {
        self.0.lock().clear();
    }

    /// What goes wrong with a call, if anything: it counts as having happened.
    pub(crate) fn strike(&self, call: Call, pid: u32, widget: Option<&str>, name: &str) -> Option<Fault> {
        let mut faults = self.0.lock();
        let fits = |fault: &Fault| {
            fault.call.is_none_or(|other| other == call)
                && fault.pid.is_none_or(|other| other == pid)
                && fault.widget.as_deref().is_none_or(|other| Some(other) == widget)
                && fault.name.as_deref().is_none_or(|other| other == name)
                && fault.times != Some(0)
        };
        let struck = faults.iter_mut().find(|fault| fits(fault))?;
        if let Some(times) = &mut struck.times {
            *times -= 1;
        }
        Some(struck.clone())
    }
}
