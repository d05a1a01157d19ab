//! Observing: what apps announce, refuse to announce and never announce; sleep; and letting go of it all.

use std::time::Duration;

use axd_double::ax::Error;
use axd_double::faults::{Call, Fault};
use axd_double::{World, ledger};
use axd_platform::Act;
use axd_protocol::Role;
use axd_sim::SimVerb;

use crate::on::Desktop;
use crate::scripts::APP;

#[test]
fn observers_that_are_refused_are_asked_for_again() {
    let world = World::of(&[APP]);
    world.faults().add(Fault {
        call: Some(Call::AddNotification),
        name: Some("AXValueChanged".to_owned()),
        error: Some(Error::CannotComplete),
        times: Some(4),
        ..Fault::default()
    });
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.until("it is degraded while observers are refused, and then is not", |app| {
        app.complete && app.degraded.is_none()
    });
    let set =
        |number: u32| drop(world.act_as_user("App", SimVerb::Set, Some("slider"), Some(&number.to_string())));
    app.expect_announced("the value", set, |app, number| {
        app.facts("slider").value.as_deref() == Some(&number.to_string())
    });
}

#[test]
fn an_app_that_takes_no_observer_says_so_and_is_read_all_the_same() {
    let world = World::of(&[APP]);
    world.faults().add(Fault {
        call: Some(Call::AddNotification),
        error: Some(Error::CannotComplete),
        ..Fault::default()
    });
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.until("it is read, and degraded", |app| app.complete && app.degraded.is_some());
    assert!(app.has("press"));
}

#[test]
fn a_notification_that_an_app_does_not_have_is_no_reason_to_give_up() {
    let world = World::of(&[APP]);
    world.faults().add(Fault {
        call: Some(Call::AddNotification),
        name: Some("AXMenuOpened".to_owned()),
        error: Some(Error::NotificationUnsupported),
        ..Fault::default()
    });
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let press = |_| drop(world.act_as_user("App", SimVerb::Press, Some("press"), None));
    app.expect_announced("the rest", press, |app, number| {
        app.has_text(Role::Text, &format!("count {number}"))
    });
}

#[test]
fn what_happens_before_during_and_after_the_walk_is_in_the_tree() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    world.act_as_user("App", SimVerb::Fault, Some("slow"), Some("10"));
    let mut app = desktop.attach(&world, "App");
    world.act_as_user("App", SimVerb::Press, Some("press"), None);
    app.until("some of it is read", |app| app.has("main"));
    world.act_as_user("App", SimVerb::Press, Some("press"), None);
    world.act_as_user("App", SimVerb::Set, Some("slider"), Some("9"));
    world.act_as_user("App", SimVerb::Heal, None, None);
    app.walked();
    world.act_as_user("App", SimVerb::Press, Some("press"), None);
    app.until("all of it is in the tree", |app| {
        app.has_text(Role::Text, "count 3")
            && app.has("slider")
            && app.facts("slider").value.as_deref() == Some("9")
            && (1..=3).all(|row| app.has_text(Role::Text, &format!("row {row}")))
    });
    app.until("and spoken", |app| app.announcements.iter().any(|text| text == "Pressed"));
    let press = |_| drop(world.act_as_user("App", SimVerb::Press, Some("press"), None));
    app.expect_announced("what comes later", press, |app, number| {
        app.has_text(Role::Text, &format!("count {}", 3 + number))
    });
}

#[test]
fn the_page_of_an_electron_app_grows_into_the_tree() {
    let world = World::of(&[r#"
name = "Chat"
identity = "test.electron.chat"
[[window]]
id = "w"
title = "Chat"
children = [{ role = "document", id = "page", name = "Page", children = [
  { role = "group", id = "outer", children = [{ role = "group", id = "inner", children = [
    { role = "button", id = "send", name = "Send" },
  ] }] },
] }]
"#]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "Chat");
    app.until("the inside of the page", |app| app.has("send"));
    assert!(app.events() > 0, "the app announced it");
}

#[test]
fn after_sleep_an_app_is_observed_again_under_the_same_keys() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let (before, keys) = (world.observed().1, ["press", "label", "rows"].map(|id| app.key(id)));
    world.sleep();
    app.until("it is observed again", |_| world.observed().1 >= before);
    let press = |_| drop(world.act_as_user("App", SimVerb::Press, Some("press"), None));
    app.expect_announced("what comes later", press, |app, number| {
        app.has_text(Role::Text, &format!("count {number}"))
    });
    assert_eq!(["press", "label", "rows"].map(|id| app.key(id)), keys);
}

#[test]
fn nothing_is_left_behind_when_an_app_was_attached_used_and_let_go() {
    let world = World::of(&[APP]);
    let mark = ledger::mark();
    {
        let mut desktop = Desktop::start();
        let mut app = desktop.attach(&world, "App");
        app.walked();
        app.perform_ok("press", Act::Press);
        app.perform_ok("slider", Act::SetValue("3".into()));
        app.perform_ok("field", Act::Focus);
        world.act_as_user("App", SimVerb::Press, Some("press"), None);
        app.fence();
        app.walk_again();
        // Let go of while there is news on its way.
        world.act_as_user("App", SimVerb::Fault, Some("flood"), Some("slider 500"));
        app.mailbox = None;
        desktop.mac = None;
    }
    // The threads take a moment to end.
    let began = std::time::Instant::now();
    loop {
        let balance = ledger::balance(mark);
        if balance.is_even() {
            break;
        }
        assert!(balance.misused.is_empty(), "{balance}");
        assert!(began.elapsed() < Duration::from_secs(15), "{balance}");
        std::thread::yield_now();
    }
    assert_eq!(world.observed().0, 0, "no observer is left");
}

#[test]
fn without_permission_nothing_is_read_and_it_says_so() {
    let world = World::of(&[APP]);
    world.settings(|settings| settings.trusted = false);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.until("it says so", |app| app.degraded.is_some() || app.complete);
    assert!(!app.has("press"));
    world.settings(|settings| settings.trusted = true);
    app.until("it is read once it may be", |app| app.has("press"));
}
