//! What was read of elements, before it is compared with what was sent.

use super::{KeyMap, KeySet};
use crate::{ElementKey, Facts, Update};

/// One element as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Its facts.
    pub facts: Facts,
    /// The children it claims, in order.
    pub children: Vec<ElementKey>,
    /// How many children it has, where it lists only some of them.
    pub total: Option<u32>,
}

/// Elements that were read together, in the order they were read. `None`: the element is gone.
#[derive(Debug, Default)]
pub struct Readings {
    pub(super) order: Vec<ElementKey>,
    pub(super) found: KeyMap<Option<Found>>,
}

/// One element, as far as it was read.
#[derive(Debug)]
pub(super) struct Found {
    /// `None`: only its children were read.
    pub facts: Option<Facts>,
    /// `None`: only its facts were read.
    pub list: Option<ChildList>,
}

/// The children that an element claims.
#[derive(Debug)]
pub(super) struct ChildList {
    pub order: Vec<ElementKey>,
    pub total: Option<u32>,
}

impl Found {
    /// The children it claims, as far as they were read.
    pub fn children(&self) -> &[ElementKey] {
        self.list.as_ref().map_or(&[], |list| &list.order)
    }
}

impl Readings {
    /// Adds the reading of an element.
    pub fn add(&mut self, key: ElementKey, reading: Option<Reading>) {
        let found = reading.map(|Reading { facts, children: order, total }| Found {
            facts: Some(facts),
            list: Some(ChildList { order, total }),
        });
        self.insert(key, found);
    }

    /// Adds the facts of an element whose children were not read.
    pub fn add_facts(&mut self, key: ElementKey, facts: Facts) {
        self.insert(key, Some(Found { facts: Some(facts), list: None }));
    }

    /// Adds the complete list of children of an element of which nothing else was read.
    pub fn add_list(&mut self, key: ElementKey, order: Vec<ElementKey>) {
        self.insert(key, Some(Found { facts: None, list: Some(ChildList { order, total: None }) }));
    }

    fn insert(&mut self, key: ElementKey, found: Option<Found>) {
        if self.found.insert(key, found).is_none() {
            self.order.push(key);
        }
    }

    /// Whether the element was read.
    pub fn has(&self, key: ElementKey) -> bool {
        self.found.contains_key(&key)
    }

    /// The children that were read of an element.
    pub fn children(&self, key: ElementKey) -> &[ElementKey] {
        self.found.get(&key).and_then(Option::as_ref).map_or(&[], Found::children)
    }

    /// The elements that were read.
    pub fn keys(&self) -> impl Iterator<Item = ElementKey> {
        self.order.iter().copied()
    }

    /// How many were read.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether none was read.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Children that are listed and were not read.
    pub fn listed(&self) -> Vec<ElementKey> {
        let mut listed = Vec::new();
        let mut seen = KeySet::default();
        for (_, found) in self.living() {
            listed.extend(found.children().iter().filter(|child| !self.has(**child) && seen.insert(**child)));
        }
        listed
    }

    /// The readings as updates for a receiver that has no earlier state.
    pub fn into_updates(mut self) -> Vec<Update> {
        let mut updates = Vec::with_capacity(2 * self.order.len());
        for key in self.order {
            let Some(Some(Found { facts, list })) = self.found.remove(&key) else { continue };
            updates.extend(facts.map(|facts| Update::Upsert { key, facts: Box::new(facts) }));
            let list = list.filter(|list| !list.order.is_empty());
            updates.extend(list.map(|ChildList { order, total }| Update::Children {
                parent: key,
                order,
                total,
            }));
        }
        updates
    }

    /// Those that are not gone.
    pub(super) fn living(&self) -> impl Iterator<Item = (ElementKey, &Found)> {
        self.order.iter().filter_map(|key| Some((*key, self.found.get(key)?.as_ref()?)))
    }
}
