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

use crate::app::event_queue::{Ear, Hint, Kinds};
use crate::atspi::dbus::{Delivery, Link, Sink, bus_call, call};
use crate::atspi::protocol::{CACHE, REGISTRY, REGISTRY_PATH, ROOT, first_word};
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
pub(crate) struct Events {
    link: Link,
    hall: Arc<Hall>,
}

/// Who listens.
#[derive(Default)]
struct Hall {
    ears: Mutex<HashMap<String, Arc<Ear>>>,
    /// Calls whose answers pass a fence: whose, and its ticket.
    marks: Mutex<HashMap<u64, (Arc<Ear>, u64)>>,
}

impl Events {
    /// Connects to the accessibility bus at this address.
    pub async fn connect(address: &str) -> zbus::Result<Events> {
        let hall = Arc::new(Hall::default());
        let receiver = Arc::clone(&hall);
        let sink: Sink = Box::new(move |delivery| receiver.deliver(delivery));
        Ok(Events { link: Link::connect(address, Some(sink)).await?, hall })
    }

    /// Tells the registry what is listened to, so that apps begin to announce it.
    pub async fn register(&self) -> Result<(), Failure> {
        for kind in KINDS {
            let none: [&str; 0] = [];
            let new = call(REGISTRY, REGISTRY_PATH, REGISTRY, "RegisterEvent", &(kind, &none[..], ""));
            if self.link.ask(new).await?.is_err() {
                let old = call(REGISTRY, REGISTRY_PATH, REGISTRY, "RegisterEvent", &(kind,));
                if let Err(error) = self.link.ask(old).await? {
                    warn!(kind, error, "the registry refuses to register for events");
                }
            }
        }
        Ok(())
    }

    /// Begins to listen to an app. What it announces after this returns is heard.
    pub async fn listen(&self, app: &str, ear: &Arc<Ear>) -> Result<(), Failure> {
        self.hall.ears.lock().insert(app.to_owned(), Arc::clone(ear));
        let rules = rules(app);
        self.link.ask_all(rules.iter().map(|rule| bus_call("AddMatch", &(rule.as_str(),))).collect()).await?;
        Ok(())
    }

    /// Stops listening to an app.
    pub async fn forget(&self, app: &str, ear: &Arc<Ear>) {
        {
            let mut ears = self.hall.ears.lock();
            // It may have been attached anew before this one let go.
            if ears.get(app).is_some_and(|known| Arc::ptr_eq(known, ear)) {
                ears.remove(app);
            }
        }
        // The bus counts equal rules, so this takes back only what this ear asked for.
        let calls = rules(app).iter().map(|rule| bus_call("RemoveMatch", &(rule.as_str(),))).collect();
        if let Err(failure) = self.link.ask_all(calls).await {
            debug!(%failure, "the bus is gone already");
        }
    }

    /// Asks the app for a sign of life on this connection: its answer comes after all it announced before, and then
    /// the fence has been passed.
    pub async fn fence(&self, app: &str, ear: &Arc<Ear>, ticket: u64) {
        let Ok(message) = call(app, ROOT, "org.freedesktop.DBus.Peer", "Ping", &()) else { return };
        let serial = u64::from(message.primary_header().serial_num().get());
        self.hall.marks.lock().insert(serial, (Arc::clone(ear), ticket));
        if !self.link.send(&message).await {
            self.hall.marks.lock().remove(&serial);
        }
    }
}

fn rules(app: &str) -> Vec<String> {
    let object = MEMBERS
        .iter()
        .map(|member| format!("type='signal',sender='{app}',interface='{OBJECT}',member='{member}'"));
    let whole = [WINDOW, DOCUMENT, CACHE]
        .map(|interface| format!("type='signal',sender='{app}',interface='{interface}'"));
    object.chain(whole).collect()
}

impl Hall {
    fn deliver(&self, delivery: Delivery) {
        match delivery {
            Delivery::Signal(message) => self.hear(&message),
            Delivery::Mark(serial) => {
                if let Some((ear, ticket)) = self.marks.lock().remove(&serial) {
                    ear.pass(ticket);
                }
            }
            Delivery::Lost => {
                self.marks.lock().clear();
                self.ears.lock().values().for_each(|ear| ear.lose());
            }
        }
    }

    fn hear(&self, message: &Message) {
        let header = message.header();
        let (Some(sender), Some(path), Some(interface), Some(member)) =
            (header.sender(), header.path(), header.interface(), header.member())
        else {
            return;
        };
        let Some(ear) = self.ears.lock().get(sender.as_str()).cloned() else { return };
        trace!(app = sender.as_str(), path = path.as_str(), member = member.as_str(), "heard");
        let (path, member) = (path.as_str(), member.as_str());
        match (interface.as_str(), member) {
            (OBJECT, "Announcement") => said(message).into_iter().for_each(|text| ear.say(text)),
            (OBJECT, "StateChanged") => {
                let kinds = match first_word(message).as_str() {
                    "focused" if first_number(message) == Some(1) => {
                        Kinds::STATES | Kinds::FOCUS | Kinds::TOOK
                    }
                    "focused" => Kinds::STATES | Kinds::FOCUS,
                    "defunct" => Kinds::GONE,
                    "sensitive" | "enabled" => Kinds::STATES | Kinds::BELOW,
                    "showing" | "visible" => Kinds::STATES | Kinds::SHOWN,
                    _ => Kinds::STATES,
                };
                ear.hear(path, kinds);
            }
            (OBJECT, "PropertyChange") => {
                let kinds = match first_word(message).as_str() {
                    "accessible-parent" => Kinds::GONE,
                    "accessible-name" => {
                        return ear.hear(
                            path,
                            Hint {
                                kinds: Kinds::NAME,
                                name: said(message).filter(|name| !name.trim().is_empty()),
                                took: 0,
                            },
                        );
                    }
                    "accessible-description" => Kinds::DESCRIPTION,
                    "accessible-value" => Kinds::NUMBER,
                    _ => Kinds::FACTS,
                };
                ear.hear(path, kinds);
            }
            (OBJECT, "TextChanged") => ear.hear(path, Kinds::TEXT),
            (OBJECT, "VisibleDataChanged") => ear.hear(path, Kinds::LOOKS),
            (OBJECT, "AttributesChanged") => ear.hear(path, Kinds::FACTS),
            (OBJECT, "SelectionChanged") => ear.hear(path, Kinds::SELECTION),
            (OBJECT, "ActiveDescendantChanged") => {
                // Who has a current item has the focus, if it says so at all. Where the item says so too, it is the item's.
                ear.hear(path, Kinds::SELECTION | Kinds::TOOK);
                let kinds = Kinds::FACTS | Kinds::FOCUS | Kinds::TOOK | Kinds::ITEM;
                subject(message).into_iter().for_each(|path| ear.hear(&path, kinds));
            }
            (OBJECT, _) => ear.hear(path, Kinds::CHILDREN),
            (WINDOW, _) => ear.hear(path, Kinds::WINDOW),
            (DOCUMENT, _) => ear.hear(path, Kinds::SUBTREE),
            // The cache's signals come from one path and name the element.
            (CACHE, "AddAccessible") => {
                parent(message).into_iter().for_each(|path| ear.hear(&path, Kinds::CHILDREN))
            }
            (CACHE, "RemoveAccessible") => {
                removed(message).into_iter().for_each(|path| ear.hear(&path, Kinds::GONE));
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
