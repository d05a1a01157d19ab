//! The replica of a client: whatever a daemon sends, it is a tree or says that it does not fit.

use axd_protocol::{Difference, Node, Replica};

/// The most elements of a tree that is written out: a client that was sent copies of copies would take for ever.
const MOST: usize = 10_000;

/// Takes JSON: a list of a tree or null, and of differences.
pub fn difference(data: &[u8]) {
    let Ok((tree, differences)) = serde_json::from_slice::<(Option<Node>, Vec<Difference>)>(data) else {
        return;
    };
    let mut replica = Replica::new(tree);
    for difference in differences {
        if replica.apply(difference).is_err() {
            return;
        }
        if let Some(tree) = replica.tree() {
            assert!(tree.walk().take(MOST).count() <= replica.len(), "an element is in two places");
        }
    }
}
