//! The protocol crate: it depends on no runtime, operating system or platform, and its commands are plain structs.

use std::process::Command;

use axd_protocol::command::ALL_NAMES;
use axd_tests::workspace;

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
    let tree = |args: &[&str]| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let ran = Command::new(cargo)
            .args([
                "tree",
                "--package",
                "axd-protocol",
                "--edges",
                "normal,build",
                "--prefix",
                "none",
                "--offline",
            ])
            .args(args)
            .current_dir(workspace())
            .output()
            .expect("cargo runs");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).expect("text")
    };
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
    let plain = tree(&["--no-default-features"]);
    assert!(plain.contains("axd-protocol") && plain.contains("serde"), "{plain}");
    for line in plain.lines() {
        let name = line.split(' ').next().unwrap_or_default();
        assert!(!NONE_OF.contains(&name), "the protocol depends on {name}");
    }
}
