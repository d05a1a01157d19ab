//! Containers that were only partly read: which they are, how much was read, and what became of rows that they no longer list.

use axd_protocol::selector::Selector;
use axd_protocol::{NodeId, Unread};

use crate::Scope;
use crate::tests::app::Fed;
use crate::{ElementKey, UNCOUNTED, Update};

const TABLE: &str = "
0 application App
  1 window Main
    2 table Big
      3 row one @0
        4 text one
      5 row two @1
    6 list Small
      7 listitem a";

fn children(parent: u64, order: &[u64], total: Option<u32>) -> Update {
    Update::Children {
        parent: ElementKey(parent),
        order: order.iter().copied().map(ElementKey).collect(),
        total,
    }
}

fn fed() -> Fed {
    let mut fed = Fed::of(TABLE);
    fed.apply(vec![children(2, &[3, 5], Some(5000))]);
    fed
}

fn unread(fed: &Fed, selector: &str, below: u64) -> Vec<Unread> {
    let root = fed.tree.by_key(ElementKey(below)).expect("the element is there");
    fed.tree.unread(&Selector::parse(selector).expect("a selector"), Scope { root })
}

fn id(fed: &Fed, key: u64) -> NodeId {
    fed.tree.id(fed.tree.by_key(ElementKey(key)).expect("the element is there"))
}

#[test]
fn a_container_that_was_read_in_part_is_named_if_it_may_hold_what_is_meant() {
    let mut fed = fed();
    let told = unread(&fed, "row:five", 0);
    assert_eq!(told.iter().map(|told| (told.read, told.total)).collect::<Vec<_>>(), [(2, Some(5000))]);
    assert_eq!(told[0].node.id, id(&fed, 2));
    assert!(unread(&fed, "row:five", 6).is_empty(), "it is not in what was looked through");
    assert!(unread(&fed, "dialog", 0).is_empty(), "no table holds one");
    fed.apply(vec![children(2, &[3, 5], None)]);
    assert!(unread(&fed, "row:five", 0).is_empty(), "all of it was read");
    fed.apply(vec![children(2, &[3, 5], Some(3))]);
    fed.apply(vec![Update::Gone(ElementKey(2))]);
    assert!(unread(&fed, "row:five", 0).is_empty(), "it is gone");
}

#[test]
fn of_a_container_that_nobody_has_counted_nothing_is_known_to_be_gone_or_absent() {
    let mut fed = fed();
    fed.apply(vec![children(6, &[7], Some(UNCOUNTED))]);
    let told = unread(&fed, "listitem:b", 6);
    assert_eq!(told.iter().map(|told| (told.read, told.total)).collect::<Vec<_>>(), [(1, None)]);
    let item = id(&fed, 7);
    fed.apply(vec![children(6, &[], Some(UNCOUNTED))]);
    assert!(fed.tree.is_unseen(item));
    fed.apply(vec![children(6, &[], None)]);
    assert!(unread(&fed, "listitem:b", 6).is_empty(), "it is whole now");
}

#[test]
fn cells_of_the_same_row_are_one_row() {
    let mut fed = Fed::of(
        "
0 application App
  1 table Big
    2 cell a @7
    3 cell b @7
    4 cell c @8",
    );
    fed.apply(vec![children(1, &[2, 3, 4], Some(3))]);
    assert_eq!(
        unread(&fed, "cell", 0).iter().map(|told| (told.read, told.total)).collect::<Vec<_>>(),
        [(2, Some(3))]
    );
}

#[test]
fn what_a_container_no_longer_shows_is_not_known_to_be_gone() {
    let mut fed = fed();
    let (row, text) = (id(&fed, 3), id(&fed, 4));
    // The native element may well end when it is scrolled away.
    fed.apply(vec![Update::Gone(ElementKey(3)), children(2, &[5], Some(5000))]);
    assert!(fed.tree.is_unseen(row) && fed.tree.is_unseen(text));
    assert_eq!(fed.tree.unseen_in(text).map(|told| told.node.id), Some(id(&fed, 2)));
    assert!(!fed.tree.has_removed(&Selector::parse("row:one").expect("a selector")));
}

#[test]
fn what_left_a_container_that_has_a_row_less_or_is_whole_is_gone() {
    let mut fed = fed();
    let (row, item) = (id(&fed, 3), id(&fed, 7));
    fed.apply(vec![children(2, &[5], Some(4999)), children(6, &[], None)]);
    assert!(!fed.tree.is_unseen(row) && !fed.tree.is_unseen(item));
    assert_eq!(fed.tree.unseen_in(row), None);
    assert!(fed.tree.has_removed(&Selector::parse("row:ONE").expect("a selector")));
    assert!(!fed.tree.has_removed(&Selector::parse("row:five").expect("a selector")));
}

#[test]
fn if_more_left_than_were_removed_nobody_knows_which() {
    let mut fed = fed();
    let rows = [id(&fed, 3), id(&fed, 5)];
    fed.apply(vec![children(2, &[], Some(4999))]);
    assert!(rows.iter().all(|row| fed.tree.is_unseen(*row)));
}
