//! Finds elements: by selector, with the index; and by similarity, for requests whose element does not exist.

use axd_protocol::selector::budget::spend;
use axd_protocol::selector::{Facts, Forest, Matcher, RoleTest, Selector, fold};
use axd_protocol::{NodeId, NodeRef, Role, Unread};
use rustc_hash::FxHashSet;

use crate::Tree;
use crate::store::Ix;
use crate::{ElementKey, UNCOUNTED, Update};

/// Where to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// In this element and below it.
    pub root: Ix,
}

/// A prepared selector, with the candidates from the index.
#[derive(Debug)]
pub struct Plan {
    matcher: Matcher,
    /// All elements that could match, if the index can find them.
    candidates: Option<Vec<Ix>>,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The matches, in tree order, up to the limit.
    pub matches: Vec<Ix>,
    /// The total number of matches.
    pub count: usize,
}

impl Tree {
    /// Every element in the scope that the selector matches. If the last step has a name or a role the search starts from the
    /// index, so its cost depends on the number of candidates, not on the size of the tree.
    pub fn find(&self, selector: &Selector, scope: Scope, limit: Option<usize>) -> Found {
        self.find_by(self.plan(selector), scope, limit)
    }

    /// Prepares a selector for [`Tree::find_by`].
    pub fn plan(&self, selector: &Selector) -> Plan {
        let matcher = Matcher::new(selector);
        let candidates = self.candidates(&matcher);
        Plan { matcher, candidates }
    }

    /// The number of elements that a plan examines.
    pub fn reach(&self, plan: &Plan) -> usize {
        plan.candidates.as_ref().map_or(self.len(), Vec::len)
    }

    /// Like [`Tree::find`], with a plan. The tree must not have changed since the plan was made.
    pub fn find_by(&self, plan: Plan, scope: Scope, limit: Option<usize>) -> Found {
        let Plan { matcher, candidates } = plan;
        let mut matches = match candidates {
            Some(candidates) => matcher.find_among(self, scope.root, candidates, None),
            None => matcher.find_all(self, scope.root, None),
        };
        if matches.is_empty()
            && let Some(lending) = matcher.with_names_from_content()
        {
            matches = lending.find_all(self, scope.root, None);
        }
        let count = matches.len();
        matches.truncate(limit.unwrap_or(usize::MAX));
        Found { matches, count }
    }

    /// The containers in the scope that were only partly read and may contain a match of the selector.
    pub fn unread(&self, selector: &Selector, scope: Scope) -> Vec<Unread> {
        if self.partial.is_empty() {
            return Vec::new();
        }
        let matcher = Matcher::new(selector);
        let may_hold = |ix: &Ix| self.is_within(*ix, scope.root) && matcher.may_match_in(self, *ix);
        let mut unread: Vec<Ix> = self.partial.iter().copied().filter(may_hold).collect();
        unread.sort_unstable();
        unread.into_iter().filter_map(|ix| self.unread_of(ix)).collect()
    }

    /// The menus in the scope whose items were not read, for a selector that names no role and matched nothing: what it means may
    /// be in one of them.
    pub fn unread_menus(&self, selector: &Selector, scope: Scope) -> Vec<Unread> {
        let names_no_role = |path: &axd_protocol::selector::Path| path.last().role == RoleTest::Any;
        if self.partial.is_empty() || !selector.paths().iter().any(names_no_role) {
            return Vec::new();
        }
        let is_menu = |ix: &Ix| self.is_within(*ix, scope.root) && self.role(*ix) == Role::Menu;
        let mut menus: Vec<Ix> = self.partial.iter().copied().filter(is_menu).collect();
        menus.sort_unstable();
        menus.into_iter().filter_map(|ix| self.unread_of(ix)).collect()
    }

    /// An element and its ancestors, without anything else, as updates for an empty tree.
    pub fn excerpt(&self, ix: Ix) -> Vec<Update> {
        let mut chain: Vec<Ix> = std::iter::once(ix).chain(self.store.ancestors(ix)).collect();
        chain.reverse();
        let keys: Vec<ElementKey> = chain.iter().filter_map(|ix| self.store[*ix].key).collect();
        let mut updates = Vec::with_capacity(2 * chain.len());
        for (ix, key) in chain.iter().zip(&keys) {
            let of = Forest::facts(self, *ix);
            let text = |text: Option<&str>| text.map(str::to_owned);
            let facts = crate::Facts {
                native_role: text(of.native_role),
                name: text(of.name),
                value: text(of.value),
                description: text(of.description),
                identifier: text(of.identifier),
                states: of.states,
                row: self.store[*ix].row,
                ..crate::Facts::new(of.role)
            };
            updates.push(Update::Upsert { key: *key, facts: Box::new(facts) });
        }
        for pair in keys.windows(2) {
            updates.push(Update::Children { parent: pair[0], order: vec![pair[1]], total: None });
        }
        updates
    }

    /// The index of the row that an element is or is in, where its container lists only some of its rows.
    pub fn row_of(&self, ix: Ix) -> Option<u32> {
        std::iter::once(ix).chain(self.store.ancestors(ix)).find_map(|above| self.store[above].row)
    }

    /// How much of a container was read, if not all of it.
    pub fn unread_of(&self, ix: Ix) -> Option<Unread> {
        let total = self.store[ix].total?;
        let children = &self.store[ix].children;
        let rows: FxHashSet<u32> = children.iter().filter_map(|child| self.store[*child].row).collect();
        // The cells of a row have the index of the row; headers have none.
        let read = if rows.is_empty() { children.len() } else { rows.len() } as u32;
        let total = (total != UNCOUNTED).then_some(total);
        Some(Unread { node: self.node_ref(ix), read, total })
    }

    /// The former container of a removed element, if it lists only some of its rows and may still contain the element.
    pub fn unseen_in(&self, id: NodeId) -> Option<Unread> {
        let mut tombstone = self.tombstone(id).filter(|tombstone| tombstone.unseen)?;
        // Elements below a row were removed together with the row.
        while !tombstone.root {
            tombstone = self.tombstone(tombstone.parent?)?;
        }
        self.unread_of(self.shown(tombstone.parent?)?)
    }

    /// Whether it is unknown if an element is gone: it is out of view, or there is no tombstone any more.
    pub fn is_unseen(&self, id: NodeId) -> bool {
        self.shown(id).is_none() && self.tombstone(id).is_none_or(|tombstone| tombstone.unseen)
    }

    /// Whether a match of the selector existed and is known to be gone. Considers only selectors of role and name.
    pub fn has_removed(&self, selector: &Selector) -> bool {
        let [path] = selector.paths() else { return false };
        let step = path.last();
        let (RoleTest::Role(role), true, true) = (&step.role, path.rest.is_empty(), step.parts.is_empty())
        else {
            return false;
        };
        let name = step.name.as_deref().map(fold);
        self.changes.tombstones().any(|tombstone| {
            let same_name = || {
                name.as_ref().is_none_or(|name| fold(tombstone.name.as_deref().unwrap_or_default()) == *name)
            };
            !tombstone.unseen && tombstone.role.is_kind_of(*role) && same_name()
        })
    }

    /// All elements that the last steps of the selector's paths could match, if the index can find them.
    fn candidates(&self, matcher: &Matcher) -> Option<Vec<Ix>> {
        // Sorting a candidate into tree order costs more than walking past a node does.
        let most = 16 + self.len() / 8;
        let mut candidates = Vec::new();
        for seed in matcher.seeds() {
            let room = most + 1 - candidates.len();
            match (&seed.folded_name, seed.role) {
                (Some(name), _) => candidates.extend(self.index.with_name(&self.store, name).take(room)),
                (None, Some(role)) => candidates.extend(self.with_kinds_of(role).take(room)),
                (None, None) => return None,
            }
            if candidates.len() > most {
                return None;
            }
        }
        Some(candidates)
    }

    /// The elements with this role, and those with a kind of it.
    fn with_kinds_of(&self, role: Role) -> impl Iterator<Item = Ix> {
        let roles = std::iter::once(role).chain(role.kinds().iter().copied());
        roles.flat_map(|role| self.index.with_role(role).iter().copied())
    }

    /// The living elements most similar to one with this role and name, the most similar first: those of the nearest names, and
    /// among these those of the nearest roles.
    pub fn like(&self, role: Role, name: Option<&str>, most: usize) -> Vec<NodeRef> {
        let wanted = name.map(|name| fold(name).into_owned()).filter(|name| !name.is_empty());
        let same_name = wanted.iter().flat_map(|name| self.index.with_name(&self.store, name));
        let near = role.near().into_iter().flat_map(|role| self.index.with_role(role).iter().copied());
        let mut scored: Vec<(u32, Ix)> = same_name
            .chain(near.take(2_000))
            .map(|ix| (self.likeness(ix, role, wanted.as_deref()), ix))
            .filter(|(score, _)| *score > 0)
            .collect();
        scored.sort_by_key(|&(score, ix)| (std::cmp::Reverse(score), ix));
        scored.dedup_by_key(|(_, ix)| *ix);
        scored.into_iter().take(most).map(|(_, ix)| self.node_ref(ix)).collect()
    }

    fn likeness(&self, ix: Ix, role: Role, wanted: Option<&str>) -> u32 {
        let node = &self.store[ix];
        let nearness = node.role.nearness(role);
        let (Some(wanted), Some(name)) = (wanted, node.name.as_deref()) else {
            return if wanted.is_none() { nearness } else { 0 };
        };
        let name = fold(name);
        let closeness = if *name == *wanted {
            8
        } else if distance_at_most(&name, wanted, 1 + wanted.chars().count() / 4) {
            4
        } else if name.contains(wanted) || wanted.contains(&*name) && !name.is_empty() {
            // A contained word is a weaker match than a typing error: "C" is in almost everything.
            3
        } else {
            return 0;
        };
        4 * closeness + nearness
    }
}

/// Whether two words are at most `most` insertions, deletions and replacements apart.
fn distance_at_most(one: &str, other: &str, most: usize) -> bool {
    let (one, other): (Vec<char>, Vec<char>) =
        (one.chars().take(64).collect(), other.chars().take(64).collect());
    if one.len().abs_diff(other.len()) > most || !spend((one.len() * other.len()) as u64 / 16) {
        return false;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()] <= most
}

impl Forest for Tree {
    type Node = Ix;

    fn parent(&self, ix: Ix) -> Option<Ix> {
        self.store[ix].parent
    }

    fn child_count(&self, ix: Ix) -> usize {
        self.store[ix].children.len()
    }

    fn child(&self, ix: Ix, index: usize) -> Ix {
        self.store[ix].children[index]
    }

    fn index_in_parent(&self, ix: Ix) -> Option<usize> {
        self.store[ix].parent.map(|_| self.store[ix].index as usize)
    }

    fn row_index(&self, ix: Ix) -> Option<u32> {
        self.store[ix].row
    }

    fn row_count(&self, ix: Ix) -> Option<u32> {
        self.store[ix].total.filter(|total| *total != UNCOUNTED)
    }

    fn name_from_content(&self, ix: Ix) -> Option<String> {
        self.lent(ix)
    }

    fn facts(&self, ix: Ix) -> Facts<'_> {
        let node = &self.store[ix];
        Facts {
            role: node.role,
            native_role: node.native_role.map(|sym| self.store.strings.get(sym)),
            name: node.name.as_deref(),
            value: node.value.as_deref(),
            description: node.description.as_deref(),
            identifier: node.identifier.as_deref(),
            states: node.states,
        }
    }
}
