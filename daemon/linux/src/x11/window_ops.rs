//! Operations on windows: requested of the window manager as a taskbar does, or done directly where there is none.

use std::time::{Duration, Instant};

use axd_protocol::Point;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ConfigureWindowAux, ConnectionExt as _, EventMask, GetWindowAttributesReply,
    InputFocus, MapState, StackMode, Window,
};

use crate::x11::connection::{Display, XError, XResult};
use crate::x11::ewmh::{self, SOURCE_PAGER, WindowManager};
use crate::x11::screen;
use axd_platform::{Failure, FailureKind, Gate, WindowOp};

const ICONIC: u32 = 3;
const REMOVE: u32 = 0;
const ADD: u32 = 1;

/// Requests an operation, and waits until the server has processed the request. The desktop's events say whether it
/// was carried out.
pub(crate) fn apply(display: &Display, window: u64, op: WindowOp, gate: &Gate) -> Result<(), Failure> {
    let gone = || Failure::new(FailureKind::Gone, format!("window {window} not found"));
    let window = Window::try_from(window).map_err(|_| gone())?;
    let attributes = display.connection.get_window_attributes(window).map_err(XError::from)?;
    let attributes = attributes.reply().map_err(XError::from).map_err(|error| match error.is_gone() {
        true => gone(),
        false => error.into(),
    })?;
    let asked = WindowRequest { display, window, attributes, manager: WindowManager::find(display)?, gate };
    match op {
        WindowOp::Focus => asked.focus()?,
        WindowOp::Insist => asked.insist()?,
        WindowOp::Move(to) => asked.move_to(to)?,
        WindowOp::Resize { width, height } => asked.resize(width, height)?,
        WindowOp::Minimize => asked.minimize()?,
        WindowOp::Maximize => asked.maximize()?,
        WindowOp::Restore => asked.restore()?,
    }
    Ok(display.sync()?)
}

/// A window, and what is needed for requests for it.
struct WindowRequest<'a> {
    display: &'a Display,
    window: Window,
    attributes: GetWindowAttributesReply,
    manager: Option<WindowManager>,
    gate: &'a Gate,
}

impl WindowRequest<'_> {
    fn focus(&self) -> Result<(), Failure> {
        self.enter_gate()?;
        self.unminimize()?;
        if self.manager_supports(self.display.atoms._NET_ACTIVE_WINDOW) {
            return Ok(self.activate()?);
        }
        Ok(self.take_focus()?)
    }

    /// Some window managers ask with the time of the last event they saw, and the server takes a request for the focus that is older
    /// than the last change for a late one. So the focus is also given directly.
    fn insist(&self) -> Result<(), Failure> {
        self.focus()?;
        if self.manager_supports(self.display.atoms._NET_ACTIVE_WINDOW) {
            self.display.sync()?;
            self.take_focus()?;
        }
        Ok(())
    }

    fn take_focus(&self) -> XResult<()> {
        let front = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
        let connection = &self.display.connection;
        connection.configure_window(self.window, &front)?.check()?;
        connection.set_input_focus(InputFocus::PARENT, self.window, x11rb::CURRENT_TIME)?.check()?;
        Ok(())
    }

    /// Moves the window, so that its bounds begin there. Window managers disagree about whether a place is that of the
    /// window or of the frame around it; so it is looked at where it went, and corrected once.
    fn move_to(&self, to: Point) -> Result<(), Failure> {
        let place = || -> XResult<Point> {
            let (bounds, _) = screen::window_area(self.display, self.window)?;
            Ok(Point { x: bounds.x, y: bounds.y })
        };
        let before = place()?;
        if before == to {
            return Ok(());
        }
        let (bounds, origin) = screen::window_area(self.display, self.window)?;
        // What is moved is the client's area, its shadow included.
        let client = Point { x: to.x - (bounds.x - origin.x), y: to.y - (bounds.y - origin.y) };
        self.enter_gate()?;
        self.select_events(EventMask::STRUCTURE_NOTIFY)?;
        let moved = || -> XResult<()> {
            self.request_position(client)?;
            let went = self.wait_until_moved(before, place)?;
            if went != before && went != to && self.gate.pass() {
                self.request_position(Point { x: client.x + to.x - went.x, y: client.y + to.y - went.y })?;
                self.wait_until_moved(went, place)?;
            }
            Ok(())
        };
        let moved = moved();
        // If the window is gone by now there is nothing to listen to.
        let _ = self.select_events(EventMask::NO_EVENT);
        while self.display.connection.poll_for_event().is_ok_and(|event| event.is_some()) {}
        Ok(moved?)
    }

    /// Requests that the client's area begins at this point.
    fn request_position(&self, client: Point) -> XResult<()> {
        const STATIC: u32 = 10;
        const X_AND_Y: u32 = 0b11 << 8;
        let atoms = &self.display.atoms;
        if self.manager_supports(atoms._NET_MOVERESIZE_WINDOW) {
            let flags = STATIC | X_AND_Y | SOURCE_PAGER << 12;
            // Negative places are sent as they are, in 32 bits.
            let data = [flags, client.x as u32, client.y as u32, 0, 0];
            return ewmh::send_request(self.display, self.window, atoms._NET_MOVERESIZE_WINDOW, data);
        }
        let change = ConfigureWindowAux::new().x(client.x).y(client.y);
        self.display.connection.configure_window(self.window, &change)?.check()?;
        Ok(())
    }

    /// Waits until the window has moved. Returns where it is.
    fn wait_until_moved(&self, before: Point, place: impl Fn() -> XResult<Point>) -> XResult<Point> {
        const MOVE_TIMEOUT: Duration = Duration::from_millis(250);
        let until = Instant::now() + MOVE_TIMEOUT;
        loop {
            // What happens to the window is listened to since before it was asked to move.
            let now = place()?;
            if now != before {
                return Ok(now);
            }
            if self.display.next_event(Some(until), None)?.is_none() {
                return place();
            }
        }
    }

    /// Selects which events of the window are received.
    fn select_events(&self, mask: EventMask) -> XResult<()> {
        let change = ChangeWindowAttributesAux::new().event_mask(mask);
        self.display.connection.change_window_attributes(self.window, &change)?.check()?;
        Ok(())
    }

    fn resize(&self, width: u32, height: u32) -> Result<(), Failure> {
        const NORTH_WEST: u32 = 1;
        const WIDTH_AND_HEIGHT: u32 = 0b11 << 10;
        let geometry = self.display.connection.get_geometry(self.window).map_err(XError::from)?;
        let geometry = geometry.reply().map_err(XError::from)?;
        let (bounds, _) = screen::window_area(self.display, self.window)?;
        let shadow = |whole: u16, without: i32| u32::from(whole).saturating_sub(without.unsigned_abs());
        let width = width.saturating_add(shadow(geometry.width, bounds.width));
        let height = height.saturating_add(shadow(geometry.height, bounds.height));
        self.enter_gate()?;
        let atoms = &self.display.atoms;
        if self.manager_supports(atoms._NET_MOVERESIZE_WINDOW) {
            let flags = NORTH_WEST | WIDTH_AND_HEIGHT | SOURCE_PAGER << 12;
            let data = [flags, 0, 0, width, height];
            return Ok(ewmh::send_request(self.display, self.window, atoms._NET_MOVERESIZE_WINDOW, data)?);
        }
        let change = ConfigureWindowAux::new().width(width).height(height);
        let asked = self.display.connection.configure_window(self.window, &change).map_err(XError::from)?;
        Ok(asked.check().map_err(XError::from)?)
    }

    fn minimize(&self) -> Result<(), Failure> {
        self.require_manager("minimise")?;
        self.enter_gate()?;
        let atoms = &self.display.atoms;
        Ok(ewmh::send_request(self.display, self.window, atoms.WM_CHANGE_STATE, [ICONIC, 0, 0, 0, 0])?)
    }

    fn maximize(&self) -> Result<(), Failure> {
        let manager = self.require_manager("maximise")?;
        if !manager.supports(self.display.atoms._NET_WM_STATE_MAXIMIZED_VERT) {
            let message = "the window manager cannot maximize windows; move and resize it instead";
            return Err(Failure::new(FailureKind::NotSupported, message));
        }
        self.enter_gate()?;
        self.unminimize()?;
        Ok(self.set_maximized(ADD)?)
    }

    fn restore(&self) -> Result<(), Failure> {
        self.enter_gate()?;
        self.unminimize()?;
        if self.manager.is_some() {
            self.set_maximized(REMOVE)?;
        }
        Ok(())
    }

    fn set_maximized(&self, change: u32) -> XResult<()> {
        let atoms = &self.display.atoms;
        let (vertical, horizontal) = (atoms._NET_WM_STATE_MAXIMIZED_VERT, atoms._NET_WM_STATE_MAXIMIZED_HORZ);
        let data = [change, vertical, horizontal, SOURCE_PAGER, 0];
        ewmh::send_request(self.display, self.window, atoms._NET_WM_STATE, data)
    }

    /// Restores the window if it is minimised: mapping it is how X does that. Some window managers take that from the
    /// app alone; to all of them making a window the active one means that it is to be seen.
    fn unminimize(&self) -> XResult<()> {
        let state = self.display.numbers(self.window, self.display.atoms.WM_STATE)?;
        let away = state.first() == Some(&ICONIC) || self.attributes.map_state == MapState::UNMAPPED;
        if away {
            self.display.connection.map_window(self.window)?.check()?;
            if self.manager_supports(self.display.atoms._NET_ACTIVE_WINDOW) {
                self.activate()?;
            }
        }
        Ok(())
    }

    fn activate(&self) -> XResult<()> {
        let data = [SOURCE_PAGER, x11rb::CURRENT_TIME, 0, 0, 0];
        ewmh::send_request(self.display, self.window, self.display.atoms._NET_ACTIVE_WINDOW, data)
    }

    fn manager_supports(&self, atom: u32) -> bool {
        self.manager.as_ref().is_some_and(|manager| manager.supports(atom))
    }

    fn require_manager(&self, what: &str) -> Result<&WindowManager, Failure> {
        self.manager.as_ref().ok_or_else(|| {
            let message =
                format!("only a window manager can {what} a window, and none is running on this display");
            Failure::new(FailureKind::NotSupported, message)
        })
    }

    fn enter_gate(&self) -> Result<(), Failure> {
        Ok(self.gate.enter()?)
    }
}
