//! Acts on elements: each kind on what can do it, what cannot says why, and apps that answer late, wrongly or never.

use super::*;

fn text(text: &str) -> String {
    text.to_owned()
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_act_is_done_by_what_can_do_it() {
    let rig = Rig::built_in();
    let mut app = rig.attach("Settings").await;
    app.done("notify", Act::Press).await;
    assert!(!app.is("notify", State::Checked) && !app.is("apply", State::Disabled));
    app.done("theme-dark", Act::Select).await;
    assert!(app.is("theme-dark", State::Checked) && !app.is("theme-light", State::Checked));
    app.done("volume", Act::SetValue(text("250"))).await;
    assert_eq!(app.value("volume"), "100", "the app's own limits hold");
    app.done("volume", Act::Native(text("decrement"))).await;
    assert_eq!(app.value("volume"), "99");
    app.done("language", Act::SetValue(text("Deutsch"))).await;
    assert_eq!(app.value("language"), "Deutsch");
    app.done("language", Act::Expand).await;
    assert!(app.is("language", State::Expanded));
    app.done("language", Act::Collapse).await;
    assert!(app.is("language", State::Collapsed));
    app.done("tab-advanced", Act::Press).await;
    app.done("more", Act::Expand).await;
    app.done("more", Act::Expand).await;
    assert!(app.is("more", State::Expanded) && !app.is("more-options", State::Hidden));
    app.done("tab-account", Act::Select).await;
    app.done("user", Act::Insert(text(" lovelace"))).await;
    assert_eq!(app.value("user"), "ada lovelace");
    app.done("user", Act::Focus).await;
    assert!(app.is("user", State::Focused));
    rig.agrees("Settings", &app).await;
}

#[tokio::test(start_paused = true)]
async fn containers_scroll_and_rows_are_revealed() {
    let rig = Rig::built_in();
    let mut app = rig.attach("Table").await;
    app.done("table", Act::Reveal(4999)).await;
    let row = |app: &Attached, place: usize| app.nodes[&app.inside("table")[place]].facts.row;
    assert_eq!(row(&app, 0), Some(4999));
    app.done("table", Act::Reveal(5010)).await;
    assert_eq!(row(&app, 0), Some(4999), "what is in view stays where it is");
    app.done("table", Act::Scroll(Direction::Up, 99)).await;
    assert_eq!(row(&app, 0), Some(4900));
    app.done("table", Act::Scroll(Direction::Down, 100_000)).await;
    assert_eq!(row(&app, 19), Some(9999));
    let failure = app.perform("table", Act::Reveal(10_000)).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Invalid, Sent::No));
    let last = *app.inside("list").last().unwrap();
    let measure = |reply| WorkerRequest::Measure { keys: vec![last], reply };
    assert!(!app.ask(measure).await.unwrap()[0].visible);
    let gate = Gate::new();
    app.ask(|reply| WorkerRequest::Perform { key: last, act: Act::ScrollTo, gate, reply }).await.unwrap();
    assert!(app.ask(measure).await.unwrap()[0].visible);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_done_says_why_and_nothing_was() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Settings").await;
    let before = app.text();
    for (id, act, kind, says) in [
        ("apply", Act::Press, FailureKind::Refused, "button 'apply' is disabled"),
        ("volume", Act::Press, FailureKind::NotSupported, "no action for a press; it has increment"),
        ("notify", Act::Native(text("explode")), FailureKind::NotSupported, "has no 'explode'; it has press"),
        ("notify", Act::SetValue(text("on")), FailureKind::NotSupported, "takes no text"),
        ("volume", Act::SetValue(text("loud")), FailureKind::Invalid, "takes a number"),
        ("language", Act::SetValue(text("Klingon")), FailureKind::Invalid, "it has: English"),
        ("notify", Act::Expand, FailureKind::NotSupported, "cannot be expanded"),
        ("notify", Act::Select, FailureKind::NotSupported, "cannot be selected"),
        ("status", Act::Focus, FailureKind::NotSupported, "cannot be focused"),
        ("theme", Act::Scroll(Direction::Down, 1), FailureKind::NotSupported, "does not scroll"),
        ("user", Act::SetValue(text("eve")), FailureKind::Refused, "'page-account' is hidden now"),
    ] {
        let failure = app.perform(id, act.clone()).await.unwrap_err();
        assert_eq!((failure.kind, failure.sent), (kind, Sent::No), "{id} {act:?}");
        assert!(failure.native.contains(says), "{id} {act:?}: {failure}");
    }
    app.fence().await;
    assert_eq!(app.text(), before);
    let mut app = rig.attach("Calculator").await;
    let failure = app.perform("display", Act::Insert(text("1"))).await.unwrap_err();
    assert!(failure.kind == FailureKind::Refused && failure.native.contains("read-only"), "{failure}");
    let mut app = rig.attach("Notes").await;
    let key = app.key("note-1");
    rig.sim("Notes press delete").await;
    let gate = Gate::new();
    let gone =
        app.ask(|reply| WorkerRequest::Perform { key, act: Act::Press, gate, reply }).await.unwrap_err();
    assert_eq!((gone.kind, gone.sent), (FailureKind::Gone, Sent::No));
}

#[tokio::test(start_paused = true)]
async fn acts_reach_the_background_and_leave_it_there_but_not_what_is_behind_a_modal_dialog() {
    let mut rig = Rig::built_in();
    let front = rig.frontmost;
    let mut app = rig.attach("Notes").await;
    app.done("new", Act::Press).await;
    assert!(app.has("note-4"));
    rig.hear();
    assert_eq!(rig.frontmost, front);
    // An item of a closed menu can be asked, as on a real desktop.
    app.done("file-delete", Act::Press).await;
    assert!(app.is("confirm-delete", State::Modal) && app.is("file", State::Collapsed));
    let failure = app.perform("new", Act::Press).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Refused, Sent::No));
    assert!(failure.native.contains("blocked by the dialog 'confirm-delete'"), "{failure}");
    app.done("confirm-no", Act::Press).await;
    app.done("new", Act::Press).await;
}

#[tokio::test(start_paused = true)]
async fn a_closed_gate_sends_nothing() {
    let rig = Rig::built_in();
    let mut app = rig.attach("Notes").await;
    let (key, gate) = (app.key("new"), Gate::new());
    gate.close();
    let answer = app.ask(|reply| WorkerRequest::Perform { key, act: Act::Press, gate, reply }).await;
    assert_eq!(answer, Err(Failure::closed()));
    app.fence().await;
    assert!(!app.has("note-4"));
}

#[tokio::test(start_paused = true)]
async fn a_widget_that_offers_no_actions_lists_none_and_refuses_all() {
    let rig = Rig::with(
        "",
        "{ role = 'checkbox', id = 'mute', name = 'Mute', semantic = false }, { role = 'checkbox', id = 'plain' }, \
         { role = 'button', id = 'own', actions = ['press', 'wave'] }, { role = 'text', id = 't' }",
        "[[rule]]\non = 'action:own'\ndo = [{ rename = 't', text = 'did {text}' }]",
    );
    let mut app = rig.attach("X").await;
    assert!(app.facts("mute").actions.is_empty() && app.facts("plain").actions == ["press"]);
    let failure = app.perform("mute", Act::Press).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::NotSupported, Sent::No));
    app.done("own", Act::Native(text("wave"))).await;
    assert_eq!(app.facts("t").name.as_deref(), Some("did wave"));
    let rig = Rig::with("semantic = false", "{ role = 'button', id = 'b' }", "");
    assert!(rig.attach("X").await.perform("b", Act::Press).await.is_err(), "a whole app can be mute");
}

#[tokio::test(start_paused = true)]
async fn what_came_of_an_act_is_read_even_if_it_is_not_announced() {
    let rig = Rig::with(
        "profile = 'silent'",
        "{ role = 'list', id = 'l', items = ['One', 'Two'] }, { role = 'checkbox', id = 'c' }",
        "",
    );
    let mut app = rig.attach("X").await;
    app.done("c", Act::Press).await;
    assert!(app.is("c", State::Checked));
    for place in [0, 1] {
        let (key, gate) = (app.inside("l")[place], Gate::new());
        app.ask(|reply| WorkerRequest::Perform { key, act: Act::Select, gate, reply }).await.unwrap();
    }
    app.fence().await;
    let selected = |place: usize| app.nodes[&app.inside("l")[place]].facts.states.has(State::Selected);
    assert!(!selected(0) && selected(1));
}

#[tokio::test(start_paused = true)]
async fn a_hung_app_may_have_got_it_and_does_it_when_it_wakes() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Notes").await;
    rig.sim("Notes fault hang").await;
    let failure = app.perform("new", Act::Press).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Unresponsive, Sent::Maybe));
    rig.sim("Notes heal").await;
    app.until(|app| app.has("note-4")).await;
    rig.sim("Notes fault hang").await;
    let walk = app.ask(|reply| WorkerRequest::Walk { key: ElementKey::APP, reply }).await.unwrap_err();
    assert_eq!(walk.kind, FailureKind::Unresponsive);
    let failure = app.perform("new", Act::Press).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Unresponsive, Sent::No), "it is not asked at all");
}

#[tokio::test(start_paused = true)]
async fn an_app_that_dies_with_an_act_under_way_may_have_got_it() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Notes").await;
    rig.sim("Notes fault hang").await;
    let (key, gate) = (app.key("new"), Gate::new());
    let reply = app.post(|reply| WorkerRequest::Perform { key, act: Act::Press, gate: gate.clone(), reply });
    soon(|| gate.is_sent()).await;
    rig.sim("Notes fault die").await;
    let failure = app.replied(reply).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Gone, Sent::Maybe));
}

#[tokio::test(start_paused = true)]
async fn a_deaf_app_says_yes_and_does_nothing() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Notes").await;
    rig.sim("Notes fault deaf").await;
    app.done("new", Act::Press).await;
    assert!(!app.has("note-4"));
    rig.sim("Notes heal").await;
    app.done("new", Act::Press).await;
    assert!(app.has("note-4"));
}

#[tokio::test(start_paused = true)]
async fn a_late_app_acts_at_once_and_is_known_to_be_late() {
    let mut rig = Rig::built_in();
    let pid = rig.app("Notes").pid;
    let mut app = rig.attach("Notes").await;
    rig.sim("Notes fault late").await;
    let started = tokio::time::Instant::now();
    let (key, gate) = (app.key("new"), Gate::new());
    let reply = app.post(|reply| WorkerRequest::Perform { key, act: Act::Press, gate, reply });
    app.until(|app| app.has("note-4")).await;
    assert!(started.elapsed() < Duration::from_millis(250), "told before it was answered");
    assert_eq!(app.replied(reply).await, Ok(()));
    assert_eq!(started.elapsed().as_millis(), 250);
    assert!(rig.desktop.acts_late(pid));
    rig.sim("Notes heal").await;
    app.done("new", Act::Press).await;
    assert!(!rig.desktop.acts_late(pid));
}

#[tokio::test(start_paused = true)]
async fn an_app_that_answers_when_its_dialog_is_closed_is_readable_and_usable_meanwhile() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Notes").await;
    rig.sim("Notes fault blocks").await;
    let (key, gate) = (app.key("file-delete"), Gate::new());
    let mut reply = app.post(|reply| WorkerRequest::Perform { key, act: Act::Press, gate, reply });
    app.until(|app| app.has("confirm-no")).await;
    assert!(reply.try_recv().is_err());
    app.done("confirm-no", Act::Press).await;
    assert_eq!(app.replied(reply).await, Ok(()));
    assert!(app.degraded.is_none());
    // Left open, the answer does not come in time, and it may have been done.
    let failure = app.perform("file-delete", Act::Press).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Unresponsive, Sent::Maybe));
    assert!(app.has("confirm-delete") && app.degraded.is_none());
}
