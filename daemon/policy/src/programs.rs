//! Programs that the session depends on, or that ask for passwords on its behalf.

use crate::question::AppFacts;
use axd_protocol::pattern::{Folded, Pattern};

/// Names of protected programs and apps, as patterns.
const PROTECTED: &[&str] = &[
    // The session, the desktop and its displays.
    "axd",
    "budgie-panel",
    "budgie-wm",
    "cinnamon",
    "cinnamon-session*",
    "dde-session*",
    "dock",
    "gnome-session*",
    "gnome-shell",
    "hyprland",
    "kernel_task",
    "ksmserver*",
    "kwin_*",
    "labwc",
    "launchd",
    "loginwindow",
    "lxqt-leave",
    "lxqt-session",
    "lxsession*",
    "mate-session*",
    "muffin",
    "mutter",
    "niri",
    "plasma_session",
    "plasmashell",
    "startplasma-*",
    "sway",
    "systemd",
    "systemuiserver",
    "ukui-session*",
    "weston",
    "windowserver",
    "wlogout",
    "xfce4-session*",
    "xorg",
    "xwayland",
    // Who lets users in.
    "*-greeter",
    "gdm*",
    "greetd",
    "gtkgreet",
    "lightdm*",
    "lxdm*",
    "nwg-hello",
    "regreet",
    "sddm*",
    "xdm",
    // Who asks for passwords, and for permissions that only a person should give.
    "*askpass*",
    "*policykit*",
    "*polkit*",
    "authorizationhost",
    "beesu",
    "coreautha",
    "coreauthd",
    "coreservicesuiagent",
    "gcr*-prompter",
    "gcr-prompter",
    "gksu*",
    "gnome-keyring*",
    "kdesu*",
    "kwalletd*",
    "kwalletmanager*",
    "localauthentication*",
    "lxqt-sudo",
    "lxsu",
    "lxsudo",
    "pinentry*",
    "pkexec",
    "seahorse*",
    "securityagent",
    "universalaccessauthwarn",
    "usernotificationcenter",
    // Password managers.
    "1password*",
    "authpass*",
    "bitwarden*",
    "buttercup*",
    "dashlane*",
    "enpass*",
    "gnome-passwordsafe",
    "gnome-secrets",
    "goldwarden*",
    "keepass*",
    "keeper password manager",
    "keeperpasswordmanager",
    "keychain access",
    "keychainaccess",
    "lastpass*",
    "macpass*",
    "nordpass*",
    "padloc*",
    "passbolt*",
    "password-gorilla",
    "passwords",
    "passwords and keys",
    "passwordsafe*",
    "proton pass*",
    "proton-pass*",
    "protonpass*",
    "pwsafe*",
    "qtpass",
    "revelation",
    "roboform*",
    "secrets",
    "strongbox*",
    // Screen lockers.
    "*-screensaver*",
    "dde-lock",
    "deepin-lock*",
    "gtklock*",
    "hyprlock*",
    "i3lock*",
    "kscreenlocker*",
    "light-locker*",
    "physlock",
    "screensaverengine",
    "sflock",
    "slimlock",
    "slock",
    "swaylock*",
    "vlock",
    "waylock",
    "xlock*",
    "xscreensaver*",
    "xsecurelock*",
    "xtrlock",
];

/// Endings of files that are run, which are no part of a program's name.
const EXTENSIONS: &[&str] = &[
    "app", "appimage", "bash", "bin", "exe", "jar", "js", "lua", "mjs", "php", "pl", "py", "pyc", "rb", "sh",
    "tcl",
];

/// Which programs are protected: the list above, with what the file adds and takes off.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Programs {
    builtin: Vec<Pattern>,
    /// What the file adds.
    pub protected: Vec<Pattern>,
    /// What the file takes off the built-in list.
    pub unprotected: Vec<Pattern>,
}

impl Programs {
    /// The built-in list.
    pub fn builtin() -> Programs {
        let builtin = PROTECTED.iter().map(|name| Pattern::new(name)).collect();
        Programs { builtin, protected: Vec::new(), unprotected: Vec::new() }
    }

    /// The built-in list.
    pub fn list(&self) -> &[Pattern] {
        &self.builtin
    }

    /// Whether the built-in list has a program of this name.
    pub fn is_builtin(&self, name: &str) -> bool {
        self.builtin.iter().any(|pattern| pattern.matches(name))
    }

    /// Whether an app is protected: by what its process runs, by its identity, or by its name.
    pub fn protect(&self, app: &AppFacts<'_>) -> bool {
        if app.pid == 1 {
            return true;
        }
        let names: Vec<Folded> = names_of(app).iter().map(|name| Folded::new(name)).collect();
        let is_any = |patterns: &[Pattern]| {
            patterns.iter().any(|pattern| match pattern.is_path() {
                true => app.programs.iter().any(|path| pattern.matches(path)),
                false => names.iter().any(|name| pattern.matches_folded(name)),
            })
        };
        is_any(&self.protected) || (is_any(&self.builtin) && !is_any(&self.unprotected))
    }
}

/// All names under which a pattern may know an app.
fn names_of(app: &AppFacts<'_>) -> Vec<String> {
    let mut names = spellings_of_path(app.name);
    names.extend(spellings(app.identity));
    names.extend(app.programs.iter().flat_map(|program| spellings_of_path(program)));
    names
}

/// What an identity is called: as a path, and the last part of a name such as `org.example.Notes`.
pub(crate) fn spellings(identity: &str) -> Vec<String> {
    let mut spellings = spellings_of_path(identity);
    if let Some((_, last)) = identity.rsplit_once(['.', '/'])
        && !last.is_empty()
    {
        spellings.push(last.to_owned());
    }
    spellings
}

/// What a program is called: the last part of its path, with and without an ending such as `.py`, and without what packagers put
/// around it (`.gnome-shell-wrapped`).
pub(crate) fn spellings_of_path(path: &str) -> Vec<String> {
    // So the kernel names an executable that was replaced while it runs.
    let path = path.strip_suffix(" (deleted)").unwrap_or(path).trim_end_matches('/');
    let base = path.rsplit('/').next().unwrap_or(path).trim();
    let mut spellings = vec![base.to_owned()];
    if let Some((stem, extension)) = base.rsplit_once('.')
        && !stem.is_empty()
        && EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(extension))
    {
        spellings.push(stem.to_owned());
    }
    if let Some(wrapped) = base.strip_suffix("-wrapped") {
        spellings.push(wrapped.trim_start_matches('.').to_owned());
    }
    spellings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protects(name: &str, identity: &str, programs: &[&str]) -> bool {
        let programs: Vec<String> = programs.iter().map(|program| (*program).to_owned()).collect();
        Programs::builtin().protect(&AppFacts {
            pid: 77,
            name,
            identity,
            programs: &programs,
            is_foreign: false,
        })
    }

    #[test]
    fn a_program_is_known_by_its_executable_its_script_its_identity_and_its_name() {
        assert!(protects("x", "x", &["/usr/bin/pinentry-gtk-2"]));
        assert!(protects("x", "x", &["/usr/bin/python3.11", "/home/a/polkit-agent.py"]));
        assert!(protects("x", "org.keepassxc.KeePassXC", &[]));
        assert!(protects("GNOME-Keyring prompt", "x", &[]));
        assert!(protects("x", "x", &["/usr/bin/slock (deleted)"]));
        assert!(protects("x", "x", &["/nix/store/1/bin/.gnome-shell-wrapped"]));
        assert!(!protects("Notes", "org.example.Notes", &["/usr/bin/python3", "/usr/bin/notes.py"]));
        assert!(!protects("Text Editor", "/usr/bin/mousepad", &["/usr/bin/mousepad"]));
    }

    #[test]
    fn what_asks_for_passwords_and_holds_sessions_on_known_desktops_is_protected() {
        for program in [
            "gcr-prompter",
            "gcr4-ssh-askpass",
            "ssh-askpass",
            "x11-ssh-askpass",
            "ksshaskpass",
            "git-gui--askpass",
            "lxqt-policykit-agent",
            "xfce-polkit",
            "polkit-gnome-authentication-agent-1",
            "polkit-kde-authentication-agent-1",
            "pinentry-qt",
            "keepassxc",
            "kscreenlocker_greet",
            "plasmashell",
            "xfce4-session",
            "cinnamon-screensaver",
            "sddm-greeter-qt6",
            "lightdm-gtk-greeter",
            "gnome-session-binary",
            "SecurityAgent",
            "loginwindow",
            "Dock",
            "1Password 7",
        ] {
            assert!(protects("x", "x", &[&format!("/usr/libexec/{program}")]), "{program}");
        }
    }

    #[test]
    fn the_file_adds_programs_and_takes_others_off_but_never_the_first_process() {
        let mut programs = Programs::builtin();
        programs.protected = vec![Pattern::new("/opt/bank/*"), Pattern::new("notes")];
        programs.unprotected = vec![Pattern::new("seahorse")];
        let paths = ["/opt/bank/bin/run".to_owned()];
        let app = |pid, name, programs| AppFacts { pid, name, identity: name, programs, is_foreign: false };
        assert!(programs.protect(&app(7, "run", &paths)) && programs.protect(&app(7, "Notes", &[])));
        let seahorse = ["/usr/bin/seahorse".to_owned()];
        assert!(!programs.protect(&app(7, "Passwords and Keys", &seahorse)));
        assert!(programs.protect(&app(7, "Passwords and Keys", &[])));
        assert!(programs.protect(&app(1, "seahorse", &seahorse)));
    }

    #[test]
    fn no_program_is_in_the_list_twice() {
        let mut seen = std::collections::BTreeSet::new();
        assert!(PROTECTED.iter().all(|name| seen.insert(name) && **name == name.to_lowercase()));
    }
}
