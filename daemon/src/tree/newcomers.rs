//! Newcomers: which node, and so which id, an element gets that the tree does not know yet.

use std::collections::VecDeque;

use axd_protocol::Role;
use rustc_hash::FxHashMap;

use super::apply::{Apply, Child};
use super::ids::{self, SiblingKey};
use super::store::{Ix, Node};
use super::{Notice, Tree};
use crate::platform::{ElementKey, Facts};

/// How many named descendants lend an unnamed element their text, and among how many they are looked for.
const LABEL_WORDS: usize = 3;
const LABEL_REACH: usize = 24;

impl Apply<'_> {
    /// The sibling key of every child, and whether no other child has the same.
    pub(super) fn sibling_keys(&self, children: &[Child]) -> Vec<(SiblingKey, bool)> {
        let mut count: FxHashMap<SiblingKey, u32> = FxHashMap::default();
        if !children.iter().any(|child| matches!(child, Child::New(_))) {
            // Only newcomers are given names.
            return children.iter().map(|_| (SiblingKey::default(), false)).collect();
        }
        let keys: Vec<SiblingKey> = children.iter().map(|child| self.sibling_key(*child)).collect();
        keys.iter().for_each(|key| *count.entry(*key).or_default() += 1);
        keys.into_iter().map(|key| (key, key.ordinal || count[&key] == 1)).collect()
    }

    pub(super) fn sibling_key(&self, child: Child) -> SiblingKey {
        match child {
            Child::Known(ix) => self.tree.sibling_key(ix),
            Child::New(key) => {
                let facts = &self.staged[&key];
                SiblingKey::of(facts.role, facts.identifier.as_deref(), facts.name.as_deref(), || {
                    self.label(key)
                })
            }
        }
    }

    /// The path a newcomer is given, and whether it will be given it again after a restart.
    pub(super) fn natural_path(
        &self,
        parent: Ix,
        at: usize,
        children: &[Child],
        keys: &[(SiblingKey, bool)],
        key: ElementKey,
    ) -> (u64, bool) {
        let (own, unique) = keys[at];
        let rank = |at: usize| {
            let window = match children[at] {
                Child::Known(ix) => self.tree.store[ix].window,
                Child::New(key) => self.staged.get(&key).and_then(|facts| facts.window),
            };
            (window, at)
        };
        let mine = rank(at);
        let place = if own.ordinal {
            (0..keys.len()).filter(|other| keys[*other].0 == own && rank(*other) < mine).count()
        } else {
            0
        };
        let path = own.path(self.tree.store[parent].path, place as u32);
        if unique { (path, true) } else { (ids::weak_path(path, self.tree.salt, key), false) }
    }

    /// Gives a newcomer its node: that of a dead one which would be called the same, else a new one.
    pub(super) fn inherit_or_create(
        &mut self,
        key: ElementKey,
        facts: Facts,
        path: u64,
        strong: bool,
        place: Option<(Ix, SiblingKey)>,
    ) -> Ix {
        let parent = place.map(|(parent, _)| parent);
        let holder = ids::forms(facts.role, path).into_iter().find_map(|id| {
            let holder = *self.tree.by_id.get(&id)?;
            (self.tree.store[holder].path == path).then_some(holder)
        });
        let heir = match (holder, place) {
            (Some(holder), _) => self.is_dead(holder).then_some(holder),
            (None, Some((parent, sibling))) if !strong => self.dead_twin(parent, sibling),
            _ => None,
        };
        if let Some(ix) = heir {
            self.inherit(ix, key, facts, parent);
            return ix;
        }
        let path = if holder.is_some() { ids::weak_path(path, self.tree.salt, key) } else { path };
        self.create(key, facts, path)
    }

    /// Whether a node is gone with this batch: an orphan, or below one, that no list places.
    pub(super) fn is_dead(&self, ix: Ix) -> bool {
        let claimed = self.tree.store[ix].key.is_some_and(|key| self.claimed.contains(&key));
        let orphaned = || {
            self.orphans.contains_key(&ix)
                || self.tree.store.ancestors(ix).any(|above| self.orphans.contains_key(&above))
        };
        !claimed && !self.placed.contains(&ix) && orphaned()
    }

    /// An orphan of this parent with the same key: for newcomers that their key does not tell apart.
    pub(super) fn dead_twin(&self, parent: Ix, sibling: SiblingKey) -> Option<Ix> {
        let before = self.before.get(&parent)?;
        let is_twin = |ix: &Ix| {
            self.orphans.get(ix) == Some(&Some(parent))
                && self.is_dead(*ix)
                && self.tree.sibling_key(*ix) == sibling
        };
        before.iter().copied().find(is_twin)
    }

    /// The dead node becomes the newcomer's. Its children were the dead one's: they are orphans now.
    pub(super) fn inherit(&mut self, ix: Ix, key: ElementKey, facts: Facts, parent: Option<Ix>) {
        if let Some(old) = self.tree.store[ix].parent {
            self.remember(old);
            self.tree.store.detach(ix);
            self.tree.store[ix].reparented = self.tick;
            self.touch(ix);
        } else if self.orphans.get(&ix) != Some(&parent) {
            self.tree.store[ix].reparented = self.tick;
            self.touch(ix);
        }
        self.orphans.remove(&ix);
        if let Some(old) = self.tree.store[ix].key.replace(key) {
            self.tree.by_key.remove(&old);
        }
        self.tree.by_key.insert(key, ix);
        self.remember(ix);
        for child in std::mem::take(&mut self.tree.store[ix].children) {
            self.tree.store[child].parent = None;
            self.orphans.insert(child, Some(ix));
        }
        if !self.lists.contains_key(&key) {
            self.set_total(ix, None);
        }
        self.set_facts(ix, facts);
    }

    pub(super) fn create(&mut self, key: ElementKey, facts: Facts, mut path: u64) -> Ix {
        let id = loop {
            let free = ids::forms(facts.role, path).into_iter().find(|id| !self.tree.by_id.contains_key(id));
            match free {
                Some(id) => break id,
                None => path = ids::weak_path(path, self.tree.salt, key),
            }
        };
        let node = Node::new(id, key, path, facts.role, self.tick);
        let ix = self.tree.store.insert(node);
        self.tree.by_key.insert(key, ix);
        self.tree.by_id.insert(id, ix);
        self.tree.journal.revive(id);
        self.tree.index.enter(&mut self.tree.store, ix);
        self.set_facts(ix, facts);
        self.touch(ix);
        self.notice_opened(ix);
        ix
    }

    pub(super) fn notice_opened(&mut self, ix: Ix) {
        let node = self.tree.node_ref(ix);
        if node.role.is_window() || node.role == Role::Menu {
            self.applied.notices.push(Notice::Opened(node));
        }
    }

    /// The text of the first named descendants of an element that this batch tells of.
    pub(super) fn label(&self, key: ElementKey) -> String {
        let mut words: Vec<&str> = Vec::new();
        let mut queue = VecDeque::from([key]);
        let mut seen = 0;
        while let Some(at) = queue.pop_front()
            && words.len() < LABEL_WORDS
            && seen < LABEL_REACH
        {
            seen += 1;
            let known = self.tree.by_key.get(&at).map(|ix| &self.tree.store[*ix]);
            let name = match self.staged.get(&at) {
                Some(facts) => facts.name.as_deref(),
                None => known.and_then(|node| node.name.as_deref()),
            };
            words.extend(name.filter(|name| at != key && !name.is_empty()));
            match (self.lists.get(&at), known) {
                (Some(list), _) => queue.extend(list.order.iter().take(LABEL_REACH)),
                (None, Some(node)) => {
                    queue.extend(
                        node.children
                            .iter()
                            .take(LABEL_REACH)
                            .filter_map(|child| self.tree.store[*child].key),
                    );
                }
                (None, None) => {}
            }
        }
        words.join(" ")
    }
}

impl Tree {
    pub(super) fn sibling_key(&self, ix: Ix) -> SiblingKey {
        let node = &self.store[ix];
        SiblingKey::of(node.role, node.identifier.as_deref(), node.name.as_deref(), || self.label(ix))
    }

    /// The text of a node's first named descendants.
    pub(super) fn label(&self, ix: Ix) -> String {
        let mut words: Vec<&str> = Vec::new();
        let mut queue = VecDeque::from([ix]);
        let mut seen = 0;
        while let Some(at) = queue.pop_front()
            && words.len() < LABEL_WORDS
            && seen < LABEL_REACH
        {
            seen += 1;
            let node = &self.store[at];
            words.extend(node.name.as_deref().filter(|name| at != ix && !name.is_empty()));
            queue.extend(node.children.iter().take(LABEL_REACH));
        }
        words.join(" ")
    }
}
