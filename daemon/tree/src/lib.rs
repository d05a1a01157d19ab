//! The tree of one app: the ids of its elements, their current facts, and when each last changed.
//!
//! The tree is pure and synchronous: no runtime, no platform, no clock of its own (ticks are passed in). It is changed by
//! [`Tree::apply`], and read by [`Tree::find`], [`Tree::resolve`], the writers of a [`View`], and [`Tree::changes_since`].
//!
//! There is one file per concept: `store` holds nodes, `apply` changes them (with `identity`, `facts` and `removal`),
//! `hiding` keeps from readers what they may not see, `ids` makes their ids, `index` finds them, `change_list` records when they changed, `diff` computes differences, `view` chooses
//! what to show, `write` writes it.

mod apply;
mod brief;
#[cfg(any(test, feature = "fuzz"))]
pub mod consistency;
mod diff;
mod facts;
mod hiding;
pub mod ids;
mod index;
mod look;
mod past;
mod query;
mod store;
mod update;
mod view;
mod write;

mod change_list;
mod identity;
mod removal;
#[cfg(test)]
mod tests;

use axd_protocol::{NodeId, NodeRef, Role, States, Tick};
use rustc_hash::{FxHashMap, FxHashSet};

use change_list::ChangeList;
use store::{Node, Store};

pub use apply::MAX_DEPTH;
pub use diff::Changes;
pub use hiding::{Hides, Titled};
pub use look::{Look, LookBudget};
pub use query::{Found, Plan, Scope};
pub use store::Ix;
pub use update::{Batch, Cause, ElementKey, Facts, UNCOUNTED, Update};
pub use view::{Filter, Shown, View};
pub use write::NodeFields;

/// The tree of one app.
#[derive(Debug)]
pub struct Tree {
    app_path: u64,
    /// Limits the ids of elements that cannot be distinguished to this attachment.
    salt: u64,
    root: Option<Ix>,
    store: Store,
    by_key: FxHashMap<ElementKey, Ix>,
    by_id: FxHashMap<NodeId, Ix>,
    index: index::Index,
    changes: ChangeList,
    past: past::Past,
    focused: Option<Ix>,
    /// Containers of which not all rows were read.
    partial: FxHashSet<Ix>,
    hiding: hiding::Hiding,
    tick: Tick,
    text_bytes: usize,
    suspect: u64,
}

/// The result of applying a batch.
#[derive(Debug, Default)]
pub struct Applied {
    /// Whether anything changed.
    pub changed: bool,
    /// What happened that is worth an event of its own.
    pub notices: Vec<Notice>,
    /// Elements with impossible updates, which must be walked again.
    pub suspect: Vec<ElementKey>,
}

/// Something that happened in a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// This element has the keyboard focus now.
    Focus(NodeRef),
    /// This window, dialog or menu opened.
    Opened(NodeRef),
    /// This window, dialog or menu closed.
    Closed(NodeRef),
}

/// What an id refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// A living element.
    Alive(Ix),
    /// A removed element.
    Dead {
        /// What it was.
        was: NodeRef,
        /// Living elements like it, the most similar first.
        candidates: Vec<NodeRef>,
    },
    /// No element that was ever seen, or that is still remembered.
    Unknown,
}

impl Tree {
    /// An empty tree for the app with this path (see [`ids::app_path`]); `salt` must be different each time.
    pub fn new(app_path: u64, salt: u64) -> Tree {
        Tree {
            app_path,
            salt,
            root: None,
            store: Store::default(),
            by_key: FxHashMap::default(),
            by_id: FxHashMap::default(),
            index: index::Index::default(),
            changes: ChangeList::default(),
            past: past::Past::default(),
            focused: None,
            partial: FxHashSet::default(),
            hiding: hiding::Hiding::default(),
            tick: 0,
            text_bytes: 0,
            suspect: 0,
        }
    }

    /// Prepares for a new worker, with keys of its own: ids that depend on old keys must not be given out again.
    pub fn begin(&mut self, salt: u64) {
        self.salt = salt;
        self.changes.forget_keys();
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.store.len() - self.hiding.concealed
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// The tick of the last change.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// The number of impossible updates so far.
    pub fn suspect(&self) -> u64 {
        self.suspect
    }

    /// The approximate memory use of the nodes.
    pub fn bytes(&self) -> usize {
        // Per node: the node itself, its link in its parent, its entries in the key, id, role and name maps, and the
        // allocator's overhead for its texts (`cargo bench --bench memory` compares this to the actual use).
        self.store.len() * (size_of::<Option<Node>>() + 128) + self.text_bytes
    }

    /// The root element.
    pub fn root(&self) -> Option<Ix> {
        self.root
    }

    /// The element that has the keyboard focus.
    pub fn focused(&self) -> Option<Ix> {
        self.focused
    }

    /// The windows, in the order the app gives them.
    pub fn windows(&self) -> impl Iterator<Item = Ix> {
        let children = self.root.map_or(&[][..], |root| &self.store[root].children);
        children.iter().copied().filter(|ix| self.store[*ix].role.is_window())
    }

    /// Whether an element was added after this tick.
    pub fn came_after(&self, ix: Ix, tick: Tick) -> bool {
        self.store[ix].born > tick
    }

    /// The window system's number of a window.
    pub fn window_number(&self, ix: Ix) -> Option<u64> {
        self.store.window(ix)
    }

    /// An element by its worker's key.
    pub fn by_key(&self, key: ElementKey) -> Option<Ix> {
        self.by_key.get(&key).copied().filter(|ix| !self.store[*ix].concealed)
    }

    /// A living element by its id.
    pub fn by_id(&self, id: NodeId) -> Option<Ix> {
        self.shown(id)
    }

    /// An element's native key; `None` only for a node that is about to go.
    pub fn key(&self, ix: Ix) -> Option<ElementKey> {
        self.store[ix].key
    }

    /// An element's id.
    pub fn id(&self, ix: Ix) -> NodeId {
        self.store[ix].id
    }

    /// An element's states.
    pub fn states(&self, ix: Ix) -> States {
        self.store[ix].states
    }

    /// An element's role.
    pub fn role(&self, ix: Ix) -> Role {
        self.store[ix].role
    }

    /// An element's name.
    pub fn name(&self, ix: Ix) -> Option<&str> {
        self.store[ix].name.as_deref()
    }

    /// An element's description.
    pub fn description(&self, ix: Ix) -> Option<&str> {
        self.store[ix].description.as_deref()
    }

    /// The name of an element, or the text in it that stands for one.
    pub fn name_or_text(&self, ix: Ix) -> Option<String> {
        self.name(ix).filter(|name| !name.trim().is_empty()).map(str::to_owned).or_else(|| self.lent(ix))
    }

    /// An element's value.
    pub fn value(&self, ix: Ix) -> Option<&str> {
        self.store[ix].value.as_deref()
    }

    /// An element's parent.
    pub fn parent(&self, ix: Ix) -> Option<Ix> {
        self.store[ix].parent
    }

    /// An element's children that have been read, in order.
    pub fn children(&self, ix: Ix) -> &[Ix] {
        &self.store[ix].children
    }

    /// The number of rows of a container that lists only some of them.
    pub fn total(&self, ix: Ix) -> Option<u32> {
        self.store[ix].total
    }

    /// The index of a row in a container that lists only some of its rows.
    pub fn row(&self, ix: Ix) -> Option<u32> {
        self.store[ix].row
    }

    /// The window, dialog or alert that an element is or is in.
    pub fn window_of(&self, ix: Ix) -> Option<Ix> {
        std::iter::once(ix)
            .chain(self.store.ancestors(ix))
            .filter(|above| self.store[*above].role.is_window())
            .last()
    }

    /// A reference to an element: its id, role and name.
    pub fn node_ref(&self, ix: Ix) -> NodeRef {
        let node = &self.store[ix];
        NodeRef { id: node.id, role: node.role, name: node.name.as_deref().map(str::to_owned) }
    }

    /// The ancestors of an element, from the window down.
    pub fn path(&self, ix: Ix) -> Vec<NodeRef> {
        let mut path: Vec<NodeRef> = self
            .store
            .ancestors(ix)
            .filter(|above| self.store[*above].role != Role::Application)
            .map(|above| self.node_ref(above))
            .collect();
        path.reverse();
        path
    }

    /// The elements above an element, from its parent up.
    pub fn ancestors(&self, ix: Ix) -> impl Iterator<Item = Ix> {
        self.store.ancestors(ix)
    }

    /// Whether `ix` is `scope` or below it.
    pub fn is_within(&self, ix: Ix, scope: Ix) -> bool {
        ix == scope || self.store.ancestors(ix).any(|above| above == scope)
    }

    /// The element and all below it, parents before children.
    pub fn subtree(&self, root: Ix) -> impl Iterator<Item = Ix> {
        self.store.subtree(root)
    }

    /// The role of a removed element, from its tombstone.
    pub fn role_of_dead(&self, id: NodeId) -> Option<Role> {
        self.tombstone(id).map(|tombstone| tombstone.role)
    }

    /// Whether a removed element was `scope`, or below it as far as tombstones show.
    pub fn was_removed_within(&self, id: NodeId, scope: NodeId) -> bool {
        let mut at = Some(id);
        // Tombstones refer to their former parents; an id that was reused could make a cycle, so the depth is limited.
        for _ in 0..MAX_DEPTH {
            match at {
                Some(id) if id == scope => return true,
                Some(id) => match (self.shown(id), self.tombstone(id)) {
                    (Some(ix), _) => {
                        return self.shown(scope).is_some_and(|scope| self.is_within(ix, scope));
                    }
                    (None, tombstone) => at = tombstone.and_then(|tombstone| tombstone.parent),
                },
                None => return false,
            }
        }
        false
    }

    /// What an id refers to.
    pub fn resolve(&self, id: NodeId) -> Resolved {
        if let Some(ix) = self.shown(id) {
            return Resolved::Alive(ix);
        }
        match self.tombstone(id) {
            Some(tombstone) => Resolved::Dead {
                was: NodeRef { id, role: tombstone.role, name: tombstone.name.as_deref().map(str::to_owned) },
                candidates: self.like(tombstone.role, tombstone.name.as_deref(), 5),
            },
            None => Resolved::Unknown,
        }
    }
}

impl Node {
    fn new(id: NodeId, key: ElementKey, path: u64, role: Role, tick: Tick) -> Node {
        Node {
            id,
            key: Some(key),
            path,
            role,
            concealed: false,
            states: States::NONE,
            native_role: None,
            name: None,
            value: None,
            description: None,
            identifier: None,
            actions: None,
            total: None,
            row: None,
            parent: None,
            index: 0,
            children: Vec::new(),
            born: tick,
            ticks: None,
            reparented: tick,
            reordered: tick,
            touched: tick,
            newer: None,
            older: None,
            name_hash: None,
            previous_same_name: None,
            next_same_name: None,
            role_slot: 0,
        }
    }

    fn text_bytes(&self) -> usize {
        let texts = [&self.name, &self.value, &self.description, &self.identifier];
        texts.into_iter().flatten().map(|text| text.len()).sum::<usize>()
    }
}
