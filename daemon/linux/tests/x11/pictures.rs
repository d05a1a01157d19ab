//! Pictures show what is there.

use axd_platform::{CaptureTarget, CapturedImage, FailureKind, InputStep, WindowOp};
use axd_protocol::{Bounds, Point};

use crate::desk::{Desk, inside};
use crate::painted::Painted;

const RED: [u8; 3] = [255, 0, 0];
const PLACE: Bounds = Bounds { x: 100, y: 120, width: 50, height: 40 };

async fn picture(desk: &Desk, of: CaptureTarget, cursor: bool) -> CapturedImage {
    desk.call(|platform, _| platform.capture(of, cursor)).await.unwrap()
}

fn pixel(picture: &CapturedImage, x: i32, y: i32) -> [u8; 3] {
    let at = ((y - picture.origin.y) * picture.width as i32 + x - picture.origin.x) as usize * 3;
    picture.rgb[at..at + 3].try_into().unwrap()
}

fn count(picture: &CapturedImage, colour: [u8; 3]) -> usize {
    assert_eq!(picture.rgb.len(), (picture.width * picture.height * 3) as usize);
    picture.rgb.chunks_exact(3).filter(|pixel| **pixel == colour).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_screen_its_parts_and_the_pointer_are_shown() {
    if !inside("pictures::the_screen_its_parts_and_the_pointer_are_shown", &[]) {
        return;
    }
    let mut desk = Desk::new().await;
    let _red = Painted::new(PLACE, RED, false);
    desk.until("the display is known", |desk| desk.displays > 0).await;
    for of in [CaptureTarget::All, CaptureTarget::Display(1)] {
        let all = picture(&desk, of, false).await;
        assert_eq!((all.width, all.height, all.origin), (1280, 800, Point { x: 0, y: 0 }));
        assert_eq!(count(&all, RED), 50 * 40);
        assert_eq!(pixel(&all, 100, 120), RED);
        assert_ne!(pixel(&all, 99, 120), RED);
    }
    let part =
        picture(&desk, CaptureTarget::Region(Bounds { x: 140, y: 110, width: 20, height: 20 }), false).await;
    assert_eq!((part.width, part.height, part.origin), (20, 20, Point { x: 140, y: 110 }));
    assert_eq!(count(&part, RED), 10 * 10);

    desk.input(vec![InputStep::Move(Point { x: 120, y: 140 })]).await.unwrap();
    let without = picture(&desk, CaptureTarget::Region(PLACE), false).await;
    let with = picture(&desk, CaptureTarget::Region(PLACE), true).await;
    assert_eq!(count(&without, RED), 50 * 40);
    assert!(count(&with, RED) < 50 * 40, "the pointer is drawn");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_beyond_the_screen_is_cut_off_or_refused() {
    if !inside("pictures::what_is_beyond_the_screen_is_cut_off_or_refused", &[]) {
        return;
    }
    let desk = Desk::new().await;
    let corner =
        picture(&desk, CaptureTarget::Region(Bounds { x: -10, y: 790, width: 30, height: 30 }), false).await;
    assert_eq!((corner.width, corner.height, corner.origin), (20, 10, Point { x: 0, y: 790 }));
    for (of, kind) in [
        (CaptureTarget::Region(Bounds { x: 1280, y: 0, width: 5, height: 5 }), FailureKind::Invalid),
        (CaptureTarget::Region(Bounds { x: 0, y: 0, width: 0, height: 5 }), FailureKind::Invalid),
        (CaptureTarget::Display(7), FailureKind::Invalid),
        (CaptureTarget::Window(0x00de_ad01), FailureKind::Gone),
        (CaptureTarget::Window(u64::MAX), FailureKind::Gone),
    ] {
        let failure = desk.call(|platform, _| platform.capture(of, false)).await.unwrap_err();
        assert_eq!(failure.kind, kind, "{of:?}: {failure}");
    }
}

/// Another window lies over it, and half of it is beyond the edge: its own picture is whole all the same.
async fn is_shown_though_covered(toolkit: &str) {
    let mut desk = Desk::new().await;
    let window = desk.echo(toolkit).await;
    desk.click(window).await;
    let bounds = desk.window(window).bounds.unwrap();
    let seen = picture(&desk, CaptureTarget::Window(window), false).await;
    assert_eq!((seen.width as i32, seen.height as i32), (bounds.width, bounds.height));
    assert_eq!(seen.origin, Point { x: bounds.x, y: bounds.y });
    let cover =
        Bounds { x: bounds.x + 5, y: bounds.y + 5, width: bounds.width / 2, height: bounds.height / 2 };
    let _red = Painted::new(cover, RED, false);
    assert!(count(&picture(&desk, CaptureTarget::Region(bounds), false).await, RED) > 1000);
    for _ in 0..2 {
        let own = picture(&desk, CaptureTarget::Window(window), false).await;
        assert_eq!(own.origin, seen.origin);
        assert_eq!((own.width, own.height), (seen.width, seen.height));
        assert_eq!(count(&own, RED), 0, "{toolkit}: what covers it is not in it");
        let usual = |picture: &CapturedImage| count(picture, pixel(&seen, bounds.x + 20, bounds.y + 100));
        assert!(usual(&own) * 10 > usual(&seen) * 9, "{toolkit}: {} of {} pixels", usual(&own), usual(&seen));
    }

    desk.call(|platform, gate| platform.window_op(window, WindowOp::Minimize, gate)).await.unwrap();
    desk.until("it is minimised", |desk| desk.window(window).minimized).await;
    let failure =
        desk.call(|platform, _| platform.capture(CaptureTarget::Window(window), false)).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotSupported, "{failure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_covered_window_of_gtk3_is_shown_whole() {
    if inside("pictures::a_covered_window_of_gtk3_is_shown_whole", &[]) {
        is_shown_though_covered("gtk3").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_covered_window_of_qt6_is_shown_whole() {
    if inside("pictures::a_covered_window_of_qt6_is_shown_whole", &[]) {
        is_shown_though_covered("qt6").await;
    }
}
