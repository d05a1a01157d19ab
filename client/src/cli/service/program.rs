//! The `axd` that a service runs. It is found as for auto-start, and must still be there at the next login.

use std::path::{Path, PathBuf};

use axd_client::protocol::{Error, ErrorCode};
use axd_client::{find_daemon, is_program};

/// The absolute path of the installed `axd`. Links are not resolved, because their target may change with an update.
pub fn stable(force: bool) -> Result<PathBuf, Error> {
    let install_first = "install it first (`cargo install --path daemon`) on the PATH or beside ax, or set AXD_BIN=/path/to/axd";
    let Some(found) = find_daemon() else {
        return Err(Error::new(ErrorCode::ActionFailed, "axd not found beside ax or on the PATH")
            .suggest(install_first));
    };
    let path = std::path::absolute(&found).unwrap_or(found);
    if !is_program(&path) {
        return Err(Error::new(
            ErrorCode::ActionFailed,
            format!("{} is not an executable program", path.display()),
        )
        .suggest(install_first));
    }
    if !force && in_build_folder(&path) {
        let message =
            format!("{} is in a build folder and would be removed by the next clean", path.display());
        let suggestion = format!("{install_first}; --force uses it anyway");
        return Err(Error::new(ErrorCode::ActionFailed, message).suggest(suggestion));
    }
    Ok(path)
}

/// Whether a path, or the target of its links, is in a build folder of cargo.
fn in_build_folder(path: &Path) -> bool {
    let is_target =
        |folder: &Path| folder.file_name().is_some_and(|name| name == "target") || is_cargo_target(folder);
    let leads_to = path.canonicalize();
    [Some(path), leads_to.as_deref().ok()]
        .into_iter()
        .flatten()
        .any(|path| path.ancestors().skip(1).any(is_target))
}

/// Whether a folder is cargo's, which may have any name with `CARGO_TARGET_DIR`; cargo leaves this file in it.
fn is_cargo_target(folder: &Path) -> bool {
    folder.join(".rustc_info.json").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_folder_is_known_by_its_name_by_what_cargo_leaves_in_it_and_through_links() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for inside in ["target/debug", "elsewhere/release", "targets", "bin"] {
            std::fs::create_dir_all(root.join(inside)).unwrap();
            std::fs::write(root.join(inside).join("axd"), "").unwrap();
        }
        std::fs::write(root.join("elsewhere/.rustc_info.json"), "").unwrap();
        std::os::unix::fs::symlink(root.join("elsewhere/release/axd"), root.join("bin/linked")).unwrap();
        for (path, expected) in [
            ("target/debug/axd", true),
            ("elsewhere/release/axd", true),
            ("bin/linked", true),
            ("targets/axd", false),
            ("bin/axd", false),
            ("bin/target", false),
        ] {
            assert_eq!(in_build_folder(&root.join(path)), expected, "{path}");
        }
    }
}
