//! Property tests: after any sequence of batches, valid or not, the tree is consistent and its differences are correct.

use std::collections::{HashMap, HashSet};

use axd_protocol::{NodeId, Replica, Role, State, States};
use proptest::prelude::*;

use crate::store::Ix;
use crate::tests::app::{Fed, check_stream, whole};
use crate::{ElementKey, Facts, Notice, Resolved, Tree, Update};

const KEYS: u64 = 14;

/// One update of an app, valid or not.
#[derive(Debug, Clone)]
enum Op {
    Gone(u64),
    Upsert { key: u64, role: u8, name: u8, value: u8, states: u8, row: Option<u32> },
    Children { parent: u64, order: Vec<u64>, total: Option<u32> },
}

/// The states that a random element may have. `Secure` is listed by name, whatever its place in the enum.
const STATES: [State; 3] = [State::Focused, State::Disabled, State::Secure];

const ROLES: [Role; 6] = [Role::Group, Role::Button, Role::Row, Role::Window, Role::List, Role::TextField];

impl Op {
    fn update(&self) -> Update {
        match self {
            Op::Gone(key) => Update::Gone(ElementKey(*key)),
            Op::Upsert { key, role, name, value, states, row } => {
                let word = |number: u8, word: &str| (number > 0).then(|| format!("{word}{number}"));
                let mut facts = Facts::new(ROLES[*role as usize % ROLES.len()]);
                facts.name = word(*name, "n");
                facts.value = word(*value, "v");
                let has = |(bit, _): &(usize, State)| states & (1 << bit) != 0;
                facts.states = STATES.into_iter().enumerate().filter(has).map(|(_, state)| state).collect();
                facts.row = *row;
                Update::Upsert { key: ElementKey(*key), facts: Box::new(facts) }
            }
            Op::Children { parent, order, total } => Update::Children {
                parent: ElementKey(*parent),
                order: order.iter().map(|key| ElementKey(*key)).collect(),
                total: *total,
            },
        }
    }
}

fn op() -> impl Strategy<Value = Op> {
    let upsert = (0..KEYS, any::<u8>(), 0..3_u8, 0..3_u8, 0..8_u8, proptest::option::weighted(0.3, 0..4_u32))
        .prop_map(|(key, role, name, value, states, row)| Op::Upsert { key, role, name, value, states, row });
    let children =
        (0..KEYS, proptest::collection::vec(0..KEYS, 0..6), proptest::option::weighted(0.2, 0..9_u32))
            .prop_map(|(parent, order, total)| Op::Children { parent, order, total });
    prop_oneof![1 => (0..KEYS).prop_map(Op::Gone), 4 => upsert, 4 => children]
}

fn batches() -> impl Strategy<Value = Vec<Vec<Op>>> {
    // The first batch gives the app a root, so that most later updates have a parent.
    let root = Op::Upsert { key: 0, role: 0, name: 0, value: 0, states: 0, row: None };
    proptest::collection::vec(proptest::collection::vec(op(), 1..8), 1..24).prop_map(move |mut batches| {
        batches.insert(0, vec![root.clone()]);
        batches
    })
}

/// One step of a history in which windows are hidden: a batch, or other titles that are hidden from now on.
#[derive(Debug, Clone)]
enum Step {
    Batch(Vec<Op>),
    Hide(&'static str),
}

/// The titles of random windows are "n1" and "n2"; with "n" all that have one are hidden, with "" none.
const HIDDEN: [&str; 4] = ["", "n1", "n2", "n"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let hide = (0..HIDDEN.len()).prop_map(|at| Step::Hide(HIDDEN[at]));
    let step = prop_oneof![1 => hide, 4 => proptest::collection::vec(op(), 1..8).prop_map(Step::Batch)];
    let root = Op::Upsert { key: 0, role: 0, name: 0, value: 0, states: 0, row: None };
    proptest::collection::vec(step, 1..24).prop_map(move |mut steps| {
        steps.insert(0, Step::Batch(vec![root.clone()]));
        steps
    })
}

/// What is to be seen of a tree in which nothing is hidden: all but the windows with this in their title. By keys, not by ids.
fn visible(tree: &Tree, ix: Ix, word: &str, out: &mut Vec<String>) {
    let name = tree.name(ix).unwrap_or_default();
    let may_be_hidden =
        tree.parent(ix).is_some() && (tree.role(ix).is_window() || tree.parent(ix) == tree.root());
    if !word.is_empty() && may_be_hidden && name.contains(word) {
        return;
    }
    let states = tree.states(ix);
    out.push(format!(
        "{:?} {:?} {name} {:?} {states:?} {:?}",
        tree.key(ix),
        tree.role(ix),
        tree.value(ix),
        tree.total(ix)
    ));
    tree.children(ix).iter().for_each(|child| visible(tree, *child, word, out));
    out.push("up".to_owned());
}

fn seen(tree: &Tree, word: &str) -> Vec<String> {
    let mut out = Vec::new();
    tree.root().into_iter().for_each(|root| visible(tree, root, word, &mut out));
    out
}

/// Whether the tombstone of an id is of the last step.
fn is_removed_now(fed: &Fed, id: NodeId) -> bool {
    fed.tree.changes.tombstone(id).is_some_and(|tombstone| tombstone.removed_at == fed.tick)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 400 } else { 4_000 }))]

    #[test]
    fn any_sequence_of_batches_keeps_the_tree_a_tree_and_its_stream_true(batches in batches()) {
        let mut fed = Fed::new(1);
        let mut past = vec![(0, Replica::new(None))];
        for batch in &batches {
            // `apply` checks that the tree is consistent.
            fed.apply(batch.iter().map(Op::update).collect());
            for (since, replica) in &past {
                check_stream(&fed.tree, *since, replica);
            }
            past.push((fed.tick, Replica::new(whole(&fed.tree))));
        }
    }

    #[test]
    fn what_is_hidden_is_absent_and_all_else_is_as_if_nothing_were_hidden(steps in steps()) {
        let (mut fed, mut all) = (Fed::new(1), Fed::new(1));
        let mut past = vec![(0, Replica::new(None))];
        let mut hidden = "";
        // What each id was last seen as.
        let mut known: HashMap<NodeId, (Role, Option<String>)> = HashMap::new();
        for step in &steps {
            let before = seen(&fed.tree, "");
            // `apply` and `hide` check that the tree is consistent, and that what is hidden is out of reach.
            let applied = match step {
                Step::Batch(batch) => {
                    all.apply(batch.iter().map(Op::update).collect());
                    fed.apply(batch.iter().map(Op::update).collect())
                }
                Step::Hide(word) => {
                    hidden = word;
                    fed.hide(word)
                }
            };
            let now = seen(&fed.tree, "");
            prop_assert_eq!(&now, &seen(&all.tree, hidden));
            prop_assert!(applied.changed || now == before, "a change that is seen is a change");
            for (since, replica) in &past {
                check_stream(&fed.tree, *since, replica);
            }
            let whole = whole(&fed.tree);
            let ids = whole.iter().flat_map(|tree| tree.walk()).map(|node| node.id).collect::<HashSet<_>>();
            for notice in &applied.notices {
                match notice {
                    Notice::Focus(node) | Notice::Opened(node) => prop_assert!(hidden.is_empty() || ids.contains(&node.id)),
                    Notice::Closed(node) => prop_assert!(hidden.is_empty() || known.contains_key(&node.id)),
                }
            }
            for (id, (role, name)) in &known {
                match fed.tree.resolve(*id) {
                    Resolved::Alive(ix) => prop_assert!(ids.contains(&fed.tree.id(ix))),
                    Resolved::Unknown => prop_assert!(false, "{} was seen", id),
                    Resolved::Dead { was, candidates } => {
                        prop_assert!(candidates.iter().all(|like| ids.contains(&like.id)));
                        prop_assert!(!ids.contains(id));
                        // Where nothing can be hidden, a name that came with the removal is told.
                        if !hidden.is_empty() && is_removed_now(&fed, *id) {
                            prop_assert_eq!((&was.role, &was.name), (role, name));
                        }
                    }
                }
            }
            for ix in fed.tree.by_id.values().filter(|ix| fed.tree.store[**ix].concealed) {
                let id = fed.tree.id(*ix);
                prop_assert_eq!(matches!(fed.tree.resolve(id), Resolved::Dead { .. }), known.contains_key(&id));
            }
            known.extend(whole.iter().flat_map(|tree| tree.walk()).map(|node| (node.id, (node.role, node.name.clone()))));
            past.push((fed.tick, Replica::new(whole)));
        }
    }

    #[test]
    fn an_element_that_lives_keeps_its_id_and_no_two_share_one(batches in batches()) {
        let mut fed = Fed::new(1);
        let mut known: HashMap<u64, NodeId> = HashMap::new();
        for batch in &batches {
            fed.apply(batch.iter().map(Op::update).collect());
            let replaced = |key: u64| batch.iter().any(|op| match op {
                Op::Gone(gone) => *gone == key,
                // A row may be recycled under its key: then it is another element.
                Op::Upsert { key: upserted, row, .. } => *upserted == key && row.is_some(),
                Op::Children { .. } => false,
            });
            let now: HashMap<u64, NodeId> = (0..KEYS)
                .filter_map(|key| Some((key, fed.tree.id(fed.tree.by_key(ElementKey(key))?))))
                .collect();
            for (key, id) in &now {
                if let Some(before) = known.get(key).filter(|_| !replaced(*key)) {
                    prop_assert_eq!(before, id);
                }
            }
            known = now;
        }
    }

    #[test]
    fn a_secure_field_never_holds_a_value(batches in batches()) {
        let mut fed = Fed::new(1);
        for batch in &batches {
            fed.apply(batch.iter().map(Op::update).collect());
            for node in whole(&fed.tree).iter().flat_map(|tree| tree.walk()) {
                prop_assert!(!node.states.has(State::Secure) || node.value.is_none());
            }
        }
    }
}

#[test]
fn a_value_that_is_fed_for_a_secure_field_is_dropped() {
    let secure = Op::Upsert { key: 0, role: 5, name: 1, value: 1, states: 0b100, row: None }.update();
    let Update::Upsert { facts, .. } = &secure else { panic!("it is an upsert") };
    assert!(facts.states.has(State::Secure) && facts.value.is_some(), "the random updates try it");
    let mut fed = Fed::new(1);
    fed.apply(vec![secure]);
    let tree = whole(&fed.tree).expect("it has a root");
    assert!(tree.states.has(State::Secure) && tree.value.is_none());
}

#[test]
fn a_chain_deeper_than_any_interface_is_cut_and_reported() {
    let mut fed = Fed::of("0 application");
    let mut updates: Vec<Update> = (1..600)
        .map(|key| Update::Upsert { key: ElementKey(key), facts: Box::new(Facts::new(Role::Group)) })
        .collect();
    updates.extend((0..599).map(|key| Update::Children {
        parent: ElementKey(key),
        order: vec![ElementKey(key + 1)],
        total: None,
    }));
    let applied = fed.apply(updates);
    assert_eq!(fed.tree.len(), crate::MAX_DEPTH);
    assert!(!applied.suspect.is_empty());
}

#[test]
fn history_that_is_no_longer_known_is_not_made_up() {
    let mut fed = Fed::of("0 application\n  1 window A");
    let old = fed.tick;
    for round in 0..20_000 {
        let key = 100 + round;
        fed.tick += 1;
        let updates = vec![
            crate::tests::app::named(key, Role::Button, &format!("B{round}")),
            crate::tests::app::list(1, &[key]),
        ];
        fed.tree.apply(crate::Batch { cause: crate::Cause::Event, updates }, fed.tick);
    }
    assert!(fed.tree.changes_since(old).is_none());
    assert!(fed.tree.changes_since(fed.tick - 100).is_some());
}

#[test]
fn nothing_said_twice_counts_as_a_change() {
    let text = "0 application\n  1 window A\n    2 button B";
    let mut fed = Fed::of(text);
    let applied = fed.apply(crate::tests::app::elements(text));
    assert!(!applied.changed && applied.notices.is_empty());
    assert!(fed.tree.changes_since(1).unwrap().is_empty());
    assert_eq!(States::NONE, fed.tree.states(fed.tree.root().unwrap()));
}

#[test]
fn an_app_that_makes_up_roles_actions_and_names_for_ever_takes_no_more_memory() {
    let mut fed = Fed::of("0 application\n  1 window A\n    2 button B");
    let made_up = |round: usize, key: u64| {
        let facts = Facts {
            native_role: Some(format!("role {round}")),
            actions: vec![format!("do {round}"), "press".to_owned()],
            name: Some(format!("{round} {}", "long ".repeat(300))),
            ..Facts::new(Role::Button)
        };
        Update::Upsert { key: ElementKey(key), facts: Box::new(facts) }
    };
    for round in 0..6_000 {
        let key = 100 + round as u64;
        fed.tick += 1;
        let updates = vec![made_up(round, 2), made_up(round, key), crate::tests::app::list(1, &[2, key])];
        fed.tree.apply(crate::Batch { cause: crate::Cause::Event, updates }, fed.tick);
    }
    crate::consistency::check(&fed.tree);
    assert!(fed.tree.store.strings.is_bounded());
    let button = fed.tree.by_key(ElementKey(2)).unwrap();
    let mut node = Vec::new();
    fed.tree.write_node(button, crate::NodeFields::ALL, None, &mut node);
    let node = String::from_utf8(node).unwrap();
    assert!(node.contains("role 5999") && node.contains(r#"["do 5999","press"]"#), "{node}");
    let longest = fed
        .tree
        .changes
        .tombstones()
        .filter_map(|tombstone| tombstone.name.as_ref())
        .map(|name| name.len())
        .max();
    assert!(longest.is_some_and(|longest| longest < 1_000));
    fed.apply(vec![Update::Gone(ElementKey::APP)]);
    assert_eq!((fed.tree.bytes(), fed.tree.store.capacity()), (0, 0));
}
