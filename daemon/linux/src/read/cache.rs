//! An app's cache: nearly everything at once, as a head start for the first walk, and to see later what is worth reading again.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use axd_protocol::Role;
use tracing::debug;

use crate::atspi::dbus::call;
use crate::atspi::protocol::{CACHE, CACHE_PATH, CacheItem, Interfaces, body};
use crate::atspi::roles;
use crate::atspi::states::Natives;
use crate::read::content::has_number;
use crate::read::outline::Outline;
use crate::read::reader::Reader;
use axd_platform::mirror::Mirror;
use axd_platform::{ElementKey, Failure};

/// Cached elements.
pub(crate) type Cached = HashMap<ElementKey, CacheItem>;

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

    /// Those of the elements that are worth reading again: they or their children are others in the cache than when they were last
    /// read, they are not in it, or what they hold is not. `None`: the app has no cache.
    pub async fn altered_in_cache(
        &mut self,
        keys: &[ElementKey],
        mirror: &Mirror,
    ) -> Result<Option<HashSet<ElementKey>>, Failure> {
        if !self.toolkit.serves_cache() {
            return Ok(None);
        }
        self.take_cache().await?;
        let cached = std::mem::take(&mut self.cached);
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
            let holds = self.roles.get(key).is_none_or(|role| holds_something(*role));
            let now = cached.get(key).map(|item| print(&from_cache(*key, item)));
            holds || now != self.prints.get(key).copied() || !same_children(key)
        });
        Ok(Some(worth.collect()))
    }

    /// The first walk is done: from now on only what is asked now counts.
    pub fn drop_cache(&mut self) {
        self.cached = HashMap::new();
    }
}

/// A hash of what a cache knows of an element.
pub(crate) fn print(outline: &Outline) -> u64 {
    let mut hasher = DefaultHasher::new();
    let Outline { number, natives, name, description, child_count, .. } = outline;
    (number, natives, name, description, child_count).hash(&mut hasher);
    hasher.finish()
}

/// Whether an element of this role has more to it than a cache knows.
fn holds_something(role: Role) -> bool {
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

/// What the first round would have learned of a cached element.
///
/// Its children are asked for, where it has any: their places in the cache are not always those in which they are listed (the
/// header bars of GTK 3).
pub(crate) fn from_cache(key: ElementKey, item: &CacheItem) -> Outline {
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
        in_page: false,
        interfaces: Interfaces::named(&item.interfaces),
        child_count: item.child_count,
        children,
    }
}
