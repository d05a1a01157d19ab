//! The elements that a worker has sent so far, and the updates that follow from new readings: a pure difference.
//!
//! Apps report impossible trees: an element may claim its own ancestor as a child, two may claim the same child, and a listed
//! element may be dead when it is read. The mirror accepts one parent per element and no cycles, so its updates describe a
//! tree.

mod readings;
mod texts;

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};

use axd_protocol::role::Keyed;

use super::{ElementKey, Facts, Update};
use readings::{ChildList, Found};
use texts::{MAX_LONG_BYTES, Texts};

pub use readings::{Reading, Readings};

/// The maximum number of elements that are kept of one app. Those beyond it are not read, and the app is degraded.
pub const MAX_ELEMENTS: usize = 250_000;

type KeyMap<V> = HashMap<ElementKey, V, BuildHasherDefault<KeyHasher>>;
type KeySet = HashSet<ElementKey, BuildHasherDefault<KeyHasher>>;

/// Keys are numbered one by one by axd itself, so one multiplication spreads them well; a walk consists mostly of lookups.
#[derive(Debug, Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// The result of applying readings.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AppliedReadings {
    /// The updates to send.
    pub updates: Vec<Update>,
    /// Elements that are sent for the first time.
    pub new: Vec<ElementKey>,
    /// Children listed for the first time and not read yet.
    pub unread: Vec<ElementKey>,
    /// The number of claims that were rejected: cycles and second parents.
    pub cut: usize,
}

/// What has been sent of an app.
#[derive(Debug)]
pub struct Mirror {
    nodes: KeyMap<Node>,
    /// The rejected claims: for an element, who else claims it as a child. When it leaves its parent, these are read again.
    denied: KeyMap<BTreeSet<ElementKey>>,
    /// The maximum number of elements.
    max_elements: usize,
    /// Elements of which not all children are kept, because the app has too many elements.
    short: KeySet,
    texts: Texts,
}

#[derive(Debug, Default)]
struct Node {
    parent: Option<ElementKey>,
    /// A hash of the facts last sent; `None` while the element is listed but not read.
    sent_facts: Option<u64>,
    /// The children it claims, as far as the claims were accepted.
    listed: Vec<ElementKey>,
    /// A hash of the children that were sent, in order, and of the total; 0 if there were none.
    sent_children: u64,
    total: Option<u32>,
}

impl Default for Mirror {
    fn default() -> Mirror {
        Mirror::with_limit(MAX_ELEMENTS)
    }
}

impl Mirror {
    /// A mirror of nothing but the app element, which never keeps more than `max_elements` elements.
    pub fn with_limit(max_elements: usize) -> Mirror {
        Mirror {
            nodes: KeyMap::from_iter([(ElementKey::APP, Node::default())]),
            denied: KeyMap::default(),
            max_elements,
            short: KeySet::default(),
            texts: Texts::new(MAX_LONG_BYTES),
        }
    }

    /// Whether the app has more elements, or longer texts, than are kept.
    pub fn is_short(&self) -> bool {
        !self.short.is_empty() || self.texts.is_short()
    }

    /// The text that says what the app has more of than is kept.
    pub fn shortage(&self) -> String {
        if self.short.is_empty() {
            return format!("it has more than {} MB of long texts; the rest is cut", MAX_LONG_BYTES >> 20);
        }
        format!("it has more than {} elements; the rest is not read", self.max_elements)
    }

    /// Whether the element is known, read or only listed.
    pub fn knows(&self, key: ElementKey) -> bool {
        self.nodes.contains_key(&key)
    }

    /// Whether the element is known and was read.
    pub fn has_sent(&self, key: ElementKey) -> bool {
        self.nodes.get(&key).is_some_and(|node| node.sent_facts.is_some())
    }

    /// The element's parent.
    pub fn parent(&self, key: ElementKey) -> Option<ElementKey> {
        self.nodes.get(&key)?.parent
    }

    /// The children of the element, as far as its claims were accepted, read or only listed.
    pub fn children(&self, key: ElementKey) -> &[ElementKey] {
        self.nodes.get(&key).map_or(&[], |node| &node.listed)
    }

    /// How many elements are known.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing is known; never true, since there is always the app element.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Every element that was sent.
    pub fn keys(&self) -> Vec<ElementKey> {
        let mut keys: Vec<ElementKey> =
            self.nodes.iter().filter(|(_, node)| node.sent_facts.is_some()).map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys
    }

    /// These elements and all below them, parents first.
    pub fn below(&self, roots: &[ElementKey]) -> Vec<ElementKey> {
        let mut seen = KeySet::default();
        let mut all: Vec<ElementKey> = Vec::new();
        all.extend(roots.iter().filter(|key| self.knows(**key) && seen.insert(**key)));
        let mut next = 0;
        while next < all.len() {
            if let Some(node) = self.nodes.get(&all[next]) {
                all.extend(node.listed.iter().filter(|key| seen.insert(**key)));
            }
            next += 1;
        }
        all
    }

    /// What must be read too before these readings can be applied: former parents of elements that now have another parent
    /// (were they moved, or are they claimed twice?), and new elements below those that were read. With `whole`, all new
    /// elements; else only those that the ids of their parents are made from.
    pub fn still_to_read(&self, readings: &Readings, whole: bool) -> Vec<ElementKey> {
        let mut wanting = BTreeSet::new();
        let room = self.max_elements.saturating_sub(self.len() + readings.len());
        // A row's id may come from a text deep inside it. The inside was read after the row, so one pass finds it.
        let mut inside = KeySet::default();
        for (key, reading) in readings.living() {
            let by_content = |facts: &Facts| facts.role.keyed() == Keyed::ByContent;
            let below = whole || reading.facts.as_ref().is_some_and(by_content) || inside.contains(&key);
            if below && !whole {
                inside.extend(reading.children().iter().copied());
            }
            for child in reading.children().iter().filter(|child| !readings.has(**child)) {
                match self.nodes.get(child) {
                    Some(node) if node.sent_facts.is_some() || node.parent != Some(key) => {}
                    // Elements beyond the limit are not kept, so reading them would be wasted.
                    _ if below && wanting.len() < room => drop(wanting.insert(*child)),
                    _ => {}
                }
            }
            for child in reading.children() {
                match self.parent(*child) {
                    Some(former) if former != key && !readings.has(former) => drop(wanting.insert(former)),
                    _ => {}
                }
            }
        }
        if !self.denied.is_empty() {
            let leaving = self.below(&self.leaving(readings));
            let claimants = leaving.iter().filter_map(|child| self.denied.get(child)).flatten();
            wanting.extend(claimants.filter(|parent| self.has_sent(**parent) && !readings.has(**parent)));
        }
        wanting.into_iter().collect()
    }

    /// The elements that are dead by these readings, or no longer claimed by their parent.
    fn leaving(&self, readings: &Readings) -> Vec<ElementKey> {
        let mut leaving = Vec::new();
        for key in &readings.order {
            match (&readings.found[key], self.nodes.get(key)) {
                (Some(Found { list: Some(list), .. }), Some(node)) => {
                    let claimed: HashSet<&ElementKey> = list.order.iter().collect();
                    leaving.extend(node.listed.iter().filter(|child| !claimed.contains(child)));
                }
                (None, _) => leaving.push(*key),
                (Some(_), _) => {}
            }
        }
        leaving
    }

    /// Applies the readings and returns the updates to send.
    pub fn apply(&mut self, readings: Readings) -> AppliedReadings {
        let mut applied = AppliedReadings::default();
        let mut touched: Vec<ElementKey> = Vec::new();
        let mut orphans: Vec<ElementKey> = Vec::new();
        for (key, reading) in readings.living() {
            if let Some(list) = reading.list.as_ref().filter(|_| self.knows(key)) {
                self.list(key, list, &readings, &mut touched, &mut orphans, &mut applied);
            }
        }
        for key in readings.order.iter().filter(|key| readings.found[*key].is_none()) {
            let Some(node) = self.nodes.get_mut(key) else { continue };
            if node.sent_facts.is_some() {
                applied.updates.push(Update::Gone(*key));
            }
            if let Some(parent) = node.parent.take()
                && let Some(above) = self.nodes.get_mut(&parent)
            {
                above.listed.retain(|child| child != key);
                touched.push(parent);
            }
            self.forget(*key);
        }
        // This comes last, because an element dropped by one parent may have been claimed by another.
        for (orphan, parent) in orphans.chunks_exact(2).map(|pair| (pair[0], pair[1])) {
            if self.parent(orphan) == Some(parent) {
                self.forget(orphan);
            }
        }
        self.push_facts(readings, &mut touched, &mut applied);
        self.push_children(touched, &mut applied);
        applied.unread.retain(|key| self.nodes.get(key).is_some_and(|node| node.sent_facts.is_none()));
        applied
    }

    /// Decides which of the claimed children the element has.
    fn list(
        &mut self,
        key: ElementKey,
        list: &ChildList,
        readings: &Readings,
        touched: &mut Vec<ElementKey>,
        orphans: &mut Vec<ElementKey>,
        applied: &mut AppliedReadings,
    ) {
        self.denied.retain(|_, parents| {
            parents.remove(&key);
            !parents.is_empty()
        });
        let mut believed = Vec::with_capacity(list.order.len());
        let mut is_short = false;
        let mut seen = KeySet::with_capacity_and_hasher(list.order.len(), BuildHasherDefault::default());
        for child in list.order.iter().copied() {
            if !seen.insert(child) || child == key || child == ElementKey::APP {
                applied.cut += 1;
                continue;
            }
            match self.parent(child) {
                None if !self.knows(child) && self.nodes.len() >= self.max_elements => {
                    is_short = true;
                    continue;
                }
                None if !self.knows(child) => {
                    self.nodes.insert(child, Node { parent: Some(key), ..Node::default() });
                    applied.unread.push(child);
                }
                Some(parent) if parent == key => {}
                former => {
                    let held = former.is_some_and(|former| self.claims(former, child, readings));
                    if held || self.is_above(child, key) {
                        self.denied.entry(child).or_default().insert(key);
                        applied.cut += 1;
                        continue;
                    }
                    if let Some(above) = former.and_then(|former| self.nodes.get_mut(&former)) {
                        above.listed.retain(|other| *other != child);
                    }
                    touched.extend(former);
                    if let Some(node) = self.nodes.get_mut(&child) {
                        node.parent = Some(key);
                    }
                }
            }
            believed.push(child);
        }
        let Some(node) = self.nodes.get_mut(&key) else { return };
        if node.listed != believed {
            let dropped = node.listed.iter().filter(|child| !seen.contains(child));
            orphans.extend(dropped.flat_map(|child| [*child, key]));
            node.listed = believed;
        }
        node.total = match is_short {
            true => list.total.max(u32::try_from(list.order.len()).ok()),
            false => list.total,
        };
        match is_short {
            true => self.short.insert(key),
            false => self.short.remove(&key),
        };
        touched.push(key);
    }

    fn claims(&self, parent: ElementKey, child: ElementKey, readings: &Readings) -> bool {
        match readings.found.get(&parent) {
            Some(Some(Found { list: Some(list), .. })) => list.order.contains(&child),
            Some(None) => false,
            Some(Some(_)) | None => self.nodes.get(&parent).is_some_and(|node| node.listed.contains(&child)),
        }
    }

    fn is_above(&self, key: ElementKey, below: ElementKey) -> bool {
        let mut at = Some(below);
        while let Some(here) = at {
            if here == key {
                return true;
            }
            at = self.parent(here);
        }
        false
    }

    fn forget(&mut self, root: ElementKey) {
        let mut going = vec![root];
        while let Some(key) = going.pop() {
            self.denied.remove(&key);
            self.short.remove(&key);
            self.texts.forget(key);
            if let Some(node) = self.nodes.remove(&key) {
                going.extend(node.listed.into_iter().filter(|child| self.parent(*child) == Some(key)));
            }
        }
    }

    fn push_facts(
        &mut self,
        readings: Readings,
        touched: &mut Vec<ElementKey>,
        applied: &mut AppliedReadings,
    ) {
        let Readings { order, mut found } = readings;
        for key in order {
            let (Some(Some(reading)), Some(node)) = (found.remove(&key), self.nodes.get_mut(&key)) else {
                continue;
            };
            let Some(mut facts) = reading.facts else { continue };
            self.texts.bound(key, &mut facts);
            let print = fingerprint(&facts);
            if node.sent_facts == Some(print) {
                continue;
            }
            if node.sent_facts.is_none() {
                // What is sent for the first time is sent with its children.
                if reading.list.is_none() {
                    continue;
                }
                touched.extend(node.parent);
                applied.new.push(key);
            }
            node.sent_facts = Some(print);
            applied.updates.push(Update::Upsert { key, facts: Box::new(facts) });
        }
    }

    fn push_children(&mut self, touched: Vec<ElementKey>, applied: &mut AppliedReadings) {
        let mut done = KeySet::default();
        for parent in touched {
            if !done.insert(parent) || !self.has_sent(parent) {
                continue;
            }
            let node = &self.nodes[&parent];
            let order: Vec<ElementKey> =
                node.listed.iter().filter(|child| self.has_sent(**child)).copied().collect();
            let (total, print) = (node.total, order_print(&order, node.total));
            if print != node.sent_children {
                applied.updates.push(Update::Children { parent, order, total });
                if let Some(node) = self.nodes.get_mut(&parent) {
                    node.sent_children = print;
                }
            }
        }
    }
}

/// A hash of a list of children: equal hashes mean the same children in the same order; without children it is 0.
fn order_print(order: &[ElementKey], total: Option<u32>) -> u64 {
    if order.is_empty() && total.is_none() {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    (order, total).hash(&mut hasher);
    hasher.finish()
}

/// A hash of facts: equal hashes mean equal facts.
fn fingerprint(facts: &Facts) -> u64 {
    // Destructured by name, so that a new field cannot be forgotten here.
    let Facts { role, native_role, name, value, description, identifier, states, actions, row, window } =
        facts;
    let mut hasher = DefaultHasher::new();
    (role, native_role, name, value, description).hash(&mut hasher);
    (identifier, states, actions, row, window).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
