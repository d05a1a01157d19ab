use super::*;
use axd_protocol::Role;

fn key(n: u64) -> ElementKey {
    ElementKey(n)
}

fn reading(name: &str, children: &[u64]) -> Option<Reading> {
    let facts = Facts { name: Some(name.to_owned()), ..Facts::new(Role::Group) };
    Some(Reading { facts, children: children.iter().copied().map(ElementKey).collect(), total: None })
}

fn read(mirror: &mut Mirror, elements: &[(u64, Option<Reading>)]) -> AppliedReadings {
    let mut readings = Readings::default();
    for (n, reading) in elements {
        readings.add(key(*n), reading.clone());
    }
    mirror.apply(readings)
}

fn order(applied: &AppliedReadings, of: u64) -> Option<Vec<u64>> {
    applied.updates.iter().find_map(|update| match update {
        Update::Children { parent, order, .. } if *parent == key(of) => {
            Some(order.iter().map(|child| child.0).collect())
        }
        _ => None,
    })
}

fn two_groups() -> Mirror {
    let mut mirror = Mirror::default();
    read(
        &mut mirror,
        &[
            (0, reading("app", &[1, 2])),
            (1, reading("a", &[3])),
            (2, reading("b", &[])),
            (3, reading("c", &[4])),
            (4, reading("d", &[])),
        ],
    );
    mirror
}

#[test]
fn children_are_sent_as_they_are_read() {
    let mut mirror = Mirror::default();
    let applied = read(&mut mirror, &[(0, reading("app", &[1, 2])), (1, reading("a", &[]))]);
    assert_eq!(order(&applied, 0), Some(vec![1]));
    assert_eq!((&applied.new[..], &applied.unread[..]), (&[key(0), key(1)][..], &[key(2)][..]));
    let applied = read(&mut mirror, &[(1, reading("z", &[])), (2, reading("b", &[]))]);
    assert_eq!((order(&applied, 0), &applied.new[..]), (Some(vec![1, 2]), &[key(2)][..]));
}

#[test]
fn what_a_rows_id_is_made_from_is_read_with_it_however_deep() {
    let mirror = Mirror::default();
    let mut readings = Readings::default();
    let mut row = reading("", &[2]);
    if let Some(row) = &mut row {
        row.facts.role = Role::Row;
    }
    readings.add(key(0), reading("app", &[1, 9]));
    readings.add(key(1), row);
    assert_eq!(mirror.still_to_read(&readings, false), [key(2)]);
    readings.add(key(2), reading("", &[3]));
    assert_eq!(mirror.still_to_read(&readings, false), [key(3)]);
}

#[test]
fn reading_the_same_again_sends_nothing() {
    let mut mirror = two_groups();
    let again = read(&mut mirror, &[(1, reading("a", &[3])), (4, reading("d", &[]))]);
    assert_eq!(again, AppliedReadings::default());
}

#[test]
fn facts_that_were_read_without_children_are_sent_of_known_elements_and_only_if_they_differ() {
    let mut mirror = two_groups();
    read(&mut mirror, &[(2, reading("b", &[5]))]);
    let facts = |name: &str| Facts { name: Some(name.to_owned()), ..Facts::new(Role::Group) };
    let mut restate = |n, name| {
        let mut readings = Readings::default();
        readings.add_facts(key(n), facts(name));
        mirror.apply(readings)
    };
    assert_eq!(restate(3, "c"), AppliedReadings::default());
    let update = Update::Upsert { key: key(3), facts: Box::new(facts("z")) };
    assert_eq!(restate(3, "z").updates, [update]);
    assert_eq!(restate(5, "listed and not read"), AppliedReadings::default());
    assert_eq!(restate(9, "unknown"), AppliedReadings::default());
    assert_eq!(read(&mut mirror, &[(3, reading("z", &[4]))]), AppliedReadings::default());
}

#[test]
fn an_element_moves_when_its_former_parent_no_longer_claims_it() {
    let mut mirror = two_groups();
    let mut readings = Readings::default();
    readings.add(key(2), reading("b", &[3]));
    assert_eq!(mirror.still_to_read(&readings, true), [key(1)]);
    readings.add(key(1), reading("a", &[]));
    let applied = mirror.apply(readings);
    assert_eq!(order(&applied, 1), Some(vec![]));
    assert_eq!(order(&applied, 2), Some(vec![3]));
    assert_eq!(mirror.parent(key(3)), Some(key(2)));
    assert!(mirror.has_sent(key(4)));
}

#[test]
fn an_element_claimed_twice_stays_where_it_was() {
    let mut mirror = two_groups();
    let applied = read(&mut mirror, &[(2, reading("b", &[3])), (1, reading("a", &[3]))]);
    assert_eq!((applied.cut, applied.updates.len()), (1, 0));
}

#[test]
fn an_element_claimed_twice_goes_to_the_other_parent_when_it_is_let_go() {
    let mut mirror = two_groups();
    read(&mut mirror, &[(2, reading("b", &[3])), (1, reading("a", &[3]))]);
    let mut readings = Readings::default();
    readings.add(key(1), reading("a", &[]));
    assert_eq!(mirror.still_to_read(&readings, true), [key(2)]);
    readings.add(key(2), reading("b", &[3]));
    assert_eq!(order(&mirror.apply(readings), 2), Some(vec![3]));
    assert!(mirror.has_sent(key(4)));
}

#[test]
fn an_ancestor_claimed_as_a_child_is_cut() {
    let mut mirror = two_groups();
    let applied = read(&mut mirror, &[(4, reading("d", &[1, 0, 4])), (0, reading("app", &[1, 2]))]);
    assert_eq!((applied.cut, applied.updates.len()), (3, 0));
    assert_eq!(mirror.below(&[key(0)]).len(), 5);
}

#[test]
fn what_is_gone_takes_all_below_it_along() {
    let mut mirror = two_groups();
    let applied = read(&mut mirror, &[(1, None)]);
    assert_eq!(applied.updates[0], Update::Gone(key(1)));
    assert_eq!(order(&applied, 0), Some(vec![2]));
    assert_eq!(mirror.keys(), [key(0), key(2)]);
}

#[test]
fn what_died_between_listing_and_reading_is_never_sent() {
    let mut mirror = two_groups();
    let applied = read(&mut mirror, &[(2, reading("b", &[9])), (9, None)]);
    assert_eq!(applied.updates, []);
    assert!(!mirror.knows(key(9)));
}

#[test]
fn a_total_that_grows_is_sent_although_the_rows_shown_are_the_same() {
    let mut mirror = two_groups();
    let mut more = reading("a", &[3]);
    if let Some(reading) = &mut more {
        reading.total = Some(50);
    }
    let applied = read(&mut mirror, &[(1, more.clone())]);
    assert_eq!(applied.updates, [Update::Children { parent: key(1), order: vec![key(3)], total: Some(50) }]);
    assert_eq!(read(&mut mirror, &[(1, more)]), AppliedReadings::default());
}

#[test]
fn a_parent_and_its_child_can_trade_places() {
    let mut mirror = two_groups();
    let applied = read(
        &mut mirror,
        &[
            (1, reading("a", &[4])),
            (3, reading("c", &[])),
            (4, reading("d", &[3])),
            (0, reading("app", &[1, 2])),
        ],
    );
    assert_eq!(order(&applied, 1), Some(vec![4]));
    assert_eq!(order(&applied, 4), Some(vec![3]));
    assert_eq!(mirror.parent(key(3)), Some(key(4)));
}

#[test]
fn what_there_is_no_room_for_is_not_kept_and_its_parent_says_how_many_it_has() {
    let mut mirror = Mirror::with_limit(4);
    let applied = read(&mut mirror, &[(0, reading("app", &[1])), (1, reading("a", &[2, 3, 4, 5]))]);
    assert_eq!((&applied.unread[..], mirror.is_short()), (&[key(2), key(3)][..], true));
    let applied = read(&mut mirror, &[(2, reading("b", &[])), (3, reading("c", &[]))]);
    let update = Update::Children { parent: key(1), order: vec![key(2), key(3)], total: Some(4) };
    assert!(applied.updates.contains(&update), "{applied:?}");
    // The parent gets its other children when there is room again.
    read(&mut mirror, &[(2, None)]);
    let applied = read(&mut mirror, &[(1, reading("a", &[3, 4]))]);
    assert_eq!((&applied.unread[..], mirror.is_short()), (&[key(4)][..], false));
    let applied = read(&mut mirror, &[(4, reading("d", &[]))]);
    let update = Update::Children { parent: key(1), order: vec![key(3), key(4)], total: None };
    assert!(applied.updates.contains(&update), "{applied:?}");
}

#[test]
fn what_there_is_no_room_for_is_not_asked_for() {
    let mut mirror = Mirror::with_limit(4);
    read(&mut mirror, &[(0, reading("app", &[1])), (1, reading("a", &[]))]);
    let mut readings = Readings::default();
    readings.add(key(1), reading("a", &[2, 3, 4, 5]));
    assert!(mirror.still_to_read(&readings, true).len() < 3);
}

#[test]
fn a_list_of_children_leaves_what_the_element_is_as_it_was() {
    let mut mirror = two_groups();
    let mut readings = Readings::default();
    readings.add_list(key(1), vec![key(5)]);
    assert_eq!(mirror.still_to_read(&readings, true), [key(5)]);
    readings.add(key(5), reading("e", &[]));
    let applied = mirror.apply(readings);
    assert_eq!((order(&applied, 1), &applied.new[..]), (Some(vec![5]), &[key(5)][..]));
    let is_of = |update: &Update, n| matches!(update, Update::Upsert { key, .. } if key.0 == n);
    assert!(!applied.updates.iter().any(|update| is_of(update, 1)), "{applied:?}");
    assert!(!mirror.knows(key(4)), "what was below the one that left is gone with it");
}
