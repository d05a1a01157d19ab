//! Acting on elements, and what is said when that goes wrong.

use axd_double::World;
use axd_double::ax::Error;
use axd_double::faults::{Call, Fault};
use axd_platform::{Act, FailureKind, Gate, Sent, WorkerRequest};
use axd_protocol::{Role, State};
use axd_sim::SimVerb;

use crate::on::Desktop;
use crate::scripts::{APP, OTHER};

#[test]
fn an_app_that_hangs_holds_up_nobody_else() {
    let world = World::of(&[APP, OTHER]);
    let mut desktop = Desktop::start();
    let (mut app, mut other) = (desktop.attach(&world, "App"), desktop.attach(&world, "Other"));
    app.walked();
    other.walked();
    world.act_as_user("App", SimVerb::Fault, Some("hang"), None);
    let failed = app.perform("press", Act::Press).expect_err("it hangs");
    assert_eq!(failed.kind, FailureKind::Unresponsive);
    for _ in 0..5 {
        other.perform_ok("press", Act::Press);
    }
    other.until("it goes on as ever", |other| other.has_text(Role::Text, "pressed"));
    app.until("it is known to be silent", |app| app.degraded.is_some());
    world.act_as_user("App", SimVerb::Heal, None, None);
    app.until("and known to be back", |app| app.degraded.is_none());
    app.fence();
    app.walk_again();
    // What was not sent was not done; what may have been sent was done once at most.
    let is_honest =
        app.has_text(Role::Text, "count 0") || failed.sent != Sent::No && app.has_text(Role::Text, "count 1");
    assert!(is_honest, "{failed:?}\n{}", app.tree());
}

#[test]
fn a_press_that_opens_a_modal_dialog_may_have_been_done_and_the_dialog_is_seen() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    world.act_as_user("App", SimVerb::Fault, Some("blocks"), None);
    let pressed = app.perform("ask", Act::Press);
    assert!(
        pressed.as_ref().is_ok_and(|_| true) || pressed.as_ref().is_err_and(|it| it.sent != Sent::No),
        "{pressed:?}"
    );
    app.until("the dialog is there", |app| app.has("yes"));
    app.perform_ok("yes", Act::Press);
    app.until("and gone", |app| !app.has("yes"));
}

#[test]
fn elements_are_asked_to_act_and_do() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    app.perform_ok("press", Act::Press);
    app.perform_ok("check", Act::Press);
    app.perform_ok("slider", Act::SetValue("8".into()));
    app.perform_ok("field", Act::SetValue("new".into()));
    app.perform_ok("field", Act::Focus);
    app.perform_ok("field", Act::CaretToEnd);
    app.perform_ok("field", Act::Insert(" text".into()));
    app.until("all of it is done", |app| {
        app.has_text(Role::Text, "count 1")
            && app.facts("check").states.has(State::Checked)
            && app.facts("slider").value.as_deref() == Some("8")
            && app.facts("field").value.as_deref() == Some("new text")
            && app.facts("field").states.has(State::Focused)
    });
    let row = app.children[&app.key("rows")][1];
    app.ask(|reply| WorkerRequest::Perform { key: row, act: Act::Select, gate: Gate::new(), reply }).unwrap();
    app.until("a row is selected", |app| app.nodes[&row].states.has(State::Selected));
    let refused = app.perform("off", Act::Press).expect_err("it is disabled");
    assert_eq!((refused.kind, refused.sent != Sent::Yes), (FailureKind::Refused, true), "{refused:?}");
    let unable = app.perform("label", Act::Press).expect_err("a label is not pressed");
    assert_eq!((unable.kind, unable.sent), (FailureKind::NotSupported, Sent::No));
    assert!(world.input().posted().is_empty(), "no mouse and no keyboard were needed");
}

#[test]
fn a_closed_gate_lets_nothing_through() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let gate = Gate::new();
    gate.close();
    let key = app.key("press");
    app.until("it is well", |app| app.degraded.is_none());
    let answer = app.ask(|reply| WorkerRequest::Perform { key, act: Act::Press, gate, reply });
    let failed = answer.expect_err("it was closed");
    assert_eq!((failed.kind, failed.sent), (FailureKind::Closed, Sent::No));
    app.fence();
    assert!(app.has_text(Role::Text, "count 0"));
}

#[test]
fn whatever_an_action_fails_with_nothing_is_claimed_that_may_not_be_so() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    for error in Error::ALL {
        let (call, widget) = (Some(Call::Perform), Some("press".to_owned()));
        world.faults().add(Fault { call, widget, error: Some(error), times: Some(1), ..Fault::default() });
        let failed = app.perform("press", Act::Press).expect_err("it went wrong");
        match error {
            Error::CannotComplete => assert_eq!(
                (failed.kind, failed.sent),
                (FailureKind::Unresponsive, Sent::Maybe),
                "it may have been done"
            ),
            Error::ActionUnsupported => {
                assert_eq!((failed.kind, failed.sent), (FailureKind::NotSupported, Sent::No))
            }
            Error::InvalidUIElement => assert_eq!(failed.kind, FailureKind::Gone),
            Error::Failure => assert_ne!(failed.sent, Sent::No, "the app got it, whatever it made of it"),
            _ => assert!(!failed.native.is_empty(), "{error:?}"),
        }
        world.faults().clear();
        app.until("it is well again", |app| app.degraded.is_none());
    }
    app.perform_ok("press", Act::Press);
    app.until("it was done once in all", |app| app.has_text(Role::Text, "count 1"));
}
