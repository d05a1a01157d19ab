//! Checks what a Mac must allow for its apps to be read; works whether or not a daemon runs.

use axd_protocol::command::{Finding, Permission};

use super::displays;
use super::permissions;
use super::secure_input::{SecureInput, SecureInputHolder, secure_input};
use super::windows;

/// Checks the permissions, the displays and secure input, and says what to do about what is missing.
pub fn examine() -> Vec<Finding> {
    let mut checks = vec![
        finding(permissions::accessibility(), Finding::missing),
        finding(permissions::screen_recording(), Finding::limited),
    ];
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
    const WHAT: &str = "secure input";
    let Some(SecureInput { holder }) = held else {
        return Finding::ok(WHAT, "off: keys from axd are delivered");
    };
    let by = match holder {
        SecureInputHolder::Ended(pid) => {
            let found =
                format!("on: process {pid} has ended without turning it off; keys from axd may be lost");
            return Finding::limited(WHAT, found, "log out and in again");
        }
        SecureInputHolder::Running(pid) => format!(", by process {pid}"),
        SecureInputHolder::Unknown => String::new(),
    };
    Finding::limited(
        WHAT,
        format!(
            "on{by}: a password field has the keyboard, or an app did not release it; keys from axd may be lost"
        ),
        "leave the password field; if it stays on, quit the app that has it",
    )
}

fn finding(permission: Permission, missing: fn(&str, String, String) -> Finding) -> Finding {
    let Permission { name, program, needed_for, remedy, .. } = permission;
    match remedy {
        None => Finding::ok(&name, format!("{program} has it")),
        Some(remedy) => {
            missing(&name, format!("{program} lacks it; it is required for {needed_for}"), remedy)
        }
    }
}

fn count(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
