//! Apps that keep their pages to themselves until they are asked in their own way, and what that does to their windows.

use std::time::{Duration, Instant};

use axd_double::World;
use axd_double::faults::Call;
use axd_platform::WindowOp;
use axd_protocol::{Bounds, Point};

use crate::on::{Attached, Desktop};
use crate::scripts::APP;

const BROWSER: &str = r#"
name = "Browser"
identity = "test.chromium.browser"
[[window]]
id = "main"
title = "Browser"
bounds = [40, 40, 400, 400]
children = [{ role = "document", id = "page", name = "Page", children = [
  { role = "group", id = "outer", children = [{ role = "button", id = "send", name = "Send" }] },
] }]
"#;

/// An app of another kind with a page of Chromium in it.
const EMBEDDER: &str = r#"
name = "Player"
identity = "test.cef.player"
[[window]]
id = "main"
title = "Player"
bounds = [40, 40, 400, 400]
children = [{ role = "document", id = "page", name = "Page", children = [{ role = "button", id = "play", name = "Play" }] }]
"#;

/// One whose window has no page at all.
const PLAIN_WINDOW: &str = r#"
name = "Plain"
identity = "test.cef.plain"
[[window]]
id = "main"
title = "Plain"
bounds = [40, 40, 400, 400]
children = [{ role = "button", id = "press", name = "Press" }]
"#;

const ELECTRON: &str = r#"
name = "Chat"
identity = "test.electron.chat"
[[window]]
id = "main"
title = "Chat"
bounds = [40, 40, 400, 400]
children = [{ role = "document", id = "page", name = "Page", children = [{ role = "button", id = "send", name = "Send" }] }]
"#;

/// How long Chromium waits before it shows its pages, less a little.
const ALMOST: Duration = Duration::from_millis(1_990);
const LITTLE: Duration = Duration::from_millis(10);

fn attached(world: &World, app: &str) -> (Desktop, Attached) {
    let mut desktop = Desktop::start();
    let mut app = desktop.attach(world, app);
    app.walked();
    (desktop, app)
}

/// Waits until it is so, whoever makes it so.
fn comes_to_be(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(30), "it does not come to be: {what}");
        std::thread::yield_now();
    }
}

fn bounds_of(world: &World, app: &str) -> (u64, Bounds) {
    let pid = world.pid(app);
    let window = world.sim().windows().into_iter().find(|seen| seen.pid == pid).expect("it has a window");
    (window.window, window.bounds.expect("it is on the screen"))
}

#[test]
fn the_page_of_a_browser_is_asked_for_and_comes_when_the_browser_is_sure() {
    let world = World::of(&[BROWSER]);
    world.stop_clock();
    let (_desktop, mut app) = attached(&world, "Browser");
    comes_to_be("it is asked for", || world.is_enhanced("Browser"));
    world.pass(ALMOST);
    app.walk_again();
    assert!(!app.has("outer"), "it waits for two seconds\n{}", app.tree());
    world.pass(LITTLE);
    app.until("the inside of the page", |app| app.has("send"));
    // Who lets go of it leaves it as it was.
    app.mailbox = None;
    comes_to_be("it is switched off again", || !world.is_enhanced("Browser"));
}

#[test]
fn what_a_screen_reader_switched_on_stays_on() {
    let world = World::of(&[BROWSER]);
    world.stop_clock();
    world.enhance("Browser", true);
    world.trace().begin();
    let (desktop, mut app) = attached(&world, "Browser");
    world.pass(ALMOST + LITTLE);
    app.until("the inside of the page", |app| app.has("send"));
    app.mailbox = None;
    drop((app, desktop));
    // Nobody observes it any more, so nobody sets anything.
    comes_to_be("it is let go of", || world.observed().0 == 0);
    let asked = world.trace().end();
    assert!(!asked.iter().any(|asked| asked.call == Call::Set && asked.name == "AXEnhancedUserInterface"));
    assert!(world.is_enhanced("Browser"));
}

#[test]
fn an_app_that_shows_all_of_itself_is_asked_for_nothing() {
    let world = World::of(&[APP]);
    world.trace().begin();
    let (_desktop, mut app) = attached(&world, "App");
    app.fence();
    let asked = world.trace().end();
    assert!(!asked.iter().any(|asked| asked.call == Call::Set && asked.name == "AXEnhancedUserInterface"));
    assert!(!world.is_enhanced("App"));
}

#[test]
fn windows_go_where_they_are_sent_though_a_screen_reader_has_them_animated() {
    let world = World::of(&[APP]);
    // Time stands still: what is animated never arrives.
    world.stop_clock();
    world.enhance("App", true);
    let desktop = Desktop::start();
    let (window, before) = bounds_of(&world, "App");
    let does = |op| {
        desktop
            .call(|platform, gate| platform.window_op(window, op, gate))
            .unwrap_or_else(|it| panic!("{op:?}: {it:?}"));
        assert!(world.is_enhanced("App"), "what the screen reader set is as it was");
        bounds_of(&world, "App").1
    };
    let moved = does(WindowOp::Move(Point { x: 200, y: 100 }));
    assert_eq!(moved, Bounds { x: 200, y: 100, ..before });
    let smaller = does(WindowOp::Resize { width: 500, height: 400 });
    assert_eq!(smaller, Bounds { x: 200, y: 100, width: 500, height: 400 });
    assert_eq!(does(WindowOp::Maximize), Bounds { x: 0, y: 0, width: 1280, height: 800 });
    assert_eq!(does(WindowOp::Restore), smaller);
}

#[test]
fn a_browser_keeps_its_page_when_its_window_is_moved_and_the_window_is_waited_for() {
    let world = World::of(&[BROWSER]);
    world.stop_clock();
    let (desktop, mut app) = attached(&world, "Browser");
    comes_to_be("it is asked for", || world.is_enhanced("Browser"));
    world.pass(ALMOST + LITTLE);
    app.until("the inside of the page", |app| app.has("send"));
    let (window, before) = bounds_of(&world, "Browser");
    let (op, after) = (WindowOp::Move(Point { x: 300, y: 200 }), Bounds { x: 300, y: 200, ..before });
    std::thread::scope(|threads| {
        threads.spawn(|| {
            comes_to_be("it arrives", || {
                world.pass(LITTLE);
                bounds_of(&world, "Browser").1 == after
            });
        });
        desktop.call(|platform, gate| platform.window_op(window, op, gate)).expect("it is moved");
        assert_eq!(bounds_of(&world, "Browser").1, after, "it was waited for");
    });
    app.walk_again();
    assert!(app.has("send") && world.is_enhanced("Browser"), "{}", app.tree());
}

#[test]
fn a_page_that_sleeps_is_woken_by_looking_at_it_where_setting_anything_could_crash_the_app() {
    let world = World::of(&[EMBEDDER]);
    world.trace().begin();
    let (_desktop, mut app) = attached(&world, "Player");
    app.until("the inside of the page", |app| app.has("play"));
    let asked = world.trace().end();
    assert!(!asked.iter().any(|asked| asked.call == Call::Set && asked.name == "AXEnhancedUserInterface"));
    assert!(!world.is_enhanced("Player"));
}

#[test]
fn a_page_that_fell_asleep_is_woken_again_when_its_app_is_shown_or_activated() {
    let world = World::of(&[EMBEDDER, APP]);
    let (_desktop, mut app) = attached(&world, "Player");
    app.until("the inside of the page", |app| app.has("play"));
    for shown in ["AXApplicationShown", "AXApplicationActivated"] {
        world.doze("Player");
        app.walk_again();
        app.until("it sleeps", |app| !app.has("play"));
        world.post("Player", None, shown);
        app.until("it is awake again", |app| app.has("play"));
    }
}

#[test]
fn a_window_without_a_page_is_looked_at_once_and_not_all_the_time() {
    let world = World::of(&[PLAIN_WINDOW]);
    world.trace().begin();
    let (_desktop, mut app) = attached(&world, "Plain");
    for _ in 0..5 {
        app.walk_again();
    }
    let asked = world.trace().end();
    assert_eq!(asked.iter().filter(|asked| asked.call == Call::At).count(), 1);
}

#[test]
fn an_app_that_is_no_kin_of_chromium_is_not_looked_at() {
    let world = World::of(&[APP]);
    world.trace().begin();
    let (_desktop, mut app) = attached(&world, "App");
    app.walk_again();
    assert!(!world.trace().end().iter().any(|asked| asked.call == Call::At));
}

#[test]
fn electron_that_says_no_and_does_it_is_not_asked_in_the_way_of_browsers() {
    let world = World::of(&[ELECTRON]);
    let (_desktop, mut app) = attached(&world, "Chat");
    app.until("the inside of the page", |app| app.has("send"));
    app.walk_again();
    assert!(!world.is_enhanced("Chat"));
}

#[test]
fn a_polite_browser_is_asked_and_left_as_it_was_too() {
    let world = World::of(&[BROWSER]);
    world.settings(|settings| settings.enhanced_answers = None);
    world.keep_pages_awake("Browser");
    world.stop_clock();
    let (_desktop, mut app) = attached(&world, "Browser");
    comes_to_be("it is asked for", || world.is_enhanced("Browser"));
    world.pass(ALMOST + LITTLE);
    app.until("the inside of the page", |app| app.has("send"));
    app.mailbox = None;
    comes_to_be("it is switched off again", || !world.is_enhanced("Browser"));
}
