//! What an app is started with so that it can be seen: its environment, and the options that browsers need. Pure.

use std::path::Path;

/// What is axd's own business, or would turn accessibility off; not handed on.
pub(super) const KEPT_BACK: [&str; 12] = [
    "AXD_BIN",
    "GTK_A11Y",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "LISTEN_FDNAMES",
    "LISTEN_FDS",
    "LISTEN_PID",
    "NOTIFY_SOCKET",
    "NO_AT_BRIDGE",
    "SYSTEMD_EXEC_PID",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
];

/// Qt builds its tree whether or not accessibility was on when it started.
pub(super) const ALWAYS: (&str, &str) = ("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1");

/// Makes Chromium, and what is made of it, show its pages without being asked first.
const FORCED: &str = "--force-renderer-accessibility";

/// Adds the options that a program needs on its command line.
pub(super) fn add_options(program: &Path, line: &mut Vec<String>) {
    let has_option = line.iter().any(|word| word.starts_with(FORCED));
    if !has_option && is_chromium(program) {
        line.insert(1.min(line.len()), FORCED.to_owned());
    }
}

/// Whether a program is Chromium, or is known to be made of it.
fn is_chromium(program: &Path) -> bool {
    const KNOWN: [&str; 21] = [
        "brave",
        "brave-browser",
        "chrome",
        "chromium",
        "chromium-browser",
        "code",
        "code-insiders",
        "codium",
        "discord",
        "electron",
        "element-desktop",
        "google-chrome",
        "google-chrome-stable",
        "microsoft-edge",
        "microsoft-edge-stable",
        "obsidian",
        "opera",
        "signal-desktop",
        "slack",
        "vivaldi",
        "vivaldi-stable",
    ];
    let name = program.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    // Electron is often installed with its version in its name.
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    KNOWN.binary_search(&plain).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_option(program: &str, words: &[&str]) -> Vec<String> {
        let mut line = words.iter().map(|word| (*word).to_owned()).collect();
        add_options(Path::new(program), &mut line);
        line
    }

    #[test]
    fn browsers_get_the_option_to_show_their_pages_and_others_none() {
        assert_eq!(has_option("/usr/bin/chromium", &["chromium", "a"]), ["chromium", FORCED, "a"]);
        assert_eq!(has_option("/usr/bin/electron28", &["electron28"]), ["electron28", FORCED]);
        let own = ["code", "--force-renderer-accessibility=complete"];
        assert_eq!(has_option("/usr/bin/code", &own), own);
        assert_eq!(has_option("/usr/bin/mousepad", &["mousepad"]), ["mousepad"]);
    }
}
