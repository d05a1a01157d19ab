//! The session: apps and windows that come and go, geometry, and the command `sim`.

use super::*;

#[tokio::test(start_paused = true)]
async fn what_is_there_is_told_before_start_returns() {
    let rig = Rig::built_in();
    let names: Vec<&str> = rig.apps.iter().map(|app| app.name.as_str()).collect();
    assert_eq!(names, ["Form", "Paint", "Table", "Settings", "Notes", "Calculator"]);
    assert_eq!((rig.apps[0].pid, rig.displays, rig.windows.len()), (1001, 1, 6));
    assert_eq!(rig.windows[0].title, "Calculator");
    assert_eq!(rig.frontmost, Some(rig.app("Calculator").pid));
}

#[tokio::test(start_paused = true)]
async fn dialogs_windows_and_announcements_are_told() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Settings").await;
    rig.sim("Settings press tab-advanced").await;
    rig.sim("Settings press reset").await;
    app.fence().await;
    assert!(app.is("confirm", State::Modal) && app.is("cancel", State::Focused));
    assert_eq!(rig.windows[0].title, "Reset all settings?");
    assert_eq!(Some(rig.windows[0].window), app.facts("confirm").window);
    rig.sim("Settings press ok").await;
    app.fence().await;
    assert!(!app.has("confirm"));
    assert_eq!(app.said, ["Settings were reset"]);
    assert_eq!(rig.windows.len(), 6);
}

#[tokio::test(start_paused = true)]
async fn an_app_started_again_has_another_pid_and_the_same_identity() {
    let mut rig = Rig::built_in();
    let before = rig.app("Notes");
    rig.sim("sim.notes restart").await;
    let after = rig.app("Notes");
    assert!(after.pid != before.pid && after.identity == before.identity);
    assert_eq!((rig.frontmost, rig.windows.len()), (Some(after.pid), 6));
    rig.sim(&format!("{} quit", after.pid)).await;
    assert_eq!(rig.windows.len(), 5);
    rig.sim("Notes launch").await;
    assert_eq!(rig.windows[0].pid, rig.app("Notes").pid);
}

#[tokio::test(start_paused = true)]
async fn elements_are_measured_and_found_by_point() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Settings").await;
    let (apply, user) = (app.key("apply"), app.key("user"));
    let keys = vec![apply, user, ElementKey(999_999)];
    let answer = app.ask(|reply| WorkerRequest::Measure { keys, reply }).await;
    let measured = answer.unwrap();
    let [Measured { bounds: Some(bounds), visible: true, .. }, hidden] = measured[..] else {
        panic!("{measured:?}")
    };
    assert_eq!(hidden, Measured { key: user, bounds: None, visible: false, misplaced: false });
    let point = Point { x: bounds.x + 3, y: bounds.y + 3 };
    let found = app.ask(|reply| WorkerRequest::HitTest { point, reply }).await;
    assert_eq!(found, Ok(Some(apply)));
    let point = Point { x: 1270, y: 790 };
    let nothing = app.ask(|reply| WorkerRequest::HitTest { point, reply }).await;
    assert_eq!(nothing, Ok(None));
    // Found where it is although its arrival was never announced.
    rig.sim("Settings fault drop-events").await;
    rig.sim("Settings press tab-advanced").await;
    rig.sim("Settings press reset").await;
    let dialog = rig.windows[0].bounds.unwrap();
    let point = Point { x: dialog.x + 1, y: dialog.y + 1 };
    let found = app.ask(|reply| WorkerRequest::HitTest { point, reply }).await;
    assert_eq!(found, Ok(Some(app.key("confirm"))));
}

#[tokio::test(start_paused = true)]
async fn a_worker_ends_with_its_mailbox_or_its_listener() {
    let rig = Rig::built_in();
    let mut app = rig.attach("Notes").await;
    app.mailbox = WorkerHandle::new(|_| false);
    while app.from.recv().await.is_some() {}
    let app = rig.attach("Notes").await;
    drop(app.from);
    soon(|| !app.mailbox.send(WorkerRequest::Unwatch { interest: 0 })).await;
}

#[tokio::test(start_paused = true)]
async fn what_makes_no_sense_is_refused_with_what_would() {
    let mut rig = Rig::built_in();
    for (words, says) in [
        ("Notepad press new", "apps: Files, Form, Paint, Table, Settings, Notes, Calculator"),
        ("Notes press nwe", "widgets: body,"),
        ("Notes press", "`ax sim Notes press WIDGET`"),
        ("Notes set body", "`ax sim Notes set WIDGET TEXT`"),
        ("Table scroll table far", "a row number"),
        ("Settings press apply", "button 'apply' is disabled"),
        ("Notes fault melt", "faults: drop-events"),
        ("Notes press status-text", "text 'status-text' cannot be pressed"),
    ] {
        let failure = rig.try_sim(words).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Invalid, "{words}");
        assert!(failure.native.contains(says), "{words}: {failure}");
    }
}

#[tokio::test(start_paused = true)]
async fn using_an_app_brings_it_to_the_front() {
    let mut rig = Rig::built_in();
    rig.sim("Paint press canvas").await;
    assert_eq!(rig.frontmost, Some(rig.app("Paint").pid));
    rig.sim("Table raise").await;
    assert_eq!(rig.windows[0].title, "Table");
}
