//! What a look shows.

use axd_protocol::{Role, State};

use crate::tests::app::{Fed, named};
use crate::{ElementKey, Facts, LookBudget, Update};

const WINDOW: &str = "
0 application App
  1 window Main
    2 menubar
      3 menu File
        4 menuitem Open
    5 group
      6 text Name:
      7 textfield Name
      8 scrollbar
    9 group Address
      10 heading Address
      11 text Home
    12 list
      13 listitem
        14 group
          15 text Report
          16 button Eject
      17 listitem Two
        18 text Two
    19 row
      20 cell
        21 text One
      22 cell
        23 text 1
    24 button
    25 separator Line";

fn look(fed: &Fed, budget: LookBudget) -> String {
    let look = fed.tree.look(fed.tree.root().unwrap(), budget);
    assert!(look.nodes >= look.lines.lines().count());
    let is_id = |word: &&str| axd_protocol::NodeId::parse(word).is_none();
    // Ids are removed; `#` stands for one.
    let plain = |line: &str| {
        let words: Vec<&str> = line.split(' ').map(|word| if is_id(&word) { word } else { "#" }).collect();
        words.join(" ") + "\n"
    };
    look.lines.lines().map(plain).collect()
}

fn with(fed: &mut Fed, key: u64, role: Role, change: impl Fn(&mut Facts)) {
    let mut facts = Facts::new(role);
    change(&mut facts);
    fed.apply(vec![Update::Upsert { key: ElementKey(key), facts: Box::new(facts) }]);
}

#[test]
fn controls_and_what_says_something_have_a_line_and_boxes_have_none() {
    assert_eq!(
        look(&Fed::of(WINDOW), LookBudget::default()),
        r#"window "Main" #
  menu "File" #
    menuitem "Open" #
  textfield "Name" #
  group "Address"
    text "Home"
  listitem "Report" #
    button "Eject" #
  listitem "Two" #
  row #
    cell "One" #
    cell "1" #
  button #
"#
    );
}

#[test]
fn what_is_not_visible_is_left_out() {
    let mut fed = Fed::of(WINDOW);
    with(&mut fed, 3, Role::Menu, |facts| {
        facts.name = Some("File".into());
        facts.states.set(State::Hidden, true);
    });
    with(&mut fed, 9, Role::Group, |facts| {
        facts.name = Some("Address".into());
        facts.states.set(State::Offscreen, true);
    });
    with(&mut fed, 12, Role::List, |facts| facts.states.set(State::Hidden, true));
    let shown = look(&fed, LookBudget::default());
    for gone in ["File", "Open", "group", "Report", "Eject"] {
        assert!(!shown.contains(gone), "{gone}: {shown}");
    }
    assert!(
        shown.contains("\n  text \"Home\"\n"),
        "what is in a box that is off the screen may be seen: {shown}"
    );
    let small = look(&fed, LookBudget { max_tokens: Some(25), ..LookBudget::default() });
    assert!(shown.starts_with(&small[..small.find("  textfield").unwrap_or(small.len())]), "{small}");
    assert!(!small.contains("File"), "a budget brings nothing back: {small}");
}

#[test]
fn a_description_stands_in_for_a_name_and_a_value_is_not_said_twice() {
    let mut fed = Fed::of(WINDOW);
    with(&mut fed, 24, Role::Button, |facts| facts.description = Some("Main menu".into()));
    with(&mut fed, 5, Role::Group, |facts| facts.description = Some("Go back".into()));
    with(&mut fed, 7, Role::TextField, |facts| {
        facts.name = Some("Name".into());
        facts.value = Some("Name".into());
        facts.states.set(State::Editable, true);
        facts.states.set(State::Focused, true);
    });
    with(&mut fed, 11, Role::Text, |facts| facts.value = Some("x".repeat(500)));
    let shown = look(&fed, LookBudget::default());
    assert!(shown.contains("  button [description=\"Main menu\"] #\n"), "{shown}");
    assert!(shown.contains("  textfield \"Name\" # focused\n") && !shown.contains("Go back"), "{shown}");
    assert!(shown.contains(&format!("    text = \"{}…\" #\n", "x".repeat(160))), "{shown}");
}

#[test]
fn a_container_that_shows_some_of_its_rows_says_how_many_there_are() {
    let mut fed = Fed::of(WINDOW);
    let order = vec![ElementKey(13), ElementKey(17)];
    fed.apply(vec![Update::Children { parent: ElementKey(12), order, total: Some(667) }]);
    let shown = look(&fed, LookBudget::default());
    assert!(shown.contains("  list # (667 rows, 2 shown)\n    listitem \"Report\" #\n"), "{shown}");
}

#[test]
fn a_budget_leaves_out_what_is_deepest() {
    let mut fed = Fed::of(WINDOW);
    fed.apply(vec![named(24, Role::Button, "Last")]);
    let all = look(&fed, LookBudget::default());
    let flat = look(&fed, LookBudget { depth: Some(1), ..LookBudget::default() });
    assert_eq!(
        flat,
        all.lines()
            .filter(|line| !line.starts_with("    "))
            .map(|line| line.to_owned() + "\n")
            .collect::<String>()
    );
    let root = fed.tree.root().unwrap();
    let one = fed.tree.look(root, LookBudget { max_tokens: Some(1), ..LookBudget::default() });
    assert!(one.truncated && one.nodes == 1, "{}", one.lines);
    assert!(!fed.tree.look(root, LookBudget::default()).truncated);
}

#[test]
fn texts_that_follow_one_another_share_a_line_and_nothing_is_said_twice() {
    let fed = Fed::of(
        "
0 application App
  1 window Main
    2 text Mon
    3 text Tue
    4 group
      5 text Wed
    6 list
      7 listitem
        8 group Themes
          9 text Themes
    10 group Tab
    11 group Tab
    12 text Sun",
    );
    assert_eq!(
        look(&fed, LookBudget::default()),
        "window \"Main\" #\n  text \"Mon\" \"Tue\" \"Wed\"\n  listitem \"Themes\" #\n  text \"Sun\"\n"
    );
}
