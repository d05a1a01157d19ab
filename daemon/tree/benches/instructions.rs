//! One operation on the tree, for callgrind to count: noise does not reach instruction counts. `scripts/bench
//! --callgrind` runs `instructions OPERATION NODES` with collection on only in [`measured`].

mod made;

use std::hint::black_box;

use axd_protocol::selector::Selector;
use axd_tree::{NodeFields, Scope, View};

use made::Fed;

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| !arg.starts_with("--"));
    let (Some(operation), Some(nodes)) = (args.next(), args.next().and_then(|nodes| nodes.parse().ok()))
    else {
        // As `cargo bench` calls it: there is nothing to time here.
        return;
    };
    let mut fed = Fed::of(made::walk(nodes));
    let root = fed.tree.root().expect("the app was walked");
    let keys = made::texts(64);
    // Once to warm up, as in a daemon that has run for a while.
    fed.apply(vec![made::new_value(keys[0], "warm")]);
    let since = fed.tick;
    match operation.as_str() {
        "apply" => {
            let updates = vec![made::new_value(keys[1], "changed")];
            measured(|| fed.apply(updates));
        }
        "changes" => {
            fed.apply(vec![made::new_value(keys[1], "changed")]);
            let mut out = Vec::with_capacity(1024);
            measured(|| {
                let changes = fed.tree.changes_since(since).expect("the tick is known");
                fed.tree.write_changes(&changes, &mut out);
            });
        }
        "find" => {
            let selector = Selector::parse("button:Save").expect("a selector");
            measured(|| black_box(fed.tree.find(&selector, Scope { root }, Some(100))));
        }
        "snapshot" => {
            let mut out = Vec::with_capacity(nodes as usize * 160);
            let view = View::default();
            measured(|| {
                fed.tree.write_json(&fed.tree.show(root, &view), &view, NodeFields::COMMON, &mut out)
            });
        }
        other => eprintln!("there is no operation '{other}': apply, changes, find, snapshot"),
    }
}

/// What is counted.
#[inline(never)]
fn measured<T>(work: impl FnOnce() -> T) -> T {
    black_box(work())
}
