//! The index: from a role, or a name, to the nodes that have it, without a walk.

use std::hash::Hasher;
use std::num::NonZeroU32;

use axd_protocol::Role;
use axd_protocol::selector::fold;
use rustc_hash::{FxHashMap, FxHasher};

use super::store::{Ix, Store};

/// Nodes by role, and by name. A node knows its position in both buckets, so leaving them costs the same however many
/// share its name.
#[derive(Debug)]
pub(super) struct Index {
    by_role: Vec<Vec<Ix>>,
    by_name: FxHashMap<NonZeroU32, Vec<Ix>>,
}

impl Default for Index {
    fn default() -> Index {
        Index { by_role: vec![Vec::new(); Role::ALL.len()], by_name: FxHashMap::default() }
    }
}

/// The hash under which a name is indexed; names that selectors hold equal share it. Unequal names may share it too:
/// the index proposes, the matcher decides.
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
    /// Nodes of a role, in no order.
    pub fn with_role(&self, role: Role) -> &[Ix] {
        &self.by_role[role as usize]
    }

    /// Nodes that may have a name, in no order.
    pub fn with_name(&self, name: &str) -> &[Ix] {
        name_hash(name).and_then(|hash| self.by_name.get(&hash)).map_or(&[], Vec::as_slice)
    }

    /// Puts a node in, under its role and name.
    pub fn enter(&mut self, store: &mut Store, ix: Ix) {
        self.enter_role(store, ix);
        self.enter_name(store, ix);
    }

    /// Takes a node out.
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
        let bucket = self.by_name.entry(hash).or_default();
        store[ix].name_slot = bucket.len() as u32;
        bucket.push(ix);
    }

    pub fn leave_name(&mut self, store: &mut Store, ix: Ix) {
        let Some(hash) = store[ix].name_hash.take() else { return };
        let slot = store[ix].name_slot as usize;
        let Some(bucket) = self.by_name.get_mut(&hash) else { return };
        bucket.swap_remove(slot);
        if let Some(&moved) = bucket.get(slot) {
            store[moved].name_slot = slot as u32;
        } else if bucket.is_empty() {
            self.by_name.remove(&hash);
        }
    }
}
