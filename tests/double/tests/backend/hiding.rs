//! Apps that are hidden: their windows are nowhere on the screen, and yet all of them is there.

use std::time::{Duration, Instant};

use axd_double::World;
use axd_platform::{Act, CaptureTarget, DesktopEvent, DesktopWindow, FailureKind, InputStep, Sent, WindowOp};
use axd_protocol::keys::Button;
use axd_protocol::{Point, Role};

use crate::on::Desktop;
use crate::scripts::{APP, OTHER};

/// Waits until the windows are such.
fn windows(desktop: &mut Desktop, are_so: impl Fn(&[DesktopWindow]) -> bool) -> Vec<DesktopWindow> {
    let told =
        desktop.wait_for_event(|event| matches!(event, DesktopEvent::Windows(windows) if are_so(windows)));
    let DesktopEvent::Windows(windows) = told else { unreachable!() };
    windows
}

fn is_shown(windows: &[DesktopWindow], app: u32) -> bool {
    windows.iter().any(|window| window.pid == app && !window.minimized)
}

fn is_in_front(event: &DesktopEvent, app: u32) -> bool {
    matches!(event, DesktopEvent::Frontmost { pid: Some(pid), window: Some(_) } if *pid == app)
}

#[test]
fn a_hidden_app_has_no_windows_on_the_screen_and_is_read_and_acts_all_the_same() {
    let world = World::of(&[OTHER, APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let (pid, other) = (world.pid("App"), world.pid("Other"));
    let shown = windows(&mut desktop, |windows| windows.iter().any(|window| window.pid == pid));
    let window = shown.iter().find(|window| window.pid == pid).expect("it is shown").window;
    desktop.wait_for_event(|event| is_in_front(event, pid));
    desktop.seen.clear();
    world.hide("App");
    let away = windows(&mut desktop, |windows| !is_shown(windows, pid));
    assert!(
        away.iter().any(|seen| seen.window == window && seen.minimized),
        "it is put away, not closed: {away:?}"
    );
    desktop.wait_for_event(|event| is_in_front(event, other));
    app.perform_ok("press", Act::Press);
    app.until("it goes on unseen", |app| app.has_text(Role::Text, "count 1"));
    app.walk_again();
    assert!(app.has("main") && app.has("slider"), "{}", app.tree());
    let of = CaptureTarget::Window(window);
    let failed = desktop.call(|platform, _| platform.capture(of, false)).expect_err("it shows nothing");
    assert_eq!((failed.kind, failed.sent), (FailureKind::NotSupported, Sent::No), "it is there: {failed:?}");
    assert!(!desktop.seen.contains(&DesktopEvent::AppGone { pid }));
    assert!(world.is_hidden("App"), "and nothing of this showed it");
}

#[test]
fn a_click_where_a_hidden_window_was_goes_to_what_is_there_now() {
    let world = World::of(&[&OTHER.replace("[700, 60, 300, 200]", "[40, 40, 600, 560]"), APP]);
    let mut desktop = Desktop::start();
    let mut other = desktop.attach(&world, "Other");
    other.walked();
    let bounds = other.measure("press").bounds.expect("it has a place");
    let at = Point { x: bounds.x + bounds.width / 2, y: bounds.y + bounds.height / 2 };
    world.hide("App");
    let click = [true, false].map(|down| InputStep::Button(Button::Left, down));
    desktop
        .call(|platform, gate| {
            platform.input(([InputStep::Move(at)].into_iter().chain(click).collect::<Vec<_>>()).into(), gate)
        })
        .unwrap();
    other.until("what was behind it was pressed", |other| other.has_text(Role::Text, "pressed"));
}

#[test]
fn whoever_gives_the_focus_to_a_window_of_a_hidden_app_shows_it() {
    let world = World::of(&[APP, OTHER]);
    let mut desktop = Desktop::start();
    let pid = world.pid("App");
    let shown = windows(&mut desktop, |windows| windows.iter().any(|window| window.pid == pid));
    let window = shown.iter().find(|window| window.pid == pid).expect("it is shown").window;
    for op in [WindowOp::Focus, WindowOp::Maximize, WindowOp::Restore] {
        desktop.seen.clear();
        world.hide("App");
        windows(&mut desktop, |windows| !is_shown(windows, pid));
        desktop.seen.clear();
        desktop
            .call(|platform, gate| platform.window_op(window, op, gate))
            .unwrap_or_else(|it| panic!("{op:?}: {it:?}"));
        windows(&mut desktop, |windows| is_shown(windows, pid));
        assert!(!world.is_hidden("App"), "{op:?}");
        if op == WindowOp::Focus {
            desktop.wait_for_event(|event| is_in_front(event, pid));
        }
    }
}

#[test]
fn an_app_that_was_hidden_from_the_start_is_there_and_its_windows_come_when_it_is_shown() {
    let world = World::of(&[OTHER, APP]);
    world.hide("App");
    let mut desktop = Desktop::start();
    let pid = world.pid("App");
    let mut app = desktop.attach(&world, "App");
    app.walked();
    assert!(app.has("press"), "{}", app.tree());
    let first = windows(&mut desktop, |_| true);
    assert!(!is_shown(&first, pid), "{first:?}");
    world.act_as_user("App", axd_sim::SimVerb::Raise, Some("main"), None);
    desktop.wait_for_event(|event| is_in_front(event, pid));
    windows(&mut desktop, |windows| is_shown(windows, pid));
}

#[test]
fn an_app_behind_others_that_hides_and_shows_itself_is_followed_by_what_the_host_tells() {
    let world = World::of(&[APP, OTHER]);
    let mut desktop = Desktop::start();
    let pid = world.pid("App");
    let has = |windows: &[DesktopWindow]| is_shown(windows, pid);
    windows(&mut desktop, has);
    // For longer than anybody looks by himself: nothing but the host tells of it.
    let began = Instant::now();
    let mut rounds = 0;
    while rounds < 3 || began.elapsed() < Duration::from_millis(1_500) {
        desktop.seen.clear();
        world.hide("App");
        windows(&mut desktop, |windows| !has(windows));
        world.show("App");
        desktop.seen.clear();
        windows(&mut desktop, has);
        rounds += 1;
    }
    assert_eq!(world.sim().active().0, Some(world.pid("Other")), "it stayed behind");
}
