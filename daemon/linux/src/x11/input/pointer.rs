//! The pointer: moving it, its buttons and its wheel.

use std::time::{Duration, Instant};

use axd_protocol::Point;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt as _, MOTION_NOTIFY_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt as _;

use crate::x11::connection::{Display, XResult};
use axd_platform::input_script::WheelTurn;

/// Where the pointer is.
pub(crate) fn position(display: &Display) -> XResult<Point> {
    let reply = display.connection.query_pointer(display.root)?.reply()?;
    Ok(Point { x: i32::from(reply.root_x), y: i32::from(reply.root_y) })
}

/// Moves the pointer; beyond the edge of the screen it stays at the edge.
pub(crate) fn move_to(display: &Display, to: Point) -> XResult<()> {
    let clamp = |place: i32| place.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
    let (x, y) = (clamp(to.x), clamp(to.y));
    display.connection.xtest_fake_input(MOTION_NOTIFY_EVENT, 0, 0, display.root, x, y, 0)?;
    display.connection.flush()?;
    Ok(())
}

/// The button that means this number: a left-handed person's buttons are the other way round.
pub(crate) fn physical_button(display: &Display, meaning: u8) -> XResult<u8> {
    let map = display.connection.get_pointer_mapping()?.reply()?.map;
    Ok((1..).zip(map).find(|(_, means)| *means == meaning).map_or(meaning, |(number, _)| number))
}

/// Presses or releases a button.
pub(crate) fn button(display: &Display, physical: u8, down: bool) -> XResult<()> {
    queue_button(display, physical, down)?;
    Ok(display.connection.flush()?)
}

/// Presses and releases a button, in one piece: a daemon that is killed has sent both or none.
pub(crate) fn click(display: &Display, physical: u8) -> XResult<()> {
    queue_button(display, physical, true)?;
    button(display, physical, false)
}

fn queue_button(display: &Display, physical: u8, down: bool) -> XResult<()> {
    let kind = if down { BUTTON_PRESS_EVENT } else { BUTTON_RELEASE_EVENT };
    display.connection.xtest_fake_input(kind, physical, 0, display.root, 0, 0, 0)?;
    Ok(())
}

/// Waits until the server shows these buttons as up, and not for long. A window manager that brings windows to the front when they
/// are clicked holds back what the mouse does until it has seen the press; nothing tells when it lets it go on.
pub(crate) fn wait_until_up(display: &Display, buttons: &[u8], patience: Duration) -> XResult<()> {
    const LOOK_AGAIN: Duration = Duration::from_millis(2);
    // The server tells of the first five.
    let wanted: u16 = buttons.iter().filter(|button| **button <= 5).map(|button| 1 << (7 + button)).sum();
    let until = Instant::now() + patience;
    loop {
        let down = u16::from(display.connection.query_pointer(display.root)?.reply()?.mask);
        let now = Instant::now();
        if down & wanted == 0 || now >= until {
            return Ok(());
        }
        display.next_event(Some(now + LOOK_AGAIN), None)?;
    }
}

/// The buttons that a turn of the wheel is, one a notch.
pub(crate) fn notches(turn: WheelTurn) -> impl Iterator<Item = u8> {
    const UP: u8 = 4;
    const DOWN: u8 = 5;
    const LEFT: u8 = 6;
    const RIGHT: u8 = 7;
    let of = |count: i32, forth, back| {
        let number = count.unsigned_abs() as usize;
        std::iter::repeat_n(if count < 0 { back } else { forth }, number)
    };
    of(turn.down, DOWN, UP).chain(of(turn.right, RIGHT, LEFT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_of_the_wheel_is_one_button_a_notch() {
        let notches = |right, down| notches(WheelTurn { right, down }).collect::<Vec<_>>();
        assert_eq!(notches(0, 2), [5, 5]);
        assert_eq!(notches(1, -1), [4, 7]);
        assert_eq!(notches(-2, 0), [6, 6]);
        assert!(notches(0, 0).is_empty());
    }
}
