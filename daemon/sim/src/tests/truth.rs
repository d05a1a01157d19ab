//! What is kept true: the walk, hints, fences, interests, the sweep, and the profiles that announce badly.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_walk_finds_the_app_its_windows_and_everything_in_them() {
    let rig = Rig::built_in();
    let mut app = rig.begin("Settings", 64);
    app.next().await;
    assert_eq!(app.nodes[&ElementKey::APP].facts.role, Role::Application);
    assert_eq!(app.facts("main").window, Some(u64::from(rig.app("Settings").pid) * 100));
    app.until(|app| app.complete).await;
    assert!(app.batches.iter().all(|cause| *cause == Cause::Walk));
    assert!(app.is("password", State::Secure) && app.facts("password").value.is_none());
    assert_eq!(app.facts("volume").role, Role::Slider);
}

#[tokio::test(start_paused = true)]
async fn after_a_fence_everything_announced_has_been_told() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Calculator").await;
    for key in ["seven", "multiply", "six", "equals"] {
        rig.sim(&format!("calculator press {key}")).await;
    }
    app.fence().await;
    assert_eq!((app.value("display"), app.inside("history").len()), ("42", 1));
    assert_eq!(app.count(|counters| &counters.missed), 0);
    rig.agrees("Calculator", &app).await;
}

#[tokio::test(start_paused = true)]
async fn a_resting_worker_makes_no_call_but_for_the_sweep() {
    let rig = Rig::built_in();
    let app = rig.attach("Paint").await;
    let before = app.count(|counters| &counters.calls);
    tokio::time::advance(Duration::from_millis(400)).await;
    tokio::task::yield_now().await;
    assert_eq!(app.count(|counters| &counters.calls), before);
}

#[tokio::test(start_paused = true)]
async fn scrolling_a_virtual_table_brings_rows_under_new_keys() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Table").await;
    let before = app.inside("table").to_vec();
    assert_eq!((before.len(), app.nodes[&app.key("table")].total), (20, Some(10_000)));
    rig.sim("Table scroll table 5000").await;
    app.fence().await;
    let after = app.inside("table");
    assert!(after.len() == 20 && after.iter().all(|row| !before.contains(row)));
    assert_eq!(app.nodes[&after[0]].facts.row, Some(4999));
    assert_eq!(app.nodes[&after[0]].children.len(), 3);
    rig.agrees("Table", &app).await;
}

#[tokio::test(start_paused = true)]
async fn rows_come_in_one_batch_with_what_is_in_them() {
    let rig = Rig::with("", "{ role = 'table', id = 't', generate = { rows = 5000, columns = 3 } }", "");
    let mut app = rig.begin("X", 64);
    while !app.complete {
        app.next().await;
        let rows = app.nodes.values().filter(|node| node.facts.role == Role::Row);
        assert!(rows.into_iter().all(|row| row.children.len() == 3));
    }
    assert_eq!(app.nodes.len(), 20_003);
    assert!(app.batches.len() > 3, "a large app comes in pieces");
}

#[tokio::test(start_paused = true)]
async fn what_changes_during_the_walk_is_read_again() {
    let mut rig = Rig::with(
        "",
        "{ role = 'text', id = 'first', value = 'old' }, { role = 'button', id = 'go' }, \
         { role = 'list', id = 'l', generate = { rows = 3000 } }",
        "[[rule]]\non = 'press:go'\ndo = [{ set = 'first', text = 'new' }]",
    );
    // With room for one message the walk cannot get ahead of us.
    let mut app = rig.begin("X", 1);
    app.until(|app| app.has("first")).await;
    rig.sim("X press go").await;
    app.until(|app| app.complete).await;
    app.fence().await;
    assert_eq!(app.value("first"), "new");
    rig.agrees("X", &app).await;
}

#[tokio::test(start_paused = true)]
async fn rows_that_gtk4_does_not_announce_are_found_by_who_waits_on_them() {
    let mut rig = Rig::with(
        "profile = 'gtk4'",
        "{ role = 'list', id = 'l' }, { role = 'button', id = 'more' }",
        "[template.item]\nrole = 'listitem'\nid = 'item-{n}'\nname = 'Item {n}'\n\
         [[rule]]\non = 'press:more'\ndo = [{ add = 'item', into = 'l' }]",
    );
    let mut app = rig.attach("X").await;
    rig.sim("X press more").await;
    app.fence().await;
    assert!(!app.has("item-1"), "a fence cannot tell what is not announced");
    app.watch(vec![app.key("l")]);
    app.until(|app| app.has("item-1")).await;
    assert_eq!(app.batches.last(), Some(&Cause::Reread));
    assert!(app.count(|counters| &counters.missed) > 0);
}

#[tokio::test(start_paused = true)]
async fn the_sweep_finds_what_a_silent_app_does_not_say() {
    let mut rig = Rig::with(
        "profile = 'silent'",
        "{ role = 'text', id = 't', value = 'old' }, { role = 'button', id = 'go' }",
        "[[rule]]\non = 'press:go'\ndo = [{ set = 't', text = 'new' }, { announce = 'hush' }]",
    );
    let mut app = rig.attach("X").await;
    rig.sim("X press go").await;
    app.fence().await;
    assert_eq!((app.value("t"), app.count(|counters| &counters.events)), ("old", 0));
    app.until(|app| app.value("t") == "new").await;
    assert_eq!(app.batches.last(), Some(&Cause::Sweep));
    assert_eq!(app.count(|counters| &counters.missed), 1);
}

#[tokio::test(start_paused = true)]
async fn appkit_never_announces_enabled_and_swallows_every_second_end() {
    let mut rig = Rig::with(
        "profile = 'appkit'",
        "{ role = 'button', id = 'a' }, { role = 'button', id = 'b' }, { role = 'button', id = 'c' }",
        "[[rule]]\non = 'press:a'\ndo = [{ disable = 'a' }, { remove = 'b' }, { remove = 'c' }]",
    );
    let mut app = rig.attach("X").await;
    rig.sim("X press a").await;
    app.fence().await;
    // The end of b was told, which has the worker read the parent: so c is known to be gone as well.
    assert!(!app.has("b") && !app.has("c") && !app.is("a", State::Disabled));
    app.watch(vec![app.key("a")]);
    app.until(|app| app.is("a", State::Disabled)).await;
}

#[tokio::test(start_paused = true)]
async fn qt_tells_late() {
    let mut rig = Rig::with(
        "profile = 'qt'",
        "{ role = 'text', id = 't' }, { role = 'button', id = 'go' }",
        "[[rule]]\non = 'press:go'\ndo = [{ set = 't', text = 'new' }]",
    );
    let mut app = rig.attach("X").await;
    let started = tokio::time::Instant::now();
    rig.sim("X press go").await;
    app.fence().await;
    assert_eq!(app.value("t"), "");
    app.until(|app| app.value("t") == "new").await;
    assert_eq!(started.elapsed().as_millis(), crate::announce::QT_NOTIFICATION_DELAY.as_millis());
    assert_eq!(app.batches.last(), Some(&Cause::Event));
}

#[tokio::test(start_paused = true)]
async fn an_element_never_listed_gives_its_parent_away_when_it_announces() {
    let mut rig = Rig::with(
        "profile = 'gtk4'",
        "{ role = 'list', id = 'l' }, { role = 'button', id = 'more' }, { role = 'button', id = 'name' }",
        "[template.item]\nrole = 'listitem'\nid = 'item-{n}'\n\
         [[rule]]\non = 'press:more'\ndo = [{ add = 'item', into = 'l' }]\n\
         [[rule]]\non = 'press:name'\ndo = [{ rename = 'last:l', text = 'Named' }]",
    );
    let mut app = rig.attach("X").await;
    rig.sim("X press more").await;
    rig.sim("X press name").await;
    app.fence().await;
    assert_eq!(app.facts("item-1").name.as_deref(), Some("Named"));
}

#[tokio::test(start_paused = true)]
async fn what_an_app_does_later_is_told_when_it_happens() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Settings").await;
    rig.sim("Settings press tab-advanced").await;
    rig.sim("Settings press update").await;
    app.fence().await;
    assert!(app.is("progress", State::Busy));
    app.until(|app| app.value("progress") == "100" && !app.is("progress", State::Busy)).await;
    app.until(|app| app.said == ["Up to date"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_several_threads_too_a_fence_comes_after_what_was_announced() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Calculator").await;
    rig.sim("Calculator press one").await;
    for turn in 1..=200 {
        rig.sim("Calculator press plus").await;
        rig.sim("Calculator press one").await;
        rig.sim("Calculator press equals").await;
        app.fence().await;
        assert_eq!(app.value("display"), (turn + 1).to_string());
        assert_eq!(app.inside("history").len(), turn);
    }
    rig.agrees("Calculator", &app).await;
}
