//! Permissions: what the system says about them, and what is so.

use std::time::Duration;

use axd_double::Settings;
use axd_double::World;
use axd_platform::{CaptureTarget, ClipboardKind, FailureKind, InputStep};
use axd_protocol::command::{Permission, PermissionState};
use axd_protocol::keys::Key;

use crate::on::Desktop;
use crate::scripts::APP;

fn states(desktop: &Desktop, request: bool) -> Vec<PermissionState> {
    let permissions = desktop.call(|platform, _| platform.permissions(request)).unwrap();
    permissions.into_iter().map(|Permission { state, .. }| state).collect()
}

fn dialogs(world: &World) -> u32 {
    world.settings(|settings: &mut Settings| settings.dialogs)
}

fn press(desktop: &Desktop) -> Result<(), FailureKind> {
    let keys = [true, false].map(|down| InputStep::Key(Key::Char('a'), down)).to_vec();
    desktop.call(|platform, gate| platform.input(keys.into(), gate)).map(drop).map_err(|failure| failure.kind)
}

#[test]
fn a_call_that_works_counts_more_than_what_the_system_told_this_process_first() {
    let world = World::of(&[APP]);
    world.settings(|settings| settings.trusted = false);
    let mut desktop = Desktop::start();
    assert_eq!(states(&desktop, false)[0], PermissionState::Missing);
    assert!(desktop.platform().access_error().is_some());
    assert_eq!(press(&desktop), Err(FailureKind::NotAllowed));
    world.settings(|settings| settings.trusted = true);
    assert_eq!(states(&desktop, false)[0], PermissionState::Granted);
    assert!(desktop.platform().access_error().is_none());
    assert_eq!(press(&desktop), Ok(()));
    desktop.attach(&world, "App").walked();
}

#[test]
fn a_grant_that_has_no_effect_is_for_another_build() {
    let world = World::of(&[APP]);
    world.settings(|settings| (settings.trusted, settings.says_trusted) = (false, Some(true)));
    let desktop = Desktop::start();
    assert_eq!(states(&desktop, false)[0], PermissionState::OtherBuild);
    assert_eq!(press(&desktop), Err(FailureKind::NotAllowed), "it would be dropped without a word");
    assert!(world.input().posted().is_empty());
}

#[test]
fn the_systems_dialog_is_shown_only_on_request() {
    let world = World::of(&[APP]);
    world.settings(|settings| (settings.trusted, settings.may_capture) = (false, false));
    let desktop = Desktop::start();
    assert_eq!(states(&desktop, false), [PermissionState::Missing; 2]);
    assert!(desktop.platform().access_error().is_some() && press(&desktop).is_err());
    drop(desktop.examine());
    assert_eq!(dialogs(&world), 0);
    states(&desktop, true);
    assert_eq!(dialogs(&world), 2);
}

#[test]
fn pictures_are_tried_though_the_system_says_that_they_are_not_allowed() {
    let world = World::of(&[APP]);
    world.settings(|settings| settings.says_may_capture = Some(false));
    for screen_capture_kit in [false, true] {
        world.settings(|settings| settings.screen_capture_kit = screen_capture_kit);
        let desktop = Desktop::start();
        assert_eq!(states(&desktop, false)[1], PermissionState::Granted, "it sees titles");
        desktop.call(|platform, _| platform.capture(CaptureTarget::All, false)).unwrap();
    }
}

#[test]
fn a_picture_that_is_refused_is_a_missing_permission() {
    let world = World::of(&[APP]);
    world.settings(|settings| settings.may_capture = false);
    for (screen_capture_kit, says, part) in
        [(false, false, "turn it on"), (true, false, "turn it on"), (true, true, "another build")]
    {
        world.settings(|settings| {
            (settings.screen_capture_kit, settings.says_may_capture) = (screen_capture_kit, Some(says));
        });
        let desktop = Desktop::start();
        let refused = desktop.call(|platform, _| platform.capture(CaptureTarget::All, false)).unwrap_err();
        assert_eq!(refused.kind, FailureKind::NotAllowed, "{refused:?}");
        assert!(refused.native.contains(part), "{refused:?}");
    }
}

#[test]
fn a_daemon_without_permission_does_not_stay() {
    let world = World::of(&[APP]);
    let desktop = Desktop::start();
    assert_eq!(desktop.platform().idle_limit(), None);
    world.settings(|settings| (settings.trusted, settings.says_trusted) = (false, None));
    let limit = desktop.platform().idle_limit().expect("the next one is fresh");
    // launchd delays the next start of a job that ran for less.
    assert!(limit > Duration::from_secs(10) && limit < Duration::from_secs(60));
}

#[test]
fn a_clipboard_that_hangs_holds_up_nobody_and_is_told() {
    let world = World::of(&[APP]);
    let mut desktop = Desktop::start();
    let set = axd_platform::ClipboardContent::Text("text".into());
    desktop.call(|platform, gate| platform.set_clipboard(Some(set), gate)).unwrap();
    world.settings(|settings| settings.pasteboard_hangs = true);
    let read = desktop.call(|platform, _| {
        let read = platform.clipboard(ClipboardKind::Text);
        // Meanwhile thread 0 is free.
        axd_macos::appkit::host::run_on_main_blocking(|| ()).expect("it is not held up");
        read
    });
    assert_eq!(read.unwrap_err().kind, FailureKind::Unresponsive);
    let mut app = desktop.attach(&world, "App");
    app.walked();
    world.settings(|settings| settings.pasteboard_hangs = false);
    app.until("it answers again", |_| {
        desktop.call(|platform, _| platform.clipboard(ClipboardKind::Text)).is_ok_and(|read| read.is_some())
    });
    world.settings(|settings| settings.pasteboard_denied = true);
    let denied = desktop.call(|platform, _| platform.clipboard(ClipboardKind::Text)).unwrap_err();
    assert_eq!(denied.kind, FailureKind::NotAllowed);
}
