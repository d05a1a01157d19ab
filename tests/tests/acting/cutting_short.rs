//! What is cut short: by a hang, a cancellation, a deadline; and two clients who want the same at once.

use axd_tests::Stage;
use serde_json::{Value, json};

/// Fails unless what an answer says of a click on Press is what the app made of it, now that it answers again.
fn was_honest(stage: &mut Stage, answer: &Value) {
    let disposition =
        if answer["ok"] == true { &answer["data"]["disposition"] } else { &answer["error"]["disposition"] };
    stage.wait(json!({ "for": [stage.the("Press")] }));
    stage.tree();
    let count = stage.count();
    match disposition["delivery"].as_str() {
        Some("not_delivered") => assert_eq!(count, 0, "{answer}"),
        Some("uncertain") => assert!(count <= 1, "{answer}"),
        Some("delivered_unverified" | "delivered_verified") => assert_eq!(count, 1, "{answer}"),
        _ => panic!("{answer}"),
    }
}

#[test]
fn an_app_that_hangs_is_an_answer_and_nobody_else_waits() {
    let mut stage = Stage::start();
    let mut other = stage.another();
    stage.tree();
    stage.hang();
    let args = stage.on("Press");
    let id = stage.client.begin("click", args);
    for _ in 0..5 {
        other.ok("status", json!({}));
        other.ok("list-windows", json!({}));
        other.ok("snapshot", json!({ "app": stage.app }));
        if stage.kit.is_scripted() {
            other.ok("click", json!({ "app": "Calculator", "target": "button:7" }));
        }
    }
    let answer = stage.client.answer(id);
    if answer["ok"] == false {
        assert_eq!(answer["error"]["code"], "APP_UNRESPONSIVE", "{answer}");
    } else {
        assert_eq!(answer["data"]["disposition"]["delivery"], "uncertain", "{answer}");
    }
    stage.wake();
    was_honest(&mut stage, &answer);
}

#[test]
fn what_is_cancelled_before_it_was_sent_was_not_done() {
    let mut stage = Stage::start();
    let args = stage.on("Enable");
    stage.act("click", args);
    stage.is("Target", "enabled=false");
    let args = stage.on_with("Target", json!({ "timeout_ms": 30_000 }));
    let waiting = stage.client.begin("click", args);
    let mut other = stage.another();
    while other.status_of_pid(&stage.app)["acting"].is_null() {}
    let cancel = stage.client.begin("cancel", json!({ "id": waiting }));
    let error = stage.client.fails_later("CANCELLED", waiting);
    assert_eq!(error["disposition"], json!({ "delivery": "not_delivered", "retry": "safe" }));
    assert_eq!(stage.client.answer(cancel)["data"]["cancelled"], true);
    // The app is free for the next.
    let args = stage.on("Press");
    stage.act("click", args);
    stage.counts(1);
}

#[test]
fn what_is_cancelled_after_it_was_sent_says_that_it_was_done() {
    let mut stage = Stage::start();
    let mut other = stage.another();
    let args = stage.on_with("Press", json!({ "wait_for": "dialog:Nobody", "timeout_ms": 40_000 }));
    let waiting = stage.client.begin("click", args);
    other.ok("wait", stage.args(json!({ "for": ["text:\"count 1\""], "timeout": 20_000 })));
    let cancel = stage.client.begin("cancel", json!({ "id": waiting }));
    let answers = [stage.client.any_answer(), stage.client.any_answer()];
    assert!(answers.iter().any(|answer| answer["id"] == cancel), "{answers:?}");
    let answer = answers.iter().find(|answer| answer["id"] == waiting).expect("an answer to the click");
    let disposition =
        if answer["ok"] == true { &answer["data"]["disposition"] } else { &answer["error"]["disposition"] };
    assert_eq!(disposition["retry"], "unsafe", "{answer}");
    was_honest(&mut stage, answer);
}

#[test]
fn a_deadline_ends_a_wait_and_says_what_was_done() {
    let mut stage = Stage::start();
    let args = stage.on_with("Press", json!({ "wait_for": "dialog:Nobody", "timeout_ms": 40_000 }));
    let id = stage.client.begin_within("click", args, Some(1_500));
    let error = stage.client.fails_later("TIMEOUT", id);
    assert_eq!(error["disposition"]["retry"], "unsafe", "{error}");
    stage.counts(1);
}

#[test]
fn a_deadline_before_the_turn_came_leaves_the_app_alone() {
    let mut stage = Stage::start();
    let mut other = stage.another();
    let args = stage.on_with("Check", json!({ "wait_for": "dialog:Nobody", "timeout_ms": 40_000 }));
    let holding = other.begin("check", args);
    while stage.client.status_of_pid(&stage.app)["acting"].is_null() {}
    let args = stage.on("Press");
    let id = stage.client.begin_within("click", args, Some(300));
    let error = stage.client.fails_later("TIMEOUT", id);
    assert_eq!(error["disposition"]["retry"], "safe", "{error}");
    let status = stage.client.status_of_pid(&stage.app);
    assert_eq!(status["acting"]["command"], "check", "{status}");
    other.begin("cancel", json!({ "id": holding }));
    other.any_answer();
    other.any_answer();
    stage.counts(0);
}

#[test]
fn two_clients_on_one_app_take_turns_and_both_are_answered() {
    let mut stage = Stage::start();
    let mut other = stage.another();
    let press = stage.on_with("Press", json!({ "no_effects": true }));
    let mut asked = [Vec::new(), Vec::new()];
    for round in 0..6 {
        let route = if round % 2 == 0 { "auto" } else { "input" };
        let mut args = press.clone();
        args["route"] = json!(route);
        asked[0].push(stage.client.begin("click", args.clone()));
        asked[1].push(other.begin("click", args));
    }
    for (client, asked) in [&mut stage.client, &mut other].into_iter().zip(&mut asked) {
        for _ in 0..6 {
            let answer = client.any_answer();
            assert_eq!(answer["ok"], true, "{answer}");
            let place = asked.iter().position(|id| answer["id"] == *id).expect("an answer to what was asked");
            asked.remove(place);
        }
    }
    stage.counts(12);
}

#[test]
fn an_app_that_answers_late_did_it_once() {
    let mut stage = Stage::start();
    if !stage.kit.is_scripted() {
        // No real app answers late on request; one that is stopped in between is the next best.
        return slow_by_stopping(&mut stage);
    }
    for fault in [["fault", "late", "1500"], ["fault", "deaf", ""]] {
        let words = if fault[2].is_empty() { &fault[..2] } else { &fault[..] };
        let app = stage.app.clone();
        stage.client.sim(&app, words);
        let args = stage.on("Press");
        let answer = stage.client.ask("click", args);
        stage.client.sim(&app, &["heal"]);
        assert_eq!(answer["data"]["disposition"]["retry"], "unsafe", "{answer}");
        stage.counts(1);
    }
}

/// Presses while the app is stopped for a while, and fails unless it says the truth about it.
fn slow_by_stopping(stage: &mut Stage) {
    let args = stage.on("Press");
    stage.hang();
    let id = stage.client.begin("click", args);
    let mut other = stage.another();
    other.ok("wait", json!({ "ms": 400 }));
    stage.wake();
    let answer = stage.client.answer(id);
    was_honest(stage, &answer);
}

#[test]
fn what_opens_a_dialog_and_waits_for_it_is_answered() {
    let mut stage = Stage::start();
    if stage.kit.is_scripted() {
        let app = stage.app.clone();
        stage.client.sim(&app, &["fault", "blocks"]);
    }
    let question = stage.the("Question");
    let args = stage.on_with("Dialog", json!({ "wait_for": question }));
    let done = stage.act("click", args);
    assert_eq!(done["disposition"]["retry"], "unsafe", "{done}");
    let args = stage.on_with("OK", json!({ "wait_for_gone": question }));
    stage.act("click", args);
    let args = stage.on("Press");
    stage.act("click", args);
    stage.counts(1);
}

#[test]
fn an_app_that_ends_during_an_action_is_an_answer() {
    let mut stage = Stage::start();
    let mut other = stage.another();
    let args = stage.on_with("Press", json!({ "wait_for": "dialog:Nobody", "timeout_ms": 40_000 }));
    let waiting = stage.client.begin("click", args);
    other.ok("wait", stage.args(json!({ "for": ["text:\"count 1\""], "timeout": 20_000 })));
    other.ok("close-app", json!({ "app": stage.app, "force": true }));
    let answer = stage.client.answer(waiting);
    assert_eq!(answer["ok"], false, "{answer}");
    assert_eq!(answer["error"]["disposition"]["retry"], "unsafe", "{answer}");
    assert!(answer["error"]["message"].as_str().is_some_and(|said| said.contains("ended")), "{answer}");
}
