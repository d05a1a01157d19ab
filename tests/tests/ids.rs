//! Ids: they stay while the element lives, are the same again after restarts, and never come to mean something else.

use std::collections::HashMap;

use axd_protocol::{Node, NodeId};
use axd_tests::{Daemon, Raw, Setup, apps, find, ids, sync};
use serde_json::json;

const BUILT_IN: [&str; 5] = ["Calculator", "Notes", "Settings", "Table", "Paint"];

/// Two buttons that nothing tells apart, and one that stands out.
const TWINS: &str = r#"
name = "Twins"
identity = "test.twins"
[[window]]
id = "main"
title = "Twins"
children = [
  { role = "button", name = "Twin" },
  { role = "button", name = "Twin" },
  { role = "button", name = "Other" },
]
"#;

/// Ids by what the developer calls the element.
fn by_identifier(tree: &Node) -> HashMap<String, NodeId> {
    tree.walk().filter_map(|node| Some((node.identifier.clone()?, node.id))).collect()
}

fn named<'a>(tree: &'a Node, name: &str) -> Vec<&'a Node> {
    tree.walk().filter(|node| node.name.as_deref() == Some(name)).collect()
}

#[test]
fn an_id_stays_whatever_happens_to_the_element() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let calculator = by_identifier(&sync(&mut client, "Calculator"));
    let settings = by_identifier(&sync(&mut client, "Settings"));
    for fault in ["keypad history", "seven main", "history keypad", "keypad main"] {
        // Into what is below it a widget cannot go; that is refused and changes nothing.
        client
            .ask("sim", json!({ "app": "Calculator", "verb": "fault", "target": "reparent", "text": fault }));
        client.sim("Calculator", &["press", "nine"]);
        client.sim("Calculator", &["press", "equals"]);
        let now = by_identifier(&sync(&mut client, "Calculator"));
        assert!(calculator.iter().all(|(name, id)| now.get(name) == Some(id)), "{fault}");
    }
    for words in [
        &["press", "tab-account"][..],
        &["set", "user", "grace"],
        &["press", "terms"],
        &["press", "tab-general"],
        &["set", "volume", "3"],
        &["press", "apply"],
        &["fault", "reparent", "apply main"],
        &["fault", "double-parent"],
        &["heal"],
    ] {
        client.sim("Settings", words);
        let now = by_identifier(&sync(&mut client, "Settings"));
        let moved: Vec<&String> =
            settings.iter().filter(|(name, id)| now.get(*name) != Some(id)).map(|(name, _)| name).collect();
        assert!(moved.is_empty(), "{words:?}: {moved:?}");
    }
}

#[test]
fn a_sibling_that_comes_or_goes_moves_no_id() {
    let daemon = Setup::new().app(apps::mute("Drafts", "full")).start();
    let mut client = daemon.client();
    let before = sync(&mut client, "Drafts");
    client.sim("Drafts", &["press", "add"]);
    let after = sync(&mut client, "Drafts");
    assert!(ids(&before).iter().all(|id| ids(&after).contains(id)));
    client.sim("Drafts", &["press", "remove"]);
    assert_eq!(find(&sync(&mut client, "Drafts"), "second").id, find(&before, "second").id);
}

#[test]
fn ids_are_the_same_after_the_app_was_started_again() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    for app in BUILT_IN {
        let before = ids(&sync(&mut client, app));
        client.sim(app, &["restart"]);
        assert_eq!(ids(&sync(&mut client, app)), before, "{app}");
    }
}

#[test]
fn ids_are_the_same_after_the_daemon_was_started_again() {
    let mut daemon = Daemon::start();
    let read = |client: &mut Raw| BUILT_IN.map(|app| ids(&sync(client, app)));
    let before = read(&mut daemon.client());
    daemon.replace();
    let mut client = daemon.client();
    // Even before its app has been asked about, if it is the frontmost.
    let seven =
        client.data("get", json!({ "target": before[0].iter().find(|id| id.as_str().starts_with("btn_")) }));
    assert_eq!(seven["node"]["role"], "button");
    assert_eq!(read(&mut client), before);
}

#[test]
fn an_id_that_could_come_to_mean_another_goes_stale_instead() {
    let mut daemon = Setup::new().app(TWINS).start();
    let mut client = daemon.client();
    let before = sync(&mut client, "Twins");
    let (twins, other) = (named(&before, "Twin"), named(&before, "Other")[0].id);
    assert_ne!(twins[0].id, twins[1].id);
    client.sim("Twins", &["restart"]);
    let after = sync(&mut client, "Twins");
    assert_eq!(named(&after, "Other")[0].id, other);
    for twin in &twins {
        assert!(!ids(&after).contains(&twin.id));
        let error = client.fails("STALE_REF", "get", json!({ "target": twin.id, "app": "Twins" }));
        assert_eq!(error["candidates"].as_array().map(Vec::len), Some(2), "{error}");
    }
    daemon.replace();
    let mut client = daemon.client();
    let again = sync(&mut client, "Twins");
    assert_eq!(named(&again, "Other")[0].id, other);
    for twin in named(&after, "Twin") {
        client.fails("ELEMENT_NOT_FOUND", "get", json!({ "target": twin.id, "app": "Twins" }));
    }
}

#[test]
fn a_row_that_is_used_for_something_else_is_another_element() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let before = sync(&mut client, "Table");
    let rows = |tree: &Node| -> HashMap<NodeId, String> {
        let table = find(tree, "table");
        table
            .children
            .iter()
            .map(|row| (row.id, format!("{:?} {:?}", row.name, row.children.first().map(|cell| &cell.name))))
            .collect()
    };
    let mut seen = rows(&before);
    for place in ["5000", "5010", "1", "9000", "5000"] {
        client.sim("Table", &["scroll", "table", place]);
        for (id, text) in rows(&sync(&mut client, "Table")) {
            let earlier = seen.entry(id).or_insert_with(|| text.clone());
            assert_eq!(*earlier, text, "{id} at {place}");
        }
    }
}
