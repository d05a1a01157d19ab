//! Finds the accessibility bus, enables accessibility, and says what is missing where that fails.

use std::sync::Arc;

use tokio::sync::mpsc;
use tracing::{debug, info, warn};

use crate::app::events::EventConnection;
use crate::atspi::dbus::{BusConnection, Delivery, DeliveryHandler, bus_call, call, set};
use crate::atspi::protocol::{REGISTRY, ROOT, body};

/// Starts and names the accessibility bus, on the session bus.
pub(crate) const LAUNCHER: &str = "org.a11y.Bus";
pub(crate) const LAUNCHER_PATH: &str = "/org/a11y/bus";
pub(crate) const STATUS: &str = "org.a11y.Status";

/// Why there is no accessibility bus.
#[derive(Debug, thiserror::Error)]
pub enum BusUnavailable {
    /// Neither a display nor a session bus leads to it.
    #[error(
        "no session bus is available ({0}): run axd inside a desktop session, or set DBUS_SESSION_BUS_ADDRESS"
    )]
    SessionBus(String),
    /// The session bus cannot start it.
    #[error("the session bus has no accessibility bus ({0}): install at-spi2-core")]
    AccessibilityBus(String),
    /// It refuses the connection.
    #[error("the accessibility bus at {address} cannot be reached: {why}")]
    Unreachable {
        /// Where it should be.
        address: String,
        /// Why not.
        why: String,
    },
}

/// The connections to an accessibility bus.
pub(crate) struct BusSession {
    /// For calls.
    pub calls: BusConnection,
    /// For the events of apps.
    pub events: Arc<EventConnection>,
}

/// What the bus announces of the apps on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BusEvent {
    /// The registry's list of apps changed.
    AppsChanged,
    /// A window of the app with this bus name changed.
    WindowChanged(String),
    /// No app has this bus name any more.
    NameLost(String),
    /// A registry has started, which knows nothing of what was registered with the one before.
    RegistryStarted,
    /// The connection is lost.
    Disconnected,
}

impl BusSession {
    /// Connects to the accessibility bus. `display_address` is the address that the display names, which wins over the session
    /// bus. With `windows`, changes of windows are reported too.
    pub async fn open(
        display_address: Option<String>,
        windows: bool,
    ) -> Result<(BusSession, mpsc::UnboundedReceiver<BusEvent>), BusUnavailable> {
        let address = match display_address {
            Some(address) => {
                // The bus is there already; accessibility may still have to be turned on.
                if let Ok(session) = BusConnection::session().await {
                    enable_accessibility(&session).await;
                }
                address
            }
            None => find_address().await?,
        };
        debug!(address, "the accessibility bus");
        let unreachable = |error: &dyn std::fmt::Display| BusUnavailable::Unreachable {
            address: address.clone(),
            why: error.to_string(),
        };
        let (send, event) = mpsc::unbounded_channel();
        let sink: DeliveryHandler = Box::new(move |delivery| forward(&delivery, &send));
        let calls =
            BusConnection::connect(&address, Some(sink)).await.map_err(|error| unreachable(&error))?;
        let events = EventConnection::connect(&address).await.map_err(|error| unreachable(&error))?;
        let mut rules = vec![
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged'".to_owned(),
            format!("type='signal',sender='{REGISTRY}',path='{ROOT}',member='ChildrenChanged'"),
        ];
        if windows {
            rules.push("type='signal',interface='org.a11y.atspi.Event.Window'".to_owned());
        }
        for rule in rules {
            let added = calls.call(bus_call("AddMatch", &(rule.as_str(),))).await;
            if let Ok(Err(why)) | Err(axd_platform::Failure { native: why, .. }) = added {
                return Err(unreachable(&why));
            }
        }
        events.register().await.map_err(|failure| unreachable(&failure))?;
        info!("on the accessibility bus");
        Ok((BusSession { calls, events: Arc::new(events) }, event))
    }
}

async fn find_address() -> Result<String, BusUnavailable> {
    let from_environment = || std::env::var("AT_SPI_BUS_ADDRESS").ok().filter(|address| !address.is_empty());
    let session = match BusConnection::session().await {
        Ok(session) => session,
        Err(error) => return from_environment().ok_or_else(|| BusUnavailable::SessionBus(error.to_string())),
    };
    enable_accessibility(&session).await;
    let answer = session.call(call(LAUNCHER, LAUNCHER_PATH, LAUNCHER, "GetAddress", &())).await;
    let why = match answer {
        Ok(answer) => match body::<String>(&answer).filter(|address| !address.is_empty()) {
            Some(address) => return Ok(address),
            None => answer.err().unwrap_or_else(|| "it has no address".to_owned()),
        },
        Err(failure) => failure.native,
    };
    from_environment().ok_or(BusUnavailable::AccessibilityBus(why))
}

/// Tells apps that accessibility is in use. Not that a screen reader runs, unless `AXD_SCREEN_READER=1`: on GNOME that
/// would start one.
async fn enable_accessibility(session: &BusConnection) {
    let mut properties = vec!["IsEnabled"];
    if std::env::var_os("AXD_SCREEN_READER").is_some_and(|value| value == "1") {
        properties.push("ScreenReaderEnabled");
    }
    for property in properties {
        let answer = session.call(set(LAUNCHER, LAUNCHER_PATH, STATUS, property, true)).await;
        if let Ok(Err(why)) | Err(axd_platform::Failure { native: why, .. }) = answer {
            warn!(property, why, "accessibility cannot be turned on; apps that start now may show no tree");
        }
    }
}

fn forward(delivery: &Delivery, send: &mpsc::UnboundedSender<BusEvent>) {
    let event = match delivery {
        Delivery::Closed => BusEvent::Disconnected,
        Delivery::FenceReply(_) => return,
        Delivery::Signal(message) => {
            let header = message.header();
            let sender = header.sender().map(ToString::to_string).unwrap_or_default();
            if header.interface().is_some_and(|interface| interface.as_str().ends_with("Event.Window")) {
                let _ = send.send(BusEvent::WindowChanged(sender));
                return;
            }
            match header.member().map(|member| member.as_str()) {
                Some("ChildrenChanged") => BusEvent::AppsChanged,
                Some("NameOwnerChanged") => {
                    let body = message.body();
                    match body.deserialize::<(&str, &str, &str)>() {
                        Ok((REGISTRY, _, new)) if !new.is_empty() => BusEvent::RegistryStarted,
                        Ok((name, _, "")) => BusEvent::NameLost(name.to_owned()),
                        _ => return,
                    }
                }
                _ => return,
            }
        }
    };
    // The desktop may have been dropped already.
    let _ = send.send(event);
}
