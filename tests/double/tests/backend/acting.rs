//! Acting on elements, and what is said when that goes wrong.

use axd_double::World;
use axd_double::ax::Error;
use axd_double::faults::{Call, Fault};
use axd_platform::{Act, FailureKind, Gate, Sent, WindowOp, WorkerRequest};
use axd_protocol::{Point, Role, State};
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

/// The errors that do not say by themselves that nothing was done.
fn ambiguous() -> impl Iterator<Item = Error> {
    Error::ALL.into_iter().filter(|error| *error != Error::APIDisabled)
}

#[test]
fn an_action_that_was_sent_may_have_been_done_whatever_error_the_app_answers() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    for (error, count) in ambiguous().zip(1..) {
        let (call, widget) = (Some(Call::Perform), Some("press".to_owned()));
        world.faults().add(Fault { call, widget, error: Some(error), times: Some(1), ..Fault::default() });
        let failed = app.perform("press", Act::Press).expect_err("it answered an error");
        assert_eq!(failed.sent, Sent::Maybe, "{error:?}: {failed:?}");
        let kind = match error {
            Error::CannotComplete => FailureKind::Unresponsive,
            Error::InvalidUIElement => FailureKind::Gone,
            _ => FailureKind::Refused,
        };
        assert_eq!(failed.kind, kind, "{error:?}: {failed:?}");
        world.faults().clear();
        // It was done, and that is seen although the answer said otherwise.
        app.until("it was done once", |app| app.has_text(Role::Text, &format!("count {count}")));
        app.until("it is well again", |app| app.degraded.is_none());
    }
}

#[test]
fn an_action_that_was_not_allowed_or_not_offered_was_not_sent() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let (call, widget) = (Some(Call::Perform), Some("press".to_owned()));
    let error = Some(Error::APIDisabled);
    world.faults().add(Fault { call, widget, error, times: Some(1), instead: true, ..Fault::default() });
    let failed = app.perform("press", Act::Press).expect_err("it is not allowed");
    assert_eq!((failed.kind, failed.sent), (FailureKind::NotAllowed, Sent::No));
    app.until("it is well again", |app| app.degraded.is_none());
    let failed = app.perform("label", Act::Press).expect_err("it has no such action");
    assert_eq!((failed.kind, failed.sent), (FailureKind::NotSupported, Sent::No));
    world.inspect("App", |inside| {
        let press = inside.model.find("press").expect("it is there");
        inside.model.remove(press);
    });
    let failed = app.perform("press", Act::Press).expect_err("it is gone");
    assert_eq!((failed.kind, failed.sent), (FailureKind::Gone, Sent::No));
}

#[test]
fn an_attribute_that_was_set_is_read_back_whatever_error_the_app_answers() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    // Of these two it is not even certain that anybody is there to be read.
    let silent = [Error::CannotComplete, Error::InvalidUIElement];
    for (error, number) in ambiguous().filter(|error| !silent.contains(error)).zip(0..) {
        world.faults().add(Fault { call: Some(Call::Set), error: Some(error), ..Fault::default() });
        for (widget, act) in [
            ("slider", Act::SetValue(if number % 2 == 0 { "8" } else { "3" }.to_owned())),
            ("field", Act::SetValue(format!("text {number}"))),
            ("field", Act::Focus),
            ("field", Act::CaretToEnd),
            ("field", Act::Insert("!".to_owned())),
            ("check", Act::Focus),
        ] {
            if let Err(failed) = app.perform(widget, act.clone()) {
                panic!("{error:?}, {widget}, {act:?}: {failed:?}");
            }
        }
        for at in [1, 0] {
            let row = app.children[&app.key("rows")][at];
            app.ask(|reply| WorkerRequest::Perform { key: row, act: Act::Select, gate: Gate::new(), reply })
                .unwrap_or_else(|failed| panic!("{error:?}: {failed:?}"));
        }
        world.faults().clear();
        let text = format!("text {number}!");
        app.until("all of it is done", |app| app.facts("field").value.as_deref() == Some(&text));
    }
}

#[test]
fn an_attribute_that_stays_as_it_was_after_an_error_is_not_said_to_be_set() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let (call, error) = (Some(Call::Set), Some(Error::NotImplemented));
    world.faults().add(Fault { call, error, instead: true, ..Fault::default() });
    let failed = app.perform("field", Act::SetValue("new".to_owned())).expect_err("it stays");
    assert_eq!((failed.kind, failed.sent), (FailureKind::Refused, Sent::Maybe));
    let failed = app.perform("field", Act::Insert("more".to_owned())).expect_err("it stays");
    assert_eq!((failed.kind, failed.sent), (FailureKind::Refused, Sent::Maybe), "it may only be late");
    let failed = app.perform("field", Act::Focus).expect_err("it stays");
    assert_eq!(failed.sent, Sent::No, "asking for the focus again does no harm");
}

#[test]
fn a_window_that_is_moved_is_where_it_was_sent_whatever_error_its_app_answers() {
    let world = World::of(&[APP]);
    let desktop = Desktop::start();
    let pid = world.pid("App");
    let window = world.sim().windows().into_iter().find(|seen| seen.pid == pid).expect("it has one").window;
    for (error, x) in
        [Error::Failure, Error::AttributeUnsupported, Error::NotImplemented].into_iter().zip(60..)
    {
        world.faults().add(Fault { call: Some(Call::Set), error: Some(error), ..Fault::default() });
        let to = Point { x, y: 70 };
        desktop
            .call(|platform, gate| platform.window_op(window, WindowOp::Move(to), gate))
            .unwrap_or_else(|failed| panic!("{error:?}: {failed:?}"));
        world.faults().clear();
        let seen = world.sim().windows().into_iter().find(|seen| seen.window == window).expect("it is there");
        assert_eq!(seen.bounds.map(|bounds| (bounds.x, bounds.y)), Some((x, 70)));
    }
    let (call, error) = (Some(Call::Set), Some(Error::Failure));
    world.faults().add(Fault { call, error, instead: true, ..Fault::default() });
    let to = WindowOp::Move(Point { x: 300, y: 300 });
    let failed = desktop.call(|platform, gate| platform.window_op(window, to, gate)).expect_err("it stays");
    assert_eq!((failed.kind, failed.sent), (FailureKind::Refused, Sent::Maybe));
}
