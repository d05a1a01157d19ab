//! The change list: which nodes changed last, and which were removed.
//!
//! There is no log. Living nodes are in a list ordered by their last change, so "what changed since" walks just those. A flood
//! of changes to one node moves that one node to the front, again and again, and costs no memory. Only removed nodes need a
//! record, and a bounded number of those is kept.

use std::collections::VecDeque;

use axd_protocol::{NodeId, Role, States, Tick};
use rustc_hash::FxHashMap;

use crate::ElementKey;
use crate::store::{Ix, Store};

/// The maximum number of tombstones.
const MAX_TOMBSTONES: usize = 16_384;

/// The change list and the tombstones of one app.
#[derive(Debug, Default)]
pub(crate) struct ChangeList {
    newest: Option<Ix>,
    tombstones: VecDeque<Tombstone>,
    /// The last tombstone of an id, for clients that still use it. The id may be alive again.
    by_id: FxHashMap<NodeId, u64>,
    /// The tombstone of a native element that may come back: its removal in one place may be sent before its insertion in
    /// another.
    by_key: FxHashMap<ElementKey, u64>,
    /// The number of dropped tombstones, which is the number of the first that is kept.
    forgotten: u64,
    /// Differences since a tick before this one are not known.
    horizon: Tick,
}

/// What is kept of a removed node.
#[derive(Debug)]
pub(crate) struct Tombstone {
    pub id: NodeId,
    /// Its native key; absent if another node has it now.
    pub key: Option<ElementKey>,
    pub path: u64,
    pub role: Role,
    pub name: Option<Box<str>>,
    /// Its states when it was removed.
    pub states: States,
    pub parent: Option<NodeId>,
    pub removed_at: Tick,
    pub born: Tick,
    pub reparented: Tick,
    /// Whether it was the root of the subtree that was removed with it.
    pub root: bool,
    /// Whether it may still exist: its container lists only some of its rows, and no longer listed it.
    pub unseen: bool,
}

impl ChangeList {
    /// Moves a node to the front of the change list.
    pub fn touch(&mut self, store: &mut Store, ix: Ix, tick: Tick) {
        store[ix].touched = tick;
        if self.newest == Some(ix) {
            return;
        }
        self.unlink(store, ix);
        let second = self.newest.replace(ix);
        store[ix].older = second;
        if let Some(second) = second {
            store[second].newer = Some(ix);
        }
    }

    /// Takes a node out of the change list.
    pub fn unlink(&mut self, store: &mut Store, ix: Ix) {
        let (newer, older) = (store[ix].newer.take(), store[ix].older.take());
        match newer {
            Some(newer) => store[newer].older = older,
            None if self.newest == Some(ix) => self.newest = older,
            None => {}
        }
        if let Some(older) = older {
            store[older].newer = newer;
        }
    }

    /// The nodes that changed after `since`, the latest first.
    pub fn touched_since<'a>(&self, store: &'a Store, since: Tick) -> impl Iterator<Item = Ix> + use<'a> {
        let mut next = self.newest;
        std::iter::from_fn(move || {
            let ix = next.filter(|ix| store[*ix].touched > since)?;
            next = store[ix].older;
            Some(ix)
        })
    }

    /// Adds a tombstone; the oldest is dropped if there are too many.
    pub fn add_tombstone(&mut self, tombstone: Tombstone) {
        if self.tombstones.len() == MAX_TOMBSTONES
            && let Some(oldest) = self.tombstones.pop_front()
        {
            self.horizon = oldest.removed_at;
            if self.by_id.get(&oldest.id) == Some(&self.forgotten) {
                self.by_id.remove(&oldest.id);
            }
            if let Some(key) = oldest.key.filter(|key| self.by_key.get(key) == Some(&self.forgotten)) {
                self.by_key.remove(&key);
            }
            self.forgotten += 1;
        }
        let number = self.forgotten + self.tombstones.len() as u64;
        self.by_id.insert(tombstone.id, number);
        if let Some(key) = tombstone.key {
            self.by_key.insert(key, number);
        }
        self.tombstones.push_back(tombstone);
    }

    /// Takes the tombstone of a native element. Keys are never reused, so it is the same element.
    pub fn take_tombstone(&mut self, key: ElementKey) -> Option<&Tombstone> {
        let number = self.by_key.remove(&key)?;
        self.tombstones.get((number - self.forgotten) as usize)
    }

    /// Forgets all keys, because they belong to an earlier worker.
    pub fn forget_keys(&mut self) {
        self.by_key.clear();
    }

    /// The last tombstone of an id.
    pub fn tombstone(&self, id: NodeId) -> Option<&Tombstone> {
        let number = *self.by_id.get(&id)?;
        self.tombstones.get((number - self.forgotten) as usize)
    }

    /// All tombstones, the latest first.
    pub fn tombstones(&self) -> impl Iterator<Item = &Tombstone> {
        self.tombstones.iter().rev()
    }

    /// The tombstones of nodes removed after `since`, the earliest first.
    pub fn removed_since_tick(&self, since: Tick) -> impl Iterator<Item = &Tombstone> {
        let start = self.tombstones.partition_point(|tombstone| tombstone.removed_at <= since);
        self.tombstones.range(start..)
    }

    /// Whether anything changed at `tick`, which is the latest.
    pub fn has_changed_at(&self, store: &Store, tick: Tick) -> bool {
        self.newest.is_some_and(|newest| store[newest].touched == tick)
            || self.tombstones.back().is_some_and(|tombstone| tombstone.removed_at == tick)
    }

    /// Whether differences since `since` are known.
    pub fn reaches(&self, since: Tick) -> bool {
        since >= self.horizon
    }
}
