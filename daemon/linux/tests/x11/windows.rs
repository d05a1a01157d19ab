//! What is done to windows happens, and the desktop reports it.

use axd_platform::{FailureKind, WindowOp};
use axd_protocol::{Bounds, Point};

use crate::desk::{Desk, inside};
use crate::painted::Painted;

async fn op(desk: &Desk, window: u64, op: WindowOp) {
    desk.call(|platform, gate| platform.window_op(window, op, gate))
        .await
        .unwrap_or_else(|failure| panic!("{op:?}: {failure}"));
}

/// Each verb, with a window of this toolkit; the test's own wish is what `DesktopWindow` says afterwards.
async fn obeys(toolkit: &str) {
    let mut desk = Desk::new().await;
    let window = desk.echo(toolkit).await;
    let bounds = |desk: &Desk| desk.window(window).bounds.unwrap();
    for to in [Point { x: 200, y: 150 }, Point { x: 33, y: 77 }, Point { x: -40, y: 60 }] {
        op(&desk, window, WindowOp::Move(to)).await;
        desk.until("it is there", |desk| (bounds(desk).x, bounds(desk).y) == (to.x, to.y)).await;
    }
    op(&desk, window, WindowOp::Move(Point { x: 150, y: 140 })).await;
    op(&desk, window, WindowOp::Resize { width: 511, height: 333 }).await;
    let wanted = Bounds { x: 150, y: 140, width: 511, height: 333 };
    desk.until("it has that size", |desk| bounds(desk) == wanted).await;

    op(&desk, window, WindowOp::Maximize).await;
    desk.until("it is large", |desk| bounds(desk).width > 1200 && bounds(desk).height > 700).await;
    op(&desk, window, WindowOp::Restore).await;
    desk.until("it is as before", |desk| bounds(desk) == wanted).await;
    op(&desk, window, WindowOp::Minimize).await;
    desk.until("it is minimised", |desk| desk.window(window).minimized).await;
    op(&desk, window, WindowOp::Restore).await;
    desk.until("it is back", |desk| !desk.window(window).minimized).await;
    op(&desk, window, WindowOp::Minimize).await;
    desk.until("it is minimised", |desk| desk.window(window).minimized).await;
    op(&desk, window, WindowOp::Focus).await;
    desk.until("it is in front", |desk| !desk.window(window).minimized && desk.front == Some(window)).await;

    let other = Painted::new(Bounds { x: 300, y: 200, width: 200, height: 100 }, [0, 0, 255], true);
    let other = u64::from(other.window);
    desk.until("another is open", |desk| desk.windows.iter().any(|seen| seen.window == other)).await;
    for to_front in [other, window, other] {
        op(&desk, to_front, WindowOp::Focus).await;
        desk.until("it is in front", |desk| {
            desk.front == Some(to_front) && desk.windows.first().is_some_and(|seen| seen.window == to_front)
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_of_gtk3_obey() {
    if inside("windows::windows_of_gtk3_obey", &[]) {
        obeys("gtk3").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_of_gtk4_obey() {
    if inside("windows::windows_of_gtk4_obey", &[]) {
        obeys("gtk4").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_of_qt6_obey() {
    if inside("windows::windows_of_qt6_obey", &[]) {
        obeys("qt6").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_window_manager_what_can_be_done_is_done() {
    if !inside("windows::without_a_window_manager_what_can_be_done_is_done", &["--no-wm"]) {
        return;
    }
    let mut desk = Desk::new().await;
    let painted = Painted::new(Bounds { x: 30, y: 20, width: 200, height: 100 }, [0, 0, 255], true);
    let window = u64::from(painted.window);
    desk.until("it is open", |desk| desk.windows.iter().any(|seen| seen.window == window)).await;
    op(&desk, window, WindowOp::Move(Point { x: 64, y: 63 })).await;
    op(&desk, window, WindowOp::Resize { width: 320, height: 240 }).await;
    let wanted = Some(Bounds { x: 64, y: 63, width: 320, height: 240 });
    desk.until("it is there", |desk| desk.window(window).bounds == wanted).await;
    op(&desk, window, WindowOp::Focus).await;
    desk.until("it has the focus", |desk| desk.front == Some(window)).await;
    for refused in [WindowOp::Minimize, WindowOp::Maximize] {
        let failure =
            desk.call(|platform, gate| platform.window_op(window, refused, gate)).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::NotSupported);
        assert!(failure.native.contains("none is running on this display"), "{failure}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_is_not_there_is_gone() {
    if !inside("windows::a_window_that_is_not_there_is_gone", &[]) {
        return;
    }
    let desk = Desk::new().await;
    for window in [0x00de_ad01, u64::MAX] {
        let failure =
            desk.call(|platform, gate| platform.window_op(window, WindowOp::Focus, gate)).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Gone, "{failure}");
    }
}
