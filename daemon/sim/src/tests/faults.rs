//! Apps that hang, die, flood and lie.

use super::*;

#[tokio::test(start_paused = true)]
async fn walking_again_finds_it_at_once() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Notes").await;
    rig.sim("Notes fault drop-events").await;
    rig.sim("Notes press new").await;
    app.fence().await;
    assert!(!app.has("note-4"));
    app.ask(|reply| WorkerRequest::Walk { key: ElementKey::APP, reply }).await.unwrap();
    assert!(app.has("note-4"));
    rig.sim("Notes heal").await;
    rig.sim("Notes press new").await;
    app.fence().await;
    assert!(app.has("note-5"));
    rig.agrees("Notes", &app).await;
}

#[tokio::test(start_paused = true)]
async fn a_hung_app_is_degraded_until_it_answers_again() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Notes").await;
    rig.sim("Notes fault hang").await;
    let failure = app.ask(|reply| WorkerRequest::Fence { reply }).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unresponsive);
    assert!(app.degraded.is_some(), "a fence that is not reached is a call that is not answered");
    let walk = app.ask(|reply| WorkerRequest::Walk { key: ElementKey::APP, reply }).await.unwrap_err();
    assert_eq!(walk.kind, FailureKind::Unresponsive);
    assert!(app.degraded.as_ref().is_some_and(|text| text.contains("800 ms")), "{:?}", app.degraded);
    let refused = rig.try_sim("Notes press new").await.unwrap_err();
    assert!(refused.native.contains("ax sim Notes heal"), "{refused}");
    rig.sim("Notes heal").await;
    app.until(|app| app.degraded.is_none()).await;
    rig.sim("Notes press new").await;
    app.fence().await;
    assert!(app.complete);
    rig.agrees("Notes", &app).await;
}

#[tokio::test(start_paused = true)]
async fn an_app_that_hangs_before_it_is_attached_is_walked_when_it_wakes() {
    let mut rig = Rig::built_in();
    rig.sim("Paint fault hang").await;
    let mut app = rig.begin("Paint", 64);
    app.until(|app| app.degraded.is_some()).await;
    assert!(!app.complete && app.nodes.is_empty());
    rig.sim("Paint heal").await;
    app.until(|app| app.complete).await;
    assert!(app.has("canvas") && app.degraded.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_slow_app_is_walked_all_the_same() {
    let mut rig = Rig::built_in();
    rig.sim("Settings fault slow 300").await;
    let app = rig.attach("Settings").await;
    assert!(app.has("apply") && app.degraded.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_dead_app_is_gone_from_the_desktop_and_its_worker_says_so() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Paint").await;
    rig.sim("Paint fault die").await;
    assert!(rig.apps.iter().all(|app| app.name != "Paint"));
    assert!(rig.windows.iter().all(|window| window.title != "Paint"));
    app.until(|app| app.degraded.is_some()).await;
    let failure = app.ask(|reply| WorkerRequest::Fence { reply }).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Gone);
    let idle = rig.try_sim("Paint press canvas").await.unwrap_err();
    assert!(idle.native.contains("ax sim Paint launch"), "{idle}");
}

#[tokio::test(start_paused = true)]
async fn a_flood_nobody_listens_to_costs_nothing_and_ends_at_the_truth() {
    let mut rig = Rig::built_in();
    let (out, from) = mpsc::channel(1);
    let mut app = rig.attach("Calculator").await;
    let counters = Arc::new(Counters::default());
    app.mailbox = rig.desktop.attach(&rig.app("Calculator"), out, Arc::clone(&counters));
    app.from = from;
    app.nodes.clear();
    app.counters = counters;
    app.complete = false;
    rig.sim("Calculator fault flood 20000").await;
    app.until(|app| app.complete).await;
    app.batches.clear();
    rig.sim("Calculator fault flood 20000").await;
    app.fence().await;
    assert_eq!(app.value("display"), "20000");
    assert!(app.count(|counters| &counters.events) >= 20_000);
    assert!(app.batches.len() <= 3, "{} batches", app.batches.len());
}

#[tokio::test(start_paused = true)]
async fn a_moved_widget_keeps_its_key() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Notes").await;
    let before = app.key("search");
    rig.sim("Notes fault reparent search status").await;
    app.fence().await;
    assert_eq!(app.key("search"), before);
    assert!(app.inside("status").contains(&before) && !app.inside("toolbar").contains(&before));
    rig.agrees("Notes", &app).await;
}

#[tokio::test(start_paused = true)]
async fn cycles_and_second_parents_are_cut_in_the_walk_and_after_it() {
    for (fault, name) in [("cycle", "Notes"), ("double-parent", "Calculator"), ("cycle keypad", "Calculator")]
    {
        let mut rig = Rig::built_in();
        let mut before = rig.attach(name).await;
        let sound = before.text();
        rig.sim(&format!("{name} fault {fault}")).await;
        before.fence().await;
        assert_eq!(before.text(), sound, "{fault}, after the walk");
        let during = rig.attach(name).await;
        assert_eq!(during.nodes.len(), before.nodes.len(), "{fault}, in the walk");
        rig.sim(&format!("{name} heal")).await;
        before.fence().await;
        rig.agrees(name, &before).await;
    }
}

#[tokio::test(start_paused = true)]
async fn elements_that_die_before_they_are_read_are_never_told() {
    let mut rig = Rig::built_in();
    rig.sim("Notes fault vanish 5").await;
    let mut app = rig.attach("Notes").await;
    let sound = app.text();
    rig.sim("Notes fault vanish 5").await;
    app.fence().await;
    assert_eq!(app.text(), sound);
}

#[tokio::test(start_paused = true)]
async fn an_app_that_suddenly_is_huge_is_read() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Paint").await;
    rig.sim("Paint fault huge 3000").await;
    app.fence().await;
    assert!(app.nodes.len() > 3000);
    rig.agrees("Paint", &app).await;
}
