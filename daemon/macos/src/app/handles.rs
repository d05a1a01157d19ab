//! The elements of an app and the keys they go by outside.

use std::collections::{HashMap, HashSet};

use crate::ax::element::Element;
use axd_platform::ElementKey;

/// Fewer elements than this are never too many.
const MIN_PRUNE_SIZE: usize = 4096;

/// Elements by key and keys by element. A key is given out once and never again.
pub struct Handles {
    elements: HashMap<ElementKey, Element>,
    keys: HashMap<Element, ElementKey>,
    last: u64,
    /// At how many it is time to look which are still needed.
    prune_at: usize,
}

impl Handles {
    /// An app and nothing else.
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

    /// The key of an element, a new one if it has none.
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

    /// Lets an element go by the key of another: what is asked about it is meant of that one.
    pub fn alias(&mut self, element: &Element, key: ElementKey) {
        self.keys.insert(element.clone(), key);
    }

    /// The element is gone. If something equal to it comes, that is a new one.
    pub fn forget(&mut self, key: ElementKey) {
        if key == ElementKey::APP {
            return;
        }
        if let Some(element) = self.elements.remove(&key) {
            self.keys.remove(&element);
        }
    }

    /// Whether it is time to [`prune`](Handles::tidy).
    pub fn should_prune(&self) -> bool {
        self.keys.len() >= self.prune_at
    }

    /// Forgets what is not among `needed`.
    pub fn prune(&mut self, needed: &HashSet<ElementKey>) {
        let is_needed = |key: &ElementKey| *key == ElementKey::APP || needed.contains(key);
        self.elements.retain(|key, _| is_needed(key));
        self.keys.retain(|_, key| is_needed(key));
        self.prune_at = (self.keys.len() * 2).max(MIN_PRUNE_SIZE);
    }
}
