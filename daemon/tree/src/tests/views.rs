//! What is shown of a tree: golden texts, one per filter.

use axd_protocol::selector::Selector;
use axd_protocol::{Node, Role};

use crate::tests::app::{Fed, list, named};
use crate::{ElementKey, Update};
use crate::{Filter, NodeFields, Scope, View};

const WINDOW: &str = "
0 application App
  1 window Main
    2 menubar
      3 menuitem File
    4 group
      5 text Hello
      6 group
        7 button OK
    8 list Things
      9 listitem One
      10 listitem Two";

fn show(fed: &Fed, view: &View) -> String {
    let mut out = String::new();
    let showing = fed.tree.show(fed.tree.root().unwrap(), view);
    fed.tree.write_text(&showing, view, &mut out);
    // Ids are removed, because these tests are not about them.
    let plain = |line: &str| line.split(' ').filter(|word| !is_id(word)).collect::<Vec<_>>().join(" ");
    out.lines().map(|line| plain(line) + "\n").collect()
}

fn is_id(word: &str) -> bool {
    axd_protocol::NodeId::parse(word).is_some()
}

fn check(view: View, expected: &str) {
    assert_eq!(show(&Fed::of(WINDOW), &view), expected);
}

#[test]
fn everything_but_menu_bars_is_shown_unless_something_else_is_asked_for() {
    check(
        View::default(),
        "application \"App\"\n  window \"Main\"\n    group\n      text \"Hello\"\n      group\n        button \"OK\"\n    list \"Things\"\n      listitem \"One\"\n      listitem \"Two\"\n",
    );
}

#[test]
fn the_interactive_view_drops_what_cannot_be_acted_on_and_plain_boxes() {
    check(
        View { filter: Filter::Interactive, ..View::default() },
        "application \"App\"\n  window \"Main\"\n    button \"OK\"\n    list \"Things\"\n      listitem \"One\"\n      listitem \"Two\"\n",
    );
}

#[test]
fn what_the_interactive_view_cuts_is_counted_among_what_it_would_show() {
    check(
        View { filter: Filter::Interactive, max_nodes: Some(3), ..View::default() },
        "application \"App\"\n  window \"Main\" (2 children, 1 shown)\n    button \"OK\"\n",
    );
}

#[test]
fn the_skeleton_shows_containers_and_counts() {
    check(
        View { filter: Filter::Skeleton, ..View::default() },
        "application \"App\"\n  window \"Main\" (3 children, 2 shown)\n    group (2 children, 1 shown)\n      group (1 child, 0 shown)\n    list \"Things\" (2 rows, 0 shown)\n",
    );
}

#[test]
fn a_depth_cuts_and_says_so() {
    check(
        View { depth: Some(1), ..View::default() },
        "application \"App\"\n  window \"Main\" (3 children, 0 shown)\n",
    );
}

#[test]
fn a_budget_cuts_depth_before_breadth_and_says_where() {
    check(
        View { max_nodes: Some(5), ..View::default() },
        "application \"App\"\n  window \"Main\"\n    group (2 children, 1 shown)\n      text \"Hello\"\n    list \"Things\" (2 rows, 0 shown)\n",
    );
    let fed = Fed::of(WINDOW);
    let view = View { max_tokens: Some(20), ..View::default() };
    let showing = fed.tree.show(fed.tree.root().unwrap(), &view);
    assert!(showing.truncated && showing.nodes.len() < 5, "{}", showing.nodes.len());
}

#[test]
fn json_and_text_show_the_same_elements() {
    let fed = Fed::of(WINDOW);
    for view in [
        View::default(),
        View { filter: Filter::Interactive, ..View::default() },
        View { filter: Filter::Skeleton, ..View::default() },
        View { depth: Some(2), menubar: true, ..View::default() },
        View { max_nodes: Some(4), ..View::default() },
    ] {
        let showing = fed.tree.show(fed.tree.root().unwrap(), &view);
        let mut json = Vec::new();
        fed.tree.write_json(&showing, &view, NodeFields::COMMON, &mut json);
        let node: Node = serde_json::from_slice(&json).unwrap();
        let shown: Vec<_> = node.walk().map(|node| node.id).collect();
        let chosen: Vec<_> = showing.nodes.iter().map(|shown| fed.tree.id(shown.ix)).collect();
        assert_eq!(shown, chosen);
    }
}

#[test]
fn a_container_that_shows_some_of_its_rows_says_how_many_there_are() {
    let mut fed = Fed::of("0 application\n  1 window W\n    2 list L");
    let order = vec![ElementKey(3), ElementKey(4)];
    fed.apply(vec![
        named(3, Role::Row, "a"),
        named(4, Role::Row, "b"),
        Update::Children { parent: ElementKey(2), order, total: Some(667) },
    ]);
    assert!(show(&fed, &View::default()).contains("list \"L\" (667 rows, 2 shown)\n"));
    let tree = fed.whole().unwrap();
    let list = &tree.children[0].children[0];
    assert!(list.truncated && list.children_count == Some(667) && list.children.len() == 2);
}

#[test]
fn the_index_finds_what_a_walk_finds() {
    let mut fed = Fed::of(WINDOW);
    fed.apply(vec![named(9, Role::ListItem, "Uno"), list(8, &[10, 9])]);
    let scope = Scope { root: fed.tree.root().unwrap() };
    for (selector, keys) in [
        ("listitem", vec![10, 9]),
        ("listitem:uno", vec![9]),
        ("listitem:One", vec![]),
        ("window:main  button", vec![7]),
        ("list > *", vec![10, 9]),
        ("*:nth(2)", vec![4, 6, 9]),
        ("button:OK, text:hello", vec![5, 7]),
    ] {
        let found = fed.tree.find(&Selector::parse(selector).unwrap(), scope, None);
        let found: Vec<u64> = found.matches.iter().map(|ix| fed.tree.key(*ix).unwrap().0).collect();
        assert_eq!(found, keys, "{selector}");
    }
}

const PLACES: &str = "
0 application App
  1 window Open
    2 list
      3 listitem
        4 group
          5 image
          6 text Home
          7 button Eject
      8 listitem
        9 text Desktop
      10 listitem Named
        11 text Other
    12 button
      13 text More";

#[test]
fn items_and_buttons_without_a_name_take_the_text_in_them() {
    let fed = Fed::of(PLACES);
    let view = View { filter: Filter::Interactive, ..View::default() };
    assert_eq!(
        show(&fed, &view),
        "application \"App\"\n  window \"Open\"\n    list\n      listitem \"Home\"\n        button \"Eject\"\n      listitem \"Desktop\"\n      listitem \"Named\"\n    button \"More\"\n",
    );
    let found = |selector: &str| {
        let selector = Selector::parse(selector).unwrap();
        let found = fed.tree.find(&selector, Scope { root: fed.tree.root().unwrap() }, None);
        found.matches.iter().map(|ix| fed.tree.key(*ix).unwrap().0).collect::<Vec<_>>()
    };
    assert_eq!(found("listitem:home"), [3]);
    assert_eq!(found("listitem:Desktop"), [8]);
    assert_eq!(found("listitem:Named"), [10]);
    assert_eq!(found("listitem:Other"), [0; 0], "it has a name of its own");
    assert_eq!(found("button:More"), [12]);
    assert_eq!(found("listitem:Home button"), [7]);
    assert_eq!(found("list > listitem:Home:nth(1)"), [3]);
}

#[test]
fn what_was_not_measured_is_in_sight_only_if_its_states_allow_it() {
    let mut fed = Fed::of(WINDOW);
    let mut off = crate::Facts::new(Role::ListItem);
    off.name = Some("Two".to_owned());
    off.states.set(axd_protocol::State::Offscreen, true);
    fed.apply(vec![Update::Upsert { key: ElementKey(10), facts: Box::new(off) }]);
    let view = View { visible: Some(Default::default()), filter: Filter::Interactive, ..View::default() };
    let shown = show(&fed, &view);
    assert!(shown.contains("\"One\"") && !shown.contains("\"Two\""), "{shown}");
}
