//! Windows, the clipboard, pictures, apps that come and go.

use axd_double::World;
use axd_platform::{
    CaptureTarget, ClipboardContent, ClipboardKind, DesktopEvent, DesktopWindow, FailureKind, LaunchPlan,
    Launched, Platform as _, WindowOp, WorkerRequest,
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
    let found = desktop.wait_for_event(|event| windows(event).is_some_and(|window| window.title == "Main"));
    let window = windows(&found).unwrap().window;
    let op = |desktop: &mut Desktop, op, is_so: &dyn Fn(&DesktopWindow) -> bool| {
        desktop.seen.clear();
        desktop
            .call(|platform, gate| platform.window_op(window, op, gate))
            .unwrap_or_else(|failed| panic!("{op:?}: {failed:?}"));
        desktop.wait_for_event(|event| windows(event).is_some_and(|window| is_so(&window)));
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
    let copied = Some(ClipboardContent::Text("copied".into()));
    desktop.call(|platform, gate| platform.set_clipboard(copied, gate)).unwrap();
    let got = desktop.call(|platform, _| platform.clipboard(ClipboardKind::Text)).unwrap();
    assert_eq!(got, (Some(ClipboardContent::Text("copied".into()))));
    world.mark_pasteboard("org.nspasteboard.ConcealedType");
    let refused =
        desktop.call(|platform, _| platform.clipboard(ClipboardKind::Text)).expect_err("it is concealed");
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
    desktop.wait_for_event(|event| *event == DesktopEvent::AppGone { pid });
    let failed = app.ask(|reply| WorkerRequest::Fence { reply }).expect_err("it has ended");
    assert!(matches!(failed.kind, FailureKind::Gone | FailureKind::Unresponsive), "{failed:?}");
}

#[test]
fn pictures_are_what_is_on_the_screen() {
    let world = World::of(&[APP]);
    let desktop = Desktop::start();
    let taken = desktop.call(|platform, _| platform.capture(CaptureTarget::All, false)).unwrap();
    let drawn = desktop.runtime.block_on(async { world.sim().capture(CaptureTarget::All, false).await });
    let Ok(Ok(drawn)) = drawn else { panic!("{drawn:?}") };
    assert_eq!((taken.width, taken.height), (drawn.width, drawn.height));
    assert!(taken.rgb == drawn.rgb, "every pixel is as it was drawn");
    world.settings(|settings| settings.may_capture = false);
    let refused = desktop.call(|platform, _| platform.capture(CaptureTarget::All, false));
    assert!(refused.is_err(), "without permission there is no picture, not a wrong one");
}

#[test]
fn apps_are_launched_by_name_and_by_identifier_and_ended() {
    let world = World::of(&[APP, &OTHER.replacen("name", "running = false\nname", 1)]);
    let mut desktop = Desktop::start();
    let launch = |desktop: &Desktop, app: &str| {
        let plan = LaunchPlan { app: app.to_owned(), ..LaunchPlan::default() };
        desktop.call(|platform, gate| platform.launch(plan, gate))
    };
    let Launched { pid: Some(pid), identity } = launch(&desktop, "other").unwrap() else {
        panic!("it was not launched")
    };
    assert_eq!(identity.as_deref(), Some("test.other"));
    desktop.wait_for_event(|event| matches!(event, DesktopEvent::AppUp(seen) if seen.pid == pid));
    let again = launch(&desktop, "test.other").unwrap();
    assert_eq!(again, Launched { pid: Some(pid), identity }, "it hands over to itself");
    let absent = launch(&desktop, "no-such-app-anywhere").expect_err("there is none");
    assert_eq!(absent.kind, FailureKind::Gone);
    desktop.call(|platform, gate| platform.close_app(pid, false, gate)).unwrap();
    desktop.wait_for_event(|event| *event == DesktopEvent::AppGone { pid });
    assert_eq!(world.sim().apps().len(), 1);
}
