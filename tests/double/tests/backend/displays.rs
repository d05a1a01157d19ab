//! Several displays: where they are, how many pixels a point they have, and that they come and go.

use axd_double::World;
use axd_platform::{CaptureTarget, CapturedImage, DesktopEvent, DesktopWindow, InputStep, WindowOp};
use axd_protocol::keys::Button;
use axd_protocol::{Bounds, DisplayInfo, Point, Role};
use axd_sim::SimVerb;

use crate::on::Desktop;

/// On the display that is left of the main one, and higher.
const LEFT: &str = r#"
name = "Left"
identity = "test.left"
running = false
[[window]]
id = "main"
title = "Left"
bounds = [-280, -40, 200, 150]
children = [{ role = "button", id = "press", name = "Press" }, { role = "text", id = "label", name = "not yet" }]
[[rule]]
on = "press:press"
do = [{ rename = "label", text = "pressed" }]
"#;

fn main_display() -> DisplayInfo {
    let bounds = Bounds { x: 0, y: 0, width: 400, height: 300 };
    DisplayInfo { display: 1, name: "Built-in".to_owned(), primary: true, bounds, scale: 1.0 }
}

fn left_display() -> DisplayInfo {
    let bounds = Bounds { x: -300, y: -60, width: 300, height: 240 };
    DisplayInfo { display: 2, name: "Desk".to_owned(), primary: false, bounds, scale: 2.0 }
}

/// A world with both, and the app on the left one.
fn two_displays() -> World {
    let world = World::of(&[LEFT]);
    world.connect_displays(vec![main_display(), left_display()]);
    world.act_as_user("Left", SimVerb::Launch, None, None);
    world
}

fn window_of(desktop: &mut Desktop, pid: u32, is_it: impl Fn(&DesktopWindow) -> bool) -> DesktopWindow {
    let find = |event: &DesktopEvent| match event {
        DesktopEvent::Windows(windows) => {
            windows.iter().find(|window| window.pid == pid && is_it(window)).cloned()
        }
        _ => None,
    };
    let told = desktop.wait_for_event(|event| find(event).is_some());
    find(&told).expect("it was just found")
}

fn picture(desktop: &Desktop, of: CaptureTarget) -> CapturedImage {
    match desktop.call(|platform, _| platform.capture(of, false)) {
        Ok(picture) => picture,
        other => panic!("{of:?}: {other:?}"),
    }
}

#[test]
fn displays_are_told_in_points_from_the_corner_of_the_main_one() {
    let _world = two_displays();
    let mut desktop = Desktop::start();
    // AppKit learns their names a little later.
    let expected = DesktopEvent::Displays(vec![main_display(), left_display()]);
    desktop.wait_for_event(|event| *event == expected);
}

#[test]
fn displays_that_come_change_and_go_are_told_and_so_are_the_windows_that_move_with_them() {
    let world = World::of(&[LEFT]);
    let mut desktop = Desktop::start();
    let connect = |desktop: &mut Desktop, displays: &[DisplayInfo]| {
        desktop.seen.clear();
        world.connect_displays(displays.to_vec());
        desktop.wait_for_event(|event| *event == DesktopEvent::Displays(displays.to_vec()));
    };
    connect(&mut desktop, &[main_display()]);
    connect(&mut desktop, &[main_display(), left_display()]);
    world.act_as_user("Left", SimVerb::Launch, None, None);
    let pid = world.pid("Left");
    let is_at = |x, y| move |window: &DesktopWindow| window.bounds.is_some_and(|it| (it.x, it.y) == (x, y));
    window_of(&mut desktop, pid, is_at(-280, -40));
    connect(&mut desktop, &[main_display(), DisplayInfo { scale: 1.0, ..left_display() }]);
    connect(&mut desktop, &[main_display()]);
    window_of(&mut desktop, pid, is_at(40, 40));
}

#[test]
fn a_picture_has_the_pixels_of_the_display_it_is_of_whoever_takes_it() {
    let world = two_displays();
    let mut desktop = Desktop::start();
    let window = window_of(&mut desktop, world.pid("Left"), |_| true);
    let bounds = window.bounds.expect("it is on the screen");
    let part = Bounds { x: -250, y: -30, width: 40, height: 30 };
    let gap = Bounds { x: -10, y: 200, width: 20, height: 10 };
    let shots = [
        (CaptureTarget::Window(window.window), bounds, 2.0),
        (CaptureTarget::Region(part), part, 2.0),
        (CaptureTarget::Display(2), left_display().bounds, 2.0),
        (CaptureTarget::Display(1), main_display().bounds, 1.0),
        // Left of the main display is nothing there: the other one ends above.
        (CaptureTarget::Region(gap), gap, 1.0),
        (CaptureTarget::All, Bounds { x: -300, y: -60, width: 700, height: 360 }, 2.0),
    ];
    for (of, place, scale) in shots {
        let [by_kit, by_server] = [true, false].map(|kit| {
            world.settings(|settings| settings.screen_capture_kit = kit);
            picture(&desktop, of)
        });
        let size = (f64::from(place.width) * scale, f64::from(place.height) * scale);
        for taken in [&by_kit, &by_server] {
            assert_eq!((f64::from(taken.width), f64::from(taken.height)), size, "{of:?}");
            assert_eq!((taken.origin, taken.scale), (Point { x: place.x, y: place.y }, scale), "{of:?}");
        }
        assert!(by_kit.rgb == by_server.rgb, "{of:?} is the same whoever takes it");
        assert!(by_kit.rgb.chunks(3).any(|pixel| pixel != [0; 3]), "{of:?} shows something");
    }
    let taken = picture(&desktop, CaptureTarget::Region(gap));
    let is_dark = |row: &[u8]| row[..30].iter().all(|byte| *byte == 0) && row[30..].iter().any(|it| *it != 0);
    assert!(taken.rgb.chunks(60).all(is_dark), "nothing is shown where no display is");
}

#[test]
fn a_window_on_two_displays_has_the_pixels_of_the_one_that_most_of_it_is_on() {
    let world = two_displays();
    let mut desktop = Desktop::start();
    let window = window_of(&mut desktop, world.pid("Left"), |_| true).window;
    for (x, scale) in [(-150, 2.0), (-50, 1.0)] {
        let op = WindowOp::Move(Point { x, y: 20 });
        desktop.call(|platform, gate| platform.window_op(window, op, gate)).expect("it is moved");
        for kit in [true, false] {
            world.settings(|settings| settings.screen_capture_kit = kit);
            let taken = picture(&desktop, CaptureTarget::Window(window));
            assert_eq!((f64::from(taken.width), taken.scale), (200.0 * scale, scale), "at {x}, kit {kit}");
            assert_eq!(taken.origin, Point { x, y: 20 });
        }
    }
}

#[test]
fn the_mouse_reaches_a_display_with_negative_coordinates() {
    let world = two_displays();
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "Left");
    app.walked();
    let bounds = app.measure("press").bounds.expect("it has a place");
    assert!(bounds.x < 0 && bounds.y < 0, "{bounds:?}");
    let middle = Point { x: bounds.x + bounds.width / 2, y: bounds.y + bounds.height / 2 };
    assert_eq!(app.hit_test(middle), Some(app.key("press")));
    let click = [true, false].map(|down| InputStep::Button(Button::Left, down));
    desktop
        .call(|platform, gate| {
            platform
                .input(([InputStep::Move(middle)].into_iter().chain(click).collect::<Vec<_>>()).into(), gate)
        })
        .expect("it is clicked");
    app.until("the click arrived", |app| app.has_text(Role::Text, "pressed"));
    assert_eq!(desktop.call(|platform, _| platform.pointer()), Ok(middle));
}

#[test]
fn a_window_fills_the_display_that_it_is_on() {
    let world = two_displays();
    let mut desktop = Desktop::start();
    let pid = world.pid("Left");
    let window = window_of(&mut desktop, pid, |_| true).window;
    desktop
        .call(|platform, gate| platform.window_op(window, WindowOp::Maximize, gate))
        .expect("it is made larger");
    let filled = window_of(&mut desktop, pid, |window| window.maximized);
    assert_eq!(filled.bounds, Some(left_display().bounds));
    desktop.seen.clear();
    desktop
        .call(|platform, gate| platform.window_op(window, WindowOp::Restore, gate))
        .expect("and smaller again");
    let before = Bounds { x: -280, y: -40, width: 200, height: 150 };
    window_of(&mut desktop, pid, |window| window.bounds == Some(before) && !window.maximized);
}

#[test]
fn what_appkit_learns_late_of_a_display_is_read_once_more() {
    let world = World::of(&[LEFT]);
    world.connect_displays(vec![main_display()]);
    let mut desktop = Desktop::start();
    desktop.wait_for_event(|event| matches!(event, DesktopEvent::Displays(_)));
    desktop.seen.clear();
    world.connect_displays(vec![main_display(), left_display()]);
    // Its name is AppKit's to tell; CoreGraphics has none.
    desktop.wait_for_event(|event| {
        matches!(event, DesktopEvent::Displays(displays) if displays.iter().any(|display| display.name == "Desk"))
    });
}
