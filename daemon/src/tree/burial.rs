//! Burial: what nobody placed is gone, and leaves a grave.

use axd_protocol::{NodeId, NodeRef, Role};

use super::Notice;
use super::apply::Apply;
use super::journal::Grave;
use super::store::Ix;

impl Apply<'_> {
    /// Buries every orphan, with all below it.
    pub(super) fn bury_orphans(&mut self) {
        let orphans: Vec<(Ix, Option<Ix>)> = self.orphans.drain().collect();
        // Parents' ids are looked up before any of them is buried itself.
        let mut roots: Vec<(Ix, Option<NodeId>)> = orphans
            .into_iter()
            .map(|(ix, parent)| (ix, parent.map(|parent| self.tree.store[parent].id)))
            .collect();
        roots.sort_unstable_by_key(|(ix, _)| *ix);
        for (root, former) in roots {
            let doomed: Vec<Ix> = self.tree.store.subtree(root).collect();
            let parents: Vec<Option<NodeId>> = doomed
                .iter()
                .map(|ix| self.tree.store[*ix].parent.map(|parent| self.tree.store[parent].id).or(former))
                .collect();
            for (ix, parent) in doomed.into_iter().zip(parents) {
                self.bury(ix, parent, ix == root);
            }
            self.applied.changed = true;
        }
    }

    fn bury(&mut self, ix: Ix, parent: Option<NodeId>, root: bool) {
        let tree = &mut *self.tree;
        tree.index.leave(&mut tree.store, ix);
        tree.journal.unlink(&mut tree.store, ix);
        if tree.focused == Some(ix) {
            tree.focused = None;
        }
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
        self.tree.journal.bury(Grave {
            id: node.id,
            key: node.key.or_else(|| self.departed.remove(&ix)),
            path: node.path,
            role: node.role,
            name: node.name,
            parent,
            died: self.tick,
            born: node.born,
            reparented: node.reparented,
            root,
        });
    }
}
