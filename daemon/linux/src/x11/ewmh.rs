//! The window manager, by the Extended Window Manager Hints: whether one runs, what it supports, and requests to it.

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ClientMessageEvent, ConnectionExt as _, EventMask, Window};

use crate::x11::connection::{Display, XResult};

/// The source of requests: a pager, which acts for the user. Window managers grant its requests, but not always those
/// of apps.
pub(crate) const SOURCE_PAGER: u32 = 2;

/// A window manager.
pub(crate) struct WindowManager {
    /// The atoms of what it supports.
    supported: Vec<u32>,
}

impl WindowManager {
    /// The window manager that runs, if any does.
    pub fn find(display: &Display) -> XResult<Option<WindowManager>> {
        let Display { root, atoms, .. } = display;
        let check = display.numbers(*root, atoms._NET_SUPPORTING_WM_CHECK)?;
        let Some(window) = check.first() else { return Ok(None) };
        // A window manager that has ended leaves a property behind that names a window which is gone.
        match display.numbers(*window, atoms._NET_SUPPORTING_WM_CHECK) {
            Ok(message) if message.first() == Some(window) => {}
            Ok(_) => return Ok(None),
            Err(error) if error.is_gone() => return Ok(None),
            Err(error) => return Err(error),
        }
        Ok(Some(WindowManager { supported: display.numbers(*root, atoms._NET_SUPPORTED)? }))
    }

    /// Whether it supports the feature of this atom.
    pub fn supports(&self, atom: u32) -> bool {
        self.supported.contains(&atom)
    }
}

/// Sends the window manager a request for a window.
pub(crate) fn send_request(display: &Display, window: Window, what: u32, data: [u32; 5]) -> XResult<()> {
    let message = ClientMessageEvent::new(32, window, what, data);
    let those_who_manage = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
    display.connection.send_event(false, display.root, those_who_manage, message)?.check()?;
    Ok(())
}

/// The windows that are managed, or without a manager, those on the root.
pub(crate) fn managed_windows(display: &Display) -> XResult<Vec<Window>> {
    let Display { connection, root, atoms, .. } = display;
    if display.property(*root, atoms._NET_CLIENT_LIST)?.type_ != 0 {
        return display.numbers(*root, atoms._NET_CLIENT_LIST);
    }
    let mut windows = connection.query_tree(*root)?.reply()?.children;
    // Menus and other popups are not managed.
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
