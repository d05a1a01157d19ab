//! The only way into the tree: a batch, applied whole.
//!
//! Whatever a batch says, the tree stays a tree. What cannot be (an unknown parent, a cycle, an element in two places,
//! a depth no interface has) is left out, and the place is reported as suspect so that the worker walks it again.
//!
//! Structure is applied by lists of children. An element that falls out of its parent's list becomes an *orphan*; a
//! later list of the same batch may adopt it (it moved), or a newcomer that would be called the same may inherit its
//! node and id (toolkits rebuild widgets). What is an orphan at the end is gone.

use std::collections::VecDeque;

use axd_protocol::{Field, NodeRef, Role, State, Tick};
use rustc_hash::{FxHashMap, FxHashSet};

use super::ids::{self, SiblingKey};
use super::journal::Grave;
use super::store::{Ix, Node};
use super::{Applied, Notice, Tree};
use crate::platform::{Batch, ElementKey, Facts, Update};

/// No interface nests deeper; an app that says so is confused, or hostile.
pub const MAX_DEPTH: usize = 256;
/// How many named descendants lend an unnamed element their text, and among how many they are looked for.
const LABEL_WORDS: usize = 3;
const LABEL_REACH: usize = 24;

impl Tree {
    /// Applies a batch at `tick`, which must be later than any before. Never panics, whatever it is fed.
    pub fn apply(&mut self, batch: Batch, tick: Tick) -> Applied {
        let mut apply = Apply::new(self, tick);
        apply.take_in(batch.updates);
        apply.place_lists();
        apply.bury_orphans();
        let applied = apply.applied;
        if applied.changed {
            self.tick = tick;
        }
        self.suspect += applied.suspect.len() as u64;
        applied
    }
}

struct Apply<'t> {
    tree: &'t mut Tree,
    tick: Tick,
    /// Facts of elements that are not in the tree yet.
    staged: FxHashMap<ElementKey, Facts>,
    lists: FxHashMap<ElementKey, List>,
    /// Parents whose lists can be placed, in the order they were told.
    queue: VecDeque<ElementKey>,
    /// Every element that some list places: not to be taken for dead.
    claimed: FxHashSet<ElementKey>,
    /// Nodes without a parent, and the parent they had.
    orphans: FxHashMap<Ix, Option<Ix>>,
    /// Nodes that a list of this batch has placed.
    placed: FxHashSet<Ix>,
    /// Children as they were before this batch, of the parents it changes.
    before: FxHashMap<Ix, Vec<Ix>>,
    applied: Applied,
}

struct List {
    order: Vec<ElementKey>,
    total: Option<u32>,
}

/// A child that a list names.
#[derive(Clone, Copy)]
enum Child {
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
            placed: FxHashSet::default(),
            before: FxHashMap::default(),
            applied: Applied::default(),
        }
    }

    /// Sorts the updates, and does what needs no structure: removals first, then facts of known elements.
    fn take_in(&mut self, updates: Vec<Update>) {
        let mut upserts = Vec::new();
        for update in updates {
            match update {
                Update::Gone(key) => self.unbind(key),
                Update::Upsert { key, facts } => upserts.push((key, *facts)),
                Update::Children { parent, order, total } => {
                    self.claimed.extend(&order);
                    if self.lists.insert(parent, List { order, total }).is_none() {
                        self.queue.push_back(parent);
                    }
                }
            }
        }
        let mut known = Vec::new();
        for (key, facts) in upserts {
            match self.tree.by_key.get(&key) {
                Some(&ix) => known.push((key, ix, facts)),
                None => drop(self.staged.insert(key, facts)),
            }
        }
        for (key, ix, facts) in known {
            if self.is_recycled(ix, key, &facts) {
                self.recycle(key, ix, facts);
            } else {
                self.set_facts(ix, facts);
            }
        }
        if self.tree.root.is_none()
            && let Some(facts) = self.staged.remove(&ElementKey::APP)
        {
            let path = self.tree.app_path;
            let root = self.inherit_or_create(ElementKey::APP, facts, path, true, None);
            self.tree.root = Some(root);
        }
    }

    /// The native element is gone: its node is an orphan, and no longer goes by that key.
    fn unbind(&mut self, key: ElementKey) {
        let Some(ix) = self.tree.by_key.remove(&key) else { return };
        self.tree.store[ix].key = None;
        let parent = self.tree.store[ix].parent;
        if let Some(parent) = parent {
            self.remember(parent);
        }
        self.tree.store.detach(ix);
        if self.tree.root == Some(ix) {
            self.tree.root = None;
        }
        self.orphans.insert(ix, parent);
    }

    /// A row whose index and text both changed in place is another row in the same widget.
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
        self.unbind(key);
        // It is not to inherit its own node: it is somebody else now.
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
        // What is left hangs on elements that nobody told of.
        let homeless: Vec<ElementKey> = self.lists.keys().copied().collect();
        homeless.into_iter().for_each(|key| self.suspect(key));
    }

    fn place(&mut self, parent: Ix, parent_key: ElementKey, list: List) {
        let total = list.total.filter(|total| *total as usize > list.order.len());
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
        let keys = self.sibling_keys(&children);
        let mut order = Vec::with_capacity(children.len());
        for (at, child) in children.iter().enumerate() {
            let ix = match *child {
                Child::Known(ix) => {
                    self.adopt(ix, parent);
                    ix
                }
                Child::New(key) => {
                    let Some(facts) = self.staged.remove(&key) else { continue };
                    let (path, strong) = self.natural_path(parent, at, &children, &keys, key);
                    let ix = self.inherit_or_create(key, facts, path, strong, Some((parent, keys[at].0)));
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
        self.applied.changed = true;
    }

    /// Which children a list can mean, without those that would make the tree something else.
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

    /// Remembers the order of a parent's children as it was before the batch.
    fn remember(&mut self, parent: Ix) {
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

    /// Gives a known node a parent, if it has another.
    fn adopt(&mut self, ix: Ix, parent: Ix) {
        if self.tree.store[ix].parent == Some(parent) {
            return;
        }
        if let Some(old) = self.tree.store[ix].parent {
            self.remember(old);
            self.tree.store.detach(ix);
        }
        self.orphans.remove(&ix);
        self.tree.store[ix].reparented = self.tick;
        self.touch(ix);
    }

    /// The sibling key of every child, and whether no other child has the same.
    fn sibling_keys(&self, children: &[Child]) -> Vec<(SiblingKey, bool)> {
        let mut count: FxHashMap<SiblingKey, u32> = FxHashMap::default();
        if !children.iter().any(|child| matches!(child, Child::New(_))) {
            // Only newcomers are given names.
            return children.iter().map(|_| (SiblingKey::default(), false)).collect();
        }
        let keys: Vec<SiblingKey> = children.iter().map(|child| self.sibling_key(*child)).collect();
        keys.iter().for_each(|key| *count.entry(*key).or_default() += 1);
        keys.into_iter().map(|key| (key, key.ordinal || count[&key] == 1)).collect()
    }

    fn sibling_key(&self, child: Child) -> SiblingKey {
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
    fn natural_path(
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
    fn inherit_or_create(
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
    fn is_dead(&self, ix: Ix) -> bool {
        let claimed = self.tree.store[ix].key.is_some_and(|key| self.claimed.contains(&key));
        let orphaned = || {
            self.orphans.contains_key(&ix)
                || self.tree.store.ancestors(ix).any(|above| self.orphans.contains_key(&above))
        };
        !claimed && !self.placed.contains(&ix) && orphaned()
    }

    /// An orphan of this parent with the same key: for newcomers that their key does not tell apart.
    fn dead_twin(&self, parent: Ix, sibling: SiblingKey) -> Option<Ix> {
        let before = self.before.get(&parent)?;
        let is_twin = |ix: &Ix| {
            self.orphans.get(ix) == Some(&Some(parent))
                && self.is_dead(*ix)
                && self.tree.sibling_key(*ix) == sibling
        };
        before.iter().copied().find(is_twin)
    }

    /// The dead node becomes the newcomer's. Its children were the dead one's: they are orphans now.
    fn inherit(&mut self, ix: Ix, key: ElementKey, facts: Facts, parent: Option<Ix>) {
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

    fn create(&mut self, key: ElementKey, facts: Facts, mut path: u64) -> Ix {
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

    /// Marks as few children as explain the new order: those not marked keep their order, so a difference moves only
    /// the marked ones.
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

    fn bury_orphans(&mut self) {
        let orphans: Vec<(Ix, Option<Ix>)> = self.orphans.drain().collect();
        // Parents' ids are looked up before any of them is buried itself.
        let mut roots: Vec<(Ix, Option<axd_protocol::NodeId>)> = orphans
            .into_iter()
            .map(|(ix, parent)| (ix, parent.map(|parent| self.tree.store[parent].id)))
            .collect();
        roots.sort_unstable_by_key(|(ix, _)| *ix);
        for (root, former) in roots {
            let doomed: Vec<Ix> = self.tree.store.subtree(root).collect();
            let parents: Vec<Option<axd_protocol::NodeId>> = doomed
                .iter()
                .map(|ix| self.tree.store[*ix].parent.map(|parent| self.tree.store[parent].id).or(former))
                .collect();
            for (ix, parent) in doomed.into_iter().zip(parents) {
                self.bury(ix, parent, ix == root);
            }
            self.applied.changed = true;
        }
    }

    fn bury(&mut self, ix: Ix, parent: Option<axd_protocol::NodeId>, root: bool) {
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
        if root || node.role.is_window() || node.role == Role::Menu {
            let gone =
                NodeRef { id: node.id, role: node.role, name: node.name.as_deref().map(str::to_owned) };
            if node.role.is_window() || node.role == Role::Menu {
                self.applied.notices.push(Notice::Closed(gone));
            }
        }
        self.tree.journal.bury(Grave {
            id: node.id,
            role: node.role,
            name: node.name,
            parent,
            died: self.tick,
            born: node.born,
            reparented: node.reparented,
            root,
        });
    }

    /// Takes over what was read of a node, field by field, noting when each changed.
    fn set_facts(&mut self, ix: Ix, mut facts: Facts) {
        if facts.states.has(State::Secure) {
            // The one door into memory: behind it no secret exists that could be logged, matched or sent.
            facts.value = None;
        }
        let tree = &mut *self.tree;
        let native_role = facts.native_role.as_deref().map(|word| tree.store.strings.intern(word));
        let actions: Box<[_]> = facts.actions.iter().map(|word| tree.store.strings.intern(word)).collect();
        let (old_role, old_name) =
            (tree.store[ix].role, tree.store[ix].name.as_deref() != facts.name.as_deref());
        if old_role != facts.role {
            tree.index.leave_role(&mut tree.store, ix);
        }
        if old_name {
            tree.index.leave_name(&mut tree.store, ix);
        }
        let was_focused = tree.store[ix].states.has(State::Focused);
        let node = &mut tree.store[ix];
        tree.text_bytes -= node.text_bytes();
        let changed = [
            (Field::Role, replace(&mut node.role, facts.role)),
            (Field::Name, replace_text(&mut node.name, facts.name)),
            (Field::Value, replace_text(&mut node.value, facts.value)),
            (Field::Description, replace_text(&mut node.description, facts.description)),
            (Field::Identifier, replace_text(&mut node.identifier, facts.identifier)),
            (Field::NativeRole, replace(&mut node.native_role, native_role)),
            (Field::States, replace(&mut node.states, facts.states)),
            (Field::Actions, replace(&mut node.actions, actions)),
        ];
        node.row = facts.row;
        node.window = facts.window;
        tree.text_bytes += node.text_bytes();
        let mut any = false;
        for (field, _) in changed.into_iter().filter(|(_, changed)| *changed) {
            node.ticks[field as usize] = self.tick;
            any = true;
        }
        let is_focused = node.states.has(State::Focused);
        if old_role != facts.role {
            tree.index.enter_role(&mut tree.store, ix);
        }
        if old_name {
            tree.index.enter_name(&mut tree.store, ix);
        }
        if any {
            self.touch(ix);
        }
        if is_focused && !was_focused {
            self.tree.focused = Some(ix);
            let node = self.tree.node_ref(ix);
            self.applied.notices.push(Notice::Focus(node));
        } else if was_focused && !is_focused && self.tree.focused == Some(ix) {
            self.tree.focused = None;
        }
    }

    fn set_total(&mut self, ix: Ix, total: Option<u32>) {
        let node = &mut self.tree.store[ix];
        if replace(&mut node.total, total) {
            node.ticks[Field::ChildrenCount as usize] = self.tick;
            self.touch(ix);
        }
    }

    fn touch(&mut self, ix: Ix) {
        self.tree.journal.touch(&mut self.tree.store, ix, self.tick);
        self.applied.changed = true;
    }

    fn suspect(&mut self, key: ElementKey) {
        if !self.applied.suspect.contains(&key) {
            self.applied.suspect.push(key);
        }
    }

    fn notice_opened(&mut self, ix: Ix) {
        let node = self.tree.node_ref(ix);
        if node.role.is_window() || node.role == Role::Menu {
            self.applied.notices.push(Notice::Opened(node));
        }
    }

    /// The text of the first named descendants of an element that this batch tells of.
    fn label(&self, key: ElementKey) -> String {
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
    fn sibling_key(&self, ix: Ix) -> SiblingKey {
        let node = &self.store[ix];
        SiblingKey::of(node.role, node.identifier.as_deref(), node.name.as_deref(), || self.label(ix))
    }

    /// The text of a node's first named descendants.
    fn label(&self, ix: Ix) -> String {
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

    /// How many levels lie below a node.
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

fn replace<T: PartialEq>(field: &mut T, new: T) -> bool {
    let changed = *field != new;
    *field = new;
    changed
}

fn replace_text(field: &mut Option<Box<str>>, new: Option<String>) -> bool {
    let changed = field.as_deref() != new.as_deref();
    if changed {
        *field = new.map(String::into_boxed_str);
    }
    changed
}

/// The positions of a longest increasing run of values, in order (patience sorting).
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
