//! Helpers that build trees from indented text, and a check of the tree's invariants.

use axd_protocol::{Difference, Node, Replica, Role, Tick};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::consistency::check;
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

    /// Hides the windows whose title contains `word`; with an empty word none.
    pub fn hide(&mut self, word: &'static str) -> Applied {
        self.tick += 1;
        let hides = crate::Hides::new(move |of| of.title.contains(word));
        let applied = self.tree.set_hides((!word.is_empty()).then_some(hides), self.tick);
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

/// Fails unless the difference since `since` turns `replica` into the tree.
pub fn check_stream(tree: &Tree, since: Tick, replica: &Replica) {
    let difference = difference(tree, since).expect("so short a history is known whole");
    tree.write_brief(&tree.changes_since(since).expect("it is known whole"), since, &mut String::new());
    let mut replica = replica.clone();
    let told = format!("{difference:#?}");
    replica.apply(difference).unwrap_or_else(|misfit| panic!("{misfit}\n{told}"));
    assert_eq!(replica.tree(), whole(tree), "{told}");
}
