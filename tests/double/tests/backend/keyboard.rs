//! What the backend says of what it sent: keys that may be swallowed, and programs that come to nothing.

use std::time::Duration;

use axd_double::World;
use axd_platform::{DesktopEvent, InputStep, LaunchPlan, Launched};
use axd_protocol::Point;
use axd_protocol::keys::{Button, Key};

use crate::on::Desktop;
use crate::scripts::APP;

fn settled(world: &World) {
    assert!(world.input().settle(Duration::from_secs(20)));
}

#[test]
fn keys_are_doubtful_while_somebody_has_the_keyboard_to_itself_and_the_mouse_is_not() {
    let world = World::of(&[APP]);
    let desktop = Desktop::start();
    let key = Key::Char('a');
    let input = |steps: Vec<InputStep>| desktop.call(|platform, gate| platform.input(steps.into(), gate));
    let presses = || vec![InputStep::Key(key, true), InputStep::Key(key, false)];
    assert_eq!(input(presses()), Ok(None));
    // It may have ended without giving it back.
    world.secure_input(4711, true);
    for steps in [presses(), vec![InputStep::Text("a".into())]] {
        let sent = input(steps);
        assert!(matches!(&sent, Ok(Some(why)) if why.contains("process 4711")), "{sent:?}");
    }
    let told = |pid: u32| {
        world.secure_input(pid, true);
        let (sent, findings) = (input(presses()).unwrap().unwrap(), desktop.examine());
        world.secure_input(pid, false);
        let finding = findings.into_iter().find(|finding| finding.what == "secure input").unwrap();
        (sent, finding.remedy.unwrap_or_default())
    };
    world.secure_input(4711, false);
    let (warning, fix) = told(std::process::id());
    assert!(warning.contains("exclusive use") && fix.contains("quit the app"), "{warning}; {fix}");
    // More than the system gives to a process.
    let (warning, fix) = told(99_999_999);
    assert!(warning.contains("has ended") && fix.contains("log out"), "{warning}; {fix}");
    world.secure_input(4711, true);
    let button = |down| InputStep::Button(Button::Left, down);
    let click = vec![InputStep::Move(Point { x: 700, y: 300 }), button(true), button(false)];
    assert_eq!(input(click), Ok(None));
}

#[test]
fn what_is_made_does_not_silence_the_users_own_mouse_and_keyboard() {
    let world = World::of(&[APP]);
    let desktop = Desktop::start();
    let at = Point { x: 100, y: 100 };
    let steps =
        vec![InputStep::Move(at), InputStep::Text("a".into()), InputStep::Wheel { right: 0, down: 1 }];
    desktop.call(|platform, gate| platform.input(steps.into(), gate)).unwrap();
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
        desktop.call(|platform, gate| platform.input(steps.into(), gate)).unwrap();
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
    let Ok(Launched { pid: Some(pid), .. }) = desktop.call(|platform, gate| platform.launch(plan, gate))
    else {
        panic!("it was not launched")
    };
    let is_it =
        |event: &DesktopEvent| matches!(event, DesktopEvent::Ended { pid: other, .. } if *other == pid);
    let DesktopEvent::Ended { how, .. } = desktop.wait_for_event(is_it) else {
        unreachable!("it was looked for")
    };
    assert_eq!(how.as_deref(), Some("exit status: 3"));
}

#[test]
fn what_goes_down_and_comes_up_belongs_together_and_to_nothing_else() {
    let world = World::of(&[APP]);
    let desktop = Desktop::start();
    for _ in 0..2 {
        let buttons = [true, false].map(|down| InputStep::Button(Button::Left, down));
        let steps: Vec<InputStep> =
            [InputStep::Move(Point { x: 700, y: 300 })].into_iter().chain(buttons).collect();
        desktop.call(|platform, gate| platform.input(steps.into(), gate)).unwrap();
    }
    settled(&world);
    let posted = world.input().posted();
    let presses: Vec<i64> = posted.iter().filter(|event| event.number < 3).map(|event| event.press).collect();
    assert!(matches!(presses[..], [a, b, c, d] if a == b && c == d && c == a + 1), "{presses:?}");
}
