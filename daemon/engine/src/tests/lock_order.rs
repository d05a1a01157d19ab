//! What actions wait for, and in which order: earlier actions of their connection, keys that other clients hold down, the turn in
//! the app's queue, the input lock. Whoever waits for a key must not have the turn that its holder needs.

use std::time::Duration;

use axd_protocol::ErrorCode;
use serde_json::Value;
use tokio::time::sleep_until;

use super::fake_desktop::{BUTTON, LABEL, MAIL};
use super::{Rig, Running, code_of, drained};

const CLICK: &str = r#"click {"target":"button:Save","app":"Notes","settle_ms":0}"#;
const CLICK_IN_MAIL: &str = r#"click {"target":"button:Save","app":"Mail","settle_ms":0}"#;
const RIGHT_CLICK: &str = r#"right-click {"target":"button:Save","app":"Notes","settle_ms":0}"#;
const RIGHT_CLICK_IN_MAIL: &str = r#"right-click {"target":"button:Save","app":"Mail","settle_ms":0}"#;
const CTRL_DOWN: &str = r#"key-down {"combo":"ctrl","app":"Notes"}"#;
const CTRL_UP: &str = r#"key-up {"combo":"ctrl","app":"Notes"}"#;
const CTRL_DOWN_IN_MAIL: &str = r#"key-down {"combo":"ctrl","app":"Mail"}"#;
const CTRL_UP_IN_MAIL: &str = r#"key-up {"combo":"ctrl","app":"Mail"}"#;
const BUTTON_DOWN: &str = r#"mouse-down {"point":"120,110","app":"Notes"}"#;
const BUTTON_UP: &str = r#"mouse-up {"point":"120,110","app":"Notes"}"#;

const MS_100: Duration = Duration::from_millis(100);

/// Whether an action has its turn in the queue of Notes, and how many wait.
async fn queue(rig: &Rig) -> Option<(String, u32)> {
    drained().await;
    let status = rig.engine.by_pid(super::NOTES).unwrap().queue.status();
    status.map(|status| (status.command, status.waiting))
}

fn turn_of(command: &str, waiting: u32) -> Option<(String, u32)> {
    Some((command.to_owned(), waiting))
}

/// The answer to a request, and after how many milliseconds it came.
async fn answered(rig: &Rig, running: Running) -> (Value, u128) {
    let answer = running.answer().await;
    (answer, rig.elapsed())
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_held_key_keeps_no_turn_from_its_holder() {
    let rig = Rig::new();
    let (holder, other) = (rig.client(), rig.client());
    rig.run(&holder, CTRL_DOWN).await;
    let waiting = rig.begin(&other, RIGHT_CLICK);
    assert_eq!(queue(&rig).await, None, "it waits for the key before it takes its turn");
    rig.run(&holder, CLICK).await;
    assert!(!waiting.is_finished());
    rig.run(&holder, CTRL_UP).await;
    waiting.succeeds().await;
    let done =
        ["0: ctrl down", "0: press in Notes", "0: ctrl up", "0: right button down", "0: right button up"];
    assert_eq!(rig.desktop.timeline(), done);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_goes_down_while_an_action_waits_for_its_turn_does_not_deadlock() {
    let rig = Rig::new();
    let (holder, other, first) = (rig.client(), rig.client(), rig.client());
    rig.desktop.state().press_takes = MS_100;
    let first = rig.begin(&first, CLICK);
    drained().await;
    // Nothing is held down yet, so this one waits for its turn alone.
    let waiting = rig.begin(&other, RIGHT_CLICK);
    assert_eq!(queue(&rig).await, turn_of("click", 1));
    rig.run(&holder, CTRL_DOWN_IN_MAIL).await;
    first.succeeds().await;
    rig.run(&holder, CLICK).await;
    rig.run(&holder, CTRL_UP_IN_MAIL).await;
    waiting.succeeds().await;
    let done = [
        "0: press in Notes",
        "0: Focus Mail",
        "0: ctrl down",
        "100: press in Notes",
        "200: ctrl up",
        "200: Focus Notes",
        "200: right button down",
        "200: right button up",
    ];
    assert_eq!(rig.desktop.timeline(), done);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_goes_down_while_an_action_waits_for_its_target_does_not_deadlock() {
    let rig = Rig::new();
    let (holder, other) = (rig.client(), rig.client());
    rig.desktop.state().hit = LABEL;
    let waiting = rig.begin(&other, RIGHT_CLICK);
    assert_eq!(queue(&rig).await, turn_of("right-click", 0));
    rig.run(&holder, CTRL_DOWN_IN_MAIL).await;
    rig.run(&holder, CLICK).await;
    rig.desktop.state().hit = BUTTON;
    assert!(!waiting.is_finished());
    rig.run(&holder, CTRL_UP_IN_MAIL).await;
    waiting.succeeds().await;
    assert!(rig.elapsed() <= 50, "{} ms", rig.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_action_that_turns_out_to_need_the_mouse_does_not_deadlock_either() {
    let rig = Rig::new();
    let (holder, other) = (rig.client(), rig.client());
    rig.run(&holder, CTRL_DOWN).await;
    rig.desktop.state().presses = false;
    let waiting = rig.begin(&other, CLICK);
    assert_eq!(queue(&rig).await, None);
    rig.desktop.state().presses = true;
    rig.run(&holder, CLICK).await;
    rig.run(&holder, CTRL_UP).await;
    waiting.succeeds().await;
    let done = ["0: ctrl down", "0: press in Notes", "0: ctrl up", "0: press in Notes"];
    assert_eq!(rig.desktop.timeline(), done);
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_held_key_goes_on_when_its_lease_ends_or_its_client_leaves() {
    let rig = Rig::new();
    let (holder, other) = (rig.client(), rig.client());
    rig.run(&holder, r#"key-down {"combo":"ctrl","app":"Notes","hold_ms":200}"#).await;
    let (answer, after) = answered(&rig, rig.begin(&other, RIGHT_CLICK)).await;
    assert_eq!((&answer["ok"], after), (&Value::Bool(true), 200));
    rig.run(&holder, CTRL_DOWN).await;
    let waiting = rig.begin(&other, RIGHT_CLICK);
    assert_eq!(queue(&rig).await, None);
    rig.engine.client_left(holder.client);
    let (answer, after) = answered(&rig, waiting).await;
    assert_eq!((&answer["ok"], after), (&Value::Bool(true), 200));
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_held_until_the_deadline_is_named_in_the_error() {
    let rig = Rig::new();
    let (holder, other) = (rig.client(), rig.client());
    rig.run(&holder, r#"key-down {"combo":"ctrl","app":"Notes","hold_ms":60000}"#).await;
    let (answer, after) = answered(&rig, rig.begin(&other, RIGHT_CLICK)).await;
    assert_eq!((code_of(&answer), after), (Some(ErrorCode::ActionFailed), 30_000));
    let message = answer["error"]["message"].as_str().unwrap();
    assert_eq!(message, format!("right-click: client {} holds ctrl down", holder.client));
}

#[tokio::test(start_paused = true)]
async fn releasing_needs_no_turn() {
    for (press, release, released) in
        [(CTRL_DOWN, CTRL_UP, "0: ctrl up"), (BUTTON_DOWN, BUTTON_UP, "0: left button up")]
    {
        let rig = Rig::new();
        let (holder, other) = (rig.client(), rig.client());
        rig.run(&holder, press).await;
        rig.desktop.state().press_takes = MS_100;
        let running = rig.begin(&other, CLICK);
        assert_eq!(queue(&rig).await, turn_of("click", 0));
        rig.run(&holder, release).await;
        assert!(!running.is_finished(), "the turn was taken all the time");
        assert_eq!(rig.desktop.timeline().last().map(String::as_str), Some(released));
        running.succeeds().await;
    }
}

#[tokio::test(start_paused = true)]
async fn actions_of_one_connection_run_in_order_whatever_app_they_are_for() {
    let rig = Rig::new();
    rig.desktop.state().press_takes = MS_100;
    let client = rig.client();
    let actions = [CLICK, CLICK_IN_MAIL, CLICK].map(|words| rig.begin(&client, words));
    drained().await;
    let status = rig.begin(&client, "status");
    drained().await;
    assert!(status.is_finished(), "a read overtakes them");
    for action in actions {
        action.succeeds().await;
    }
    let done = ["0: press in Notes", "100: press in Mail", "200: press in Notes"];
    assert_eq!(rig.desktop.timeline(), done);
}

#[tokio::test(start_paused = true)]
async fn actions_of_several_connections_queue_for_an_app_and_for_no_other() {
    let rig = Rig::new();
    rig.desktop.state().press_takes = MS_100;
    let (first, second, third) = (rig.client(), rig.client(), rig.client());
    let in_notes = [rig.begin(&first, CLICK), rig.begin(&second, CLICK)];
    let in_mail = rig.begin(&third, CLICK_IN_MAIL);
    assert_eq!(queue(&rig).await, turn_of("click", 1));
    in_mail.succeeds().await;
    for action in in_notes {
        action.succeeds().await;
    }
    assert_eq!(rig.elapsed(), 200);
    assert_eq!(rig.desktop.timeline(), ["0: press in Notes", "0: press in Mail", "100: press in Notes"]);
}

#[tokio::test(start_paused = true)]
async fn only_one_action_at_a_time_has_mouse_and_keyboard_whatever_app_it_is_for() {
    let rig = Rig::new();
    rig.notes().await;
    rig.attached(MAIL).await;
    rig.desktop.state().input_takes = MS_100;
    let (first, second) = (rig.client(), rig.client());
    let actions = [rig.begin(&first, RIGHT_CLICK), rig.begin(&second, RIGHT_CLICK_IN_MAIL)];
    for action in actions {
        action.succeeds().await;
    }
    let done = [
        "0: right button down",
        "100: right button up",
        "200: Focus Mail",
        "200: right button down",
        "300: right button up",
    ];
    assert_eq!(rig.desktop.timeline(), done);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_does_not_come_before_the_deadline_is_an_error() {
    let rig = Rig::new();
    rig.desktop.state().press_takes = Duration::from_secs(60);
    let (first, second) = (rig.client(), rig.client());
    let running = rig.begin(&first, CLICK);
    sleep_until(rig.at(10)).await;
    let mut call = rig.call(&second, CLICK);
    call.deadline = Some(rig.at(40));
    let (answer, after) = answered(&rig, rig.serve(call)).await;
    assert_eq!((code_of(&answer), after), (Some(ErrorCode::Timeout), 40));
    assert!(!running.is_finished());
    let mut call = rig.call(&first, CLICK);
    call.deadline = Some(rig.at(70));
    let (answer, after) = answered(&rig, rig.serve(call)).await;
    assert_eq!((code_of(&answer), after), (Some(ErrorCode::Timeout), 70), "nor that of its connection");
}

#[tokio::test(start_paused = true)]
async fn an_action_that_is_dropped_at_work_frees_its_locks() {
    let rig = Rig::new();
    rig.desktop.state().input_takes = MS_100;
    let client = rig.client();
    let running = rig.begin(&client, RIGHT_CLICK);
    assert_eq!(queue(&rig).await, turn_of("right-click", 0));
    sleep_until(rig.at(50)).await;
    running.cancel().await;
    assert_eq!(queue(&rig).await, None);
    rig.desktop.state().input_takes = Duration::ZERO;
    // By the same connection, so that its lock must be free too.
    rig.run(&client, RIGHT_CLICK).await;
    assert_eq!(rig.elapsed(), 50);
}

#[tokio::test(start_paused = true)]
async fn an_action_that_is_dropped_while_it_waits_leaves_no_trace() {
    let rig = Rig::new();
    let (holder, first, second) = (rig.client(), rig.client(), rig.client());
    // It waits for its turn.
    rig.desktop.state().press_takes = MS_100;
    let running = rig.begin(&first, CLICK);
    assert_eq!(queue(&rig).await, turn_of("click", 0));
    let waiting = rig.begin(&second, RIGHT_CLICK);
    assert_eq!(queue(&rig).await, turn_of("click", 1));
    waiting.cancel().await;
    assert_eq!(queue(&rig).await, turn_of("click", 0));
    running.succeeds().await;
    // It waits for a key to be released.
    rig.run(&holder, CTRL_DOWN).await;
    let waiting = rig.begin(&second, RIGHT_CLICK);
    drained().await;
    waiting.cancel().await;
    rig.run(&holder, CTRL_UP).await;
    // It waits, in its turn, for its target; nothing is held then.
    rig.desktop.state().hit = LABEL;
    let waiting = rig.begin(&second, RIGHT_CLICK);
    assert_eq!(queue(&rig).await, turn_of("right-click", 0));
    waiting.cancel().await;
    assert_eq!(queue(&rig).await, None);
    rig.desktop.state().hit = BUTTON;
    rig.run(&second, RIGHT_CLICK).await;
    assert_eq!(rig.elapsed(), 100);
    let done = [
        "0: press in Notes",
        "100: ctrl down",
        "100: ctrl up",
        "100: right button down",
        "100: right button up",
    ];
    assert_eq!(rig.desktop.timeline(), done);
}

/// A client disconnects.
fn leaves(rig: &Rig, session: &axd_service::Session) {
    rig.sessions.close(session);
    rig.engine.client_left(session.client);
}

#[tokio::test(start_paused = true)]
async fn anyone_releases_what_a_client_that_is_gone_holds_with_a_lease() {
    let key_down = r#"key-down {"combo":"ctrl","app":"Notes","hold_ms":60000}"#;
    let button_down = r#"mouse-down {"point":"120,110","app":"Notes","hold_ms":60000}"#;
    for (press, release, released) in
        [(key_down, CTRL_UP, "0: ctrl up"), (button_down, BUTTON_UP, "0: left button up")]
    {
        let rig = Rig::new();
        let (holder, other) = (rig.client(), rig.client());
        rig.run(&holder, press).await;
        let waiting = rig.begin(&other, release);
        drained().await;
        assert!(!waiting.is_finished(), "it is its client's while that is there");
        leaves(&rig, &holder);
        waiting.succeeds().await;
        assert_eq!(rig.desktop.timeline().last().map(String::as_str), Some(released));
        rig.run(&other, RIGHT_CLICK).await;
        assert_eq!(rig.elapsed(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_release_waits_until_the_lease_of_a_client_that_is_gone_ends() {
    let rig = Rig::new();
    let (holder, other) = (rig.client(), rig.client());
    rig.run(&holder, r#"key-down {"combo":"ctrl","app":"Notes","hold_ms":200}"#).await;
    leaves(&rig, &holder);
    let (answer, after) = answered(&rig, rig.begin(&other, RIGHT_CLICK)).await;
    assert_eq!((&answer["ok"], after), (&Value::Bool(true), 200));
}

#[tokio::test(start_paused = true)]
async fn a_request_whose_client_is_gone_holds_nothing() {
    let rig = Rig::new();
    rig.notes().await;
    rig.attached(MAIL).await;
    rig.desktop.state().input_takes = MS_100;
    let (holder, other) = (rig.client(), rig.client());
    let first = rig.begin(&other, RIGHT_CLICK_IN_MAIL);
    drained().await;
    let holding = rig.begin(&holder, CTRL_DOWN);
    drained().await;
    leaves(&rig, &holder);
    first.succeeds().await;
    let answer = holding.answer().await;
    assert_eq!(code_of(&answer), Some(ErrorCode::ActionFailed), "{answer}");
    assert!(!rig.engine.input_lock.is_holding());
    assert!(!rig.desktop.done().iter().any(|done| done == "ctrl down"), "{:?}", rig.desktop.done());
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_ends_during_a_long_action_of_its_holder_ends_after_it() {
    let rig = Rig::new();
    let holder = rig.client();
    rig.run(&holder, r#"key-down {"combo":"ctrl","app":"Notes","hold_ms":200}"#).await;
    rig.desktop.state().input_takes = Duration::from_secs(3);
    rig.run(&holder, RIGHT_CLICK).await;
    sleep_until(rig.at(60_000)).await;
    assert!(!rig.engine.input_lock.is_holding());
    assert_eq!(rig.desktop.done().last().map(String::as_str), Some("ctrl up"));
}

#[tokio::test(start_paused = true)]
async fn what_a_request_pressed_that_was_dropped_is_released_when_its_lease_ends() {
    let rig = Rig::new();
    rig.notes().await;
    rig.desktop.state().input_takes = MS_100;
    let holder = rig.client();
    let holding = rig.begin(&holder, r#"key-down {"combo":"ctrl","app":"Notes","hold_ms":500}"#);
    sleep_until(rig.at(50)).await;
    holding.cancel().await;
    leaves(&rig, &holder);
    sleep_until(rig.at(1_000)).await;
    assert!(!rig.engine.input_lock.is_holding());
}
