//! Removal: an element that no update placed is removed, and leaves a tombstone.

use axd_protocol::{NodeId, NodeRef, Role};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Notice;
use crate::apply::Apply;
use crate::change_list::Tombstone;
use crate::store::Ix;

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
            self.applied.changed = true;
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
        let tree = &mut *self.tree;
        tree.index.leave(&mut tree.store, ix);
        tree.changes.unlink(&mut tree.store, ix);
        if tree.focused == Some(ix) {
            tree.focused = None;
        }
        tree.partial.remove(&ix);
        let Some(node) = tree.store.remove(ix) else { return };
        tree.by_id.remove(&node.id);
        if let Some(key) = node.key {
            tree.by_key.remove(&key);
        }
        tree.text_bytes -= node.text_bytes();
        if node.role.is_window() || node.role == Role::Menu {
            let gone =
                NodeRef { id: node.id, role: node.role, name: node.name.as_deref().map(str::to_owned) };
            self.applied.notices.push(Notice::Closed(gone));
        }
        self.tree.changes.add_tombstone(Tombstone {
            id: node.id,
            key: node.key.or_else(|| self.removed_keys.remove(&ix)),
            path: node.path,
            role: node.role,
            name: node.name,
            parent,
            removed_at: self.tick,
            born: node.born,
            reparented: node.reparented,
            root,
            unseen,
        });
    }
}
