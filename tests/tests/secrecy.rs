//! What is typed into a secure field leaves the app by no way: no answer, no event, no log.

use axd_tests::{Daemon, Raw, Setup, sync};
use serde_json::json;

const SECRET: &str = "hunter2-\u{e9}t\u{e9}";

/// An app that tries to give a secret away.
const LEAKY: &str = r#"
name = "Leaky"
identity = "test.leaky"
[[window]]
id = "main"
title = "Leaky"
children = [
  { role = "textfield", id = "pin", name = "Pin", states = ["secure"] },
  { role = "textfield", id = "open", name = "Open", value = "nothing yet" },
  { role = "text", id = "echo", name = "Echo" },
  { role = "button", id = "hide", name = "Hide" },
]
[[rule]]
on = "change:pin"
do = [{ set = "open", text = "{text}" }, { rename = "echo", text = "{value:pin}" }, { announce = "{text}" }]
[[rule]]
on = "press:hide"
do = [{ mark = "open", state = "secure" }]
"#;

fn holds(bytes: &[u8], secret: &str) -> bool {
    // As it is written, and as JSON may escape it.
    let escaped: String = secret
        .chars()
        .map(|c| if c.is_ascii() { c.to_string() } else { format!("\\u{:04x}", c as u32) })
        .collect();
    [secret, &escaped, "hunter2"]
        .iter()
        .any(|form| bytes.windows(form.len()).any(|window| window == form.as_bytes()))
}

/// Asks for everything there is to know about an app, in every form; all that was received.
fn look_everywhere(daemon: &Daemon, client: &mut Raw, app: &str, since: &serde_json::Value) -> Vec<u8> {
    sync(client, app);
    for (command, args) in [
        ("snapshot", json!({ "app": app, "verify": true, "actions": true, "bounds": true })),
        ("snapshot", json!({ "app": app, "interactive": true })),
        ("snapshot", json!({ "app": app, "since": since })),
        ("changes", json!({ "since": since })),
        ("changes", json!({ "since": "c:00000001:1" })),
        ("find", json!({ "selector": "*[secure]", "app": app })),
        ("find", json!({ "selector": "textfield", "app": app })),
        ("get", json!({ "target": "textfield[secure]:nth(1)", "app": app })),
        (
            "get",
            json!({ "target": "textfield[secure]:nth(1)", "app": app, "property": ["value", "name", "description"] }),
        ),
        ("status", json!({})),
        ("list-windows", json!({ "app": app })),
        ("subscribe", json!({ "app": app, "snapshot": true })),
    ] {
        client.ok(command, args);
    }
    client.event_where(|event| event["event"] == "fresh");
    let mut all = client.received.clone();
    for words in [
        &["snapshot", "--app", app, "--text"][..],
        &["find", "textfield", "--app", app, "--text"],
        &["get", "textfield[secure]:nth(1)", "--app", app, "--text"],
        &["changes", "--since", "c:00000001:1", "--text"],
        &["status", "--text"],
    ] {
        let ran = daemon.ax(words).run().exits(0);
        all.extend(ran.out.into_bytes());
        all.extend(ran.err.into_bytes());
    }
    all
}

#[test]
fn what_is_typed_into_a_secure_field_is_in_no_answer_no_event_and_no_log() {
    let mut daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("subscribe", json!({ "snapshot": true }));
    sync(&mut client, "Settings");
    let since = client.ok("status", json!({}))["clock"].clone();
    client.sim("Settings", &["press", "tab-account"]);
    client.sim("Settings", &["set", "password", SECRET]);
    client.sim("Settings", &["type", "password", SECRET]);
    client.sim("Settings", &["focus", "password"]);
    sync(&mut client, "Settings");
    let focused = client.ok("focused", json!({ "app": "Settings" }));
    assert_eq!(focused["data"]["node"]["name"], "Password", "{focused}");
    let received = look_everywhere(&daemon, &mut client, "Settings", &since);
    assert!(received.len() > 10_000 && !holds(&received, SECRET));
    assert!(!holds(&received, "correct horse"), "what it held from the start");
    client.ok("shutdown", json!({}));
    assert_eq!(daemon.exit().code(), Some(0));
    let log = daemon.log();
    assert!(log.len() > 1_000 && !holds(&log, SECRET), "{}", String::from_utf8_lossy(&log));
}

#[test]
fn no_selector_finds_out_what_a_secure_field_holds() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.sim("Settings", &["press", "tab-account"]);
    client.sim("Settings", &["set", "password", SECRET]);
    sync(&mut client, "Settings");
    for filter in
        ["value^=h", "value~=unter", "value=~'h.*'", "text~=unter", "value!=x", "value=''", "value=~'.'"]
    {
        let selector = format!("textfield:Password[{filter}]");
        let with = client.ask("find", json!({ "selector": selector, "app": "Settings", "count": true }));
        // Whatever the answer, it is the same when the field holds something else.
        client.sim("Settings", &["set", "password", "something else"]);
        sync(&mut client, "Settings");
        let without = client.ask("find", json!({ "selector": selector, "app": "Settings", "count": true }));
        assert_eq!(with["data"], without["data"], "{selector}");
        client.sim("Settings", &["set", "password", SECRET]);
        sync(&mut client, "Settings");
    }
}

#[test]
fn an_app_cannot_give_a_secret_away_by_its_rules() {
    let mut daemon = Setup::new().app(LEAKY).start();
    let mut client = daemon.client();
    sync(&mut client, "Leaky");
    let since = client.ok("status", json!({}))["clock"].clone();
    client.sim("Leaky", &["set", "pin", SECRET]);
    client.sim("Leaky", &["type", "pin", SECRET]);
    let received = look_everywhere(&daemon, &mut client, "Leaky", &since);
    assert!(!holds(&received, SECRET));
    client.ok("shutdown", json!({}));
    daemon.exit();
    assert!(!holds(&daemon.log(), SECRET));
}

#[test]
fn a_field_that_becomes_secure_takes_back_what_it_held() {
    let daemon = Setup::new().app(LEAKY).start();
    let mut client = daemon.client();
    client.sim("Leaky", &["set", "open", SECRET]);
    sync(&mut client, "Leaky");
    let shown = client.data("get", json!({ "target": "textfield:Open", "app": "Leaky" }));
    assert_eq!(shown["node"]["value"], SECRET);
    let since = client.ok("status", json!({}))["clock"].clone();
    client.sim("Leaky", &["press", "hide"]);
    let mut later = daemon.client();
    let received = look_everywhere(&daemon, &mut later, "Leaky", &since);
    assert!(!holds(&received, SECRET));
    let changes = later.data("changes", json!({ "since": since, "app": "Leaky" }));
    let unset = changes["apps"][0]["changed"].as_array().is_some_and(|changed| {
        changed.iter().any(|it| it["unset"].as_array().is_some_and(|unset| unset.contains(&json!("value"))))
    });
    assert!(unset, "{changes}");
}

#[test]
fn what_is_typed_set_copied_or_waited_for_is_in_no_log_at_any_level() {
    let mut daemon = Setup::new().app(LEAKY).start();
    let mut client = daemon.client();
    sync(&mut client, "Leaky");
    // Each of its own, so that a failure says which way it went.
    let on_field = |more: serde_json::Value| {
        let mut args = json!({ "target": "textfield:Open", "app": "Leaky", "settle_ms": 0 });
        args.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        args
    };
    let requests = [
        ("type", on_field(json!({ "text": "Typed-Zyx9" }))),
        ("type", on_field(json!({ "text": "Keyed-Zyx9", "route": "input" }))),
        ("set-value", on_field(json!({ "value": "Set-Zyx9" }))),
        ("clipboard-set", json!({ "text": "Copied-Zyx9" })),
        ("clipboard-get", json!({})),
        (
            "wait",
            json!({ "target": "textfield:Open", "app": "Leaky", "value": "Awaited-Zyx9", "timeout": 1 }),
        ),
        ("find", json!({ "selector": "*[value='Sought-Zyx9']", "app": "Leaky" })),
        (
            "batch",
            json!({ "items": [{ "command": "type", "args": on_field(json!({ "text": "Batched-Zyx9" })) }] }),
        ),
        ("launch", json!({ "app": "Notes", "env": ["TOKEN=Env-Zyx9"], "args": ["-x"] })),
        // What is wrong with these is told to who sent them, and to nobody else.
        ("type", on_field(json!({ "text": "Misplaced-Zyx9", "no_such_field": "Misnamed-Zyx9" }))),
        ("type", json!({ "target": "textfield:Nowhere", "app": "Leaky", "text": "Lost-Zyx9" })),
        ("clipboard-set", json!({ "text": ["Misshaped-Zyx9"] })),
    ];
    for (command, args) in requests {
        client.ask(command, args);
    }
    client.send(b"{\"id\":1,\"command\":\"type\",\"args\":{\"text\":\"Broken-Zyx9\"\n");
    client.any_answer();
    let data = client.data("get", json!({ "target": "textfield:Open", "app": "Leaky" }));
    assert!(data.to_string().contains("Batched-Zyx9"), "it was done: {data}");
    client.ok("shutdown", json!({}));
    assert_eq!(daemon.exit().code(), Some(0));
    let log = String::from_utf8_lossy(&daemon.log()).into_owned();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "everything is logged: {log}");
    let told: Vec<&str> = log.lines().filter(|line| line.contains("Zyx9")).collect();
    assert!(told.is_empty(), "{told:#?}");
}
