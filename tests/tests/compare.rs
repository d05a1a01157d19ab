//! Compare and act: an action with `if_since` is done only if nothing has changed since its client looked. The judge is the app,
//! which counts its presses, and apart from that those that came while its popup was open.

use axd_tests::{Daemon, Raw, Setup};
use serde_json::{Value, json};

/// A popup that blocks nothing, so that a wrong click lands and is counted.
const RACER: &str = r#"
name = "Racer"
[[window]]
id = "main"
title = "Racer"
bounds = [50, 60, 300, 300]
children = [
  { role = "button", id = "go", name = "Go" },
  { role = "button", id = "other", name = "Other" },
  { role = "button", id = "come", name = "Come" },
  { role = "button", id = "leave", name = "Leave" },
  { role = "text", id = "state", name = "State", value = "closed" },
  { role = "text", id = "right", name = "Right", value = "0" },
  { role = "text", id = "wrong", name = "Wrong", value = "0" },
]
[[window]]
id = "second"
title = "Second"
bounds = [500, 60, 200, 200]
children = [
  { role = "text", id = "far", name = "Far", value = "0" },
  { role = "button", id = "touch", name = "Touch" },
]
[[window]]
id = "popup"
title = "Popup"
role = "dialog"
open = false
bounds = [400, 400, 200, 150]
children = [{ role = "button", id = "yes", name = "Yes" }]

[[rule]]
on = "press:come"
do = [{ open = "popup" }, { set = "state", text = "open" }]
[[rule]]
on = "press:leave"
do = [{ close = "popup" }, { set = "state", text = "closed" }]
[[rule]]
on = "press:go"
when = { widget = "state", value = "closed" }
do = [{ increase = "right" }]
[[rule]]
on = "press:go"
when = { widget = "state", value = "open" }
do = [{ increase = "wrong" }]
[[rule]]
on = "press:touch"
do = [{ increase = "far" }]
"#;

fn racer() -> (Daemon, Raw) {
    let daemon = Setup::new().app(RACER).start();
    let client = daemon.client();
    (daemon, client)
}

/// Looks; the clock of what was seen.
fn look(client: &mut Raw) -> Value {
    client.ok("snapshot", json!({ "app": "Racer", "sync": true }))["clock"].clone()
}

fn go(since: &Value) -> Value {
    json!({ "target": "button:Go", "app": "Racer", "if_since": since, "settle_ms": 0, "no_effects": true })
}

fn number(client: &mut Raw, name: &str) -> u32 {
    look(client);
    let node = client.data("get", json!({ "target": format!("text:{name}"), "app": "Racer" }))["node"].take();
    node["value"].as_str().expect("a value").parse().expect("a number")
}

#[test]
fn of_ten_thousand_clicks_none_is_made_after_a_popup_that_was_not_looked_at() {
    let (daemon, mut client) = racer();
    let mut person = daemon.client();
    let (mut done, mut refused, mut at_once) = (0, 0, 0);
    for round in 0..10_000 {
        let since = look(&mut client);
        let comes = round % 3 != 0;
        let announced = comes && round % 3 == 1;
        if announced {
            person.sim("Racer", &["press", "come"]);
        }
        // Else the popup comes while the click is on its way: then the app may get it before or after, and nobody can tell which
        // comes first.
        let coming = (comes && !announced)
            .then(|| person.begin("sim", json!({ "app": "Racer", "verb": "press", "target": "come" })));
        let answer = client.ask("click", go(&since));
        if let Some(id) = coming {
            assert_eq!(person.answer(id)["ok"], true);
        }
        match answer["ok"].as_bool() {
            Some(true) => {
                assert!(!announced, "round {round}: {answer}");
                done += 1;
                at_once += u32::from(comes);
            }
            _ => {
                let error = &answer["error"];
                assert_eq!((&error["code"], comes), (&json!("CHANGED"), true), "round {round}: {answer}");
                assert_eq!(error["disposition"]["delivery"], "not_delivered", "{answer}");
                refused += 1;
            }
        }
        if comes {
            person.sim("Racer", &["press", "leave"]);
        }
    }
    let (right, wrong) = (number(&mut client, "Right"), number(&mut client, "Wrong"));
    assert_eq!(right + wrong, done, "{right} right, {wrong} wrong, {refused} refused");
    assert!(wrong <= at_once, "{wrong} wrong, {at_once} were made while the popup came");
    assert!(refused >= 3_333 && done >= 3_333, "{done} done, {refused} refused");
}

#[test]
fn the_error_has_the_difference_and_its_clock_is_good_for_the_next_try() {
    let (_daemon, mut client) = racer();
    let since = look(&mut client);
    client.sim("Racer", &["press", "come"]);
    let error = client.fails("CHANGED", "click", go(&since));
    let added = &error["changed"]["added"][0]["node"];
    assert_eq!((&added["role"], &added["name"]), (&json!("dialog"), &json!("Popup")), "{error}");
    assert_eq!(error["changed"]["since"], since, "{error}");
    assert_eq!(number(&mut client, "Wrong"), 0);
    let clock = error["changed"]["clock"].clone();
    client.ok("click", go(&clock));
    assert_eq!(number(&mut client, "Wrong"), 1, "it was looked at");
}

#[test]
fn what_counts_is_the_target_its_window_or_its_app() {
    let (_daemon, mut client) = racer();
    let with = |since: &Value, scope: &str| {
        let mut args = go(since);
        args["if_scope"] = scope.into();
        args
    };
    // Something else in the window.
    let since = look(&mut client);
    client.sim("Racer", &["press", "go"]);
    client.fails("CHANGED", "click", with(&since, "window"));
    client.fails("CHANGED", "click", with(&since, "app"));
    client.ok("click", with(&since, "target"));
    // Something in another window.
    let since = look(&mut client);
    client.sim("Racer", &["press", "touch"]);
    client.fails("CHANGED", "click", with(&since, "app"));
    client.ok("click", with(&since, "window"));
    assert_eq!(number(&mut client, "Right"), 3);
}

#[test]
fn every_item_of_a_batch_is_compared_by_itself() {
    let (_daemon, mut client) = racer();
    let since = look(&mut client);
    let item = || json!({ "command": "click", "args": go(&since) });
    let batch = client.data("batch", json!({ "items": [item(), item()] }));
    assert_eq!(batch["results"][0]["ok"], true, "{batch}");
    assert_eq!(batch["results"][1]["error"]["code"], "CHANGED", "the first click changed something: {batch}");
    assert_eq!(number(&mut client, "Right"), 1);
}

#[test]
fn keys_without_a_target_are_compared_with_the_window_that_has_the_focus() {
    let (_daemon, mut client) = racer();
    let since = client.ok("snapshot", json!({ "app": "Notes", "sync": true }))["clock"].clone();
    let args = |since: &Value| json!({ "combo": "x", "app": "Notes", "if_since": since, "if_scope": "app" });
    client.sim("Notes", &["type", "body", " and more"]);
    client.fails("CHANGED", "press", args(&since));
    let since = client.ok("snapshot", json!({ "app": "Notes", "sync": true }))["clock"].clone();
    client.ok("press", args(&since));
}

#[test]
fn a_clock_that_says_nothing_compares_with_nothing() {
    let (_daemon, mut client) = racer();
    look(&mut client);
    // Of another run of the daemon: nobody knows what has changed since.
    let error = client.fails("CHANGED", "click", go(&json!("c:00000001:5")));
    assert!(error["message"].as_str().is_some_and(|text| text.contains("not known any more")), "{error}");
    client.fails("INVALID_ARGS", "click", go(&json!("yesterday")));
    let mut args = go(&json!(null));
    args["if_since"] = json!(null);
    args["if_scope"] = "app".into();
    client.fails("INVALID_ARGS", "click", args);
    assert_eq!(number(&mut client, "Right"), 0);
}
