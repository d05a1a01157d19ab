//! The events that axd receives: one table, from which the registrations with the AT-SPI registry, the match rules on the bus,
//! and the meaning of each signal follow.
//!
//! Events are registered for one by one, never `object:` as a whole: that brings hundreds of moved bounds a second, which are
//! not content. Bodies come in two shapes, but since events are only hints, hardly anything but their detail is read.

use zbus::{Message, Structure, Variant};

use crate::app::event_queue::{Change, ChangeKinds, EventQueue};
use crate::atspi::protocol::{CACHE, event_detail};

const OBJECT: &str = "org.a11y.atspi.Event.Object";
const WINDOW: &str = "org.a11y.atspi.Event.Window";
const DOCUMENT: &str = "org.a11y.atspi.Event.Document";

/// One kind of event.
#[derive(Debug)]
pub(crate) struct EventSpec {
    /// Its name in the registry. The signals of caches have none: they are sent in any case.
    registry: Option<&'static str>,
    interface: &'static str,
    /// Its signal; `None` for every signal of the interface.
    member: Option<&'static str>,
    /// What changed.
    kinds: ChangeKinds,
    /// What is read of its body.
    body: Body,
}

/// What is read of an event's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    /// Nothing: the kinds are those of the element that sent it.
    Unread,
    /// The name of a state, which may mean more than that the states changed.
    State,
    /// The name of a property, which says what changed.
    Property,
    /// The active descendant, which changed too.
    ActiveDescendant,
    /// A text for screen readers; no element changed.
    Announcement,
    /// An element that was added to the cache: its parent changed.
    Added,
    /// An element that was removed from the cache.
    Removed,
}

#[cfg(feature = "fuzz")]
impl EventSpec {
    /// Its interface and its signal, or one of the interface.
    pub fn signal(&self) -> (&'static str, &'static str) {
        (self.interface, self.member.unwrap_or("Activate"))
    }
}

/// An event that the registry knows.
const fn event(
    registry: &'static str,
    interface: &'static str,
    member: &'static str,
    kinds: ChangeKinds,
    body: Body,
) -> EventSpec {
    EventSpec { registry: Some(registry), interface, member: Some(member), kinds, body }
}

const CHILDREN: ChangeKinds = ChangeKinds::CHILDREN;
/// A container with an active descendant has the focus, if it claims it at all; where the descendant claims it too, that has it.
const ACTIVE: ChangeKinds = ChangeKinds::SELECTION.with(ChangeKinds::FOCUS_GAINED);
const NOTHING: ChangeKinds = ChangeKinds::NONE;

/// Every event that axd receives.
pub(crate) const EVENTS: [EventSpec; 20] = [
    event("object:children-changed", OBJECT, "ChildrenChanged", CHILDREN, Body::Unread),
    event("object:state-changed", OBJECT, "StateChanged", ChangeKinds::STATES, Body::State),
    event("object:property-change", OBJECT, "PropertyChange", ChangeKinds::FACTS, Body::Property),
    event("object:text-changed", OBJECT, "TextChanged", ChangeKinds::TEXT, Body::Unread),
    event("object:attributes-changed", OBJECT, "AttributesChanged", ChangeKinds::FACTS, Body::Unread),
    event("object:selection-changed", OBJECT, "SelectionChanged", ChangeKinds::SELECTION, Body::Unread),
    event(
        "object:active-descendant-changed",
        OBJECT,
        "ActiveDescendantChanged",
        ACTIVE,
        Body::ActiveDescendant,
    ),
    event(
        "object:visible-data-changed",
        OBJECT,
        "VisibleDataChanged",
        ChangeKinds::VISIBLE_DATA,
        Body::Unread,
    ),
    event("object:model-changed", OBJECT, "ModelChanged", CHILDREN, Body::Unread),
    event("object:row-inserted", OBJECT, "RowInserted", CHILDREN, Body::Unread),
    event("object:row-deleted", OBJECT, "RowDeleted", CHILDREN, Body::Unread),
    event("object:row-reordered", OBJECT, "RowReordered", CHILDREN, Body::Unread),
    event("object:column-inserted", OBJECT, "ColumnInserted", CHILDREN, Body::Unread),
    event("object:column-deleted", OBJECT, "ColumnDeleted", CHILDREN, Body::Unread),
    event("object:announcement", OBJECT, "Announcement", NOTHING, Body::Announcement),
    event("document:load-complete", DOCUMENT, "LoadComplete", ChangeKinds::SUBTREE, Body::Unread),
    event("document:reload", DOCUMENT, "Reload", ChangeKinds::SUBTREE, Body::Unread),
    EventSpec {
        registry: Some("window"),
        interface: WINDOW,
        member: None,
        kinds: ChangeKinds::WINDOW,
        body: Body::Unread,
    },
    // The cache's signals come from one path and carry the element.
    EventSpec {
        registry: None,
        interface: CACHE,
        member: Some("AddAccessible"),
        kinds: CHILDREN,
        body: Body::Added,
    },
    EventSpec {
        registry: None,
        interface: CACHE,
        member: Some("RemoveAccessible"),
        kinds: ChangeKinds::GONE,
        body: Body::Removed,
    },
];

/// The names to register with the registry, so that apps send these events.
pub(crate) fn registrations() -> impl Iterator<Item = &'static str> {
    EVENTS.iter().filter_map(|event| event.registry)
}

/// The rules by which the bus delivers the events of an app.
pub(crate) fn match_rules(app: &str) -> Vec<String> {
    let rule = |event: &EventSpec| {
        let member = event.member.map(|member| format!(",member='{member}'")).unwrap_or_default();
        format!("type='signal',sender='{app}',interface='{}'{member}", event.interface)
    };
    EVENTS.iter().map(rule).collect()
}

/// Adds what a signal of an app announces to its queue. False if it is none of [`EVENTS`].
pub(crate) fn queue_event(message: &Message, queue: &EventQueue) -> bool {
    let header = message.header();
    let (Some(path), Some(interface), Some(member)) = (header.path(), header.interface(), header.member())
    else {
        return false;
    };
    let is_this = |event: &&EventSpec| {
        event.member.is_none_or(|name| name == member.as_str()) && event.interface == interface.as_str()
    };
    let Some(event) = EVENTS.iter().find(is_this) else { return false };
    let path = path.as_str();
    match event.body {
        Body::Unread => queue.push(path, event.kinds),
        Body::State => queue.push(path, state_kinds(message, event.kinds)),
        Body::Property => queue.push(path, property_change(message, event.kinds)),
        Body::ActiveDescendant => {
            queue.push(path, event.kinds);
            let kinds = ChangeKinds::FACTS
                | ChangeKinds::FOCUS
                | ChangeKinds::FOCUS_GAINED
                | ChangeKinds::CURRENT_ITEM;
            element_payload(message).into_iter().for_each(|path| queue.push(&path, kinds));
        }
        Body::Announcement => {
            text_payload(message).into_iter().for_each(|text| queue.push_announcement(text))
        }
        Body::Added => added_parent(message).into_iter().for_each(|path| queue.push(&path, event.kinds)),
        Body::Removed => removed_element(message).into_iter().for_each(|path| queue.push(&path, event.kinds)),
    }
    true
}

/// What the change of a state means.
fn state_kinds(message: &Message, kinds: ChangeKinds) -> ChangeKinds {
    match event_detail(message).as_str() {
        "focused" if first_number(message) == Some(1) => {
            kinds | ChangeKinds::FOCUS | ChangeKinds::FOCUS_GAINED
        }
        "focused" => kinds | ChangeKinds::FOCUS,
        "defunct" => ChangeKinds::GONE,
        "sensitive" | "enabled" => kinds | ChangeKinds::SENSITIVITY,
        "showing" | "visible" => kinds | ChangeKinds::VISIBILITY,
        _ => kinds,
    }
}

/// What the change of a property means.
fn property_change(message: &Message, kinds: ChangeKinds) -> Change {
    let kinds = match event_detail(message).as_str() {
        "accessible-parent" => ChangeKinds::GONE,
        "accessible-name" => {
            let name = text_payload(message).filter(|name| !name.trim().is_empty());
            return Change { kinds: ChangeKinds::NAME, name, focus_order: 0 };
        }
        "accessible-description" => ChangeKinds::DESCRIPTION,
        "accessible-value" => ChangeKinds::VALUE,
        _ => kinds,
    };
    kinds.into()
}

/// The second argument of an event: of a state, whether it was set.
fn first_number(message: &Message) -> Option<i32> {
    let body = message.body();
    let body: Structure<'_> = body.deserialize().ok()?;
    match body.fields().get(1)? {
        Variant::I32(number) => Some(*number),
        _ => None,
    }
}

/// The text that an event carries: an announcement, or a new name.
fn text_payload(message: &Message) -> Option<String> {
    match payload(message)? {
        Variant::Str(text) => Some(text.as_str().to_owned()).filter(|text| !text.is_empty()),
        _ => None,
    }
}

/// The element that an event carries beside the one that sent it.
fn element_payload(message: &Message) -> Option<String> {
    match payload(message)? {
        Variant::Structure(fields) => path_in(fields.fields()),
        _ => None,
    }
}

/// The variant that an event carries; it has the same place in both shapes of the body.
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
fn added_parent(message: &Message) -> Option<String> {
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
fn removed_element(message: &Message) -> Option<String> {
    let body = message.body();
    let body: Structure<'_> = body.deserialize().ok()?;
    match body.fields() {
        [Variant::Structure(element)] => path_in(element.fields()),
        fields => path_in(fields),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use zbus::ObjectPath;

    use super::*;

    const APP: &str = ":1.5";

    /// A signal of the element `/sender`, with a body as AT-SPI's events have it.
    fn signal(interface: &str, member: &str, detail: &str, number: i32, payload: Variant<'_>) -> Message {
        let properties: HashMap<&str, Variant<'_>> = HashMap::new();
        let body = (detail, number, 0, payload, properties);
        Message::signal("/sender", interface, member).sender(APP).build(&body).unwrap()
    }

    fn element(path: &str) -> (&str, ObjectPath<'_>) {
        (APP, ObjectPath::try_from(path).unwrap())
    }

    /// A signal of each body, and the element that it is about.
    fn example(event: &EventSpec) -> (Message, &'static str) {
        let (interface, member) = (event.interface, event.member.unwrap_or("Activate"));
        let build = |body: &(_, _, _, i32, i32)| {
            Message::signal("/cache", interface, member).sender(APP).build(&(body,)).unwrap()
        };
        match event.body {
            Body::Added => (build(&(element("/new"), element("/root"), element("/parent"), 0, 0)), "/parent"),
            Body::Removed => {
                let builder = Message::signal("/cache", interface, member).sender(APP);
                (builder.build(&(element("/old"),)).unwrap(), "/old")
            }
            _ => (signal(interface, member, "", 0, Variant::from("text")), "/sender"),
        }
    }

    /// What a signal adds to a queue.
    fn queued(message: &Message) -> HashMap<String, Change> {
        let queue = EventQueue::default();
        assert!(queue_event(message, &queue));
        queue.take().changes
    }

    #[test]
    fn every_event_is_registered_for_matched_and_parsed() {
        let rules = match_rules(APP);
        assert_eq!(rules.len(), EVENTS.len(), "a rule that is not of the table");
        assert_eq!(registrations().count(), EVENTS.iter().filter(|event| event.registry.is_some()).count());
        for (event, rule) in EVENTS.iter().zip(&rules) {
            assert!(event.registry.is_some() || event.interface == CACHE, "{event:?}");
            assert!(
                event.registry.is_none_or(|name| registrations().any(|known| known == name)),
                "{event:?}"
            );
            let (message, path) = example(event);
            let header = message.header();
            let matched = [("sender", APP), ("interface", header.interface().unwrap().as_str())];
            assert!(matched.iter().all(|(key, value)| rule.contains(&format!("{key}='{value}'"))), "{rule}");
            assert!(event.member.is_none_or(|name| rule.ends_with(&format!(",member='{name}'"))), "{rule}");
            if event.body == Body::Announcement {
                let queue = EventQueue::default();
                assert!(queue_event(&message, &queue));
                assert_eq!(queue.take().announcements, ["text"]);
                continue;
            }
            let changes = queued(&message);
            assert_eq!(changes[path].kinds, event.kinds, "{event:?}");
            assert_eq!(changes.len(), 1, "{event:?}");
        }
    }

    /// The registry calls `StateChanged` of `Event.Object` `object:state-changed`.
    #[test]
    fn the_names_in_the_registry_and_on_the_bus_are_of_the_same_event() {
        for event in &EVENTS {
            let (Some(registry), Some(member)) = (event.registry, event.member) else { continue };
            let (class, name) = registry.split_once(':').unwrap();
            assert_eq!(event.interface.rsplit('.').next().unwrap().to_lowercase(), class);
            assert_eq!(member.to_lowercase(), name.replace('-', ""));
        }
    }

    #[test]
    fn states_and_properties_say_what_changed() {
        let state = |name: &str, set: i32| {
            queued(&signal(OBJECT, "StateChanged", name, set, Variant::from(0)))["/sender"].kinds
        };
        assert_eq!(state("checked", 1), ChangeKinds::STATES);
        assert_eq!(state("focused", 0), ChangeKinds::STATES | ChangeKinds::FOCUS);
        assert_eq!(state("focused", 1), ChangeKinds::STATES | ChangeKinds::FOCUS | ChangeKinds::FOCUS_GAINED);
        assert_eq!(state("defunct", 1), ChangeKinds::GONE);
        assert_eq!(state("sensitive", 0), ChangeKinds::STATES | ChangeKinds::SENSITIVITY);
        assert_eq!(state("showing", 1), ChangeKinds::STATES | ChangeKinds::VISIBILITY);
        let property = |name: &str, payload: Variant<'_>| {
            queued(&signal(OBJECT, "PropertyChange", name, 0, payload))["/sender"].clone()
        };
        assert_eq!(property("accessible-value", Variant::from(0)).kinds, ChangeKinds::VALUE);
        assert_eq!(property("accessible-parent", Variant::from(0)).kinds, ChangeKinds::GONE);
        assert_eq!(property("accessible-role", Variant::from(0)).kinds, ChangeKinds::FACTS);
        let named = property("accessible-name", Variant::from("Save"));
        assert_eq!((named.kinds, named.name.as_deref()), (ChangeKinds::NAME, Some("Save")));
        assert_eq!(property("accessible-name", Variant::from(" ")).name, None, "it is read instead");
    }

    #[test]
    fn the_active_descendant_changes_with_its_container() {
        let payload = Variant::from(element("/item"));
        let changes = queued(&signal(OBJECT, "ActiveDescendantChanged", "", 0, payload));
        assert_eq!(changes["/sender"].kinds, ACTIVE);
        assert!(changes["/item"].kinds.has(ChangeKinds::CURRENT_ITEM));
        assert!(changes["/item"].focus_order > changes["/sender"].focus_order);
    }

    #[test]
    fn a_signal_that_is_not_in_the_table_is_ignored() {
        let queue = EventQueue::default();
        let message = signal(OBJECT, "BoundsChanged", "", 0, Variant::from(0));
        assert!(!queue_event(&message, &queue));
        assert!(queue.take().changes.is_empty());
    }
}
