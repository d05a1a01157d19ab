//! Pictures: they show what is shown, and change when that does and only then.

use super::*;
use axd_platform::{CaptureTarget, CapturedImage, WindowOp};

impl Rig {
    async fn picture(&mut self, of: CaptureTarget, cursor: bool) -> Result<CapturedImage, Failure> {
        self.call(&Gate::new(), |platform, _| platform.capture(of, cursor)).await
    }

    async fn all(&mut self) -> CapturedImage {
        self.picture(CaptureTarget::All, false).await.unwrap()
    }
}

fn pixel(picture: &CapturedImage, x: i32, y: i32) -> [u8; 3] {
    let (x, y) = (x - picture.origin.x, y - picture.origin.y);
    let place = (usize::try_from(y).unwrap() * picture.width as usize + usize::try_from(x).unwrap()) * 3;
    picture.rgb[place..place + 3].try_into().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_picture_is_of_the_screen_a_display_a_window_or_a_region() {
    let mut rig = Rig::built_in();
    let all = rig.all().await;
    assert_eq!((all.width, all.height, all.rgb.len()), (1280, 800, 1280 * 800 * 3));
    assert_eq!(rig.picture(CaptureTarget::Display(1), false).await, Ok(all.clone()));
    let region = Bounds { x: 1200, y: 700, width: 500, height: 500 };
    let part = rig.picture(CaptureTarget::Region(region), false).await.unwrap();
    assert_eq!((part.width, part.height, part.origin), (80, 100, Point { x: 1200, y: 700 }));
    assert_eq!(pixel(&part, 1230, 750), pixel(&all, 1230, 750));
    // The form lies behind, and is shown whole.
    let form = rig.windows.iter().find(|window| window.title == "Sign Up").unwrap().clone();
    let alone = rig.picture(CaptureTarget::Window(form.window), false).await.unwrap();
    let bounds = form.bounds.unwrap();
    assert_eq!((alone.width as i32, alone.height as i32), (bounds.width, bounds.height));
    rig.sim("Form raise").await;
    let raised = rig.picture(CaptureTarget::Region(bounds), false).await.unwrap();
    assert_eq!(alone.rgb.len(), raised.rgb.len());
    assert_ne!(alone, raised, "its title bar is that of the active window");
    assert_eq!(rig.picture(CaptureTarget::Window(form.window), false).await, Ok(raised));
    let op = WindowOp::Minimize;
    rig.call(&Gate::new(), |platform, gate| platform.window_op(form.window, op, gate)).await.unwrap();
    for (of, kind) in [
        (CaptureTarget::Window(form.window), FailureKind::Refused),
        (CaptureTarget::Window(3), FailureKind::Gone),
        (CaptureTarget::Display(2), FailureKind::Invalid),
        (CaptureTarget::Region(Bounds { x: 5000, ..bounds }), FailureKind::Invalid),
    ] {
        assert_eq!(rig.picture(of, false).await.unwrap_err().kind, kind, "{of:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_picture_changes_when_what_is_shown_does_and_only_then() {
    let mut rig = Rig::built_in();
    rig.sim("Settings raise").await;
    let mut before = rig.all().await;
    assert_eq!(rig.all().await, before, "nothing happened");
    assert_eq!(Rig::built_in().all().await, Rig::built_in().all().await, "every time the same");
    for (words, shown) in [
        ("Settings press notify", true),
        ("Settings press wifi", true),
        ("Settings press theme-dark", true),
        ("Settings press theme-dark", false),
        ("Settings set volume 51", true),
        ("Settings set copies 2", true),
        ("Settings select language Deutsch", true),
        ("Settings press language", true),
        ("Settings press language", true),
        ("Settings focus volume", true),
        ("Settings press apply", true),
        ("Settings press tab-account", true),
        ("Settings focus user", true),
        ("Settings set password longer-than-before", true),
        ("Settings set password just-as-long-as-itxx", true),
        ("Settings set password JUST-AS-LONG-AS-ITXX", false),
        ("Settings press tab-advanced", true),
        ("Settings press more", true),
        ("Settings press reset", true),
        ("Settings fault flood update 0", false),
        ("Notes fault hang", false),
        ("Table raise", true),
        ("Table scroll table 400", true),
        ("Table scroll list 10", true),
        ("Table select table 405", true),
        ("Calculator raise", true),
        ("Calculator press seven", true),
        ("Paint quit", true),
    ] {
        let _ = rig.try_sim(words).await;
        let after = rig.all().await;
        assert_eq!(after != before, shown, "{words}");
        before = after;
    }
}

#[tokio::test(start_paused = true)]
async fn a_caret_a_selection_and_the_pointer_are_seen() {
    let mut rig = Rig::built_in();
    let mut notes = rig.attach("Notes").await;
    rig.click(&mut notes, "body").await;
    let mut before = rig.all().await;
    for keys in ["key:left", "key:shift+left", "key:ctrl+a", "key:right", "x"] {
        rig.input(&[keys]).await;
        let after = rig.all().await;
        assert_ne!(after, before, "{keys}");
        before = after;
    }
    rig.input(&["move:3,3"]).await;
    assert_eq!(rig.all().await, before);
    let pointed = rig.picture(CaptureTarget::All, true).await.unwrap();
    assert_ne!(pixel(&pointed, 3, 3), pixel(&before, 3, 3));
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_dots() {
    let field = |value: &str| {
        let children = format!("{{ role = 'textfield', id = 'p', value = '{value}', states = ['secure'] }}");
        Rig::with("", &children, "")
    };
    assert_eq!(field("secret").all().await, field("hidden").all().await);
    assert_ne!(field("secret").all().await, field("").all().await);
}
