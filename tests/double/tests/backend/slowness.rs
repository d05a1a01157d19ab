//! Apps that are slow but answer, and how little is read of apps that nobody asks about.

use std::time::{Duration, Instant};

use axd_double::World;
use axd_platform::{Act, WorkerRequest};
use axd_protocol::Role;
use axd_sim::SimVerb;

use crate::on::{Attached, Desktop};
use crate::scripts::APP;

/// An app with an outline of many rows, each of which is asked for the row above it.
fn outline(rows: usize) -> String {
    let row = |n: usize| format!("{{ role = \"treeitem\", id = \"row-{n}\", name = \"Row {n}\" }}");
    let rows: Vec<String> = (0..rows).map(row).collect();
    format!(
        r#"
name = "App"
identity = "test.app"
[[window]]
id = "main"
title = "Main"
bounds = [40, 40, 600, 560]
children = [
  {{ role = "button", id = "press", name = "Press" }},
  {{ role = "text", id = "label", name = "not yet" }},
  {{ role = "tree", id = "tree", name = "Tree", children = [{}] }},
]
[[rule]]
on = "press:press"
do = [{{ rename = "label", text = "pressed" }}]
"#,
        rows.join(", ")
    )
}

#[test]
fn an_app_that_takes_ten_milliseconds_for_each_call_is_slow_and_never_silent() {
    let world = World::of(&[&outline(48)]);
    let mut desktop = Desktop::start();
    world.act_as_user("App", SimVerb::Fault, Some("slow"), Some("10"));
    let mut app = desktop.attach(&world, "App");
    app.walked();
    assert!(app.has("row-47"), "{}", app.tree());
    app.fence();
    assert_eq!(app.degradations, [] as [String; 0]);
}

#[test]
fn a_slow_app_can_be_acted_on_during_the_first_walk() {
    let world = World::of(&[&outline(400)]);
    let mut desktop = Desktop::start();
    world.act_as_user("App", SimVerb::Fault, Some("slow"), Some("4"));
    let mut app = desktop.attach(&world, "App");
    app.until("the button is read", |app| app.has("press"));
    app.perform_ok("press", Act::Press);
    assert!(!app.complete, "it did not wait until all was read");
    world.act_as_user("App", SimVerb::Heal, None, None);
    app.until("it was pressed", |app| app.has_text(Role::Text, "pressed"));
    assert_eq!(app.degradations, [] as [String; 0]);
}

/// Waits until no element was read for a second.
fn until_nothing_is_read(world: &World, app: &mut Attached) {
    let began = Instant::now();
    loop {
        let before = world.trace().calls();
        app.wait_until(Duration::from_secs(1), |_| world.trace().calls() != before);
        if world.trace().calls() == before {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "it is read for ever");
    }
}

#[test]
fn while_the_machine_saves_power_nothing_is_read_that_nobody_asked_for() {
    let world = World::of(&[APP]);
    world.settings(|settings| settings.saves_power = true);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    until_nothing_is_read(&world, &mut app);
    let (key, before) = (app.key("label"), world.trace().calls());
    let watch = WorkerRequest::Watch { interest: 1, keys: vec![key] };
    assert!(app.mailbox.as_ref().expect("it is attached").send(watch));
    app.until("what is waited on is read all the same", |_| world.trace().calls() > before);
}

#[test]
fn of_a_hidden_app_nothing_is_read_that_nobody_asked_for() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let before = world.trace().calls();
    app.until("it is swept", |_| world.trace().calls() > before);
    world.hide("App");
    until_nothing_is_read(&world, &mut app);
    let before = world.trace().calls();
    world.show("App");
    app.until("it is swept again", |_| world.trace().calls() > before + 100);
}
