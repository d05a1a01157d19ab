//! The first round of reading: what every element has.

use axd_protocol::Role;
use tracing::debug;

use crate::atspi::dbus::Answer;
use crate::atspi::protocol::{ACCESSIBLE, Interfaces, body, number, text};
use crate::atspi::roles;
use crate::atspi::states::{Native, Natives};
use crate::read::cache::from_cache;
use crate::read::reader::Reader;
use axd_platform::{ElementKey, Failure};

/// The role of text in Chromium's pages.
const STATIC: u32 = 116;

/// What the first round learned of an element.
#[derive(Clone)]
pub(crate) struct Outline {
    pub(crate) key: ElementKey,
    pub(crate) number: u32,
    pub(crate) role: Role,
    pub(crate) natives: Natives,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) identifier: Option<String>,
    /// What a number reads as, where the app says so.
    pub(crate) reads_as: Option<String>,
    /// Whether it is what it is by what its page says.
    pub(crate) by_page: bool,
    /// Whether it is known to be in a page, and not in what the browser shows around it.
    pub(crate) in_page: bool,
    pub(crate) interfaces: Interfaces,
    pub(crate) child_count: i32,
    /// The children, where they are known already.
    pub(crate) children: Option<Vec<ElementKey>>,
}

impl Reader {
    /// The first round.
    pub(crate) async fn outline(&mut self, keys: &[ElementKey]) -> Result<Vec<Option<Outline>>, Failure> {
        if self.tells_all {
            return self.outline_at_once(keys).await;
        }
        const COMMON: usize = 6;
        let by_attribute = self.toolkit.is_browser();
        let identified = by_attribute || self.has_ids;
        let mut calls = Vec::with_capacity(keys.len() * (COMMON + 1));
        for key in keys {
            if !self.cached.contains_key(key) {
                calls.push(self.call(*key, ACCESSIBLE, "GetRole", &()));
                calls.push(self.call(*key, ACCESSIBLE, "GetState", &()));
                calls.push(self.get(*key, ACCESSIBLE, "Name"));
                calls.push(self.get(*key, ACCESSIBLE, "Description"));
                calls.push(self.call(*key, ACCESSIBLE, "GetInterfaces", &()));
                calls.push(self.get(*key, ACCESSIBLE, "ChildCount"));
            }
            if self.is_plain_text(*key) {
                continue;
            }
            if by_attribute {
                calls.push(self.call(*key, ACCESSIBLE, "GetAttributes", &()));
            } else if identified {
                calls.push(self.get(*key, ACCESSIBLE, "AccessibleId"));
            }
        }
        let mut answers = self.ask_all(calls).await?.into_iter();
        let mut outlines = Vec::with_capacity(keys.len());
        for key in keys {
            let mut outline = match self.cached.get(key) {
                Some(item) => Some(from_cache(*key, item)),
                None => {
                    let common: Vec<Answer> = answers.by_ref().take(COMMON).collect();
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
                    true => outline.marked(body(&answer).unwrap_or_default()),
                    false => {
                        outline.identifier = text(&answer).filter(|identifier| !identifier.is_empty());
                        outline
                    }
                });
            }
            if let Some(outline) = outline.as_mut().filter(|outline| self.tops.contains(&outline.key)) {
                outline.role = roles::top_level(outline.number, outline.role);
            }
            outlines.push(outline);
        }
        Ok(outlines)
    }
}

impl Reader {
    /// Whether an element is known to be nothing but text of a page, which has no attribute `id`.
    pub(crate) fn is_plain_text(&self, key: ElementKey) -> bool {
        self.toolkit.is_browser() && self.cached.get(&key).is_some_and(|item| item.role == STATIC)
    }
}

/// `None` if the element is gone.
fn from_answers(key: ElementKey, answers: &[Answer]) -> Option<Outline> {
    let [role, state, name, description, interfaces, count] = answers else { return None };
    let is_app = key == ElementKey::APP;
    let number = body::<u32>(role).or(is_app.then_some(roles::APPLICATION))?;
    let natives = Natives::from_words(&body::<Vec<u32>>(state).or(is_app.then(Vec::new))?);
    if is_gone(key, natives) {
        return None;
    }
    Some(Outline {
        key,
        number,
        role: if is_app { Role::Application } else { roles::role(number, natives) },
        natives,
        name: text(name).unwrap_or_default(),
        description: text(description).unwrap_or_default(),
        identifier: None,
        reads_as: None,
        by_page: false,
        in_page: false,
        interfaces: Interfaces::named(&body::<Vec<String>>(interfaces).unwrap_or_default()),
        // An app that does not count may have some.
        child_count: crate::read::outline::number(count).map_or(-1, |count| count as i32),
        children: None,
    })
}

/// Whether an element that still answers is no more.
pub(crate) fn is_gone(key: ElementKey, natives: Natives) -> bool {
    natives.has(Native::Defunct) && key != ElementKey::APP
}

fn lacks_property(error: &str) -> bool {
    matches!(
        error.rsplit('.').next(),
        Some("UnknownProperty" | "InvalidArgs" | "UnknownMethod" | "UnknownInterface")
    )
}
