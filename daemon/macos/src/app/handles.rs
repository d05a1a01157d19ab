//! The elements of an app, and the keys that stand for them outside of its thread.

use std::collections::{HashMap, HashSet};

use crate::ax::element::Element;
use axd_platform::ElementKey;

/// Below this number of elements nothing is pruned.
const MIN_PRUNE_SIZE: usize = 4096;

/// Elements by key and keys by element. A key is never used again.
pub struct Handles {
    elements: HashMap<ElementKey, Element>,
    keys: HashMap<Element, ElementKey>,
    last: u64,
    /// The number of elements at which to prune next.
    prune_at: usize,
}

impl Handles {
    /// Only the app's own element.
    pub fn new(app: Element) -> Handles {
        Handles {
            elements: HashMap::from([(ElementKey::APP, app.clone())]),
            keys: HashMap::from([(app, ElementKey::APP)]),
            last: 0,
            prune_at: MIN_PRUNE_SIZE,
        }
    }

    /// The element of a key; `None` if it is gone.
    pub fn get(&self, key: ElementKey) -> Option<&Element> {
        self.elements.get(&key)
    }

    /// The key of an element, if it has one.
    pub fn find(&self, element: &Element) -> Option<ElementKey> {
        self.keys.get(element).copied()
    }

    /// The key of an element; a new one if it has none yet.
    pub fn key(&mut self, element: &Element) -> ElementKey {
        if let Some(key) = self.find(element) {
            return key;
        }
        self.last += 1;
        let key = ElementKey(self.last);
        self.elements.insert(key, element.clone());
        self.keys.insert(element.clone(), key);
        key
    }

    /// Gives an element the key of another one, which then stands for both.
    pub fn alias(&mut self, element: &Element, key: ElementKey) {
        self.keys.insert(element.clone(), key);
    }

    /// Removes an element that is gone. An equal element that comes later gets a new key.
    pub fn forget(&mut self, key: ElementKey) {
        if key == ElementKey::APP {
            return;
        }
        if let Some(element) = self.elements.remove(&key) {
            self.keys.remove(&element);
        }
    }

    /// Whether to [`prune`](Handles::prune) now.
    pub fn should_prune(&self) -> bool {
        self.keys.len() >= self.prune_at
    }

    /// Removes every element that is not in `needed`.
    pub fn prune(&mut self, needed: &HashSet<ElementKey>) {
        let is_needed = |key: &ElementKey| *key == ElementKey::APP || needed.contains(key);
        self.elements.retain(|key, _| is_needed(key));
        self.keys.retain(|_, key| is_needed(key));
        self.prune_at = (self.keys.len() * 2).max(MIN_PRUNE_SIZE);
    }
}
