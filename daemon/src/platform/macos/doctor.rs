//! What a Mac must allow for its apps to be seen: works whether or not a daemon runs.

use axd_protocol::command::Finding;
use core_foundation::base::TCFType;
use core_foundation::boolean::CFBoolean;
use core_foundation::dictionary::CFDictionary;
use core_foundation::string::CFString;

use super::displays;
use super::ffi::ax::{AXIsProcessTrusted, AXIsProcessTrustedWithOptions, kAXTrustedCheckOptionPrompt};
use super::ffi::cg::CGPreflightScreenCaptureAccess;
use super::secure_input::{SecureInput, secure_input};
use super::windows;

const SETTINGS: &str = "System Settings > Privacy & Security";

/// Looks at the permissions and the screen, and says what is missing and what to do.
pub fn examine() -> Vec<Finding> {
    let mut checks = vec![accessibility(), screen()];
    let (displays, windows) = (displays::list(&[]).len(), windows::on_screen().len());
    checks.push(match displays {
        0 => Finding::missing(
            "display",
            "no display is connected, or nobody is logged in",
            "log in on the Mac itself; axd must run in that session",
        ),
        _ => {
            Finding::ok("display", format!("{} on {}", count(windows, "window"), count(displays, "display")))
        }
    });
    checks.push(keyboard(secure_input()));
    checks
}

fn keyboard(held: Option<SecureInput>) -> Finding {
    let Some(SecureInput { holder }) = held else {
        return Finding::ok("secure input", "off: keys that axd makes arrive");
    };
    let who = holder.map(|pid| format!(", by process {pid} as the system says")).unwrap_or_default();
    Finding::limited(
        "secure input",
        format!(
            "on{who}: a password field has the keyboard, or an app forgot to give it back; keys that axd makes may be swallowed"
        ),
        "leave the password field; if it stays on, end the app that holds it; if that has ended already, log out and in again",
    )
}

fn accessibility() -> Finding {
    match is_trusted() {
        true => Finding::ok("accessibility", format!("{} is allowed", program())),
        false => Finding::missing(
            "accessibility",
            format!("{} is not allowed to use Accessibility", program()),
            format!(
                "turn it on in {SETTINGS} > Accessibility, then restart it with `ax shutdown`. If it is on already, take \
                 it off the list and put it on again: a program that was rebuilt and has no signature of its own is \
                 another one to the system. A daemon that was started from a terminal is judged by that terminal's \
                 permission; one that launchd started by its own"
            ),
        ),
    }
}

fn screen() -> Finding {
    // SAFETY: it takes nothing and only answers.
    match unsafe { CGPreflightScreenCaptureAccess() } {
        true => Finding::ok("screen recording", format!("{} is allowed", program())),
        false => {
            Finding::limited("screen recording", "not allowed: there are no pictures", screen_recording())
        }
    }
}

/// What to do for pictures to be taken.
pub fn screen_recording() -> String {
    format!(
        "turn on {} in {SETTINGS} > Screen & System Audio Recording (Screen Recording before macOS 15), then restart it with `ax shutdown`",
        program()
    )
}

/// Whether we may use the accessibility interface.
pub fn is_trusted() -> bool {
    // SAFETY: it takes nothing and only answers.
    unsafe { AXIsProcessTrusted() }
}

/// Has the system ask the user to allow it. That also puts the program on the list in the settings.
pub fn ask_for_trust() {
    // SAFETY: the key is a constant of the system, and lives for ever.
    let prompt = unsafe { CFString::wrap_under_get_rule(kAXTrustedCheckOptionPrompt) };
    let options = CFDictionary::from_CFType_pairs(&[(prompt, CFBoolean::true_value())]);
    // SAFETY: the dictionary lives, and holds what it should. The answer is the same as without asking.
    let _ = unsafe { AXIsProcessTrustedWithOptions(options.as_concrete_TypeRef()) };
}

/// The program that has to be allowed, as the system knows it: by its real path.
fn program() -> String {
    let path = std::env::current_exe().and_then(std::fs::canonicalize);
    path.map_or_else(|_| "axd".to_owned(), |path| path.display().to_string())
}

fn count(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
