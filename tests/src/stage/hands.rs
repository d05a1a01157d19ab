//! Mouse and keyboard past the daemon: what is held down, by what the desktop itself says, and a person's click.

use std::process::Command;

use serde_json::json;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt as _, KeyButMask, MOTION_NOTIFY_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt as _;

use super::Kit;
use crate::Raw;

/// The keys and mouse buttons that are down.
pub(super) fn held_down(kit: Kit, client: &mut Raw) -> Vec<String> {
    if kit.is_scripted() {
        let said = client.data("sim", json!({ "app": "Stage", "verb": "held" }));
        let said = said["done"].as_str().expect("an answer");
        let held = said.strip_prefix("held: ").unwrap_or_default();
        return held.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect();
    }
    if kit == Kit::Appkit {
        return by_the_app(&["--held"]).lines().map(str::to_owned).collect();
    }
    on_x11().expect("the X server answers")
}

/// What the test app of macOS says when it is used as a tool.
fn by_the_app(words: &[&str]) -> String {
    let ran = Command::new(super::kit::bundle().join("Contents/MacOS/AxdTest")).args(words).output();
    String::from_utf8(ran.expect("tests/macos/build built it").stdout).expect("text")
}

/// Clicks somewhere on the screen.
pub(super) fn click(kit: Kit, (x, y): (i64, i64)) {
    if kit == Kit::Appkit {
        by_the_app(&["--click", &x.to_string(), &y.to_string()]);
        return;
    }
    let click = || -> Result<(), Box<dyn std::error::Error>> {
        let (connection, screen) = x11rb::connect(None)?;
        let root = connection.setup().roots[screen].root;
        connection.xtest_fake_input(MOTION_NOTIFY_EVENT, 0, 0, root, x as i16, y as i16, 0)?;
        connection.xtest_fake_input(BUTTON_PRESS_EVENT, 1, 0, root, 0, 0, 0)?;
        connection.xtest_fake_input(BUTTON_RELEASE_EVENT, 1, 0, root, 0, 0, 0)?;
        connection.get_input_focus()?.reply()?;
        Ok(())
    };
    click().expect("the X server takes a click");
}

fn on_x11() -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let (connection, screen) = x11rb::connect(None)?;
    let root = connection.setup().roots[screen].root;
    let pointer = connection.query_pointer(root)?.reply()?;
    let keys = connection.query_keymap()?.reply()?.keys;
    let buttons = [
        (KeyButMask::BUTTON1, "left button"),
        (KeyButMask::BUTTON2, "middle button"),
        (KeyButMask::BUTTON3, "right button"),
    ];
    let buttons =
        buttons.iter().filter(|(mask, _)| pointer.mask.contains(*mask)).map(|(_, name)| (*name).to_owned());
    let is_down = |code: &usize| keys[code / 8] & (1 << (code % 8)) != 0;
    let keys = (0..256usize).filter(is_down).map(|code| format!("key {code}"));
    Ok(keys.chain(buttons).collect())
}
