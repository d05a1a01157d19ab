//! What a tree is fed with: updates of elements, in batches. Workers send them, [`Tree::apply`](crate::Tree::apply) takes them.

use axd_protocol::{Role, States};

/// A worker's name for a native element: the same for as long as the element lives, and never used again after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementKey(pub u64);

impl ElementKey {
    /// The app itself: the root of every tree.
    pub const APP: ElementKey = ElementKey(0);
}

/// What a worker read of one element: content only. Geometry is measured when it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// What it is.
    pub role: Role,
    /// What its toolkit calls its role.
    pub native_role: Option<String>,
    /// What it is called.
    pub name: Option<String>,
    /// What it holds. A worker never reads the value of a secure field; the tree drops it if one does.
    pub value: Option<String>,
    /// More about it.
    pub description: Option<String>,
    /// What its developer calls it.
    pub identifier: Option<String>,
    /// What is true of it.
    pub states: States,
    /// What it can do, by native name.
    pub actions: Vec<String>,
    /// Its index in a container that shows only some of its rows.
    pub row: Option<u32>,
    /// The window system's number, of a window.
    pub window: Option<u64>,
}

impl Facts {
    /// Nothing but a role.
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

/// One thing a worker learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// The element and all below it are gone, except what the same batch places elsewhere.
    Gone(ElementKey),
    /// The element is like this.
    Upsert {
        /// Which.
        key: ElementKey,
        /// How it is.
        facts: Box<Facts>,
    },
    /// The element's children are these. What was there and is not listed, here or under another parent in the same
    /// batch, is gone.
    Children {
        /// Whose.
        parent: ElementKey,
        /// Those that have been read, in order.
        order: Vec<ElementKey>,
        /// How many there are, where that is more than `order` holds: a container that shows some of its rows. [`UNCOUNTED`] where
        /// nobody knows how many.
        total: Option<u32>,
    },
}

/// The total of a container that may have more than it lists, of which nobody knows how many.
pub const UNCOUNTED: u32 = 0;

/// What a worker learned at once. It is applied whole or not at all as far as readers can tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// How it was learned.
    pub cause: Cause,
    /// What was learned.
    pub updates: Vec<Update>,
}

/// How a worker came to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// It walked the app.
    Walk,
    /// The app announced it.
    Event,
    /// It read again what somebody waits on.
    Reread,
    /// The background sweep found it.
    Sweep,
}
