//! What the user has to allow: reading and using other apps, and taking pictures.

use axd_protocol::command::Permission;
use core_foundation::base::TCFType;
use core_foundation::boolean::CFBoolean;
use core_foundation::dictionary::CFDictionary;
use core_foundation::string::CFString;

use super::ffi::ax::{AXIsProcessTrusted, AXIsProcessTrustedWithOptions, kAXTrustedCheckOptionPrompt};
use super::ffi::cg::{CGPreflightScreenCaptureAccess, CGRequestScreenCaptureAccess};
use crate::platform::{Failure, FailureKind};

const SETTINGS: &str = "System Settings > Privacy & Security";

/// All of them, as they are now. With `request` the system asks the user for those that are missing.
pub fn all(request: bool) -> Vec<Permission> {
    if request {
        if !may_use_apps() {
            ask_for_apps();
        }
        if !may_take_pictures() {
            ask_for_pictures();
        }
    }
    vec![apps(), pictures()]
}

/// Reading other apps, acting on them, and mouse and keyboard.
pub fn apps() -> Permission {
    let granted = may_use_apps();
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

/// Taking pictures of the screen.
pub fn pictures() -> Permission {
    let granted = may_take_pictures();
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
pub fn require_apps() -> Result<(), Failure> {
    if may_use_apps() { Ok(()) } else { Err(refusal(&apps())) }
}

/// Fails unless pictures may be taken; the first time, the system asks the user.
pub fn require_pictures() -> Result<(), Failure> {
    if may_take_pictures() {
        return Ok(());
    }
    ask_for_pictures();
    Err(refusal(&pictures()))
}

fn refusal(permission: &Permission) -> Failure {
    Failure::new(FailureKind::NotAllowed, text(permission))
}

/// What is said of it.
pub fn text(permission: &Permission) -> String {
    let Permission { name, program, .. } = permission;
    let remedy = permission.remedy.as_deref().unwrap_or("it is granted now");
    format!("{program} lacks the {name} permission: {remedy}")
}

/// Whether we may use the accessibility interface.
fn may_use_apps() -> bool {
    // SAFETY: it takes nothing and only answers.
    unsafe { AXIsProcessTrusted() }
}

/// Whether we may take pictures.
fn may_take_pictures() -> bool {
    // SAFETY: it takes nothing and only answers.
    unsafe { CGPreflightScreenCaptureAccess() }
}

/// Has the system ask the user. That also puts the program on the list in the settings.
pub fn ask_for_apps() {
    // SAFETY: the key is a constant of the system, and lives for ever.
    let prompt = unsafe { CFString::wrap_under_get_rule(kAXTrustedCheckOptionPrompt) };
    let options = CFDictionary::from_CFType_pairs(&[(prompt, CFBoolean::true_value())]);
    // SAFETY: the dictionary lives, and holds what it should. The answer is the same as without asking.
    let _ = unsafe { AXIsProcessTrustedWithOptions(options.as_concrete_TypeRef()) };
}

/// The same for pictures; the user's answer counts from the next start on.
fn ask_for_pictures() {
    // SAFETY: it takes nothing and only answers.
    let _ = unsafe { CGRequestScreenCaptureAccess() };
}

/// The program that has to be allowed, as the system knows it: by its real path.
fn program() -> String {
    let path = std::env::current_exe().and_then(std::fs::canonicalize);
    path.map_or_else(|_| "axd".to_owned(), |path| path.display().to_string())
}
