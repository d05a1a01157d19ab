//! Finding `axd`: on macOS in its bundle, elsewhere as a program.
//!
//! macOS grants permissions to bundles: since 26.1 the lists in System Settings neither show nor take a bare program. So a bundle
//! is used before a program, wherever the program is.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::launchd;

/// The name of the bundle.
pub const BUNDLE: &str = "axd.app";
/// The program in the bundle.
const PROGRAM_IN_BUNDLE: &str = "Contents/MacOS/axd";

/// The path of `axd`: `AXD_BIN`, which may be a bundle; otherwise, on macOS, in `axd.app` beside the running program or in a folder
/// of applications; otherwise beside the running program, otherwise on the `PATH`.
pub fn find_daemon() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("AXD_BIN").filter(|named| !named.is_empty()) {
        return Some(program_in(PathBuf::from(named)));
    }
    let places = Places {
        own: std::env::current_exe().ok(),
        home: std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute()),
        path: std::env::var_os("PATH").unwrap_or_default(),
    };
    places.candidates(launchd::is_here()).into_iter().find(|candidate| is_program(candidate))
}

/// Whether the path is an executable file.
pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// The bundle that a program is in, if it is in one: what the user allows in System Settings.
pub fn bundle_of(program: &Path) -> Option<&Path> {
    let bundle = program.parent()?.parent()?.parent()?;
    let is_inside = program.strip_prefix(bundle).is_ok_and(|inside| inside.starts_with("Contents/MacOS"));
    (is_inside && bundle.extension() == Some(OsStr::new("app"))).then_some(bundle)
}

/// The program of a bundle; of anything else, itself.
fn program_in(path: PathBuf) -> PathBuf {
    if path.extension() == Some(OsStr::new("app")) { path.join(PROGRAM_IN_BUNDLE) } else { path }
}

/// Where `axd` may be.
struct Places {
    /// The running program.
    own: Option<PathBuf>,
    home: Option<PathBuf>,
    path: OsString,
}

impl Places {
    fn candidates(&self, in_bundles: bool) -> Vec<PathBuf> {
        let own = self.own.as_ref().and_then(|own| own.parent());
        // `ax` may be a link in a folder of programs, with the bundle beside what it leads to.
        let real = self.own.as_ref().and_then(|own| own.canonicalize().ok());
        let real = real.as_ref().and_then(|own| own.parent());
        let applications = self.home.as_ref().map(|home| home.join("Applications"));
        let bundles = [own, real, applications.as_deref(), Some(Path::new("/Applications"))]
            .into_iter()
            .flatten()
            .map(|folder| folder.join(BUNDLE).join(PROGRAM_IN_BUNDLE));
        let folders = own.map(Path::to_owned).into_iter().chain(std::env::split_paths(&self.path));
        bundles.filter(|_| in_bundles).chain(folders.map(|folder| folder.join("axd"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(own: &Path) -> Places {
        Places { own: Some(own.to_owned()), home: Some("/Users/a".into()), path: "/usr/bin:/bin".into() }
    }

    #[test]
    fn on_macos_a_bundle_comes_before_every_program() {
        let found = places(Path::new("/opt/axd/ax")).candidates(true);
        let expected = [
            "/opt/axd/axd.app/Contents/MacOS/axd",
            "/Users/a/Applications/axd.app/Contents/MacOS/axd",
            "/Applications/axd.app/Contents/MacOS/axd",
            "/opt/axd/axd",
            "/usr/bin/axd",
            "/bin/axd",
        ];
        assert_eq!(found, expected.map(PathBuf::from));
        assert_eq!(
            places(Path::new("/opt/axd/ax")).candidates(false),
            expected[3..].iter().map(PathBuf::from).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_link_to_ax_leads_to_the_bundle_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("archive")).unwrap();
        std::fs::write(root.join("archive/ax"), "").unwrap();
        std::os::unix::fs::symlink(root.join("archive/ax"), root.join("ax")).unwrap();
        let found = places(&root.join("ax")).candidates(true);
        assert_eq!(found[1], root.join("archive/axd.app/Contents/MacOS/axd"));
    }

    #[test]
    fn what_is_allowed_is_the_bundle() {
        let inside = Path::new("/Applications/axd.app/Contents/MacOS/axd");
        assert_eq!(bundle_of(inside), Some(Path::new("/Applications/axd.app")));
        for bare in ["/usr/local/bin/axd", "/a.app/Contents/Resources/axd", "/a/Contents/MacOS/axd", "axd"] {
            assert_eq!(bundle_of(Path::new(bare)), None, "{bare}");
        }
        assert_eq!(program_in("/x/axd.app".into()), Path::new("/x/axd.app/Contents/MacOS/axd"));
        assert_eq!(program_in("/x/axd".into()), Path::new("/x/axd"));
    }
}
