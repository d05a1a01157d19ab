//! Texts as apps have them: half characters, zeros, attributed strings, and more than is read.

use axd_double::World;
use axd_double::ax::Dress;
use axd_platform::{Act, DesktopEvent, FailureKind, MAX_TEXT_LEN};
use axd_protocol::Role;
use axd_sim::SimVerb;

use crate::on::Desktop;

/// U+FD83D is how a script writes the first half of an emoji (`axd_double::cf`).
const BROKEN: &str = r#"
name = "Broken"
identity = "test.broken"
[[window]]
id = "main"
title = "Cut \U000FD83D"
bounds = [40, 40, 400, 400]
children = [
  { role = "button", id = "press", name = "Press \U000FDE00" },
  { role = "text", id = "label", name = "half \U000FD83D" },
  { role = "textfield", id = "field", name = "Field", value = "zero\u0000behind" },
  { role = "text", id = "rich", value = "rich text" },
  { role = "text", id = "address", value = "https://example.com/a" },
  { role = "datefield", id = "date", name = "Date", value = "today" },
]
[[rule]]
on = "press:press"
do = [{ announce = "said \U000FD83D" }, { rename = "label", text = "whole" }]
"#;

fn long(id: &str, role: &str, text: &str) -> String {
    format!(
        "name = \"Log\"\nidentity = \"test.log\"\n[[window]]\nid = \"main\"\ntitle = \"Log\"\nchildren = \
         [{{ role = \"{role}\", id = \"{id}\", name = \"Log\", value = \"{text}\" }}]\n"
    )
}

#[test]
fn half_a_character_is_replaced_and_harms_neither_the_app_nor_the_desktop() {
    let world = World::of(&[BROKEN]);
    let mut desktop = Desktop::start();
    desktop.wait_for_event(|event| {
        let titled = |title: &str| title == "Cut \u{FFFD}";
        matches!(event, DesktopEvent::Windows(windows) if windows.iter().any(|window| titled(&window.title)))
    });
    let mut app = desktop.attach(&world, "Broken");
    app.walked();
    assert_eq!(app.facts("press").name.as_deref(), Some("Press \u{FFFD}"));
    assert!(app.has_text(Role::Text, "half \u{FFFD}"), "{}", app.tree());
    app.perform_ok("press", Act::Press);
    app.until("it was announced", |app| app.announcements.iter().any(|text| text == "said \u{FFFD}"));
    app.until("and the app goes on", |app| app.has_text(Role::Text, "whole"));
}

#[test]
fn a_zero_in_a_text_is_not_its_end() {
    let world = World::of(&[BROKEN]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "Broken");
    app.walked();
    assert_eq!(app.facts("field").value.as_deref(), Some("zero\0behind"));
}

#[test]
fn attributed_strings_urls_and_dates_are_read_as_text_and_a_date_is_not_overwritten_with_one() {
    let world = World::of(&[BROKEN]);
    world.dress("Broken", "rich", Dress::Attributed);
    world.dress("Broken", "address", Dress::Url);
    world.dress("Broken", "date", Dress::Date(801_212_400.5));
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "Broken");
    app.walked();
    assert!(app.has_text(Role::Text, "rich text"), "{}", app.tree());
    assert!(app.has_text(Role::Text, "https://example.com/a"), "{}", app.tree());
    assert_eq!(app.facts("date").value.as_deref(), Some("2026-05-23T07:00:00Z"));
    let failed = app.perform("date", Act::SetValue("tomorrow".to_owned())).expect_err("it is a date");
    assert_eq!(failed.kind, FailureKind::NotSupported, "{failed:?}");
}

#[test]
fn of_a_long_text_the_part_around_what_can_be_seen_is_read() {
    let text: String = (0..3_600).map(|line| format!("line {line}; ")).collect();
    let total = text.len() as isize;
    let world = World::of(&[&long("log", "textarea", &text)]);
    world.show_text("Log", total - 500, 500);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "Log");
    app.walked();
    let value = |app: &crate::on::Attached| app.facts("log").value.clone().unwrap_or_default();
    assert_eq!(value(&app), text[text.len() - MAX_TEXT_LEN..], "the end");
    world.show_text("Log", 0, 500);
    world.post("Log", Some("log"), "AXValueChanged");
    app.until("the beginning", |app| value(app) == text[..MAX_TEXT_LEN]);
    let middle = text.find("line 1800;").unwrap() as isize;
    world.show_text("Log", middle, 500);
    world.post("Log", Some("log"), "AXValueChanged");
    app.until("the middle", |app| value(app).contains("line 1800;") && value(app).len() == MAX_TEXT_LEN);
}

#[test]
fn of_a_long_text_whose_visible_part_is_unknown_the_end_is_read_while_the_caret_is_there() {
    let text: String = (0..3_600).map(|line| format!("line {line}; ")).collect();
    let end = text.len();
    let world = World::of(&[&long("log", "textarea", &text)]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "Log");
    app.walked();
    world.inspect("Log", move |inside| {
        let log = inside.model.find("log").expect("it is there");
        inside.model.select_text(log, end..end);
    });
    world.act_as_user("Log", SimVerb::Type, Some("log"), Some("$ newest"));
    app.until("what is new", |app| {
        app.facts("log").value.as_deref().is_some_and(|value| value.ends_with("$ newest"))
    });
}

#[test]
fn a_long_text_is_not_cut_in_the_middle_of_a_character() {
    const PAIRS: usize = MAX_TEXT_LEN * 3 / 4;
    // Every emoji has two units, and each of the two texts has a border in the middle of one.
    for before in ["", "x"] {
        let text = format!("{before}{}", "😀".repeat(PAIRS));
        let total = 2 * PAIRS as isize + before.len() as isize;
        let world = World::of(&[&long("log", "textarea", &text)]);
        for start in [0, 1, total / 2, total / 2 + 1, total - 101, total - 100] {
            world.show_text("Log", start, 100);
            let mut desktop = Desktop::start();
            let mut app = desktop.attach(&world, "Log");
            app.walked();
            let value = app.facts("log").value.clone().unwrap_or_default();
            assert!(!value.contains(char::REPLACEMENT_CHARACTER), "{before:?}, {start}");
            let units = value.encode_utf16().count();
            assert!((MAX_TEXT_LEN..=MAX_TEXT_LEN + 2).contains(&units), "{before:?}, {start}: {units}");
        }
    }
}
