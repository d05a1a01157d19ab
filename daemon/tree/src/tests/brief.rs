//! What readers are told of a difference.

use axd_protocol::{Role, State, Tick};

use crate::tests::app::{Fed, elements, list, named};
use crate::{ElementKey, Facts, Update};

const WINDOW: &str = "
0 application App
  1 window Main
    2 group
      3 checkbox Check
      4 textfield Field
      5 separator
    6 text Saved
    7 list Things
      8 listitem One
      9 listitem Two
    10 menu File
      11 menuitem Open
      12 group
        13 menuitem Quit
    14 button Go
      15 text Go";

/// An update of an element.
fn facts(key: u64, role: Role, name: &str, change: impl Fn(&mut Facts)) -> Update {
    let mut facts = Facts { name: Some(name.to_owned()).filter(|name| !name.is_empty()), ..Facts::new(role) };
    change(&mut facts);
    Update::Upsert { key: ElementKey(key), facts: Box::new(facts) }
}

fn state(key: u64, role: Role, name: &str, states: &[State]) -> Update {
    facts(key, role, name, |facts| states.iter().for_each(|state| facts.states.set(*state, true)))
}

fn brief(fed: &Fed, since: Tick) -> String {
    let mut out = String::new();
    fed.tree.write_brief(&fed.tree.changes_since(since).unwrap(), since, &mut out);
    // Ids are removed; `#` stands for one.
    let word =
        |word: &str| if axd_protocol::NodeId::parse(word).is_some() { "#".into() } else { word.to_owned() };
    out.lines().map(|line| line.split(' ').map(word).collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn states_are_told_as_they_differ_from_the_beginning_of_the_span() {
    let mut fed = Fed::of(WINDOW);
    fed.apply(vec![state(3, Role::Checkbox, "Check", &[State::Focused])]);
    let since = fed.tick;
    fed.apply(vec![state(3, Role::Checkbox, "Check", &[State::Focused, State::Busy])]);
    fed.apply(vec![state(3, Role::Checkbox, "Check", &[State::Focused, State::Checked])]);
    assert_eq!(brief(&fed, since), "~ checkbox \"Check\" # +checked\n");
    fed.apply(vec![
        state(3, Role::Checkbox, "Check", &[State::Checked]),
        state(14, Role::Button, "Go", &[State::Focused]),
    ]);
    assert_eq!(
        brief(&fed, since),
        "~ checkbox \"Check\" # +checked\n~ button \"Go\" # +focused\n",
        "who lost the focus is not told where somebody has it"
    );
}

#[test]
fn a_name_and_a_short_value_are_told_whole_and_of_a_long_value_what_is_new() {
    let mut fed = Fed::of(WINDOW);
    let field = |text: &str| facts(4, Role::TextField, "Field", |facts| facts.value = Some(text.to_owned()));
    let long = "lorem ipsum ".repeat(20);
    fed.apply(vec![field("ab")]);
    let since = fed.tick;
    fed.apply(vec![field("abc"), named(6, Role::Text, "Not saved")]);
    assert_eq!(
        brief(&fed, since),
        "~ textfield \"Field\" # value = \"abc\"\n~ text \"Saved\" # name = \"Not saved\"\n"
    );
    fed.apply(vec![field(&long)]);
    let since = fed.tick;
    fed.apply(vec![field(&long.replacen("ipsum", "dolor", 1))]);
    assert_eq!(brief(&fed, since), "~ textfield \"Field\" # value at 6 -\"ipsum\" +\"dolor\"\n");
    fed.apply(vec![field(&(long.clone() + "end"))]);
    assert_eq!(brief(&fed, since), "~ textfield \"Field\" # value at 240 +\"end\"\n");
    fed.apply(vec![facts(4, Role::TextField, "Field", |_| {})]);
    assert_eq!(brief(&fed, since), "~ textfield \"Field\" # no value\n");
}

#[test]
fn what_was_removed_is_named_without_what_was_in_it() {
    let mut fed = Fed::of(WINDOW);
    let since = fed.tick;
    fed.apply(vec![list(1, &[6, 7, 14]), list(7, &[8])]);
    assert_eq!(
        brief(&fed, since),
        "- menu \"File\" #\n- listitem \"Two\" #\n",
        "a box and a separator say nothing"
    );
}

#[test]
fn what_comes_into_sight_is_shown_as_a_tree_and_what_goes_as_removed() {
    let mut fed = Fed::of(WINDOW);
    let menu = |states: &[State]| {
        vec![
            state(10, Role::Menu, "File", states),
            state(11, Role::MenuItem, "Open", states),
            state(12, Role::Group, "", states),
            state(13, Role::MenuItem, "Quit", states),
        ]
    };
    let before = fed.tick;
    fed.apply(menu(&[State::Hidden]));
    let since = fed.tick;
    assert_eq!(brief(&fed, before), "- menu \"File\" #\n");
    fed.apply(vec![state(13, Role::MenuItem, "Quit", &[State::Hidden, State::Disabled])]);
    assert_eq!(brief(&fed, since), "", "nobody sees it");
    fed.apply(menu(&[]));
    assert_eq!(brief(&fed, since), "+ menu \"File\" #\n    menuitem \"Open\" #\n    menuitem \"Quit\" #\n");
}

#[test]
fn what_is_new_is_shown_as_in_a_look() {
    let mut fed = Fed::of(WINDOW);
    let since = fed.tick;
    let mut updates = elements(
        "20 group\n  21 listitem\n    22 text Three\n  23 separator\n  24 group\n    25 menuitem Hidden",
    );
    updates.push(state(25, Role::MenuItem, "Hidden", &[State::Offscreen]));
    updates.push(list(7, &[8, 9, 20]));
    fed.apply(updates);
    assert_eq!(brief(&fed, since), "+ listitem \"Three\" #\n");
}

#[test]
fn the_text_of_a_button_is_not_told_beside_its_name() {
    let mut fed = Fed::of(WINDOW);
    let since = fed.tick;
    fed.apply(vec![named(14, Role::Button, "Stop"), named(15, Role::Text, "Stop")]);
    assert_eq!(brief(&fed, since), "~ button \"Go\" # name = \"Stop\"\n");
}

#[test]
fn of_very_many_only_the_first_are_listed() {
    let mut fed = Fed::of(WINDOW);
    let since = fed.tick;
    let rows: Vec<u64> = (100..300).collect();
    let mut updates: Vec<Update> = rows.iter().map(|row| named(*row, Role::ListItem, "x")).collect();
    updates.push(list(7, &rows));
    fed.apply(updates);
    let told = brief(&fed, since);
    assert_eq!(told.lines().count(), 2 + 60 + 1, "{told}");
    assert!(told.ends_with("(140 more)\n"), "{told}");
}

#[test]
fn what_is_in_a_hidden_window_is_in_no_brief_difference() {
    let mut fed = Fed::of(WINDOW);
    fed.apply(vec![facts(4, Role::TextField, "Field", |facts| facts.value = Some("a".into()))]);
    let since = fed.tick;
    fed.hide("Main");
    fed.apply(vec![facts(4, Role::TextField, "Field", |facts| facts.value = Some("secret".into()))]);
    let told = brief(&fed, since);
    assert_eq!(told, "- window \"Main\" #\n");
}
