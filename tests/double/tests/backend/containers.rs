//! What only the observers of a container hear, what nobody hears, and what is read again because of it. The machine saves power
//! in these tests, so that no sweep finds what was not heard.

use std::sync::atomic::Ordering;

use axd_double::World;
use axd_platform::{DesktopEvent, Responder, WorkerRequest};
use axd_protocol::{Role, State};
use axd_sim::SimVerb;

use crate::on::{Attached, Desktop};
use crate::scripts::APP;

fn attached(script: &str) -> (World, Desktop, Attached) {
    let world = World::of(&[script]);
    world.settings(|settings| settings.saves_power = true);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    app.fence();
    (world, desktop, app)
}

#[test]
fn a_selection_that_only_the_table_announces_is_heard() {
    let script = APP.replace(
        r#"items = ["first", "second"] }"#,
        r#"children = [{ role = "listitem", id = "one", name = "one" }, { role = "listitem", id = "two", name = "two" }] }"#,
    );
    let (world, _desktop, mut app) = attached(&script);
    let row = |number: u32| if number.is_multiple_of(2) { "one" } else { "two" };
    let select = |number: u32| drop(world.act_as_user("App", SimVerb::Select, Some(row(number)), None));
    app.expect_announced("the selection", select, |app, number| {
        app.facts(row(number)).states.has(State::Selected)
    });
}

#[test]
fn rows_that_only_the_table_announces_are_heard() {
    let (world, _desktop, mut app) = attached(APP);
    let press = |_| drop(world.act_as_user("App", SimVerb::Press, Some("press"), None));
    app.expect_announced("the row", press, |app, number| app.has(&format!("row-{number}")));
}

#[test]
fn that_a_window_is_destroyed_is_heard_and_counted() {
    let (world, _desktop, mut app) = attached(APP);
    world.act_as_user("App", SimVerb::Press, Some("ask"), None);
    app.until("it is open", |app| app.has("yes"));
    app.fence();
    let before = app.counters.destroyed.load(Ordering::Relaxed);
    // Every second one is taken by another that listens.
    for _ in 0..3 {
        world.act_as_user("App", SimVerb::Press, Some("yes"), None);
        app.until("it is closed", |app| !app.has("yes"));
        world.act_as_user("App", SimVerb::Press, Some("ask"), None);
        app.until("it is open again", |app| app.has("yes"));
        app.fence();
    }
    assert!(app.counters.destroyed.load(Ordering::Relaxed) > before, "none was heard");
}

#[test]
fn a_window_that_closes_without_a_word_leaves_the_tree_when_it_leaves_the_screen() {
    let (world, mut desktop, mut app) = attached(APP);
    world.act_as_user("App", SimVerb::Press, Some("ask"), None);
    app.until("it is open", |app| app.has("yes"));
    let open = |event: &DesktopEvent| matches!(event, DesktopEvent::Windows(windows) if windows.len() == 2);
    desktop.wait_for_event(open);
    app.fence();
    world.act_as_user("App", SimVerb::Fault, Some("drop-events"), None);
    world.act_as_user("App", SimVerb::Press, Some("yes"), None);
    // The desktop looks again when anything happens on it.
    world.post("App", None, "AXWindowMoved");
    app.until("it is closed", |app| !app.has("yes"));
}

#[test]
fn the_parent_of_what_turns_out_to_be_gone_is_read_again() {
    let (world, _desktop, mut app) = attached(APP);
    world.act_as_user("App", SimVerb::Press, Some("press"), None);
    app.until("there is a row", |app| app.has("row-1"));
    app.fence();
    world.act_as_user("App", SimVerb::Fault, Some("drop-events"), None);
    world.act_as_user("App", SimVerb::Press, Some("press"), None);
    let gone = app.key("row-1");
    world.inspect("App", |inside| {
        let row = inside.model.find("row-1").expect("it is there");
        inside.model.remove(row);
    });
    assert!(!app.has("row-2"), "nothing was announced");
    let read = app.ask(|reply| WorkerRequest::Read { keys: vec![gone], reply });
    assert_eq!(read, Ok(()));
    app.until("the rest of the list is read too", |app| !app.has("row-1") && app.has("row-2"));
}

#[test]
fn no_more_containers_are_registered_than_an_app_can_bear() {
    let list = |n: usize| {
        format!("{{ role = \"list\", id = \"list-{n}\", name = \"List {n}\", items = [\"item\"] }}")
    };
    let lists: Vec<String> = (0..300).map(list).collect();
    let script = format!(
        "name = \"App\"\nidentity = \"test.app\"\n[[window]]\nid = \"main\"\ntitle = \"Main\"\nchildren = [{}]\n",
        lists.join(", ")
    );
    let (world, _desktop, app) = attached(&script);
    // Each list has a scroll area around it, which is a container too.
    assert!(app.has("list-299"), "{}", app.tree());
    let per_list = 5;
    let (_, registered) = world.observed();
    assert!(registered < 256 * per_list + 100, "{registered} are registered");
}

#[test]
fn when_a_port_was_full_everything_is_read_again_before_a_fence_is_reached() {
    let (world, _desktop, mut app) = attached(APP);
    world.act_as_user("App", SimVerb::Fault, Some("drop-events"), None);
    world.act_as_user("App", SimVerb::Press, Some("press"), None);
    app.fence();
    assert!(app.has_text(Role::Text, "count 0"), "nothing was announced");
    // The thread that observes the app waits for an answer, and its port fills.
    world.act_as_user("App", SimVerb::Fault, Some("slow"), Some("300"));
    let mailbox = app.mailbox.as_ref().expect("it is attached");
    assert!(mailbox.send(WorkerRequest::Fence { reply: Responder::ignored() }));
    world.post_many("App", "slider", "AXValueChanged", 4_000);
    app.until("what was lost is read", |app| app.has_text(Role::Text, "count 1"));
}
