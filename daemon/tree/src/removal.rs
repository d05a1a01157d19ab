//! Removal: an element that no update placed is removed, and leaves a tombstone.

use axd_protocol::{NodeId, NodeRef, Role};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Notice;
use crate::apply::Apply;
use crate::change_list::Tombstone;
use crate::store::Ix;

/// How many characters a tombstone has of a name: there are many of them, and names can be long.
const NAME_CHARS: usize = 256;

fn beginning_of(name: Box<str>) -> Box<str> {
    match name.char_indices().nth(NAME_CHARS) {
        Some((end, _)) => name[..end].into(),
        None => name,
    }
}

impl Apply<'_> {
    /// Removes every orphan, with all below it.
    pub(crate) fn remove_orphans(&mut self) {
        let orphans: Vec<(Ix, Option<Ix>)> = self.orphans.drain().collect();
        // The ids of parents are looked up before any parent is removed itself.
        let left = self.rows_left(&orphans);
        let mut roots: Vec<(Ix, Option<NodeId>, bool)> = orphans
            .into_iter()
            .map(|(ix, parent)| {
                let id = parent.map(|parent| self.tree.store[parent].id);
                let unseen = parent.is_some_and(|parent| self.may_still_hold(parent, &left));
                (ix, id, unseen)
            })
            .collect();
        roots.sort_unstable_by_key(|(ix, ..)| *ix);
        for (root, former, unseen) in roots {
            let subtree: Vec<Ix> = self.tree.store.subtree(root).collect();
            let parents: Vec<Option<NodeId>> = subtree
                .iter()
                .map(|ix| self.tree.store[*ix].parent.map(|parent| self.tree.store[parent].id).or(former))
                .collect();
            for (ix, parent) in subtree.into_iter().zip(parents) {
                self.remove_node(ix, parent, ix == root, unseen);
            }
        }
    }

    /// The number of rows that left each container that lists only some of its rows.
    fn rows_left(&self, orphans: &[(Ix, Option<Ix>)]) -> FxHashMap<Ix, usize> {
        let mut rows: FxHashMap<Ix, FxHashSet<Result<u32, Ix>>> = FxHashMap::default();
        for (ix, parent) in orphans {
            if let Some(parent) = parent.filter(|parent| self.tree.store[*parent].total.is_some()) {
                rows.entry(parent).or_default().insert(self.tree.store[*ix].row.ok_or(*ix));
            }
        }
        rows.into_iter().map(|(parent, rows)| (parent, rows.len())).collect()
    }

    /// Whether rows that left a container may still be in it. A row that is scrolled away ends natively just as a removed row
    /// does, but the container's row count does not decrease.
    fn may_still_hold(&self, parent: Ix, left: &FxHashMap<Ix, usize>) -> bool {
        let removed = self.shrunk.get(&parent).copied().unwrap_or_default() as usize;
        left.get(&parent).is_some_and(|left| *left > removed)
    }

    fn remove_node(&mut self, ix: Ix, parent: Option<NodeId>, root: bool, unseen: bool) {
        let concealed = self.tree.store[ix].concealed;
        if !concealed {
            self.leave_readers(ix);
        }
        let tree = &mut *self.tree;
        tree.hiding.forget(ix);
        let Some(node) = tree.store.remove(ix) else { return };
        tree.by_id.remove(&node.id);
        if let Some(key) = node.key {
            tree.by_key.remove(&key);
        }
        tree.text_bytes -= node.text_bytes();
        if concealed {
            tree.hiding.concealed -= 1;
            return;
        }
        let key = node.key.or_else(|| self.removed_keys.remove(&ix));
        let (role, name) = self.former.remove(&ix).unwrap_or((node.role, node.name));
        let (id, path, removed_at) = (node.id, node.path, self.tick);
        let (states, born, reparented) = (node.states, node.born, node.reparented);
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
            unseen,
        });
    }

    /// Takes a node out of all that readers start from.
    pub(crate) fn leave_readers(&mut self, ix: Ix) {
        let tree = &mut *self.tree;
        tree.index.leave(&mut tree.store, ix);
        tree.changes.unlink(&mut tree.store, ix);
        if tree.focused == Some(ix) {
            tree.focused = None;
        }
        tree.partial.remove(&ix);
    }

    /// Adds the tombstone of a node, unless nobody can have seen it: it came in this batch.
    pub(crate) fn bury(&mut self, tombstone: Tombstone) {
        if tombstone.born == self.tick {
            return;
        }
        if tombstone.role.is_window() || tombstone.role == Role::Menu {
            let name = tombstone.name.as_deref().map(str::to_owned);
            self.applied.notices.push(Notice::Closed(NodeRef {
                id: tombstone.id,
                role: tombstone.role,
                name,
            }));
        }
        self.tree.changes.add_tombstone(Tombstone { name: tombstone.name.map(beginning_of), ..tombstone });
    }
}
