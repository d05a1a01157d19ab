//! The node store: an arena of slots, the links between them, and their interned strings.

use std::num::NonZeroU32;
use std::sync::Arc;

use axd_protocol::{Field, NodeId, Role, States, Tick};
use rustc_hash::FxHashMap;

use crate::ElementKey;

/// A slot of the arena. Valid until its node is removed; never sent to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ix(NonZeroU32);

impl Ix {
    fn slot(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// An element in the tree.
///
/// The fields that reads use come first and together (hence `repr(C)`): a snapshot of a large tree is bound by memory access
/// more than by anything else.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Node {
    pub id: NodeId,
    pub role: Role,
    /// Whether readers must not see it: it is in a hidden window.
    pub concealed: bool,
    pub states: States,
    pub native_role: Option<Sym>,
    pub actions: Option<List>,
    pub name: Option<Box<str>>,
    pub value: Option<Box<str>>,
    pub description: Option<Box<str>>,
    pub identifier: Option<Box<str>>,
    pub children: Vec<Ix>,
    /// The number of children, where that is more than have been read.
    pub total: Option<u32>,
    /// The index in a container that lists only some of its rows.
    pub row: Option<u32>,
    pub parent: Option<Ix>,
    /// The index among the parent's children.
    pub index: u32,

    /// The native key; `None` while the native element is gone and the node may be reused for a new one.
    pub key: Option<ElementKey>,
    /// A hash of the keys from the window down to here, as they were when the node was added.
    pub path: u64,

    pub born: Tick,
    /// When each field last changed, if any has since the node was added: most never do.
    pub ticks: Option<Box<[Tick; Field::ALL.len()]>>,
    /// When it last got another parent, or was added.
    pub reparented: Tick,
    /// When its order among its siblings last changed.
    pub reordered: Tick,
    /// When any of the above last changed.
    pub touched: Tick,
    /// Neighbours in the list ordered by `touched`.
    pub newer: Option<Ix>,
    pub older: Option<Ix>,

    /// A hash of the folded name, the neighbours in the index's list of nodes that share it, and the position in the index's
    /// bucket of the role.
    pub name_hash: Option<NonZeroU32>,
    pub previous_same_name: Option<Ix>,
    pub next_same_name: Option<Ix>,
    pub role_slot: u32,
}

impl Node {
    /// When a field last changed.
    pub fn changed(&self, field: Field) -> Tick {
        self.ticks.as_ref().map_or(self.born, |ticks| ticks[field as usize])
    }

    /// Records that a field changed.
    pub fn set_changed(&mut self, field: Field, tick: Tick) {
        if self.changed(field) != tick {
            let born = self.born;
            self.ticks.get_or_insert_with(|| Box::new([born; Field::ALL.len()]))[field as usize] = tick;
        }
    }
}

/// All nodes of one app.
#[derive(Debug, Default)]
pub(super) struct Store {
    slots: Vec<Option<Node>>,
    free: Vec<Ix>,
    /// The window system's numbers of the few nodes that are windows.
    windows: FxHashMap<Ix, u64>,
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
        if self.slots.len() == self.slots.capacity() {
            // Grows by an eighth: doubling would leave up to half of the tree's largest allocation by far unused.
            self.slots.reserve_exact((self.slots.len() / 8).max(64));
        }
        self.slots.push(Some(node));
        Ix(number(self.slots.len()))
    }

    pub fn remove(&mut self, ix: Ix) -> Option<Node> {
        let node = self.slots[ix.slot()].take();
        if node.is_some() {
            self.windows.remove(&ix);
            self.free.push(ix);
        }
        node
    }

    /// The number of nodes for which there is memory.
    #[cfg(test)]
    pub fn capacity(&self) -> usize {
        self.slots.capacity()
    }

    /// Frees what an app that goes on renaming things, or has ended, no longer uses.
    pub fn tidy(&mut self) {
        if self.len() == 0 && !self.slots.is_empty() {
            *self = Store::default();
        } else if self.strings.is_large() {
            let mut strings = Strings::default();
            for node in self.slots.iter_mut().flatten() {
                node.native_role = node.native_role.map(|sym| strings.intern(self.strings.get(sym)));
                let actions: Vec<String> = self.strings.list(node.actions).map(str::to_owned).collect();
                node.actions = strings.intern_list(&actions);
            }
            strings.limit = Strings::LIMIT.max(2 * strings.len());
            self.strings = strings;
        }
    }

    /// The window system's number of a node.
    pub fn window(&self, ix: Ix) -> Option<u64> {
        self.windows.get(&ix).copied()
    }

    /// Sets the window system's number of a node.
    pub fn set_window(&mut self, ix: Ix, window: Option<u64>) {
        match window {
            Some(window) => drop(self.windows.insert(ix, window)),
            None => drop(self.windows.remove(&ix)),
        }
    }

    /// Removes a node from its parent's children, and closes the gap.
    pub fn detach(&mut self, ix: Ix) {
        let Some(parent) = self[ix].parent.take() else { return };
        let index = self[ix].index as usize;
        let children = &mut self[parent].children;
        if children.get(index) == Some(&ix) {
            children.remove(index);
            self.renumber(parent, index);
        }
    }

    /// Updates the `index` of the children from `start` on.
    pub fn renumber(&mut self, parent: Ix, start: usize) {
        let children = std::mem::take(&mut self[parent].children);
        for (index, child) in children.iter().enumerate().skip(start) {
            self[*child].index = index as u32;
        }
        self[parent].children = children;
    }

    /// The number of steps from a node to the root.
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
        // Slots are reached only through links, and removing a node removes every link to it.
        self.slots[ix.slot()].as_ref().expect("a link to a removed node")
    }
}

impl std::ops::IndexMut<Ix> for Store {
    fn index_mut(&mut self, ix: Ix) -> &mut Node {
        self.slots[ix.slot()].as_mut().expect("a link to a removed node")
    }
}

/// The number of the last of `count` items, counted from 1.
fn number(count: usize) -> NonZeroU32 {
    // 2^32 items do not fit into memory, so the count is never zero or out of range.
    NonZeroU32::new(count as u32).unwrap_or(NonZeroU32::MAX)
}

/// An interned string: native roles and actions repeat on every node, so each is stored once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Sym(NonZeroU32);

/// An interned list of at least one string: most nodes of a role have the same actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct List(NonZeroU32);

/// The interned strings of an app.
#[derive(Debug)]
pub(super) struct Strings {
    /// With more strings and lists than this, those that no node has are dropped.
    limit: usize,
    words: Vec<Arc<str>>,
    known: FxHashMap<Arc<str>, Sym>,
    lists: Vec<Arc<[Sym]>>,
    known_lists: FxHashMap<Arc<[Sym]>, List>,
}

impl Default for Strings {
    fn default() -> Strings {
        Strings {
            limit: Strings::LIMIT,
            words: Vec::new(),
            known: FxHashMap::default(),
            lists: Vec::new(),
            known_lists: FxHashMap::default(),
        }
    }
}

impl Strings {
    /// More than any app has of roles and actions that it does not make up as it goes.
    const LIMIT: usize = 4_096;

    fn len(&self) -> usize {
        self.words.len() + self.lists.len()
    }

    /// Whether there are about as many strings as a tree of few nodes needs.
    #[cfg(test)]
    pub fn is_bounded(&self) -> bool {
        self.len() <= Strings::LIMIT + 64
    }

    /// Whether it is worth looking for strings that no node has any more.
    fn is_large(&self) -> bool {
        self.len() > self.limit
    }

    pub fn intern(&mut self, word: &str) -> Sym {
        if let Some(&known) = self.known.get(word) {
            return known;
        }
        let word: Arc<str> = word.into();
        self.words.push(Arc::clone(&word));
        let sym = Sym(number(self.words.len()));
        self.known.insert(word, sym);
        sym
    }

    pub fn get(&self, sym: Sym) -> &str {
        &self.words[sym.0.get() as usize - 1]
    }

    /// Interns a list; `None` if it is empty.
    pub fn intern_list(&mut self, words: &[String]) -> Option<List> {
        if words.is_empty() {
            return None;
        }
        let list: Vec<Sym> = words.iter().map(|word| self.intern(word)).collect();
        if let Some(&known) = self.known_lists.get(&list[..]) {
            return Some(known);
        }
        let list: Arc<[Sym]> = list.into();
        self.lists.push(Arc::clone(&list));
        let number = List(number(self.lists.len()));
        self.known_lists.insert(list, number);
        Some(number)
    }

    pub fn list(&self, list: Option<List>) -> impl Iterator<Item = &str> {
        let syms = list.map_or(&[][..], |list| &self.lists[list.0.get() as usize - 1]);
        syms.iter().map(|sym| self.get(*sym))
    }
}
