//! What answers cost in tokens, and that the cheap ones are enough: a copy of a tree that is fed from the answers of actions alone is
//! the tree.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use axd_protocol::Replica;
use axd_protocol::command::ActAnswer;
use axd_tests::{Daemon, Raw, Setup, ax, fresh};
use serde_json::{Value, json};

/// What a click with a small effect may cost.
const CLICK_TOKENS: usize = 150;
/// What part of a whole tree an answer may cost.
const PART_OF_TREE: usize = 4;
/// How many steps the form takes.
const STEPS: usize = 30;

fn tokens(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}

/// What can be done to the form, in any order.
fn deeds() -> Vec<(&'static str, Value)> {
    let on = |target: &str| json!({ "target": target });
    let set = |target: &str, value: &str| json!({ "target": target, "value": value });
    vec![
        ("set-value", set("textfield:Name", "Ada Lovelace")),
        ("set-value", set("textfield:Name", "Grace Hopper")),
        ("type", json!({ "target": "textfield:Email", "text": "a" })),
        ("clear", on("textfield:Email")),
        ("type", json!({ "target": "textfield:Password", "text": "s" })),
        ("select", json!({ "target": "combobox:Country", "item": "Japan" })),
        ("select", json!({ "target": "combobox:Country", "item": "Kenya" })),
        ("set-value", set("spinbutton:Guests", "3")),
        ("set-value", set("slider", "7")),
        ("set-value", set("slider", "2")),
        ("click", on("radio:Pro")),
        ("click", on("radio:Free")),
        ("toggle", on("checkbox:\"Send me the newsletter\"")),
        ("toggle", on("switch:\"Remind me\"")),
        ("toggle", on("checkbox:\"I agree to the terms\"")),
        ("type", json!({ "target": "textarea", "text": "more\n" })),
        ("focus", on("textfield:Email")),
        ("click", on("button:Clear")),
        ("click", on("button:Help")),
        ("click", on("dialog:Help button:Close")),
    ]
}

/// A form as long as its steps: in each part a text, a field, a check box and a slider; and a list that grows and shrinks.
fn long_form() -> String {
    let part = |n: usize| {
        format!(
            r#"{{ role = "group", id = "part-{n}", name = "Part {n}", children = [
  {{ role = "text", id = "hint-{n}", name = "What to say about {n}" }},
  {{ role = "textfield", id = "field-{n}", name = "Answer {n}" }},
  {{ role = "checkbox", id = "check-{n}", name = "Sure of {n}" }},
  {{ role = "slider", id = "slider-{n}", name = "Weight of {n}", value = "50" }},
] }}"#
        )
    };
    let parts: Vec<String> = (1..=STEPS).map(part).collect();
    format!(
        r#"
name = "Long"
identity = "test.long"
[[window]]
id = "main"
title = "Long"
children = [
  {{ role = "button", id = "more", name = "More" }},
  {{ role = "list", id = "rows", name = "Rows" }},
  {}
]
[template.row]
role = "listitem"
name = "Row {{n}}"
[[rule]]
on = "press:more"
do = [{{ add = "row", into = "rows", index = 0 }}]
"#,
        parts.join(",\n  ")
    )
}

/// What can be done to the long form, in any order.
fn long_deeds() -> Vec<(&'static str, Value)> {
    let of_part = |n: usize| {
        [
            (
                "set-value",
                json!({ "target": format!("textfield:'Answer {n}'"), "value": format!("{n} and more") }),
            ),
            ("toggle", json!({ "target": format!("checkbox:'Sure of {n}'") })),
            ("set-value", json!({ "target": format!("slider:'Weight of {n}'"), "value": n.to_string() })),
        ]
    };
    let more = ("click", json!({ "target": "button:More" }));
    (1..=STEPS).flat_map(of_part).chain([more]).collect()
}

/// Does something to an app; the answer as it came, or nothing if the app is not ready for it.
fn done(client: &mut Raw, app: &str, command: &str, mut args: Value) -> Option<(ActAnswer, String)> {
    args["app"] = app.into();
    let answer = client.ask(command, args);
    let read = || serde_json::from_value(answer["data"].clone()).expect("the answer of an action");
    (answer["ok"] == true).then(|| (read(), answer.to_string()))
}

/// Does things in an order that depends on the seed, feeds a copy from the answers alone, and compares it with the tree after every
/// step. Returns the tokens of the longest answer, and of the whole tree.
fn fed_from_answers(app: &str, deeds: &[(&'static str, Value)], seed: usize) -> (usize, usize) {
    let daemon = Setup::new().app(long_form()).start();
    let mut client = daemon.client();
    // The whole tree as it is told to a copy that knows nothing: answer against answer.
    client.ok("attach", json!({ "app": app }));
    let whole = client.ask("changes", json!({ "since": "c:00000001:1", "app": app }));
    assert_eq!(whole["data"]["apps"][0]["fresh"], true, "{whole}");
    let mut copy = Replica::new(fresh(&daemon, app));
    let (mut next, mut steps, mut longest) = (seed, 0, 0);
    while steps < STEPS {
        // Numbers that differ for each seed (a linear congruential generator).
        next = (next * 1_103_515_245 + 12_345) % 2_147_483_648;
        let (command, args) = deeds[(next >> 8) % deeds.len()].clone();
        let Some((answer, line)) = done(&mut client, app, command, args.clone()) else { continue };
        steps += 1;
        let effects = answer.effects.expect("effects");
        copy.apply(effects.difference).unwrap_or_else(|misfit| panic!("seed {seed}, {args}: {misfit}"));
        assert_eq!(copy.tree(), fresh(&daemon, app), "seed {seed}, step {steps}: {command} {args}");
        longest = longest.max(tokens(&line));
    }
    (longest, tokens(&whole.to_string()))
}

#[test]
fn a_copy_that_is_fed_from_the_answers_of_a_form_is_the_tree_after_every_step() {
    for seed in 1..=4 {
        fed_from_answers("Form", &deeds(), seed);
    }
}

#[test]
fn the_answers_of_a_long_form_keep_a_copy_for_a_quarter_of_its_tree_at_most() {
    for seed in 1..=3 {
        let (longest, whole) = fed_from_answers("Long", &long_deeds(), seed);
        assert!(PART_OF_TREE * longest <= whole, "{longest} of {whole} tokens");
    }
}

#[test]
fn a_click_with_a_small_effect_costs_few_tokens_on_the_command_line() {
    let daemon = Daemon::start();
    let click = |words: &[&str]| daemon.ax(&[words, &["--text"]].concat()).run().exits(0).out;
    for words in [
        &["click", "button:7", "--app", "Calculator"][..],
        &["click", "tab:Account", "--app", "Settings"],
        &["click", "radio:Pro", "--app", "Form"],
        &["click", "menu:File", "--app", "Notes"],
        &["click", "button:Help", "--app", "Form"],
    ] {
        let out = click(words);
        assert!(tokens(&out) <= CLICK_TOKENS, "{} tokens: {out}", tokens(&out));
    }
}

#[test]
fn a_click_with_a_small_effect_costs_few_tokens_over_mcp() {
    let daemon = Daemon::start();
    let mut server = Command::new(ax())
        .arg("mcp")
        .env("AXD_SOCKET", &daemon.socket)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the server");
    let mut input = server.stdin.take().expect("its input");
    let mut lines = BufReader::new(server.stdout.take().expect("its output")).lines();
    let mut send = |message: Value| writeln!(input, "{message}").expect("it listens");
    let mut answer = |id: u64| loop {
        let line = lines.next().expect("an answer").expect("a line");
        let message: Value = serde_json::from_str(&line).expect("JSON");
        if message["id"] == id {
            break message["result"].clone();
        }
    };
    let client = json!({ "name": "test", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    send(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }));
    answer(1);
    send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let mut call = |id: u64, tool: &str, args: Value| {
        let params = json!({ "name": tool, "arguments": args });
        send(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
        let result = answer(id);
        assert_ne!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().expect("text").to_owned()
    };
    let looked = call(2, "look", json!({ "app": "Form" }));
    assert!(looked.contains("textfield \"Name\"") && !looked.contains("Austria"), "{looked}");
    for (id, target) in [(3, "radio:Pro"), (4, "checkbox:\"Send me the newsletter\""), (5, "button:Help")] {
        let text = call(id, "act", json!({ "verb": "click", "target": target, "app": "Form" }));
        assert!(text.contains("\n~ ") || text.contains("\n+ "), "{text}");
        assert!(tokens(&text) <= CLICK_TOKENS, "{} tokens: {text}", tokens(&text));
    }
    drop(input);
    server.wait().expect("it ends with its input");
}
