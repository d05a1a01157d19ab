//! Which apps are installed: desktop entries in the data folders, and programs in `PATH`.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::launch::entry::DesktopEntry;

/// Where apps are looked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Catalog {
    /// Folders of desktop entries, the most important first.
    pub applications: Vec<PathBuf>,
    /// Folders of programs, in the order of `PATH`.
    pub programs: Vec<PathBuf>,
}

/// An installed app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InstalledApp {
    /// The name of its file without `.desktop`; a folder counts as a part of the name.
    pub id: String,
    pub file: PathBuf,
    pub entry: DesktopEntry,
}

impl Catalog {
    /// The folders that the environment names.
    pub fn from_environment(env: impl Fn(&str) -> Option<OsString>) -> Catalog {
        let set = |name: &str| env(name).filter(|value| !value.is_empty());
        let home = set("HOME").map(PathBuf::from);
        let own = set("XDG_DATA_HOME").map(PathBuf::from).or(home.map(|home| home.join(".local/share")));
        let shared = set("XDG_DATA_DIRS").unwrap_or_else(|| "/usr/local/share:/usr/share".into());
        let applications = own.into_iter().chain(std::env::split_paths(&shared));
        Catalog {
            applications: applications.map(|folder| folder.join("applications")).collect(),
            programs: set("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default(),
        }
    }

    /// Every installed app. One of a more important folder stands for those of the same id in others, and may say that
    /// there is none.
    pub fn installed(&self) -> Vec<InstalledApp> {
        let mut found: Vec<InstalledApp> = Vec::new();
        for folder in &self.applications {
            collect(folder, "", 0, &mut found);
        }
        found.retain(|app| !app.entry.hidden);
        found
    }

    /// The entries that start this program: without options of their own, or else all of them.
    pub fn entries_of_program(&self, identity: &str, executable: Option<&Path>) -> Vec<InstalledApp> {
        let fits = |app: &InstalledApp| {
            let exec = app.entry.command(&[], &app.file).ok()?;
            let program = exec.first()?;
            let base = Path::new(program).file_name()?.to_str()?;
            let fits = base == identity || self.leads_to(program, executable);
            fits.then_some(exec.len() == 1)
        };
        let fitting: Vec<(bool, InstalledApp)> =
            self.installed().into_iter().filter_map(|app| Some((fits(&app)?, app))).collect();
        let plain = fitting.iter().any(|(plain, _)| *plain);
        fitting.into_iter().filter(|(is_plain, _)| *is_plain == plain).map(|(_, app)| app).collect()
    }

    /// Whether a program is a link to the executable, or to a script beside it that starts it, as LibreOffice's is.
    fn leads_to(&self, program: &str, executable: Option<&Path>) -> bool {
        let (Some(file), Some(executable)) = (self.program(program), executable) else { return false };
        let Ok(file) = file.canonicalize() else { return false };
        let is_link = self.program(program).is_some_and(|path| path != file);
        file == executable
            || is_link && file.parent() == executable.parent() && file.file_stem() == executable.file_stem()
    }

    /// The program that a name means: a path, or one in `PATH`.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        if name.contains('/') {
            return Some(PathBuf::from(name)).filter(|path| is_program(path));
        }
        self.programs.iter().map(|folder| folder.join(name)).find(|path| is_program(path))
    }

    /// Names of apps and programs that are like this one.
    pub fn similar_names(&self, name: &str, installed: &[InstalledApp]) -> Vec<String> {
        let wanted = name.to_lowercase();
        let shown = installed.iter().filter(|app| !app.entry.no_display);
        let apps = shown.filter_map(|app| app.entry.names.first().cloned().or(Some(app.id.clone())));
        let programs = self.programs.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
        let programs = programs.flatten().filter_map(|file| file.file_name().into_string().ok());
        let mut near: Vec<(usize, String)> = apps
            .chain(programs)
            .filter_map(|other| Some((name_distance(&wanted, &other.to_lowercase())?, other)))
            .collect();
        near.sort();
        // An app comes before its program of the same name, and the program is left out.
        let mut names: Vec<String> = Vec::new();
        for (_, name) in near {
            if names.iter().all(|known| known.to_lowercase() != name.to_lowercase()) {
                names.push(name);
            }
        }
        names.truncate(5);
        names
    }
}

/// Adds the desktop files of a folder and of those in it.
fn collect(folder: &Path, prefix: &str, depth: u8, found: &mut Vec<InstalledApp>) {
    const MAX_DEPTH: u8 = 4;
    let Ok(files) = std::fs::read_dir(folder) else { return };
    for file in files.flatten() {
        let (path, Ok(name)) = (file.path(), file.file_name().into_string()) else { continue };
        if let Some(stem) = name.strip_suffix(".desktop") {
            let id = format!("{prefix}{stem}");
            if found.iter().all(|known| known.id != id)
                && let Some(entry) = read(&path)
            {
                found.push(InstalledApp { id, file: path, entry });
            }
        } else if depth < MAX_DEPTH && path.is_dir() {
            collect(&path, &format!("{prefix}{name}-"), depth + 1, found);
        }
    }
}

/// Reads a desktop file.
pub(super) fn read(path: &Path) -> Option<DesktopEntry> {
    DesktopEntry::parse(&String::from_utf8_lossy(&std::fs::read(path).ok()?))
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// The distance between two names; `None` if it is too large for one to be meant by the other.
fn name_distance(wanted: &str, other: &str) -> Option<usize> {
    let contained =
        wanted.chars().count() >= 3 && (other.contains(wanted) || wanted.contains(other) && other.len() >= 4);
    let steps = edit_distance(wanted, other);
    let most = (wanted.chars().count() / 3).clamp(1, 3);
    match (steps <= most, contained) {
        (true, _) => Some(steps),
        (false, true) => Some(10 + steps),
        (false, false) => None,
    }
}

/// The Levenshtein distance between two words.
fn edit_distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, left) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, right) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(left != *right);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn nearer_folders_win_and_may_remove_an_app() {
        let folder = tempfile::tempdir().unwrap();
        let (own, shared) =
            (folder.path().join("own/applications"), folder.path().join("shared/applications"));
        let app = |name: &str| format!("[Desktop Entry]\nType=Application\nName={name}\nExec=x\n");
        write(&own.join("a.desktop"), &app("Mine"));
        write(&own.join("b.desktop"), "[Desktop Entry]\nType=Application\nHidden=true\n");
        write(&shared.join("a.desktop"), &app("Theirs"));
        write(&shared.join("b.desktop"), &app("Removed"));
        write(&shared.join("kde/c.desktop"), &app("Deep"));
        let catalog = Catalog::from_environment(|name| match name {
            "XDG_DATA_HOME" => Some(folder.path().join("own").into()),
            "XDG_DATA_DIRS" => Some(folder.path().join("shared").into()),
            _ => None,
        });
        let mut seen: Vec<_> = catalog.installed().into_iter().map(|app| (app.id, app.entry.names)).collect();
        seen.sort();
        assert_eq!(seen, [("a".into(), vec!["Mine".to_owned()]), ("kde-c".into(), vec!["Deep".to_owned()])]);
    }

    #[test]
    fn a_running_program_is_found_among_the_entries() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        let entry =
            |name: &str, exec: &str| format!("[Desktop Entry]\nType=Application\nName={name}\nExec={exec}\n");
        for (id, name, exec) in [
            ("org.gnome.gedit", "Text Editor", "gedit %U"),
            ("gedit-new", "New Window", "gedit --new-window"),
            ("office", "Office", "office %U"),
            ("only", "With options", "/opt/tool --gui"),
        ] {
            write(&at(&format!("share/applications/{id}.desktop")), &entry(name, exec));
        }
        for program in ["lib/soffice", "lib/soffice.bin"] {
            write(&at(program), "#!/bin/sh\n");
            std::fs::set_permissions(at(program), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        std::fs::create_dir(at("bin")).unwrap();
        std::os::unix::fs::symlink(at("lib/soffice"), at("bin/office")).unwrap();
        let catalog = Catalog { applications: vec![at("share/applications")], programs: vec![at("bin")] };
        let ids = |identity: &str, executable: &str| {
            let found = catalog
                .entries_of_program(identity, Some(&at(executable).canonicalize().unwrap_or_default()));
            found.into_iter().map(|app| app.id).collect::<Vec<_>>()
        };
        assert_eq!(ids("gedit", ""), ["org.gnome.gedit"]);
        assert_eq!(ids("tool", ""), ["only"]);
        assert_eq!(ids("soffice.bin", "lib/soffice.bin"), ["office"]);
        assert!(ids("other", "").is_empty());
    }

    #[test]
    fn programs_are_files_that_can_be_run() {
        let folder = tempfile::tempdir().unwrap();
        let (tool, text) = (folder.path().join("tool"), folder.path().join("text"));
        write(&tool, "#!/bin/sh\n");
        write(&text, "");
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
        let catalog = Catalog { programs: vec![folder.path().to_owned()], ..Catalog::default() };
        assert_eq!(catalog.program("tool"), Some(tool.clone()));
        assert_eq!(catalog.program("text"), None);
        assert_eq!(catalog.program(tool.to_str().unwrap()), Some(tool));
        assert_eq!(catalog.similar_names("tol", &[]), ["tool"]);
        assert!(catalog.similar_names("quite different", &[]).is_empty());
    }

    #[test]
    fn steps_between_words_are_counted() {
        assert_eq!(
            (edit_distance("mousepad", "mouspad"), edit_distance("abc", "abc"), edit_distance("", "ab")),
            (1, 0, 2)
        );
        assert_eq!(name_distance("calc", "gnome-calculator"), Some(10 + 12));
    }
}
