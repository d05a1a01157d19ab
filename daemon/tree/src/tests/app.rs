//! Helpers that build trees from indented text, and a check of the tree's invariants.

use std::collections::HashSet;

use axd_protocol::{Difference, Node, Replica, Role, Tick};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::Ix;
use crate::{Applied, Tree, ids};
use crate::{Batch, Cause, ElementKey, Facts, Update};

/// A tree with its own tick, for applying updates in tests.
pub struct Fed {
    pub tree: Tree,
    pub tick: Tick,
}

impl Fed {
    pub fn new(salt: u64) -> Fed {
        Fed { tree: Tree::new(ids::app_path("org.example.App", 0), salt), tick: 0 }
    }

    /// A tree of the elements in `text` (see [`elements`]).
    pub fn of(text: &str) -> Fed {
        let mut fed = Fed::new(7);
        fed.apply(elements(text));
        fed
    }

    pub fn apply(&mut self, updates: Vec<Update>) -> Applied {
        self.tick += 1;
        let applied = self.tree.apply(Batch { cause: Cause::Event, updates }, self.tick);
        check(&self.tree);
        applied
    }

    pub fn id_of(&self, key: u64) -> String {
        self.tree.id(self.tree.by_key(ElementKey(key)).expect("the element is there")).to_string()
    }

    pub fn holds(&self, key: u64) -> bool {
        self.tree.by_key(ElementKey(key)).is_some()
    }

    pub fn whole(&self) -> Option<Node> {
        whole(&self.tree)
    }
}

/// The whole tree, through its JSON.
pub fn whole(tree: &Tree) -> Option<Node> {
    let mut out = Vec::new();
    tree.write_whole(tree.root()?, &mut out);
    Some(read_back(&out))
}

/// The difference, through its JSON; `None` if it is no longer known.
pub fn difference(tree: &Tree, since: Tick) -> Option<Difference> {
    let changes = tree.changes_since(since)?;
    let mut out = vec![b'{'];
    tree.write_changes(&changes, &mut out);
    out.push(b'}');
    Some(read_back(&out))
}

/// What was written by hand, as the struct that defines it. Fails if serde would write the struct otherwise.
fn read_back<T: DeserializeOwned + Serialize>(written: &[u8]) -> T {
    let read: T = serde_json::from_slice(written).expect("it is the struct's JSON");
    let again = serde_json::to_string(&read).expect("it was read from JSON");
    assert_eq!(String::from_utf8_lossy(written), again);
    read
}

/// Updates for the elements in `text`: one per line, indented by two spaces per level, `KEY role name`; the root's key is 0.
/// `#word` is an identifier, `@number` a row index.
pub fn elements(text: &str) -> Vec<Update> {
    let mut updates = Vec::new();
    let mut children: Vec<(u64, Vec<ElementKey>)> = Vec::new();
    let mut open: Vec<(usize, u64)> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let indent = line.len() - line.trim_start().len();
        let mut words = line.split_whitespace();
        let key: u64 = words.next().unwrap().parse().unwrap();
        let mut facts = Facts::new(Role::parse(words.next().unwrap()).unwrap());
        for word in words {
            if let Some(identifier) = word.strip_prefix('#') {
                facts.identifier = Some(identifier.into());
            } else if let Some(row) = word.strip_prefix('@') {
                facts.row = row.parse().ok();
            } else {
                facts.name = Some(facts.name.map_or(word.to_owned(), |name| format!("{name} {word}")));
            }
        }
        while open.last().is_some_and(|(depth, _)| *depth >= indent) {
            open.pop();
        }
        if let Some((_, parent)) = open.last() {
            children.iter_mut().find(|(key, _)| key == parent).unwrap().1.push(ElementKey(key));
        }
        open.push((indent, key));
        children.push((key, Vec::new()));
        updates.push(Update::Upsert { key: ElementKey(key), facts: Box::new(facts) });
    }
    let lists = children.into_iter().map(|(parent, order)| Update::Children {
        parent: ElementKey(parent),
        order,
        total: None,
    });
    updates.into_iter().chain(lists).collect()
}

pub fn named(key: u64, role: Role, name: &str) -> Update {
    let facts = Facts { name: Some(name.into()), ..Facts::new(role) };
    Update::Upsert { key: ElementKey(key), facts: Box::new(facts) }
}

pub fn list(parent: u64, order: &[u64]) -> Update {
    Update::Children {
        parent: ElementKey(parent),
        order: order.iter().map(|key| ElementKey(*key)).collect(),
        total: None,
    }
}

/// Fails unless the tree is consistent: every link has its counterpart, and every map refers only to living nodes.
pub fn check(tree: &Tree) {
    let reached: Vec<Ix> = tree.root.map_or(Vec::new(), |root| tree.store.subtree(root).collect());
    let distinct: HashSet<Ix> = reached.iter().copied().collect();
    assert_eq!(distinct.len(), reached.len(), "an element is in two places");
    assert_eq!(reached.len(), tree.len(), "an element is held that the root does not lead to");
    assert_eq!(tree.by_id.len(), tree.len());
    assert_eq!(tree.by_key.len(), tree.len());
    for &ix in &reached {
        let node = &tree.store[ix];
        assert_eq!(tree.by_id.get(&node.id), Some(&ix));
        assert_eq!(tree.by_key.get(&node.key.expect("the living have a key")), Some(&ix));
        assert!(tree.changes.tombstone(node.id).is_none(), "{} is alive and has a tombstone", node.id);
        assert!(tree.store.depth(ix) < crate::MAX_DEPTH);
        assert_eq!(tree.index.with_role(node.role)[node.role_slot as usize], ix);
        if let Some(name) = node.name.as_deref().filter(|_| node.name_hash.is_some()) {
            assert_eq!(tree.index.with_name(&tree.store, name).filter(|same| *same == ix).count(), 1);
        }
        for (index, child) in node.children.iter().enumerate() {
            assert_eq!(tree.store[*child].parent, Some(ix));
            assert_eq!(tree.store[*child].index as usize, index);
        }
    }
    let by_role: usize = Role::ALL.iter().map(|role| tree.index.with_role(*role).len()).sum();
    assert_eq!(by_role, tree.len());
    let touched: Vec<Tick> =
        tree.changes.touched_since(&tree.store, 0).map(|ix| tree.store[ix].touched).collect();
    assert_eq!(touched.len(), tree.len(), "the change list has lost an element");
    assert!(touched.is_sorted_by(|newer, older| newer >= older), "the change list is out of order");
}

/// Fails unless the difference since `since` turns `replica` into the tree.
pub fn check_stream(tree: &Tree, since: Tick, replica: &Replica) {
    let difference = difference(tree, since).expect("so short a history is known whole");
    let mut replica = replica.clone();
    let told = format!("{difference:#?}");
    replica.apply(difference).unwrap_or_else(|misfit| panic!("{misfit}\n{told}"));
    assert_eq!(replica.tree(), whole(tree), "{told}");
}
