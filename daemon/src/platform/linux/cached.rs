//! An app's cache: nearly everything at once, as a head start for the first walk, and believed only where it adds up.

use std::collections::HashMap;

use tracing::debug;

use super::link::call;
use super::outline::Outline;
use super::reader::Reader;
use super::roles;
use super::states::Natives;
use super::wire::{CACHE, CACHE_PATH, CacheItem, Interfaces, body};
use crate::platform::{ElementKey, Failure};

/// Cached elements, with their parents.
pub(super) type Cached = HashMap<ElementKey, (ElementKey, CacheItem)>;

impl Reader {
    /// Asks for everything at once, as a head start for the first walk.
    pub async fn take_cache(&mut self) -> Result<(), Failure> {
        if !self.toolkit.serves_cache() {
            return Ok(());
        }
        let Some(root) = self.handles.get(ElementKey::APP).cloned() else { return Ok(()) };
        let answer = self.ask_all(vec![call(&root.bus, CACHE_PATH, CACHE, "GetItems", &())]).await?.pop();
        let items: Vec<CacheItem> = answer.as_ref().and_then(body).unwrap_or_default();
        debug!(items = items.len(), "the app's cache");
        // One that manages its descendants is not counted there, and may have very many.
        for item in items.into_iter().filter(|item| item.child_count >= 0) {
            let key = self.handles.key(&item.at);
            let parent = self.handles.key(&item.parent);
            self.cached.insert(key, (parent, item));
        }
        self.families = families(&self.cached);
        Ok(())
    }

    /// The first walk is done: from now on only what is asked now counts.
    pub fn drop_cache(&mut self) {
        self.cached = HashMap::new();
        self.families = HashMap::new();
    }
}

fn families(cached: &Cached) -> HashMap<ElementKey, Vec<ElementKey>> {
    let mut families: HashMap<ElementKey, Vec<(i32, ElementKey)>> = HashMap::new();
    for (key, (parent, item)) in cached {
        families.entry(*parent).or_default().push((item.index, *key));
    }
    let mut whole = HashMap::new();
    for (parent, mut children) in families {
        children.sort_unstable();
        let counted = cached.get(&parent).is_some_and(|(_, item)| item.child_count == children.len() as i32);
        if counted && children.iter().zip(0..).all(|((index, _), at)| *index == at) {
            whole.insert(parent, children.into_iter().map(|(_, key)| key).collect());
        }
    }
    whole
}

/// What the first round would have learned of a cached element.
pub(super) fn from_cache(key: ElementKey, item: &CacheItem, children: Option<Vec<ElementKey>>) -> Outline {
    let natives = Natives::from_words(&item.states);
    let children = children.or_else(|| (item.child_count == 0).then(Vec::new));
    Outline {
        key,
        number: item.role,
        role: roles::role(item.role, natives),
        natives,
        name: item.name.clone(),
        description: item.description.clone(),
        identifier: None,
        interfaces: Interfaces::named(&item.interfaces),
        child_count: item.child_count,
        children,
    }
}
