//! Nothing is called absent that was not looked at: tables that show a part of their rows, and what is said of the rest.

use axd_tests::{Daemon, Setup, find, sync};
use serde_json::{Value, json};

const PLAIN: &str = r#"
name = "Long"
identity = "sim.long"

[[window]]
id = "main"
title = "Long"
bounds = [10, 10, 400, 400]
children = [
  { role = "list", id = "plain", name = "Plain", generate = { rows = 3000 } },
  { role = "button", id = "press", name = "Press" },
]
"#;

fn unread(answer: &Value) -> Vec<(&Value, &Value, &Value)> {
    let all = answer["unread"].as_array().map_or(&[][..], Vec::as_slice);
    all.iter().map(|one| (&one["name"], &one["read"], &one["total"])).collect()
}

#[test]
fn a_find_says_which_containers_it_did_not_look_through() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let files = [(&json!("Files"), &json!(20), &json!(10_000))];
    for (selector, whole) in [
        ("cell:\"File 9000\"", false),
        ("button:Save", false),
        ("window:Table cell:\"File 9000\"", false),
        ("table:Files > row:nth(9000)", false),
        // No row is one of these, or in one of these.
        ("dialog", true),
        ("window > button:Save", true),
    ] {
        let found = client.ok("find", json!({ "selector": selector, "app": "Table" }));
        let told = unread(&found["data"]);
        assert_eq!(
            (&found["data"]["count"], &found["data"]["complete"]),
            (&json!(0), &json!(whole)),
            "{selector}"
        );
        assert_eq!(told, if whole { &[][..] } else { &files[..] }, "{selector}: {found}");
    }
    let within = json!({ "selector": "listitem:Nobody", "app": "Table", "root": "list:Folders" });
    assert_eq!(client.ok("find", within)["data"]["complete"], true);
    let told = daemon.ax(&["find", "cell:\"File 9000\"", "--app", "Table", "--text"]).run();
    assert!(told.out.contains("searched 20 of 10000 rows of table \"Files\""), "{told:?}");
}

#[test]
fn what_was_not_looked_at_is_not_called_absent() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    for (command, args) in [
        ("get", json!({ "target": "cell:\"File 9000\"" })),
        ("is", json!({ "target": "cell:\"File 9000\"", "property": "enabled" })),
        ("click", json!({ "target": "cell:\"File 9000\"" })),
        ("find", json!({ "selector": "cell:\"File 9000\"", "first": true })),
        ("select", json!({ "target": "table:Files", "value": "File 9000" })),
    ] {
        let mut args = args;
        args["app"] = json!("Table");
        let error = client.fails("ELEMENT_NOT_FOUND", command, args);
        assert_eq!(unread(&error), [(&json!("Files"), &json!(20), &json!(10_000))], "{command}: {error}");
        assert!(error["suggestion"].as_str().is_some_and(|text| text.contains("scroll-to")), "{error}");
    }
    let is = json!({ "target": "cell:\"File 3\"", "property": "enabled", "app": "Table" });
    let is = client.ok("is", is);
    assert_eq!((&is["data"]["value"], &is["data"]["complete"]), (&json!(true), &json!(false)), "{is}");
    let is = client
        .ok("is", json!({ "target": "text:\"Nothing chosen\"", "property": "enabled", "app": "Table" }));
    assert_eq!(is["data"]["complete"], false, "a table may hold texts: {is}");
}

#[test]
fn a_row_that_is_scrolled_away_is_out_of_sight_and_not_gone() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let row = find(&sync(&mut client, "Table"), "table").children[0].id.to_string();
    client.sim("Table", &["scroll", "table", "5000"]);
    sync(&mut client, "Table");
    let error = client.fails("STALE_REF", "get", json!({ "target": row }));
    assert!(error["message"].as_str().is_some_and(|text| text.contains("out of view")), "{error}");
    assert_eq!(unread(&error), [(&json!("Files"), &json!(20), &json!(10_000))], "{error}");
}

#[test]
fn a_wait_for_the_end_of_something_is_not_over_because_it_is_out_of_sight() {
    let daemon = Daemon::start();
    let (mut client, mut other) = (daemon.client(), daemon.client());
    sync(&mut client, "Table");
    let wait = json!({ "gone": ["cell:\"File 3\""], "app": "Table", "timeout": 400 });
    let waiting = other.begin_wait(wait);
    client.sim("Table", &["scroll", "table", "5000"]);
    let answer = other.answer(waiting);
    assert_eq!(answer["error"]["code"], "TIMEOUT", "{answer}");
    assert_eq!(unread(&answer["error"]).len(), 1, "{answer}");
    let never = json!({ "gone": ["cell:Nobody"], "app": "Table", "timeout": 100 });
    let error = client.fails("TIMEOUT", "wait", never);
    assert_eq!(unread(&error).len(), 1, "{error}");
    // What no row can be is gone if it is not there.
    client.ok("wait", json!({ "gone": ["dialog"], "app": "Table", "timeout": 20_000 }));
}

#[test]
fn a_wait_for_the_end_of_something_is_over_when_it_was_seen_to_go_whatever_else_is_out_of_sight() {
    let daemon = Daemon::start();
    let (mut client, mut other) = (daemon.client(), daemon.client());
    sync(&mut client, "Table");
    let wait = json!({ "gone": ["text:\"Nothing chosen\""], "app": "Table", "timeout": 20_000 });
    let waiting = other.begin_wait(wait);
    client.sim("Table", &["select", "table", "3"]);
    assert_eq!(other.answer(waiting)["ok"], true, "it has another name");
}

#[test]
fn a_plain_list_of_thousands_is_kept_whole() {
    let daemon = Setup::new().app(PLAIN.to_owned()).start();
    let mut client = daemon.client();
    sync(&mut client, "Long");
    client.sim("Long", &["press", "press"]);
    sync(&mut client, "Long");
    let found =
        client.ok("find", json!({ "selector": "list:Plain > listitem", "app": "Long", "count": true }));
    assert_eq!(
        (&found["data"]["count"], &found["data"]["complete"]),
        (&json!(3000), &json!(true)),
        "{found}"
    );
}

#[test]
fn where_rows_cannot_be_asked_for_a_deep_find_says_what_it_did_not_look_at() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let deep = |selector: &str| json!({ "selector": selector, "app": "Table", "deep": true });
    let found = client.ok("find", deep("cell:\"File 9000\""));
    assert_eq!((&found["data"]["count"], &found["data"]["complete"]), (&json!(0), &json!(false)), "{found}");
    assert_eq!(unread(&found["data"]), [(&json!("Files"), &json!(20), &json!(10_000))], "{found}");
    // What is there is told with its row, as scroll-to takes it.
    let found = client.ok("find", deep("cell:\"File 3\""));
    let row = found["data"]["matches"][0]["row"].clone();
    client.ok("scroll-to", json!({ "target": "table:Files", "row": row, "app": "Table" }));
    let found = client.ok("find", json!({ "selector": "cell:\"File 3\"", "app": "Table" }));
    assert_eq!((&found["data"]["count"], &found["data"]["matches"][0]["row"]), (&json!(1), &row), "{found}");
}
