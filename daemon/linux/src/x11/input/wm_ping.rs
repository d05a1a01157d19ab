//! Pings apps (`_NET_WM_PING`), to find out whether they have read what was typed.
//!
//! An app translates a key by the map that the server has when the app comes to read the key, not when it was pressed.
//! So the map must stay until then. Window managers ask apps whether they still live with `_NET_WM_PING`; the answer
//! comes from the place in the app that reads keys, after all that came before. So a ping shows that all keys before it
//! were read.

use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask, Window,
};

use crate::x11::connection::{Display, XResult};

/// The result of a ping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PingReply {
    /// It has read all that was sent before.
    Read,
    /// It does not answer pings, or no window has the focus.
    Unsupported,
    /// It timed out.
    TimedOut,
}

/// Pings the app of a window, or of a part of one, and waits for its reply.
pub(crate) fn ping(display: &Display, window: Window, token: u32, patience: Duration) -> XResult<PingReply> {
    let Some(window) = ping_target(display, window)? else { return Ok(PingReply::Unsupported) };
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
    let mut reply = PingReply::TimedOut;
    while let Some(event) = display.next_event(Some(until), None)? {
        if let Event::ClientMessage(answer) = event
            && answer.window == root
            && answer.type_ == atoms.WM_PROTOCOLS
            && answer.data.as_data32()[..2] == [atoms._NET_WM_PING, token]
        {
            reply = PingReply::Read;
            break;
        }
    }
    listen(EventMask::NO_EVENT)?;
    connection.flush()?;
    Ok(reply)
}

/// The window that answers pings for this one.
fn ping_target(display: &Display, mut window: Window) -> XResult<Option<Window>> {
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
