//! Secure input: while a process has it on, synthetic keys may be lost.
//!
//! A password field turns it on while it is focused. An app that forgets to turn it off leaves it on, even after it has
//! ended. Keys are sent all the same, because they often arrive; the answer carries a warning.

use core_foundation::base::TCFType;
use core_foundation::string::CFString;

use crate::ax::value;
use crate::ffi::cf::{CFDictionaryRef, CFTypeRef};
use crate::ffi::cg::{CGSessionCopyCurrentDictionary, IsSecureEventInputEnabled};

/// The key of the session dictionary with the process that turned it on. No header declares it.
const HOLDER_PID_KEY: &str = "kCGSSessionSecureInputPID";

/// Secure input that is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecureInput {
    /// The process that turned it on, as the system reports it: wrongly for a process in the background.
    pub holder: Option<u32>,
}

impl SecureInput {
    /// The warning for keys that were sent meanwhile.
    pub fn warning(self) -> String {
        let who = self.holder.map_or("an unknown process".to_owned(), |pid| format!("process {pid}"));
        format!(
            "secure input is on: {who} has exclusive use of the keyboard, and keys from programs may be lost; see `ax doctor`"
        )
    }
}

/// Whether secure input is on now.
pub fn secure_input() -> Option<SecureInput> {
    // SAFETY: the function has no preconditions.
    let is_on = unsafe { IsSecureEventInputEnabled() } != 0;
    is_on.then(|| SecureInput { holder: holder() })
}

fn holder() -> Option<u32> {
    // SAFETY: the result is null if nobody is logged in, or an object whose reference is ours.
    let session = unsafe { value::from_owned(CGSessionCopyCurrentDictionary() as CFTypeRef) }?;
    // SAFETY: a session is described by a dictionary, which lives as long as `session`.
    let pid =
        unsafe { value::lookup(session.as_CFTypeRef() as CFDictionaryRef, &CFString::new(HOLDER_PID_KEY)) };
    pid.as_ref().and_then(value::number).map(|pid| pid as u32).filter(|pid| *pid > 0)
}
