//! Makes a window's own pixels available though other windows lie over it.
//!
//! Where a compositing manager runs, every window has pixels of its own. Elsewhere the server is asked to keep them for
//! this window (Composite); it then shows the window itself, as before, for as long as axd is connected. The window's
//! app has to draw once more what was covered, which is waited for.

use std::time::{Duration, Instant};

use axd_protocol::Bounds;
use x11rb::connection::{Connection, RequestConnection};
use x11rb::protocol::Event;
use x11rb::protocol::composite::{ConnectionExt as _, Redirect};
use x11rb::protocol::damage::{ConnectionExt as _, ReportLevel};
use x11rb::protocol::xproto::{ConnectionExt as _, MapState, Window};

use crate::x11::capture::pixels::overlap;
use crate::x11::connection::{Display, XResult};

/// How long an app may take to draw what was covered.
const REDRAW_TIMEOUT: Duration = Duration::from_millis(400);
/// An app that has drawn nothing for so long has finished.
const REDRAW_QUIET: Duration = Duration::from_millis(40);

/// Which windows have pixels of their own.
pub(crate) struct WindowPixels {
    /// The server can keep them.
    composite: bool,
    /// The server reports when an app draws.
    damage: bool,
    /// The selection whose owner is the compositing manager.
    manager: u32,
    /// Windows whose pixels the server keeps on axd's request.
    kept: Vec<Window>,
}

impl WindowPixels {
    pub fn new(display: &Display) -> XResult<WindowPixels> {
        let connection = &display.connection;
        let has = |extension| -> XResult<bool> { Ok(connection.extension_information(extension)?.is_some()) };
        let composite =
            has("Composite")? && connection.composite_query_version(0, 4)?.reply()?.minor_version >= 2;
        let damage = has("DAMAGE")? && connection.damage_query_version(1, 1)?.reply().is_ok();
        let name = format!("_NET_WM_CM_S{}", display.screen);
        let manager = connection.intern_atom(false, name.as_bytes())?.reply()?.atom;
        Ok(WindowPixels { composite, damage, manager, kept: Vec::new() })
    }

    /// Whether every window has pixels of its own, because a compositing manager runs.
    pub fn is_composited(&self, display: &Display) -> XResult<bool> {
        Ok(display.connection.get_selection_owner(self.manager)?.reply()?.owner != 0)
    }

    /// Makes the window's own pixels complete, if possible. False if the screen's must be used; its popups may be in those.
    pub fn ensure_complete(
        &mut self,
        display: &Display,
        window: Window,
        bounds: Bounds,
        on_screen: bool,
        popups: &[Window],
    ) -> XResult<bool> {
        if self.is_composited(display)? {
            return Ok(true);
        }
        let (top, above) = above(display, window)?;
        self.kept.retain(|kept| {
            *kept == top || display.connection.get_geometry(*kept).is_ok_and(|asked| asked.reply().is_ok())
        });
        if self.kept.contains(&top) {
            return Ok(true);
        }
        let mut covering = above.into_iter().filter(|(other, _)| !popups.contains(other));
        let is_covered = covering.any(|(_, other)| overlap(other, bounds).is_some());
        if !is_covered && on_screen || !self.composite {
            return Ok(false);
        }
        self.keep(display, window, top)?;
        Ok(true)
    }

    /// Has the server keep the pixels of a window, and waits until its app has drawn them.
    fn keep(&mut self, display: &Display, window: Window, top: Window) -> XResult<()> {
        let connection = &display.connection;
        let damage = match self.damage {
            true => {
                let damage = connection.generate_id()?;
                connection.damage_create(damage, window, ReportLevel::RAW_RECTANGLES)?.check()?;
                Some(damage)
            }
            false => None,
        };
        connection.composite_redirect_window(top, Redirect::AUTOMATIC)?.check()?;
        self.kept.push(top);
        let end = Instant::now() + REDRAW_TIMEOUT;
        let mut until = end;
        while let Some(event) = display.next_event(Some(until), None)? {
            if let Event::DamageNotify(_) = event {
                until = (Instant::now() + REDRAW_QUIET).min(end);
            }
        }
        if let Some(damage) = damage {
            connection.damage_destroy(damage)?.check()?;
        }
        Ok(())
    }
}

/// The window on the root that this one is in, and those that lie over it, with their areas.
fn above(display: &Display, window: Window) -> XResult<(Window, Vec<(Window, Bounds)>)> {
    let connection = &display.connection;
    let mut top = window;
    loop {
        let parent = connection.query_tree(top)?.reply()?.parent;
        if parent == display.root || parent == 0 {
            break;
        }
        top = parent;
    }
    let lying = connection.query_tree(display.root)?.reply()?.children;
    let over = lying.into_iter().skip_while(|other| *other != top).skip(1);
    let mut areas = Vec::new();
    for other in over {
        // One that is closed just now covers nothing.
        let (Ok(attributes), Ok(geometry)) =
            (connection.get_window_attributes(other)?.reply(), connection.get_geometry(other)?.reply())
        else {
            continue;
        };
        let border = 2 * i32::from(geometry.border_width);
        if attributes.map_state == MapState::VIEWABLE
            && attributes.class == x11rb::protocol::xproto::WindowClass::INPUT_OUTPUT
        {
            let (width, height) = (i32::from(geometry.width) + border, i32::from(geometry.height) + border);
            let area = Bounds { x: i32::from(geometry.x), y: i32::from(geometry.y), width, height };
            areas.push((other, area));
        }
    }
    Ok((top, areas))
}
