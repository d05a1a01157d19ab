//! The contract stands alone: whoever depends on it gets no runtime, no operating system and no platform with it.

use std::process::Command;

use axd_tests::workspace;

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
