//! Whether an app has read what was typed.
//!
//! An app translates a key by the map that the server has when the app comes to read the key, not when it was pressed.
//! So the map must stay until then. Window managers ask apps whether they still live with `_NET_WM_PING`; the answer
//! comes from the place in the app that reads keys, after all that came before. That is asked here.

use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask, Window,
};

use crate::x11::connection::{Display, XResult};

/// How an app that was asked took it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It has read all that was sent before.
    Yes,
    /// It does not take such questions, or nothing has the focus.
    CannotSay,
    /// It timed out.
    NotYet,
}

/// Asks the app of a window, or of a part of one, and waits for its answer.
pub(crate) fn ask(display: &Display, window: Window, token: u32, patience: Duration) -> XResult<Heard> {
    let Some(window) = asked(display, window)? else { return Ok(Heard::CannotSay) };
    let (connection, root, atoms) = (&display.connection, display.root, &display.atoms);
    let listen = |mask| {
        let change = ChangeWindowAttributesAux::new().event_mask(mask);
        connection.change_window_attributes(root, &change)
    };
    // The answer is sent to the root window, for whoever manages windows. GTK and Chromium send it to those who watch
    // the windows on it, Qt to those who watch the root itself.
    listen(EventMask::SUBSTRUCTURE_NOTIFY | EventMask::STRUCTURE_NOTIFY)?;
    let question =
        ClientMessageEvent::new(32, window, atoms.WM_PROTOCOLS, [atoms._NET_WM_PING, token, window, 0, 0]);
    connection.send_event(false, window, EventMask::NO_EVENT, question)?;
    let until = Instant::now() + patience;
    let mut heard = Heard::NotYet;
    while let Some(event) = display.event(Some(until), None)? {
        if let Event::ClientMessage(answer) = event
            && answer.window == root
            && answer.type_ == atoms.WM_PROTOCOLS
            && answer.data.as_data32()[..2] == [atoms._NET_WM_PING, token]
        {
            heard = Heard::Yes;
            break;
        }
    }
    listen(EventMask::NO_EVENT)?;
    connection.flush()?;
    Ok(heard)
}

/// The window that takes such questions for this one.
fn asked(display: &Display, mut window: Window) -> XResult<Option<Window>> {
    // 0 and 1 are "none" and "whatever is under the pointer".
    while window > 1 && window != display.root {
        let Ok(protocols) = display.numbers(window, display.atoms.WM_PROTOCOLS) else { return Ok(None) };
        if protocols.contains(&display.atoms._NET_WM_PING) {
            return Ok(Some(window));
        }
        let Ok(tree) = display.connection.query_tree(window)?.reply() else { return Ok(None) };
        window = tree.parent;
    }
    Ok(None)
}
