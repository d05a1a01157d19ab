//! Hiding: a window that may not be read is absent from the tree, with all that is in it.
//!
//! The arena stays whole: a *concealed* node keeps its key, id, place and facts, and batches apply to it as to any other, so
//! that it is right when it is shown again. But nothing that readers start from leads to it: it is in no index and not in the
//! change list, its id is not looked up, and the topmost concealed node is detached from its parent except while a batch is
//! applied. To readers it was removed, and leaves a tombstone if it was ever seen; when it is shown again it is new.

use std::fmt;
use std::sync::Arc;

use axd_protocol::{Field, NodeId, Role, State, Tick};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::apply::Apply;
use crate::change_list::Tombstone;
use crate::store::Ix;
use crate::{Applied, ElementKey, Notice, Tree};

/// Says of a title whether the window that has it is hidden.
#[derive(Clone)]
pub struct Hides(Arc<dyn Fn(&Titled<'_>) -> bool + Send + Sync>);

/// What a window is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Titled<'a> {
    /// Its title; empty if it has none.
    pub title: &'a str,
    /// The window system's number, if it is a window of the desktop.
    pub window: Option<u64>,
}

/// What a node was called when readers last saw it.
pub(crate) type Former = (Role, Option<Box<str>>);

impl Hides {
    /// A predicate of windows.
    pub fn new(hides: impl Fn(&Titled<'_>) -> bool + Send + Sync + 'static) -> Hides {
        Hides(Arc::new(hides))
    }
}

impl fmt::Debug for Hides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hides")
    }
}

/// What of a tree is hidden.
#[derive(Debug, Default)]
pub(crate) struct Hiding {
    hides: Option<Hides>,
    /// The nodes that are hidden by their own title.
    hidden: FxHashSet<Ix>,
    /// The children of parents from which hidden ones are detached, those included.
    orders: FxHashMap<Ix, Vec<Ix>>,
    /// The number of concealed nodes.
    pub concealed: usize,
}

impl Hiding {
    /// Whether nothing is hidden and nothing could be.
    pub fn is_off(&self) -> bool {
        self.hides.is_none() && self.hidden.is_empty()
    }

    /// Called when a node is removed.
    pub fn forget(&mut self, ix: Ix) {
        self.hidden.remove(&ix);
    }
}

impl Tree {
    /// Says which windows are hidden from now on. All are judged again at once: what is hidden now is removed for readers, what
    /// no longer is is added.
    pub fn set_hides(&mut self, hides: Option<Hides>, tick: Tick) -> Applied {
        self.change(tick, |apply| {
            apply.tree.hiding.hides = hides;
            let root = apply.tree.root;
            apply.titled.extend(root.into_iter().flat_map(|root| apply.tree.store.subtree(root)));
        })
    }

    /// Whether any window is hidden.
    pub fn has_hidden(&self) -> bool {
        !self.hiding.hidden.is_empty()
    }

    /// The windows of the desktop that are hidden.
    pub fn hidden_windows(&self) -> impl Iterator<Item = Titled<'_>> {
        let titled = |ix: &Ix| Titled {
            title: self.store[*ix].name.as_deref().unwrap_or_default(),
            window: self.store.window(*ix),
        };
        self.hiding.hidden.iter().map(titled).filter(|titled| titled.window.is_some())
    }

    /// Whether an id is that of an element in a hidden window.
    pub fn is_concealed(&self, id: NodeId) -> bool {
        self.by_id.get(&id).is_some_and(|ix| self.store[*ix].concealed)
    }

    /// Whether a native element is in a hidden window.
    pub fn is_concealed_key(&self, key: ElementKey) -> bool {
        self.by_key.get(&key).is_some_and(|ix| self.store[*ix].concealed)
    }

    /// A living element that is not hidden.
    pub(crate) fn shown(&self, id: NodeId) -> Option<Ix> {
        self.by_id.get(&id).copied().filter(|ix| !self.store[*ix].concealed)
    }

    /// The tombstone of an id that no element has, as far as readers know.
    pub(crate) fn tombstone(&self, id: NodeId) -> Option<&Tombstone> {
        self.changes.tombstone(id).filter(|_| self.shown(id).is_none())
    }

    /// Whether a node is hidden by its own title. Besides windows this is asked of all that the app lists as its own children.
    fn is_hidden(&self, ix: Ix) -> bool {
        let node = &self.store[ix];
        let Some(hides) = self.hiding.hides.as_ref().filter(|_| node.parent.is_some()) else { return false };
        let titled =
            Titled { title: node.name.as_deref().unwrap_or_default(), window: self.store.window(ix) };
        (node.role.is_window() || node.parent == self.root) && (hides.0)(&titled)
    }
}

impl Apply<'_> {
    /// Attaches what was detached, so that the batch applies to the whole tree.
    pub(crate) fn attach_hidden(&mut self) {
        for (parent, order) in std::mem::take(&mut self.tree.hiding.orders) {
            for child in &order {
                self.tree.store[*child].parent = Some(parent);
            }
            self.tree.store[parent].children = order;
            self.tree.store.renumber(parent, 0);
        }
    }

    /// Detaches the hidden windows whose parent is shown.
    pub(crate) fn detach_hidden(&mut self) {
        let Tree { store, hiding, .. } = &mut *self.tree;
        for ix in &hiding.hidden {
            let Some(parent) = store[*ix].parent.filter(|parent| !store[*parent].concealed) else { continue };
            let order = std::mem::take(&mut store[parent].children);
            store[parent].children = order.iter().copied().filter(|child| !store[*child].concealed).collect();
            store.renumber(parent, 0);
            for child in &order {
                if store[*child].concealed {
                    store[*child].parent = None;
                }
            }
            hiding.orders.insert(parent, order);
        }
    }

    /// Notes who the parent was of a node that gets another one.
    pub(crate) fn note_move(&mut self, ix: Ix) {
        if !self.tree.hiding.is_off() {
            let from = self.tree.store[ix].parent.or_else(|| self.orphans.get(&ix).copied().flatten());
            let from = from.map(|from| self.tree.store[from].id);
            self.moved.entry(ix).or_insert(from);
        }
    }

    /// Conceals and reveals what this batch gave another title or another place.
    pub(crate) fn judge_windows(&mut self) {
        if self.tree.hiding.is_off() {
            return;
        }
        let mut judged = std::mem::take(&mut self.titled);
        let hidden = &self.tree.hiding.hidden;
        judged.extend(self.moved.keys().filter(|ix| hidden.contains(ix)));
        if let Some(root) = self.tree.root {
            judged.extend(self.tree.store[root].children.iter().filter(|ix| self.is_altered(**ix)));
        }
        let mut altered: Vec<Ix> = self.moved.keys().copied().collect();
        for ix in judged {
            let is_hidden = self.tree.is_hidden(ix);
            let hidden = &mut self.tree.hiding.hidden;
            let is_news = if is_hidden { hidden.insert(ix) } else { hidden.remove(&ix) };
            if is_news {
                altered.push(ix);
            }
        }
        if self.tree.hiding.concealed > 0 || !self.tree.hiding.hidden.is_empty() {
            altered.into_iter().for_each(|ix| self.conceal_or_reveal(ix));
        }
    }

    /// Whether this batch changed something by which a child of the root is judged.
    fn is_altered(&self, ix: Ix) -> bool {
        let node = &self.tree.store[ix];
        [node.reparented, node.changed(Field::Name), node.changed(Field::Role)].contains(&self.tick)
    }

    /// Makes a node and all below it as its ancestors and titles say. An orphan is about to be removed and stays as it is.
    fn conceal_or_reveal(&mut self, top: Ix) {
        let Tree { store, hiding, root, .. } = &*self.tree;
        let above: Vec<Ix> = store.ancestors(top).collect();
        if above.last().unwrap_or(&top) != root.as_ref().unwrap_or(&top) {
            return;
        }
        let mut stack = vec![(top, above.iter().any(|above| hiding.hidden.contains(above)))];
        while let Some((ix, within)) = stack.pop() {
            let conceal = within || self.tree.hiding.hidden.contains(&ix);
            stack.extend(self.tree.store[ix].children.iter().rev().map(|child| (*child, conceal)));
            match (conceal, self.tree.store[ix].concealed) {
                (true, false) => self.conceal(ix, !within),
                (false, true) => self.reveal(ix),
                _ => {}
            }
        }
    }

    /// Removes a node for readers. `root` says whether its parent stays.
    fn conceal(&mut self, ix: Ix, root: bool) {
        self.leave_readers(ix);
        let tree = &mut *self.tree;
        tree.store[ix].concealed = true;
        tree.hiding.concealed += 1;
        let node = &tree.store[ix];
        let structural = || node.parent.map(|parent| tree.store[parent].id);
        let parent = self.moved.get(&ix).copied().unwrap_or_else(structural);
        let (id, key, path) = (node.id, node.key, node.path);
        let (states, born, reparented) = (node.states, node.born, node.reparented);
        // What it is called now was never seen.
        let (role, name) = match self.former.remove(&ix) {
            Some(former) => former,
            None => (node.role, node.name.clone()),
        };
        let removed_at = self.tick;
        self.bury(Tombstone {
            id,
            key,
            path,
            role,
            name,
            states,
            parent,
            removed_at,
            born,
            reparented,
            root,
            unseen: false,
        });
    }

    /// Adds a node for readers, as if it were new.
    fn reveal(&mut self, ix: Ix) {
        let tree = &mut *self.tree;
        let node = &mut tree.store[ix];
        node.concealed = false;
        (node.born, node.reparented, node.reordered) = (self.tick, self.tick, self.tick);
        node.ticks = None;
        let is_focused = node.states.has(State::Focused);
        if node.total.is_some() {
            tree.partial.insert(ix);
        }
        tree.hiding.concealed -= 1;
        tree.index.enter(&mut tree.store, ix);
        self.touch(ix);
        self.notice_opened(ix);
        if is_focused {
            self.tree.focused = Some(ix);
            self.applied.notices.push(Notice::Focus(self.tree.node_ref(ix)));
        }
    }

    /// Drops what was noticed of nodes before it was known that they are hidden, or go.
    pub(crate) fn drop_notices_of_absent(&mut self) {
        let tree = &*self.tree;
        self.applied.notices.retain(|notice| match notice {
            Notice::Focus(node) | Notice::Opened(node) => tree.shown(node.id).is_some(),
            Notice::Closed(_) => true,
        });
    }
}
