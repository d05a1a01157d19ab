//! The permissions that the user has to grant: accessibility and screen recording.

use axd_protocol::command::Permission;
use core_foundation::base::TCFType;
use core_foundation::boolean::CFBoolean;
use core_foundation::dictionary::CFDictionary;
use core_foundation::string::CFString;

use crate::ffi::ax::{AXIsProcessTrusted, AXIsProcessTrustedWithOptions, kAXTrustedCheckOptionPrompt};
use crate::ffi::cg::{CGPreflightScreenCaptureAccess, CGRequestScreenCaptureAccess};
use axd_platform::{Failure, FailureKind};

const SETTINGS: &str = "System Settings > Privacy & Security";

/// All permissions, as they are now. With `request` the system asks the user for those that are missing.
pub fn all(request: bool) -> Vec<Permission> {
    if request {
        if !has_accessibility() {
            request_accessibility();
        }
        if !has_screen_recording() {
            request_screen_recording();
        }
    }
    vec![accessibility(), screen_recording()]
}

/// The permission to read other apps, act on them, and send input.
pub fn accessibility() -> Permission {
    let granted = has_accessibility();
    Permission {
        name: "accessibility".to_owned(),
        granted,
        program: program(),
        needed_for: "reading apps and acting on them".to_owned(),
        remedy: (!granted).then(|| {
            format!(
                "turn it on in {SETTINGS} > Accessibility. If it is already on, remove it from the list and add it again, because macOS treats a rebuilt unsigned program as a new one"
            )
        }),
    }
}

/// The permission to capture the screen.
pub fn screen_recording() -> Permission {
    let granted = has_screen_recording();
    Permission {
        name: "screen recording".to_owned(),
        granted,
        program: program(),
        needed_for: "screenshots".to_owned(),
        remedy: (!granted).then(|| {
            format!(
                "turn it on in {SETTINGS} > Screen & System Audio Recording (Screen Recording before macOS 15), then \
                 restart axd with `ax shutdown`"
            )
        }),
    }
}

/// Fails without the accessibility permission.
pub fn require_accessibility() -> Result<(), Failure> {
    if has_accessibility() { Ok(()) } else { Err(refusal(&accessibility())) }
}

/// Fails without the screen recording permission; the first time, the system asks the user.
pub fn require_screen_recording() -> Result<(), Failure> {
    if has_screen_recording() {
        return Ok(());
    }
    request_screen_recording();
    Err(refusal(&screen_recording()))
}

fn refusal(permission: &Permission) -> Failure {
    Failure::new(FailureKind::NotAllowed, message(permission))
}

/// A message about a missing permission, with what to do.
pub fn message(permission: &Permission) -> String {
    let Permission { name, program, .. } = permission;
    let remedy = permission.remedy.as_deref().unwrap_or("it is granted now");
    format!("{program} lacks the {name} permission: {remedy}")
}

/// Whether this process may use the accessibility API.
fn has_accessibility() -> bool {
    // SAFETY: the function has no preconditions.
    unsafe { AXIsProcessTrusted() }
}

/// Whether this process may capture the screen.
fn has_screen_recording() -> bool {
    // SAFETY: the function has no preconditions.
    unsafe { CGPreflightScreenCaptureAccess() }
}

/// Has the system ask the user. That also puts the program on the list in the settings.
pub fn request_accessibility() {
    // SAFETY: the key is a constant of the system.
    let prompt = unsafe { CFString::wrap_under_get_rule(kAXTrustedCheckOptionPrompt) };
    let options = CFDictionary::from_CFType_pairs(&[(prompt, CFBoolean::true_value())]);
    // SAFETY: the dictionary lives, and has a boolean under the key. The result is the same as without the prompt.
    let _ = unsafe { AXIsProcessTrustedWithOptions(options.as_concrete_TypeRef()) };
}

/// Has the system ask the user for screen recording. What the user grants takes effect at the next start.
fn request_screen_recording() {
    // SAFETY: the function has no preconditions.
    let _ = unsafe { CGRequestScreenCaptureAccess() };
}

/// The program that needs the permission, by its real path, as the system identifies it.
fn program() -> String {
    let path = std::env::current_exe().and_then(std::fs::canonicalize);
    path.map_or_else(|_| "axd".to_owned(), |path| path.display().to_string())
}
