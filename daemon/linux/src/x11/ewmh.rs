//! The window manager: whether there is one, what it offers, and how it is asked.

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ClientMessageEvent, ConnectionExt as _, EventMask, Window};

use crate::x11::connection::{Display, XResult};

/// Says that a tool that manages windows for the person asks, not the app itself: such a request is granted.
pub(crate) const ON_BEHALF_OF_A_PERSON: u32 = 2;

/// A window manager.
pub(crate) struct Manager {
    /// What it offers, by its atoms.
    offers: Vec<u32>,
}

impl Manager {
    /// The one that runs, if any does.
    pub fn find(display: &Display) -> XResult<Option<Manager>> {
        let Display { root, atoms, .. } = display;
        let told = display.numbers(*root, atoms._NET_SUPPORTING_WM_CHECK)?;
        let Some(window) = told.first() else { return Ok(None) };
        // What one that has ended left behind names a window that is not there.
        match display.numbers(*window, atoms._NET_SUPPORTING_WM_CHECK) {
            Ok(said) if said.first() == Some(window) => {}
            Ok(_) => return Ok(None),
            Err(fault) if fault.is_gone() => return Ok(None),
            Err(fault) => return Err(fault),
        }
        Ok(Some(Manager { offers: display.numbers(*root, atoms._NET_SUPPORTED)? }))
    }

    /// Whether it offers this.
    pub fn offers(&self, atom: u32) -> bool {
        self.offers.contains(&atom)
    }
}

/// Asks the window manager something about a window.
pub(crate) fn ask(display: &Display, window: Window, what: u32, data: [u32; 5]) -> XResult<()> {
    let message = ClientMessageEvent::new(32, window, what, data);
    let those_who_manage = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
    display.connection.send_event(false, display.root, those_who_manage, message)?.check()?;
    Ok(())
}

/// The windows that are managed, or without a manager, those on the root.
pub(crate) fn windows(display: &Display) -> XResult<Vec<Window>> {
    let Display { connection, root, atoms, .. } = display;
    if display.property(*root, atoms._NET_CLIENT_LIST)?.type_ != 0 {
        return display.numbers(*root, atoms._NET_CLIENT_LIST);
    }
    let mut windows = connection.query_tree(*root)?.reply()?.children;
    // Menus and the like are their app's own affair.
    let is_plain = |window: &Window| -> XResult<bool> {
        Ok(connection.get_window_attributes(*window)?.reply().is_ok_and(|known| !known.override_redirect))
    };
    let mut plain = Vec::new();
    for window in windows.drain(..) {
        if is_plain(&window)? {
            plain.push(window);
        }
    }
    connection.flush()?;
    Ok(plain)
}
