//! The plugins for agents hold the guide, the server and the version of this tree.

use std::fs;

use axd_tests::{Ax, workspace};
use serde_json::{Value, json};

fn read(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap_or_else(|fault| panic!("{path}: {fault}"))
}

fn json_of(path: &str) -> Value {
    serde_json::from_str(&read(path)).unwrap_or_else(|fault| panic!("{path}: {fault}"))
}

#[test]
fn the_plugins_hold_the_guide_that_the_program_prints() {
    let guide = Ax::new(&["skills", "get"]).run().exits(0).out;
    assert_eq!(read("plugins/claude-code/skills/axd/SKILL.md"), guide);
    let (_, body) = guide.split_once("\n---\n\n").expect("a header");
    assert_eq!(read("plugins/gemini-cli/GEMINI.md"), body, "it has no header");
}

#[test]
fn the_plugins_start_the_server_of_the_same_version() {
    let server = json!({ "axd": { "command": "ax", "args": ["mcp"] } });
    assert_eq!(json_of("plugins/claude-code/.mcp.json")["mcpServers"], server);
    let extension = json_of("plugins/gemini-cli/gemini-extension.json");
    assert_eq!(extension["mcpServers"], server);
    assert!(
        workspace().join("plugins/gemini-cli").join(extension["contextFileName"].as_str().unwrap()).is_file()
    );
    let plugin = json_of("plugins/claude-code/.claude-plugin/plugin.json");
    for version in [&plugin["version"], &extension["version"]] {
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
    }
    let market = json_of(".claude-plugin/marketplace.json");
    let listed = &market["plugins"][0];
    assert_eq!(listed["name"], plugin["name"]);
    let folder = workspace().join(listed["source"].as_str().unwrap());
    assert!(folder.join(".claude-plugin/plugin.json").is_file());
}
