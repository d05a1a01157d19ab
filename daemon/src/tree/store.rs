//! The node store: an arena of slots, the links between them, and the vocabulary they share.

use std::num::NonZeroU32;
use std::sync::Arc;

use axd_protocol::{Field, NodeId, Role, States, Tick};
use rustc_hash::FxHashMap;

use crate::platform::ElementKey;

/// A slot of the arena. Valid until its node is removed; never handed to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ix(NonZeroU32);

impl Ix {
    fn slot(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// An element as the tree holds it.
#[derive(Debug)]
pub(super) struct Node {
    pub id: NodeId,
    /// The native element; `None` while it is between two: its old one is gone and it may inherit a new one.
    pub key: Option<ElementKey>,
    /// Hash of the keys from the window down to here, as they were when the node came.
    pub path: u64,
    pub role: Role,
    pub states: States,
    pub native_role: Option<Sym>,
    pub name: Option<Box<str>>,
    pub value: Option<Box<str>>,
    pub description: Option<Box<str>>,
    pub identifier: Option<Box<str>>,
    pub actions: Box<[Sym]>,
    /// How many children there are, where that is more than have been read.
    pub total: Option<u32>,
    /// Index in a container that shows some of its rows.
    pub row: Option<u32>,
    /// The window system's number.
    pub window: Option<u64>,

    pub parent: Option<Ix>,
    /// Place among the parent's children.
    pub index: u32,
    pub children: Vec<Ix>,

    /// When each field last changed.
    pub ticks: [Tick; Field::ALL.len()],
    pub born: Tick,
    /// When it last got another parent (or came).
    pub reparented: Tick,
    /// When it last changed its order among its siblings.
    pub reordered: Tick,
    /// When anything of the above last happened.
    pub touched: Tick,
    /// Neighbours in the list ordered by `touched`.
    pub newer: Option<Ix>,
    pub older: Option<Ix>,

    /// Hash of the folded name, and the positions in the index's buckets.
    pub name_hash: Option<NonZeroU32>,
    pub name_slot: u32,
    pub role_slot: u32,
}

/// All nodes of one app.
#[derive(Debug, Default)]
pub(super) struct Store {
    slots: Vec<Option<Node>>,
    free: Vec<Ix>,
    pub strings: Strings,
}

impl Store {
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub fn insert(&mut self, node: Node) -> Ix {
        if let Some(ix) = self.free.pop() {
            self.slots[ix.slot()] = Some(node);
            return ix;
        }
        self.slots.push(Some(node));
        // A tree of 2^32 nodes does not fit into memory, so the count is never zero nor out of range.
        Ix(NonZeroU32::new(self.slots.len() as u32).unwrap_or(NonZeroU32::MAX))
    }

    pub fn remove(&mut self, ix: Ix) -> Option<Node> {
        let node = self.slots[ix.slot()].take();
        if node.is_some() {
            self.free.push(ix);
        }
        node
    }

    /// Takes a node out of its parent's children, and closes the gap.
    pub fn detach(&mut self, ix: Ix) {
        let Some(parent) = self[ix].parent.take() else { return };
        let index = self[ix].index as usize;
        let children = &mut self[parent].children;
        if children.get(index) == Some(&ix) {
            children.remove(index);
            self.renumber(parent, index);
        }
    }

    /// Makes the `index` of the children from `start` on true again.
    pub fn renumber(&mut self, parent: Ix, start: usize) {
        let children = std::mem::take(&mut self[parent].children);
        for (index, child) in children.iter().enumerate().skip(start) {
            self[*child].index = index as u32;
        }
        self[parent].children = children;
    }

    /// How many steps lie between a node and the root.
    pub fn depth(&self, ix: Ix) -> usize {
        self.ancestors(ix).count()
    }

    /// The node's parent, its parent's parent, and so on.
    pub fn ancestors(&self, ix: Ix) -> impl Iterator<Item = Ix> {
        std::iter::successors(self[ix].parent, |ancestor| self[*ancestor].parent)
    }

    /// The node and all below it, parents before children, in order.
    pub fn subtree(&self, root: Ix) -> impl Iterator<Item = Ix> {
        let mut stack = vec![root];
        std::iter::from_fn(move || {
            let ix = stack.pop()?;
            stack.extend(self[ix].children.iter().rev());
            Some(ix)
        })
    }
}

impl std::ops::Index<Ix> for Store {
    type Output = Node;
    fn index(&self, ix: Ix) -> &Node {
        // Slots are only named by links, and removing a node removes every link to it.
        self.slots[ix.slot()].as_ref().expect("a link to a removed node")
    }
}

impl std::ops::IndexMut<Ix> for Store {
    fn index_mut(&mut self, ix: Ix) -> &mut Node {
        self.slots[ix.slot()].as_mut().expect("a link to a removed node")
    }
}

/// A word of the app's vocabulary: native roles and actions repeat on every node, so each is kept once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sym(u32);

/// The app's vocabulary.
#[derive(Debug, Default)]
pub(super) struct Strings {
    words: Vec<Arc<str>>,
    known: FxHashMap<Arc<str>, u32>,
}

impl Strings {
    pub fn intern(&mut self, word: &str) -> Sym {
        if let Some(&known) = self.known.get(word) {
            return Sym(known);
        }
        let word: Arc<str> = word.into();
        self.words.push(Arc::clone(&word));
        let sym = self.words.len() as u32 - 1;
        self.known.insert(word, sym);
        Sym(sym)
    }

    pub fn get(&self, sym: Sym) -> &str {
        &self.words[sym.0 as usize]
    }
}
