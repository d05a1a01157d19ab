//! What apps announce: one connection for all of them, on which nothing waits, handing each app's events to its ear.
//!
//! Events are registered for by kind, never `object:` as a whole: that brings hundreds of moved bounds a second,
//! which are not content. Their bodies come in two shapes, but since events are only hints, hardly anything but
//! their first word is ever read.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tracing::{debug, trace, warn};
use zbus::{Message, Structure, Variant};

use crate::app::event_queue::{Change, ChangeKinds, EventQueue};
use crate::atspi::dbus::{BusConnection, Delivery, DeliveryHandler, bus_call, call};
use crate::atspi::protocol::{CACHE, REGISTRY, REGISTRY_PATH, ROOT, event_detail};
use axd_platform::Failure;

const OBJECT: &str = "org.a11y.atspi.Event.Object";
const WINDOW: &str = "org.a11y.atspi.Event.Window";
const DOCUMENT: &str = "org.a11y.atspi.Event.Document";

/// What the registry is told that somebody listens to.
const KINDS: [&str; 18] = [
    "object:children-changed",
    "object:state-changed",
    "object:property-change",
    "object:text-changed",
    "object:selection-changed",
    "object:active-descendant-changed",
    "object:visible-data-changed",
    "object:model-changed",
    "object:row-inserted",
    "object:row-deleted",
    "object:row-reordered",
    "object:column-inserted",
    "object:column-deleted",
    "object:announcement",
    "document:load-complete",
    "document:reload",
    "window",
    "object:attributes-changed",
];

/// What the bus is asked to deliver of an app's events; the same kinds, by their names on the bus.
const MEMBERS: [&str; 13] = [
    "ChildrenChanged",
    "StateChanged",
    "PropertyChange",
    "TextChanged",
    "SelectionChanged",
    "ActiveDescendantChanged",
    "VisibleDataChanged",
    "ModelChanged",
    "RowInserted",
    "RowDeleted",
    "RowReordered",
    "ColumnInserted",
    "Announcement",
];

/// The connection that events come over.
pub(crate) struct EventConnection {
    connection: BusConnection,
    router: Arc<EventRouter>,
}

/// Who listens.
#[derive(Default)]
struct EventRouter {
    queues: Mutex<HashMap<String, Arc<EventQueue>>>,
    /// Calls whose answers pass a fence: whose, and its ticket.
    fences: Mutex<HashMap<u64, (Arc<EventQueue>, u64)>>,
}

impl EventConnection {
    /// Connects to the accessibility bus at this address.
    pub async fn connect(address: &str) -> zbus::Result<EventConnection> {
        let hall = Arc::new(EventRouter::default());
        let receiver = Arc::clone(&hall);
        let sink: DeliveryHandler = Box::new(move |delivery| receiver.deliver(delivery));
        Ok(EventConnection { connection: BusConnection::connect(address, Some(sink)).await?, router: hall })
    }

    /// Tells the registry what is listened to, so that apps begin to announce it.
    pub async fn register(&self) -> Result<(), Failure> {
        for kind in KINDS {
            let none: [&str; 0] = [];
            let new = call(REGISTRY, REGISTRY_PATH, REGISTRY, "RegisterEvent", &(kind, &none[..], ""));
            if self.connection.call(new).await?.is_err() {
                let old = call(REGISTRY, REGISTRY_PATH, REGISTRY, "RegisterEvent", &(kind,));
                if let Err(error) = self.connection.call(old).await? {
                    warn!(kind, error, "the registry refuses to register for events");
                }
            }
        }
        Ok(())
    }

    /// Begins to listen to an app. What it announces after this returns is heard.
    pub async fn subscribe(&self, app: &str, queue: &Arc<EventQueue>) -> Result<(), Failure> {
        self.router.queues.lock().insert(app.to_owned(), Arc::clone(queue));
        let rules = match_rules(app);
        self.connection
            .call_all(rules.iter().map(|rule| bus_call("AddMatch", &(rule.as_str(),))).collect())
            .await?;
        Ok(())
    }

    /// Stops listening to an app.
    pub async fn unsubscribe(&self, app: &str, queue: &Arc<EventQueue>) {
        {
            let mut ears = self.router.queues.lock();
            // It may have been attached anew before this one let go.
            if ears.get(app).is_some_and(|known| Arc::ptr_eq(known, queue)) {
                ears.remove(app);
            }
        }
        // The bus counts equal rules, so this takes back only what this ear asked for.
        let calls = match_rules(app).iter().map(|rule| bus_call("RemoveMatch", &(rule.as_str(),))).collect();
        if let Err(failure) = self.connection.call_all(calls).await {
            debug!(%failure, "the bus is gone already");
        }
    }

    /// Asks the app for a sign of life on this connection: its answer comes after all it announced before, and then
    /// the fence has been passed.
    pub async fn send_fence(&self, app: &str, queue: &Arc<EventQueue>, ticket: u64) {
        let Ok(message) = call(app, ROOT, "org.freedesktop.DBus.Peer", "Ping", &()) else { return };
        let serial = u64::from(message.primary_header().serial_num().get());
        self.router.fences.lock().insert(serial, (Arc::clone(queue), ticket));
        if !self.connection.send(&message).await {
            self.router.fences.lock().remove(&serial);
        }
    }
}

fn match_rules(app: &str) -> Vec<String> {
    let object = MEMBERS
        .iter()
        .map(|member| format!("type='signal',sender='{app}',interface='{OBJECT}',member='{member}'"));
    let whole = [WINDOW, DOCUMENT, CACHE]
        .map(|interface| format!("type='signal',sender='{app}',interface='{interface}'"));
    object.chain(whole).collect()
}

impl EventRouter {
    fn deliver(&self, delivery: Delivery) {
        match delivery {
            Delivery::Signal(message) => self.route(&message),
            Delivery::FenceReply(serial) => {
                if let Some((queue, ticket)) = self.fences.lock().remove(&serial) {
                    queue.pass_fence(ticket);
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
        let (Some(sender), Some(path), Some(interface), Some(member)) =
            (header.sender(), header.path(), header.interface(), header.member())
        else {
            return;
        };
        let Some(queue) = self.queues.lock().get(sender.as_str()).cloned() else { return };
        trace!(app = sender.as_str(), path = path.as_str(), member = member.as_str(), "heard");
        let (path, member) = (path.as_str(), member.as_str());
        match (interface.as_str(), member) {
            (OBJECT, "Announcement") => {
                said(message).into_iter().for_each(|text| queue.push_announcement(text))
            }
            (OBJECT, "StateChanged") => {
                let kinds = match event_detail(message).as_str() {
                    "focused" if first_number(message) == Some(1) => {
                        ChangeKinds::STATES | ChangeKinds::FOCUS | ChangeKinds::FOCUS_GAINED
                    }
                    "focused" => ChangeKinds::STATES | ChangeKinds::FOCUS,
                    "defunct" => ChangeKinds::GONE,
                    "sensitive" | "enabled" => ChangeKinds::STATES | ChangeKinds::SENSITIVITY,
                    "showing" | "visible" => ChangeKinds::STATES | ChangeKinds::VISIBILITY,
                    _ => ChangeKinds::STATES,
                };
                queue.push(path, kinds);
            }
            (OBJECT, "PropertyChange") => {
                let kinds = match event_detail(message).as_str() {
                    "accessible-parent" => ChangeKinds::GONE,
                    "accessible-name" => {
                        return queue.push(
                            path,
                            Change {
                                kinds: ChangeKinds::NAME,
                                name: said(message).filter(|name| !name.trim().is_empty()),
                                focus_order: 0,
                            },
                        );
                    }
                    "accessible-description" => ChangeKinds::DESCRIPTION,
                    "accessible-value" => ChangeKinds::VALUE,
                    _ => ChangeKinds::FACTS,
                };
                queue.push(path, kinds);
            }
            (OBJECT, "TextChanged") => queue.push(path, ChangeKinds::TEXT),
            (OBJECT, "VisibleDataChanged") => queue.push(path, ChangeKinds::VISIBLE_DATA),
            (OBJECT, "AttributesChanged") => queue.push(path, ChangeKinds::FACTS),
            (OBJECT, "SelectionChanged") => queue.push(path, ChangeKinds::SELECTION),
            (OBJECT, "ActiveDescendantChanged") => {
                // Who has a current item has the focus, if it says so at all. Where the item says so too, it is the item's.
                queue.push(path, ChangeKinds::SELECTION | ChangeKinds::FOCUS_GAINED);
                let kinds = ChangeKinds::FACTS
                    | ChangeKinds::FOCUS
                    | ChangeKinds::FOCUS_GAINED
                    | ChangeKinds::CURRENT_ITEM;
                subject(message).into_iter().for_each(|path| queue.push(&path, kinds));
            }
            (OBJECT, _) => queue.push(path, ChangeKinds::CHILDREN),
            (WINDOW, _) => queue.push(path, ChangeKinds::WINDOW),
            (DOCUMENT, _) => queue.push(path, ChangeKinds::SUBTREE),
            // The cache's signals come from one path and name the element.
            (CACHE, "AddAccessible") => {
                parent(message).into_iter().for_each(|path| queue.push(&path, ChangeKinds::CHILDREN))
            }
            (CACHE, "RemoveAccessible") => {
                removed(message).into_iter().for_each(|path| queue.push(&path, ChangeKinds::GONE));
            }
            _ => {}
        }
    }
}

/// The first number of an event: of a state, whether it is on.
fn first_number(message: &Message) -> Option<i32> {
    let body = message.body();
    let body: Structure<'_> = body.deserialize().ok()?;
    match body.fields().get(1)? {
        Variant::I32(number) => Some(*number),
        _ => None,
    }
}

/// The text that an event carries: what is announced, or what something is called now.
fn said(message: &Message) -> Option<String> {
    match payload(message)? {
        Variant::Str(text) => Some(text.as_str().to_owned()).filter(|text| !text.is_empty()),
        _ => None,
    }
}

/// The element an event names beside the one it is about.
fn subject(message: &Message) -> Option<String> {
    match payload(message)? {
        Variant::Structure(fields) => path_in(fields.fields()),
        _ => None,
    }
}

/// The variant that both shapes of an event's body have in the same place.
fn payload(message: &Message) -> Option<Variant<'static>> {
    let body = message.body();
    let body: Structure<'_> = body.deserialize().ok()?;
    match body.fields().get(3)? {
        Variant::Variant(value) => value.try_to_owned().ok().map(Into::into),
        value => value.try_to_owned().ok().map(Into::into),
    }
}

fn path_in(fields: &[Variant<'_>]) -> Option<String> {
    match fields.get(1)? {
        Variant::ObjectPath(path) => Some(path.as_str().to_owned()),
        _ => None,
    }
}

/// The parent of an element that was added to an app's cache.
fn parent(message: &Message) -> Option<String> {
    let body = message.body();
    let body: Structure<'_> = body.deserialize().ok()?;
    match body.fields() {
        [Variant::Structure(item)] => item_parent(item.fields()),
        fields => item_parent(fields),
    }
}

fn item_parent(fields: &[Variant<'_>]) -> Option<String> {
    match fields.get(2)? {
        Variant::Structure(parent) => path_in(parent.fields()),
        _ => None,
    }
}

/// The element that was removed from an app's cache.
fn removed(message: &Message) -> Option<String> {
    let body = message.body();
    let body: Structure<'_> = body.deserialize().ok()?;
    match body.fields() {
        [Variant::Structure(element)] => path_in(element.fields()),
        fields => path_in(fields),
    }
}
