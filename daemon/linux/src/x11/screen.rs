//! Windows, displays and the active window, as X11 reports them. A thread follows them and publishes the whole state
//! whenever it changes. Nothing semantic depends on it.
//!
//! Bounds are those of the client's own area without the window manager's frame and without the shadow that GTK
//! draws itself: what accessibility coordinates refer to.

use std::sync::Arc;

use axd_protocol::{Bounds, DisplayInfo, Point};
use tokio::sync::watch;
use tracing::{debug, warn};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::randr::{ConnectionExt as _, NotifyMask};
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, GetPropertyReply, MapState, Window,
};
use x11rb::rust_connection::RustConnection;

use crate::x11::connection::Display;
use axd_platform::DesktopWindow;

type ScreenResult<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// What is on the screen.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Screen {
    /// Windows, front to back.
    pub windows: Vec<XWindow>,
    /// The active window, if any, which need not be a listed one.
    pub active: Option<u64>,
    /// Displays, the main one first.
    pub displays: Vec<DisplayInfo>,
}

/// A window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct XWindow {
    /// What the desktop reports of it.
    pub info: DesktopWindow,
    /// Where the client's area begins, its shadow included: where a toolkit's own coordinates start.
    pub origin: (i32, i32),
}

impl Screen {
    /// The process and number of the active window.
    pub fn frontmost(&self) -> (Option<u32>, Option<u64>) {
        let window = self.windows.iter().find(|window| Some(window.info.window) == self.active);
        let pid = window.map(|window| window.info.pid).filter(|pid| *pid != 0);
        (pid, window.map(|window| window.info.window))
    }
}

x11rb::atom_manager! {
    /// The atoms used here.
    ScreenAtoms: ScreenAtomsCookie {
        AT_SPI_BUS,
        UTF8_STRING,
        WM_STATE,
        _GTK_FRAME_EXTENTS,
        _NET_ACTIVE_WINDOW,
        _NET_CLIENT_LIST,
        _NET_CLIENT_LIST_STACKING,
        _NET_WM_NAME,
        _NET_WM_PID,
        _NET_WM_STATE,
        _NET_WM_STATE_HIDDEN,
        _NET_WM_STATE_MAXIMIZED_HORZ,
        _NET_WM_STATE_MAXIMIZED_VERT,
        _NET_WM_WINDOW_TYPE,
        _NET_WM_WINDOW_TYPE_SPLASH,
    }
}

/// A connection to the X server.
pub(crate) struct ScreenMonitor {
    connection: RustConnection,
    root: Window,
    atoms: ScreenAtoms,
    /// Windows whose events were asked for.
    watched: Vec<Window>,
}

impl ScreenMonitor {
    /// Connects to the display that the environment names.
    pub fn connect() -> ScreenResult<ScreenMonitor> {
        let (connection, number) = x11rb::connect(None)?;
        let root = connection.setup().roots.get(number).ok_or("the display has no screen")?.root;
        let atoms = ScreenAtoms::new(&connection)?.reply()?;
        Ok(ScreenMonitor { connection, root, atoms, watched: Vec::new() })
    }

    /// The address of the accessibility bus of this display, if it has one of its own.
    pub fn accessibility_bus(&self) -> Option<String> {
        let reply = self.property(self.root, self.atoms.AT_SPI_BUS, AtomEnum::STRING.into()).ok()?;
        let text = String::from_utf8(reply.value).ok()?;
        Some(text.trim_end_matches('\0').to_owned()).filter(|text| !text.is_empty())
    }

    /// Starts the thread that follows the screen; the first state is there when this returns.
    pub fn spawn(mut self) -> ScreenResult<watch::Receiver<Arc<Screen>>> {
        let mask = EventMask::PROPERTY_CHANGE | EventMask::SUBSTRUCTURE_NOTIFY | EventMask::FOCUS_CHANGE;
        self.select(self.root, mask)?;
        let displays_change = NotifyMask::SCREEN_CHANGE | NotifyMask::CRTC_CHANGE | NotifyMask::OUTPUT_CHANGE;
        // A server without RandR has one display, which never changes.
        let _ = self.connection.randr_select_input(self.root, displays_change)?.check();
        let (publish, receive) = watch::channel(Arc::new(self.read_screen()?));
        std::thread::Builder::new().name("axd-x11".to_owned()).spawn(move || {
            if let Err(error) = self.run(&publish) {
                warn!(%error, "the X server is gone: windows and displays are no longer reported");
            }
        })?;
        Ok(receive)
    }

    fn run(&mut self, publish: &watch::Sender<Arc<Screen>>) -> ScreenResult<()> {
        loop {
            let mut matters = self.is_relevant(&self.connection.wait_for_event()?);
            while let Some(event) = self.connection.poll_for_event()? {
                matters |= self.is_relevant(&event);
            }
            if !matters {
                continue;
            }
            let screen = self.read_screen()?;
            publish.send_if_modified(|known| {
                let differs = **known != screen;
                if differs {
                    *known = Arc::new(screen);
                }
                differs
            });
            if publish.is_closed() {
                return Ok(());
            }
        }
    }

    /// Whether an event may have changed the screen.
    fn is_relevant(&self, event: &Event) -> bool {
        let atoms = &self.atoms;
        match event {
            Event::PropertyNotify(event) => {
                event.atom == atoms._NET_ACTIVE_WINDOW
                    || event.atom == atoms._NET_CLIENT_LIST
                    || event.atom == atoms._NET_CLIENT_LIST_STACKING
                    || event.atom == atoms._NET_WM_NAME
                    || event.atom == atoms._NET_WM_PID
                    || event.atom == atoms._NET_WM_STATE
                    || event.atom == atoms._GTK_FRAME_EXTENTS
                    || event.atom == atoms.WM_STATE
                    || event.atom == u32::from(AtomEnum::WM_NAME)
            }
            // A window that was closed before its events could be asked for.
            Event::Error(error) => {
                debug!(?error, "X11");
                false
            }
            _ => true,
        }
    }

    pub(crate) fn read_screen(&mut self) -> ScreenResult<Screen> {
        let (numbers, managed) = self.listed()?;
        for window in &numbers {
            if !self.watched.contains(window) {
                let _ = self.select(*window, EventMask::PROPERTY_CHANGE | EventMask::STRUCTURE_NOTIFY);
            }
        }
        self.watched.clone_from(&numbers);
        let mut windows = Vec::with_capacity(numbers.len());
        for window in numbers {
            // One that is being closed just now answers errors: it is not there any more.
            windows.extend(self.window(window).ok().flatten());
        }
        // Some window managers leave the focus with a window that was put away, until another takes it.
        let away = |window: &u64| windows.iter().any(|it| it.info.window == *window && it.info.minimized);
        let active = self.active(managed)?.filter(|window| !away(window));
        Ok(Screen { active, windows, displays: self.displays()? })
    }

    /// The windows front to back, and whether they are a window manager's list.
    fn listed(&self) -> ScreenResult<(Vec<Window>, bool)> {
        for atom in [self.atoms._NET_CLIENT_LIST_STACKING, self.atoms._NET_CLIENT_LIST] {
            let reply = self.property(self.root, atom, AtomEnum::WINDOW.into())?;
            if reply.type_ != 0 {
                let windows: Vec<Window> = reply.value32().into_iter().flatten().collect();
                return Ok((self.front_to_back(windows)?, true));
            }
        }
        let mut windows = Vec::new();
        for window in self.connection.query_tree(self.root)?.reply()?.children.into_iter().rev() {
            let Ok(attributes) = self.connection.get_window_attributes(window)?.reply() else { continue };
            if attributes.map_state == MapState::VIEWABLE && !attributes.override_redirect {
                windows.push(window);
            }
        }
        Ok((windows, false))
    }

    /// Sorts windows by how they really lie: window managers disagree about which end of their list is the front.
    fn front_to_back(&self, windows: Vec<Window>) -> ScreenResult<Vec<Window>> {
        let lying = self.connection.query_tree(self.root)?.reply()?.children;
        let mut placed = Vec::with_capacity(windows.len());
        for window in windows {
            let top = self.top_level(window).unwrap_or(window);
            placed.push((lying.iter().position(|other| *other == top), window));
        }
        placed.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
        Ok(placed.into_iter().map(|(_, window)| window).collect())
    }

    /// The window, or the window manager's frame around it, that lies on the root.
    fn top_level(&self, mut window: Window) -> ScreenResult<Window> {
        loop {
            let parent = self.connection.query_tree(window)?.reply()?.parent;
            if parent == self.root || parent == 0 {
                return Ok(window);
            }
            window = parent;
        }
    }

    fn window(&self, window: Window) -> ScreenResult<Option<XWindow>> {
        let ScreenAtoms { _NET_WM_NAME, _NET_WM_PID, _NET_WM_STATE, WM_STATE, _GTK_FRAME_EXTENTS, .. } =
            self.atoms;
        let any = u32::from(AtomEnum::ANY);
        let ask = |atom: u32| self.connection.get_property(false, window, atom, any, 0, 1024);
        let (name, plain) = (ask(_NET_WM_NAME)?, ask(AtomEnum::WM_NAME.into())?);
        let (pid, state, old_state) = (ask(_NET_WM_PID)?, ask(_NET_WM_STATE)?, ask(WM_STATE)?);
        let (shadow, kinds) = (ask(_GTK_FRAME_EXTENTS)?, ask(self.atoms._NET_WM_WINDOW_TYPE)?);
        let geometry = self.connection.get_geometry(window)?;
        let origin = self.connection.translate_coordinates(window, self.root, 0, 0)?;

        let named = |reply: GetPropertyReply| {
            Some(String::from_utf8_lossy(&reply.value).into_owned()).filter(|name| !name.is_empty())
        };
        let title = named(name.reply()?).or(named(plain.reply()?)).unwrap_or_default();
        let pid = pid.reply()?.value32().and_then(|mut values| values.next()).unwrap_or_default();
        let states: Vec<u32> = state.reply()?.value32().into_iter().flatten().collect();
        let hidden = states.contains(&self.atoms._NET_WM_STATE_HIDDEN);
        let maximized = [self.atoms._NET_WM_STATE_MAXIMIZED_HORZ, self.atoms._NET_WM_STATE_MAXIMIZED_VERT]
            .iter()
            .all(|atom| states.contains(atom));
        const ICONIC: u32 = 3;
        let iconic = old_state.reply()?.value32().and_then(|mut values| values.next()) == Some(ICONIC);
        let (geometry, origin) = (geometry.reply()?, origin.reply()?);
        let shadow: Vec<u32> = shadow.reply()?.value32().into_iter().flatten().collect();
        let (x, y) = (i32::from(origin.dst_x), i32::from(origin.dst_y));
        let bounds = without_shadow((x, y), (geometry.width, geometry.height), &shadow);
        let seen = DesktopWindow {
            window: u64::from(window),
            pid,
            title,
            bounds: Some(bounds),
            minimized: hidden || iconic,
            maximized,
            splash: kinds
                .reply()?
                .value32()
                .is_some_and(|mut kinds| kinds.any(|kind| kind == self.atoms._NET_WM_WINDOW_TYPE_SPLASH)),
        };
        Ok(Some(XWindow { info: seen, origin: (x, y) }))
    }

    fn active(&self, managed: bool) -> ScreenResult<Option<u64>> {
        let active = self.property(self.root, self.atoms._NET_ACTIVE_WINDOW, AtomEnum::WINDOW.into())?;
        if let Some(window) = active.value32().and_then(|mut windows| windows.next()) {
            return Ok((window != 0).then(|| u64::from(window)));
        }
        if managed {
            return Ok(None);
        }
        // 0 and 1 are "none" and "whatever is under the pointer".
        let focus = self.connection.get_input_focus()?.reply()?.focus;
        if focus <= 1 || focus == self.root {
            return Ok(None);
        }
        Ok(self.top_level(focus).ok().map(u64::from))
    }

    fn displays(&self) -> ScreenResult<Vec<DisplayInfo>> {
        let mut displays = Vec::new();
        if let Ok(reply) = self.connection.randr_get_monitors(self.root, true)?.reply() {
            let mut monitors = reply.monitors;
            monitors.sort_by_key(|monitor| !monitor.primary);
            for (number, monitor) in (1..).zip(monitors) {
                let name = self.connection.get_atom_name(monitor.name)?.reply()?.name;
                displays.push(DisplayInfo {
                    display: number,
                    name: String::from_utf8_lossy(&name).into_owned(),
                    primary: number == 1,
                    bounds: Bounds {
                        x: i32::from(monitor.x),
                        y: i32::from(monitor.y),
                        width: i32::from(monitor.width),
                        height: i32::from(monitor.height),
                    },
                    scale: 1.0,
                });
            }
        }
        if displays.is_empty() {
            let root = self.connection.get_geometry(self.root)?.reply()?;
            let (width, height) = (i32::from(root.width), i32::from(root.height));
            let bounds = Bounds { x: 0, y: 0, width, height };
            let name = "screen".to_owned();
            displays.push(DisplayInfo { display: 1, name, primary: true, bounds, scale: 1.0 });
        }
        Ok(displays)
    }

    fn select(&self, window: Window, mask: EventMask) -> ScreenResult<()> {
        let change = ChangeWindowAttributesAux::new().event_mask(mask);
        self.connection.change_window_attributes(window, &change)?.ignore_error();
        Ok(())
    }

    fn property(&self, window: Window, atom: u32, kind: u32) -> ScreenResult<GetPropertyReply> {
        Ok(self.connection.get_property(false, window, atom, kind, 0, 65_536)?.reply()?)
    }
}

/// Where a window is: its bounds, and where the client's area begins, its shadow included.
pub(crate) fn window_area(
    display: &Display,
    window: Window,
) -> crate::x11::connection::XResult<(Bounds, Point)> {
    let geometry = display.connection.get_geometry(window)?;
    let origin = display.connection.translate_coordinates(window, display.root, 0, 0)?;
    let shadow = display.numbers(window, display.atoms._GTK_FRAME_EXTENTS)?;
    let (geometry, origin) = (geometry.reply()?, origin.reply()?);
    let at = Point { x: i32::from(origin.dst_x), y: i32::from(origin.dst_y) };
    Ok((without_shadow((at.x, at.y), (geometry.width, geometry.height), &shadow), at))
}

/// The client's area without the shadow that GTK draws: left, right, top and bottom of it.
fn without_shadow(origin: (i32, i32), size: (u16, u16), shadow: &[u32]) -> Bounds {
    let edges = <[u32; 4]>::try_from(shadow).unwrap_or_default();
    let [left, right, top, bottom] = edges.map(|edge| edge as i32);
    Bounds {
        x: origin.0 + left,
        y: origin.1 + top,
        width: i32::from(size.0) - left - right,
        height: i32::from(size.1) - top - bottom,
    }
}
