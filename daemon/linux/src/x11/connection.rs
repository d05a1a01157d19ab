//! A connection to the X server for input, windows, capture and the clipboard: how it is opened, what its errors mean,
//! and how to wait on it.

use std::os::fd::AsFd;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Instant;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use x11rb::connection::{Connection, RequestConnection};
use x11rb::errors::{ConnectError, ConnectionError, ParseError, ReplyError, ReplyOrIdError};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, GetPropertyReply, Window};
use x11rb::protocol::{ErrorKind, Event};
use x11rb::rust_connection::RustConnection;
use x11rb::x11_utils::X11Error;

use axd_platform::{Failure, FailureKind, Gate};

/// The result of requests to the X server.
pub(crate) type XResult<T> = Result<T, XError>;

/// Why a request to the X server failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum XError {
    /// The connection is broken; another one may work.
    #[error("the connection to the X server is lost: {0}")]
    Lost(String),
    /// The server does not know the request.
    #[error("the X server does not support {0}")]
    Missing(&'static str),
    /// The server refused a request.
    #[error("X server error: {:?}", .0.error_kind)]
    Server(X11Error),
}

impl XError {
    /// Whether a window, or what is in it, is not there any more.
    pub fn is_gone(&self) -> bool {
        matches!(self, XError::Server(error) if matches!(error.error_kind, ErrorKind::Window | ErrorKind::Drawable))
    }
}

impl From<ConnectionError> for XError {
    fn from(error: ConnectionError) -> XError {
        match error {
            ConnectionError::UnsupportedExtension => XError::Missing("a required X extension"),
            error => XError::Lost(error.to_string()),
        }
    }
}

impl From<ReplyError> for XError {
    fn from(error: ReplyError) -> XError {
        match error {
            ReplyError::ConnectionError(error) => error.into(),
            ReplyError::X11Error(error) => XError::Server(error),
        }
    }
}

impl From<ReplyOrIdError> for XError {
    fn from(error: ReplyOrIdError) -> XError {
        match error {
            ReplyOrIdError::IdsExhausted => XError::Lost("no more X ids are available".to_owned()),
            ReplyOrIdError::ConnectionError(error) => error.into(),
            ReplyOrIdError::X11Error(error) => XError::Server(error),
        }
    }
}

impl From<ParseError> for XError {
    fn from(error: ParseError) -> XError {
        XError::Lost(error.to_string())
    }
}

impl From<std::io::Error> for XError {
    fn from(error: std::io::Error) -> XError {
        XError::Lost(error.to_string())
    }
}

impl From<XError> for Failure {
    fn from(error: XError) -> Failure {
        let kind = match &error {
            _ if error.is_gone() => FailureKind::Gone,
            XError::Server(_) => FailureKind::Refused,
            XError::Lost(_) | XError::Missing(_) => FailureKind::NotSupported,
        };
        Failure::new(kind, error.to_string())
    }
}

x11rb::atom_manager! {
    /// The atoms that all users of a [`Display`] share.
    pub(crate) Atoms: AtomsCookie {
        UTF8_STRING,
        WM_CHANGE_STATE,
        WM_DELETE_WINDOW,
        WM_PROTOCOLS,
        WM_STATE,
        _AXD_BORROWED_KEYS,
        _AXD_HELD_INPUT,
        _AXD_NOTE_OWNER,
        _GTK_FRAME_EXTENTS,
        _NET_ACTIVE_WINDOW,
        _NET_CLIENT_LIST,
        _NET_CLOSE_WINDOW,
        _NET_FRAME_EXTENTS,
        _NET_MOVERESIZE_WINDOW,
        _NET_SUPPORTED,
        _NET_SUPPORTING_WM_CHECK,
        _NET_WM_NAME,
        _NET_WM_PID,
        _NET_WM_PING,
        _NET_WM_STATE,
        _NET_WM_STATE_HIDDEN,
        _NET_WM_STATE_MAXIMIZED_HORZ,
        _NET_WM_STATE_MAXIMIZED_VERT,
        _NET_WM_WINDOW_TYPE,
        _NET_WM_WINDOW_TYPE_COMBO,
        _NET_WM_WINDOW_TYPE_DROPDOWN_MENU,
        _NET_WM_WINDOW_TYPE_MENU,
        _NET_WM_WINDOW_TYPE_POPUP_MENU,
    }
}

/// A connection to the X server.
pub(crate) struct Display {
    pub connection: RustConnection,
    /// The number of the screen.
    pub screen: usize,
    pub root: Window,
    pub atoms: Atoms,
}

impl Display {
    /// Connects to the display that the environment names; the failure says what to do if there is none.
    pub fn open() -> Result<Display, Failure> {
        Display::connect(None).map_err(|error| no_server(&error))
    }

    /// Connects to a display by name.
    pub fn connect(name: Option<&str>) -> Result<Display, String> {
        let (connection, screen) = x11rb::connect(name).map_err(|error: ConnectError| error.to_string())?;
        let root = connection.setup().roots.get(screen).ok_or("the display has no screen")?.root;
        let atoms = Atoms::new(&connection)
            .map_err(XError::from)
            .and_then(|asked| Ok(asked.reply()?))
            .map_err(|error| error.to_string())?;
        Ok(Display { connection, screen, root, atoms })
    }

    /// Fails unless the server has an extension.
    pub fn require_extension(&self, extension: &'static str) -> XResult<()> {
        match self.connection.extension_information(extension)? {
            Some(_) => Ok(()),
            None => Err(XError::Missing(extension)),
        }
    }

    /// Waits until the server has processed all requests so far.
    pub fn sync(&self) -> XResult<()> {
        self.connection.get_input_focus()?.reply()?;
        Ok(())
    }

    /// Grabs the server, so that no other client can change anything. Until it is ungrabbed no app is served, so nothing must wait
    /// for one.
    pub fn grab_server(&self) -> XResult<()> {
        self.connection.grab_server()?;
        Ok(())
    }

    /// Ends a grab. If the connection is lost, the server has ended it by itself.
    pub fn ungrab_server(&self) -> XResult<()> {
        self.connection.ungrab_server()?;
        Ok(self.connection.flush()?)
    }

    /// The next event; `None` if none comes until then, or when `also` becomes readable.
    pub fn next_event(&self, until: Option<Instant>, also: Option<&dyn AsFd>) -> XResult<Option<Event>> {
        loop {
            self.connection.flush()?;
            if let Some(event) = self.connection.poll_for_event()? {
                return Ok(Some(event));
            }
            let left = match until {
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Ok(None);
                    }
                    // Rounded up: a wait of less than a millisecond must not become a busy loop.
                    PollTimeout::try_from(left.as_millis() + 1).unwrap_or(PollTimeout::MAX)
                }
                None => PollTimeout::NONE,
            };
            let mut watched = vec![PollFd::new(self.connection.stream().as_fd(), PollFlags::POLLIN)];
            watched.extend(also.map(|also| PollFd::new(also.as_fd(), PollFlags::POLLIN)));
            match poll(&mut watched, left) {
                Ok(_) | Err(nix::errno::Errno::EINTR) => {}
                Err(error) => return Err(XError::Lost(error.to_string())),
            }
            let woken = watched.get(1).and_then(PollFd::any).unwrap_or(false);
            if woken {
                return Ok(self.connection.poll_for_event()?);
            }
        }
    }

    /// The next event; `None` if none comes until then, or when the gate is closed.
    pub fn next_event_until_closed(&self, until: Instant, gate: &Gate) -> XResult<Option<Event>> {
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let wakeup = EventFd::from_flags(flags).map_err(|error| XError::Lost(error.to_string()))?;
        let wakeup = Arc::new(WakeFd(wakeup));
        let waker = Waker::from(Arc::clone(&wakeup));
        let mut closed = pin!(gate.closed());
        match closed.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            true => Ok(None),
            false => self.next_event(Some(until), Some(&wakeup.0)),
        }
    }

    /// A property, whatever its type; without a value if it is not set.
    pub fn property(&self, window: Window, property: u32) -> XResult<GetPropertyReply> {
        let any = u32::from(AtomEnum::ANY);
        Ok(self.connection.get_property(false, window, property, any, 0, 1 << 20)?.reply()?)
    }

    /// The numbers in a property; none if it is not set.
    pub fn numbers(&self, window: Window, property: u32) -> XResult<Vec<u32>> {
        Ok(self.property(window, property)?.value32().into_iter().flatten().collect())
    }
}

/// Wakes a thread that waits for the server.
struct WakeFd(EventFd);

impl Wake for WakeFd {
    fn wake(self: Arc<Self>) {
        // It fails only if its counter is full: then it is readable anyway.
        let _ = self.0.write(1);
    }
}

/// The failure where there is no X server.
fn no_server(error: &str) -> Failure {
    let wayland = std::env::var_os("WAYLAND_DISPLAY").is_some_and(|display| !display.is_empty());
    let native = if wayland {
        format!(
            "input, windows, clipboard and screenshots need an X server, and none answers on this Wayland desktop ({error}); enable Xwayland and start axd with its DISPLAY, or log in to an X11 session"
        )
    } else {
        format!(
            "no X server is available ({error}); start axd inside the desktop session, or with DISPLAY (and XAUTHORITY) set"
        )
    };
    Failure::new(FailureKind::NotSupported, native)
}
