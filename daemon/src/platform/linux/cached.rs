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

/// Cached elements.
pub(super) type Cached = HashMap<ElementKey, CacheItem>;

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
            self.cached.insert(key, item);
        }
        Ok(())
    }

    /// The first walk is done: from now on only what is asked now counts.
    pub fn drop_cache(&mut self) {
        self.cached = HashMap::new();
    }
}

/// What the first round would have learned of a cached element.
///
/// Its children are asked for, where it has any: their places in the cache are not always those in which they are listed (the
/// header bars of GTK 3).
pub(super) fn from_cache(key: ElementKey, item: &CacheItem) -> Outline {
    let natives = Natives::from_words(&item.states);
    let children = (item.child_count == 0).then(Vec::new);
    Outline {
        key,
        number: item.role,
        role: roles::role(item.role, natives),
        natives,
        name: item.name.clone(),
        description: item.description.clone(),
        identifier: None,
        reads_as: None,
        by_page: false,
        interfaces: Interfaces::named(&item.interfaces),
        child_count: item.child_count,
        children,
    }
}
