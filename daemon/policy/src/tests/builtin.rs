use super::*;

/// The built-in rule that does not allow a request, or `allowed`.
fn builtin(question: &Question<'_>) -> String {
    refusal(&Policy::builtin(), question)
}

fn press(keys: &[Combo]) -> String {
    builtin(&Question { command: "press", keys, ..click() })
}

#[test]
fn keys_that_end_the_session_are_denied_with_whatever_else_is_held() {
    for (keys, denied) in [
        ("cmd+q", true),
        ("Super+Q", true),
        ("ctrl+q", true),
        ("ctrl+shift+q", true),
        ("alt+shift+f4", true),
        ("control+option+del", true),
        ("cmd+shift+delete", true),
        ("ctrl+alt+f1", true),
        ("ctrl+w", false),
        ("q", false),
        ("cmd+shift+s", false),
    ] {
        assert_eq!(press(&[combo(keys)]) == "blocked-shortcut", denied, "{keys}");
    }
    assert_eq!(press(&[combo("a"), combo("cmd+q")]), "blocked-shortcut");
    assert_eq!(builtin(&Question { command: "key-up", keys: &[combo("cmd+q")], ..click() }), "allowed");
}

#[test]
fn what_is_protected_and_what_is_somebody_elses_is_read_and_not_acted_on() {
    let programs = ["/usr/bin/gnome-shell".to_owned()];
    let shell = AppFacts { programs: &programs, ..NOTES };
    let on = |command, app| Question { command, app: Fact::Known(app), ..click() };
    assert_eq!(builtin(&on("click", shell)), "no-protected-app");
    assert_eq!(builtin(&on("close-app", shell)), "no-protected-app");
    assert_eq!(builtin(&on("click", AppFacts { is_foreign: true, ..NOTES })), "other-users-app");
    assert_eq!(builtin(&on("click", AppFacts { pid: 1, ..NOTES })), "no-protected-app");
    assert_eq!(builtin(&on("click", NOTES)), "allowed");
    for command in ["snapshot", "get", "screenshot", "key-up"] {
        assert_eq!(builtin(&on(command, AppFacts { is_foreign: true, ..shell })), "allowed", "{command}");
    }
}

#[test]
fn windows_with_passwords_and_banking_get_no_input_and_are_in_no_picture() {
    let about = |command, window| Question { command, window, ..click() };
    for command in ["click", "type", "focus-window", "screenshot"] {
        let titled = |title| builtin(&about(command, Fact::Known(title)));
        assert_eq!(titled("Change password"), "blocked-window", "{command}");
        assert_eq!(titled("Online BANKING"), "blocked-window", "{command}");
        assert_eq!(titled("Notes"), "allowed", "{command}");
        assert_eq!(builtin(&about(command, Fact::Unknown)), "blocked-window", "{command}");
        assert_eq!(builtin(&before(&about(command, Fact::Unknown))), "allowed", "{command}");
        assert_eq!(builtin(&about(command, Fact::None)), "allowed", "{command}");
    }
    assert_eq!(builtin(&about("snapshot", Fact::Known("Password"))), "allowed");
    let policy = policy("[windows]\nblocked = [\"*Diary*\"]");
    assert_eq!(refusal(&policy, &about("click", Fact::Known("My diary"))), "blocked-window");
    assert_eq!(refusal(&policy, &about("click", Fact::Known("Password"))), "allowed");
    assert!(policy.blocks_pictures_of(Fact::Known(NOTES), Fact::Known("My diary")).is_some());
    assert!(policy.blocks_pictures_of(Fact::Known(NOTES), Fact::Known("Password")).is_none());
}

#[test]
fn a_program_that_nobody_knows_is_not_acted_on_unless_the_file_says_so() {
    let on_unknown = Question { app: Fact::Unknown, ..click() };
    assert_eq!(builtin(&on_unknown), "unknown-app");
    assert_eq!(builtin(&before(&on_unknown)), "allowed");
    assert_eq!(builtin(&Question { command: "snapshot", ..on_unknown.clone() }), "allowed");
    assert_eq!(verdict(&policy("unknown_apps = \"ask\""), &on_unknown), "ask");
    assert_eq!(verdict(&policy("unknown_apps = \"allow\""), &on_unknown), "allow");
}

#[test]
fn text_has_an_end_which_the_file_moves() {
    let text = "ä".repeat(10_001);
    let typed = |text| Question { command: "type", text: Some(text), ..click() };
    assert_eq!(builtin(&typed(&text[2..])), "allowed");
    assert_eq!(builtin(&typed(&text)), "text-too-long");
    assert_eq!(refusal(&policy("[limits]\ntext_chars = 20000"), &typed(&text)), "allowed");
    assert_eq!(refusal(&policy("[limits]\ntext_chars = 3"), &typed("four")), "text-too-long");
}

#[test]
fn where_only_reading_is_allowed_nothing_acts_but_what_is_held_is_released() {
    let observe = policy("mode = \"observe-only\"");
    let of = |policy: &Policy, command| refusal(policy, &Question { command, ..click() });
    for command in ["click", "launch", "clipboard-set", "close-app", "key-down"] {
        assert_eq!(of(&observe, command), "observe-only", "{command}");
    }
    for command in ["snapshot", "screenshot", "key-up", "mouse-up", "batch", "shutdown"] {
        assert_eq!(of(&observe, command), "allowed", "{command}");
    }
}

#[test]
fn without_a_usable_file_nothing_acts_and_no_picture_or_clipboard_is_read() {
    let policy = Policy::unreadable("line 3: it is broken");
    let of = |command| policy.decide(&Question { command, ..click() });
    for command in ["click", "launch", "screenshot", "clipboard-get"] {
        assert_eq!(of(command).rule, "policy-unreadable", "{command}");
    }
    for command in ["snapshot", "key-up", "batch", "status", "policy-show"] {
        assert_eq!(of(command).verdict, Verdict::Allow, "{command}");
    }
    let error = of("click").to_error();
    assert!(error.message.contains("line 3: it is broken (policy-unreadable)"), "{}", error.message);
    assert!(error.suggestion.contains("ax policy show"));
}

#[test]
fn keys_and_programs_of_the_list_are_taken_off_and_others_are_added() {
    let policy = policy(
        r#"
        [keys]
        blocked = ["ctrl+w", "super+*"]
        allowed = ["ctrl+q", "alt+shift+f4"]
        [programs]
        protected = ["notes"]
        unprotected = ["seahorse"]
        "#,
    );
    for (keys, denied) in [
        ("ctrl+w", true),
        ("ctrl+shift+w", true),
        ("cmd+a", true),
        ("ctrl+q", false),
        ("ctrl+shift+q", true),
        ("alt+shift+f4", false),
        ("alt+f4", true),
    ] {
        let keys = [combo(keys)];
        let question = Question { command: "press", keys: &keys, app: Fact::None, ..click() };
        assert_eq!(refusal(&policy, &question) == "blocked-shortcut", denied, "{keys:?}");
    }
    assert_eq!(refusal(&policy, &click()), "no-protected-app");
    let seahorse = ["/usr/bin/seahorse".to_owned()];
    let app = AppFacts { programs: &seahorse, name: "Keys", identity: "x", ..NOTES };
    assert_eq!(refusal(&policy, &Question { app: Fact::Known(app), ..click() }), "allowed");
}
