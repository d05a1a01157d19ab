//! The built-in rules, which block actions that nobody wants a program to perform.

use crate::policy::{Denied, Intent};

/// The maximum length of a text that is typed or entered at once.
const MAX_TEXT: usize = 10_000;

/// Shortcuts that quit an app, end the session or lock the screen.
const FATEFUL: &[(&str, &str)] = &[
    ("cmd+q", "quits the app"),
    ("alt+f4", "closes the window"),
    ("cmd+alt+escape", "forces apps to quit"),
    ("cmd+shift+q", "logs out"),
    ("cmd+alt+shift+q", "logs out"),
    ("cmd+ctrl+q", "locks the screen"),
    ("cmd+l", "locks the screen"),
    ("ctrl+alt+l", "locks the screen"),
    ("ctrl+alt+delete", "logs out"),
    ("ctrl+alt+forwarddelete", "logs out"),
    ("ctrl+alt+backspace", "ends the session"),
];

/// Processes that the session depends on, or that ask for passwords on its behalf.
const PROTECTED: &[&str] = &[
    "axd",
    "dock",
    "gdm-session-worker",
    "gnome-keyring-daemon",
    "gnome-shell",
    "kernel_task",
    "launchd",
    "lightdm",
    "loginwindow",
    "polkit-agent-helper-1",
    "polkit-gnome-authentication-agent-1",
    "polkit-kde-authentication-agent-1",
    "polkit-mate-authentication-agent-1",
    "sddm",
    "securityagent",
    "systemd",
    "windowserver",
    "xorg",
    "xwayland",
];

type Rule = fn(&Intent<'_>) -> Result<(), Denied>;

/// All rules, in the order they are checked.
pub(super) const RULES: &[Rule] = &[no_fateful_keys, no_protected_app, nobody_elses_app, no_endless_text];

fn no_fateful_keys(intent: &Intent<'_>) -> Result<(), Denied> {
    let Some(keys) = intent.keys else { return Ok(()) };
    let named = |text: &str| text.parse().is_ok_and(|combo: axd_protocol::keys::Combo| combo == *keys);
    match FATEFUL.iter().find(|(combo, _)| named(combo)) {
        Some((_, what)) => Err(Denied {
            rule: "blocked-shortcut",
            why: format!("{keys} {what}"),
            instead: "to quit an app, use `ax close-app`; ending the session is left to the user",
        }),
        None => Ok(()),
    }
}

fn no_protected_app(intent: &Intent<'_>) -> Result<(), Denied> {
    let Some(app) = intent.app else { return Ok(()) };
    let program = app.identity.rsplit(['/', '.']).next().unwrap_or(&app.identity);
    let is_protected =
        |name: &str| PROTECTED.iter().any(|protected| protected.eq_ignore_ascii_case(name.trim()));
    if app.pid == 1 || is_protected(program) || is_protected(&app.name) {
        return Err(Denied {
            rule: "no-protected-app",
            why: format!("{} is protected: the session, or a password, depends on it", app.name),
            instead: "reading it is allowed; acting on it is not",
        });
    }
    Ok(())
}

fn nobody_elses_app(intent: &Intent<'_>) -> Result<(), Denied> {
    match intent.app {
        Some(app) if intent.foreign => Err(Denied {
            rule: "other-users-app",
            why: format!("{} (pid {}) belongs to another user", app.name, app.pid),
            instead: "act on apps of your own user only",
        }),
        _ => Ok(()),
    }
}

fn no_endless_text(intent: &Intent<'_>) -> Result<(), Denied> {
    let length = intent.text.map_or(0, |text| text.chars().count());
    if length > MAX_TEXT {
        return Err(Denied {
            rule: "text-too-long",
            why: format!("the text has {length} characters; at most {MAX_TEXT} are allowed at once"),
            instead: "send it in parts, or put it on the clipboard and paste it",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use axd_platform::RunningApp;

    fn rule(intent: &Intent<'_>) -> Option<&'static str> {
        Policy.check(intent).err().map(|denied| denied.rule)
    }

    #[test]
    fn keys_that_end_the_session_are_denied_however_they_are_spelled() {
        for (keys, denied) in [
            ("cmd+q", true),
            ("Super+Q", true),
            ("control+option+del", true),
            ("ctrl+q", false),
            ("q", false),
            ("cmd+shift+s", false),
        ] {
            let combo = keys.parse().unwrap();
            let intent = Intent { command: "press", keys: Some(&combo), ..Intent::default() };
            assert_eq!(rule(&intent).is_some(), denied, "{keys}");
        }
    }

    #[test]
    fn every_fateful_combination_is_one_that_can_be_pressed() {
        for (combo, _) in FATEFUL {
            assert!(combo.parse::<axd_protocol::keys::Combo>().is_ok(), "{combo}");
        }
    }

    #[test]
    fn what_holds_the_session_together_and_what_is_somebody_elses_is_left_alone() {
        let seen = |pid, name: &str, identity: &str| RunningApp {
            pid,
            name: name.into(),
            identity: identity.into(),
            ..RunningApp::default()
        };
        let shell = seen(77, "GNOME Shell", "/usr/bin/gnome-shell");
        let notes = seen(78, "Notes", "org.example.Notes");
        let on = |app| Intent { command: "click", app: Some(app), ..Intent::default() };
        assert_eq!(rule(&on(&shell)), Some("no-protected-app"));
        assert_eq!(rule(&on(&notes)), None);
        assert_eq!(rule(&Intent { foreign: true, ..on(&notes) }), Some("other-users-app"));
    }

    #[test]
    fn text_has_an_end() {
        let text = "ä".repeat(MAX_TEXT);
        let intent = |text| Intent { command: "type", text: Some(text), ..Intent::default() };
        assert_eq!(rule(&intent(&text)), None);
        let longer = text.clone() + "x";
        assert_eq!(rule(&intent(&longer)), Some("text-too-long"));
    }
}
