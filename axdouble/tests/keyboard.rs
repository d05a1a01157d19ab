//! What the backend sends as mouse and keyboard, what it says of it, and how programs that come to nothing are told.
#![cfg(not(target_os = "macos"))]

mod common;
#[path = "common/backend.rs"]
mod on;

use std::time::Duration;

use axd_double::World;
use axd_double::platform::{DesktopAnswer, DesktopCall, DesktopEvent, InputStep, LaunchPlan};
use axd_protocol::Point;
use axd_protocol::keys::{Button, Key};
use on::Desktop;

const APP: &str = r#"
name = "App"
identity = "test.app"

[[window]]
id = "main"
title = "Main"
bounds = [40, 40, 600, 560]
children = [{ role = "textfield", id = "field", name = "Field", value = "text" }]
"#;

fn settled(world: &World) {
    assert!(world.input().settle(Duration::from_secs(20)));
}

#[test]
fn keys_are_doubtful_while_somebody_has_the_keyboard_to_itself_and_the_mouse_is_not() {
    let world = World::of(&[APP]);
    let desktop = Desktop::start();
    let key = Key::Char('a');
    let presses = || DesktopCall::Input(vec![InputStep::Key(key, true), InputStep::Key(key, false)]);
    assert_eq!(desktop.call(presses()), Ok(DesktopAnswer::Done));
    // It may have ended without giving it back.
    world.settings(|settings| settings.secure_input_held_by = Some(4711));
    for call in [presses(), DesktopCall::Input(vec![InputStep::Text("a".into())])] {
        let sent = desktop.call(call);
        assert!(
            matches!(&sent, Ok(DesktopAnswer::Doubtful(why)) if why.contains("process 4711")),
            "{sent:?}"
        );
    }
    let button = |down| InputStep::Button(Button::Left, down);
    let click = vec![InputStep::Move(Point { x: 700, y: 300 }), button(true), button(false)];
    assert_eq!(desktop.call(DesktopCall::Input(click)), Ok(DesktopAnswer::Done));
}

#[test]
fn what_is_made_does_not_silence_the_users_own_mouse_and_keyboard() {
    let world = World::of(&[APP]);
    let desktop = Desktop::start();
    let at = Point { x: 100, y: 100 };
    let steps =
        vec![InputStep::Move(at), InputStep::Text("a".into()), InputStep::Wheel { right: 0, down: 1 }];
    desktop.call(DesktopCall::Input(steps)).unwrap();
    settled(&world);
    let posted = world.input().posted();
    assert!(posted.len() >= 4 && posted.iter().all(|event| event.suppresses == 0.0), "{posted:?}");
}

#[test]
fn the_wheel_turns_where_the_pointer_is_going_though_it_has_not_got_there() {
    let world = World::of(&[APP]);
    let desktop = Desktop::start();
    for to in [Point { x: 120, y: 90 }, Point { x: 333, y: 222 }] {
        world.input().forget();
        let steps = vec![InputStep::Move(to), InputStep::Wheel { right: 0, down: 1 }];
        desktop.call(DesktopCall::Input(steps)).unwrap();
        settled(&world);
        let turned = world.input().posted().into_iter().find(|event| event.wheel != (0, 0)).unwrap();
        assert_eq!((turned.at.x, turned.at.y), (f64::from(to.x), f64::from(to.y)));
    }
}

#[test]
fn a_program_that_comes_to_nothing_is_told() {
    let _world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let args = ["-c", "exit 3"].map(str::to_owned).to_vec();
    let plan = LaunchPlan { app: "/bin/sh".to_owned(), args, ..LaunchPlan::default() };
    let Ok(DesktopAnswer::Launched { pid: Some(pid), .. }) = desktop.call(DesktopCall::Launch(plan)) else {
        panic!("it was not launched")
    };
    let is_it =
        |event: &DesktopEvent| matches!(event, DesktopEvent::Failed { pid: other, .. } if *other == pid);
    let DesktopEvent::Failed { how, .. } = desktop.hears(is_it) else { unreachable!("it was looked for") };
    assert_eq!(how, "exit status: 3");
}
