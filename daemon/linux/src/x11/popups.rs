//! Popups: windows that lie over everything and that no window manager knows, as the choices of a combo box.

use axd_protocol::Point;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ConnectionExt as _, MapState, Window};

use crate::x11::connection::{Display, XError, XResult};
use axd_platform::Failure;

/// Whether what lies on top at a point is a popup of the app that a window belongs to.
pub(crate) fn is_popup_at(display: &Display, window: u64, point: Point) -> Result<bool, Failure> {
    let Ok(window) = Window::try_from(window) else { return Ok(false) };
    Ok(find_popup(display, window, point)?)
}

fn find_popup(display: &Display, window: Window, point: Point) -> XResult<bool> {
    let connection = &display.connection;
    // The numbers of all windows of an X client begin with the same bits.
    let client = |window: Window| window & !connection.setup().resource_id_mask;
    for screen in &connection.setup().roots {
        let children = connection.query_tree(screen.root)?.reply()?.children;
        // From the top down.
        for child in children.into_iter().rev() {
            let attributes = connection.get_window_attributes(child)?;
            let geometry = connection.get_geometry(child)?;
            let (attributes, geometry) = match (attributes.reply(), geometry.reply()) {
                (Ok(attributes), Ok(geometry)) => (attributes, geometry),
                (Err(error), _) | (_, Err(error)) => match XError::from(error) {
                    // It went away meanwhile.
                    error if error.is_gone() => continue,
                    error => return Err(error),
                },
            };
            let (left, top) = (i32::from(geometry.x), i32::from(geometry.y));
            let (width, height) = (i32::from(geometry.width), i32::from(geometry.height));
            let is_there = (left..left + width).contains(&point.x) && (top..top + height).contains(&point.y);
            if attributes.map_state == MapState::VIEWABLE && is_there {
                return Ok(attributes.override_redirect && client(child) == client(window));
            }
        }
    }
    Ok(false)
}
