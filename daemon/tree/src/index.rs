//! The index: finds the nodes with a role or a name without walking the tree.

use std::hash::Hasher;
use std::num::NonZeroU32;

use axd_protocol::Role;
use axd_protocol::selector::fold;
use rustc_hash::{FxHashMap, FxHasher};

use crate::store::{Ix, Store};

/// Nodes by role, and by name. A node knows its position in the bucket of its role and its neighbours in the list of its name,
/// so removing it costs the same however many nodes share its name. Names use lists, because most names belong to one node, for
/// which a bucket would take more memory than everything else about its name.
#[derive(Debug)]
pub(super) struct Index {
    by_role: Vec<Vec<Ix>>,
    /// The first node of each list; the others follow by `next_same_name`.
    by_name: FxHashMap<NonZeroU32, Ix>,
}

impl Default for Index {
    fn default() -> Index {
        Index { by_role: vec![Vec::new(); Role::ALL.len()], by_name: FxHashMap::default() }
    }
}

/// The hash under which a name is indexed. Names that selectors treat as equal share it. Different names may share it too: the
/// index only proposes candidates, and the matcher decides.
pub(super) fn name_hash(name: &str) -> Option<NonZeroU32> {
    let folded = fold(name);
    if folded.is_empty() {
        return None;
    }
    let mut hasher = FxHasher::default();
    hasher.write(folded.as_bytes());
    let hash = hasher.finish();
    Some(NonZeroU32::new((hash ^ (hash >> 32)) as u32).unwrap_or(NonZeroU32::MIN))
}

impl Index {
    /// The nodes with a role, in no particular order.
    pub fn with_role(&self, role: Role) -> &[Ix] {
        &self.by_role[role as usize]
    }

    /// The nodes that may have a name, in no particular order.
    pub fn with_name<'s>(&self, store: &'s Store, name: &str) -> impl Iterator<Item = Ix> + use<'s> {
        let first = name_hash(name).and_then(|hash| self.by_name.get(&hash).copied());
        std::iter::successors(first, |ix| store[*ix].next_same_name)
    }

    /// Adds a node, under its role and name.
    pub fn enter(&mut self, store: &mut Store, ix: Ix) {
        self.enter_role(store, ix);
        self.enter_name(store, ix);
    }

    /// Removes a node.
    pub fn leave(&mut self, store: &mut Store, ix: Ix) {
        self.leave_role(store, ix);
        self.leave_name(store, ix);
    }

    pub fn enter_role(&mut self, store: &mut Store, ix: Ix) {
        let bucket = &mut self.by_role[store[ix].role as usize];
        store[ix].role_slot = bucket.len() as u32;
        bucket.push(ix);
    }

    pub fn leave_role(&mut self, store: &mut Store, ix: Ix) {
        let slot = store[ix].role_slot as usize;
        let bucket = &mut self.by_role[store[ix].role as usize];
        bucket.swap_remove(slot);
        if let Some(&moved) = bucket.get(slot) {
            store[moved].role_slot = slot as u32;
        }
    }

    pub fn enter_name(&mut self, store: &mut Store, ix: Ix) {
        let hash = store[ix].name.as_deref().and_then(name_hash);
        store[ix].name_hash = hash;
        let Some(hash) = hash else { return };
        let second = self.by_name.insert(hash, ix);
        store[ix].next_same_name = second;
        if let Some(second) = second {
            store[second].previous_same_name = Some(ix);
        }
    }

    pub fn leave_name(&mut self, store: &mut Store, ix: Ix) {
        let Some(hash) = store[ix].name_hash.take() else { return };
        let (previous, next) = (store[ix].previous_same_name.take(), store[ix].next_same_name.take());
        match (previous, next) {
            (Some(previous), _) => store[previous].next_same_name = next,
            (None, Some(next)) => drop(self.by_name.insert(hash, next)),
            (None, None) => drop(self.by_name.remove(&hash)),
        }
        if let Some(next) = next {
            store[next].previous_same_name = previous;
        }
    }
}
