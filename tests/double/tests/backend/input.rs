//! Mouse and keyboard, made of events.

use std::time::{Duration, Instant};

use axd_double::World;
use axd_double::cg::{LostKeys, Posted};
use axd_macos::appkit::host::HostKey;
use axd_platform::{Act, InputStep, Sent};
use axd_protocol::command::Verdict;
use axd_protocol::keys::{Button, Key, Modifier, Named};
use axd_protocol::{Point, Role};
use axd_sim::SimVerb;

use crate::on::Desktop;
use crate::scripts::{APP, OTHER};

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
    let steps: Vec<InputStep> = [InputStep::Move(middle)].into_iter().chain(click(Button::Left)).collect();
    desktop.call(|platform, gate| platform.input(steps.into(), gate)).unwrap();
    app.until("the click arrived", |app| app.has_text(Role::Text, "count 1"));
    let kinds: Vec<u32> = world.input().posted().iter().map(|event| event.number).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == 1).count(), 1, "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| **kind == 2).count(), 1, "{kinds:?}");
    world.input().forget();

    app.perform_ok("field", Act::Focus);
    app.perform_ok("field", Act::CaretToEnd);
    let typed = "! Grüße, 世界 👋 and a long tail of plain text";
    desktop
        .call(|platform, gate| platform.input(vec![InputStep::Text(typed.to_owned())].into(), gate))
        .unwrap();
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
        InputStep::Key(Key::Named(Named::Backspace), true),
        InputStep::Key(Key::Named(Named::Backspace), false),
    ];
    desktop.call(|platform, gate| platform.input((keys.to_vec()).into(), gate)).unwrap();
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
    desktop
        .call(|platform, gate| {
            platform.input(([InputStep::Move(at)].into_iter().chain(twice).collect::<Vec<_>>()).into(), gate)
        })
        .unwrap();
    assert!(world.input().settle(Duration::from_secs(20)));
    let posted = world.input().posted();
    let clicks: Vec<i64> =
        posted.iter().filter(|event| event.number == 1).map(|event| event.clicks).collect();
    assert_eq!(clicks, [1, 2]);
}

#[test]
fn the_wheel_is_an_event_and_keys_go_to_a_secure_field_unread() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    desktop
        .call(|platform, gate| platform.input(vec![InputStep::Wheel { right: 0, down: 2 }].into(), gate))
        .unwrap();
    assert!(world.input().settle(Duration::from_secs(20)));
    let posted = world.input().posted();
    let wheel: Vec<&Posted> = posted.iter().filter(|event| event.number == 22).collect();
    assert!(!wheel.is_empty() && wheel.iter().all(|event| event.wheel.0 < 0), "down is negative: {posted:?}");
    world.act_as_user("App", SimVerb::Focus, Some("secret"), None);
    let typed = |desktop: &Desktop| {
        world.inspect("App", |inside| {
            let secret = inside.model.find("secret").expect("it is there");
            inside.model.select_text(secret, 4..4);
        });
        desktop
            .call(|platform, gate| platform.input(vec![InputStep::Text("!".into())].into(), gate))
            .expect("whether it arrives nobody knows");
        assert!(world.input().settle(Duration::from_secs(20)));
        world.inspect("App", |inside| {
            let secret = inside.model.find("secret").expect("it is there");
            inside.model.widget(secret).and_then(|widget| widget.value.clone())
        })
    };
    world.settings(|settings| settings.secure_input_swallows = LostKeys::ItsOwn);
    assert_eq!(typed(&desktop).as_deref(), Some("hush"), "what is swallowed does no harm");
    world.settings(|settings| settings.secure_input_swallows = LostKeys::Nothing);
    assert_eq!(typed(&desktop).as_deref(), Some("hush!"));
    assert_eq!(world.trace().secure_reads(), 0, "and was not read back");
}

#[test]
fn keys_go_to_the_app_in_front_and_the_mouse_to_what_is_on_top() {
    let world = World::of(&[&OTHER.replace("[700, 60, 300, 200]", "[40, 40, 600, 560]"), APP]);
    let mut desktop = Desktop::start();
    let (mut app, mut other) = (desktop.attach(&world, "App"), desktop.attach(&world, "Other"));
    app.walked();
    other.walked();
    world.act_as_user("App", SimVerb::Focus, Some("field"), None);
    world.act_as_user("Other", SimVerb::Raise, Some("main"), None);
    desktop.call(|platform, gate| platform.input(vec![InputStep::Text("lost".into())].into(), gate)).unwrap();
    let bounds = other.measure("press").bounds.expect("it has a place");
    let at = Point { x: bounds.x + bounds.width / 2, y: bounds.y + bounds.height / 2 };
    let click = || {
        let buttons = [true, false].map(|down| InputStep::Button(Button::Left, down));
        [InputStep::Move(at)].into_iter().chain(buttons).collect::<Vec<_>>()
    };
    desktop.call(|platform, gate| platform.input(click().into(), gate)).unwrap();
    other.until("what is on top was clicked", |other| other.has_text(Role::Text, "pressed"));
    app.fence();
    assert_eq!(app.facts("field").value.as_deref(), Some("text"), "it was behind");
    assert!(app.has_text(Role::Text, "count 0"));
    assert!(world.input().posted().iter().all(|event| event.pid.is_none()), "all as hardware would");
}

#[test]
fn secure_input_of_another_app_is_seen_and_harms_only_what_it_swallows() {
    let world = World::of(&[OTHER, APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let is_on = |desktop: &Desktop| {
        let findings = desktop.examine();
        let found = findings.iter().find(|finding| finding.what == "secure input");
        found.expect("it is looked at").verdict != Verdict::Ok
    };
    assert!(!is_on(&desktop));
    world.secure_input(world.pid("Other"), true);
    assert!(is_on(&desktop), "whoever switched it on");
    let typed = |desktop: &Desktop, text: &str| {
        world.act_as_user("App", SimVerb::Focus, Some("field"), None);
        let sent = desktop
            .call(|platform, gate| platform.input(vec![InputStep::Text(text.to_owned())].into(), gate));
        assert!(world.input().settle(Duration::from_secs(20)));
        let held = world.inspect("App", |inside| {
            let field = inside.model.find("field").expect("it is there");
            inside.model.widget(field).and_then(|widget| widget.value.clone()).unwrap_or_default()
        });
        (sent.is_ok(), held.contains(text))
    };
    for (swallows, text, arrives) in
        [(LostKeys::Nothing, "a", true), (LostKeys::ItsOwn, "b", true), (LostKeys::Everything, "c", false)]
    {
        world.settings(|settings| settings.secure_input_swallows = swallows);
        let (sent, arrived) = typed(&desktop, text);
        assert_eq!(arrived, arrives, "{swallows:?}");
        assert!(sent || !arrived, "what is said not to have been sent was not: {swallows:?}");
    }
    world.act_as_user("Other", SimVerb::Fault, Some("die"), None);
    app.until("who ends gives it back", |_| !is_on(&desktop));
    assert_eq!(typed(&desktop, "d"), (true, true));
}

#[test]
fn a_click_is_slow_enough_to_arrive() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let bounds = app.measure("press").bounds.expect("it has a place");
    let at = Point { x: bounds.x + bounds.width / 2, y: bounds.y + bounds.height / 2 };
    let click = || {
        let buttons = [true, false].map(|down| InputStep::Button(Button::Left, down));
        [InputStep::Move(at)].into_iter().chain(buttons).collect::<Vec<_>>()
    };
    for count in 1..=3 {
        desktop.call(|platform, gate| platform.input(click().into(), gate)).unwrap();
        app.until("the click arrived", |app| app.has_text(Role::Text, &format!("count {count}")));
    }
    // As two requests, too.
    for down in [true, false] {
        let step = vec![InputStep::Button(Button::Left, down)];
        desktop.call(|platform, gate| platform.input(step.into(), gate)).unwrap();
    }
    app.until("the click of two requests arrived", |app| app.has_text(Role::Text, "count 4"));
}

#[test]
fn a_press_that_is_cancelled_is_not_released_too_soon_to_be_seen() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    desktop.attach(&world, "App").walked();
    let steps = vec![
        InputStep::Move(Point { x: 700, y: 300 }),
        InputStep::Button(Button::Left, true),
        InputStep::Button(Button::Left, false),
    ];
    let sent = desktop.call(|platform, gate| {
        let input = platform.input(steps.into(), gate.clone());
        let end = Instant::now() + Duration::from_secs(20);
        while world.input().posted().iter().all(|event| event.number != 1) {
            assert!(Instant::now() < end, "the button is not pressed");
            std::thread::yield_now();
        }
        gate.close();
        input
    });
    assert_eq!(sent.expect_err("it was cancelled").sent, Sent::Yes);
    assert!(world.input().settle(Duration::from_secs(20)));
    assert!(!world.input().is_held(), "no button stays down");
}

#[test]
fn keys_and_texts_are_paced() {
    let world = World::of(&[APP]);
    let desktop = Desktop::start();
    let keys =
        ['a', 'b'].into_iter().flat_map(|key| [true, false].map(|down| InputStep::Key(Key::Char(key), down)));
    let steps: Vec<InputStep> = keys.chain([InputStep::Text("x".repeat(50))]).collect();
    desktop.call(|platform, gate| platform.input(steps.into(), gate)).unwrap();
    let posted = world.input().posted();
    assert_eq!(posted.len(), 10, "{:?}", short(&posted));
    for pair in posted.windows(2) {
        let between = pair[1].when.duration_since(pair[0].when);
        let is_one = pair[0].text.is_none() != pair[1].text.is_none();
        assert!(is_one || between >= Duration::from_millis(8), "{between:?} between {:?}", short(pair));
    }
}

#[test]
fn shift_is_pressed_as_a_key_and_does_not_stay() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    app.perform_ok("field", Act::Focus);
    app.perform_ok("field", Act::CaretToEnd);
    let steps = ['A', 'b', '+']
        .into_iter()
        .flat_map(|key| [true, false].map(|down| InputStep::Key(Key::Char(key), down)));
    desktop.call(|platform, gate| platform.input(steps.collect::<Vec<_>>().into(), gate)).unwrap();
    app.until("the keys arrived", |app| app.facts("field").value.as_deref() == Some("textAb+"));
    assert!(!world.input().is_latched(), "{:?}", short(&world.input().posted()));
}

#[test]
fn shortcuts_work_on_a_layout_without_latin_letters() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let greek = HostKey { code: 0, plain: Some('α'), shifted: Some('Α'), with_command: Some('α') };
    world.settings(|settings| settings.keyboard.current = vec![greek]);
    app.perform_ok("field", Act::Focus);
    let combo = |key| {
        let keys = [Key::Modifier(Modifier::Cmd), key];
        let down = keys.map(|key| InputStep::Key(key, true));
        let up = [keys[1], keys[0]].map(|key| InputStep::Key(key, false));
        down.into_iter().chain(up)
    };
    let delete = [true, false].map(|down| InputStep::Key(Key::Named(Named::Backspace), down));
    let steps: Vec<InputStep> = combo(Key::Char('a')).chain(delete).collect();
    desktop.call(|platform, gate| platform.input(steps.into(), gate)).unwrap();
    app.until("all was selected and deleted", |app| {
        app.facts("field").value.as_deref().unwrap_or_default().is_empty()
    });
}
