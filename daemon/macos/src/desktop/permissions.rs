//! The permissions that the user has to grant: accessibility and screen recording.
//!
//! What the system says about them is not believed alone: it may keep telling a process what it told it first, say no to a program
//! that may, and yes to one whose entry in the settings is for another build. What counts is whether a call works.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use axd_protocol::command::{Permission, PermissionState};
use core_foundation::base::TCFType;
use core_foundation::boolean::CFBoolean;
use core_foundation::dictionary::CFDictionary;
use core_foundation::string::CFString;

use super::windows;
use crate::ax::element::Element;
use crate::ax::error::AxError;
use crate::ffi::ax::{AXIsProcessTrusted, AXIsProcessTrustedWithOptions, kAXTrustedCheckOptionPrompt};
use crate::ffi::cg::{CGPreflightScreenCaptureAccess, CGRequestScreenCaptureAccess};
use crate::ffi::names as n;
use axd_platform::{Failure, FailureKind};

const SETTINGS: &str = "System Settings > Privacy & Security";
/// How many apps are asked before the system's own word is taken.
const MAX_PROBES: usize = 3;
/// How long an app may take to answer a probe, in seconds.
const PROBE_TIMEOUT: f32 = 0.25;

/// All permissions, as they are now. With `request` the system asks the user for those that are missing.
pub fn all(request: bool) -> Vec<Permission> {
    if request {
        if accessibility_state() != PermissionState::Granted {
            request_accessibility();
        }
        if screen_recording_state() != PermissionState::Granted {
            request_screen_recording();
        }
    }
    vec![accessibility(), screen_recording()]
}

/// The permission to read other apps, act on them, and send input.
pub fn accessibility() -> Permission {
    permission(
        "accessibility",
        accessibility_state(),
        "reading apps and acting on them",
        &format!("{SETTINGS} > Accessibility"),
    )
}

/// The permission to capture the screen.
pub fn screen_recording() -> Permission {
    screen_recording_in(screen_recording_state())
}

/// Whether a call was refused since a probe worked: then the system's word is not taken.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// Remembers that a call was refused for lack of the accessibility permission.
pub fn note_refusal() {
    REFUSED.store(true, Relaxed);
}

/// Fails without the accessibility permission, which sending input needs too: what is sent without it is dropped without a word.
pub fn require_accessibility() -> Result<(), Failure> {
    if is_trusted() && !REFUSED.load(Relaxed) {
        return Ok(());
    }
    match accessibility_state() {
        PermissionState::Granted => {
            REFUSED.store(false, Relaxed);
            Ok(())
        }
        PermissionState::Missing | PermissionState::OtherBuild => Err(refusal(&accessibility())),
    }
}

/// Fails without the screen recording permission, as far as that is known without capturing anything.
pub fn require_screen_recording() -> Result<(), Failure> {
    match screen_recording_state() {
        PermissionState::Granted => Ok(()),
        PermissionState::Missing | PermissionState::OtherBuild => Err(screen_recording_refusal()),
    }
}

/// The failure of a capture that the system refused.
pub fn screen_recording_refusal() -> Failure {
    // If the system says yes and refuses, the entry in the settings is for another build.
    let state = match screen_recording_state() {
        PermissionState::Granted => PermissionState::OtherBuild,
        state => state,
    };
    refusal(&screen_recording_in(state))
}

fn screen_recording_in(state: PermissionState) -> Permission {
    let place = format!("{SETTINGS} > Screen & System Audio Recording (Screen Recording before macOS 15)");
    permission("screen recording", state, "screenshots", &place)
}

fn permission(name: &str, state: PermissionState, needed_for: &str, place: &str) -> Permission {
    let remedy = match state {
        PermissionState::Granted => None,
        PermissionState::Missing => Some(turn_on(place)),
        PermissionState::OtherBuild => Some(readd(place)),
    };
    Permission {
        name: name.to_owned(),
        granted: state == PermissionState::Granted,
        state,
        program: program(),
        needed_for: needed_for.to_owned(),
        remedy,
    }
}

fn turn_on(place: &str) -> String {
    let by_asking = "`ax permissions --request` has macOS ask";
    match program().ends_with(".app") {
        true => format!("turn it on in {place}; {by_asking}"),
        false => format!(
            "turn it on in {place}; {by_asking}. macOS 26 lists only apps there: install axd.app instead of the bare program"
        ),
    }
}

fn readd(place: &str) -> String {
    format!(
        "it is on for another build of it, because macOS treats a rebuilt unsigned program as a new one: remove it in {place}, add it again, then `ax shutdown`"
    )
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
fn accessibility_state() -> PermissionState {
    match (is_trusted(), can_read_apps()) {
        (_, Some(true)) | (true, None) => PermissionState::Granted,
        (true, Some(false)) => PermissionState::OtherBuild,
        (false, Some(false) | None) => PermissionState::Missing,
    }
}

/// Whether the system says that this process may use the accessibility API.
fn is_trusted() -> bool {
    // SAFETY: the function has no preconditions.
    unsafe { AXIsProcessTrusted() }
}

/// Whether another app can be read; `None` if none answers.
fn can_read_apps() -> Option<bool> {
    let own = std::process::id();
    let mut pids: Vec<u32> =
        windows::on_screen().into_iter().chain(windows::overlays()).map(|window| window.pid).collect();
    pids.sort_unstable();
    pids.dedup();
    let others = pids.into_iter().filter(|pid| *pid != own).take(MAX_PROBES);
    others.filter_map(Element::app).find_map(|app| {
        app.set_timeout(PROBE_TIMEOUT);
        match app.get(n::kAXRoleAttribute) {
            Ok(_) => Some(true),
            Err(AxError::NOT_ALLOWED) => Some(false),
            // It is busy, or has just ended.
            Err(_) => None,
        }
    })
}

/// Whether this process may capture the screen. Nothing is captured for it, because that may show the system's dialog.
fn screen_recording_state() -> PermissionState {
    match says_may_capture() || sees_titles() {
        true => PermissionState::Granted,
        false => PermissionState::Missing,
    }
}

/// Whether the system says that this process may capture the screen.
fn says_may_capture() -> bool {
    // SAFETY: the function has no preconditions.
    unsafe { CGPreflightScreenCaptureAccess() }
}

/// Whether the titles of other processes' windows are told, which is part of the same permission.
fn sees_titles() -> bool {
    let own = std::process::id();
    windows::on_screen()
        .iter()
        .any(|window| window.pid != own && window.title.as_deref().is_some_and(|title| !title.is_empty()))
}

/// Has the system ask the user. That also puts the program on the list in the settings.
fn request_accessibility() {
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

/// What needs the permission, by its real path, as the system identifies it: the app, if the program is in one.
fn program() -> String {
    let path = std::env::current_exe().and_then(std::fs::canonicalize);
    path.map_or_else(|_| "axd".to_owned(), |path| enclosing_app(&path).unwrap_or(&path).display().to_string())
}

/// The app whose main program this is.
fn enclosing_app(program: &Path) -> Option<&Path> {
    let programs = program.parent().filter(|folder| folder.ends_with("Contents/MacOS"))?;
    let app = programs.parent()?.parent()?;
    app.extension().is_some_and(|end| end == "app").then_some(app)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_app_is_named_instead_of_the_program_in_it() {
        let app = |path| enclosing_app(Path::new(path)).map(|app| app.display().to_string());
        assert_eq!(app("/Applications/axd.app/Contents/MacOS/axd").as_deref(), Some("/Applications/axd.app"));
        assert_eq!(app("/usr/local/bin/axd"), None);
        assert_eq!(app("/opt/Contents/MacOS/axd"), None);
    }
}
