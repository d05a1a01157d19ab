//! AT-SPI as it is on the bus: names of interfaces, references, cached items, and what answers hold.

use serde::Deserialize;
use zbus::{Message, OwnedObjectPath, Type, Variant};

use crate::atspi::dbus::Answer;

/// The registry of accessible apps.
pub(crate) const REGISTRY: &str = "org.a11y.atspi.Registry";
/// Where the registry takes registrations.
pub(crate) const REGISTRY_PATH: &str = "/org/a11y/atspi/registry";
/// Every app's own element, and the registry's list of apps.
pub(crate) const ROOT: &str = "/org/a11y/atspi/accessible/root";
/// What stands for no element.
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

/// The relation from an element to what labels it.
pub(crate) const LABELLED_BY: u32 = 2;

/// Where an element is on the bus.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Type)]
pub(crate) struct Ref {
    /// The app's unique name.
    pub bus: String,
    /// Its path.
    pub path: OwnedObjectPath,
}

impl Ref {
    /// The element of this app at this path, if that can be a path.
    pub fn new(bus: &str, path: &str) -> Option<Ref> {
        Some(Ref { bus: bus.to_owned(), path: path.to_owned().try_into().ok()? })
    }

    /// Whether it names an element at all.
    pub fn is_some(&self) -> bool {
        self.path.as_str() != NULL && !self.bus.is_empty()
    }
}

/// An element as `Cache.GetItems` lists it.
#[derive(Debug, Clone, Deserialize, Type)]
pub(crate) struct CacheItem {
    /// Where it is.
    pub at: Ref,
    /// Its app.
    _app: Ref,
    /// Its parent.
    pub parent: Ref,
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

/// What an element implements, of what is used here.
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
    /// From their names.
    pub fn named<S: AsRef<str>>(names: &[S]) -> Interfaces {
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

/// What an answer holds, if it is an answer and of this shape.
pub(crate) fn body<T>(answer: &Answer) -> Option<T>
where
    T: for<'de> Deserialize<'de> + Type,
{
    answer.as_ref().ok()?.body().deserialize().ok()
}

/// The text of a property.
pub(crate) fn text(answer: &Answer) -> Option<String> {
    property(answer, |value| match value {
        Variant::Str(text) => Some(text.as_str().to_owned()),
        _ => None,
    })
}

/// The truth of a property.
pub(crate) fn truth(answer: &Answer) -> Option<bool> {
    property(answer, |value| if let Variant::Bool(truth) = value { Some(*truth) } else { None })
}

/// The number of a property.
pub(crate) fn number(answer: &Answer) -> Option<f64> {
    property(answer, |value| match value {
        Variant::F64(number) => Some(*number),
        Variant::I32(number) => Some(f64::from(*number)),
        Variant::U32(number) => Some(f64::from(*number)),
        _ => None,
    })
}

fn property<T>(answer: &Answer, read: impl Fn(&Variant<'_>) -> Option<T>) -> Option<T> {
    let body = answer.as_ref().ok()?.body();
    let value: Variant<'_> = body.deserialize().ok()?;
    match value {
        Variant::Variant(inner) => read(&inner),
        value => read(&value),
    }
}

/// The first word of an event: the state or property it is about, the detail of a change of children.
pub(crate) fn first_word(message: &Message) -> String {
    let body = message.body();
    body.deserialize_ignore_signature::<&str>().map(str::to_owned).unwrap_or_default()
}

/// The element of a property.
pub(crate) fn reference(answer: &Answer) -> Option<Ref> {
    property(answer, |value| {
        let Variant::Structure(fields) = value else { return None };
        match fields.fields() {
            [Variant::Str(bus), Variant::ObjectPath(path)] => {
                Some(Ref { bus: bus.as_str().to_owned(), path: path.to_owned().into() })
            }
            _ => None,
        }
    })
}
