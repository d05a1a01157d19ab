//! The way to a file: every name that is looked up in some folder until the file is reached, through all links.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The most links that are followed, as the kernel has it.
const MAX_LINKS: usize = 40;

/// A name in a folder, on which it depends what a path leads to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    /// The folder, of which no part is a link.
    pub folder: PathBuf,
    /// The name in it.
    pub name: OsString,
    /// Whether it is the file itself, and not a link or folder on the way to it.
    pub is_file: bool,
}

/// The steps to a file. If it does not exist, they end with the first name that does not.
pub(super) fn steps(path: &Path) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest: VecDeque<OsString> = parts(path);
    let mut folder = PathBuf::from("/");
    let mut links = 0;
    while let Some(name) = rest.pop_front() {
        if name == OsStr::new("/") {
            folder = PathBuf::from("/");
            continue;
        }
        if name == OsStr::new("..") {
            folder.pop();
            continue;
        }
        let place = folder.join(&name);
        let kind = fs::symlink_metadata(&place).map(|metadata| metadata.file_type());
        let is_link = kind.as_ref().is_ok_and(|kind| kind.is_symlink());
        steps.push(Step { folder: folder.clone(), name, is_file: rest.is_empty() && !is_link });
        match kind {
            Ok(kind) if kind.is_symlink() => {
                links += 1;
                let Ok(target) = fs::read_link(&place) else { break };
                if links > MAX_LINKS {
                    break;
                }
                for part in parts(&target).into_iter().rev() {
                    rest.push_front(part);
                }
            }
            Ok(kind) if kind.is_dir() => folder = place,
            _ => break,
        }
    }
    steps
}

/// The parts of a path, with `/` for its root.
fn parts(path: &Path) -> VecDeque<OsString> {
    let is_part = |part: &Component<'_>| !matches!(part, Component::CurDir | Component::Prefix(_));
    path.components().filter(is_part).map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_folder_in_which_a_name_is_looked_up_is_on_the_way() {
        let place = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(place.path()).unwrap();
        fs::create_dir_all(root.join("real/v1")).unwrap();
        fs::write(root.join("real/v1/policy.toml"), "").unwrap();
        symlink("v1", root.join("real/now")).unwrap();
        symlink(root.join("real/now"), root.join("link")).unwrap();
        symlink("../real/v1/policy.toml", root.join("real/up")).unwrap();
        let names = |path: &str| -> Vec<(PathBuf, OsString, bool)> {
            let steps = steps(&root.join(path)).into_iter();
            let within = steps.filter(|step| step.folder.starts_with(&root));
            within.map(|step| (step.folder, step.name, step.is_file)).collect()
        };
        let step = |folder: &str, name: &str, is_file| {
            (root.join(folder).components().collect(), OsString::from(name), is_file)
        };
        assert_eq!(
            names("link/policy.toml"),
            [
                step("", "link", false),
                step("", "real", false),
                step("real", "now", false),
                step("real", "v1", false),
                step("real/v1", "policy.toml", true),
            ]
        );
        assert_eq!(
            names("real/up")[1..],
            [
                step("real", "up", false),
                step("", "real", false),
                step("real", "v1", false),
                step("real/v1", "policy.toml", true),
            ]
        );
        assert_eq!(names("none/axd/policy.toml"), [step("", "none", false)]);
        assert_eq!(names("none"), [step("", "none", true)]);
    }

    #[test]
    fn links_in_a_circle_have_an_end() {
        let place = tempfile::tempdir().unwrap();
        symlink("b", place.path().join("a")).unwrap();
        symlink("a", place.path().join("b")).unwrap();
        assert!(steps(&place.path().join("a")).len() < 100);
    }
}
