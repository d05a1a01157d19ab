//! What the policy leaves to a person, on the built-in desktop: it is done once it is approved, and it is that which was approved.

use axd_tests::{Policed, Raw};
use serde_json::{Value, json};

fn seven() -> Value {
    json!({ "target": "button:7", "app": "Calculator" })
}

/// The next request that an approver is shown.
fn next(approver: &mut Raw) -> Value {
    approver.data("approvals", json!({ "wait_ms": 60_000 }))["approvals"][0].clone()
}

/// Approves the next request.
fn approve(approver: &mut Raw) -> Value {
    let shown = next(approver);
    approver.ok("decide", json!({ "approval": shown["approval"], "verdict": "allow" }));
    shown
}

const ASK: &str = "[[rule]]\nname = \"ask-first\"\nverdict = \"ask\"\ncommands = [\"click\"]\n";

#[test]
fn what_is_asked_about_is_done_once_it_is_approved_and_by_nobody_else_than_another_client() {
    let mut policed = Policed::with(ASK);
    let error = policed.unasked("ask-first", "click", seven());
    assert!(error["suggestion"].as_str().expect("a suggestion").contains("ax approve"), "{error}");
    let mut approver = policed.daemon.client();
    assert_eq!(approver.data("approvals", json!({}))["approvals"], json!([]));
    let asking = policed.client.begin("click", seven());
    let listed = approver.data("approvals", json!({ "wait_ms": 60_000 }))["approvals"][0].clone();
    assert_eq!(
        (&listed["command"], &listed["app"], &listed["element"]["name"], &listed["rule"]),
        (&json!("click"), &json!("Calculator"), &json!("7"), &json!("ask-first")),
        "{listed}"
    );
    let number = listed["approval"].clone();
    let own = policed.client.begin("decide", json!({ "approval": number, "verdict": "allow" }));
    assert_eq!(policed.client.answer(own)["error"]["code"], "POLICY_DENIED", "its own");
    assert_eq!(policed.value(), "0");
    approver.ok("decide", json!({ "approval": number, "verdict": "allow" }));
    assert_eq!(policed.client.answer(asking)["ok"], true);
    assert_eq!(policed.value(), "7");
    approver.fails("INVALID_ARGS", "decide", json!({ "approval": number, "verdict": "allow" }));
    // Another click is another question.
    let asking = policed.client.begin("click", seven());
    let number = &approver.data("approvals", json!({ "after": number, "wait_ms": 60_000 }))["approvals"][0]["approval"];
    approver.ok("decide", json!({ "approval": number, "verdict": "deny" }));
    policed.client.fails_later("POLICY_DENIED", asking);
    assert_eq!(policed.value(), "7");
    // Always means this client and no other.
    let asking = policed.client.begin("click", seven());
    let number = &approver.data("approvals", json!({ "after": number, "wait_ms": 60_000 }))["approvals"][0]["approval"];
    approver.ok("decide", json!({ "approval": number, "verdict": "allow", "always": true }));
    assert_eq!(policed.client.answer(asking)["ok"], true);
    policed.client.ok("click", seven());
    assert_eq!(policed.value(), "777");
    drop(approver);
    let mut other = policed.daemon.client();
    while policed.client.data("status", json!({}))["clients"].as_array().expect("clients").len() > 2 {}
    other.fails("APPROVAL_REQUIRED", "click", seven());
}

#[test]
fn no_answer_is_no() {
    let mut policed = Policed::with(&format!("[ask]\ntimeout_s = 1\n{ASK}"));
    let mut approver = policed.daemon.client();
    approver.ok("approvals", json!({}));
    let error = policed.denied("ask-first", "click", seven());
    assert!(error["message"].as_str().expect("a message").contains("in time"), "{error}");
    // Nor is it yes if the approver goes, or the one that asked cancels it.
    policed.write(ASK);
    let asking = policed.client.begin("click", seven());
    approver.data("approvals", json!({ "wait_ms": 60_000 }));
    drop(approver);
    policed.client.fails_later("POLICY_DENIED", asking);
    let mut approver = policed.daemon.client();
    approver.ok("approvals", json!({}));
    let asking = policed.client.begin("click", seven());
    approver.data("approvals", json!({ "wait_ms": 60_000 }));
    policed.client.begin("cancel", json!({ "id": asking }));
    let answers = [policed.client.any_answer(), policed.client.any_answer()];
    let cancelled = answers.iter().find(|answer| answer["id"] == asking).expect("its answer");
    assert_eq!(cancelled["error"]["code"], "CANCELLED", "{cancelled}");
    assert_eq!(approver.data("approvals", json!({}))["approvals"], json!([]));
    assert_eq!(policed.value(), "0");
}

#[test]
fn a_picture_that_was_approved_shows_what_was_approved() {
    let rule = "[[rule]]\nname = \"pictures\"\nverdict = \"ask\"\ncommands = [\"screenshot\"]\n";
    let bank =
        "[[rule]]\nname = \"notes\"\nverdict = \"ask\"\ncommands = [\"screenshot\"]\napps = [\"Notes\"]\n";
    let mut policed = Policed::with(rule);
    policed.client.sim("Calculator", &["raise"]);
    let mut approver = policed.daemon.client();
    approver.ok("approvals", json!({}));
    for subject in [json!({ "app": "Calculator" }), json!({ "all": true })] {
        let asking = policed.client.begin("screenshot", subject.clone());
        let shown = approve(&mut approver);
        assert_eq!(shown["app"].is_string(), subject["app"].is_string(), "{shown}");
        let picture = policed.client.answer(asking)["data"].clone();
        assert!(
            picture["blocked_windows"].is_null() || picture["blocked_windows"] == 0,
            "{}",
            picture["blocked_windows"]
        );
    }
    // A rule about an app asks about its windows only; in a picture of the screen they are painted over.
    policed.write(bank);
    let picture = policed.client.data("screenshot", json!({ "all": true }));
    assert_eq!(picture["blocked_windows"], 1, "{}", picture["blocked_windows"]);
}

#[test]
fn an_approver_for_one_process_is_asked_about_that_one_only() {
    let mut policed = Policed::with(ASK);
    let mut approver = policed.daemon.client();
    approver.ok("approvals", json!({ "of_pid": 1 }));
    policed.unasked("ask-first", "click", seven());
    approver.ok("approvals", json!({ "of_pid": std::process::id() }));
    let asking = policed.client.begin("click", seven());
    let shown = approver.data("approvals", json!({ "wait_ms": 60_000, "of_pid": std::process::id() }));
    assert_eq!(shown["approvals"][0]["client_pid"], std::process::id(), "{shown}");
    // Who requests it may not approve it, so nobody is left when the other one goes.
    policed.client.begin("approvals", json!({}));
    drop(approver);
    let answers = [policed.client.any_answer(), policed.client.any_answer()];
    let refused = answers.iter().find(|answer| answer["id"] == asking).expect("its answer");
    assert_eq!(refused["error"]["code"], "POLICY_DENIED", "{refused}");
}

#[test]
fn what_is_approved_of_reading_is_read_with_its_events() {
    let rule =
        "[[rule]]\nname = \"private\"\nverdict = \"ask\"\ncommands = [\"@reads\"]\napps = [\"Notes\"]\n";
    let mut policed = Policed::with(rule);
    policed.unasked("private", "snapshot", json!({ "app": "Notes" }));
    let told = policed.client.data("list-apps", json!({})).to_string();
    assert!(!told.contains("Notes") && told.contains("Calculator"), "{told}");
    let mut approver = policed.daemon.client();
    approver.ok("approvals", json!({}));
    let asking = policed.client.begin("subscribe", json!({ "app": "Notes" }));
    approve(&mut approver);
    assert_eq!(policed.client.answer(asking)["ok"], true);
    let mut other = policed.daemon.client();
    other.sim("Notes", &["raise"]);
    let event = policed.client.line().expect("an event").to_string();
    assert!(event.contains("Notes"), "{event}");
}
