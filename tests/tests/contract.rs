//! Which crate may know which: the table of ARCHITECTURE.md, held to what cargo says.

use std::collections::BTreeMap;
use std::process::Command;

use axd_protocol::command::ALL_NAMES;
use axd_tests::workspace;
use serde_json::Value;

/// Which crates of this project each of them may depend on, dependencies of tests and benches aside.
const MAY_DEPEND_ON: &[(&str, &[&str])] = &[
    ("axd-protocol", &[]),
    ("axd-client", &["axd-protocol"]),
    ("axd-mcp", &["axd-client", "axd-protocol"]),
    ("axd-gate", &[]),
    ("axd-tree", &["axd-protocol"]),
    ("axd-platform", &["axd-gate", "axd-protocol", "axd-tree"]),
    ("axd-linux", &["axd-platform", "axd-protocol"]),
    ("axd-macos", &["axd-platform", "axd-protocol"]),
    ("axd-sim", &["axd-platform", "axd-protocol"]),
    ("axd-service", &["axd-gate", "axd-protocol"]),
    ("axd-server", &["axd-gate", "axd-protocol", "axd-service"]),
    ("axd-policy", &["axd-protocol"]),
    ("axd-engine", &["axd-platform", "axd-policy", "axd-protocol", "axd-service", "axd-tree"]),
    (
        "axd",
        &[
            "axd-engine",
            "axd-linux",
            "axd-macos",
            "axd-platform",
            "axd-policy",
            "axd-protocol",
            "axd-server",
            "axd-service",
            "axd-sim",
        ],
    ),
    ("axd-double", &["axd", "axd-macos", "axd-platform", "axd-protocol", "axd-sim"]),
    ("axd-tests", &["axd-client", "axd-protocol"]),
    ("axd-l4", &["axd-client"]),
    ("axd-fuzz", &["axd-linux", "axd-policy", "axd-protocol", "axd-server", "axd-service", "axd-tree"]),
];

fn cargo(args: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let ran = Command::new(cargo).args(args).arg("--offline").current_dir(workspace()).output();
    let ran = ran.expect("cargo runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("text")
}

#[test]
fn a_crate_depends_only_on_those_it_may_know() {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--format-version", "1", "--no-deps"])).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let allowed: BTreeMap<&str, &[&str]> = MAY_DEPEND_ON.iter().copied().collect();
    let is_ours = |name: &str| packages.iter().any(|package| package["name"] == name);
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let allowed = allowed.get(name).unwrap_or_else(|| panic!("{name} is not in the table"));
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let other = dependency["name"].as_str().expect("a name");
            if is_ours(other) && dependency["kind"].is_null() {
                assert!(allowed.contains(&other), "{name} must not know {other}");
            }
        }
    }
    assert_eq!(packages.len(), MAY_DEPEND_ON.len(), "the table names crates that do not exist");
}

#[test]
fn every_command_has_a_struct_that_a_text_search_finds() {
    let folder = workspace().join("protocol/src/command");
    let files = std::fs::read_dir(folder).expect("the folder of the commands");
    let source: String = files
        .map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("source code"))
        .collect();
    for name in ALL_NAMES {
        let words = name.split('-').map(|word| word[..1].to_uppercase() + &word[1..]);
        let declaration = format!("\npub struct {} {{", words.collect::<String>());
        assert!(source.contains(&declaration), "{name}: there is no `{}`", declaration.trim());
    }
}

#[test]
fn the_protocol_depends_on_no_runtime_and_no_system() {
    const NONE_OF: [&str; 16] = [
        "tokio",
        "mio",
        "async-std",
        "async-io",
        "smol",
        "futures",
        "nix",
        "libc",
        "rustix",
        "zbus",
        "atspi",
        "x11rb",
        "objc2",
        "core-foundation",
        "windows-sys",
        "tracing",
    ];
    let edges = ["--edges", "normal,build", "--prefix", "none", "--no-default-features"];
    let plain = cargo(&[&["tree", "--package", "axd-protocol"][..], &edges].concat());
    assert!(plain.contains("axd-protocol") && plain.contains("serde"), "{plain}");
    for line in plain.lines() {
        let name = line.split(' ').next().unwrap_or_default();
        assert!(!NONE_OF.contains(&name), "the protocol depends on {name}");
    }
}
