//! A check of the tree's invariants, for tests and for fuzzing.

use std::collections::HashSet;

use axd_protocol::{Role, Tick};

use crate::store::Ix;
use crate::{MAX_DEPTH, Resolved, Tree};

/// Fails unless the tree is consistent: every link has its counterpart, and every map refers only to living nodes.
pub fn check(tree: &Tree) {
    let reached: Vec<Ix> = tree.root.map_or(Vec::new(), |root| tree.store.subtree(root).collect());
    let distinct: HashSet<Ix> = reached.iter().copied().collect();
    assert_eq!(distinct.len(), reached.len(), "an element is in two places");
    assert_eq!(reached.len(), tree.len(), "an element is held that the root does not lead to");
    assert_eq!(tree.by_id.len(), tree.store.len());
    assert_eq!(tree.by_key.len(), tree.store.len());
    for &ix in &reached {
        let node = &tree.store[ix];
        assert_eq!(tree.by_id.get(&node.id), Some(&ix));
        assert_eq!(tree.by_key.get(&node.key.expect("the living have a key")), Some(&ix));
        assert!(tree.tombstone(node.id).is_none(), "{} is alive and has a tombstone", node.id);
        assert!(!node.concealed, "{} is concealed and reached", node.id);
        assert!(tree.store.depth(ix) < MAX_DEPTH);
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
    check_concealed(tree, &distinct);
}

/// Fails unless what the root does not lead to is out of reach of every read, and whole.
fn check_concealed(tree: &Tree, reached: &HashSet<Ix>) {
    let concealed: Vec<Ix> = tree.by_id.values().copied().filter(|ix| !reached.contains(ix)).collect();
    assert_eq!(concealed.len(), tree.hiding.concealed);
    for &ix in &concealed {
        let node = &tree.store[ix];
        assert!(node.concealed && !tree.partial.contains(&ix) && tree.focused != Some(ix));
        assert!(tree.by_id(node.id).is_none() && tree.by_key(node.key.expect("it is alive")).is_none());
        assert!(!matches!(tree.resolve(node.id), Resolved::Alive(_)));
        let top = tree.store.ancestors(ix).last().unwrap_or(ix);
        assert!(tree.root != Some(top) && tree.store[top].parent.is_none(), "it hangs from what is shown");
        for (index, child) in node.children.iter().enumerate() {
            let child = &tree.store[*child];
            assert_eq!((child.parent, child.index as usize, child.concealed), (Some(ix), index, true));
        }
    }
}
