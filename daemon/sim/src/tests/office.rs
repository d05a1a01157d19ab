//! Windows moved about, apps started and ended, and the clipboard.

use super::*;
use axd_platform::{ClipboardContent, ClipboardKind, LaunchPlan, WindowOp};

impl Rig {
    fn window(&self, title: &str) -> DesktopWindow {
        self.windows.iter().find(|window| window.title == title).unwrap().clone()
    }

    async fn arrange(&mut self, title: &str, op: WindowOp) {
        let window = self.window(title).window;
        let answer = self.call(&Gate::new(), |platform, gate| platform.window_op(window, op, gate)).await;
        assert_eq!(answer, Ok(()), "{title} {op:?}");
    }

    async fn launch(&mut self, plan: LaunchPlan) -> Result<u32, Failure> {
        let launched = self.call(&Gate::new(), |platform, gate| platform.launch(plan, gate)).await?;
        Ok(launched.pid.expect("its process is known"))
    }
}

fn plan(app: &str) -> LaunchPlan {
    LaunchPlan { app: app.to_owned(), ..LaunchPlan::default() }
}

#[tokio::test(start_paused = true)]
async fn windows_are_moved_and_resized_and_what_is_in_them_follows() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Settings").await;
    let before = app.bounds(app.key("apply")).await.unwrap();
    rig.arrange("Settings", WindowOp::Move(Point { x: 300, y: 150 })).await;
    let after = app.bounds(app.key("apply")).await.unwrap();
    assert_eq!((after.x, after.y), (before.x + 60, before.y + 30));
    rig.arrange("Settings", WindowOp::Resize { width: 800, height: 600 }).await;
    let wide = app.bounds(app.key("apply")).await.unwrap();
    assert!(wide.width > after.width);
    let bounds = Bounds { x: 300, y: 150, width: 800, height: 600 };
    assert_eq!(rig.window("Settings").bounds, Some(bounds));
    rig.arrange("Settings", WindowOp::Maximize).await;
    let full = rig.window("Settings");
    assert!(full.maximized && full.bounds == Some(Bounds { x: 0, y: 0, width: 1280, height: 800 }));
    rig.arrange("Settings", WindowOp::Restore).await;
    let seen = rig.window("Settings");
    assert!(!seen.maximized && seen.bounds == Some(bounds));
    rig.arrange("Settings", WindowOp::Resize { width: 1, height: 1 }).await;
    assert_eq!(rig.window("Settings").bounds.map(|bounds| bounds.width), Some(120), "there is a least size");
}

#[tokio::test(start_paused = true)]
async fn a_minimised_window_is_nowhere_until_it_is_restored_or_focused() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Calculator").await;
    let at = app.centre("seven").await;
    rig.arrange("Calculator", WindowOp::Minimize).await;
    assert!(rig.window("Calculator").minimized);
    assert_eq!(rig.frontmost, Some(rig.app("Notes").pid));
    assert_eq!(app.bounds(app.key("seven")).await, None);
    rig.input(&[&format!("move:{at}"), "click:left"]).await;
    app.fence().await;
    assert_eq!(app.value("display"), "0", "a click goes to what is there now");
    rig.arrange("Calculator", WindowOp::Restore).await;
    assert!(!rig.window("Calculator").minimized && rig.windows[0].title == "Calculator");
    rig.arrange("Calculator", WindowOp::Minimize).await;
    rig.arrange("Calculator", WindowOp::Focus).await;
    assert_eq!(rig.frontmost, Some(rig.app("Calculator").pid));
    rig.click(&mut app, "seven").await;
    assert_eq!(app.value("display"), "7");
}

#[tokio::test(start_paused = true)]
async fn the_window_manager_needs_no_answer_from_an_app_that_hangs() {
    let mut rig = Rig::built_in();
    rig.sim("Paint fault hang").await;
    rig.arrange("Paint", WindowOp::Focus).await;
    assert_eq!(rig.windows[0].title, "Paint");
    rig.arrange("Paint", WindowOp::Move(Point { x: 5, y: 6 })).await;
    assert_eq!(rig.window("Paint").bounds.map(|bounds| (bounds.x, bounds.y)), Some((5, 6)));
    let op = WindowOp::Focus;
    let gone = rig.call(&Gate::new(), |platform, gate| platform.window_op(4, op, gate)).await.unwrap_err();
    assert_eq!((gone.kind, gone.sent), (FailureKind::Gone, Sent::No));
    let gate = Gate::new();
    gate.close();
    let (front, window) = (rig.windows.clone(), rig.window("Notes").window);
    let closed = rig.call(&gate, |platform, gate| platform.window_op(window, op, gate)).await;
    assert_eq!(closed, Err(Failure::closed()));
    assert_eq!(rig.windows, front);
}

#[tokio::test(start_paused = true)]
async fn apps_are_launched_once_or_several_times_with_what_they_are_given() {
    let mut rig = Rig::built_in();
    let notes = rig.app("Notes").pid;
    assert_eq!(rig.launch(plan("notes")).await, Ok(notes));
    assert_eq!((rig.frontmost, rig.apps.len()), (Some(notes), 6));
    let given = LaunchPlan {
        app: "sim.files".to_owned(),
        args: vec!["--all".to_owned(), "/tmp".to_owned()],
        env: vec![("FILES_GREETING".to_owned(), " hello".to_owned())],
        cwd: Some("/home".into()),
        ..LaunchPlan::default()
    };
    let first = rig.launch(given).await.unwrap();
    let app = rig.attach("Files").await;
    assert_eq!((app.name("started"), app.name("said")), ("--all /tmp", "/home hello"));
    let second = rig.launch(plan("Files")).await.unwrap();
    assert!(first != second && rig.frontmost == Some(second) && rig.apps.len() == 8);
    // Each goes by its own number.
    rig.sim(&format!("{second} select files photo.png")).await;
    rig.sim(&format!("{first} press photo")).await;
    let unknown = rig.launch(plan("Filez")).await.unwrap_err();
    assert_eq!((unknown.kind, unknown.sent), (FailureKind::Gone, Sent::No));
    assert!(unknown.native.contains("apps: Files, Form"), "{unknown}");
}

#[tokio::test(start_paused = true)]
async fn closing_asks_and_an_app_with_unsaved_changes_asks_back() {
    let mut rig = Rig::built_in();
    let pid = rig.app("Notes").pid;
    let mut app = rig.attach("Notes").await;
    rig.sim("Notes type body !").await;
    let close = |platform: &dyn Platform, gate| platform.close_app(pid, false, gate);
    assert_eq!(rig.call(&Gate::new(), close).await, Ok(()));
    app.fence().await;
    assert!(app.is("unsaved-save", State::Focused) && app.is("unsaved", State::Modal));
    rig.hear();
    assert_eq!(rig.windows[0].title, "Save Changes?");
    rig.keys(&mut app, &["key:escape"]).await;
    assert!(!app.has("unsaved") && app.is("body", State::Focused));
    app.done("file-save", Act::Press).await;
    assert_eq!(rig.call(&Gate::new(), close).await, Ok(()));
    app.until(|app| app.degraded.is_some()).await;
    rig.hear();
    assert!(rig.apps.iter().all(|app| app.pid != pid));
    let gone = rig.call(&Gate::new(), close).await.unwrap_err();
    assert_eq!((gone.kind, gone.sent), (FailureKind::Gone, Sent::No));
}

#[tokio::test(start_paused = true)]
async fn an_app_that_hangs_is_closed_when_it_wakes_or_by_force() {
    let mut rig = Rig::built_in();
    for (name, force) in [("Paint", false), ("Table", true)] {
        let pid = rig.app(name).pid;
        rig.sim(&format!("{name} fault hang")).await;
        let answer = rig.call(&Gate::new(), |platform, gate| platform.close_app(pid, force, gate)).await;
        assert_eq!(answer, Ok(()));
        assert_eq!(rig.apps.iter().any(|app| app.pid == pid), !force, "{name}");
    }
    let mut app = rig.begin("Paint", 64);
    rig.sim("Paint heal").await;
    app.until(|app| app.degraded.as_deref() == Some("the app has ended")).await;
    rig.hear();
    assert!(rig.apps.iter().all(|app| app.name != "Paint"));
}

#[tokio::test(start_paused = true)]
async fn the_clipboard_holds_one_thing_of_one_kind() {
    let mut rig = Rig::built_in();
    let clips = [
        (ClipboardKind::Text, ClipboardContent::Text("words".to_owned())),
        (ClipboardKind::Image, ClipboardContent::Image(vec![1, 2, 3])),
        (ClipboardKind::Files, ClipboardContent::Files(vec!["/tmp/a".into(), "/tmp/b".into()])),
    ];
    for (kind, clip) in &clips {
        let content = Some(clip.clone());
        let set = rig.call(&Gate::new(), |platform, gate| platform.set_clipboard(content, gate)).await;
        assert_eq!(set, Ok(()));
        for asked in [ClipboardKind::Any, ClipboardKind::Text, ClipboardKind::Image, ClipboardKind::Files] {
            let there = (asked == ClipboardKind::Any || asked == *kind).then(|| clip.clone());
            let answer = rig.call(&Gate::new(), |platform, _| platform.clipboard(asked)).await;
            assert_eq!(answer, Ok(there));
        }
    }
    let gate = Gate::new();
    gate.close();
    assert_eq!(
        rig.call(&gate, |platform, gate| platform.set_clipboard(None, gate)).await,
        Err(Failure::closed())
    );
    rig.call(&Gate::new(), |platform, gate| platform.set_clipboard(None, gate)).await.unwrap();
    let nothing = rig.call(&Gate::new(), |platform, _| platform.clipboard(ClipboardKind::Any)).await;
    assert_eq!(nothing, Ok(None));
}

#[tokio::test(start_paused = true)]
async fn an_app_can_end_as_soon_as_it_starts() {
    let rule = "[[rule]]\non = 'start'\ndo = [{ quit = true }]";
    let mut rig = Rig::with("running = false", "", rule);
    rig.launch(plan("X")).await.unwrap();
    for _ in 0..100_000 {
        tokio::task::yield_now().await;
        rig.hear();
        if rig.apps.is_empty() {
            break;
        }
    }
    assert!(rig.apps.is_empty() && rig.windows.is_empty());
}
