use super::*;

/// The errors of a file, each as it is told.
fn errors(text: &str) -> Vec<String> {
    parse(text).err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

/// The only error of a file.
fn error(text: &str) -> String {
    match errors(text).as_slice() {
        [only] => only.clone(),
        several => panic!("{text}: {several:?}"),
    }
}

#[test]
fn an_empty_file_is_the_built_in_rules() {
    assert_eq!(parse(""), Ok(Policy::builtin()));
    assert_eq!(parse("# nothing\n\n[windows]\n[keys]\n"), Ok(Policy::builtin()));
}

#[test]
fn every_error_is_told_with_its_line_in_the_order_of_the_file() {
    let text = "default = \"maybe\"\nmode = 3\n\n[limits]\ntext_chars = -1\nactions_per_minit = 5\n\n[[rule]]\nname = \"a\"\n";
    let expected = [
        "line 1: `default` must be \"allow\" or \"ask\" or \"deny\", not \"maybe\"",
        "line 2: `mode` must be a text in quotes, not integer",
        "line 5: `text_chars` must be a whole number from 0 to 1048576",
        "line 6: `actions_per_minit` means nothing in [limits]; did you mean actions_per_minute?",
        "line 8: the rule has no `verdict`; it must be \"allow\", \"ask\" or \"deny\"",
    ];
    assert_eq!(errors(text), expected);
}

#[test]
fn what_is_no_toml_is_an_error_of_its_line() {
    assert!(error("default = \"deny\"\n[windows\n").starts_with("line 2: "));
    assert!(error("default = \"deny\"\ndefault = \"allow\"").contains("duplicate key"));
    assert!(!errors("\u{0}").is_empty());
}

#[test]
fn a_word_that_means_nothing_is_told_with_what_was_meant() {
    assert!(error("defualt = \"deny\"").contains("`defualt` means nothing here; did you mean default?"));
    assert!(error("unknown-apps = \"deny\"").contains("did you mean unknown_apps?"));
    assert!(error("[windows]\nblock = []").contains("did you mean blocked?"));
    assert!(
        error("[[rule]]\nverdict = \"deny\"\ncolour = 1")
            .contains("`colour` means nothing in [rule]; there are name")
    );
    assert!(error("[profile.thuvu]\nenable = true").contains("did you mean enabled?"));
    assert!(error("[profile.strobe]").contains("there are thuvu"));
    let rule = |line: &str| error(&format!("[[rule]]\nverdict = \"deny\"\n{line}"));
    assert!(
        rule("commands = [\"clik\"]").contains("line 3: there is no command 'clik'; did you mean click?")
    );
    assert!(rule("commands = [\"@acts\"]\nroles = [\"buton\"]").contains("did you mean button?"));
    assert!(rule("commands = [\"@acts\"]\nstates = [\"secret\"]").contains("did you mean secure?"));
    assert!(
        rule("keys = [\"strg+c\"]").contains("\"strg+c\" is no combination of keys: unknown modifier 'strg'")
    );
}

#[test]
fn a_value_of_another_kind_is_told_with_the_kind_that_it_must_have() {
    assert!(error("windows = []").contains("must be a table; write [windows]"));
    assert!(error("[windows]\nblocked = \"Bank\"").contains("must be a list of texts, as in"));
    assert!(error("[windows]\nblocked = [\"Bank\", 1]").contains("not integer"));
    assert!(error("[audit]\nrequired = \"yes\"").contains("must be true or false"));
    assert!(error("[ask]\ntimeout_s = 0").contains("a whole number from 1 to 3600"));
    assert!(error("[ask]\ntimeout_s = 1.5").contains("not float"));
    assert!(error("[rule]\nverdict = \"deny\"").contains("write [[rule]]"));
    assert!(error("[windows]\nblocked = [\" \"]").contains("empty text"));
    assert!(error("[profile.thuvu]\nlog_file = \"ui.log\"").contains("a path from / on"));
}

#[test]
fn numbers_are_read_however_toml_writes_them() {
    let policy =
        parse("[limits]\ntext_chars = 0x1_0\ncaptures_per_minute = 1_000\nactions_per_minute = 0").unwrap();
    assert_eq!(policy.limits.text_chars, 16);
    assert_eq!(policy.limits.captures_per_minute, Some(1_000));
    assert_eq!(policy.limits.actions_per_minute, Some(0));
}

#[test]
fn a_rule_that_cannot_do_what_it_says_is_an_error() {
    let rule = |lines: &str| error(&format!("[[rule]]\n{lines}"));
    for (lines, expected) in [
        ("verdict = \"deny\"\napps = []", "line 3: `apps` is empty"),
        ("verdict = \"deny\"\ncommands = []", "line 3: `commands` is empty"),
        ("verdict = \"deny\"\ncommands = [\"status\"]", "\"status\" is always allowed"),
        ("verdict = \"ask\"\ncommands = [\"batch\"]", "decided command by command"),
        (
            "verdict = \"ask\"\nroles = [\"button\"]",
            "`roles` is about an element that is acted on, and snapshot only reads",
        ),
        ("verdict = \"deny\"\ncommands = [\"get\"]\nnames = [\"Pay\"]", "commands = [\"@acts\"]"),
        (
            "verdict = \"allow\"\ncommands = [\"@reads\"]\nstates = [\"secure\"]",
            "`states` is about an element",
        ),
        ("verdict = \"deny\"\nwindows = [\"*\"]\nclients = [\"a\"]", "all clients share the trees"),
        (
            "verdict = \"deny\"\ncommands = [\"find\"]\nwindows = [\"*\"]\nagents = [\"a\"]",
            "leave out `agents`",
        ),
        ("verdict = \"ask\"\nwindows = [\"*\"]", "snapshot reads a tree as a whole"),
        ("verdict = \"allow\"\ncommands = [\"@reads\"]\nwindows = [\"*\"]", "or hide them with \"deny\""),
        ("verdict = \"deny\"\ncommands = [\"@observe\"]\nkeys = [\"a\"]", "the rule never matches"),
        ("name = \"default\"\nverdict = \"deny\"", "the name of a built-in rule"),
        ("name = \"Blocked-Window\"\nverdict = \"deny\"", "the name of a built-in rule"),
        ("name = \"a (b)\"\nverdict = \"deny\"", "`name` must be"),
        (
            "name = \"a\"\nverdict = \"deny\"\n[[rule]]\nname = \"A\"\nverdict = \"deny\"",
            "line 5: another rule is called",
        ),
        ("verdict = \"deny\"\nreason = \"two\\nlines\"", "one line"),
    ] {
        let found = rule(lines);
        assert!(found.contains(expected), "{found}");
    }
    assert!(error("[keys]\nblocked = [\"ctrl+w\"]\nallowed = [\"Ctrl+W\"]").contains("both in"));
    assert!(error("[programs]\nunprotected = [\"seahose\"]").contains("not on the built-in list"));
    assert!(
        error("[programs]\nprotected = [\"seahorse\"]\nunprotected = [\"seahorse\"]").contains("both in")
    );
}

#[test]
fn a_rule_that_allows_is_about_the_commands_that_can_depend_on_what_it_names() {
    let policy = parse("[[rule]]\nverdict = \"allow\"\nroles = [\"button\"]\n[[rule]]\nverdict = \"allow\"\nwindows = [\"a\"]").unwrap();
    assert!(policy.rules[0].commands.contains("click") && !policy.rules[0].commands.contains("get"));
    assert!(policy.rules[1].commands.contains("screenshot") && !policy.rules[1].commands.contains("find"));
}

#[test]
fn a_rule_without_a_name_is_called_after_its_line() {
    let policy =
        parse("\n[[rule]]\nverdict = \"deny\"\n\n[[rule]]\nname = \"b\"\nverdict = \"ask\"").unwrap();
    let rules: Vec<(&str, usize)> = policy.rules.iter().map(|rule| (&*rule.name, rule.line)).collect();
    assert_eq!(rules, [("rule-in-line-2", 2), ("b", 5)]);
}

#[test]
fn the_profile_has_the_defaults_of_its_contract_and_takes_others() {
    let profile =
        parse("[profile.thuvu]\nenabled = true\nblocked_window_patterns = [\"*Secret*\"]").unwrap().thuvu;
    assert!(profile.enabled && profile.require_approval_for_input && profile.log_all_actions);
    assert!(!profile.require_approval_for_capture && profile.max_captures_per_minute == 60);
    let texts =
        |patterns: &[crate::Pattern]| patterns.iter().map(|it| it.as_str().to_owned()).collect::<Vec<_>>();
    assert_eq!(texts(&profile.blocked_window_patterns), ["*Secret*"]);
    let default = crate::ThuvuProfile::default();
    assert!(!default.enabled && texts(&default.allowed_window_patterns) == ["*"]);
    assert_eq!(texts(&default.blocked_window_patterns), ["*Password*", "*Banking*"]);
}

#[test]
fn so_many_errors_are_told_and_no_more() {
    let many: String = (0..200).map(|number| format!("a{number} = 1\n")).collect();
    assert_eq!(errors(&many).len(), 50);
}
