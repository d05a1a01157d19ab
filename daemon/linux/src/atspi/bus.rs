//! Finding the accessibility bus, turning accessibility on, and what is missing where that cannot be done.

use std::sync::Arc;

use tokio::sync::mpsc;
use tracing::{debug, info, warn};

use crate::app::events::Events;
use crate::atspi::dbus::{Delivery, Link, Sink, bus_call, call, set};
use crate::atspi::protocol::{REGISTRY, ROOT, body};

/// Starts and names the accessibility bus, on the session bus.
pub(crate) const LAUNCHER: &str = "org.a11y.Bus";
pub(crate) const LAUNCHER_PATH: &str = "/org/a11y/bus";
pub(crate) const STATUS: &str = "org.a11y.Status";

/// Why there is no accessibility bus.
#[derive(Debug, thiserror::Error)]
pub enum Missing {
    /// Neither a display nor a session bus leads to it.
    #[error(
        "there is no session bus ({0}), so no way to the apps of a desktop: run axd inside a desktop session, or set DBUS_SESSION_BUS_ADDRESS"
    )]
    SessionBus(String),
    /// The session bus cannot start it.
    #[error("the session bus has no accessibility bus ({0}): install at-spi2-core")]
    AccessibilityBus(String),
    /// It does not let us in.
    #[error("the accessibility bus at {address} cannot be reached: {why}")]
    Unreachable {
        /// Where it should be.
        address: String,
        /// Why not.
        why: String,
    },
}

/// The connections to an accessibility bus.
pub(crate) struct Session {
    /// For calls.
    pub calls: Link,
    /// For what apps announce.
    pub events: Arc<Events>,
}

/// What the bus tells about who is on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Traffic {
    /// The registry has other apps now.
    Apps,
    /// Something happened to a window of the app of this name.
    Window(String),
    /// Nobody has this name any more.
    Left(String),
    /// A registry has started, which knows nothing of what was registered with the one before.
    Registry,
    /// The connection is lost.
    Lost,
}

impl Session {
    /// Connects to the accessibility bus. `told` is the address the display tells, which wins over the session bus.
    /// With `windows`, what happens to windows is told too.
    pub async fn open(
        told: Option<String>,
        windows: bool,
    ) -> Result<(Session, mpsc::UnboundedReceiver<Traffic>), Missing> {
        let address = match told {
            Some(address) => {
                // The bus is there already; accessibility may still have to be turned on.
                if let Ok(session) = Link::session().await {
                    turn_on(&session).await;
                }
                address
            }
            None => ask_launcher().await?,
        };
        debug!(address, "the accessibility bus");
        let unreachable = |fault: &dyn std::fmt::Display| Missing::Unreachable {
            address: address.clone(),
            why: fault.to_string(),
        };
        let (send, traffic) = mpsc::unbounded_channel();
        let sink: Sink = Box::new(move |delivery| report(&delivery, &send));
        let calls = Link::connect(&address, Some(sink)).await.map_err(|fault| unreachable(&fault))?;
        let events = Events::connect(&address).await.map_err(|fault| unreachable(&fault))?;
        let mut rules = vec![
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged'".to_owned(),
            format!("type='signal',sender='{REGISTRY}',path='{ROOT}',member='ChildrenChanged'"),
        ];
        if windows {
            rules.push("type='signal',interface='org.a11y.atspi.Event.Window'".to_owned());
        }
        for rule in rules {
            let added = calls.ask(bus_call("AddMatch", &(rule.as_str(),))).await;
            if let Ok(Err(why)) | Err(axd_platform::Failure { native: why, .. }) = added {
                return Err(unreachable(&why));
            }
        }
        events.register().await.map_err(|failure| unreachable(&failure))?;
        info!("on the accessibility bus");
        Ok((Session { calls, events: Arc::new(events) }, traffic))
    }
}

async fn ask_launcher() -> Result<String, Missing> {
    let from_environment = || std::env::var("AT_SPI_BUS_ADDRESS").ok().filter(|address| !address.is_empty());
    let session = match Link::session().await {
        Ok(session) => session,
        Err(fault) => return from_environment().ok_or_else(|| Missing::SessionBus(fault.to_string())),
    };
    turn_on(&session).await;
    let answer = session.ask(call(LAUNCHER, LAUNCHER_PATH, LAUNCHER, "GetAddress", &())).await;
    let why = match answer {
        Ok(answer) => match body::<String>(&answer).filter(|address| !address.is_empty()) {
            Some(address) => return Ok(address),
            None => answer.err().unwrap_or_else(|| "it has no address".to_owned()),
        },
        Err(failure) => failure.native,
    };
    from_environment().ok_or(Missing::AccessibilityBus(why))
}

/// Tells apps that somebody uses accessibility. Not that a screen reader runs: on GNOME that would start one, so it
/// is said only if asked for.
async fn turn_on(session: &Link) {
    let mut properties = vec!["IsEnabled"];
    if std::env::var_os("AXD_SCREEN_READER").is_some_and(|value| value == "1") {
        properties.push("ScreenReaderEnabled");
    }
    for property in properties {
        let answer = session.ask(set(LAUNCHER, LAUNCHER_PATH, STATUS, property, true)).await;
        if let Ok(Err(why)) | Err(axd_platform::Failure { native: why, .. }) = answer {
            warn!(property, why, "accessibility cannot be turned on; apps that start now may show no tree");
        }
    }
}

fn report(delivery: &Delivery, send: &mpsc::UnboundedSender<Traffic>) {
    let traffic = match delivery {
        Delivery::Lost => Traffic::Lost,
        Delivery::Mark(_) => return,
        Delivery::Signal(message) => {
            let header = message.header();
            let sender = header.sender().map(ToString::to_string).unwrap_or_default();
            if header.interface().is_some_and(|interface| interface.as_str().ends_with("Event.Window")) {
                let _ = send.send(Traffic::Window(sender));
                return;
            }
            match header.member().map(|member| member.as_str()) {
                Some("ChildrenChanged") => Traffic::Apps,
                Some("NameOwnerChanged") => {
                    let body = message.body();
                    match body.deserialize::<(&str, &str, &str)>() {
                        Ok((REGISTRY, _, new)) if !new.is_empty() => Traffic::Registry,
                        Ok((name, _, "")) => Traffic::Left(name.to_owned()),
                        _ => return,
                    }
                }
                _ => return,
            }
        }
    };
    // The desktop may have been dropped already.
    let _ = send.send(traffic);
}
