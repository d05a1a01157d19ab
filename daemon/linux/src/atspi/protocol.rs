//! The vocabulary of AT-SPI: names of interfaces, object references, cache items, and how replies are decoded.

use serde::Deserialize;
use zbus::{Message, OwnedObjectPath, Type, Variant};

use crate::atspi::dbus::BusReply;

/// The registry of accessible apps.
pub(crate) const REGISTRY: &str = "org.a11y.atspi.Registry";
/// Where the registry takes registrations.
pub(crate) const REGISTRY_PATH: &str = "/org/a11y/atspi/registry";
/// Every app's own element, and the registry's list of apps.
pub(crate) const ROOT: &str = "/org/a11y/atspi/accessible/root";
/// The path that means no element.
pub(crate) const NULL: &str = "/org/a11y/atspi/null";
/// Where an app serves its cache.
pub(crate) const CACHE_PATH: &str = "/org/a11y/atspi/cache";

pub(crate) const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
pub(crate) const ACTION: &str = "org.a11y.atspi.Action";
pub(crate) const APPLICATION: &str = "org.a11y.atspi.Application";
pub(crate) const CACHE: &str = "org.a11y.atspi.Cache";
pub(crate) const COMPONENT: &str = "org.a11y.atspi.Component";
pub(crate) const EDITABLE_TEXT: &str = "org.a11y.atspi.EditableText";
pub(crate) const SELECTION: &str = "org.a11y.atspi.Selection";
pub(crate) const TABLE: &str = "org.a11y.atspi.Table";
pub(crate) const TEXT: &str = "org.a11y.atspi.Text";
pub(crate) const VALUE: &str = "org.a11y.atspi.Value";

/// The number of the relation from an element to its label.
pub(crate) const LABELLED_BY: u32 = 2;

/// A reference to an element: a bus name and an object path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Type)]
pub(crate) struct ObjectRef {
    /// The app's unique name.
    pub bus: String,
    /// Its path.
    pub path: OwnedObjectPath,
}

impl ObjectRef {
    /// The element of this app at this path, if that can be a path.
    pub fn new(bus: &str, path: &str) -> Option<ObjectRef> {
        Some(ObjectRef { bus: bus.to_owned(), path: path.to_owned().try_into().ok()? })
    }

    /// Whether it refers to an element, and is not the null reference.
    pub fn is_element(&self) -> bool {
        self.path.as_str() != NULL && !self.bus.is_empty()
    }
}

/// An element as `Cache.GetItems` lists it.
#[derive(Debug, Clone, Deserialize, Type)]
pub(crate) struct CacheItem {
    /// Where it is.
    pub at: ObjectRef,
    /// Its app.
    _app: ObjectRef,
    /// Its parent.
    pub parent: ObjectRef,
    /// Its place among its siblings.
    _index: i32,
    /// How many children it has; −1 if the app did not count.
    pub child_count: i32,
    /// What it implements.
    pub interfaces: Vec<String>,
    /// Its name.
    pub name: String,
    /// Its role's number.
    pub role: u32,
    /// Its description.
    pub description: String,
    /// Its states' bits.
    pub states: Vec<u32>,
}

/// Which of the interfaces that axd uses an element implements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Interfaces {
    pub action: bool,
    pub component: bool,
    pub editable_text: bool,
    pub selection: bool,
    pub table: bool,
    pub text: bool,
    pub value: bool,
}

impl Interfaces {
    /// The interfaces of these names.
    pub fn from_names<S: AsRef<str>>(names: &[S]) -> Interfaces {
        let mut found = Interfaces::default();
        for name in names {
            match name.as_ref() {
                ACTION => found.action = true,
                COMPONENT => found.component = true,
                EDITABLE_TEXT => found.editable_text = true,
                SELECTION => found.selection = true,
                TABLE => found.table = true,
                TEXT => found.text = true,
                VALUE => found.value = true,
                _ => {}
            }
        }
        found
    }
}

/// Decodes the body of a reply; `None` if it is an error, or of another type.
pub(crate) fn body<T>(answer: &BusReply) -> Option<T>
where
    T: for<'de> Deserialize<'de> + Type,
{
    answer.as_ref().ok()?.body().deserialize().ok()
}

/// Decodes a property that is a string.
pub(crate) fn string_property(answer: &BusReply) -> Option<String> {
    property(answer, |value| match value {
        Variant::Str(text) => Some(text.as_str().to_owned()),
        _ => None,
    })
}

/// Decodes a property that is a boolean.
pub(crate) fn bool_property(answer: &BusReply) -> Option<bool> {
    property(answer, |value| if let Variant::Bool(truth) = value { Some(*truth) } else { None })
}

/// Decodes a property that is a number.
pub(crate) fn number_property(answer: &BusReply) -> Option<f64> {
    property(answer, |value| match value {
        Variant::F64(number) => Some(*number),
        Variant::I32(number) => Some(f64::from(*number)),
        Variant::U32(number) => Some(f64::from(*number)),
        _ => None,
    })
}

fn property<T>(answer: &BusReply, read: impl Fn(&Variant<'_>) -> Option<T>) -> Option<T> {
    let body = answer.as_ref().ok()?.body();
    let value: Variant<'_> = body.deserialize().ok()?;
    match value {
        Variant::Variant(inner) => read(&inner),
        value => read(&value),
    }
}

/// The detail of an event, its first argument: the name of the state or property, or whether a child was added.
pub(crate) fn event_detail(message: &Message) -> String {
    let body = message.body();
    body.deserialize_ignore_signature::<&str>().map(str::to_owned).unwrap_or_default()
}

/// Decodes a property that is an object reference.
pub(crate) fn ref_property(answer: &BusReply) -> Option<ObjectRef> {
    property(answer, |value| {
        let Variant::Structure(fields) = value else { return None };
        match fields.fields() {
            [Variant::Str(bus), Variant::ObjectPath(path)] => {
                Some(ObjectRef { bus: bus.as_str().to_owned(), path: path.to_owned().into() })
            }
            _ => None,
        }
    })
}
