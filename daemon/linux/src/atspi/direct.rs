//! Connections to apps themselves, over which actions are sent to GTK 3 apps and Chromium is read (see [`ReadConnection`]).
//!
//! A GTK 3 app performs an action while it dispatches the message that asks for it, and replies before. A dialog that
//! runs a main loop of its own (`gtk_dialog_run`) is then still inside that dispatch. Two things follow:
//!
//! - The app reads nothing more from this connection until the dialog is closed. So each act has a connection of its own.
//! - While the dialog is open, nothing may arrive over this connection, its end included: the next key would freeze the
//!   app for good. (For every key atk-bridge runs a loop in another context, in which it dispatches all connections that
//!   have something pending; dispatching one that is being dispatched waits for itself.)
//!
//! So a connection stays open and silent after its act. It is closed when the app shows no window that came after the
//! act, and some later acts have gone by. Copies are with a [`ConnectionKeeper`], so that the end of axd closes nothing
//! either.

use std::collections::HashSet;
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;
use tokio::net::UnixStream;
use tracing::debug;
use zbus::Message;

use crate::atspi::connection_keeper::ConnectionKeeper;
use crate::atspi::dbus::{BusConnection, BusReply};
use crate::atspi::protocol::ObjectRef;
use axd_platform::Failure;

/// So many connections to an app stay open whatever windows it shows: not every loop shows a window.
const MIN_OPEN: usize = 8;

/// The windows of an app at one moment.
pub(crate) type WindowSet = HashSet<ObjectRef>;

/// The connections that are open.
#[derive(Default)]
pub(crate) struct DirectConnections {
    keeper: ConnectionKeeper,
    open: Mutex<Vec<OpenConnection>>,
    next: AtomicU64,
}

struct OpenConnection {
    number: u64,
    /// The app's name on the bus.
    app: Arc<str>,
    connection: BusConnection,
    /// The windows the app had before the act.
    windows: WindowSet,
}

impl DirectConnections {
    /// Connections whose copies are with this keeper.
    pub fn with_keeper(keeper: ConnectionKeeper) -> DirectConnections {
        DirectConnections { keeper, ..DirectConnections::default() }
    }

    /// A new connection to an app, at the address it reports, for one act. `windows` are those it has now.
    pub async fn connect(
        self: &Arc<DirectConnections>,
        app: &Arc<str>,
        address: &str,
        windows: WindowSet,
    ) -> zbus::Result<BusConnection> {
        self.close_old(app, &windows);
        let stream = connect(address).await?;
        let number = self.next.fetch_add(1, Relaxed);
        self.keeper.keep(number, stream.as_fd());
        let direct = Arc::downgrade(self);
        let lost = move || {
            if let Some(direct) = direct.upgrade() {
                direct.close(|open| open.number == number);
            }
        };
        let connection =
            BusConnection::connect_to_app(stream, lost).await.inspect_err(|_| self.keeper.release(number))?;
        let open = OpenConnection { number, app: Arc::clone(app), connection: connection.clone(), windows };
        self.open.lock().push(open);
        Ok(connection)
    }

    /// Closes what is known not to be in use by the app any more.
    fn close_old(&self, app: &Arc<str>, windows: &WindowSet) {
        let newest = {
            let open = self.open.lock();
            let mut numbers = open.iter().filter(|open| open.app == *app).map(|open| open.number).rev();
            numbers.nth(MIN_OPEN - 1)
        };
        let Some(newest) = newest else { return };
        self.close(|open| {
            open.app == *app
                && open.number < newest
                && open.connection.is_idle()
                && windows.is_subset(&open.windows)
        });
    }

    fn close(&self, which: impl Fn(&OpenConnection) -> bool) {
        let closed: Vec<OpenConnection> = self.open.lock().extract_if(.., |open| which(open)).collect();
        for open in closed {
            self.keeper.release(open.number);
            debug!(number = open.number, "a connection for acting is closed");
        }
    }
}

/// A connection to an app over which elements are only read, never sent actions: without the bus in between a call takes less than half
/// as long.
pub(crate) struct ReadConnection {
    connection: BusConnection,
    lost: Arc<AtomicBool>,
}

impl ReadConnection {
    /// Connects to an app at the address it reports.
    pub async fn connect(address: &str) -> zbus::Result<ReadConnection> {
        let stream = connect(address).await?;
        let lost = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&lost);
        let connection = BusConnection::connect_to_app(stream, move || flag.store(true, Relaxed)).await?;
        Ok(ReadConnection { connection, lost })
    }

    /// Makes calls. `None`: there is no connection any more.
    pub async fn call_all(
        &self,
        calls: Vec<zbus::Result<Message>>,
    ) -> Option<Result<Vec<BusReply>, Failure>> {
        let answers = self.connection.call_all(calls).await;
        (answers.is_ok() || !self.is_lost()).then_some(answers)
    }

    /// Whether the connection has ended.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Relaxed)
    }
}

/// Connects to a socket by its D-Bus address. Only sockets: an address can also name a program to run.
async fn connect(address: &str) -> zbus::Result<std::os::unix::net::UnixStream> {
    let unsupported = || zbus::Error::Unsupported;
    if address.contains([';', '%']) {
        return Err(unsupported());
    }
    let place = address.strip_prefix("unix:").ok_or_else(unsupported)?;
    let pairs = || place.split(',').filter_map(|pair| pair.split_once('='));
    let value = |key: &str| pairs().find(|(name, _)| *name == key).map(|(_, value)| value);
    let place = match (value("path"), value("abstract")) {
        (Some(path), _) => std::os::unix::net::SocketAddr::from_pathname(path),
        (None, Some(name)) => std::os::unix::net::SocketAddr::from_abstract_name(name),
        (None, None) => return Err(unsupported()),
    };
    let failed = |error: std::io::Error| zbus::Error::from(error);
    let stream = UnixStream::connect_addr(&place.map_err(failed)?.into()).await.map_err(failed)?;
    stream.into_std().map_err(failed)
}
