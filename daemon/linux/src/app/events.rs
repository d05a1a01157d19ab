//! The connection that the events of all apps come over. Nothing on it ever waits: each signal goes straight into the event queue
//! of its app.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tracing::{debug, trace, warn};
use zbus::Message;

use crate::app::event_queue::EventQueue;
use crate::app::event_table::{match_rules, queue_event, registrations};
use crate::atspi::dbus::{BusConnection, Delivery, DeliveryHandler, bus_call, call};
use crate::atspi::protocol::{REGISTRY, REGISTRY_PATH, ROOT};
use axd_platform::Failure;

/// The connection that events come over.
pub(crate) struct EventConnection {
    connection: BusConnection,
    router: Arc<EventRouter>,
}

/// Hands each app's events to its queue.
#[derive(Default)]
struct EventRouter {
    queues: Mutex<HashMap<String, Arc<EventQueue>>>,
    /// Calls whose replies pass a fence, by serial number: the app's queue, and the fence's mark.
    fences: Mutex<HashMap<u64, (Arc<EventQueue>, u64)>>,
}

impl EventConnection {
    /// Connects to the accessibility bus at this address.
    pub async fn connect(address: &str) -> zbus::Result<EventConnection> {
        let router = Arc::new(EventRouter::default());
        let receiver = Arc::clone(&router);
        let sink: DeliveryHandler = Box::new(move |delivery| receiver.deliver(delivery));
        Ok(EventConnection { connection: BusConnection::connect(address, Some(sink)).await?, router })
    }

    /// Registers for all events with the registry, so that apps begin to send them.
    pub async fn register(&self) -> Result<(), Failure> {
        for event in registrations() {
            let none: [&str; 0] = [];
            let new = call(REGISTRY, REGISTRY_PATH, REGISTRY, "RegisterEvent", &(event, &none[..], ""));
            if self.connection.call(new).await?.is_err() {
                let old = call(REGISTRY, REGISTRY_PATH, REGISTRY, "RegisterEvent", &(event,));
                if let Err(error) = self.connection.call(old).await? {
                    warn!(event, error, "the registry refuses to register for events");
                }
            }
        }
        Ok(())
    }

    /// Subscribes to the events of an app: those that it sends after this returns arrive in the queue.
    pub async fn subscribe(&self, app: &str, queue: &Arc<EventQueue>) -> Result<(), Failure> {
        self.router.queues.lock().insert(app.to_owned(), Arc::clone(queue));
        let rules = match_rules(app);
        self.connection
            .call_all(rules.iter().map(|rule| bus_call("AddMatch", &(rule.as_str(),))).collect())
            .await?;
        Ok(())
    }

    /// Ends the subscription to an app.
    pub async fn unsubscribe(&self, app: &str, queue: &Arc<EventQueue>) {
        {
            let mut queues = self.router.queues.lock();
            // The app may have been attached again already.
            if queues.get(app).is_some_and(|known| Arc::ptr_eq(known, queue)) {
                queues.remove(app);
            }
        }
        // The bus counts equal rules, so this removes only those of this subscription.
        let calls = match_rules(app).iter().map(|rule| bus_call("RemoveMatch", &(rule.as_str(),))).collect();
        if let Err(failure) = self.connection.call_all(calls).await {
            debug!(%failure, "the bus is gone already");
        }
    }

    /// Pings the app over this connection: the reply comes after all events that it sent before, and then the fence has been
    /// passed.
    pub async fn send_fence(&self, app: &str, queue: &Arc<EventQueue>, mark: u64) {
        let Ok(message) = call(app, ROOT, "org.freedesktop.DBus.Peer", "Ping", &()) else { return };
        let serial = u64::from(message.primary_header().serial_num().get());
        self.router.fences.lock().insert(serial, (Arc::clone(queue), mark));
        if !self.connection.send(&message).await {
            self.router.fences.lock().remove(&serial);
        }
    }
}

impl EventRouter {
    fn deliver(&self, delivery: Delivery) {
        match delivery {
            Delivery::Signal(message) => self.route(&message),
            Delivery::FenceReply(serial) => {
                if let Some((queue, mark)) = self.fences.lock().remove(&serial) {
                    queue.pass_fence(mark);
                }
            }
            Delivery::Closed => {
                self.fences.lock().clear();
                self.queues.lock().values().for_each(|queue| queue.close());
            }
        }
    }

    fn route(&self, message: &Message) {
        let header = message.header();
        let Some(sender) = header.sender() else { return };
        let Some(queue) = self.queues.lock().get(sender.as_str()).cloned() else { return };
        trace!(app = sender.as_str(), path = ?header.path(), member = ?header.member(), "event");
        queue_event(message, &queue);
    }
}
