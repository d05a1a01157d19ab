//! The cache that an app serves (`Cache.GetItems`): nearly everything in one reply. It speeds up the first walk, and
//! shows later which elements changed.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::num::NonZeroU64;

use axd_protocol::Role;
use tracing::debug;

use crate::atspi::dbus::call;
use crate::atspi::protocol::{CACHE, CACHE_PATH, CacheItem, Interfaces, body};
use crate::atspi::roles;
use crate::atspi::states::NativeStates;
use crate::read::content::has_number;
use crate::read::outline::Outline;
use crate::read::reader::Reader;
use axd_platform::mirror::Mirror;
use axd_platform::{ElementKey, Failure};

/// Cached elements.
pub(crate) type CachedItems = HashMap<ElementKey, CacheItem>;

impl Reader {
    /// Loads the app's cache.
    pub async fn load_cache(&mut self) -> Result<(), Failure> {
        if !self.toolkit.serves_cache() {
            return Ok(());
        }
        let Some(root) = self.handles.get(ElementKey::APP).cloned() else { return Ok(()) };
        let answer = self.call_all(vec![call(&root.bus, CACHE_PATH, CACHE, "GetItems", &())]).await?.pop();
        let items: Vec<CacheItem> = answer.as_ref().and_then(body).unwrap_or_default();
        debug!(items = items.len(), "the app's cache");
        // One that manages its descendants is not counted there, and may have very many.
        for item in items.into_iter().filter(|item| item.child_count >= 0) {
            let key = self.handles.key(&item.at);
            self.cache_items.insert(key, item);
        }
        Ok(())
    }

    /// Those of the elements that must be read again: they or their children differ from what was last read, they are
    /// not in the cache, or they have content that a cache does not hold. `None`: the app has no cache.
    pub async fn changed_in_cache(
        &mut self,
        keys: &[ElementKey],
        mirror: &Mirror,
    ) -> Result<Option<HashSet<ElementKey>>, Failure> {
        if !self.toolkit.serves_cache() {
            return Ok(None);
        }
        self.load_cache().await?;
        let cached = std::mem::take(&mut self.cache_items);
        let mut families: HashMap<ElementKey, HashSet<ElementKey>> = HashMap::new();
        for (key, item) in &cached {
            families.entry(self.handles.key(&item.parent)).or_default().insert(*key);
        }
        let same_children = |key: &ElementKey| {
            let children = mirror.children(*key);
            let listed = families.get(key);
            listed.map_or(0, HashSet::len) == children.len()
                && children.iter().all(|child| listed.is_some_and(|listed| listed.contains(child)))
        };
        let worth = keys.iter().copied().filter(|key| {
            let holds = self.elements.role(*key).is_none_or(has_uncached_content);
            let now = cached.get(key).map(|item| fingerprint(&outline_from_cache(*key, item)));
            holds || now != self.elements.last(*key).and_then(|last| last.fingerprint) || !same_children(key)
        });
        Ok(Some(worth.collect()))
    }

    /// Drops the cache after the first walk: from then on elements are read one by one.
    pub fn drop_cache(&mut self) {
        self.cache_items = HashMap::new();
    }
}

/// A hash of what a cache holds of an element.
pub(crate) fn fingerprint(outline: &Outline) -> NonZeroU64 {
    let mut hasher = DefaultHasher::new();
    let Outline { native_role: number, native_states: natives, name, description, child_count, .. } = outline;
    (number, natives, name, description, child_count).hash(&mut hasher);
    NonZeroU64::new(hasher.finish()).unwrap_or(NonZeroU64::MIN)
}

/// Whether an element of this role has content that a cache does not hold.
fn has_uncached_content(role: Role) -> bool {
    use Role as R;
    has_number(role)
        || role.is_window()
        || matches!(
            role,
            R::TextField
                | R::TextArea
                | R::SearchField
                | R::Combobox
                | R::DateField
                | R::Document
                | R::Paragraph
        )
        || matches!(role, R::Cell | R::StatusBar | R::List | R::Table | R::Tree)
}

/// The outline of a cached element.
///
/// Its children are asked for, where it has any: their places in the cache are not always those in which they are listed (the
/// header bars of GTK 3).
pub(crate) fn outline_from_cache(key: ElementKey, item: &CacheItem) -> Outline {
    let natives = NativeStates::from_words(&item.states);
    let children = (item.child_count == 0).then(Vec::new);
    Outline {
        key,
        native_role: item.role,
        role: roles::role(item.role, natives),
        native_states: natives,
        name: item.name.clone(),
        description: item.description.clone(),
        identifier: None,
        value_text: None,
        role_from_page: false,
        in_page: false,
        interfaces: Interfaces::from_names(&item.interfaces),
        child_count: item.child_count,
        children,
    }
}
