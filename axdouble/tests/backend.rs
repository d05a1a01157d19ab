//! The macOS backend on the double: reading, observing, acting, and all that goes wrong.
#![cfg(not(target_os = "macos"))]

mod common;
#[path = "common/backend.rs"]
mod on;

use std::time::Duration;

use axd_double::ax::{Error, Part};
use axd_double::cg::Posted;
use axd_double::faults::{Call, Fault};
use axd_double::platform::{
    Act, Clip, ClipboardKind, DesktopAnswer, DesktopCall, DesktopEvent, FailureKind, InputStep, Sent,
    WindowOp,
};
use axd_double::{World, ledger};
use axd_protocol::command::SimVerb;
use axd_protocol::keys::{Button, Key, Modifier, Named};
use axd_protocol::{Point, Role, State};
use on::Desktop;

const APP: &str = r#"
name = "App"
identity = "test.app"

[[window]]
id = "main"
title = "Main"
bounds = [40, 40, 600, 560]
children = [
  { role = "menubar", id = "bar", children = [{ role = "menu", id = "file", name = "File", items = ["New", "Quit"] }] },
  { role = "button", id = "press", name = "Press" },
  { role = "text", id = "label", name = "count 0" },
  { role = "text", id = "counter", value = "0", states = ["hidden"] },
  { role = "checkbox", id = "check", name = "Check" },
  { role = "slider", id = "slider", name = "Slider", value = "5", min = 0, max = 10 },
  { role = "textfield", id = "field", name = "Field", value = "text" },
  { role = "textfield", id = "secret", name = "Secret", value = "hush", states = ["secure"] },
  { role = "button", id = "off", name = "Off", states = ["disabled"] },
  { role = "button", id = "ask", name = "Ask" },
  { role = "combobox", id = "combo", name = "Combo", value = "one", items = ["one", "two"] },
  { role = "list", id = "rows", name = "Rows", items = ["first", "second"] },
]

[[window]]
id = "question"
title = "Sure?"
role = "dialog"
open = false
modal = true
children = [{ role = "button", id = "yes", name = "Yes" }]

[template.row]
role = "listitem"
id = "row-{n}"
name = "row {n}"

[[rule]]
on = "press:press"
do = [{ increase = "counter" }, { rename = "label", text = "count {value:counter}" }, { add = "row", into = "rows" }, { announce = "Pressed" }]
[[rule]]
on = "press:ask"
do = [{ open = "question" }]
[[rule]]
on = "press:yes"
do = [{ close = "question" }]
"#;

const OTHER: &str = r#"
name = "Other"
identity = "test.other"
[[window]]
id = "main"
title = "Other"
bounds = [700, 60, 300, 200]
children = [{ role = "button", id = "press", name = "Press" }, { role = "text", id = "label", name = "not yet" }]
[[rule]]
on = "press:press"
do = [{ rename = "label", text = "pressed" }]
"#;

#[test]
fn an_app_is_read_as_it_is() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    assert_eq!((app.facts("press").role, app.facts("press").name.as_deref()), (Role::Button, Some("Press")));
    assert_eq!(app.facts("check").role, Role::Checkbox);
    assert!(app.facts("off").states.has(State::Disabled));
    assert_eq!(app.facts("slider").value.as_deref(), Some("5"));
    assert_eq!(app.facts("field").value.as_deref(), Some("text"));
    assert!(app.says(Role::Text, "count 0"), "{}", app.tree());
    assert!(app.says(Role::Text, "second"), "{}", app.tree());
    assert!(app.says(Role::MenuItem, "Quit"), "{}", app.tree());
    assert_eq!(app.degraded, None);
}

#[test]
fn the_value_of_a_secure_field_is_never_asked_for() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    assert!(app.facts("secret").states.has(State::Secure));
    assert_eq!(app.facts("secret").value, None);
    world.hand("App", SimVerb::Type, Some("secret"), Some("x"));
    app.fence();
    app.walk_again();
    assert_eq!(app.facts("secret").value, None);
    assert_eq!(world.trace().secrets(), 0);
}

#[test]
fn the_attributes_of_an_element_are_read_at_once() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    world.trace().begin();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let asked = world.trace().end();
    let many = asked.iter().filter(|asked| asked.call == Call::ReadMany).count();
    let single = asked.iter().filter(|asked| asked.call == Call::Read).count();
    assert!(many >= app.nodes.len(), "{many} of {}", app.nodes.len());
    assert!(single <= app.nodes.len() / 2, "{single} read one by one, {} elements", app.nodes.len());
}

#[test]
fn whatever_error_one_element_answers_with_the_others_are_read() {
    for error in Error::ALL {
        let world = World::of(&[APP]);
        for call in [Call::Read, Call::ReadMany] {
            let widget = Some("check".to_owned());
            let fault =
                Fault { call: Some(call), widget, error: Some(error), times: Some(3), ..Fault::default() };
            world.faults().add(fault);
        }
        let mut desktop = Desktop::start();
        let mut app = desktop.attach(&world, "App");
        app.walked();
        assert!(
            app.has("press") && app.has("slider") && app.says(Role::Text, "second"),
            "{error:?}\n{}",
            app.tree()
        );
    }
}

#[test]
fn an_attribute_that_cannot_be_read_is_left_out_alone() {
    for error in [Error::NoValue, Error::AttributeUnsupported, Error::Failure] {
        let world = World::of(&[APP]);
        let (widget, name) = (Some("check".to_owned()), Some("AXTitle".to_owned()));
        world.faults().add(Fault {
            call: Some(Call::Read),
            widget,
            name,
            error: Some(error),
            ..Fault::default()
        });
        let mut desktop = Desktop::start();
        let mut app = desktop.attach(&world, "App");
        app.walked();
        assert_eq!((app.facts("check").role, &app.facts("check").name), (Role::Checkbox, &None), "{error:?}");
    }
}

#[test]
fn observers_that_are_refused_are_asked_for_again() {
    let world = World::of(&[APP]);
    world.faults().add(Fault {
        call: Some(Call::AddNotification),
        name: Some("AXValueChanged".to_owned()),
        error: Some(Error::CannotComplete),
        times: Some(4),
        ..Fault::default()
    });
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.until("it is degraded while observers are refused, and then is not", |app| {
        app.complete && app.degraded.is_none()
    });
    world.hand("App", SimVerb::Set, Some("slider"), Some("7"));
    app.until("the value is announced", |app| app.facts("slider").value.as_deref() == Some("7"));
}

#[test]
fn an_app_that_takes_no_observer_says_so_and_is_read_all_the_same() {
    let world = World::of(&[APP]);
    world.faults().add(Fault {
        call: Some(Call::AddNotification),
        error: Some(Error::CannotComplete),
        ..Fault::default()
    });
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.until("it is read, and degraded", |app| app.complete && app.degraded.is_some());
    assert!(app.has("press"));
}

#[test]
fn a_notification_that_an_app_does_not_have_is_no_reason_to_give_up() {
    let world = World::of(&[APP]);
    world.faults().add(Fault {
        call: Some(Call::AddNotification),
        name: Some("AXMenuOpened".to_owned()),
        error: Some(Error::NotificationUnsupported),
        ..Fault::default()
    });
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    world.hand("App", SimVerb::Press, Some("press"), None);
    app.until("the rest is announced", |app| app.says(Role::Text, "count 1"));
}

#[test]
fn what_happens_before_during_and_after_the_walk_is_in_the_tree() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    world.hand("App", SimVerb::Fault, Some("slow"), Some("10"));
    let mut app = desktop.attach(&world, "App");
    world.hand("App", SimVerb::Press, Some("press"), None);
    app.until("some of it is read", |app| app.has("main"));
    world.hand("App", SimVerb::Press, Some("press"), None);
    world.hand("App", SimVerb::Set, Some("slider"), Some("9"));
    world.hand("App", SimVerb::Heal, None, None);
    app.walked();
    world.hand("App", SimVerb::Press, Some("press"), None);
    app.until("all of it is in the tree", |app| {
        app.says(Role::Text, "count 3")
            && app.has("slider")
            && app.facts("slider").value.as_deref() == Some("9")
            && (1..=3).all(|row| app.says(Role::Text, &format!("row {row}")))
    });
    app.until("and spoken", |app| app.spoken.iter().any(|text| text == "Pressed"));
}

#[test]
fn what_is_never_announced_is_found_by_looking() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    world.inside("App", |inside| {
        let off = inside.model.find("off").expect("it is there");
        inside.model.set_state(off, State::Disabled, false);
    });
    let key = app.key("off");
    app.ask(|ticket| axd_double::platform::ToWorker::Read { keys: vec![key], ticket }).unwrap();
    assert!(!app.facts("off").states.has(State::Disabled));
}

#[test]
fn an_element_that_dies_under_a_read_is_gone_and_nothing_else_is() {
    let world = World::of(&[APP]);
    let widget = Some("check".to_owned());
    world.faults().add(Fault { widget, kills: true, times: Some(1), ..Fault::default() });
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    app.walk_again();
    assert!(!app.has("check") && app.has("press") && app.has("slider"), "{}", app.tree());
}

#[test]
fn the_same_element_has_the_same_key_however_often_it_is_read() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let keys = ["press", "field", "rows", "main"];
    let before = keys.map(|id| app.key(id));
    world.hand("App", SimVerb::Press, Some("press"), None);
    app.fence();
    app.walk_again();
    assert_eq!(keys.map(|id| app.key(id)), before);
    let others: std::collections::HashSet<_> = app.children.values().flatten().collect();
    assert_eq!(
        others.len(),
        app.children.values().map(Vec::len).sum::<usize>(),
        "no element is in two places"
    );
}

#[test]
fn an_app_that_hangs_holds_up_nobody_else() {
    let world = World::of(&[APP, OTHER]);
    let mut desktop = Desktop::start();
    let (mut app, mut other) = (desktop.attach(&world, "App"), desktop.attach(&world, "Other"));
    app.walked();
    other.walked();
    world.hand("App", SimVerb::Fault, Some("hang"), None);
    let failed = app.perform("press", Act::Press).expect_err("it hangs");
    assert_eq!(failed.kind, FailureKind::Unresponsive);
    for _ in 0..5 {
        other.does("press", Act::Press);
    }
    other.until("it goes on as ever", |other| other.says(Role::Text, "pressed"));
    app.until("it is known to be silent", |app| app.degraded.is_some());
    world.hand("App", SimVerb::Heal, None, None);
    app.until("and known to be back", |app| app.degraded.is_none());
    app.fence();
    app.walk_again();
    // What was not sent was not done; what may have been sent was done once at most.
    let is_honest =
        app.says(Role::Text, "count 0") || failed.sent != Sent::No && app.says(Role::Text, "count 1");
    assert!(is_honest, "{failed:?}\n{}", app.tree());
}

#[test]
fn of_a_hundred_thousand_rows_those_in_view_are_read() {
    let world = World::of(&[r#"
name = "Big"
[[window]]
id = "w"
title = "Big"
children = [{ role = "table", id = "t", name = "T", rows = { total = 100000, visible = 20, cells = ["cell {row}", "b"] } }]
"#]);
    let mut desktop = Desktop::start();
    world.trace().begin();
    let mut app = desktop.attach(&world, "Big");
    app.walked();
    let asked = world.trace().end();
    let row_of = |part: Part| match part {
        Part::Row(row) | Part::RowCell(row, _) | Part::RowText(row, _) => Some(row),
        _ => None,
    };
    let farthest = asked.iter().filter_map(|asked| row_of(asked.element.part)).max();
    assert!(farthest.is_some_and(|row| row < 40), "row {farthest:?} was read");
    assert!(app.says(Role::Text, "cell 20") && !app.says(Role::Text, "cell 60"), "{}", app.tree());
    assert_eq!(app.totals[&app.key("t")], Some(100_000));
    world.hand("Big", SimVerb::Scroll, Some("t"), Some("70000"));
    app.fence();
    app.walk_again();
    assert!(app.says(Role::Text, "cell 70001") && !app.says(Role::Text, "cell 5"), "{}", app.tree());
    assert!(world.trace().elements() < 100_000, "all rows were never handed out");
}

#[test]
fn the_page_of_an_electron_app_grows_into_the_tree() {
    let world = World::of(&[r#"
name = "Chat"
identity = "test.electron.chat"
[[window]]
id = "w"
title = "Chat"
children = [{ role = "document", id = "page", name = "Page", children = [
  { role = "group", id = "outer", children = [{ role = "group", id = "inner", children = [
    { role = "button", id = "send", name = "Send" },
  ] }] },
] }]
"#]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "Chat");
    app.until("the inside of the page", |app| app.has("send"));
}

#[test]
fn after_sleep_an_app_is_observed_again_under_the_same_keys() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let (before, keys) = (world.observed().1, ["press", "label", "rows"].map(|id| app.key(id)));
    world.sleep();
    app.until("it is observed again", |_| world.observed().1 >= before);
    world.hand("App", SimVerb::Press, Some("press"), None);
    app.until("and told of", |app| app.says(Role::Text, "count 1"));
    assert_eq!(["press", "label", "rows"].map(|id| app.key(id)), keys);
}

#[test]
fn a_press_that_opens_a_modal_dialog_may_have_been_done_and_the_dialog_is_seen() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    world.hand("App", SimVerb::Fault, Some("blocks"), None);
    let pressed = app.perform("ask", Act::Press);
    assert!(
        pressed.as_ref().is_ok_and(|_| true) || pressed.as_ref().is_err_and(|it| it.sent != Sent::No),
        "{pressed:?}"
    );
    app.until("the dialog is there", |app| app.has("yes"));
    app.does("yes", Act::Press);
    app.until("and gone", |app| !app.has("yes"));
}

#[test]
fn elements_are_asked_to_act_and_do() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    app.does("press", Act::Press);
    app.does("check", Act::Press);
    app.does("slider", Act::SetValue("8".into()));
    app.does("field", Act::SetValue("new".into()));
    app.does("field", Act::Focus);
    app.does("field", Act::CaretToEnd);
    app.does("field", Act::Insert(" text".into()));
    app.until("all of it is done", |app| {
        app.says(Role::Text, "count 1")
            && app.facts("check").states.has(State::Checked)
            && app.facts("slider").value.as_deref() == Some("8")
            && app.facts("field").value.as_deref() == Some("new text")
            && app.facts("field").states.has(State::Focused)
    });
    let row = app.children[&app.key("rows")][1];
    app.ask(|ticket| axd_double::platform::ToWorker::Perform {
        key: row,
        act: Act::Select,
        gate: axd_double::platform::Gate::new(),
        ticket,
    })
    .unwrap();
    app.until("a row is selected", |app| app.nodes[&row].states.has(State::Selected));
    let refused = app.perform("off", Act::Press).expect_err("it is disabled");
    assert_eq!((refused.kind, refused.sent != Sent::Yes), (FailureKind::Refused, true), "{refused:?}");
    let unable = app.perform("label", Act::Press).expect_err("a label is not pressed");
    assert_eq!((unable.kind, unable.sent), (FailureKind::NotSupported, Sent::No));
    assert!(world.input().posted().is_empty(), "no mouse and no keyboard were needed");
}

#[test]
fn a_closed_gate_lets_nothing_through() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let gate = axd_double::platform::Gate::new();
    gate.close();
    let key = app.key("press");
    app.until("it is well", |app| app.degraded.is_none());
    let answer =
        app.ask(|ticket| axd_double::platform::ToWorker::Perform { key, act: Act::Press, gate, ticket });
    let failed = answer.expect_err("it was closed");
    assert_eq!((failed.kind, failed.sent), (FailureKind::Closed, Sent::No));
    app.fence();
    assert!(app.says(Role::Text, "count 0"));
}

/// What was posted, in short.
fn short(posted: &[Posted]) -> Vec<(u32, u16, Option<String>, i64)> {
    posted.iter().map(|event| (event.number, event.key, event.text.clone(), event.clicks)).collect()
}

#[test]
fn mouse_and_keyboard_are_made_of_events() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let bounds = app.measure("press").bounds.expect("it has a place");
    let middle = Point { x: bounds.x + bounds.width / 2, y: bounds.y + bounds.height / 2 };
    let click = |button| [InputStep::Button(button, true), InputStep::Button(button, false)];
    let steps = [InputStep::Move(middle)].into_iter().chain(click(Button::Left)).collect();
    desktop.call(DesktopCall::Input(steps)).unwrap();
    app.until("the click arrived", |app| app.says(Role::Text, "count 1"));
    let kinds: Vec<u32> = world.input().posted().iter().map(|event| event.number).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == 1).count(), 1, "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| **kind == 2).count(), 1, "{kinds:?}");
    world.input().forget();

    app.does("field", Act::Focus);
    app.does("field", Act::CaretToEnd);
    let typed = "! Grüße, 世界 👋 and a long tail of plain text";
    desktop.call(DesktopCall::Input(vec![InputStep::Text(typed.to_owned())])).unwrap();
    let wanted = format!("text{typed}");
    app.until("the text arrived", |app| app.facts("field").value.as_deref() == Some(wanted.as_str()));
    let posted = world.input().posted();
    let down: String =
        posted.iter().filter(|event| event.number == 10).filter_map(|event| event.text.clone()).collect();
    assert_eq!(down, typed, "{:?}", short(&posted));
    assert!(
        posted.iter().filter_map(|event| event.text.as_ref()).all(|text| text.encode_utf16().count() <= 20)
    );
    let ups = posted.iter().filter(|event| event.number == 11).count();
    assert_eq!(ups, posted.iter().filter(|event| event.number == 10).count(), "what goes down comes up");
    world.input().forget();

    let keys = [
        InputStep::Key(Key::Modifier(Modifier::Cmd), true),
        InputStep::Key(Key::Char('a'), true),
        InputStep::Key(Key::Char('a'), false),
        InputStep::Key(Key::Modifier(Modifier::Cmd), false),
        InputStep::Key(Key::Named(Named::Delete), true),
        InputStep::Key(Key::Named(Named::Delete), false),
    ];
    desktop.call(DesktopCall::Input(keys.to_vec())).unwrap();
    app.until("all was selected and deleted", |app| {
        app.facts("field").value.as_deref().unwrap_or_default().is_empty()
    });
    let posted = world.input().posted();
    let command = posted.iter().find(|event| event.key == 0 && event.number == 10).expect("the letter a");
    assert_ne!(command.flags & 0x0010_0000, 0, "it says that command is held: {command:?}");
}

#[test]
fn two_clicks_in_a_row_are_counted_in_their_events() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let bounds = app.measure("field").bounds.expect("it has a place");
    let at = Point { x: bounds.x + 10, y: bounds.y + bounds.height / 2 };
    let twice =
        (0..2).flat_map(|_| [InputStep::Button(Button::Left, true), InputStep::Button(Button::Left, false)]);
    desktop.call(DesktopCall::Input([InputStep::Move(at)].into_iter().chain(twice).collect())).unwrap();
    assert!(world.input().settle(Duration::from_secs(20)));
    let posted = world.input().posted();
    let clicks: Vec<i64> =
        posted.iter().filter(|event| event.number == 1).map(|event| event.clicks).collect();
    assert_eq!(clicks, [1, 2]);
}

#[test]
fn windows_are_listed_moved_put_away_and_brought_back() {
    let world = World::of(&[APP, OTHER]);
    let mut desktop = Desktop::start();
    let pid = world.pid("App");
    let windows = |event: &DesktopEvent| match event {
        DesktopEvent::Windows(windows) => windows.iter().find(|window| window.pid == pid).cloned(),
        _ => None,
    };
    let found = desktop.hears(|event| windows(event).is_some_and(|window| window.title == "Main"));
    let window = windows(&found).unwrap().window;
    let op = |desktop: &mut Desktop, op, is_so: &dyn Fn(&axd_double::platform::WindowSeen) -> bool| {
        desktop.seen.clear();
        desktop
            .call(DesktopCall::Window { window, op })
            .unwrap_or_else(|failed| panic!("{op:?}: {failed:?}"));
        desktop.hears(|event| windows(event).is_some_and(|window| is_so(&window)));
    };
    op(&mut desktop, WindowOp::Move(Point { x: 90, y: 70 }), &|seen| {
        seen.bounds.is_some_and(|it| (it.x, it.y) == (90, 70))
    });
    op(&mut desktop, WindowOp::Resize { width: 500, height: 400 }, &|seen| {
        seen.bounds.is_some_and(|it| (it.width, it.height) == (500, 400))
    });
    op(&mut desktop, WindowOp::Minimize, &|seen| seen.minimized);
    op(&mut desktop, WindowOp::Restore, &|seen| !seen.minimized);
}

#[test]
fn the_clipboard_is_the_pasteboard_and_what_is_concealed_stays_so() {
    let world = World::of(&[APP]);
    let desktop = Desktop::start();
    desktop.call(DesktopCall::ClipboardSet(Some(Clip::Text("copied".into())))).unwrap();
    let got = desktop.call(DesktopCall::ClipboardGet(ClipboardKind::Text)).unwrap();
    assert_eq!(got, DesktopAnswer::Clipboard(Some(Clip::Text("copied".into()))));
    world.mark_pasteboard("org.nspasteboard.ConcealedType");
    let refused = desktop.call(DesktopCall::ClipboardGet(ClipboardKind::Text)).expect_err("it is concealed");
    assert_eq!(refused.kind, FailureKind::Refused);
}

#[test]
fn nothing_is_left_behind_when_an_app_was_attached_used_and_let_go() {
    let world = World::of(&[APP]);
    let mark = ledger::mark();
    {
        let mut desktop = Desktop::start();
        let mut app = desktop.attach(&world, "App");
        app.walked();
        app.does("press", Act::Press);
        app.does("slider", Act::SetValue("3".into()));
        app.does("field", Act::Focus);
        world.hand("App", SimVerb::Press, Some("press"), None);
        app.fence();
        app.walk_again();
        // Let go of while there is news on its way.
        world.hand("App", SimVerb::Fault, Some("flood"), Some("slider 500"));
        app.mailbox = None;
        desktop.mac = None;
    }
    // The threads take a moment to end.
    let began = std::time::Instant::now();
    loop {
        let balance = ledger::balance(mark);
        if balance.is_even() {
            break;
        }
        assert!(balance.misused.is_empty(), "{balance}");
        assert!(began.elapsed() < Duration::from_secs(15), "{balance}");
        std::thread::yield_now();
    }
    assert_eq!(world.observed().0, 0, "no observer is left");
}

#[test]
fn without_permission_nothing_is_read_and_it_says_so() {
    let world = World::of(&[APP]);
    world.settings(|settings| settings.trusted = false);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.until("it says so", |app| app.degraded.is_some() || app.complete);
    assert!(!app.has("press"));
    world.settings(|settings| settings.trusted = true);
    app.until("it is read once it may be", |app| app.has("press"));
}

#[test]
fn an_app_that_ends_is_known_to_have_ended() {
    let world = World::of(&[APP, OTHER]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let pid = world.pid("App");
    world.hand("App", SimVerb::Fault, Some("die"), None);
    desktop.hears(|event| *event == DesktopEvent::AppGone { pid });
    let failed =
        app.ask(|ticket| axd_double::platform::ToWorker::Fence { ticket }).expect_err("it has ended");
    assert!(matches!(failed.kind, FailureKind::Gone | FailureKind::Unresponsive), "{failed:?}");
}

#[test]
fn whatever_an_action_fails_with_nothing_is_claimed_that_may_not_be_so() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    for error in Error::ALL {
        let (call, widget) = (Some(Call::Perform), Some("press".to_owned()));
        world.faults().add(Fault { call, widget, error: Some(error), times: Some(1), ..Fault::default() });
        let failed = app.perform("press", Act::Press).expect_err("it went wrong");
        match error {
            Error::CannotComplete => assert_eq!(
                (failed.kind, failed.sent),
                (FailureKind::Unresponsive, Sent::Maybe),
                "it may have been done"
            ),
            Error::ActionUnsupported => {
                assert_eq!((failed.kind, failed.sent), (FailureKind::NotSupported, Sent::No))
            }
            Error::InvalidUIElement => assert_eq!(failed.kind, FailureKind::Gone),
            Error::Failure => assert_ne!(failed.sent, Sent::No, "the app got it, whatever it made of it"),
            _ => assert!(!failed.native.is_empty(), "{error:?}"),
        }
        world.faults().heal();
        app.until("it is well again", |app| app.degraded.is_none());
    }
    app.does("press", Act::Press);
    app.until("it was done once in all", |app| app.says(Role::Text, "count 1"));
}

#[test]
fn what_is_at_a_point_is_found_and_announcements_are_counted() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let bounds = app.measure("check").bounds.expect("it has a place");
    let found = app.at(Point { x: bounds.x + 5, y: bounds.y + 5 });
    assert_eq!(found, Some(app.key("check")));
    assert_eq!(app.at(Point { x: 1270, y: 790 }), None, "nothing of the app is there");
    let before = app.counters.events.load(std::sync::atomic::Ordering::Relaxed);
    world.hand("App", SimVerb::Press, Some("check"), None);
    app.until("it is checked", |app| app.facts("check").states.has(State::Checked));
    assert!(app.counters.events.load(std::sync::atomic::Ordering::Relaxed) > before);
}

#[test]
fn pictures_are_what_is_on_the_screen() {
    use axd_double::platform::{CaptureOf, Gate, Platform as _};
    let world = World::of(&[APP]);
    let desktop = Desktop::start();
    let DesktopAnswer::Picture(taken) =
        desktop.call(DesktopCall::Capture { of: CaptureOf::All, cursor: false }).unwrap()
    else {
        panic!("no picture")
    };
    let drawn = desktop.runtime.block_on(async {
        world.sim().call(DesktopCall::Capture { of: CaptureOf::All, cursor: false }, Gate::new()).await
    });
    let Ok(Ok(DesktopAnswer::Picture(drawn))) = drawn else { panic!("{drawn:?}") };
    assert_eq!((taken.width, taken.height), (drawn.width, drawn.height));
    assert!(taken.rgb == drawn.rgb, "every pixel is as it was drawn");
    world.settings(|settings| settings.may_capture = false);
    let refused = desktop.call(DesktopCall::Capture { of: CaptureOf::All, cursor: false });
    assert!(refused.is_err(), "without permission there is no picture, not a wrong one");
}

#[test]
fn the_wheel_is_an_event_and_keys_go_to_a_secure_field_unread() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    desktop.call(DesktopCall::Input(vec![InputStep::Wheel { right: 0, down: 2 }])).unwrap();
    assert!(world.input().settle(Duration::from_secs(20)));
    let posted = world.input().posted();
    let wheel: Vec<&Posted> = posted.iter().filter(|event| event.number == 22).collect();
    assert!(!wheel.is_empty() && wheel.iter().all(|event| event.wheel.0 < 0), "down is negative: {posted:?}");
    world.hand("App", SimVerb::Focus, Some("secret"), None);
    let typed = |desktop: &Desktop| {
        world.inside("App", |inside| {
            let secret = inside.model.find("secret").expect("it is there");
            inside.model.select_text(secret, 4..4);
        });
        desktop
            .call(DesktopCall::Input(vec![InputStep::Text("!".into())]))
            .expect("whether it arrives nobody knows");
        assert!(world.input().settle(Duration::from_secs(20)));
        world.inside("App", |inside| {
            let secret = inside.model.find("secret").expect("it is there");
            inside.model.widget(secret).and_then(|widget| widget.value.clone())
        })
    };
    world.settings(|settings| settings.secure_input_swallows = true);
    assert_eq!(typed(&desktop).as_deref(), Some("hush"), "what is swallowed does no harm");
    world.settings(|settings| settings.secure_input_swallows = false);
    assert_eq!(typed(&desktop).as_deref(), Some("hush!"));
    assert_eq!(world.trace().secrets(), 0, "and was not read back");
}

#[test]
fn apps_are_launched_by_name_and_by_identifier_and_ended() {
    use axd_double::platform::LaunchPlan;
    let world = World::of(&[APP, &OTHER.replacen("name", "running = false\nname", 1)]);
    let mut desktop = Desktop::start();
    let plan = |app: &str| DesktopCall::Launch(LaunchPlan { app: app.to_owned(), ..LaunchPlan::default() });
    let DesktopAnswer::Launched { pid: Some(pid), identity } = desktop.call(plan("other")).unwrap() else {
        panic!("it was not launched")
    };
    assert_eq!(identity.as_deref(), Some("test.other"));
    desktop.hears(|event| matches!(event, DesktopEvent::AppUp(seen) if seen.pid == pid));
    let again = desktop.call(plan("test.other")).unwrap();
    assert_eq!(again, DesktopAnswer::Launched { pid: Some(pid), identity }, "it hands over to itself");
    let absent = desktop.call(plan("no-such-app-anywhere")).expect_err("there is none");
    assert_eq!(absent.kind, FailureKind::Gone);
    desktop.call(DesktopCall::Close { pid, force: false }).unwrap();
    desktop.hears(|event| *event == DesktopEvent::AppGone { pid });
    assert_eq!(world.sim().apps().len(), 1);
}
