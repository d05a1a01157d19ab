//! Which native element a key stands for: a bus name and an object path, which are the same for as long as the
//! element lives.

use std::collections::HashMap;
use std::sync::Arc;

use crate::atspi::protocol::ObjectRef;
use axd_platform::ElementKey;

/// An element on the bus.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Handle {
    /// The unique name of the process that has it; usually the app, another one for an embedded part.
    pub bus: Arc<str>,
    /// Its path.
    pub path: Arc<str>,
}

/// The elements of one app that were ever listed and are not forgotten.
#[derive(Debug)]
pub(crate) struct Handles {
    keys: HashMap<Handle, ElementKey>,
    handles: HashMap<ElementKey, Handle>,
    next: u64,
    app: Arc<str>,
}

impl Handles {
    /// Only the app itself.
    pub fn new(root: Handle) -> Handles {
        Handles {
            app: Arc::clone(&root.bus),
            keys: HashMap::from([(root.clone(), ElementKey::APP)]),
            handles: HashMap::from([(ElementKey::APP, root)]),
            next: 1,
        }
    }

    /// The key of an element, a new one if it was never seen.
    pub fn key(&mut self, at: &ObjectRef) -> ElementKey {
        let bus = if *at.bus == *self.app { Arc::clone(&self.app) } else { Arc::from(at.bus.as_str()) };
        let handle = Handle { bus, path: Arc::from(at.path.as_str()) };
        if let Some(key) = self.keys.get(&handle) {
            return *key;
        }
        let key = ElementKey(self.next);
        self.next += 1;
        self.keys.insert(handle.clone(), key);
        self.handles.insert(key, handle);
        key
    }

    /// The key of an element of the app's own, if it was seen.
    pub fn at(&self, path: &str) -> Option<ElementKey> {
        self.keys.get(&Handle { bus: Arc::clone(&self.app), path: Arc::from(path) }).copied()
    }

    /// The key of an element, if it was seen.
    pub fn find(&self, at: &ObjectRef) -> Option<ElementKey> {
        self.keys.get(&Handle { bus: Arc::from(at.bus.as_str()), path: Arc::from(at.path.as_str()) }).copied()
    }

    /// An element has been made anew: its key stands for the new one.
    pub fn rebind(&mut self, key: ElementKey, at: &ObjectRef) {
        let handle = Handle { bus: Arc::from(at.bus.as_str()), path: Arc::from(at.path.as_str()) };
        if let Some(before) = self.handles.insert(key, handle.clone()) {
            self.keys.remove(&before);
        }
        self.keys.insert(handle, key);
    }

    /// The element of a key.
    pub fn get(&self, key: ElementKey) -> Option<&Handle> {
        self.handles.get(&key)
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Forgets all that are not to be kept. Their keys are never used again.
    pub fn retain(&mut self, keep: impl Fn(ElementKey) -> bool) {
        self.handles.retain(|key, _| *key == ElementKey::APP || keep(*key));
        self.keys.retain(|_, key| self.handles.contains_key(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str) -> ObjectRef {
        ObjectRef { bus: ":1.5".into(), path: path.to_owned().try_into().unwrap() }
    }

    #[test]
    fn a_key_is_the_elements_own_and_never_given_again() {
        let mut handles = Handles::new(Handle { bus: ":1.5".into(), path: "/root".into() });
        let (a, b) = (handles.key(&at("/a")), handles.key(&at("/b")));
        assert_eq!((handles.key(&at("/a")), handles.key(&at("/root"))), (a, ElementKey::APP));
        handles.retain(|key| key == b);
        assert_eq!((handles.len(), handles.at("/a"), handles.at("/b")), (2, None, Some(b)));
        assert_ne!(handles.key(&at("/a")), a);
        handles.rebind(b, &at("/c"));
        assert_eq!((handles.find(&at("/c")), handles.find(&at("/b"))), (Some(b), None));
    }
}
