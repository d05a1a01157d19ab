//! The input of a tree: updates of elements, in batches. Workers send them, [`Tree::apply`](crate::Tree::apply) applies them.

use axd_protocol::{Role, States};

/// A worker's key for a native element: constant as long as the element lives, and never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementKey(pub u64);

impl ElementKey {
    /// The app element: the root of every tree.
    pub const APP: ElementKey = ElementKey(0);
}

/// What a worker read of one element: content only. Bounds are measured on request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Its role.
    pub role: Role,
    /// The toolkit's name for its role.
    pub native_role: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Its value. A worker never reads the value of a secure field; the tree drops it if one does.
    pub value: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Its developer's identifier for it.
    pub identifier: Option<String>,
    /// Its states.
    pub states: States,
    /// Its actions, by native name.
    pub actions: Vec<String>,
    /// Its index in a container that lists only some of its rows.
    pub row: Option<u32>,
    /// The window system's number, for a window.
    pub window: Option<u64>,
}

impl Facts {
    /// Facts with a role and nothing else.
    pub fn new(role: Role) -> Facts {
        Facts {
            role,
            native_role: None,
            name: None,
            value: None,
            description: None,
            identifier: None,
            states: States::NONE,
            actions: Vec::new(),
            row: None,
            window: None,
        }
    }
}

/// One change of one element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// The element and all below it are gone, except those that the same batch places elsewhere.
    Gone(ElementKey),
    /// The element's facts.
    Upsert {
        /// The element.
        key: ElementKey,
        /// Its facts.
        facts: Box<Facts>,
    },
    /// The element's children. Former children that are not listed, here or under another parent in the same batch, are gone.
    Children {
        /// The parent.
        parent: ElementKey,
        /// The children that have been read, in order.
        order: Vec<ElementKey>,
        /// The total number of children, where `order` has only some of them: for a container that lists some of its rows.
        /// [`UNCOUNTED`] where the number is not known.
        total: Option<u32>,
    },
}

/// The total of a container that may have more rows than it lists, where the number is not known.
pub const UNCOUNTED: u32 = 0;

/// Updates that a worker sends together. Readers see all of them applied, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// What made the worker read.
    pub cause: Cause,
    /// The updates.
    pub updates: Vec<Update>,
}

/// What made a worker read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A walk of the app.
    Walk,
    /// An event of the app.
    Event,
    /// An interest was read again.
    Reread,
    /// The background sweep.
    Sweep,
}
