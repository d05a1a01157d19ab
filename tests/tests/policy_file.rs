//! The policy file, from its text to what is done and what is told.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use axd_tests::{Ax, Daemon, Raw, Setup, folder, workspace};
use serde_json::{Value, json};

const DENY_SEVEN: &str = r#"
[[rule]]
name = "no sevens"
verdict = "deny"
reason = "sevens are for people"
commands = ["@acts"]
names = ["7"]
"#;

fn click(key: &str) -> Value {
    json!({ "target": format!("button:{key}"), "app": "Calculator", "settle_ms": 0 })
}

/// Waits until so many versions of the file have been in force, or one is broken.
fn wait_for(client: &mut Raw, holds: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..20_000 {
        let shown = client.data("policy-show", json!({}));
        if holds(&shown) {
            return shown;
        }
        std::thread::yield_now();
    }
    panic!("the policy does not change");
}

#[test]
fn what_the_file_denies_is_refused_with_its_reason_and_what_it_no_longer_denies_is_done() {
    let daemon = Setup::new().policy(DENY_SEVEN).start();
    let mut client = daemon.client();
    let error = client.fails("POLICY_DENIED", "click", click("7"));
    assert_eq!(error["message"], "sevens are for people (no sevens)");
    assert_eq!(error["disposition"]["delivery"], "not_delivered");
    client.ok("click", click("8"));
    daemon.write_policy(&DENY_SEVEN.replace("\"7\"", "\"8\""));
    wait_for(&mut client, |shown| shown["versions"] == 2);
    client.ok("click", click("7"));
    client.fails("POLICY_DENIED", "click", click("8"));
    let audit = daemon.ax(&["audit", "show", "--json"]).env("AXD_STATE", &daemon.state).run().exits(0);
    let lines = audit.json()["data"]["lines"].clone();
    let rules: Vec<&Value> = lines.as_array().expect("lines").iter().map(|line| &line["rule"]).collect();
    assert_eq!(rules.iter().filter(|rule| ***rule == "no sevens").count(), 2, "{lines}");
}

#[test]
fn a_file_that_breaks_stays_in_force_as_it_was_and_status_doctor_and_show_tell_it() {
    let daemon = Setup::new().policy(DENY_SEVEN).start();
    let mut client = daemon.client();
    daemon.write_policy("[[rule]]\nverdict = \"dney\"\n");
    let shown = wait_for(&mut client, |shown| !shown["error"].is_null());
    assert!(shown["error"].as_str().is_some_and(|error| error.starts_with("line 2: `verdict` must be")));
    assert_eq!((&shown["in_force"], &shown["file_rules"][0]["name"]), (&json!(true), &json!("no sevens")));
    client.fails("POLICY_DENIED", "click", click("7"));
    client.ok("click", click("8"));
    let status = client.data("status", json!({}));
    assert_eq!(status["policy"]["error"], shown["error"]);
    let doctor = client.data("doctor", json!({}));
    let check = doctor["checks"].as_array().expect("checks").iter().find(|check| check["what"] == "policy");
    assert_eq!(check.expect("it is checked")["verdict"], "limited", "{doctor}");
    let text = daemon.ax(&["policy", "show", "--text"]).run().exits(0).out;
    assert!(text.contains("the last correct version is in force (1 rule)"), "{text}");
}

#[test]
fn a_file_that_is_named_and_missing_lets_nothing_act_until_it_is_there() {
    let place = folder();
    let path = place.path().join("no.toml");
    let daemon = Setup::new().args(&["--config", path.to_str().expect("a path")]).start();
    let mut client = daemon.client();
    let error = client.fails("POLICY_DENIED", "click", click("7"));
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("it does not exist (policy-unreadable)"), "{message}");
    client.ok("snapshot", json!({ "app": "Calculator" }));
    assert_eq!(client.data("policy-show", json!({}))["refuses"], true);
    assert_eq!(client.data("doctor", json!({}))["healthy"], false);
    fs::write(&path, "").expect("it can be written");
    fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("it is ours");
    wait_for(&mut client, |shown| shown["in_force"] == true);
    client.ok("click", click("7"));
}

#[test]
fn where_only_reading_is_allowed_everything_else_is_refused() {
    let daemon = Setup::new().policy("mode = \"observe-only\"").start();
    let mut client = daemon.client();
    for (command, args) in [
        ("click", click("7")),
        ("launch", json!({ "app": "Notes" })),
        ("clipboard-set", json!({ "text": "x" })),
        ("press", json!({ "combo": "a" })),
    ] {
        let error = client.fails("POLICY_DENIED", command, args);
        assert!(
            error["message"].as_str().is_some_and(|message| message.ends_with("(observe-only)")),
            "{error}"
        );
    }
    client.ok("key-up", json!({ "combo": "a" }));
    client.ok("find", json!({ "selector": "button:7", "app": "Calculator" }));
    let items = json!([{ "command": "get", "args": { "target": "button:7", "app": "Calculator" } }]);
    assert_eq!(client.data("batch", json!({ "items": items }))["succeeded"], 1);
}

#[test]
fn what_would_be_decided_is_told_without_doing_it() {
    let daemon = Setup::new().policy(DENY_SEVEN).start();
    let check = |line: &str, more: &[&str]| {
        let words = [&["policy", "check", line, "--json"], more].concat();
        daemon.ax(&words).run().exits(0).json()["data"].clone()
    };
    let denied = check("click button:7 --app Calculator", &[]);
    assert_eq!(
        (&denied["verdict"], &denied["rule"], &denied["line"]),
        (&json!("deny"), &json!("no sevens"), &json!(2))
    );
    assert_eq!((&denied["app"], &denied["element"]["name"]), (&json!("Calculator"), &json!("7")));
    let allowed = check("click button:8 --app Calculator", &[]);
    assert_eq!((&allowed["verdict"], &allowed["rule"]), (&json!("allow"), &json!("default")));
    let blocked = check("click button:8 --app Calculator", &["--window", "My passwords"]);
    assert_eq!((&blocked["verdict"], &blocked["rule"]), (&json!("deny"), &json!("blocked-window")));
    let missing = check("click button:99 --app Calculator", &[]);
    assert!(missing["not_found"].as_str().is_some_and(|why| why.contains("button:99")), "{missing}");
    assert_eq!(missing["unknown"], json!(["window", "element"]));
    assert!(
        missing["possible"]
            .as_array()
            .is_some_and(|rules| rules.iter().any(|rule| rule["rule"] == "no sevens"))
    );
    assert_eq!(check("press ctrl+q", &[])["rule"], "blocked-shortcut");
    assert_eq!(check("snapshot", &[])["verdict"], "allow");
    let mut client = daemon.client();
    let value = client
        .data("get", json!({ "target": "textfield:Display", "app": "Calculator", "property": ["value"] }));
    assert_eq!(value["node"]["value"], "0", "nothing was pressed");
    daemon.ax(&["policy", "check", "clik x", "--text"]).run().exits(2);
    daemon.ax(&["policy", "check", "--text"]).run().exits(2);
    client.fails("INVALID_ARGS", "policy-check", json!({ "request": { "command": "clik" } }));
}

#[test]
fn a_client_that_may_not_read_an_app_learns_nothing_of_it_by_asking_what_is_allowed() {
    let rule =
        "[[rule]]\nname = \"closed\"\nverdict = \"deny\"\ncommands = [\"@reads\"]\napps = [\"Calculator\"]\n";
    let daemon = Setup::new().policy(rule).start();
    let mut client = daemon.client();
    let request = |target: &str| json!({ "request": { "command": "click", "args": { "target": target, "app": "Calculator" } } });
    let there = client.data("policy-check", request("button:7"));
    let missing = client.data("policy-check", request("button:99"));
    assert_eq!(there, missing);
    assert_eq!(there["element"], Value::Null);
}

#[test]
fn a_file_is_tested_without_a_daemon_and_all_errors_have_their_lines() {
    let place = folder();
    let path = place.path().join("policy.toml");
    let file = path.to_str().expect("a path");
    fs::write(&path, "default = \"maybe\"\n\n[[rule]]\nverdict = \"deny\"\ncommands = [\"clik\"]\n")
        .expect("a file");
    fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("it is ours");
    let ran = Ax::new(&["policy", "test", file, "--text"]).run().exits(2);
    assert!(ran.out.contains(&format!("{file}:1: `default` must be")), "{ran:?}");
    assert!(
        ran.out.contains(&format!("{file}:5: there is no command 'clik'; did you mean click?")),
        "{ran:?}"
    );
    let ran = Ax::new(&["policy", "test", file, "--json"]).run().exits(2);
    assert_eq!(ran.json()["data"]["errors"][1]["line"], 5);
    fs::write(&path, DENY_SEVEN).expect("a file");
    let ran = Ax::new(&["policy", "test", file, "--text"]).run().exits(0);
    assert_eq!(ran.out, format!("{file} is correct (1 rule)\n"));
    // The file that a daemon would read.
    Ax::new(&["policy", "test", "--text"]).env("AXD_CONFIG", file).run().exits(0);
    Ax::new(&["policy", "test", "/no/such/file", "--text"]).run().exits(2);
}

#[test]
fn the_example_of_the_documentation_is_correct() {
    let page = fs::read_to_string(workspace().join("docs/policy.md")).expect("the page");
    let example =
        page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    assert!(example.lines().count() > 40, "it shows everything");
    let place = folder();
    let path = place.path().join("policy.toml");
    fs::write(&path, example).expect("a file");
    fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("it is ours");
    let ran = Ax::new(&["policy", "test", path.to_str().expect("a path"), "--text"]).run();
    assert_eq!((ran.code, &*ran.err), (0, ""), "{}", ran.out);
}

#[test]
fn a_daemon_reads_the_usual_file_and_one_that_is_missing_means_the_built_in_rules() {
    let daemon = Daemon::start();
    let shown = daemon.client().data("policy-show", json!({}));
    assert_eq!(
        (&shown["in_force"], &shown["rules"], &shown["default"]),
        (&json!(true), &json!(0), &json!("allow"))
    );
    assert_eq!(shown["blocked_windows"], json!(["*Password*", "*Banking*"]));
}
