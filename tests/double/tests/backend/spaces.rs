//! Windows on spaces that are not shown, and apps that end without a word.

use axd_double::World;
use axd_platform::{Act, DesktopEvent, DesktopWindow};
use axd_protocol::Role;
use axd_sim::SimVerb;

use crate::on::Desktop;
use crate::scripts::{APP, OTHER};

fn windows_of(event: &DesktopEvent, pid: u32) -> Option<Vec<&DesktopWindow>> {
    match event {
        DesktopEvent::Windows(windows) => Some(windows.iter().filter(|window| window.pid == pid).collect()),
        _ => None,
    }
}

#[test]
fn a_window_on_another_space_is_put_away_and_not_closed() {
    let world = World::of(&[APP, OTHER]);
    let mut desktop = Desktop::start();
    let pid = world.pid("App");
    let shown = |event: &DesktopEvent| {
        windows_of(event, pid).is_some_and(|windows| windows.iter().any(|window| !window.minimized))
    };
    let away = |event: &DesktopEvent| {
        windows_of(event, pid).is_some_and(|windows| windows.iter().any(|window| window.minimized))
    };
    let closed = |event: &DesktopEvent| windows_of(event, pid).is_some_and(|windows| windows.is_empty());
    desktop.wait_for_event(shown);
    desktop.seen.clear();
    world.change_space("App", true);
    desktop.wait_for_event(away);
    assert!(!desktop.seen.iter().any(closed), "{:?}", desktop.seen);
    desktop.seen.clear();
    world.change_space("App", false);
    desktop.wait_for_event(shown);
    assert!(!desktop.seen.iter().any(closed), "{:?}", desktop.seen);
}

#[test]
fn a_window_on_another_space_stays_in_the_tree_until_it_is_closed() {
    let world = World::of(&[APP, OTHER]);
    let mut desktop = Desktop::start();
    let pid = world.pid("App");
    let mut app = desktop.attach(&world, "App");
    app.walked();
    world.change_space("App", true);
    desktop.wait_for_event(|event| {
        windows_of(event, pid).is_some_and(|windows| windows.iter().any(|window| window.minimized))
    });
    app.walk_again();
    assert!(app.has("press") && app.has("main"), "{}", app.tree());
    app.perform_ok("press", Act::Press);
    app.until("it acts all the same", |app| app.has_text(Role::Text, "count 1"));
    world.inspect("App", |inside| {
        let main = inside.model.find("main").expect("it is there");
        inside.model.remove(main);
    });
    app.until("it is closed", |app| !app.has("main"));
}

#[test]
fn an_app_that_ends_on_another_space_takes_its_windows_along() {
    let world = World::of(&[APP, OTHER]);
    let mut desktop = Desktop::start();
    let pid = world.pid("App");
    desktop.wait_for_event(|event| windows_of(event, pid).is_some_and(|windows| !windows.is_empty()));
    world.change_space("App", true);
    desktop.wait_for_event(|event| {
        windows_of(event, pid).is_some_and(|windows| windows.iter().any(|window| window.minimized))
    });
    desktop.seen.clear();
    world.act_as_user("App", SimVerb::Quit, None, None);
    desktop.wait_for_event(|event| windows_of(event, pid).is_some_and(|windows| windows.is_empty()));
}

#[test]
fn an_app_in_the_dock_that_ends_without_a_word_is_noticed() {
    let world = World::of(&[APP, OTHER]);
    world.settings(|settings| settings.manners.ends_are_told = false);
    let mut desktop = Desktop::start();
    let pid = world.pid("App");
    desktop.wait_for_event(|event| matches!(event, DesktopEvent::AppUp(app) if app.pid == pid));
    world.act_as_user("App", SimVerb::Fault, Some("die"), None);
    desktop.wait_for_event(|event| *event == DesktopEvent::AppGone { pid });
}
