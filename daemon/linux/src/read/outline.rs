//! The first round of reading: what every element has.

use axd_protocol::Role;
use tracing::debug;

use crate::atspi::dbus::BusReply;
use crate::atspi::protocol::{ACCESSIBLE, Interfaces, body, number_property, string_property};
use crate::atspi::roles;
use crate::atspi::states::{NativeState, NativeStates};
use crate::read::cache::outline_from_cache;
use crate::read::reader::Reader;
use axd_platform::{ElementKey, Failure};

/// The role of text in Chromium's pages.
const STATIC: u32 = 116;

/// What the first round reads of every element.
#[derive(Clone)]
pub(crate) struct Outline {
    pub(crate) key: ElementKey,
    pub(crate) native_role: u32,
    pub(crate) role: Role,
    pub(crate) native_states: NativeStates,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) identifier: Option<String>,
    /// The text that stands for its number, where the page gives one (`valuetext`).
    pub(crate) value_text: Option<String>,
    /// Whether its role comes from an attribute of the page.
    pub(crate) role_from_page: bool,
    /// Whether it is known to be in a page, and not in what the browser shows around it.
    pub(crate) in_page: bool,
    pub(crate) interfaces: Interfaces,
    pub(crate) child_count: i32,
    /// The children, where they are known already.
    pub(crate) children: Option<Vec<ElementKey>>,
}

impl Reader {
    /// The first round.
    pub(crate) async fn read_outlines(
        &mut self,
        keys: &[ElementKey],
    ) -> Result<Vec<Option<Outline>>, Failure> {
        if self.uses_get_all {
            return self.outline_by_get_all(keys).await;
        }
        const COMMON: usize = 6;
        let by_attribute = self.toolkit.is_browser();
        let identified = by_attribute || self.has_ids;
        let mut calls = Vec::with_capacity(keys.len() * (COMMON + 1));
        for key in keys {
            if !self.cache_items.contains_key(key) {
                calls.push(self.build_call(*key, ACCESSIBLE, "GetRole", &()));
                calls.push(self.build_call(*key, ACCESSIBLE, "GetState", &()));
                calls.push(self.build_get(*key, ACCESSIBLE, "Name"));
                calls.push(self.build_get(*key, ACCESSIBLE, "Description"));
                calls.push(self.build_call(*key, ACCESSIBLE, "GetInterfaces", &()));
                calls.push(self.build_get(*key, ACCESSIBLE, "ChildCount"));
            }
            if self.is_plain_text(*key) {
                continue;
            }
            if by_attribute {
                calls.push(self.build_call(*key, ACCESSIBLE, "GetAttributes", &()));
            } else if identified {
                calls.push(self.build_get(*key, ACCESSIBLE, "AccessibleId"));
            }
        }
        let mut answers = self.call_all(calls).await?.into_iter();
        let mut outlines = Vec::with_capacity(keys.len());
        for key in keys {
            let mut outline = match self.cache_items.get(key) {
                Some(item) => Some(outline_from_cache(*key, item)),
                None => {
                    let common: Vec<BusReply> = answers.by_ref().take(COMMON).collect();
                    from_answers(*key, &common)
                }
            };
            if identified
                && !self.is_plain_text(*key)
                && let Some(answer) = answers.next()
            {
                let never = matches!(&answer, Err(name) if lacks_property(name));
                if !by_attribute && never && outline.is_some() {
                    debug!("the app knows no AccessibleId");
                    self.has_ids = false;
                }
                outline = outline.map(|mut outline| match by_attribute {
                    true => outline.with_attributes(body(&answer).unwrap_or_default()),
                    false => {
                        outline.identifier =
                            string_property(&answer).filter(|identifier| !identifier.is_empty());
                        outline
                    }
                });
            }
            if let Some(outline) = outline.as_mut().filter(|outline| self.top_level.contains(&outline.key)) {
                outline.role = roles::top_level(outline.native_role, outline.role);
            }
            outlines.push(outline);
        }
        Ok(outlines)
    }
}

impl Reader {
    /// Whether an element is known to be nothing but text of a page, which has no attribute `id`.
    pub(crate) fn is_plain_text(&self, key: ElementKey) -> bool {
        self.toolkit.is_browser() && self.cache_items.get(&key).is_some_and(|item| item.role == STATIC)
    }
}

/// `None` if the element is gone.
fn from_answers(key: ElementKey, answers: &[BusReply]) -> Option<Outline> {
    let [role, state, name, description, interfaces, count] = answers else { return None };
    let is_app = key == ElementKey::APP;
    let number = body::<u32>(role).or(is_app.then_some(roles::APPLICATION))?;
    let natives = NativeStates::from_words(&body::<Vec<u32>>(state).or(is_app.then(Vec::new))?);
    if is_gone(key, natives) {
        return None;
    }
    Some(Outline {
        key,
        native_role: number,
        role: if is_app { Role::Application } else { roles::role(number, natives) },
        native_states: natives,
        name: string_property(name).unwrap_or_default(),
        description: string_property(description).unwrap_or_default(),
        identifier: None,
        value_text: None,
        role_from_page: false,
        in_page: false,
        interfaces: Interfaces::from_names(&body::<Vec<String>>(interfaces).unwrap_or_default()),
        // An app that does not count may have some.
        child_count: crate::read::outline::number_property(count).map_or(-1, |count| count as i32),
        children: None,
    })
}

/// Whether an element is defunct, though it still answers.
pub(crate) fn is_gone(key: ElementKey, natives: NativeStates) -> bool {
    natives.has(NativeState::Defunct) && key != ElementKey::APP
}

fn lacks_property(error: &str) -> bool {
    matches!(
        error.rsplit('.').next(),
        Some("UnknownProperty" | "InvalidArgs" | "UnknownMethod" | "UnknownInterface")
    )
}
