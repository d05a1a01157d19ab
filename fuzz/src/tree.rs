//! The tree: after any updates it is a tree, what is hidden is absent, and the stream makes every snapshot the tree that is there.

use std::collections::VecDeque;

use axd_protocol::{Difference, Node, Replica, Role, State, Tick};
use axd_tree::consistency::check;
use axd_tree::{Batch, Cause, ElementKey, Facts, Hides, Resolved, Tree, UNCOUNTED, Update};

use crate::bytes::Bytes;

/// More than this many steps of an input add nothing but time.
const MAX_STEPS: usize = 300;
/// The number of past snapshots that the stream must bring up to date.
const MAX_PAST: usize = 6;

const ROLES: [Role; 10] = [
    Role::Group,
    Role::Window,
    Role::Button,
    Role::List,
    Role::Row,
    Role::TextField,
    Role::Menu,
    Role::Dialog,
    Role::Application,
    Role::Unknown,
];
const STATES: [State; 4] = [State::Focused, State::Disabled, State::Secure, State::Hidden];
const WORDS: [Option<&str>; 8] = [
    None,
    Some(""),
    Some("Notes"),
    Some("Secret"),
    Some("Secret plan"),
    Some("a"),
    Some("\u{1f600}"),
    Some("a\nb"),
];

enum Step {
    Update(Update),
    /// All updates since the last one of these are a batch.
    Apply,
    /// Windows with this in their title are hidden from now on; with an empty text none.
    Hide(&'static str),
}

/// Takes bytes as steps, and checks the tree after each.
pub fn tree(data: &[u8]) {
    run(data, |tree, _| {
        for node in whole(tree).iter().flat_map(Node::walk) {
            assert!(!node.states.has(State::Secure) || node.value.is_none(), "a secret is in the tree");
            assert!(matches!(tree.resolve(node.id), Resolved::Alive(_)));
        }
    });
}

/// Takes bytes as steps, and after each brings past snapshots up to date by the stream.
pub fn replica(data: &[u8]) {
    let mut past: VecDeque<(Tick, Replica)> = VecDeque::from([(0, Replica::new(None))]);
    run(data, |tree, tick| {
        let now = whole(tree);
        for (since, replica) in &mut past {
            let difference = difference(tree, *since).expect("so short a history is known whole");
            replica.apply(difference).expect("the difference fits");
            assert_eq!(replica.tree(), now, "since {since}");
            *since = tick;
        }
        if past.len() == MAX_PAST {
            past.pop_front();
        }
        past.push_back((tick, Replica::new(now)));
    });
}

fn run(data: &[u8], mut each: impl FnMut(&Tree, Tick)) {
    let mut bytes = Bytes::new(data);
    let (mut tree, mut tick, mut updates, mut hidden) = (Tree::new(1, 1), 0, Vec::new(), "");
    for _ in 0..MAX_STEPS {
        let is_last = bytes.is_empty();
        match step(&mut bytes) {
            Step::Update(update) if !is_last => {
                updates.push(update);
                continue;
            }
            Step::Hide(word) => {
                hidden = word;
                let hides = Hides::new(move |of| of.title.contains(word));
                tick += 1;
                tree.set_hides((!word.is_empty()).then_some(hides), tick);
            }
            Step::Update(_) | Step::Apply => {
                tick += 1;
                tree.apply(Batch { cause: Cause::Event, updates: std::mem::take(&mut updates) }, tick);
            }
        }
        check(&tree);
        assert!(
            hidden.is_empty()
                || !tree.windows().any(|ix| tree.name(ix).is_some_and(|name| name.contains(hidden)))
        );
        each(&tree, tick);
        if is_last {
            return;
        }
    }
}

fn step(bytes: &mut Bytes<'_>) -> Step {
    let key = |bytes: &mut Bytes<'_>| ElementKey(bytes.below(20) as u64);
    match bytes.below(16) {
        0 => Step::Update(Update::Gone(key(bytes))),
        1..=6 => {
            let key = key(bytes);
            let mut facts = Facts::new(bytes.one_of(&ROLES));
            let text = |bytes: &mut Bytes<'_>| bytes.one_of(&WORDS).map(str::to_owned);
            facts.name = text(bytes);
            let more = bytes.next();
            if more & 1 > 0 {
                (facts.value, facts.identifier) = (text(bytes), text(bytes));
            }
            facts.row = (more & 2 > 0).then_some(u32::from(more >> 4));
            facts.window = (more & 4 > 0).then_some(u64::from(more >> 5));
            let bits = if more & 8 > 0 { bytes.next() } else { 0 };
            let has = |(bit, _): &(usize, State)| bits & (1 << bit) > 0;
            facts.states = STATES.into_iter().enumerate().filter(has).map(|(_, state)| state).collect();
            Step::Update(Update::Upsert { key, facts: Box::new(facts) })
        }
        7..=11 => {
            let parent = key(bytes);
            let count = bytes.below(8);
            let order = (0..count).map(|_| key(bytes)).collect();
            let total = bytes.one_of(&[None, None, Some(UNCOUNTED), Some(3), Some(u32::MAX)]);
            Step::Update(Update::Children { parent, order, total })
        }
        12 => Step::Hide(bytes.one_of(&["", "Secret", "Secret plan", "a", "Notes"])),
        _ => Step::Apply,
    }
}

fn whole(tree: &Tree) -> Option<Node> {
    let mut out = Vec::new();
    tree.write_whole(tree.root()?, &mut out);
    Some(serde_json::from_slice(&out).expect("a tree is JSON"))
}

fn difference(tree: &Tree, since: Tick) -> Option<Difference> {
    let changes = tree.changes_since(since)?;
    let mut out = vec![b'{'];
    tree.write_changes(&changes, &mut out);
    out.push(b'}');
    Some(serde_json::from_slice(&out).expect("a difference is JSON"))
}
