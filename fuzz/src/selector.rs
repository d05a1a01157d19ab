//! Selectors: any text parses or says where it does not, and a search ends within its budget and finds the same with and without
//! the index.

use std::cell::OnceCell;

use axd_protocol::selector::budget::within;
use axd_protocol::selector::{Matcher, Selector, Target};
use axd_protocol::{Role, State};
use axd_tree::{Batch, Cause, ElementKey, Facts, Scope, Tree, Update};

/// The steps of a search: what a read may take at once.
const STEPS: u64 = 100_000;

thread_local! {
    static TREE: OnceCell<Tree> = const { OnceCell::new() };
}

/// Takes a text.
pub fn selector(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Err(fault) = Target::parse(&text) {
        assert!(!fault.position().is_empty());
    }
    let selector = match Selector::parse(&text) {
        Ok(selector) => selector,
        Err(fault) => return assert!(!fault.position().is_empty()),
    };
    let canonical = selector.to_string();
    let again = Selector::parse(&canonical);
    assert_eq!(again.as_ref(), Ok(&selector), "{canonical}");
    assert_eq!(again.map(|again| again.to_string()).as_deref(), Ok(&*canonical));
    TREE.with(|tree| search(tree.get_or_init(small_tree), &selector));
}

fn search(tree: &Tree, selector: &Selector) {
    let root = tree.root().expect("it has a root");
    let scope = Scope { root };
    let found = within(STEPS, None, || tree.find(selector, scope, None));
    let walked = within(STEPS, None, || {
        let matcher = Matcher::new(selector);
        let found = matcher.find_all(tree, root, None);
        match matcher.with_names_from_content() {
            Some(lending) if found.is_empty() => lending.find_all(tree, root, None),
            _ => found,
        }
    });
    if let (Ok(found), Ok(walked)) = (found, walked) {
        assert_eq!(found.matches, walked, "{selector}: the index finds something else");
    }
    let _ = within(STEPS, None, || (tree.unread(selector, scope), tree.has_removed(selector)));
}

/// Sixty elements of many roles, with texts that fold and texts that are alike, and a list of which only some rows were read.
fn small_tree() -> Tree {
    const ROLES: [Role; 12] = [
        Role::Window,
        Role::Group,
        Role::Button,
        Role::List,
        Role::Row,
        Role::TextField,
        Role::Text,
        Role::Menu,
        Role::MenuItem,
        Role::Link,
        Role::Dialog,
        Role::Checkbox,
    ];
    const NAMES: [&str; 10] =
        ["Save", "save", "Speichern", "Total: 3", "", "a b", "STRASSE", "Stra\u{df}e", "\u{1f600}", "n"];
    let mut updates =
        vec![Update::Upsert { key: ElementKey::APP, facts: Box::new(Facts::new(Role::Application)) }];
    let mut children: Vec<Vec<ElementKey>> = vec![Vec::new(); 61];
    for number in 1..61_usize {
        let role = ROLES[number % ROLES.len()];
        let name = NAMES[number * 7 % NAMES.len()];
        let facts = Facts {
            name: (number % 5 > 0).then(|| name.to_owned()),
            value: (number % 3 == 0).then(|| format!("{number}")),
            identifier: (number % 11 == 0).then(|| format!("id-{number}")),
            native_role: Some(format!("Native{}", number % 4)),
            states: [State::Focused, State::Disabled, State::Checked].into_iter().take(number % 4).collect(),
            row: (role == Role::Row).then_some(number as u32),
            ..Facts::new(role)
        };
        updates.push(Update::Upsert { key: ElementKey(number as u64), facts: Box::new(facts) });
        children[(number - 1) / 3].push(ElementKey(number as u64));
    }
    for (parent, order) in children.into_iter().enumerate() {
        let total = (parent == 3).then_some(40);
        updates.push(Update::Children { parent: ElementKey(parent as u64), order, total });
    }
    let mut tree = Tree::new(1, 1);
    tree.apply(Batch { cause: Cause::Walk, updates }, 1);
    tree
}
