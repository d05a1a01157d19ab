use proptest::prelude::*;

use super::*;

/// Rules of few words, so that they match often.
fn rule(verdicts: &'static [&'static str]) -> impl Strategy<Value = String> {
    let list = |key: &'static str, values: &'static [&'static str]| {
        prop::option::of(prop::sample::subsequence(values, 1..=values.len()))
            .prop_map(move |values| values.map_or_else(String::new, |values| format!("{key} = {values:?}\n")))
    };
    (
        prop::sample::select(verdicts),
        prop::sample::select(&["[\"click\", \"press\"]", "[\"press\"]", "[\"@acts\"]"][..]),
        list("apps", &["Notes", "B*", "org.example.*"]),
        list("windows", &["Notes", "*b*"]),
        list("keys", &["ctrl+a", "b", "ctrl+*"]),
        list("clients", &["one", "t*"]),
    )
        .prop_map(|(verdict, commands, apps, windows, keys, clients)| {
            format!(
                "[[rule]]\nverdict = \"{verdict}\"\ncommands = {commands}\n{apps}{windows}{keys}{clients}"
            )
        })
}

fn rules() -> impl Strategy<Value = String> {
    let defaults = prop::sample::select(&["allow", "ask", "deny"][..]);
    (defaults, prop::collection::vec(rule(&["allow", "ask", "deny"]), 0..5))
        .prop_map(|(default, rules)| format!("default = \"{default}\"\n{}", rules.concat()))
}

fn app() -> impl Strategy<Value = Fact<AppFacts<'static>>> {
    let bank = AppFacts { name: "Bank", identity: "com.bank", ..NOTES };
    prop_oneof![Just(Fact::None), Just(Fact::Unknown), Just(Fact::Known(NOTES)), Just(Fact::Known(bank))]
}

fn window() -> impl Strategy<Value = Fact<&'static str>> {
    let known = |title| Just(Fact::Known(title));
    prop_oneof![Just(Fact::None), Just(Fact::Unknown), known("Notes"), known("about"), known("Banking")]
}

fn keys() -> impl Strategy<Value = Vec<Combo>> {
    let one = prop::sample::select(&["a", "b", "ctrl+a", "ctrl+shift+a", "ctrl+b", "cmd+q"][..]);
    prop::collection::vec(one.prop_map(combo), 0..3)
}

proptest! {
    #[test]
    fn a_rule_that_denies_or_asks_never_makes_a_decision_less_strict(
        file in rules(), more in rule(&["deny", "ask"]), app in app(), window in window(), keys in keys(),
        command in prop::sample::select(&["click", "press", "launch"][..]), is_before: bool,
        client in prop::option::of(Just("one")),
    ) {
        let stage = if is_before { Stage::Before } else { Stage::Final };
        let question = Question { stage, command, app, window, client, keys: &keys, ..Question::default() };
        let without = policy(&file).decide(&question).verdict;
        let with = policy(&(file.clone() + &more)).decide(&question).verdict;
        // A rule that asks permits what would be denied by default.
        let is_default = policy(&file).decide(&question).rule == "default";
        prop_assert!(with >= without || (is_default && more.contains("ask")), "{}", file + &more);
    }

    #[test]
    fn not_to_know_something_never_makes_the_last_decision_less_strict(
        file in rules(), app in app(), window in window(), keys in keys(),
        command in prop::sample::select(&["click", "press", "screenshot"][..]),
    ) {
        prop_assume!(app != Fact::None && window != Fact::None);
        let policy = policy(&file);
        let question = Question { command, app, window, keys: &keys, ..Question::default() };
        let known = policy.decide(&question).verdict;
        let without_app = policy.decide(&Question { app: Fact::Unknown, ..question.clone() }).verdict;
        let without_window = policy.decide(&Question { window: Fact::Unknown, ..question.clone() }).verdict;
        prop_assert!(without_app >= known && without_window >= known, "{}", file);
    }

    #[test]
    fn what_is_denied_before_is_denied_at_last_whatever_becomes_known(
        file in rules(), app in app(), window in window(), keys in keys(),
    ) {
        prop_assume!(app != Fact::None && window != Fact::None);
        let policy = policy(&file);
        let known = Question { command: "click", app, window, keys: &keys, ..Question::default() };
        let early = before(&Question { app: Fact::Unknown, window: Fact::Unknown, ..known.clone() });
        prop_assert!(policy.decide(&early).verdict <= policy.decide(&known).verdict, "{}", file);
    }

    #[test]
    fn another_key_never_makes_a_decision_less_strict(
        file in rules(), keys in keys(), more in keys(), app in app(),
    ) {
        prop_assume!(!keys.is_empty());
        let policy = policy(&file);
        let question = Question { command: "press", app, keys: &keys, ..Question::default() };
        let all = [keys.clone(), more].concat();
        let with = policy.decide(&Question { keys: &all, ..question.clone() }).verdict;
        prop_assert!(with >= policy.decide(&question).verdict, "{}", file);
    }

    #[test]
    fn any_text_is_a_policy_or_an_error_with_a_line(text in "\\PC{0,200}") {
        if let Err(errors) = crate::parse(&text) {
            prop_assert!(!errors.is_empty() && errors.iter().all(|error| error.line == 1));
        }
    }
}
