//! The four rules of stable ids.

use axd_protocol::Role;

use crate::Resolved;
use crate::tests::app::{Fed, elements, list, named};
use crate::{ElementKey, Facts, Update};

const NOTES: &str = "
0 application Notes
  1 window Notes
    2 toolbar
      3 button New
      4 button Delete
    5 list
      6 row
        7 text Milk
      8 row
        9 text Eggs
    10 textarea Body";

/// The same elements with other native keys, as after a restart of the app or the daemon.
fn restarted(text: &str) -> Fed {
    let mut fed = Fed::new(99);
    let other = |key: ElementKey| if key.0 == 0 { key } else { ElementKey(key.0 + 1_000) };
    let updates = elements(text).into_iter().map(|update| match update {
        Update::Upsert { key, facts } => Update::Upsert { key: other(key), facts },
        Update::Children { parent, order, total } => {
            Update::Children { parent: other(parent), order: order.into_iter().map(other).collect(), total }
        }
        Update::Gone(key) => Update::Gone(other(key)),
    });
    fed.apply(updates.collect());
    fed
}

#[test]
fn an_id_stays_whatever_happens_to_name_value_and_place() {
    let mut fed = Fed::of(NOTES);
    let id = fed.id_of(3);
    fed.apply(vec![named(3, Role::Button, "Brand new"), list(5, &[8, 6, 3]), list(2, &[4])]);
    assert_eq!(fed.id_of(3), id);
}

#[test]
fn an_element_that_was_told_gone_on_its_way_to_another_place_keeps_its_id() {
    let mut fed = Fed::of(NOTES);
    let (id, row) = (fed.id_of(3), fed.id_of(6));
    fed.apply(vec![Update::Gone(ElementKey(3)), list(2, &[4])]);
    fed.apply(vec![named(3, Role::Button, "New"), list(1, &[2, 5, 10, 3])]);
    assert_eq!(fed.id_of(3), id);
    // This does not hold for the keys of another process, which mean other elements.
    fed.apply(vec![Update::Gone(ElementKey(6)), list(5, &[8])]);
    fed.tree.begin(7);
    fed.apply(vec![named(6, Role::Row, "Bread"), list(5, &[8, 6])]);
    assert_ne!(fed.id_of(6), row);
}

#[test]
fn ids_come_out_the_same_after_a_restart() {
    let (fed, again) = (Fed::of(NOTES), restarted(NOTES));
    for key in 1..=10 {
        assert_eq!(fed.id_of(key), again.id_of(key + 1_000), "element {key}");
    }
}

#[test]
fn an_unrelated_new_sibling_moves_nothing() {
    let more = NOTES.replace("      3 button New", "      11 button Undo\n      3 button New");
    let (fed, again) = (Fed::of(NOTES), restarted(&more));
    for key in 1..=10 {
        assert_eq!(fed.id_of(key), again.id_of(key + 1_000), "element {key}");
    }
}

#[test]
fn elements_that_cannot_be_told_apart_go_stale_rather_than_lie() {
    let text = "0 application\n  1 window W\n    2 button Delete\n    3 button Delete\n    4 button Save";
    let (fed, again) = (Fed::of(text), restarted(text));
    assert_eq!(fed.id_of(4), again.id_of(1_004));
    for key in [2, 3] {
        let id = fed.id_of(key).parse().unwrap();
        assert_eq!(again.tree.resolve(id), Resolved::Unknown);
    }
}

#[test]
fn an_identifier_names_an_element_whatever_it_is_called() {
    let text = "0 application\n  1 window W\n    2 button Save #save\n    3 button Save";
    let renamed = text.replace("2 button Save", "2 button Speichern");
    assert_eq!(Fed::of(text).id_of(2), restarted(&renamed).id_of(1_002));
}

#[test]
fn a_rebuilt_widget_inherits_the_id_of_the_one_it_replaces_and_so_does_what_is_in_it() {
    let mut fed = Fed::of(NOTES);
    let ids: Vec<String> = [2, 3, 4].map(|key| fed.id_of(key)).into();
    let since = fed.tick;
    fed.apply(vec![
        Update::Gone(ElementKey(2)),
        Update::Upsert { key: ElementKey(20), facts: Box::new(Facts::new(Role::Toolbar)) },
        named(21, Role::Button, "New"),
        named(22, Role::Button, "Delete"),
        list(20, &[21, 22]),
        list(1, &[20, 5, 10]),
    ]);
    assert_eq!([20, 21, 22].map(|key| fed.id_of(key)).to_vec(), ids);
    assert!(fed.tree.changes_since(since).unwrap().is_empty(), "to a client nothing happened");
}

#[test]
fn twins_that_are_rebuilt_inherit_in_order() {
    let mut fed = Fed::of("0 application\n  1 window W\n    2 button Delete\n    3 button Delete");
    let ids = [2, 3].map(|key| fed.id_of(key));
    fed.apply(vec![named(12, Role::Button, "Delete"), named(13, Role::Button, "Delete"), list(1, &[12, 13])]);
    assert_eq!([12, 13].map(|key| fed.id_of(key)), ids);
}

#[test]
fn an_element_that_moves_away_is_not_inherited_by_its_successor() {
    let mut fed = Fed::of("0 application\n  1 window W\n    2 group\n      3 button Save\n    4 group");
    let id = fed.id_of(3);
    fed.apply(vec![named(5, Role::Button, "Save"), list(2, &[5]), list(4, &[3])]);
    assert_eq!(fed.id_of(3), id);
    assert_ne!(fed.id_of(5), id);
}

#[test]
fn a_recycled_row_gets_an_id_of_its_own_and_a_renamed_or_shifted_one_does_not() {
    let text = "0 application\n  1 window W\n    2 list\n      3 row Milk @0\n      4 row Eggs @1";
    let mut fed = Fed::of(text);
    let row = |key, name: &str, row| {
        let facts = Facts { name: Some(name.into()), row: Some(row), ..Facts::new(Role::Row) };
        Update::Upsert { key: ElementKey(key), facts: Box::new(facts) }
    };
    let (milk, eggs) = (fed.id_of(3), fed.id_of(4));
    fed.apply(vec![row(3, "Milk!", 0), row(4, "Eggs", 7)]);
    assert_eq!((fed.id_of(3), fed.id_of(4)), (milk.clone(), eggs));
    fed.apply(vec![row(3, "Flour", 12)]);
    assert_ne!(fed.id_of(3), milk);
    assert!(matches!(fed.tree.resolve(milk.parse().unwrap()), Resolved::Dead { .. }));
}

#[test]
fn a_dead_id_names_what_it_was_and_what_is_like_it() {
    let mut fed =
        Fed::of("0 application\n  1 window W\n    2 button Save #a\n    3 button Save #b\n    4 button Quit");
    let id = fed.id_of(2).parse().unwrap();
    fed.apply(vec![list(1, &[3, 4])]);
    let Resolved::Dead { was, candidates } = fed.tree.resolve(id) else { panic!("it is dead") };
    assert_eq!(was.name.as_deref(), Some("Save"));
    assert_eq!(candidates[0].id.to_string(), fed.id_of(3));
}

#[test]
fn an_id_that_comes_back_is_alive_again() {
    let mut fed = Fed::of("0 application\n  1 window W\n    2 button Save");
    let id = fed.id_of(2);
    fed.apply(vec![list(1, &[])]);
    assert!(!fed.holds(2));
    fed.apply(vec![named(9, Role::Button, "Save"), list(1, &[9])]);
    assert_eq!(fed.id_of(9), id);
}
