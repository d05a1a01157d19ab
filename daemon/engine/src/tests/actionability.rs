//! How long an action waits until its target can be reached with the mouse, and what others can do meanwhile.

use std::sync::Arc;
use std::time::Duration;

use axd_protocol::{Bounds, Error, ErrorCode, Point, State, States};
use tokio::time::timeout;

use crate::action::input_lock::InputUser;

use super::fake_desktop::{BUTTON, BUTTON_CENTER, FakeDesktop, LABEL, MAIL, NOTES, window_of};
use super::{Rig, button_of, drained};
use crate::action::context::ActionContext;
use axd_platform::Receiver;
use axd_protocol::Command;
use axd_service::Call;

const RIGHT_CLICK: &str = r#"right-click {"target":"button:Save"}"#;

/// A running action on the button of Notes.
async fn context<'a>(rig: &'a Rig, call: &'a Call) -> ActionContext<'a> {
    let app = rig.notes().await;
    let Command::Act(command) = &call.command else { panic!("it does not act") };
    let id = button_of(&app);
    ActionContext::new(&rig.engine, call, command.options(), rig.at(30_000), Some(app), Some(id), None)
}

/// Where the button can be reached, and after how many milliseconds.
async fn reach(rig: &Rig, context: &ActionContext<'_>) -> (Result<Point, Error>, u128) {
    let app = Arc::clone(context.app().unwrap());
    let point = context.wait_until_actionable(&app, context.id().unwrap()).await;
    (point, rig.elapsed())
}

async fn reach_as(rig: &Rig, words: &str) -> (Result<Point, Error>, u128) {
    let call = rig.call(&rig.client(), words);
    reach(rig, &context(rig, &call).await).await
}

/// Whether a client gets the input lock without waiting.
async fn gets_lock(rig: &Rig) -> bool {
    let now = tokio::time::Instant::now();
    let taken = rig
        .engine
        .lock_input(InputUser { client: rig.client().client, releases: false }, now, false)
        .await
        .is_ok();
    assert_eq!(now.elapsed(), Duration::ZERO);
    taken
}

fn mail_in_front() -> Receiver {
    Receiver {
        pid: Some(MAIL),
        window: Some(window_of(MAIL)),
        title: "Inbox".to_owned(),
        ..Receiver::default()
    }
}

#[tokio::test(start_paused = true)]
async fn what_can_be_reached_is_reached_at_once_in_its_middle() {
    let rig = Rig::new();
    assert_eq!(reach_as(&rig, RIGHT_CLICK).await, (Ok(BUTTON_CENTER), 0));
    assert_eq!(rig.desktop.done(), [""; 0], "nothing had to be done for it");
}

#[tokio::test(start_paused = true)]
async fn a_window_that_is_behind_others_comes_to_the_front_first() {
    let rig = Rig::new();
    rig.notes().await;
    rig.desktop.bring_to_front(MAIL);
    drained().await;
    assert_eq!(reach_as(&rig, RIGHT_CLICK).await, (Ok(BUTTON_CENTER), 0));
    assert_eq!(rig.desktop.done(), ["Focus Mail", "Focus Notes"]);
}

#[tokio::test(start_paused = true)]
async fn an_element_is_reached_as_soon_as_a_change_says_that_it_can_be() {
    for state in [State::Disabled, State::Hidden] {
        let rig = Rig::new();
        rig.notes().await;
        rig.desktop.set_states(NOTES, States::NONE.with(state));
        drained().await;
        rig.after(120, |desktop| desktop.set_states(NOTES, States::NONE));
        assert_eq!(reach_as(&rig, RIGHT_CLICK).await, (Ok(BUTTON_CENTER), 120), "{state:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_no_change_tells_is_measured_every_50_ms() {
    type Change = fn(&FakeDesktop);
    let obstacles: [(&str, Change, Change); 3] = [
        (
            "it has no bounds",
            |desktop| desktop.state().place.0 = None,
            |desktop| desktop.state().place = FakeDesktop::PLACE,
        ),
        (
            "it is not visible",
            |desktop| desktop.state().place.1 = false,
            |desktop| desktop.state().place = FakeDesktop::PLACE,
        ),
        (
            "the label covers it",
            |desktop| desktop.state().hit = LABEL,
            |desktop| desktop.state().hit = BUTTON,
        ),
    ];
    for (what, obstruct, clear) in obstacles {
        let rig = Rig::new();
        obstruct(&rig.desktop);
        rig.after(120, clear);
        assert_eq!(reach_as(&rig, RIGHT_CLICK).await, (Ok(BUTTON_CENTER), 150), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_app_is_asked_once_to_scroll_to_what_is_out_of_view() {
    let rig = Rig::new();
    (rig.desktop.state().place.1, rig.desktop.state().scrolls) = (false, true);
    assert_eq!(reach_as(&rig, RIGHT_CLICK).await, (Ok(BUTTON_CENTER), 50));
    assert_eq!(rig.desktop.timeline(), ["0: scroll to"]);
    let rig = Rig::new();
    rig.desktop.state().place.1 = false;
    assert!(reach_as(&rig, RIGHT_CLICK).await.0.is_err());
    assert_eq!(rig.desktop.timeline(), ["0: scroll to"], "asking again does not help");
}

#[tokio::test(start_paused = true)]
async fn a_window_that_is_covered_although_it_is_in_front_is_raised_with_more_force() {
    let rig = Rig::new();
    rig.desktop.state().cover = Some(mail_in_front());
    assert_eq!(reach_as(&rig, RIGHT_CLICK).await, (Ok(BUTTON_CENTER), 50));
    assert_eq!(rig.desktop.timeline(), ["50: Insist Notes"]);
}

#[tokio::test(start_paused = true)]
async fn an_element_that_cannot_be_reached_in_time_is_not_actionable_and_the_error_says_why() {
    type Change = fn(&FakeDesktop);
    let obstacles: [(Change, &str); 7] = [
        (|desktop| desktop.set_states(NOTES, States::NONE.with(State::Disabled)), "is disabled"),
        (|desktop| desktop.set_states(NOTES, States::NONE.with(State::Hidden)), "is hidden"),
        (|desktop| desktop.state().place.0 = None, "has no position on the screen"),
        (
            |desktop| desktop.state().place.1 = false,
            "is scrolled out of view, and its app does not scroll to it",
        ),
        (
            |desktop| desktop.state().place.0 = Some(Bounds { x: 1_000, y: 100, width: 40, height: 20 }),
            "is off the screen",
        ),
        (|desktop| desktop.state().hit = LABEL, "is covered by text"),
        (
            |desktop| {
                let mut state = desktop.state();
                (state.cover, state.cover_stays) = (Some(mail_in_front()), true);
            },
            "is covered by the window \"Inbox\" of Mail",
        ),
    ];
    for (obstruct, why) in obstacles {
        for (words, ms) in
            [(RIGHT_CLICK, 5_000), (r#"right-click {"target":"button:Save","timeout_ms":320}"#, 320)]
        {
            let rig = Rig::new();
            rig.notes().await;
            obstruct(&rig.desktop);
            drained().await;
            let (reached, after) = reach_as(&rig, words).await;
            let error = reached.unwrap_err();
            assert_eq!((error.code, after), (ErrorCode::NotActionable, ms), "{}", error.message);
            let told = format!("button \"Save\" {} {why}", button_of(&rig.engine.by_pid(NOTES).unwrap()));
            assert!(error.message.starts_with(&told), "{}, not: {told}", error.message);
            assert!(gets_lock(&rig).await);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_before_the_time_limit_ends_the_wait() {
    let rig = Rig::new();
    rig.desktop.state().hit = LABEL;
    let call = rig.call(&rig.client(), RIGHT_CLICK);
    let context = ActionContext { deadline: rig.at(70), ..context(&rig, &call).await };
    let (reached, after) = reach(&rig, &context).await;
    assert_eq!((reached.unwrap_err().code, after), (ErrorCode::NotActionable, 70));
}

#[tokio::test(start_paused = true)]
async fn others_can_use_mouse_and_keyboard_while_an_action_waits() {
    let rig = Rig::new();
    rig.desktop.state().hit = LABEL;
    let call = rig.call(&rig.client(), RIGHT_CLICK);
    let context = context(&rig, &call).await;
    let reached = reach(&rig, &context);
    tokio::pin!(reached);
    assert!(timeout(Duration::from_millis(60), &mut reached).await.is_err(), "it is covered");
    let other = rig
        .engine
        .lock_input(InputUser { client: rig.client().client, releases: false }, rig.at(60), false)
        .await;
    assert_eq!((other.is_ok(), rig.elapsed()), (true, 60), "the lock is free");
    rig.desktop.state().hit = BUTTON;
    assert!(timeout(Duration::from_millis(140), &mut reached).await.is_err(), "the other has the lock");
    drop(other);
    assert_eq!(reached.await, (Ok(BUTTON_CENTER), 200));
}

#[tokio::test(start_paused = true)]
async fn the_lock_is_kept_once_the_element_is_reached() {
    let rig = Rig::new();
    let call = rig.call(&rig.client(), RIGHT_CLICK);
    let context = context(&rig, &call).await;
    assert_eq!(reach(&rig, &context).await.0, Ok(BUTTON_CENTER));
    assert!(!gets_lock(&rig).await);
    context.release_input_lock();
    assert!(gets_lock(&rig).await);
    assert_eq!(reach(&rig, &context).await.0, Ok(BUTTON_CENTER));
    drop(context);
    assert!(gets_lock(&rig).await, "the lock goes with the action");
}

#[tokio::test(start_paused = true)]
async fn an_action_that_had_the_lock_before_does_not_lose_it_to_the_wait() {
    let rig = Rig::new();
    rig.desktop.state().hit = LABEL;
    let call = rig.call(&rig.client(), RIGHT_CLICK);
    let context = context(&rig, &call).await;
    assert!(context.take_input_lock().await.unwrap());
    assert!(timeout(Duration::from_millis(60), reach(&rig, &context)).await.is_err());
    assert!(!gets_lock(&rig).await);
}

#[tokio::test(start_paused = true)]
async fn the_pointer_goes_into_a_window_whose_app_reports_places_only_then() {
    let rig = Rig::new();
    rig.desktop.state().hit = LABEL;
    rig.desktop.state().hit_after_move = Some(BUTTON);
    let call = rig.call(&rig.client(), RIGHT_CLICK);
    let context = context(&rig, &call).await;
    assert_eq!(reach(&rig, &context).await, (Ok(BUTTON_CENTER), 0));
    assert!(!call.gate.is_sent());
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_ends_the_wait_at_once_and_frees_the_lock() {
    let rig = Rig::new();
    rig.desktop.state().hit = LABEL;
    let call = rig.call(&rig.client(), RIGHT_CLICK);
    rig.cancel_at(62, &call.gate);
    let context = context(&rig, &call).await;
    let (reached, after) = reach(&rig, &context).await;
    assert_eq!((reached.unwrap_err().code, after), (ErrorCode::Cancelled, 62));
    assert!(!call.gate.is_sent());
    drop(context);
    assert!(gets_lock(&rig).await);
}

#[tokio::test(start_paused = true)]
async fn an_element_that_goes_away_meanwhile_is_not_waited_for() {
    let rig = Rig::new();
    rig.desktop.state().hit = LABEL;
    rig.after(62, |desktop| desktop.remove_button(NOTES));
    let (reached, after) = reach_as(&rig, RIGHT_CLICK).await;
    assert_eq!((reached.unwrap_err().code, after), (ErrorCode::StaleRef, 62));
}
