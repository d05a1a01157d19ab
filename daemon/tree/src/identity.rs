//! Identity: assigns a node, and so an id, to an element that is new to the tree.

use std::collections::VecDeque;

use axd_protocol::selector::{is_item, takes_name_from_content};
use axd_protocol::{NodeId, Role, State};
use rustc_hash::FxHashMap;

use crate::apply::{Apply, Child};
use crate::ids;
use crate::ids::SiblingKey;
use crate::store::{Ix, Node};
use crate::{ElementKey, Facts};
use crate::{Notice, Tree};

/// How many named descendants give an unnamed element its label, and how many descendants are examined to find them.
const LABEL_WORDS: usize = 3;
const LABEL_REACH: usize = 24;

/// What distinguishes a child from its siblings.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sibling {
    key: SiblingKey,
    /// The number of siblings with the same key before it.
    place: u32,
    /// Whether no sibling has the same key and place.
    unique: bool,
}

/// The orphans of one parent by key, computed on first use.
pub(crate) type Twins = Option<FxHashMap<SiblingKey, VecDeque<Ix>>>;

impl Apply<'_> {
    /// What distinguishes each child from its siblings. Only new children get an identity, so without any this is skipped.
    pub(crate) fn siblings(&self, children: &[Child]) -> Vec<Sibling> {
        if !children.iter().any(|child| matches!(child, Child::New(_))) {
            return vec![Sibling::default(); children.len()];
        }
        let mut siblings: Vec<Sibling> = children
            .iter()
            .map(|child| Sibling { key: self.sibling_key(*child), ..Sibling::default() })
            .collect();
        // Windows are ordered by the window system's number, because the app may list them in any order.
        let mut order: Vec<usize> = (0..children.len()).collect();
        order.sort_by_key(|at| self.window_number(children[*at]));
        let mut count: FxHashMap<SiblingKey, u32> = FxHashMap::default();
        for at in order {
            let before = count.entry(siblings[at].key).or_default();
            siblings[at].place = *before;
            *before += 1;
        }
        for sibling in &mut siblings {
            sibling.unique = sibling.key.ordinal || count[&sibling.key] == 1;
        }
        siblings
    }

    fn window_number(&self, child: Child) -> Option<u64> {
        match child {
            Child::Known(ix) => self.tree.store.window(ix),
            Child::New(key) => self.staged.get(&key)?.window,
        }
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

    /// Assigns a node to a new element: that of a removed element with the same identity, else a new one.
    pub(crate) fn assign(
        &mut self,
        key: ElementKey,
        facts: Facts,
        parent: Ix,
        sibling: Sibling,
        twins: &mut Twins,
    ) -> Ix {
        if let Some((id, path)) = self.identity_of_returned(key, facts.role) {
            return self.insert_node(key, facts, id, path, Some(parent));
        }
        let natural = sibling.key.path(self.tree.store[parent].path, sibling.place);
        let path = if sibling.unique { natural } else { ids::weak_path(natural, self.tree.salt, key) };
        let holder = self.node_with_path(facts.role, path);
        let heir = match holder {
            Some(holder) => Some(holder).filter(|holder| self.is_dead(*holder)),
            None if sibling.unique => None,
            None => self.matching_orphan(parent, sibling.key, twins),
        };
        match heir {
            Some(ix) => {
                self.reuse_node(ix, key, facts, Some(parent));
                ix
            }
            None if holder.is_some() => {
                let path = ids::weak_path(path, self.tree.salt, key);
                self.create(key, facts, path, Some(parent))
            }
            None => self.create(key, facts, path, Some(parent)),
        }
    }

    /// Assigns a node to the app itself: the one it had, if it was in the tree before.
    pub(crate) fn assign_root(&mut self, facts: Facts) -> Ix {
        let path = self.tree.app_path;
        match self.node_with_path(facts.role, path).filter(|holder| self.is_dead(*holder)) {
            Some(ix) => {
                self.reuse_node(ix, ElementKey::APP, facts, None);
                ix
            }
            None => self.create(ElementKey::APP, facts, path, None),
        }
    }

    /// The node with this path.
    fn node_with_path(&self, role: Role, path: u64) -> Option<Ix> {
        ids::forms(role, path).into_iter().find_map(|id| {
            let holder = *self.tree.by_id.get(&id)?;
            (self.tree.store[holder].path == path).then_some(holder)
        })
    }

    /// Whether a node is removed by this batch: an orphan, or below one, and in no list.
    fn is_dead(&self, ix: Ix) -> bool {
        let claimed = self.tree.store[ix].key.is_some_and(|key| self.claimed.contains(&key));
        let orphaned = || {
            self.orphans.contains_key(&ix)
                || self.tree.store.ancestors(ix).any(|above| self.orphans.contains_key(&above))
        };
        !claimed && !self.placed.contains(&ix) && orphaned()
    }

    /// The next orphan of this parent with the same key, for new elements that their key does not distinguish.
    fn matching_orphan(&self, parent: Ix, key: SiblingKey, twins: &mut Twins) -> Option<Ix> {
        let twins = twins.get_or_insert_with(|| {
            let mut twins: FxHashMap<SiblingKey, VecDeque<Ix>> = FxHashMap::default();
            for ix in self
                .before
                .get(&parent)
                .into_iter()
                .flatten()
                .filter(|ix| self.orphans.get(ix) == Some(&Some(parent)))
            {
                twins.entry(self.tree.sibling_key(*ix)).or_default().push_back(*ix);
            }
            twins
        });
        let waiting = twins.get_mut(&key)?;
        std::iter::from_fn(|| waiting.pop_front()).find(|ix| self.is_dead(*ix))
    }

    /// Reuses the node of a removed element for a new one. The node's children belonged to the removed element, so they become
    /// orphans.
    fn reuse_node(&mut self, ix: Ix, key: ElementKey, facts: Facts, parent: Option<Ix>) {
        self.note_move(ix);
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

    fn create(&mut self, key: ElementKey, facts: Facts, mut path: u64, parent: Option<Ix>) -> Ix {
        let id = loop {
            let free = ids::forms(facts.role, path).into_iter().find(|id| !self.tree.by_id.contains_key(id));
            match free {
                Some(id) => break id,
                None => path = ids::weak_path(path, self.tree.salt, key),
            }
        };
        self.insert_node(key, facts, id, path, parent)
    }

    /// The former id and path of an element that was removed and is back: apps announce a move in two parts, and the worker's
    /// batches may fall between them.
    fn identity_of_returned(&mut self, key: ElementKey, role: Role) -> Option<(NodeId, u64)> {
        let tombstone = self.tree.changes.take_tombstone(key).filter(|tombstone| tombstone.role == role)?;
        let (id, path) = (tombstone.id, tombstone.path);
        (!self.tree.by_id.contains_key(&id)).then_some((id, path))
    }

    fn insert_node(
        &mut self,
        key: ElementKey,
        facts: Facts,
        id: NodeId,
        path: u64,
        parent: Option<Ix>,
    ) -> Ix {
        let mut node = Node::new(id, key, path, facts.role, self.tick);
        node.concealed = parent.is_some_and(|parent| self.tree.store[parent].concealed);
        let concealed = node.concealed;
        let ix = self.tree.store.insert(node);
        self.tree.by_key.insert(key, ix);
        self.tree.by_id.insert(id, ix);
        if concealed {
            self.tree.hiding.concealed += 1;
        } else {
            self.tree.index.enter(&mut self.tree.store, ix);
        }
        if facts.role.is_window() {
            self.titled.push(ix);
        }
        self.set_facts(ix, facts);
        if !concealed {
            self.touch(ix);
            self.notice_opened(ix);
        }
        ix
    }

    pub(crate) fn notice_opened(&mut self, ix: Ix) {
        let node = self.tree.node_ref(ix);
        if node.role.is_window() || node.role == Role::Menu {
            self.applied.notices.push(Notice::Opened(node));
        }
    }

    /// The text of the first named descendants of an element, as this batch contains them.
    pub(crate) fn label(&self, key: ElementKey) -> String {
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

    /// The label of an item without a name: the visible text in it.
    pub(crate) fn lent(&self, ix: Ix) -> Option<String> {
        let node = &self.store[ix];
        if !takes_name_from_content(node.role)
            || node.name.as_deref().is_some_and(|name| !name.trim().is_empty())
        {
            return None;
        }
        // A button is labelled by the first text in it; other texts appeared when it was pressed.
        let most = if is_item(node.role) { LABEL_WORDS } else { 1 };
        let mut words: Vec<&str> = Vec::new();
        let mut stack = vec![ix];
        for _ in 0..LABEL_REACH {
            let Some(at) = stack.pop().filter(|_| words.len() < most) else { break };
            let node = &self.store[at];
            if at != ix && (node.states.has(State::Hidden) || node.states.has(State::Offscreen)) {
                continue;
            }
            // Interactive elements are not part of an item's label; but items may contain items.
            let is_text = !node.role.is_interactive() || is_item(node.role) || node.role == Role::Link;
            let name = node.name.as_deref().map(str::trim);
            // A box is often called as the text in it is.
            let is_new = |name: &&str| !name.is_empty() && words.last() != Some(name);
            words.extend(name.filter(|name| at != ix && is_text && is_new(name)));
            stack.extend(node.children.iter().take(LABEL_REACH).rev());
        }
        Some(words.join(" ")).filter(|words| !words.is_empty())
    }

    /// The text of a node's first named descendants.
    pub(crate) fn label(&self, ix: Ix) -> String {
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
