//! Secure input: while a process has it on, synthetic keys may be lost.
//!
//! A password field turns it on while it is focused. An app that forgets to turn it off leaves it on, even after it has
//! ended. Keys are sent all the same, because they often arrive; the answer carries a warning.

use core_foundation::base::TCFType;
use core_foundation::string::CFString;
use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::ax::value;
use crate::ffi::cf::{CFDictionaryRef, CFTypeRef};
use crate::ffi::cg::{CGSessionCopyCurrentDictionary, IsSecureEventInputEnabled};

/// The key of the session dictionary with the process that turned it on. No header declares it.
const HOLDER_PID_KEY: &str = "kCGSSessionSecureInputPID";

/// Secure input that is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecureInput {
    /// The process that turned it on.
    pub holder: SecureInputHolder,
}

/// The process that turned secure input on, as the system reports it: wrongly for a process in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecureInputHolder {
    /// The system does not say.
    Unknown,
    /// A process that runs.
    Running(u32),
    /// A process that ended without turning it off.
    Ended(u32),
}

impl SecureInput {
    /// The warning for keys that were sent meanwhile.
    pub fn warning(self) -> String {
        const EFFECT: &str = "keys from programs may be lost; see `ax doctor`";
        match self.holder {
            SecureInputHolder::Unknown => {
                format!(
                    "secure input is on: an unknown process has exclusive use of the keyboard, and {EFFECT}"
                )
            }
            SecureInputHolder::Running(pid) => {
                format!("secure input is on: process {pid} has exclusive use of the keyboard, and {EFFECT}")
            }
            SecureInputHolder::Ended(pid) => {
                format!("secure input is on: process {pid} has ended without turning it off, and {EFFECT}")
            }
        }
    }
}

/// Whether secure input is on now.
pub fn secure_input() -> Option<SecureInput> {
    // SAFETY: the function has no preconditions.
    let is_on = unsafe { IsSecureEventInputEnabled() } != 0;
    is_on.then(|| SecureInput { holder: holder() })
}

fn holder() -> SecureInputHolder {
    match holder_pid() {
        None => SecureInputHolder::Unknown,
        Some(pid) if has_ended(pid) => SecureInputHolder::Ended(pid),
        Some(pid) => SecureInputHolder::Running(pid),
    }
}

fn has_ended(pid: u32) -> bool {
    // No signal is sent; only whether one could be is asked.
    i32::try_from(pid).is_ok_and(|pid| kill(Pid::from_raw(pid), None) == Err(Errno::ESRCH))
}

fn holder_pid() -> Option<u32> {
    // SAFETY: the result is null if nobody is logged in, or an object whose reference is ours.
    let session = unsafe { value::from_owned(CGSessionCopyCurrentDictionary() as CFTypeRef) }?;
    // SAFETY: a session is described by a dictionary, which lives as long as `session`.
    let pid =
        unsafe { value::lookup(session.as_CFTypeRef() as CFDictionaryRef, &CFString::new(HOLDER_PID_KEY)) };
    pid.as_ref().and_then(value::number).map(|pid| pid as u32).filter(|pid| *pid > 0)
}
