//! What `ax selftest` measures, on the double.

use axd_double::World;
use axd_double::appkit::TEST_WINDOW;
use axd_protocol::command::{Heard, SelftestAnswer};

fn measured() -> SelftestAnswer {
    // As in the program, it runs on a thread of its own.
    std::thread::spawn(axd_macos::selftest::run).join().expect("it ends").expect("it measures")
}

#[test]
fn it_tells_what_is_heard_and_which_texts_arrive_and_that_a_press_is_performed() {
    let _world = World::of(&[TEST_WINDOW]);
    let answer = measured();
    let of = |notification: &str| {
        let row = answer.notifications.iter().find(|row| row.notification == notification);
        row.map(|row| [row.app, row.window, row.element]).unwrap_or_else(|| panic!("no {notification}"))
    };
    assert_eq!(of("AXValueChanged"), [Heard::Yes, Heard::No, Heard::Yes]);
    assert_eq!(of("AXTitleChanged"), [Heard::Yes; 3]);
    assert_eq!(
        of("AXUIElementDestroyed"),
        [Heard::No, Heard::No, Heard::Yes],
        "only the element tells of its end"
    );
    assert_eq!(of("AXSelectedRowsChanged"), [Heard::No, Heard::No, Heard::Yes]);
    assert!(answer.round_trips.iter().all(|cost| cost.count > 0 && cost.median_us <= cost.worst_us));
    assert_eq!(answer.round_trips.len(), 5);
    assert!(answer.texts.len() == 4 && answer.texts.iter().all(|text| text.intact), "{:?}", answer.texts);
    assert!(answer.texts[2].received.contains('\u{FFFD}'), "{:?}", answer.texts[2]);
    assert!(answer.press.performed && answer.press.error.is_none(), "{:?}", answer.press);
}

#[test]
fn it_says_so_if_there_is_no_window() {
    let _world = World::of(&[]);
    let error = std::thread::spawn(axd_macos::selftest::run).join().expect("it ends").unwrap_err();
    assert!(error.contains("window"), "{error}");
}
