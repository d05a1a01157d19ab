//! Where the programs under test are: beside the test executables, in the target folder of the same profile.

use std::path::{Path, PathBuf};

/// `axd`, as it was built last.
pub fn axd() -> PathBuf {
    program("axd")
}

/// `axd-on-double`, as it was built last.
pub fn axd_on_double() -> PathBuf {
    program("axd-on-double")
}

/// `ax`, as it was built last.
pub fn ax() -> PathBuf {
    program("ax")
}

/// `ax-mcp`, as it was built last.
pub fn ax_mcp() -> PathBuf {
    program("ax-mcp")
}

/// The root of the workspace.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this crate lies in the workspace")
}

fn program(name: &str) -> PathBuf {
    // target/<profile>/deps/<test>-<hash> → target/<profile>/<name>
    let own = std::env::current_exe().expect("a process has an executable");
    let path = own.ancestors().nth(2).expect("tests run out of target/<profile>/deps").join(name);
    assert!(path.is_file(), "{} is not there: run cargo build --workspace first", path.display());
    path
}
