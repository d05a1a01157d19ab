//! Panics of axd and exceptions of Apple's frameworks: they end where they arise, and nothing else does.

use std::time::{Duration, Instant};

use axd_double::World;
use axd_double::ax::Error;
use axd_double::faults::{Call, Fault};
use axd_platform::{Act, DesktopEvent, FailureKind, Sent};
use axd_protocol::Role;
use axd_sim::SimVerb;

use crate::on::Desktop;
use crate::scripts::{APP, OTHER};

fn until_it_panicked(world: &World) {
    let began = Instant::now();
    while !world.has_panicked() {
        assert!(began.elapsed() < Duration::from_secs(30), "it does not panic");
        std::thread::yield_now();
    }
}

#[test]
fn an_exception_while_an_element_is_read_costs_that_element_alone() {
    let world = World::of(&[APP]);
    for call in [Call::ReadMany, Call::ActionNames, Call::Settable, Call::Window] {
        let (widget, error) = (Some("field".to_owned()), Some(Error::Exception));
        world.faults().add(Fault { call: Some(call), widget, error, ..Fault::default() });
    }
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    assert!(app.has("press") && app.has("slider"), "{}", app.tree());
    world.faults().clear();
    app.walk_again();
    app.until("it is read later", |app| app.has("field"));
}

#[test]
fn an_exception_while_an_action_is_performed_leaves_its_outcome_uncertain() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let (call, error) = (Some(Call::Perform), Some(Error::Exception));
    world.faults().add(Fault { call, error, times: Some(1), ..Fault::default() });
    let failed = app.perform("press", Act::Press).expect_err("it threw");
    assert_eq!((failed.kind, failed.sent), (FailureKind::Refused, Sent::Maybe), "{failed:?}");
    app.until("it was done", |app| app.has_text(Role::Text, "count 1"));
}

#[test]
fn a_panic_on_the_thread_of_an_app_does_not_end_the_app() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    for number in 1..=3 {
        world.panic_on(&format!("app {}", world.pid("App")));
        // What changes makes the thread work, and sooner or later ask for the process of an element.
        world.act_as_user("App", SimVerb::Press, Some("press"), None);
        app.until("it goes on", |app| app.has_text(Role::Text, &format!("count {number}")));
        app.walk_again();
        until_it_panicked(&world);
        app.perform_ok("check", Act::Press);
    }
    app.fence();
    assert!(app.degraded.is_none() && app.has("check"), "{:?}\n{}", app.degraded, app.tree());
}

#[test]
fn a_panic_on_the_thread_of_the_desktop_does_not_end_it() {
    let world = World::of(&[APP, OTHER]);
    let mut desktop = Desktop::start();
    desktop.wait_for_event(|event| matches!(event, DesktopEvent::Windows(windows) if windows.len() == 2));
    world.panic_on("axd-desktop");
    // Windows that come and go make it work.
    let began = Instant::now();
    while !world.has_panicked() {
        assert!(began.elapsed() < Duration::from_secs(30), "it does not panic");
        world.act_as_user("App", SimVerb::Press, Some("ask"), None);
        world.act_as_user("App", SimVerb::Press, Some("yes"), None);
    }
    let pid = world.pid("Other");
    world.act_as_user("Other", SimVerb::Quit, None, None);
    desktop.wait_for_event(|event| matches!(event, DesktopEvent::AppGone { pid: gone } if *gone == pid));
    world.act_as_user("App", SimVerb::Press, Some("ask"), None);
    desktop.wait_for_event(|event| matches!(event, DesktopEvent::Windows(windows) if windows.len() == 2));
}
