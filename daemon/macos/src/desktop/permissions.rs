//! What the user has to allow: reading and using other apps, and taking pictures.

use axd_protocol::command::Permission;
use core_foundation::base::TCFType;
use core_foundation::boolean::CFBoolean;
use core_foundation::dictionary::CFDictionary;
use core_foundation::string::CFString;

use crate::ffi::ax::{AXIsProcessTrusted, AXIsProcessTrustedWithOptions, kAXTrustedCheckOptionPrompt};
use crate::ffi::cg::{CGPreflightScreenCaptureAccess, CGRequestScreenCaptureAccess};
use axd_platform::{Failure, FailureKind};

const SETTINGS: &str = "System Settings > Privacy & Security";

/// All of them, as they are now. With `request` the system asks the user for those that are missing.
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

/// Reading other apps, acting on them, and mouse and keyboard.
pub fn accessibility() -> Permission {
    let granted = has_accessibility();
    Permission {
        name: "accessibility".to_owned(),
        granted,
        program: program(),
        needed_for: "reading apps and acting on them".to_owned(),
        remedy: (!granted).then(|| {
            format!(
                "turn it on in {SETTINGS} > Accessibility. If it is on already, take it off the list and put it on again: \
                 a program that was rebuilt and has no signature of its own is another one to the system"
            )
        }),
    }
}

/// Taking pictures of the screen.
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

/// Fails unless other apps may be used.
pub fn require_accessibility() -> Result<(), Failure> {
    if has_accessibility() { Ok(()) } else { Err(refusal(&accessibility())) }
}

/// Fails unless pictures may be taken; the first time, the system asks the user.
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

/// What is said of it.
pub fn message(permission: &Permission) -> String {
    let Permission { name, program, .. } = permission;
    let remedy = permission.remedy.as_deref().unwrap_or("it is allowed by now");
    format!("{program} is not allowed {name}: {remedy}")
}

/// Whether we may use the accessibility interface.
fn has_accessibility() -> bool {
    // SAFETY: it takes nothing and only answers.
    unsafe { AXIsProcessTrusted() }
}

/// Whether we may take pictures.
fn has_screen_recording() -> bool {
    // SAFETY: it takes nothing and only answers.
    unsafe { CGPreflightScreenCaptureAccess() }
}

/// Has the system ask the user. That also puts the program on the list in the settings.
pub fn request_accessibility() {
    // SAFETY: the key is a constant of the system, and lives for ever.
    let prompt = unsafe { CFString::wrap_under_get_rule(kAXTrustedCheckOptionPrompt) };
    let options = CFDictionary::from_CFType_pairs(&[(prompt, CFBoolean::true_value())]);
    // SAFETY: the dictionary lives, and holds what it should. The answer is the same as without asking.
    let _ = unsafe { AXIsProcessTrustedWithOptions(options.as_concrete_TypeRef()) };
}

/// The same for pictures; the user's answer counts from the next start on.
fn request_screen_recording() {
    // SAFETY: it takes nothing and only answers.
    let _ = unsafe { CGRequestScreenCaptureAccess() };
}

/// The program that has to be allowed, as the system knows it: by its real path.
fn program() -> String {
    let path = std::env::current_exe().and_then(std::fs::canonicalize);
    path.map_or_else(|_| "axd".to_owned(), |path| path.display().to_string())
}
