//! What changed since a tick, found from the changes alone: the cost follows the change, not the tree.
//!
//! What comes whole (in `added`): every node born since; and, where anything was removed too, every node that got
//! another parent, because the replica may have dropped it with what was removed. All else keeps its place in the
//! replica, or is moved.

use axd_protocol::{Field, NodeId, Tick};
use rustc_hash::FxHashSet;

use crate::Tree;
use crate::store::{Ix, Node};

/// What changed, as ids of the dead and slots of the living. Good as long as the tree holds still.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Roots of what is gone, first gone first.
    pub removed: Vec<NodeId>,
    /// What has a new place: node, parent, and index at the moment it is inserted.
    pub moved: Vec<(Ix, Ix, u32)>,
    /// Roots of what comes whole, in the order of insertion, and their index.
    pub added: Vec<(Ix, u32)>,
    /// What changed in place, and which fields.
    pub changed: Vec<(Ix, Fields)>,
}

/// A set of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fields(u16);

impl Fields {
    /// Whether it holds none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether it holds `field`.
    pub fn has(self, field: Field) -> bool {
        self.0 & (1 << field as u8) != 0
    }

    /// The fields in it.
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.iter().copied().filter(move |field| self.has(*field))
    }

    /// Those that are in `other` too.
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
}

impl Tree {
    /// What changed after `since`; `None` if that is no longer known.
    pub fn changes_since(&self, since: Tick) -> Option<Changes> {
        if !self.changes.reaches(since) {
            return None;
        }
        let (removed, any_removed) = self.removed_since(since);
        let comes_whole = |node: &Node| node.born > since || any_removed && node.reparented > since;
        let mut changes = Changes { removed, ..Changes::default() };
        for ix in self.changes.touched_since(&self.store, since) {
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
        // Inserting in the order of the final indexes puts each where it belongs, if the index of a moved one leaves
        // out those siblings that are added after it.
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

    /// Roots of what a replica that was true at `since` still holds and should not; and whether anything was removed at all.
    fn removed_since(&self, since: Tick) -> (Vec<NodeId>, bool) {
        let mut any_removed = false;
        let mut listed = FxHashSet::default();
        let mut removed = Vec::new();
        for tombstone in self.changes.removed_since_tick(since) {
            any_removed = true;
            // One that was carried into what was removed had another place at `since`: it has to be named itself.
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
