//! Menus: their items are read when somebody asks for them or when a menu opens, and validated before one is said to be disabled.

use axd_double::World;
use axd_platform::{Act, ElementKey, FailureKind, UNCOUNTED, WindowOp, WorkerRequest};
use axd_protocol::{Role, State};

use crate::on::{Attached, Desktop};
use crate::scripts::OTHER;

const APP: &str = r#"
name = "App"
identity = "test.app"
[[window]]
id = "main"
title = "Main"
bounds = [40, 40, 600, 560]
children = [
  { role = "menubar", id = "bar", children = [{ role = "menu", id = "file", name = "File", children = [
    { role = "menuitem", id = "new", name = "New" },
    { role = "menuitem", id = "close", name = "Close", states = ["disabled"] },
  ] }] },
  { role = "text", id = "label", name = "nothing" },
]
[[rule]]
on = "press:new"
do = [{ rename = "label", text = "made" }]
"#;

fn attached(world: &World) -> (Desktop, Attached) {
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(world, "App");
    app.walked();
    (desktop, app)
}

fn unfold(app: &mut Attached, menu: &str) {
    let key = app.key(menu);
    assert_eq!(app.ask(|reply| WorkerRequest::Unfold { key, reply }), Ok(()));
}

#[test]
fn closed_menus_are_not_listed_at_the_start_nor_in_the_sweep_and_say_so() {
    let world = World::of(&[APP]);
    let (_desktop, mut app) = attached(&world);
    let file = app.key("file");
    assert!(!app.has("new"), "{}", app.tree());
    assert_eq!(app.totals.get(&file), Some(&Some(UNCOUNTED)), "it is not said to be all of it");
    assert!(app.facts("file").states.has(State::Collapsed));
    let before = world.trace().calls();
    app.until("everything was swept more than once", |_| world.trace().calls() > before + 200);
    app.walk_again();
    assert_eq!(world.trace().menus_built(), 0);
}

#[test]
fn the_items_of_a_menu_are_listed_once_when_somebody_asks_and_stay() {
    let world = World::of(&[APP]);
    let (_desktop, mut app) = attached(&world);
    unfold(&mut app, "file");
    assert!(app.has("new") && app.has("close"), "{}", app.tree());
    assert!(app.facts("new").states.has(State::Hidden), "the menu is closed");
    app.walk_again();
    assert!(app.has("new"), "{}", app.tree());
    assert_eq!(world.trace().menus_built(), 1);
}

#[test]
fn a_menu_that_opens_shows_its_items() {
    let world = World::of(&[APP]);
    let (_desktop, mut app) = attached(&world);
    app.perform_ok("file", Act::Press);
    app.until("its items are there", |app| app.has("new"));
    app.until("and tell whether they are enabled", |app| {
        app.facts("close").states.has(State::Disabled) && !app.facts("new").states.has(State::Disabled)
    });
}

#[test]
fn an_item_that_was_disabled_when_its_menu_was_last_open_is_validated_before_it_is_refused() {
    let world = World::of(&[APP]);
    let (_desktop, mut app) = attached(&world);
    unfold(&mut app, "file");
    assert!(!app.facts("new").states.has(State::Disabled), "what it says while it is closed is not believed");
    app.perform_ok("new", Act::Press);
    app.until("it was picked", |app| app.has_text(Role::Text, "made"));
}

#[test]
fn an_item_that_is_disabled_once_its_menu_is_open_is_refused_and_the_menu_closed() {
    let world = World::of(&[APP]);
    let (_desktop, mut app) = attached(&world);
    unfold(&mut app, "file");
    let failed = app.perform("close", Act::Press).expect_err("it is disabled");
    assert_eq!(failed.kind, FailureKind::Refused, "{failed:?}");
    app.until("the menu is closed again", |app| app.facts("file").states.has(State::Collapsed));
}

#[test]
fn an_item_of_an_app_in_the_background_works_once_its_window_has_the_focus() {
    let world = World::of(&[APP, OTHER]);
    let (mut desktop, mut app) = attached(&world);
    unfold(&mut app, "file");
    app.perform_ok("new", Act::Press);
    app.fence();
    assert!(app.has_text(Role::Text, "nothing"), "it answered and did nothing");
    let pid = world.pid("App");
    let window = world.sim().windows().into_iter().find(|seen| seen.pid == pid).expect("it is open").window;
    desktop
        .call(|platform, gate| platform.window_op(window, WindowOp::Focus, gate))
        .expect("it comes to the front");
    let is_front = |event: &axd_platform::DesktopEvent| matches!(event, axd_platform::DesktopEvent::Frontmost { pid: Some(front), .. } if *front == pid);
    desktop.wait_for_event(is_front);
    app.perform_ok("new", Act::Press);
    app.until("it was picked", |app| app.has_text(Role::Text, "made"));
}

#[test]
fn the_status_menu_of_an_accessory_app_is_left_alone() {
    let world = World::of(&[&APP.replace("test.app", "test.statusitem")]);
    let (_desktop, mut app) = attached(&world);
    assert!(!app.has("bar") && !app.has("file"), "{}", app.tree());
    app.walk_again();
    assert_eq!(world.trace().menus_built(), 0);
    let is_open = world.inspect("App", |inside| {
        let file = inside.model.find("file").expect("it is there");
        inside.model.widget(file).is_some_and(|file| file.states.has(State::Expanded))
    });
    assert!(!is_open, "it was not shown");
    assert!(app.nodes.contains_key(&ElementKey::APP));
}
