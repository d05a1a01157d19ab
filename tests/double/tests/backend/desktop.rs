//! Windows, the clipboard, pictures, apps that come and go.

use axd_double::World;
use axd_platform::{
    CaptureTarget, ClipboardContent, ClipboardKind, DesktopAnswer, DesktopCall, DesktopEvent, DesktopWindow,
    FailureKind, Gate, LaunchPlan, Platform as _, WindowOp, WorkerRequest,
};
use axd_protocol::Point;
use axd_sim::SimVerb;

use crate::on::Desktop;
use crate::scripts::{APP, OTHER};

#[test]
fn windows_are_listed_moved_put_away_and_brought_back() {
    let world = World::of(&[APP, OTHER]);
    let mut desktop = Desktop::start();
    let pid = world.pid("App");
    let windows = |event: &DesktopEvent| match event {
        DesktopEvent::Windows(windows) => windows.iter().find(|window| window.pid == pid).cloned(),
        _ => None,
    };
    let found = desktop.hears(|event| windows(event).is_some_and(|window| window.title == "Main"));
    let window = windows(&found).unwrap().window;
    let op = |desktop: &mut Desktop, op, is_so: &dyn Fn(&DesktopWindow) -> bool| {
        desktop.seen.clear();
        desktop
            .call(DesktopCall::Window { window, op })
            .unwrap_or_else(|failed| panic!("{op:?}: {failed:?}"));
        desktop.hears(|event| windows(event).is_some_and(|window| is_so(&window)));
    };
    op(&mut desktop, WindowOp::Move(Point { x: 90, y: 70 }), &|seen| {
        seen.bounds.is_some_and(|it| (it.x, it.y) == (90, 70))
    });
    op(&mut desktop, WindowOp::Resize { width: 500, height: 400 }, &|seen| {
        seen.bounds.is_some_and(|it| (it.width, it.height) == (500, 400))
    });
    op(&mut desktop, WindowOp::Minimize, &|seen| seen.minimized);
    op(&mut desktop, WindowOp::Restore, &|seen| !seen.minimized);
}

#[test]
fn the_clipboard_is_the_pasteboard_and_what_is_concealed_stays_so() {
    let world = World::of(&[APP]);
    let desktop = Desktop::start();
    desktop.call(DesktopCall::ClipboardSet(Some(ClipboardContent::Text("copied".into())))).unwrap();
    let got = desktop.call(DesktopCall::ClipboardGet(ClipboardKind::Text)).unwrap();
    assert_eq!(got, DesktopAnswer::Clipboard(Some(ClipboardContent::Text("copied".into()))));
    world.mark_pasteboard("org.nspasteboard.ConcealedType");
    let refused = desktop.call(DesktopCall::ClipboardGet(ClipboardKind::Text)).expect_err("it is concealed");
    assert_eq!(refused.kind, FailureKind::Refused);
}

#[test]
fn an_app_that_ends_is_known_to_have_ended() {
    let world = World::of(&[APP, OTHER]);
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(&world, "App");
    app.walked();
    let pid = world.pid("App");
    world.act_as_user("App", SimVerb::Fault, Some("die"), None);
    desktop.hears(|event| *event == DesktopEvent::AppGone { pid });
    let failed = app.ask(|reply| WorkerRequest::Fence { reply }).expect_err("it has ended");
    assert!(matches!(failed.kind, FailureKind::Gone | FailureKind::Unresponsive), "{failed:?}");
}

#[test]
fn pictures_are_what_is_on_the_screen() {
    let world = World::of(&[APP]);
    let desktop = Desktop::start();
    let DesktopAnswer::Picture(taken) =
        desktop.call(DesktopCall::Capture { of: CaptureTarget::All, cursor: false }).unwrap()
    else {
        panic!("no picture")
    };
    let drawn = desktop.runtime.block_on(async {
        world.sim().call(DesktopCall::Capture { of: CaptureTarget::All, cursor: false }, Gate::new()).await
    });
    let Ok(Ok(DesktopAnswer::Picture(drawn))) = drawn else { panic!("{drawn:?}") };
    assert_eq!((taken.width, taken.height), (drawn.width, drawn.height));
    assert!(taken.rgb == drawn.rgb, "every pixel is as it was drawn");
    world.settings(|settings| settings.may_capture = false);
    let refused = desktop.call(DesktopCall::Capture { of: CaptureTarget::All, cursor: false });
    assert!(refused.is_err(), "without permission there is no picture, not a wrong one");
}

#[test]
fn apps_are_launched_by_name_and_by_identifier_and_ended() {
    let world = World::of(&[APP, &OTHER.replacen("name", "running = false\nname", 1)]);
    let mut desktop = Desktop::start();
    let plan = |app: &str| DesktopCall::Launch(LaunchPlan { app: app.to_owned(), ..LaunchPlan::default() });
    let DesktopAnswer::Launched { pid: Some(pid), identity } = desktop.call(plan("other")).unwrap() else {
        panic!("it was not launched")
    };
    assert_eq!(identity.as_deref(), Some("test.other"));
    desktop.hears(|event| matches!(event, DesktopEvent::AppUp(seen) if seen.pid == pid));
    let again = desktop.call(plan("test.other")).unwrap();
    assert_eq!(again, DesktopAnswer::Launched { pid: Some(pid), identity }, "it hands over to itself");
    let absent = desktop.call(plan("no-such-app-anywhere")).expect_err("there is none");
    assert_eq!(absent.kind, FailureKind::Gone);
    desktop.call(DesktopCall::Close { pid, force: false }).unwrap();
    desktop.hears(|event| *event == DesktopEvent::AppGone { pid });
    assert_eq!(world.sim().apps().len(), 1);
}
