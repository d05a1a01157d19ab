//! Trees that span processes: web pages, panels to open files.

use std::time::Duration;

use axd_double::World;
use axd_double::ax::GraftParent;
use axd_platform::{Act, DesktopEvent, FailureKind};
use axd_protocol::{Point, Role};
use axd_sim::SimVerb;

use crate::on::{Attached, Desktop};

const BROWSER: &str = r#"
name = "Browser"
identity = "test.browser"
[[window]]
id = "main"
title = "Browser"
bounds = [40, 40, 400, 400]
children = [
  { role = "button", id = "reload", name = "Reload" },
  { role = "group", id = "view", name = "View", height = 200 },
  { role = "text", id = "status", name = "loading" },
]
[[rule]]
on = "press:reload"
do = [{ rename = "status", text = "reloaded" }]
"#;

/// The same shape, so that what is told apart by the process alone has the same number.
const CONTENT: &str = r#"
name = "Content"
identity = "test.content"
[[window]]
id = "shell"
title = "Content"
bounds = [40, 40, 400, 400]
children = [{ role = "group", id = "root", name = "Root", height = 360, children = [
  { role = "button", id = "send", name = "Send" },
  { role = "text", id = "answer", name = "nothing" },
  { role = "list", id = "words", name = "Words", items = ["one"] },
] }]
[template.word]
role = "listitem"
id = "word-{n}"
name = "word {n}"
[[rule]]
on = "press:send"
do = [{ rename = "answer", text = "sent" }, { add = "word", into = "words" }]
"#;

fn spanning(above: GraftParent) -> World {
    let world = World::of(&[CONTENT, BROWSER]);
    world.graft(("Browser", "view"), ("Content", "root"), above);
    world
}

fn attached(world: &World) -> (Desktop, Attached) {
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(world, "Browser");
    app.walked();
    (desktop, app)
}

#[test]
fn what_another_process_shows_is_in_the_tree_and_told_apart() {
    let world = spanning(GraftParent::Holder);
    let (desktop, app) = attached(&world);
    assert_eq!(app.children[&app.key("view")], [app.key("root")], "{}", app.tree());
    assert!(app.has("send") && app.has("reload") && app.has_text(Role::Text, "nothing"), "{}", app.tree());
    let keys: std::collections::HashSet<_> = app.children.values().flatten().collect();
    assert_eq!(keys.len(), app.children.values().map(Vec::len).sum::<usize>(), "each is there once");
    let content = world.pid("Content");
    let is_content = |event: &DesktopEvent| matches!(event, DesktopEvent::AppUp(app) if app.pid == content);
    assert!(!desktop.seen.iter().any(is_content), "it is no app of its own");
}

#[test]
fn what_another_process_announces_is_heard() {
    let world = spanning(GraftParent::Holder);
    let (_desktop, mut app) = attached(&world);
    let before = app.missed();
    world.act_as_user("Content", SimVerb::Press, Some("send"), None);
    app.until("it is told", |app| app.has_text(Role::Text, "sent") && app.has_text(Role::Text, "word 1"));
    world.act_as_user("Browser", SimVerb::Press, Some("reload"), None);
    app.until("and so is the rest", |app| app.has_text(Role::Text, "reloaded"));
    assert_eq!(app.missed(), before, "none of it was found by reading again");
}

#[test]
fn elements_of_another_process_act_and_are_found_by_their_place() {
    for above in [GraftParent::Holder, GraftParent::OwnApp] {
        let world = spanning(above);
        let (_desktop, mut app) = attached(&world);
        app.perform_ok("send", Act::Press);
        app.until("it was pressed", |app| app.has_text(Role::Text, "sent"));
        let place = world.inspect("Browser", |inside| {
            let view = inside.model.find("view").expect("it is there");
            inside.model.place(view).and_then(|place| place.bounds).expect("it has a place")
        });
        let bounds = app.measure("send").bounds.expect("it has a place");
        let at = Point { x: bounds.x + 5, y: bounds.y + 5 };
        let at = if place.contains(at) { at } else { Point { x: place.x + 5, y: place.y + 5 } };
        let found = app.hit_test(at).expect("something of it is there");
        let inside: Vec<_> = ["root", "send", "answer", "words"].map(|id| app.key(id)).to_vec();
        assert!(inside.contains(&found), "{above:?}: {:?}", app.nodes.get(&found));
    }
}

#[test]
fn a_process_that_ends_takes_its_elements_and_leaves_the_app() {
    let world = spanning(GraftParent::Holder);
    let (mut desktop, mut app) = attached(&world);
    let (pid, view) = (world.pid("Browser"), app.key("view"));
    world.act_as_user("Content", SimVerb::Fault, Some("die"), None);
    app.until("its elements are gone", |app| !app.has("send") && !app.has("root"));
    assert!(app.has("view") && app.key("view") == view, "{}", app.tree());
    app.until("the app is well", |app| app.degraded.is_none());
    app.perform_ok("reload", Act::Press);
    app.until("and works", |app| app.has_text(Role::Text, "reloaded"));
    app.walk_again();
    assert!(!app.has("send"), "{}", app.tree());
    let told = desktop.call(|platform, gate| platform.close_app(pid, true, gate));
    assert!(told.is_ok(), "{told:?}");
    desktop.wait_for_event(|event| *event == DesktopEvent::AppGone { pid });
}

#[test]
fn a_process_that_comes_back_is_observed_too() {
    let world = spanning(GraftParent::Holder);
    let (_desktop, mut app) = attached(&world);
    let (old, before) = (world.pid("Content"), world.observed().1);
    assert_eq!(world.observers_of(old), 1);
    world.act_as_user("Content", SimVerb::Restart, None, None);
    app.until("what was there is gone", |app| !app.has("send"));
    world.graft(("Browser", "view"), ("Content", "root"), GraftParent::Holder);
    app.walk_again();
    assert!(app.has("send"), "{}", app.tree());
    app.until("it is observed", |_| world.observed().1 >= before);
    app.until("and the one before it no more", |_| world.observers_of(old) == 0);
    let press = |_| drop(world.act_as_user("Content", SimVerb::Press, Some("send"), None));
    app.expect_announced("what it does", press, |app, number| {
        app.has_text(Role::Text, &format!("word {number}"))
    });
}

#[test]
fn a_process_that_hangs_is_not_the_app_that_ended() {
    let world = spanning(GraftParent::Holder);
    let (_desktop, mut app) = attached(&world);
    world.act_as_user("Content", SimVerb::Fault, Some("hang"), None);
    let failed = app.perform("send", Act::Press).expect_err("it hangs");
    assert_eq!(failed.kind, FailureKind::Unresponsive, "{failed:?}");
    world.act_as_user("Content", SimVerb::Heal, None, None);
    assert!(app.wait_until(Duration::from_secs(30), |app| app.degraded.is_none()), "{:?}", app.degraded);
    app.walk_again();
    assert!(app.has("send") && app.has("reload"), "{}", app.tree());
}
