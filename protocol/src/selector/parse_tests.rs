//! Tests of the parser: results, and the positions of errors.

use super::{Filter, MAX_BYTES, MAX_STEPS, Part, Path, Pseudo, Selector, Step};

/// Checks that `input` is parsed as the selector that `{:?}` would show as `expected`, abbreviated by `show`.
fn check(input: &str, expected: &str) {
    let selector = Selector::parse(input).unwrap_or_else(|error| panic!("{input}: {error}"));
    let shown: Vec<String> = selector.paths().iter().map(show_path).collect();
    assert_eq!(shown.join(" OR "), expected, "{input}");
}

/// Checks that the error of `input` is at `offset` and expects something that contains `expected`.
fn check_error(input: &str, offset: usize, expected: &str) {
    let error = Selector::parse(input).expect_err(input);
    assert_eq!(error.offset, offset, "{input}: {error}");
    assert!(error.expected.contains(expected), "{input}: {error}");
}

fn show_path(path: &Path) -> String {
    let mut shown = show_step(&path.first);
    for (combinator, step) in &path.rest {
        shown = format!("{shown} {combinator:?} {}", show_step(step));
    }
    shown
}

fn show_step(step: &Step) -> String {
    let mut shown = format!("{:?}", step.role);
    if let Some(name) = &step.name {
        shown += &format!(" name {name:?}");
    }
    for part in &step.parts {
        shown += &match part {
            Part::Filter(Filter::State { test, negated }) => {
                format!(" {}{}", if *negated { "not " } else { "" }, test.name())
            }
            Part::Filter(Filter::Attr(filter)) => {
                let case = if filter.ignore_case { " any case" } else { "" };
                format!(" {:?} {:?} {:?}{case}", filter.attr, filter.op, filter.value)
            }
            Part::Pseudo(Pseudo::Nth(ordinal)) => format!(" nth {ordinal}"),
            Part::Pseudo(Pseudo::Has(path)) => format!(" has {{{}}}", show_path(path)),
            Part::Pseudo(Pseudo::Not(step)) => format!(" not {{{}}}", show_step(step)),
        };
    }
    shown
}

#[test]
fn roles_are_words_in_any_case_aliases_or_native() {
    check("button", "Role(Button)");
    check("Push-Button", "Role(Button)");
    check("TextBox", "Role(TextField)");
    check("*", "Any");
    check("AXButton", "Native(\"AXButton\")");
    check("'push button'", "Native(\"push button\")");
    check("\"button\"", "Native(\"button\")");
}

#[test]
fn names_follow_a_colon() {
    check("button:Save", "Role(Button) name \"Save\"");
    check(":Save", "Any name \"Save\"");
    check("button:'Save As…'", "Role(Button) name \"Save As…\"");
    check("button:nth", "Role(Button) name \"nth\"");
    check("button:7", "Role(Button) name \"7\"");
    check("button:*", "Role(Button) name \"*\"");
    check("button:'*':nth(2)", "Role(Button) name \"*\" nth 2");
    check(r#"text:"a\"b\'c\\d\ne\u{1F600}""#, "Role(Text) name \"a\\\"b'c\\\\d\\ne😀\"");
}

#[test]
fn filters_test_states_and_texts() {
    check("textfield[focused]", "Role(TextField) focused");
    check("[!enabled][visible]", "Any not enabled visible");
    check("*[text~=\"total\"]", "Any Text Contains \"total\"");
    check("[value=12]", "Any Value Equals \"12\"");
    check("[value=i]", "Any Value Equals \"i\"");
    check("[value=i i]", "Any Value Equals \"i\" any case");
    check("[value='']", "Any Value Equals \"\"");
    check("[name!=a i]", "Any Name Differs \"a\" any case");
    check("[identifier^=a]", "Any Identifier Starts \"a\"");
    check("[native_role$=a]", "Any NativeRole Ends \"a\"");
    check("[description=~'^a[bc]$']", "Any Description Regex \"^a[bc]$\"");
    check("[name=~'\\\\d']", "Any Name Regex \"\\\\d\"");
}

#[test]
fn paths_join_steps_and_selectors_join_paths() {
    check(
        "window:Inbox list > row:nth(3)",
        "Role(Window) name \"Inbox\" Descendant Role(List) Child Role(Row) nth 3",
    );
    check("list>row", "Role(List) Child Role(Row)");
    check(" button , link ", "Role(Button) OR Role(Link)");
    check(
        "row:has(cell > text:x)[selected]",
        "Role(Row) has {Role(Cell) Child Role(Text) name \"x\"} selected",
    );
    check("row:not([selected]):nth(-1)", "Role(Row) not {Any selected} nth -1");
    check("button:New tab", "Role(Button) name \"New\" Descendant Role(Tab)");
}

#[test]
fn an_unclosed_bracket_is_reported_at_its_position() {
    check_error("", 0, "a step");
    check_error("   ", 3, "a step");
    check_error("button,", 7, "a step");
    check_error("list > ", 7, "a step");
    check_error("button:", 7, "a name");
    check_error("button:\"Save", 7, "closing \"");
    check_error("[name='Save]", 6, "closing '");
    check_error("button[focused", 14, "`]`");
    check_error("button[name=x", 13, "`]`");
    check_error("button[name=", 12, "a value");
    check_error("[name=\"x\"i]", 9, "`]`");
    check_error("row:has(cell", 12, "`)`");
    check_error("row:nth(2", 9, "`)`");
    check_error("row)", 3, "the end");
    check_error("row]", 3, "the end");
    check_error("row:nth(99999999999)", 8, "a number");
    check_error("[name=~'(']", 7, "a regex");
    check_error("text:'\\q'", 6, "hex");
    check_error("text:'\\u{d800}'", 6, "hex");
}

#[test]
fn a_selector_must_be_within_the_limits() {
    let named = |bytes: usize| format!("button:{}", "x".repeat(bytes - "button:".len()));
    assert!(Selector::parse(&named(MAX_BYTES)).is_ok());
    check_error(&named(MAX_BYTES + 1), MAX_BYTES, "at most 1024 bytes");
    // As an alias it is within the limit; printed by its role name it is not.
    check_error(
        &named(MAX_BYTES).replacen("button", "app", 1).replace(":x", ":xxx"),
        MAX_BYTES - 1,
        "canonical",
    );

    let steps = |count: usize| vec!["row"; count].join(" ");
    assert!(Selector::parse(&steps(MAX_STEPS)).is_ok());
    check_error(&steps(MAX_STEPS + 1), MAX_STEPS * 4, "at most 16 steps");
    check_error(&vec!["row"; MAX_STEPS + 1].join(","), MAX_STEPS * 4, "at most 16 steps");
    check_error(&format!("row:has({})", steps(MAX_STEPS)), 8 + (MAX_STEPS - 1) * 4, "at most 16 steps");

    assert!(Selector::parse("*:has(*:not(*:has(row)))").is_ok());
    check_error("*:has(*:not(*:has(*:not(row))))", 19, "at most 3 deep");
    assert!(Selector::parse("*:has(*:not(*:has(*:nth(1))))").is_ok());

    assert!(Selector::parse("[name=~'[a-z]{1,100}']").is_ok());
    check_error("[name=~'((a{50}){50}){50}']", 7, "a regex");
}
