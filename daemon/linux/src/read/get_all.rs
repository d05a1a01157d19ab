//! The first round of reading by `GetAll`, which returns all properties of an element in one reply: three calls an
//! element instead of seven.
//!
//! Only Chromium is read so. `GetAll` crashes Qt apps, and GTK 4 has no attributes among the properties.

use std::collections::HashMap;

use axd_protocol::Role;
use tracing::debug;
use zbus::{DeserializeDict, Message, Type};

use crate::atspi::dbus::{BusReply, get_all};
use crate::atspi::protocol::{ACCESSIBLE, Interfaces, body};
use crate::atspi::roles;
use crate::atspi::states::NativeStates;
use crate::read::cache::outline_from_cache;
use crate::read::outline::{Outline, is_gone};
use crate::read::page::PageAttributes;
use crate::read::reader::Reader;
use axd_platform::{ElementKey, Failure};

/// What `GetAll` returns of an element.
#[derive(Debug, Default, DeserializeDict, Type)]
#[zbus(signature = "a{sv}", rename_all = "PascalCase")]
struct Properties {
    name: String,
    description: String,
    child_count: i32,
    attributes: HashMap<String, String>,
}

/// What was asked of an element.
#[derive(Clone, Copy)]
enum OutlineCall {
    /// Its role, its states and its properties.
    All,
    /// Its attributes: the cache has the rest.
    Attributes,
    /// Nothing: the cache has all that there is.
    Nothing,
}

impl Reader {
    /// Finds out whether the app answers `GetAll`.
    pub(crate) async fn try_get_all(&mut self) -> Result<(), Failure> {
        let answer = self.call_all(vec![self.get_all(ElementKey::APP)]).await?.pop();
        self.uses_get_all = answer.as_ref().and_then(body::<Properties>).is_some();
        debug!(tells_all = self.uses_get_all, "properties in one answer");
        Ok(())
    }

    fn get_all(&self, key: ElementKey) -> zbus::Result<Message> {
        let handle = self.handles.get(key).ok_or(zbus::Error::InvalidReply)?;
        get_all(&handle.bus, &handle.path, ACCESSIBLE)
    }

    /// The first round.
    pub(crate) async fn outline_by_get_all(
        &mut self,
        keys: &[ElementKey],
    ) -> Result<Vec<Option<Outline>>, Failure> {
        let (mut calls, mut asked) = (Vec::with_capacity(3 * keys.len()), Vec::with_capacity(keys.len()));
        for key in keys {
            asked.push(if !self.cache_items.contains_key(key) {
                calls.push(self.build_call(*key, ACCESSIBLE, "GetRole", &()));
                calls.push(self.build_call(*key, ACCESSIBLE, "GetState", &()));
                calls.push(self.get_all(*key));
                OutlineCall::All
            } else if self.is_plain_text(*key) {
                OutlineCall::Nothing
            } else {
                calls.push(self.build_call(*key, ACCESSIBLE, "GetAttributes", &()));
                OutlineCall::Attributes
            });
        }
        let mut answers = self.call_all(calls).await?.into_iter();
        let mut outlines = Vec::with_capacity(keys.len());
        for (key, asked) in keys.iter().zip(asked) {
            let cached = self.cache_items.get(key).map(|item| outline_from_cache(*key, item));
            let mut next = || answers.next().unwrap_or_else(|| Err(String::new()));
            outlines.push(match asked {
                OutlineCall::All => from_answers(*key, &[next(), next(), next()]),
                OutlineCall::Nothing => cached,
                OutlineCall::Attributes => {
                    let attributes = body(&next()).unwrap_or_default();
                    cached.map(|outline| outline.with_attributes(attributes))
                }
            });
        }
        self.read_interfaces(&mut outlines).await?;
        Ok(outlines)
    }

    async fn read_interfaces(&mut self, outlines: &mut [Option<Outline>]) -> Result<(), Failure> {
        let mut open: Vec<&mut Outline> = outlines
            .iter_mut()
            .flatten()
            .filter(|outline| !self.cache_items.contains_key(&outline.key) && depends_on_interfaces(outline))
            .collect();
        let calls = open.iter().map(|outline| self.build_call(outline.key, ACCESSIBLE, "GetInterfaces", &()));
        let answers = self.call_all(calls.collect()).await?;
        for (outline, answer) in open.iter_mut().zip(&answers) {
            outline.interfaces = Interfaces::from_names(&body::<Vec<String>>(answer).unwrap_or_default());
        }
        Ok(())
    }
}

/// Whether the next round depends on the element's interfaces. Most of a page are boxes, and texts, links and buttons
/// that have a name:
/// nothing is asked of those but the actions of what can have the focus.
fn depends_on_interfaces(outline: &Outline) -> bool {
    match outline.role {
        Role::Group => false,
        Role::Text | Role::Link | Role::Button => outline.name.is_empty(),
        _ => true,
    }
}

/// `None` if the element is gone.
fn from_answers(key: ElementKey, answers: &[BusReply; 3]) -> Option<Outline> {
    let [role, state, properties] = answers;
    let is_app = key == ElementKey::APP;
    let number = body::<u32>(role).or(is_app.then_some(roles::APPLICATION))?;
    let natives = NativeStates::from_words(&body::<Vec<u32>>(state).or(is_app.then(Vec::new))?);
    if is_gone(key, natives) {
        return None;
    }
    // An app that does not count may have some.
    let unknown = || Properties { child_count: -1, ..Properties::default() };
    let Properties { name, description, child_count, attributes } = body(properties).unwrap_or_else(unknown);
    let outline = Outline {
        key,
        native_role: number,
        role: if is_app { Role::Application } else { roles::role(number, natives) },
        native_states: natives,
        name,
        description,
        identifier: None,
        value_text: None,
        role_from_page: false,
        in_page: false,
        interfaces: Interfaces { action: true, component: true, ..Interfaces::default() },
        child_count,
        children: None,
    };
    Some(outline.with_attributes(attributes))
}

impl Outline {
    /// Adds what the element's attributes say.
    pub(crate) fn with_attributes(mut self, attributes: HashMap<String, String>) -> Outline {
        let marks = PageAttributes::parse(attributes, self.role);
        self.identifier = marks.identifier.filter(|identifier| !identifier.is_empty());
        self.value_text = marks.value_text;
        self.role_from_page = marks.role.is_some();
        self.in_page = marks.in_page;
        self.role = marks.role.unwrap_or(self.role);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(role: Role, name: &str) -> Outline {
        Outline {
            key: ElementKey(1),
            native_role: 0,
            role,
            native_states: NativeStates::default(),
            name: name.to_owned(),
            description: String::new(),
            identifier: None,
            value_text: None,
            role_from_page: false,
            in_page: false,
            interfaces: Interfaces::default(),
            child_count: 0,
            children: None,
        }
    }

    #[test]
    fn interfaces_are_asked_for_where_something_depends_on_them() {
        assert!(!depends_on_interfaces(&outline(Role::Group, "")));
        assert!(!depends_on_interfaces(&outline(Role::Link, "Home")));
        // Its text may be its name.
        assert!(depends_on_interfaces(&outline(Role::Link, "")));
        assert!(depends_on_interfaces(&outline(Role::Slider, "Volume")));
    }

    #[test]
    fn attributes_say_what_an_element_is_and_is_called_by_its_author() {
        let attributes = [("xml-roles", "dialog"), ("id", "ask"), ("tag", "div")]
            .map(|(name, value)| (name.into(), value.into()));
        let marked = outline(Role::Group, "").with_attributes(attributes.into());
        assert_eq!(
            (marked.role, marked.role_from_page, marked.in_page, marked.identifier.as_deref()),
            (Role::Dialog, true, true, Some("ask"))
        );
        let plain = outline(Role::Group, "").with_attributes(HashMap::new());
        assert!(!plain.role_from_page && !plain.in_page);
    }
}
