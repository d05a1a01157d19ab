//! What is wrong with a script is told so that it can be put right.

use super::*;

fn problem(text: &str) -> String {
    Script::parse("my.toml", text).unwrap_err().to_string()
}

fn with(rest: &str) -> String {
    format!(
        "name = 'X'\n[[window]]\nid = 'main'\ntitle = 'X'\n\
         children = [{{ role = 'button', id = 'go', name = 'Go' }}]\n{rest}"
    )
}

#[test]
fn a_small_script_is_enough() {
    let script = Script::parse("my.toml", &with("")).unwrap();
    assert_eq!((script.identity.as_str(), script.running, script.profile), ("sim.x", true, Profile::Full));
}

#[test]
fn a_misspelt_key_is_named_with_its_line() {
    let text = problem(&with("[[rule]]\nonn = 'press:go'\n"));
    assert!(text.starts_with("my.toml: "), "{text}");
    assert!(text.contains("onn") && text.contains("line 7"), "{text}");
}

#[test]
fn an_unknown_role_or_state_is_named() {
    assert!(
        problem("name='X'\n[[window]]\nid='m'\ntitle='X'\nchildren=[{role='gizmo'}]").contains("'gizmo'")
    );
    let text =
        problem("name='X'\n[[window]]\nid='m'\ntitle='X'\nchildren=[{role='text', states=['sleepy']}]");
    assert!(text.contains("'sleepy' is not a state"), "{text}");
}

#[test]
fn an_id_used_twice_is_named_with_its_place() {
    let text = problem(
        "name='X'\n[[window]]\nid='m'\ntitle='X'\n\
         children=[{role='text',id='a'},{role='group',id='g',children=[{role='button',id='a'}]}]",
    );
    assert!(text.contains("window 'm', button 'a': id 'a' is used twice"), "{text}");
}

#[test]
fn a_rule_about_a_widget_that_is_not_there_lists_those_that_are() {
    let text = problem(&with("[[rule]]\non = 'press:stop'\ndo = [{ announce = 'hm' }]\n"));
    assert!(text.contains("rule 1") && text.contains("widget 'stop' not found; ids: main, go"), "{text}");
}

#[test]
fn an_effect_with_no_verb_or_two_lists_the_verbs() {
    let text = problem(&with("[[rule]]\non = 'press:go'\ndo = [{ text = 'hm' }]\n"));
    assert!(text.contains("effect 1") && text.contains("set, append"), "{text}");
    let text = problem(&with("[[rule]]\non = 'press:go'\ndo = [{ show = 'go', hide = 'go' }]\n"));
    assert!(text.contains("show, hide"), "{text}");
}

#[test]
fn an_effect_lacking_something_says_what() {
    let text = problem(&with("[[rule]]\non = 'press:go'\ndo = [{ set = 'go' }]\n"));
    assert!(text.contains("'set' needs 'text'"), "{text}");
    let text = problem(&with("[[rule]]\non = 'press:go'\ndo = [{ add = 'row', into = 'main' }]\n"));
    assert!(text.contains("[template.row] not found"), "{text}");
}

#[test]
fn a_template_that_would_use_an_id_twice_is_refused() {
    let text = problem(&with("[template.row]\nrole = 'listitem'\nid = 'row'\n"));
    assert!(text.contains("template 'row': id 'row'") && text.contains("'row-{n}'"), "{text}");
}

#[test]
fn a_key_no_calculator_has_is_refused() {
    let machine = "[machine]\nkind = 'calculator'\ndisplay = 'go'\nkeys = { go = 'sin' }\n";
    assert!(problem(&with(machine)).contains("go = 'sin' is not a key"));
}

#[test]
fn an_app_without_a_window_is_refused() {
    assert!(problem("name = 'X'").contains("no window"));
}

#[test]
fn what_widgets_and_windows_name_must_be_there() {
    let with = |widget: &str, window: &str| {
        problem(&format!("name='X'\n[[window]]\nid='w'\ntitle='X'\n{window}\nchildren=[{widget}]"))
    };
    let text = with("{ role = 'list', id = 'l', menu = 'm' }", "");
    assert!(text.contains("list 'l' menu: widget 'm' not found; ids: w, l"), "{text}");
    let text = with("", "default = 'ok'");
    assert!(text.contains("window 'w', default: widget 'ok' not found"), "{text}");
    let text = with("{ role = 'button', id = 'b', shortcut = 'ctlr+s' }", "");
    assert!(text.contains("button 'b': shortcut: unknown modifier 'ctlr'"), "{text}");
    assert!(with("{ role = 'button', id = 'dragged' }", "").contains("the id 'dragged' is reserved"));
}

#[test]
fn conditions_come_alone_or_in_lists_and_test_one_thing_each() {
    let rule =
        |when: &str| with(&format!("[[rule]]\non = 'quit'\nwhen = {when}\ndo = [{{ quit = true }}]\n"));
    let script = rule("[{ widget = 'go', empty = true }, { widget = 'go', name = 'Go' }]");
    assert_eq!(Script::parse("my.toml", &script).unwrap().rules[0].when.len(), 2);
    let text = problem(&rule("{ widget = 'go', empty = true, name = 'Go' }"));
    assert!(text.contains("takes one of is, is_not, value, name and empty"), "{text}");
    assert!(problem(&with("[[rule]]\non = 'quit:go'\ndo = []\n")).contains("'quit' takes no widget"));
}
