//! Reading: what an app shows, each thing once, and nothing that must not be asked.

use axd_double::World;
use axd_double::ax::{Error, Part};
use axd_double::faults::{Call, Fault};
use axd_protocol::{Point, Role, State};
use axd_sim::SimVerb;

use crate::on::Desktop;
use crate::scripts::APP;

#[test]
fn an_app_is_read_as_it_is() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    assert_eq!((app.facts("press").role, app.facts("press").name.as_deref()), (Role::Button, Some("Press")));
    assert_eq!(app.facts("check").role, Role::Checkbox);
    assert!(app.facts("off").states.has(State::Disabled));
    assert_eq!(app.facts("slider").value.as_deref(), Some("5"));
    assert_eq!(app.facts("field").value.as_deref(), Some("text"));
    assert!(app.has_text(Role::Text, "count 0"), "{}", app.tree());
    assert!(app.has_text(Role::Text, "second"), "{}", app.tree());
    assert!(app.has_text(Role::Menu, "File"), "{}", app.tree());
    assert_eq!(app.degraded, None);
}

#[test]
fn the_value_of_a_secure_field_is_never_asked_for() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    assert!(app.facts("secret").states.has(State::Secure));
    assert_eq!(app.facts("secret").value, None);
    world.act_as_user("App", SimVerb::Type, Some("secret"), Some("x"));
    app.fence();
    app.walk_again();
    assert_eq!(app.facts("secret").value, None);
    assert_eq!(world.trace().secure_reads(), 0);
}

#[test]
fn the_attributes_of_an_element_are_read_at_once() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    world.trace().begin();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let asked = world.trace().end();
    let many = asked.iter().filter(|asked| asked.call == Call::ReadMany).count();
    assert!(many >= app.nodes.len(), "{many} of {}", app.nodes.len());
    // What is read alone is read of the app and of its one window, not of every element.
    let single = asked.iter().filter(|asked| asked.call == Call::Read).map(|asked| asked.name.as_str());
    let single: Vec<&str> = single.collect();
    let times = |name: &str| single.iter().filter(|other| **other == name).count();
    assert!(single.iter().all(|name| times(name) <= 2), "{single:?}, {} elements", app.nodes.len());
}

#[test]
fn whatever_error_one_element_answers_with_the_others_are_read() {
    for error in Error::ALL {
        let world = World::of(&[APP]);
        for call in [Call::Read, Call::ReadMany] {
            let widget = Some("check".to_owned());
            let fault =
                Fault { call: Some(call), widget, error: Some(error), times: Some(3), ..Fault::default() };
            world.faults().add(fault);
        }
        let mut desktop = Desktop::start();
        let mut app = desktop.attach(&world, "App");
        app.walked();
        assert!(
            app.has("press") && app.has("slider") && app.has_text(Role::Text, "second"),
            "{error:?}\n{}",
            app.tree()
        );
    }
}

#[test]
fn an_attribute_that_cannot_be_read_is_left_out_alone() {
    for error in [Error::NoValue, Error::AttributeUnsupported, Error::Failure] {
        let world = World::of(&[APP]);
        let (widget, name) = (Some("check".to_owned()), Some("AXTitle".to_owned()));
        world.faults().add(Fault {
            call: Some(Call::Read),
            widget,
            name,
            error: Some(error),
            ..Fault::default()
        });
        let mut desktop = Desktop::start();
        let mut app = desktop.attach(&world, "App");
        app.walked();
        assert_eq!((app.facts("check").role, &app.facts("check").name), (Role::Checkbox, &None), "{error:?}");
    }
}

#[test]
fn what_is_never_announced_is_found_by_looking() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    world.inspect("App", |inside| {
        let off = inside.model.find("off").expect("it is there");
        inside.model.set_state(off, State::Disabled, false);
    });
    let key = app.key("off");
    app.ask(|reply| axd_platform::WorkerRequest::Read { keys: vec![key], reply }).unwrap();
    assert!(!app.facts("off").states.has(State::Disabled));
}

#[test]
fn an_element_that_dies_under_a_read_is_gone_and_nothing_else_is() {
    let world = World::of(&[APP]);
    let widget = Some("check".to_owned());
    world.faults().add(Fault { widget, kills: true, times: Some(1), ..Fault::default() });
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    app.walk_again();
    assert!(!app.has("check") && app.has("press") && app.has("slider"), "{}", app.tree());
}

#[test]
fn the_same_element_has_the_same_key_however_often_it_is_read() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let keys = ["press", "field", "rows", "main"];
    let before = keys.map(|id| app.key(id));
    world.act_as_user("App", SimVerb::Press, Some("press"), None);
    app.fence();
    app.walk_again();
    assert_eq!(keys.map(|id| app.key(id)), before);
    let others: std::collections::HashSet<_> = app.children.values().flatten().collect();
    assert_eq!(
        others.len(),
        app.children.values().map(Vec::len).sum::<usize>(),
        "no element is in two places"
    );
}

#[test]
fn of_a_hundred_thousand_rows_those_in_view_are_read() {
    let world = World::of(&[r#"
name = "Big"
[[window]]
id = "w"
title = "Big"
children = [{ role = "table", id = "t", name = "T", rows = { total = 100000, visible = 20, cells = ["cell {row}", "b"] } }]
"#]);
    let mut desktop = Desktop::start();
    world.trace().begin();
    let mut app = desktop.attach(&world, "Big");
    app.walked();
    let asked = world.trace().end();
    let row_of = |part: Part| match part {
        Part::Row(row) | Part::RowCell(row, _) | Part::RowText(row, _) => Some(row),
        _ => None,
    };
    let farthest = asked.iter().filter_map(|asked| row_of(asked.element.part)).max();
    assert!(farthest.is_some_and(|row| row < 40), "row {farthest:?} was read");
    assert!(app.has_text(Role::Text, "cell 20") && !app.has_text(Role::Text, "cell 60"), "{}", app.tree());
    assert_eq!(app.totals[&app.key("t")], Some(100_000));
    world.act_as_user("Big", SimVerb::Scroll, Some("t"), Some("70000"));
    app.fence();
    app.walk_again();
    assert!(app.has_text(Role::Text, "cell 70001") && !app.has_text(Role::Text, "cell 5"), "{}", app.tree());
    assert!(world.trace().elements() < 100_000, "all rows were never handed out");
}

#[test]
fn what_is_at_a_point_is_found_and_announcements_are_counted() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let bounds = app.measure("check").bounds.expect("it has a place");
    let found = app.hit_test(Point { x: bounds.x + 5, y: bounds.y + 5 });
    assert_eq!(found, Some(app.key("check")));
    assert_eq!(app.hit_test(Point { x: 1270, y: 790 }), None, "nothing of the app is there");
    let before = app.counters.events.load(std::sync::atomic::Ordering::Relaxed);
    world.act_as_user("App", SimVerb::Press, Some("check"), None);
    app.until("it is checked", |app| app.facts("check").states.has(State::Checked));
    assert!(app.counters.events.load(std::sync::atomic::Ordering::Relaxed) > before);
}
