//! Secure input: while somebody has the keyboard to itself, keys that programs make may be swallowed.
//!
//! A password field has it while it has the focus, and so has whoever forgot to give it back, even after its end. Keys
//! are sent all the same, since they often arrive; whoever sent them is told if nothing came of it.

use core_foundation::base::TCFType;
use core_foundation::string::CFString;

use super::ffi::cf::{CFDictionaryRef, CFTypeRef};
use super::ffi::cg::{CGSessionCopyCurrentDictionary, IsSecureEventInputEnabled};
use super::value;

/// The entry of the session that names the process. No header has it.
const HOLDER: &str = "kCGSSessionSecureInputPID";

/// Who has the keyboard to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecureInput {
    /// Its process, as far as the system says. It says wrong of a process that took it from the background.
    pub holder: Option<u32>,
}

impl SecureInput {
    /// What to tell of keys that were sent.
    pub fn doubt(self) -> String {
        let who = self.holder.map_or("an unknown process".to_owned(), |pid| format!("process {pid}"));
        format!(
            "secure input is on: {who} has exclusive use of the keyboard, and keys from programs may be lost; see `ax doctor`"
        )
    }
}

/// Whether somebody has the keyboard to itself now.
pub fn secure_input() -> Option<SecureInput> {
    // SAFETY: it takes nothing and only answers.
    let is_on = unsafe { IsSecureEventInputEnabled() } != 0;
    is_on.then(|| SecureInput { holder: holder() })
}

fn holder() -> Option<u32> {
    // SAFETY: what is handed out is ours; nothing is if nobody is logged in.
    let session = unsafe { value::own(CGSessionCopyCurrentDictionary() as CFTypeRef) }?;
    // SAFETY: a session is described by a dictionary, which lives as long as `session`.
    let pid = unsafe { value::lookup(session.as_CFTypeRef() as CFDictionaryRef, &CFString::new(HOLDER)) };
    pid.as_ref().and_then(value::number).map(|pid| pid as u32).filter(|pid| *pid > 0)
}
