//! The only way to change the tree: a batch, applied whole.
//!
//! Whatever a batch says, the tree stays a tree. Impossible updates (an unknown parent, a cycle, an element in two places, a
//! depth no interface has) are left out, and the element is reported as suspect so that the worker walks it again.
//!
//! Structure is applied by lists of children. An element that is no longer in its parent's list becomes an *orphan*. A later
//! list of the same batch may adopt it (it moved), or a new element with the same identity may reuse its node and id (toolkits
//! rebuild widgets). Elements that are orphans at the end are removed.

use std::collections::VecDeque;

use axd_protocol::{NodeId, Tick};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::hiding::Former;
use crate::ids;
use crate::store::Ix;
use crate::{Applied, Tree};
use crate::{Batch, ElementKey, Facts, UNCOUNTED, Update};

/// The maximum depth of a tree. No interface nests deeper; an app that reports more is broken, or hostile.
pub const MAX_DEPTH: usize = 256;

impl Tree {
    /// Applies a batch at `tick`, which must be later than any before. Never panics, whatever the batch contains.
    pub fn apply(&mut self, batch: Batch, tick: Tick) -> Applied {
        self.change(tick, |apply| {
            apply.stage_updates(batch.updates);
            apply.place_lists();
        })
    }

    /// Changes the tree at `tick`. What hides windows sees the change as a whole, as readers do.
    pub(crate) fn change(&mut self, tick: Tick, change: impl FnOnce(&mut Apply<'_>)) -> Applied {
        let mut apply = Apply::new(self, tick);
        apply.attach_hidden();
        change(&mut apply);
        apply.judge_windows();
        apply.remove_orphans();
        apply.detach_hidden();
        apply.drop_notices_of_absent();
        let mut applied = apply.applied;
        applied.changed = self.changes.has_changed_at(&self.store, tick);
        if applied.changed {
            self.tick = tick;
        }
        self.suspect += applied.suspect.len() as u64;
        self.store.tidy();
        applied
    }
}

pub(super) struct Apply<'t> {
    pub(super) tree: &'t mut Tree,
    pub(super) tick: Tick,
    /// Facts of elements that are not in the tree yet.
    pub(super) staged: FxHashMap<ElementKey, Facts>,
    pub(super) lists: FxHashMap<ElementKey, List>,
    /// Parents whose lists can be placed, in the order of the updates.
    pub(super) queue: VecDeque<ElementKey>,
    /// Every element that is in some list, and so must not be taken for removed.
    pub(super) claimed: FxHashSet<ElementKey>,
    /// Nodes without a parent, and the parent they had.
    pub(super) orphans: FxHashMap<Ix, Option<Ix>>,
    /// The former keys of nodes whose native element this batch reports as gone.
    pub(super) removed_keys: FxHashMap<Ix, ElementKey>,
    /// Nodes that a list of this batch has placed.
    pub(super) placed: FxHashSet<Ix>,
    /// Children as they were before this batch, of the parents it changes.
    pub(super) before: FxHashMap<Ix, Vec<Ix>>,
    /// By how many rows each container got smaller that lists only some of its rows.
    pub(super) shrunk: FxHashMap<Ix, u32>,
    /// Nodes that this batch gave another title, or made a window, and so may hide.
    pub(super) titled: Vec<Ix>,
    /// Nodes that got another parent, and the one they had.
    pub(super) moved: FxHashMap<Ix, Option<NodeId>>,
    /// What nodes were called before this batch.
    pub(super) former: FxHashMap<Ix, Former>,
    pub(super) applied: Applied,
}

pub(super) struct List {
    pub(super) order: Vec<ElementKey>,
    pub(super) total: Option<u32>,
}

/// A child in a list.
#[derive(Clone, Copy)]
pub(super) enum Child {
    Known(Ix),
    New(ElementKey),
}

impl<'t> Apply<'t> {
    fn new(tree: &'t mut Tree, tick: Tick) -> Self {
        Apply {
            tree,
            tick,
            staged: FxHashMap::default(),
            lists: FxHashMap::default(),
            queue: VecDeque::new(),
            claimed: FxHashSet::default(),
            orphans: FxHashMap::default(),
            removed_keys: FxHashMap::default(),
            placed: FxHashSet::default(),
            before: FxHashMap::default(),
            shrunk: FxHashMap::default(),
            titled: Vec::new(),
            moved: FxHashMap::default(),
            former: FxHashMap::default(),
            applied: Applied::default(),
        }
    }

    /// Sorts the updates, and applies those that need no structure: removals first, then facts of known elements.
    fn stage_updates(&mut self, updates: Vec<Update>) {
        let mut upserts = Vec::new();
        let mut gaps = FxHashSet::default();
        for update in updates {
            match update {
                Update::Gone(key) => {
                    self.removed_keys.extend(self.tree.by_key.get(&key).map(|ix| (*ix, key)));
                    gaps.extend(self.unbind(key));
                }
                Update::Upsert { key, facts } => upserts.push((key, *facts)),
                Update::Children { parent, order, total } => {
                    self.claimed.extend(&order);
                    if self.lists.insert(parent, List { order, total }).is_none() {
                        self.queue.push_back(parent);
                    }
                }
            }
        }
        gaps.into_iter().for_each(|parent| self.close_gap(parent));
        // New elements come first: whether a row was recycled may show in the text of a new element inside it.
        let (known, new): (Vec<_>, Vec<_>) =
            upserts.into_iter().partition(|(key, _)| self.tree.by_key.contains_key(key));
        self.staged.extend(new);
        for (key, facts) in known {
            match self.tree.by_key.get(&key) {
                Some(&ix) if !self.is_recycled(ix, key, &facts) => self.set_facts(ix, facts),
                Some(&ix) => self.recycle(key, ix, facts),
                None => drop(self.staged.insert(key, facts)),
            }
        }
        if self.tree.root.is_none()
            && let Some(facts) = self.staged.remove(&ElementKey::APP)
        {
            let root = self.assign_root(facts);
            self.tree.root = Some(root);
        }
    }

    /// Handles a native element that is gone: its node becomes an orphan and loses that key. The gap among its siblings is
    /// closed by [`Apply::close_gap`].
    fn unbind(&mut self, key: ElementKey) -> Option<Ix> {
        let ix = self.tree.by_key.remove(&key)?;
        self.tree.store[ix].key = None;
        let parent = self.tree.store[ix].parent.take();
        if let Some(parent) = parent {
            self.remember(parent);
        }
        if self.tree.root == Some(ix) {
            self.tree.root = None;
        }
        self.orphans.insert(ix, parent);
        parent
    }

    /// Drops from a parent's children those that it no longer has.
    fn close_gap(&mut self, parent: Ix) {
        let mut children = std::mem::take(&mut self.tree.store[parent].children);
        children.retain(|child| self.tree.store[*child].parent == Some(parent));
        self.tree.store[parent].children = children;
        self.tree.store.renumber(parent, 0);
    }

    /// Whether a row was recycled: if its index and its text both changed in place, the widget now shows another row.
    fn is_recycled(&self, ix: Ix, key: ElementKey, facts: &Facts) -> bool {
        let node = &self.tree.store[ix];
        let (Some(old), Some(new)) = (node.row, facts.row) else { return false };
        if old == new || self.tree.root == Some(ix) {
            return false;
        }
        let was = node.name.as_deref().map_or_else(|| self.tree.label(ix), str::to_owned);
        let is = facts.name.clone().unwrap_or_else(|| self.label(key));
        was != is
    }

    fn recycle(&mut self, key: ElementKey, ix: Ix, facts: Facts) {
        let parent = self.tree.store[ix].parent;
        if let Some(parent) = self.unbind(key) {
            self.close_gap(parent);
        }
        // The recycled row must not reuse its own node, because it is another element now.
        self.tree.store[ix].path = ids::weak_path(self.tree.store[ix].path, self.tree.salt, key);
        self.placed.insert(ix);
        self.staged.insert(key, facts);
        let Some(parent_key) = parent.and_then(|parent| self.tree.store[parent].key) else { return };
        if !self.lists.contains_key(&parent_key)
            && let Some(before) = parent.and_then(|parent| self.before.get(&parent))
        {
            let key_of = |child: &Ix| if *child == ix { Some(key) } else { self.tree.store[*child].key };
            let order: Vec<ElementKey> = before.iter().filter_map(key_of).collect();
            let total = parent.and_then(|parent| self.tree.store[parent].total);
            self.claimed.extend(&order);
            self.lists.insert(parent_key, List { order, total });
            self.queue.push_back(parent_key);
        }
    }

    fn place_lists(&mut self) {
        while let Some(parent_key) = self.queue.pop_front() {
            let Some(&parent) = self.tree.by_key.get(&parent_key) else { continue };
            if let Some(list) = self.lists.remove(&parent_key) {
                self.place(parent, parent_key, list);
            }
        }
        // The remaining lists belong to parents that are not in the tree.
        let homeless: Vec<ElementKey> = self.lists.keys().copied().collect();
        homeless.into_iter().for_each(|key| self.suspect(key));
    }

    fn place(&mut self, parent: Ix, parent_key: ElementKey, list: List) {
        let is_part = |total: &u32| *total == UNCOUNTED || *total as usize > self.rows_in(&list.order);
        let total = list.total.filter(is_part);
        self.set_total(parent, total);
        let children = self.resolve(parent, parent_key, &list.order);
        let same = children.len() == self.tree.store[parent].children.len()
            && children
                .iter()
                .zip(&self.tree.store[parent].children)
                .all(|(child, now)| matches!(child, Child::Known(ix) if ix == now));
        if same {
            self.placed.extend(self.tree.store[parent].children.iter().copied());
            return;
        }
        self.remember(parent);
        self.orphan_unlisted(parent, &children);
        let siblings = self.siblings(&children);
        let mut twins = None;
        let mut order = Vec::with_capacity(children.len());
        for (at, child) in children.iter().enumerate() {
            let ix = match *child {
                Child::Known(ix) => {
                    self.adopt(ix, parent);
                    ix
                }
                Child::New(key) => {
                    let Some(facts) = self.staged.remove(&key) else { continue };
                    let ix = self.assign(key, facts, parent, siblings[at], &mut twins);
                    if self.lists.contains_key(&key) {
                        self.queue.push_back(key);
                    }
                    ix
                }
            };
            self.placed.insert(ix);
            order.push(ix);
        }
        for (index, ix) in order.iter().enumerate() {
            let node = &mut self.tree.store[*ix];
            node.parent = Some(parent);
            node.index = index as u32;
        }
        self.mark_reordered(parent, &order);
        self.tree.store[parent].children = order;
    }

    /// The number of rows in a list: one per entry, unless several entries are cells of the same row.
    fn rows_in(&self, order: &[ElementKey]) -> usize {
        let row = |key: &ElementKey| match self.staged.get(key) {
            Some(facts) => facts.row,
            None => self.tree.by_key.get(key).and_then(|ix| self.tree.store[*ix].row),
        };
        let rows: FxHashSet<u32> = order.iter().filter_map(row).collect();
        if rows.is_empty() { order.len() } else { rows.len() }
    }

    /// The valid children of a list, without those that would break the tree.
    fn resolve(&mut self, parent: Ix, parent_key: ElementKey, order: &[ElementKey]) -> Vec<Child> {
        let depth = self.tree.store.depth(parent) + 1;
        let mut seen = FxHashSet::default();
        let mut children = Vec::with_capacity(order.len());
        for &key in order {
            let child = match self.tree.by_key.get(&key) {
                Some(&ix) if self.may_hold(parent, ix, depth) => Some(Child::Known(ix)),
                None if depth < MAX_DEPTH && self.staged.contains_key(&key) => Some(Child::New(key)),
                _ => None,
            };
            match child {
                Some(child) if seen.insert(key) => children.push(child),
                _ => self.suspect(parent_key),
            }
        }
        children
    }

    fn may_hold(&self, parent: Ix, child: Ix, depth: usize) -> bool {
        let store = &self.tree.store;
        if store[child].parent == Some(parent) {
            return true;
        }
        let elsewhere = self.placed.contains(&child);
        let is_above = self.tree.root == Some(child)
            || child == parent
            || store.ancestors(parent).any(|above| above == child);
        !elsewhere && !is_above && depth + self.tree.height(child) < MAX_DEPTH
    }

    /// Records the order of a parent's children before the batch.
    pub(super) fn remember(&mut self, parent: Ix) {
        let store = &self.tree.store;
        self.before.entry(parent).or_insert_with(|| store[parent].children.clone());
    }

    fn orphan_unlisted(&mut self, parent: Ix, children: &[Child]) {
        let listed: FxHashSet<Ix> = children
            .iter()
            .filter_map(|child| if let Child::Known(ix) = child { Some(*ix) } else { None })
            .collect();
        for child in std::mem::take(&mut self.tree.store[parent].children) {
            if !listed.contains(&child) {
                self.tree.store[child].parent = None;
                self.orphans.insert(child, Some(parent));
            }
        }
    }

    /// Gives a known node a new parent, unless it has that parent already.
    fn adopt(&mut self, ix: Ix, parent: Ix) {
        if self.tree.store[ix].parent == Some(parent) {
            return;
        }
        self.note_move(ix);
        if let Some(old) = self.tree.store[ix].parent {
            self.remember(old);
            self.tree.store.detach(ix);
        }
        self.orphans.remove(&ix);
        self.tree.store[ix].reparented = self.tick;
        self.touch(ix);
    }

    /// Marks as few children as possible to explain the new order: the others keep their relative order, so a difference moves
    /// only those that are marked.
    fn mark_reordered(&mut self, parent: Ix, order: &[Ix]) {
        let Some(before) = self.before.get(&parent) else { return };
        let was: FxHashMap<Ix, usize> = before.iter().enumerate().map(|(at, ix)| (*ix, at)).collect();
        let stayed: Vec<(Ix, usize)> = order
            .iter()
            .filter(|ix| self.tree.store[**ix].reparented != self.tick)
            .filter_map(|ix| was.get(ix).map(|at| (*ix, *at)))
            .collect();
        if stayed.is_sorted_by_key(|(_, at)| *at) {
            return;
        }
        let keep = longest_increasing(&stayed.iter().map(|(_, at)| *at).collect::<Vec<_>>());
        let mut keep = keep.into_iter().peekable();
        for (nth, (ix, _)) in stayed.iter().enumerate() {
            if keep.next_if_eq(&nth).is_none() {
                self.tree.store[*ix].reordered = self.tick;
                self.touch(*ix);
            }
        }
    }

    pub(super) fn touch(&mut self, ix: Ix) {
        if !self.tree.store[ix].concealed {
            self.tree.changes.touch(&mut self.tree.store, ix, self.tick);
        }
    }

    pub(super) fn suspect(&mut self, key: ElementKey) {
        if !self.applied.suspect.contains(&key) {
            self.applied.suspect.push(key);
        }
    }
}

impl Tree {
    /// The number of levels below a node.
    fn height(&self, ix: Ix) -> usize {
        let mut deepest = 0;
        let mut stack = vec![(ix, 0)];
        while let Some((ix, depth)) = stack.pop() {
            deepest = deepest.max(depth);
            stack.extend(self.store[ix].children.iter().map(|child| (*child, depth + 1)));
        }
        deepest
    }
}

/// The positions of a longest increasing subsequence, in order (patience sorting).
fn longest_increasing(values: &[usize]) -> Vec<usize> {
    let mut tails: Vec<usize> = Vec::new();
    let mut previous = vec![None; values.len()];
    for (at, value) in values.iter().enumerate() {
        let length = tails.partition_point(|tail| values[*tail] < *value);
        previous[at] = length.checked_sub(1).map(|last| tails[last]);
        if length == tails.len() {
            tails.push(at);
        } else {
            tails[length] = at;
        }
    }
    let mut run: Vec<usize> = std::iter::successors(tails.last().copied(), |at| previous[*at]).collect();
    run.reverse();
    run
}
