//! Which window would receive input, by what the X server says now.

use axd_protocol::Point;
use x11rb::connection::RequestConnection;
use x11rb::protocol::res::{self, ClientIdMask, ClientIdSpec, ConnectionExt as _};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, GrabMode, GrabStatus, MapState, Window};

use crate::x11::connection::{Display, XResult};
use crate::x11::screen::window_area;
use axd_platform::{Receiver, Stretch};

/// The window that would receive this input, if it were sent now.
pub(crate) fn find_receiver(display: &Display, stretch: Stretch) -> XResult<Receiver> {
    let receiver = match stretch {
        Stretch::Keys => with_focus(display)?,
        Stretch::Pointer(point) | Stretch::Over(point) => at(display, point)?,
    };
    // An open menu has mouse and keyboard to itself, wherever the focus and the pointer are.
    let menus = open_menus(display)?;
    if menus.iter().any(|menu| menu.pid != receiver.pid)
        && !menus.iter().any(|menu| menu.pid == receiver.pid)
        && is_grabbed(display)?
        && let Some(menu) = menus.into_iter().next()
    {
        return Ok(menu);
    }
    Ok(receiver)
}

fn with_focus(display: &Display) -> XResult<Receiver> {
    const WHATEVER_IS_UNDER_THE_POINTER: Window = 1;
    let focus = display.connection.get_input_focus()?.reply()?.focus;
    match focus {
        0 => Ok(Receiver::default()),
        WHATEVER_IS_UNDER_THE_POINTER => at(display, crate::x11::input::pointer::position(display)?),
        window if window == display.root => at(display, crate::x11::input::pointer::position(display)?),
        window => describe_window(display, client_above(display, window)?),
    }
}

fn at(display: &Display, point: Point) -> XResult<Receiver> {
    match window_at(display, point)? {
        Some(window) => describe_window(display, window),
        None => Ok(Receiver::default()),
    }
}

/// The top-level window at a point: an app's own, also where the point is on the frame that a window manager put around it.
pub(crate) fn window_at(display: &Display, point: Point) -> XResult<Option<Window>> {
    let clamp = |place: i32| place.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
    let (x, y) = (clamp(point.x), clamp(point.y));
    let connection = &display.connection;
    let top = connection.translate_coordinates(display.root, display.root, x, y)?.reply()?.child;
    if top == 0 {
        return Ok(None);
    }
    Ok(Some(client_below(display, top, 3)?.unwrap_or(top)))
}

/// The window that a window manager manages, in a frame of its own or without.
fn client_below(display: &Display, window: Window, depth: usize) -> XResult<Option<Window>> {
    if is_managed(display, window)? {
        return Ok(Some(window));
    }
    if depth == 0 {
        return Ok(None);
    }
    let Ok(tree) = display.connection.query_tree(window)?.reply() else { return Ok(None) };
    for child in tree.children.into_iter().rev() {
        if let Some(client) = client_below(display, child, depth - 1)? {
            return Ok(Some(client));
        }
    }
    Ok(None)
}

/// The managed window that a window is part of; without a window manager, the one that lies on the root.
fn client_above(display: &Display, window: Window) -> XResult<Window> {
    let mut at = window;
    loop {
        if is_managed(display, at)? {
            return Ok(at);
        }
        let parent = display.connection.query_tree(at)?.reply()?.parent;
        if parent == display.root || parent == 0 {
            // The focus may be on the frame itself.
            return Ok(client_below(display, at, 3)?.unwrap_or(at));
        }
        at = parent;
    }
}

fn is_managed(display: &Display, window: Window) -> XResult<bool> {
    match display.property(window, display.atoms.WM_STATE) {
        Ok(state) => Ok(state.type_ != 0),
        Err(error) if error.is_gone() => Ok(false),
        Err(error) => Err(error),
    }
}

fn describe_window(display: &Display, window: Window) -> XResult<Receiver> {
    let attributes = display.connection.get_window_attributes(window)?;
    let popup = attributes.reply().is_ok_and(|attributes| attributes.override_redirect);
    let title = [display.atoms._NET_WM_NAME, AtomEnum::WM_NAME.into()]
        .into_iter()
        .filter_map(|property| display.property(window, property).ok())
        .map(|property| String::from_utf8_lossy(&property.value).into_owned())
        .find(|title| !title.is_empty());
    Ok(Receiver {
        pid: pid(display, window)?,
        window: Some(u64::from(window)),
        title: title.unwrap_or_default(),
        popup,
        bounds: if popup { window_area(display, window).ok().map(|(bounds, _)| bounds) } else { None },
    })
}

/// The process of a window: as the server knows it, else as the window says.
fn pid(display: &Display, window: Window) -> XResult<Option<u32>> {
    if display.connection.extension_information(res::X11_EXTENSION_NAME)?.is_some() {
        let spec = ClientIdSpec { client: window, mask: ClientIdMask::LOCAL_CLIENT_PID };
        if let Ok(reply) = display.connection.res_query_client_ids(&[spec])?.reply()
            && let Some(pid) = reply.ids.iter().find_map(|id| id.value.first()).filter(|pid| **pid != 0)
        {
            return Ok(Some(*pid));
        }
    }
    let pids = display.numbers(window, display.atoms._NET_WM_PID).unwrap_or_default();
    Ok(pids.first().copied())
}

/// The menus and lists that are open, front to back.
fn open_menus(display: &Display) -> XResult<Vec<Receiver>> {
    let atoms = &display.atoms;
    let kinds = [
        atoms._NET_WM_WINDOW_TYPE_MENU,
        atoms._NET_WM_WINDOW_TYPE_POPUP_MENU,
        atoms._NET_WM_WINDOW_TYPE_DROPDOWN_MENU,
        atoms._NET_WM_WINDOW_TYPE_COMBO,
    ];
    let tree = display.connection.query_tree(display.root)?.reply()?;
    let mut asked = Vec::with_capacity(tree.children.len());
    for window in tree.children.into_iter().rev() {
        asked.push((window, display.connection.get_window_attributes(window)?));
    }
    let mut menus = Vec::new();
    for (window, attributes) in asked {
        let Ok(attributes) = attributes.reply() else { continue };
        if attributes.map_state == MapState::VIEWABLE
            && attributes.override_redirect
            && display
                .numbers(window, atoms._NET_WM_WINDOW_TYPE)
                .is_ok_and(|types| types.iter().any(|kind| kinds.contains(kind)))
        {
            menus.push(Receiver { popup: true, ..describe_window(display, window)? });
        }
    }
    Ok(menus)
}

/// Whether a client has grabbed the keyboard. To find out, it is grabbed for a moment.
fn is_grabbed(display: &Display) -> XResult<bool> {
    let (connection, root) = (&display.connection, display.root);
    let asynchronous = GrabMode::ASYNC;
    let taken =
        connection.grab_keyboard(true, root, x11rb::CURRENT_TIME, asynchronous, asynchronous)?.reply()?;
    if taken.status == GrabStatus::SUCCESS {
        connection.ungrab_keyboard(x11rb::CURRENT_TIME)?;
    }
    Ok(taken.status == GrabStatus::ALREADY_GRABBED)
}
