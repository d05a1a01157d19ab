//! A made-up app of any size: what the benches fill trees with. Always of the same shape, so that sizes compare.

#![allow(dead_code, reason = "each bench uses its part")]

use axd_protocol::{Role, State, States, Tick};
use axd_tree::{Batch, Cause, ElementKey, Facts, Update};
use axd_tree::{Tree, ids};

/// The window's own button, of which there is one whatever the size.
pub const SAVE: u64 = 3;
/// The first of the elements that come by the row.
const FIRST: u64 = 10;
/// How many rows a section has.
const ROWS_A_SECTION: u64 = 100;

/// Everything a first walk tells of an app with about `nodes` elements: a toolbar, and sections of rows with a text, a
/// button and a check box each.
pub fn walk(nodes: u64) -> Vec<Update> {
    let mut updates = vec![
        upsert(0, Facts::new(Role::Application)),
        upsert(1, named(Role::Window, "Made up")),
        upsert(2, Facts::new(Role::Toolbar)),
        upsert(SAVE, button("Save")),
        upsert(4, named(Role::SearchField, "Search")),
        upsert(5, text("Status", "ready")),
        upsert(6, named(Role::ScrollArea, "Rows")),
        children(0, vec![1]),
        children(1, vec![2, 6]),
        children(2, vec![SAVE, 4, 5]),
    ];
    let (mut next, mut sections) = (FIRST, Vec::new());
    let end = FIRST + nodes.saturating_sub(7);
    while next < end {
        let section = next;
        next += 1;
        let mut rows = Vec::new();
        while next < end && (rows.len() as u64) < ROWS_A_SECTION {
            let row = next;
            let press = vec!["press".into()];
            updates.push(upsert(row, Facts { actions: press, ..named(Role::Row, &format!("Row {row}")) }));
            updates.push(upsert(row + 1, text(&format!("Amount {row}"), &format!("{row}.00 EUR"))));
            updates.push(upsert(row + 2, button("Open")));
            updates.push(upsert(row + 3, checkbox(&format!("Done {row}"))));
            updates.push(children(row, vec![row + 1, row + 2, row + 3]));
            rows.push(row);
            next += 4;
        }
        let identifier = Some(format!("section-{section}"));
        updates.push(upsert(section, Facts { identifier, ..Facts::new(Role::Group) }));
        updates.push(children(section, rows));
        sections.push(section);
    }
    updates.push(children(6, sections));
    updates
}

/// The keys of the first `count` texts.
pub fn texts(count: u64) -> Vec<u64> {
    let per_section = 1 + 4 * ROWS_A_SECTION;
    (0..count).map(|nth| FIRST + nth / ROWS_A_SECTION * per_section + 2 + nth % ROWS_A_SECTION * 4).collect()
}

/// Another value for one of [`texts`].
pub fn new_value(key: u64, value: &str) -> Update {
    upsert(key, text(&format!("Amount {}", key - 1), value))
}

/// An app that is one list of `count` items, whose keys begin at 2.
pub fn flat(count: u64) -> Vec<Update> {
    let items = 2..2 + count;
    let mut updates = vec![upsert(0, Facts::new(Role::Application)), upsert(1, Facts::new(Role::List))];
    updates.extend(items.clone().map(|key| upsert(key, named(Role::ListItem, &format!("Item {key}")))));
    updates.push(children(0, vec![1]));
    updates.push(children(1, items.collect()));
    updates
}

/// The list of children of one element.
pub fn children(parent: u64, order: Vec<u64>) -> Update {
    let order = order.into_iter().map(ElementKey).collect();
    Update::Children { parent: ElementKey(parent), order, total: None }
}

/// A tree with a tick of its own.
pub struct Fed {
    /// The tree.
    pub tree: Tree,
    /// The last tick.
    pub tick: Tick,
}

impl Fed {
    /// A tree with nothing in it.
    pub fn empty() -> Fed {
        Fed { tree: Tree::new(ids::app_path("org.example.App", 0), 7), tick: 0 }
    }

    /// A tree of these elements.
    pub fn of(updates: Vec<Update>) -> Fed {
        let mut fed = Fed::empty();
        fed.apply(updates);
        fed
    }

    /// Applies what the app announced.
    pub fn apply(&mut self, updates: Vec<Update>) {
        self.tick += 1;
        self.tree.apply(Batch { cause: Cause::Event, updates }, self.tick);
    }
}

fn upsert(key: u64, facts: Facts) -> Update {
    Update::Upsert { key: ElementKey(key), facts: Box::new(facts) }
}

fn named(role: Role, name: &str) -> Facts {
    Facts { name: Some(name.into()), native_role: Some(format!("native {role}")), ..Facts::new(role) }
}

fn text(name: &str, value: &str) -> Facts {
    Facts { value: Some(value.into()), ..named(Role::Text, name) }
}

fn button(name: &str) -> Facts {
    Facts { actions: vec!["press".into()], ..named(Role::Button, name) }
}

fn checkbox(name: &str) -> Facts {
    let mut states = States::NONE;
    states.set(State::Checked, true);
    Facts { actions: vec!["press".into(), "toggle".into()], states, ..named(Role::Checkbox, name) }
}
