//! Advice for who has a command line, in words for who has tools.

/// What axd calls things, and what they are called here; the longer ones first.
const WORDS: &[(&str, &str)] = &[
    ("`ax snapshot --interactive`", "look"),
    ("`ax get TARGET --property actions`", "read"),
    ("`ax close-app --force`", "apps with verb close and force"),
    ("`ax element-at X,Y`", "read with the point as target"),
    ("`ax screenshot --marks`", "picture with marks"),
    ("`ax find --deep`", "find with deep"),
    ("`ax find menuitem`", "find with selector menuitem"),
    ("`ax list-displays`", "list_displays (tools of the set windows)"),
    ("`ax list-windows`", "apps with verb windows"),
    ("`ax focus-window`", "apps with verb focus"),
    ("`ax move-window`", "move_window (tools of the set windows)"),
    ("`ax close-app`", "apps with verb close"),
    ("`ax screenshot`", "picture"),
    ("`ax list-apps`", "apps with verb list"),
    ("`ax snapshot`", "look"),
    ("`ax press enter`", "keys with enter"),
    ("`ax press tab`", "keys with tab"),
    ("`ax wait --for dialog`", "wait with for [\"dialog\"]"),
    ("`ax wait 250`", "wait with idle"),
    ("`ax mouse-up`", "mouse_up"),
    ("`ax key-up`", "key_up"),
    ("`ax status`", "status"),
    ("`ax launch`", "apps with verb launch"),
    ("`ax select`", "act with verb select"),
    ("`ax click`", "act with verb click"),
    ("`ax type`", "write with verb type"),
    ("`ax menu`", "act with verb menu"),
    ("`ax find`", "find"),
    ("increase --deadline-ms or --timeout", "ask for less at a time"),
    ("increase --deadline-ms", "ask for less at a time"),
    ("--timeout-ms", "timeout_ms"),
    ("--value-contains", "value_contains"),
    ("--value-matches", "value_contains"),
    ("--max-nodes", "max_tokens"),
    ("--timeout", "timeout_ms"),
    ("--window", "window"),
    ("--region", "region"),
    ("--target", "target"),
    ("--route", "route"),
    ("--force", "force"),
    ("--state", "state"),
    ("--value", "value"),
    ("--root", "root"),
    ("--app", "app"),
    ("--nth", "nth"),
    ("--for", "for"),
];

/// The advice in words of tools. What only a person can do stays as it is.
pub fn for_agents(advice: &str) -> String {
    WORDS.iter().fold(advice.to_owned(), |said, (from, to)| said.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Commands that agents have as tools.
    const TOOLS: &[&str] = &[
        "snapshot",
        "find",
        "get",
        "list-apps",
        "list-windows",
        "focus-window",
        "close-app",
        "launch",
        "click",
        "select",
        "menu",
        "screenshot",
        "status",
        "press",
    ];

    #[test]
    fn no_advice_of_the_daemon_names_a_command_that_is_a_tool_here() {
        let texts = include_str!("../../tests/golden/error_texts.txt");
        for line in texts.lines().filter(|line| !line.contains("Made by") && !line.contains('{')) {
            let said = for_agents(line);
            for command in said.split("`ax ").skip(1) {
                let name = command.split(['`', ' ']).next().unwrap_or_default();
                assert!(!TOOLS.contains(&name), "{line} becomes {said}");
            }
        }
    }

    #[test]
    fn advice_is_in_words_of_tools() {
        assert_eq!(
            for_agents("check with `ax snapshot`, or increase --timeout-ms"),
            "check with look, or increase timeout_ms"
        );
    }
}
