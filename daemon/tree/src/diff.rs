//! The changes since a tick, computed from the change list alone: the cost depends on the size of the change, not of the tree.
//!
//! Sent whole (in `added`) are all nodes that are new since then and, if anything was removed too, all nodes that got another
//! parent, because the replica may have dropped them with what was removed. All other nodes keep their place in the replica, or
//! are moved.

use axd_protocol::selector::budget::spend;
use axd_protocol::{Field, NodeId, Tick};
use rustc_hash::FxHashSet;

use crate::Tree;
use crate::store::{Ix, Node};

/// A difference, as ids of removed and slots of living nodes. Valid as long as the tree does not change.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The roots of what was removed, the earliest first.
    pub removed: Vec<NodeId>,
    /// Moved nodes: node, parent, and index at the moment of insertion.
    pub moved: Vec<(Ix, Ix, u32)>,
    /// The roots of what is sent whole, in the order of insertion, and their index.
    pub added: Vec<(Ix, u32)>,
    /// Nodes that changed in place, and their changed fields.
    pub changed: Vec<(Ix, Fields)>,
}

/// A set of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fields(u16);

impl Fields {
    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the set contains `field`.
    pub fn has(self, field: Field) -> bool {
        self.0 & (1 << field as u8) != 0
    }

    /// The fields in the set.
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.iter().copied().filter(move |field| self.has(*field))
    }

    /// The intersection with `other`.
    #[must_use]
    pub fn only(self, other: &[Field]) -> Fields {
        let mask = other.iter().fold(0, |mask, field| mask | 1 << *field as u8);
        Fields(self.0 & mask)
    }
}

impl Changes {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        *self == Changes::default()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.removed.len() + self.moved.len() + self.added.len() + self.changed.len()
    }
}

impl Tree {
    /// The changes after `since`; `None` if they are no longer known.
    pub fn changes_since(&self, since: Tick) -> Option<Changes> {
        if !self.changes.reaches(since) {
            return None;
        }
        let (removed, any_removed) = self.removed_since(since);
        let comes_whole = |node: &Node| node.born > since || any_removed && node.reparented > since;
        let mut changes = Changes { removed, ..Changes::default() };
        for ix in self.changes.touched_since(&self.store, since).take_while(|_| spend(1)) {
            if self.store.ancestors(ix).any(|above| comes_whole(&self.store[above])) {
                continue;
            }
            let node = &self.store[ix];
            if comes_whole(node) {
                changes.added.push((ix, node.index));
                continue;
            }
            if let Some(parent) = node.parent.filter(|_| node.reparented > since || node.reordered > since) {
                changes.moved.push((ix, parent, node.index));
            }
            let fields = fields_since(node, since);
            if !fields.is_empty() {
                changes.changed.push((ix, fields));
            }
        }
        // Inserting in the order of the final indexes puts each node in its place, if the index of a moved node does not count
        // the siblings that are added after it.
        let place = |ix: Ix| (self.store[ix].parent, self.store[ix].index);
        changes.added.sort_unstable_by_key(|(ix, _)| place(*ix));
        changes.moved.sort_unstable_by_key(|(ix, _, _)| place(*ix));
        for (_, parent, index) in &mut changes.moved {
            let before = &self.store[*parent].children[..*index as usize];
            *index -= before.iter().filter(|ix| comes_whole(&self.store[**ix])).count() as u32;
        }
        changes.changed.reverse();
        Some(changes)
    }

    /// The roots of what a replica that was correct at `since` must remove; and whether anything was removed at all.
    fn removed_since(&self, since: Tick) -> (Vec<NodeId>, bool) {
        let mut any_removed = false;
        let mut listed = FxHashSet::default();
        let mut removed = Vec::new();
        for tombstone in self.changes.removed_since_tick(since).take_while(|_| spend(1)) {
            any_removed = true;
            // A node that was moved into a removed subtree was elsewhere at `since`, so it has to be listed itself.
            let carried = tombstone.reparented > since;
            if tombstone.born <= since && (tombstone.root || carried) {
                listed.insert(tombstone.id);
                removed.push((tombstone.id, tombstone.parent.filter(|_| !carried)));
            }
        }
        let roots =
            removed.iter().filter(|(_, parent)| parent.is_none_or(|parent| !listed.contains(&parent)));
        (roots.map(|(id, _)| *id).collect(), any_removed)
    }
}

fn fields_since(node: &Node, since: Tick) -> Fields {
    let changed = Field::ALL.iter().filter(|field| node.changed(**field) > since);
    Fields(changed.fold(0, |mask, field| mask | 1 << *field as u8))
}
