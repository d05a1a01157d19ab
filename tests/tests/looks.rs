//! Looks, and the text of reads: what a window shows and nothing else, with the clock at the end.

use axd_tests::{Daemon, Setup};
use serde_json::json;

#[test]
fn a_look_is_text_with_the_clock_at_its_end_and_shows_what_can_be_seen() {
    let daemon = Daemon::start();
    let ax = |words: &[&str]| daemon.ax(words).run();
    let looked = ax(&["look", "Form"]);
    let text = looked.out.as_str();
    assert_eq!((looked.code, looked.err.as_str()), (0, ""));
    assert!(
        text.starts_with("window \"Sign Up\" win_") && text.contains("  textfield \"Name\" txt_"),
        "{text}"
    );
    assert!(!text.contains("Austria") && !text.contains("application"), "hidden, and says nothing: {text}");
    assert!(text.lines().last().is_some_and(|line| line.starts_with("clock c:")), "{text}");
    assert_eq!(ax(&["look", "--app", "Form"]).out, text);
    let cut = ax(&["look", "Form", "--max-tokens", "40"]).out;
    assert!(cut.contains("(truncated: ") && !cut.contains("Austria") && cut.len() < text.len(), "{cut}");
    let json = ax(&["look", "Form", "--json"]).json();
    let lines = json["data"]["lines"].as_str().expect("lines");
    assert!(text.starts_with(lines), "{json}");
    assert!(json["data"]["nodes"].as_u64() >= Some(lines.lines().count() as u64), "{json}");
    let mut client = daemon.client();
    let root = client.data("look", json!({ "root": "form:'Sign up'", "app": "Form" }));
    assert!(root["lines"].as_str().is_some_and(|lines| lines.starts_with("form ")), "{root}");
    client.fails("WINDOW_NOT_FOUND", "look", json!({ "app": "Form", "window": "Nothing" }));
}

#[test]
fn every_text_of_a_read_ends_with_its_clock_unless_it_is_for_a_script() {
    let daemon = Daemon::start();
    let ax = |words: &[&str]| daemon.ax(words).run();
    let clock = ax(&["look", "Notes"]).out.lines().last().expect("a clock").to_owned();
    let since = clock.strip_prefix("clock ").expect("a clock").to_owned();
    for line in [
        &["snapshot", "--app", "Notes", "--text"][..],
        &["find", "button", "--app", "Notes", "--text"],
        &["get", "textarea", "--app", "Notes", "--text"],
        &["changes", "--since", &since, "--text"],
    ] {
        assert_eq!(ax(line).out.lines().last(), Some(clock.as_str()), "{line:?}");
    }
    assert_eq!(ax(&["find", "searchfield", "--app", "Notes", "--count", "--text"]).out, "1\n");
    let value = ax(&["get", "text:Saved", "--app", "Notes", "--property", "name", "--text"]);
    assert_eq!(value.out, "Saved\n");
}

#[test]
fn places_are_told_without_boxes_that_have_no_name() {
    let app = r#"
name = "Boxes"
identity = "test.boxes"
[[window]]
id = "main"
title = "Boxes"
children = [
  { role = "group", id = "outer", children = [
    { role = "group", id = "named", name = "Right", children = [{ role = "button", id = "go", name = "Go" }] },
  ] },
]
"#;
    let daemon = Setup::new().app(app).start();
    let shown = daemon.ax(&["find", "button:Go", "--app", "Boxes", "--text"]).run().out;
    assert!(shown.contains("\n  in window \"Boxes\" › group \"Right\"\n"), "{shown}");
}

#[test]
fn the_environment_says_in_which_format_answers_are() {
    let daemon = Daemon::start();
    let with = |format: &str, words: &[&str]| daemon.ax(words).env("AX_FORMAT", format).run();
    let text = with("text", &["find", "textarea", "--app", "Notes"]);
    assert!(text.out.starts_with("textarea \"Note\""), "{}", text.out);
    assert_eq!(with("text", &["find", "textarea", "--app", "Notes", "--json"]).json()["data"]["count"], 1);
    assert_eq!(with("json", &["look", "Notes"]).json()["ok"], true);
    assert_eq!(with("", &["find", "textarea", "--app", "Notes"]).json()["ok"], true);
    let wrong = with("yaml", &["status"]).exits(2);
    assert!(wrong.json()["error"]["message"].as_str().is_some_and(|said| said.contains("text or json")));
    let failed = with("text", &["get", "button:Nope", "--app", "Notes"]).exits(1);
    assert!(failed.err.starts_with("error: no element in Notes"), "{}", failed.err);
}

#[test]
fn an_action_as_text_tells_what_can_be_seen_to_have_changed() {
    let daemon = Daemon::start();
    let text = |words: &[&str]| {
        let ran = daemon.ax(&[words, &["--text"]].concat()).run().exits(0);
        ran.out.lines().skip(1).map(|line| line.to_owned() + "\n").collect::<String>()
    };
    let checked = text(&["check", "checkbox:\"Send me the newsletter\"", "--app", "Form"]);
    assert!(checked.starts_with("~ checkbox ") && checked.ends_with(" +checked\n"), "{checked}");
    let helped = text(&["click", "button:Help", "--app", "Form"]);
    assert!(
        helped.starts_with("+ dialog \"Help\" dlg_") && helped.contains("\n    button \"Close\""),
        "{helped}"
    );
    let closed = text(&["click", "button:Close", "--app", "Form"]);
    assert!(closed.starts_with("- dialog \"Help\" dlg_") && !closed.contains("Close"), "{closed}");
    assert_eq!(
        text(&["check", "checkbox:\"I agree to the terms\"", "--app", "Form", "--effects", "none"]),
        ""
    );
    let full = text(&["uncheck", "checkbox:\"I agree to the terms\"", "--app", "Form", "--effects", "full"]);
    assert!(full.contains("states = [\"required\"]"), "{full}");
}

#[test]
fn a_span_can_be_told_in_brief() {
    let daemon = Daemon::start();
    let ax = |words: &[&str]| daemon.ax(words).run().exits(0).out;
    let since = ax(&["look", "Settings"])
        .lines()
        .last()
        .and_then(|line| line.strip_prefix("clock "))
        .expect("a clock")
        .to_owned();
    ax(&["click", "tab:Account", "--app", "Settings"]);
    let brief = ax(&["changes", "--since", &since, "--brief", "--text"]);
    let full = ax(&["changes", "--since", &since, "--text"]);
    assert!(brief.contains("\n+ tabpanel \"Account\"") && brief.contains("\n~ tab \"Account\""), "{brief}");
    assert!(full.contains("states = [\"hidden\"]") && !brief.contains("states"), "{brief}{full}");
}
