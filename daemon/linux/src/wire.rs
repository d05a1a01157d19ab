//! AT-SPI as it is on the bus: names of interfaces, references, cached items, and what answers hold.

use serde::Deserialize;
use zbus::{Message, OwnedObjectPath, Type, Variant};

use super::link::Answer;

/// The registry of accessible apps.
pub(super) const REGISTRY: &str = "org.a11y.atspi.Registry";
/// Where the registry takes registrations.
pub(super) const REGISTRY_PATH: &str = "/org/a11y/atspi/registry";
/// Every app's own element, and the registry's list of apps.
pub(super) const ROOT: &str = "/org/a11y/atspi/accessible/root";
/// What stands for no element.
pub(super) const NULL: &str = "/org/a11y/atspi/null";
/// Where an app serves its cache.
pub(super) const CACHE_PATH: &str = "/org/a11y/atspi/cache";

pub(super) const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
pub(super) const ACTION: &str = "org.a11y.atspi.Action";
pub(super) const APPLICATION: &str = "org.a11y.atspi.Application";
pub(super) const CACHE: &str = "org.a11y.atspi.Cache";
pub(super) const COMPONENT: &str = "org.a11y.atspi.Component";
pub(super) const EDITABLE_TEXT: &str = "org.a11y.atspi.EditableText";
pub(super) const SELECTION: &str = "org.a11y.atspi.Selection";
pub(super) const TABLE: &str = "org.a11y.atspi.Table";
pub(super) const TEXT: &str = "org.a11y.atspi.Text";
pub(super) const VALUE: &str = "org.a11y.atspi.Value";

/// The relation from an element to what labels it.
pub(super) const LABELLED_BY: u32 = 2;

/// Where an element is on the bus.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Type)]
pub(super) struct Ref {
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
pub(super) struct CacheItem {
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
pub(super) struct Interfaces {
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
pub(super) fn body<T>(answer: &Answer) -> Option<T>
where
    T: for<'de> Deserialize<'de> + Type,
{
    answer.as_ref().ok()?.body().deserialize().ok()
}

/// The text of a property.
pub(super) fn text(answer: &Answer) -> Option<String> {
    property(answer, |value| match value {
        Variant::Str(text) => Some(text.as_str().to_owned()),
        _ => None,
    })
}

/// The truth of a property.
pub(super) fn truth(answer: &Answer) -> Option<bool> {
    property(answer, |value| if let Variant::Bool(truth) = value { Some(*truth) } else { None })
}

/// The number of a property.
pub(super) fn number(answer: &Answer) -> Option<f64> {
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
pub(super) fn first_word(message: &Message) -> String {
    let body = message.body();
    body.deserialize_ignore_signature::<&str>().map(str::to_owned).unwrap_or_default()
}

/// The element of a property.
pub(super) fn reference(answer: &Answer) -> Option<Ref> {
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
