//! Tests of what selectors find, on trees that are written as text.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::sample::select;

use super::{Combinator, Facts, Filter, Forest, Matcher, Part, Path, Pseudo, RoleTest, Seed, Selector, Step};
use crate::role::Role;
use crate::state::{State, States};

/// A tree from lines such as `textfield "City" = "Rome" #city @AXTextField %row=3 focused (its description)`.
#[derive(Default)]
struct Text {
    nodes: Vec<Node>,
    /// The number of calls of `facts`, which is the cost of a query.
    asked: Cell<usize>,
}

#[derive(Default)]
struct Node {
    parent: Option<usize>,
    index: Option<usize>,
    children: Vec<usize>,
    line: String,
    role: Option<Role>,
    name: Option<String>,
    value: Option<String>,
    description: Option<String>,
    identifier: Option<String>,
    native: Option<String>,
    row: Option<u32>,
    rows: Option<u32>,
    states: States,
}

impl Text {
    fn new(text: &str) -> Text {
        let mut forest = Text::default();
        let mut open: Vec<(usize, usize)> = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let indent = line.len() - line.trim_start().len();
            while open.last().is_some_and(|(outer, _)| *outer >= indent) {
                open.pop();
            }
            let node = forest.add(open.last().map(|(_, parent)| *parent), Node::read(line.trim()));
            open.push((indent, node));
        }
        forest
    }

    fn add(&mut self, parent: Option<usize>, node: Node) -> usize {
        let at = self.nodes.len();
        let index = parent.map(|parent| self.nodes[parent].children.len());
        self.nodes.push(Node { parent, index, ..node });
        if let Some(parent) = parent {
            self.nodes[parent].children.push(at);
        }
        at
    }

    fn find(&self, line: &str) -> usize {
        self.nodes.iter().position(|node| node.line == line).unwrap_or_else(|| panic!("no line {line}"))
    }
}

impl Node {
    fn read(line: &str) -> Node {
        let mut node = Node { line: line.to_owned(), ..Node::default() };
        let mut rest = line;
        let mut is_value = false;
        while !rest.is_empty() {
            let end = match rest.as_bytes()[0] {
                b'"' => 2 + rest[1..].find('"').unwrap(),
                b'(' => 1 + rest.find(')').unwrap(),
                _ => rest.find(' ').unwrap_or(rest.len()),
            };
            let (token, tail) = rest.split_at(end);
            rest = tail.trim_start();
            match token.as_bytes()[0] {
                b'"' if is_value => node.value = Some(token.trim_matches('"').to_owned()),
                b'"' => node.name = Some(token.trim_matches('"').to_owned()),
                b'=' => is_value = true,
                b'(' => node.description = Some(token.trim_matches(['(', ')']).to_owned()),
                b'#' => node.identifier = Some(token[1..].to_owned()),
                b'@' => node.native = Some(token[1..].to_owned()),
                b'%' => match token[1..].split_once('=').unwrap() {
                    ("row", row) => node.row = row.parse().ok(),
                    (_, rows) => node.rows = rows.parse().ok(),
                },
                _ if node.role.is_none() => node.role = Some(Role::parse(token).unwrap()),
                _ => node.states.set(State::parse(token).unwrap(), true),
            }
        }
        node
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.nodes.iter().map(|node| (node.parent, &node.line))).finish()
    }
}

impl Forest for Text {
    type Node = usize;
    fn parent(&self, node: usize) -> Option<usize> {
        self.nodes[node].parent
    }
    fn child_count(&self, node: usize) -> usize {
        self.nodes[node].children.len()
    }
    fn child(&self, node: usize, index: usize) -> usize {
        self.nodes[node].children[index]
    }
    fn index_in_parent(&self, node: usize) -> Option<usize> {
        self.nodes[node].index
    }
    fn row_index(&self, node: usize) -> Option<u32> {
        self.nodes[node].row
    }
    fn row_count(&self, container: usize) -> Option<u32> {
        self.nodes[container].rows
    }
    fn facts(&self, node: usize) -> Facts<'_> {
        self.asked.set(self.asked.get() + 1);
        let node = &self.nodes[node];
        Facts {
            role: node.role.unwrap_or(Role::Unknown),
            native_role: node.native.as_deref(),
            name: node.name.as_deref(),
            value: node.value.as_deref(),
            description: node.description.as_deref(),
            identifier: node.identifier.as_deref(),
            states: node.states,
        }
    }
}

fn matcher(selector: &str) -> Matcher {
    Matcher::new(&Selector::parse(selector).unwrap_or_else(|error| panic!("{selector}: {error}")))
}

/// Checks that `selector` finds the lines `expected` by walking, among all nodes in reverse order, and node by node.
fn check_in(forest: &Text, scope: usize, selector: &str, expected: &[&str]) {
    let matcher = matcher(selector);
    let lines = |found: Vec<usize>| {
        found.into_iter().map(|node| forest.nodes[node].line.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(lines(matcher.find_all(forest, scope, None)), expected, "{selector}");
    let twice = (0..forest.nodes.len()).rev().chain(0..forest.nodes.len());
    assert_eq!(lines(matcher.find_among(forest, scope, twice, None)), expected, "{selector} picked");
    let one_by_one = (0..forest.nodes.len()).filter(|node| matcher.matches(forest, scope, *node)).collect();
    assert_eq!(lines(one_by_one), expected, "{selector} one by one");
    assert_eq!(
        lines(matcher.find_all(forest, scope, Some(1))),
        expected[..expected.len().min(1)],
        "{selector} first"
    );
}

fn check(tree: &str, selector: &str, expected: &[&str]) {
    check_in(&Text::new(tree), 0, selector, expected);
}

const MAIL: &str = r#"
application "Mail"
  window "Inbox" focused
    toolbar
      button "Save"
      button "Save As..." disabled
      button "Löschen" @AXDeleteButton #trash (Moves it to the bin)
    searchfield "Search" = "total: 42"
    textfield "Password" = "hunter2" secure
    image
    list "Messages"
      row "One"
        text "Hello"
        button "Flag"
      row "Two" selected
        text "World" offscreen
      row "Three"
        group
          button "Flag" hidden
  window "Draft"
    button "Save"
"#;

#[test]
fn a_step_matches_by_role_and_name() {
    check(MAIL, "searchfield", &[r#"searchfield "Search" = "total: 42""#]);
    check(MAIL, "button:save", &[r#"button "Save""#, r#"button "Save""#]);
    check(MAIL, "*:'SAVE  as…'", &[r#"button "Save As..." disabled"#]);
    check(MAIL, "*:LÖSCHEN", &[r#"button "Löschen" @AXDeleteButton #trash (Moves it to the bin)"#]);
    check(MAIL, "link:Save", &[]);
    check(MAIL, "button:Sav", &[]);
    check(MAIL, "image:''", &["image"]);
    check(MAIL, "searchfield:''", &[]);
    check(MAIL, "application", &[r#"application "Mail""#]);
}

#[test]
fn a_native_role_matches_exactly() {
    let delete = [r#"button "Löschen" @AXDeleteButton #trash (Moves it to the bin)"#];
    check(MAIL, "AXDeleteButton", &delete);
    check(MAIL, "'AXDeleteButton':Löschen", &delete);
    check(MAIL, "AXDelete", &[]);
    check(MAIL, "[native_role^=AXDel]", &delete);
}

#[test]
fn filters_test_states_and_their_absence() {
    check(MAIL, "[disabled]", &[r#"button "Save As..." disabled"#]);
    check(MAIL, "[!enabled]", &[r#"button "Save As..." disabled"#]);
    check(MAIL, "[focused]", &[r#"window "Inbox" focused"#]);
    check(MAIL, "window[!focused]", &[r#"window "Draft""#]);
    check(MAIL, "[!visible]", &[r#"text "World" offscreen"#, r#"button "Flag" hidden"#]);
    check(MAIL, "button:Flag[visible][enabled]", &[r#"button "Flag""#]);
}

#[test]
fn filters_test_texts() {
    let search = [r#"searchfield "Search" = "total: 42""#];
    check(MAIL, "*[text~=total]", &search);
    check(MAIL, "[value$='42']", &search);
    check(MAIL, "[value=~'^total: \\\\d+$']", &search);
    check(MAIL, "[value=~'TOTAL' i]", &search);
    check(MAIL, "[value=~'TOTAL']", &[]);
    check(MAIL, "[name=search]", &[]);
    check(MAIL, "[name=SEARCH i]", &search);
    check(MAIL, "[name^=LÖSCH i]", &[r#"button "Löschen" @AXDeleteButton #trash (Moves it to the bin)"#]);
    check(
        MAIL,
        "[text~=bin][identifier=trash]",
        &[r#"button "Löschen" @AXDeleteButton #trash (Moves it to the bin)"#],
    );
    check(MAIL, "window[name!=Inbox]", &[r#"window "Draft""#]);
    check(MAIL, "image[name!=x]", &["image"]);
    check(MAIL, "image[name~='']", &[]);
    check(MAIL, "searchfield[text!=Search]", &[]);
}

#[test]
fn a_secure_value_never_matches() {
    check(MAIL, "[value=hunter2]", &[]);
    check(MAIL, "textfield[value^=h]", &[]);
    check(MAIL, "textfield[text~=hunter]", &[]);
    check(MAIL, "textfield:not(searchfield)[value=~'.']", &[]);
    check(
        MAIL,
        "textfield:not(searchfield)[value!=hunter2]",
        &[r#"textfield "Password" = "hunter2" secure"#],
    );
    check(MAIL, "textfield:not(searchfield)[value!=other]", &[r#"textfield "Password" = "hunter2" secure"#]);
}

#[test]
fn a_path_goes_by_child_and_descendant() {
    check(MAIL, "window > button", &[r#"button "Save""#]);
    check(MAIL, "window:Inbox button:Save", &[r#"button "Save""#]);
    check(MAIL, "window:Draft button", &[r#"button "Save""#]);
    check(MAIL, "row > button", &[r#"button "Flag""#]);
    check(MAIL, "row button", &[r#"button "Flag""#, r#"button "Flag" hidden"#]);
    check(MAIL, "application:Mail window > list row:Two > text", &[r#"text "World" offscreen"#]);
    check(MAIL, "list window", &[]);
    check(MAIL, "image, window:Draft, application", &[r#"application "Mail""#, "image", r#"window "Draft""#]);
    check(MAIL, "row:One, row", &[r#"row "One""#, r#"row "Two" selected"#, r#"row "Three""#]);
}

#[test]
fn an_ancestor_further_up_is_tried_if_the_nearest_does_not_match() {
    let tree = "
window
  group \"a\"
    group \"b\"
      list
        group \"c\"
          button \"x\"
";
    check(tree, "group > group button", &[r#"button "x""#]);
    check(tree, "window > group button", &[r#"button "x""#]);
    check(tree, "group:a > group list > group > button", &[r#"button "x""#]);
    check(tree, "group:b > group button", &[]);
    check(tree, "group group group group button", &[]);
}

#[test]
fn has_looks_below_and_no_further_than_the_node() {
    check(MAIL, "row:has(button)", &[r#"row "One""#, r#"row "Three""#]);
    check(MAIL, "row:has(button[visible])", &[r#"row "One""#]);
    check(MAIL, "row:has(group > button)", &[r#"row "Three""#]);
    check(MAIL, "row:has(row button)", &[]);
    check(
        MAIL,
        "*:has(row > button)",
        &[r#"application "Mail""#, r#"window "Inbox" focused"#, r#"list "Messages""#],
    );
    check(MAIL, "window:has(*:Hello) list", &[r#"list "Messages""#]);
    check(MAIL, "row:has(*:has(button))", &[r#"row "Three""#]);
    check(MAIL, "list:has(row:not([selected]):has(text))", &[r#"list "Messages""#]);
    check(MAIL, "window:not(*:has(list))", &[r#"window "Draft""#]);
}

#[test]
fn not_excludes_what_matches_its_step() {
    check(MAIL, "row:not([selected])", &[r#"row "One""#, r#"row "Three""#]);
    check(MAIL, "row:not(*:Two):not(*:has(button))", &[]);
    check(MAIL, "row:not(*:nth(1)):not(*:nth(-1))", &[r#"row "Two" selected"#]);
}

#[test]
fn a_role_means_its_kinds_too_wherever_it_stands() {
    let tree = r#"
window "Main"
  group "Format"
    button "Left"
    togglebutton "Bold"
    togglebutton "Italic" pressed
    searchfield "Find"
    textarea "Body"
  menu "View"
    menuitemcheckbox "Grid"
    menuitem "Zoom"
"#;
    let all = [r#"button "Left""#, r#"togglebutton "Bold""#, r#"togglebutton "Italic" pressed"#];
    check(tree, "button", &all);
    check(tree, "togglebutton", &all[1..]);
    check(tree, "button:Bold", &all[1..2]);
    check(tree, "button:not(togglebutton)", &all[..1]);
    check(tree, "button:nth(2)", &all[1..2]);
    check(tree, "group:has(textfield) > button:nth(-1)", &all[2..]);
    check(tree, "group > *:not(button)", &[r#"searchfield "Find""#, r#"textarea "Body""#]);
    check(tree, "textfield, menu > menuitem:Grid", &[r#"searchfield "Find""#, r#"menuitemcheckbox "Grid""#]);
}

#[test]
fn nth_counts_siblings_that_match_the_parts_before_it() {
    check(MAIL, "row:nth(1)", &[r#"row "One""#]);
    check(MAIL, "row:nth(-1)", &[r#"row "Three""#]);
    check(MAIL, "row:nth(4), row:nth(-4)", &[]);
    check(MAIL, "row:has(button):nth(2)", &[r#"row "Three""#]);
    check(MAIL, "row:nth(2):has(button)", &[]);
    check(MAIL, "row[!selected]:nth(2)", &[r#"row "Three""#]);
    check(MAIL, "row[!selected]:nth(-2):nth(1)", &[r#"row "One""#]);
    check(MAIL, "application:nth(1), application:nth(-1)", &[r#"application "Mail""#]);
    check(MAIL, "application:nth(2)", &[]);
    check(MAIL, "window:nth(2) > button", &[r#"button "Save""#]);
    check(MAIL, "window > *:nth(2)", &[r#"searchfield "Search" = "total: 42""#]);
}

#[test]
fn nth_counts_by_row_index_in_a_virtual_container() {
    let tree = r#"
list "All" %rows=100
  row "header"
  row "r10" %row=10
  row "r11" %row=11 selected
  row "r99" %row=99
"#;
    check(tree, "row:nth(11)", &[r#"row "r10" %row=10"#]);
    check(tree, "row:nth(1)", &[]);
    check(tree, "row:nth(-1)", &[r#"row "r99" %row=99"#]);
    check(tree, "row:nth(-89)", &[r#"row "r11" %row=11 selected"#]);
    check(tree, "row[selected]:nth(12)", &[r#"row "r11" %row=11 selected"#]);
    check(tree, "row:header:nth(1)", &[r#"row "header""#]);
    check(&tree.replace(" %rows=100", ""), "row:nth(-1)", &[r#"row "r99" %row=99"#]);
}

#[test]
fn the_scope_limits_matches_but_not_their_ancestors() {
    let mail = Text::new(MAIL);
    let draft = mail.find(r#"window "Draft""#);
    check_in(&mail, draft, "button", &[r#"button "Save""#]);
    check_in(&mail, draft, "window", &[r#"window "Draft""#]);
    check_in(&mail, draft, "application:Mail button", &[r#"button "Save""#]);
    check_in(&mail, draft, "row", &[]);
    let list = mail.find(r#"list "Messages""#);
    check_in(&mail, list, "window:Inbox row:nth(1)", &[r#"row "One""#]);
    check_in(&mail, list, "application", &[]);
}

#[test]
fn a_limit_stops_the_search() {
    let mail = Text::new(MAIL);
    assert_eq!(matcher("row").find_all(&mail, 0, Some(2)).len(), 2);
    assert_eq!(matcher("row").find_all(&mail, 0, Some(0)).len(), 0);
    assert_eq!(matcher("row").find_among(&mail, 0, 0..mail.nodes.len(), Some(2)).len(), 2);
    mail.asked.set(0);
    matcher("*").find_all(&mail, 0, Some(1));
    assert_eq!(mail.asked.get(), 1);
}

#[test]
fn seeds_are_what_the_last_steps_require() {
    let seed = |role, name: Option<&str>| Seed { role, folded_name: name.map(str::to_owned) };
    let check =
        |selector: &str, expected: &[Seed]| assert_eq!(matcher(selector).seeds(), expected, "{selector}");
    check("window:Inbox button:Save", &[seed(Some(Role::Button), Some("save"))]);
    check(":'Save  As...', row", &[seed(None, Some("save as…")), seed(Some(Role::Row), None)]);
    check("AXRow", &[seed(None, None)]);
    check("button[name=Save]", &[seed(Some(Role::Button), Some("save"))]);
    check("button[name!=Save]", &[seed(Some(Role::Button), None)]);
    check("button[name=Save i]", &[seed(Some(Role::Button), None)]);
    check("button:''", &[seed(Some(Role::Button), None)]);
}

/// A window with `depth` groups, one in the other, and `width` rows in the last.
fn deep_and_wide(depth: usize, width: usize) -> Text {
    let mut forest = Text::default();
    let mut parent = forest.add(None, Node::read("window"));
    for _ in 0..depth {
        parent = forest.add(Some(parent), Node::read("group"));
    }
    for _ in 0..width {
        forest.add(Some(parent), Node::read("row \"x\""));
    }
    forest
}

/// Checks that running `selector` calls `facts` at most `most` times per node, and finds `expected` nodes.
fn check_cost(forest: &Text, selector: &str, expected: usize, most: usize) {
    forest.asked.set(0);
    let found = matcher(selector).find_all(forest, 0, None).len();
    assert_eq!(found, expected, "{selector}");
    let asked = forest.asked.get();
    assert!(asked <= most * forest.nodes.len(), "{selector}: {asked} for {} nodes", forest.nodes.len());
}

#[test]
fn the_cost_is_linear_in_a_wide_tree() {
    let wide = deep_and_wide(2, 10_000);
    check_cost(&wide, "row", 10_000, 1);
    check_cost(&wide, "row:nth(5000)", 1, 2);
    check_cost(&wide, "row:nth(-1), row:nth(1)", 2, 4);
    check_cost(&wide, "row:not(*:nth(2))", 9_999, 2);
    check_cost(&wide, "group:has(row:nth(10000)) row", 10_000, 4);
    check_cost(&wide, "group:has(link) row", 0, 4);
    check_cost(&wide, "window group > row", 10_000, 2);
}

#[test]
fn the_cost_is_linear_in_a_deep_tree() {
    let deep = deep_and_wide(2_000, 10);
    check_cost(&deep, "link group group group group group group group group row", 0, 2);
    check_cost(&deep, "group group > group group > group group > row", 10, 2);
    check_cost(&deep, "*:has(row)", 2_001, 2);
    check_cost(&deep, "*:has(link)", 0, 3);
}

/// A simple and slow implementation of selectors, with which the query is compared below.
struct Plain<'a>(&'a Text);

impl Plain<'_> {
    /// Whether the first `steps` steps of a path lead to `node`, without going to or above `bound`.
    fn path(&self, path: &Path, steps: usize, bound: Option<usize>, node: usize) -> bool {
        let Some(before) = steps.checked_sub(2) else { return self.step(&path.first, usize::MAX, node) };
        let (combinator, step) = &path.rest[before];
        let above = std::iter::successors(self.0.parent(node), |node| self.0.parent(*node))
            .take_while(|ancestor| Some(*ancestor) != bound)
            .take(if *combinator == Combinator::Child { 1 } else { usize::MAX });
        self.step(step, usize::MAX, node)
            && above.into_iter().any(|node| self.path(path, steps - 1, bound, node))
    }

    fn step(&self, step: &Step, parts: usize, node: usize) -> bool {
        let facts = self.0.facts(node);
        let role = match step.role {
            RoleTest::Role(role) => role == facts.role,
            _ => true,
        };
        role && step.name.as_deref().is_none_or(|name| facts.name == Some(name))
            && step.parts.iter().take(parts).enumerate().all(|(i, part)| match part {
                Part::Filter(Filter::State { test, negated }) => test.holds(facts.states) != *negated,
                Part::Filter(Filter::Attr(_)) => unreachable!("not generated"),
                Part::Pseudo(Pseudo::Not(other)) => !self.step(other, usize::MAX, node),
                Part::Pseudo(Pseudo::Has(path)) => (0..self.0.nodes.len()).any(|below| {
                    let mut above = std::iter::successors(self.0.parent(below), |node| self.0.parent(*node));
                    above.any(|above| above == node)
                        && self.path(path, path.steps().count(), Some(node), below)
                }),
                Part::Pseudo(Pseudo::Nth(ordinal)) => {
                    let siblings = self
                        .0
                        .parent(node)
                        .map_or(vec![node], |parent| self.0.nodes[parent].children.clone());
                    let counted: Vec<usize> =
                        siblings.into_iter().filter(|node| self.step(step, i, *node)).collect();
                    let at = if *ordinal > 0 { *ordinal - 1 } else { counted.len() as i32 + *ordinal };
                    usize::try_from(at).ok().and_then(|at| counted.get(at)) == Some(&node)
                }
            })
    }
}

fn some_tree() -> impl Strategy<Value = Text> {
    let line = select(vec!["group", "row", "group \"a\"", "row \"a\"", "group focused", "row \"b\" focused"]);
    proptest::collection::vec((any::<prop::sample::Index>(), line), 1..24).prop_map(|nodes| {
        let mut forest = Text::default();
        for (parent, line) in nodes {
            let count = forest.nodes.len();
            // Near the end, so that trees get deep.
            let parent = (count > 0).then(|| count - 1 - parent.index(count.min(4)));
            forest.add(parent, Node::read(line));
        }
        forest
    })
}

fn some_path() -> impl Strategy<Value = String> {
    let leaf = select(vec![
        "group",
        "row",
        "*",
        ":a",
        "group:a",
        "[focused]",
        "row:nth(2)",
        "*:nth(-1)",
        "row[!focused]:nth(1)",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            3 => (inner.clone(), select(vec![" ", " > "]), inner.clone()).prop_map(|(a, by, b)| format!("{a}{by}{b}")),
            1 => inner.clone().prop_map(|path| format!("*:has({path})")),
            1 => inner.clone().prop_map(|path| format!("row:has({path}):nth(1)")),
            1 => inner.prop_map(|path| format!("*:not(*:has({path}))")),
        ]
    })
}

proptest! {
    #[test]
    fn the_query_finds_what_the_simple_implementation_finds(
        tree in some_tree(), one in some_path(), other in some_path(), scope in any::<prop::sample::Index>(),
    ) {
        // Generated paths may nest or grow beyond the limits.
        if let Ok(selector) = Selector::parse(&format!("{one}, {other}")) {
            let (matcher, scope) = (Matcher::new(&selector), scope.index(tree.nodes.len()));
            let found = matcher.find_all(&tree, scope, None);
            prop_assert_eq!(&matcher.find_among(&tree, scope, 0..tree.nodes.len(), None), &found);
            for node in 0..tree.nodes.len() {
                let in_scope = std::iter::successors(Some(node), |node| tree.parent(*node)).any(|node| node == scope);
                let plain = selector.paths().iter().any(|path| Plain(&tree).path(path, path.steps().count(), None, node));
                prop_assert_eq!(found.contains(&node), in_scope && plain, "{} at {}", selector, node);
            }
        }
    }
}

#[test]
fn unread_rows_may_match_if_the_path_leads_into_their_container() {
    let forest = Text::new(
        r#"
        window "Inbox"
          toolbar
            button "New"
          table "Mails" %rows=5000
            row "one" %row=0
        "#,
    );
    let table = forest.nodes.iter().position(|node| node.role == Some(Role::Table)).unwrap();
    for (selector, may) in [
        ("row:two", true),
        ("*[name~=two]", true),
        ("button:Go", true),
        ("window:Inbox row:two", true),
        ("table > row:two", true),
        ("window > table row", true),
        ("window:has(row:two)", true),
        ("window:Outbox row:two", false),
        ("window > button:Go", false),
        ("toolbar button:Go", false),
        ("dialog", false),
        ("window:Outbox", false),
        ("dialog button:OK", false),
        ("dialog, row:two", true),
    ] {
        let matcher = Matcher::new(&Selector::parse(selector).unwrap());
        assert_eq!(matcher.may_match_in(&forest, table), may, "{selector}");
    }
}

#[test]
fn only_what_names_a_menu_item_may_be_in_a_menu_that_was_not_read() {
    let forest = Text::new(
        r#"
        window "Inbox"
          menubar
            menu "File"
        "#,
    );
    let menu = forest.nodes.iter().position(|node| node.role == Some(Role::Menu)).unwrap();
    for (selector, may) in [
        ("menuitem:Save", true),
        ("menu:File > menuitem", true),
        ("dialog, menuitem:Save", true),
        ("*[name~=Save]", false),
        ("button:Save", false),
        ("window:has(button:Save)", false),
    ] {
        let matcher = Matcher::new(&Selector::parse(selector).unwrap());
        assert_eq!(matcher.may_match_in(&forest, menu), may, "{selector}");
    }
}
