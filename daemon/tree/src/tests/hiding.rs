//! Hidden windows: absent for every reader, and exactly there again when they are shown.

use axd_protocol::selector::Selector;
use axd_protocol::{Replica, Role, State};

use crate::tests::app::{Fed, check_stream, difference, elements, list, named, whole};
use crate::{ElementKey, Facts, Notice, Resolved, Scope, UNCOUNTED, Update};

const TWO: &str = "0 application\n  1 window Secret\n    2 button Pay\n    3 list Cards\n  4 window Notes\n    5 button Save";

fn ids(fed: &Fed) -> Vec<axd_protocol::NodeId> {
    [1, 2, 3].map(|key| fed.tree.id(fed.tree.by_key(ElementKey(key)).expect("it is shown"))).into()
}

fn finds(fed: &Fed, selector: &str) -> usize {
    let root = fed.tree.root().expect("it has a root");
    fed.tree.find(&Selector::parse(selector).unwrap(), Scope { root }, None).count
}

#[test]
fn a_hidden_window_is_in_no_answer() {
    let mut fed = Fed::of(TWO);
    let known = ids(&fed);
    fed.hide("Secret");
    assert!(fed.tree.has_hidden());
    assert_eq!(fed.tree.len(), 3);
    assert_eq!(fed.tree.windows().count(), 1);
    assert_eq!((finds(&fed, "button"), finds(&fed, "button:Pay"), finds(&fed, "list")), (1, 0, 0));
    assert!(
        fed.tree.like(Role::Button, Some("Pay"), 8).iter().all(|like| like.name.as_deref() != Some("Pay"))
    );
    for id in known {
        let Resolved::Dead { was, candidates } = fed.tree.resolve(id) else { panic!("it was seen") };
        assert_eq!(was.id, id);
        assert!(candidates.iter().all(|like| like.name.as_deref() != Some("Pay")));
    }
    for key in 1..4 {
        assert!(fed.tree.by_key(ElementKey(key)).is_none());
    }
}

#[test]
fn what_was_never_seen_was_never_there() {
    let mut shown = Fed::of(TWO);
    let known = ids(&shown);
    let mut fed = Fed::new(7);
    fed.hide("Secret");
    let applied = fed.apply(elements(TWO));
    assert!(known.iter().all(|id| fed.tree.resolve(*id) == Resolved::Unknown));
    assert!(applied.notices.iter().all(|notice| !format!("{notice:?}").contains("Secret")), "{applied:?}");
    // The ids are those that it would have had.
    fed.hide("");
    assert_eq!(ids(&fed), known);
    assert_eq!(whole(&fed.tree), shown.whole());
    shown.hide("Secret");
}

#[test]
fn a_window_comes_and_goes_with_its_title_and_its_ids_stay() {
    let mut fed = Fed::of(TWO);
    let known = ids(&fed);
    fed.hide("Private");
    let (before, replica) = (fed.tick, Replica::new(fed.whole()));
    let applied = fed.apply(vec![named(1, Role::Window, "Private")]);
    let closed = Notice::Closed(axd_protocol::NodeRef {
        id: known[0],
        role: Role::Window,
        name: Some("Secret".into()),
    });
    assert_eq!(applied.notices, [closed], "it is called what it was when it was seen");
    let gone = difference(&fed.tree, before).unwrap();
    assert_eq!(gone.removed, [known[0]]);
    assert!(gone.added.is_empty() && gone.moved.is_empty() && gone.changed.is_empty());
    check_stream(&fed.tree, before, &replica);
    let Resolved::Dead { was, .. } = fed.tree.resolve(known[0]) else { panic!("it was seen") };
    assert_eq!(was.name.as_deref(), Some("Secret"));
    // What happens in it meanwhile is not seen, and is there when it is shown again.
    let quiet = fed.apply(vec![named(2, Role::Button, "Paid"), named(9, Role::Link, "More"), list(3, &[9])]);
    assert!(!quiet.changed && quiet.notices.is_empty());
    let (hidden, without) = (fed.tick, Replica::new(fed.whole()));
    fed.apply(vec![named(1, Role::Window, "Secret")]);
    let back = difference(&fed.tree, hidden).unwrap();
    assert_eq!((back.added.len(), back.added[0].index, back.removed.len()), (1, 0, 0));
    check_stream(&fed.tree, hidden, &without);
    check_stream(&fed.tree, before, &replica);
    assert_eq!(ids(&fed), known);
    assert_eq!((finds(&fed, "button:Paid"), finds(&fed, "link:More")), (1, 1));
}

#[test]
fn names_that_come_with_the_hidden_title_are_not_told() {
    let mut fed = Fed::of(TWO);
    fed.hide("Private");
    let id = ids(&fed)[1];
    fed.apply(vec![
        named(2, Role::Button, "Pay 300 to Eve"),
        named(1, Role::Window, "Private"),
        list(1, &[2]),
    ]);
    let Resolved::Dead { was, .. } = fed.tree.resolve(id) else { panic!("it was seen") };
    assert_eq!(was.name.as_deref(), Some("Pay"));
    // The list left in the same batch in which its window was hidden, with a new name of its own.
    fed.apply(vec![named(1, Role::Window, "Open"), list(1, &[2, 3]), named(3, Role::List, "Cards")]);
    let list_id = fed.tree.id(fed.tree.by_key(ElementKey(3)).unwrap());
    fed.apply(vec![named(3, Role::List, "Cards of Eve"), list(1, &[2]), named(1, Role::Window, "Private")]);
    let Resolved::Dead { was, .. } = fed.tree.resolve(list_id) else { panic!("it was seen") };
    assert_eq!(was.name.as_deref(), Some("Cards"));
}

#[test]
fn an_element_that_moves_between_windows_goes_and_comes_with_them() {
    let mut fed = Fed::of(TWO);
    fed.hide("Secret");
    let (before, replica) = (fed.tick, Replica::new(fed.whole()));
    let save = fed.tree.id(fed.tree.by_key(ElementKey(5)).unwrap());
    fed.apply(vec![list(4, &[2]), list(1, &[3, 5])]);
    check_stream(&fed.tree, before, &replica);
    assert_eq!((finds(&fed, "button:Pay"), finds(&fed, "button:Save")), (1, 0));
    let Resolved::Dead { was, .. } = fed.tree.resolve(save) else { panic!("it was seen") };
    assert_eq!(was.name.as_deref(), Some("Save"));
    fed.apply(vec![list(1, &[3]), list(4, &[2, 5])]);
    check_stream(&fed.tree, before, &replica);
    assert_eq!(fed.tree.by_key(ElementKey(5)).map(|ix| fed.tree.id(ix)), Some(save));
}

#[test]
fn a_dialog_inside_a_window_is_judged_too() {
    let mut fed = Fed::of(
        "0 application\n  1 window Notes\n    2 group\n      3 dialog Secret\n        4 button Pay\n    5 button Save",
    );
    let (before, replica) = (fed.tick, Replica::new(fed.whole()));
    fed.hide("Secret");
    assert_eq!((finds(&fed, "dialog"), finds(&fed, "button")), (0, 1));
    check_stream(&fed.tree, before, &replica);
    fed.apply(vec![list(1, &[5, 2])]);
    fed.apply(vec![list(2, &[6, 3]), named(6, Role::Button, "Help")]);
    assert_eq!((finds(&fed, "dialog"), finds(&fed, "button")), (0, 2));
    fed.hide("");
    assert_eq!((finds(&fed, "dialog"), finds(&fed, "button")), (1, 3));
    check_stream(&fed.tree, before, &replica);
}

#[test]
fn the_focus_in_a_hidden_window_is_nowhere() {
    let mut fed = Fed::of(TWO);
    let focused = |key, name: &str| {
        let facts = Facts {
            name: Some(name.into()),
            states: [State::Focused].into_iter().collect(),
            ..Facts::new(Role::Button)
        };
        Update::Upsert { key: ElementKey(key), facts: Box::new(facts) }
    };
    fed.apply(vec![focused(2, "Pay")]);
    assert!(fed.tree.focused().is_some());
    fed.hide("Secret");
    assert!(fed.tree.focused().is_none());
    let applied = fed.apply(vec![named(2, Role::Button, "Pay"), focused(2, "Pay now")]);
    assert!(applied.notices.is_empty() && !applied.changed && fed.tree.focused().is_none());
    let applied = fed.hide("");
    assert!(
        matches!(&applied.notices[..], [Notice::Opened(_), Notice::Focus(focus)] if focus.name.as_deref() == Some("Pay now")),
        "{applied:?}"
    );
    // Focus and title in one batch.
    fed.hide("Private");
    let applied = fed.apply(vec![
        named(2, Role::Button, "x"),
        focused(2, "Pay again"),
        named(1, Role::Window, "Private"),
    ]);
    assert!(applied.notices.iter().all(|notice| matches!(notice, Notice::Closed(_))), "{applied:?}");
}

#[test]
fn containers_in_hidden_windows_are_not_said_to_be_unread() {
    let mut fed = Fed::of(TWO);
    let part = |total| Update::Children { parent: ElementKey(3), order: vec![ElementKey(9)], total };
    fed.apply(vec![named(9, Role::Row, "Visa"), part(Some(UNCOUNTED))]);
    let row = Selector::parse("row").unwrap();
    let unread = |fed: &Fed| fed.tree.unread(&row, Scope { root: fed.tree.root().unwrap() }).len();
    assert_eq!(unread(&fed), 1);
    let id = fed.tree.id(fed.tree.by_key(ElementKey(9)).unwrap());
    fed.hide("Secret");
    assert_eq!((unread(&fed), fed.tree.is_unseen(id), fed.tree.unseen_in(id)), (0, false, None));
    fed.apply(vec![part(None)]);
    fed.apply(vec![part(Some(40))]);
    assert_eq!(unread(&fed), 0);
    fed.hide("");
    assert_eq!(unread(&fed), 1);
}

#[test]
fn an_app_that_ends_takes_its_hidden_windows_with_it() {
    let mut fed = Fed::of(TWO);
    fed.hide("Secret");
    fed.apply(vec![Update::Gone(ElementKey::APP)]);
    assert!(fed.tree.is_empty() && fed.tree.store.len() == 0 && !fed.tree.has_hidden());
    fed.apply(elements(TWO));
    assert_eq!(finds(&fed, "window"), 1);
}

#[test]
fn a_window_is_judged_by_the_number_that_the_window_system_gives_it_too() {
    let mut fed = Fed::of(TWO);
    fed.tick += 1;
    fed.tree.set_hides(Some(crate::Hides::new(|of| of.window == Some(7))), fed.tick);
    assert_eq!(finds(&fed, "window"), 2);
    let numbered = |window| {
        let facts = Facts { name: Some("Secret".into()), window, ..Facts::new(Role::Window) };
        vec![Update::Upsert { key: ElementKey(1), facts: Box::new(facts) }]
    };
    fed.apply(numbered(Some(7)));
    assert_eq!(finds(&fed, "window"), 1);
    fed.apply(numbered(Some(8)));
    assert_eq!(finds(&fed, "window"), 2);
}
