//! Loads the scripts of the installed apps: the built-in ones, and those in files and folders that the user names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracing::warn;

use super::script::{Script, ScriptError};

/// The scripts of the apps that come with axd.
pub const BUILT_IN: [(&str, &str); 7] = [
    ("files.toml", include_str!("apps/files.toml")),
    ("form.toml", include_str!("apps/form.toml")),
    ("paint.toml", include_str!("apps/paint.toml")),
    ("table.toml", include_str!("apps/table.toml")),
    ("settings.toml", include_str!("apps/settings.toml")),
    ("notes.toml", include_str!("apps/notes.toml")),
    ("calculator.toml", include_str!("apps/calculator.toml")),
];

/// The built-in apps, and those in `paths`: script files, or folders of them. A script with an error is logged
/// and left out; one with the name of an earlier app replaces it.
pub fn load(built_in: bool, paths: &[PathBuf]) -> Vec<Arc<Script>> {
    let mut apps: Vec<Arc<Script>> = Vec::new();
    let shipped = BUILT_IN.iter().filter(|_| built_in).map(|(file, text)| Script::parse(file, text));
    let own = paths.iter().flat_map(|path| files(path)).map(|file| file.and_then(|file| Script::load(&file)));
    for script in shipped.chain(own) {
        match script {
            Ok(script) => {
                apps.retain(|app| !app.name.eq_ignore_ascii_case(&script.name));
                apps.push(Arc::new(script));
            }
            Err(error) => warn!(file = %error.file, "app script left out: {}", error.what),
        }
    }
    apps
}

/// The script files of a path: itself, or the `.toml` files of a folder, sorted by name.
fn files(path: &Path) -> Vec<Result<PathBuf, ScriptError>> {
    if !path.is_dir() {
        return vec![Ok(path.to_owned())];
    }
    match std::fs::read_dir(path) {
        Ok(entries) => {
            let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
            files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
            files.sort();
            files.into_iter().map(Ok).collect()
        }
        Err(error) => {
            let what = format!("the folder cannot be read: {error}");
            vec![Err(ScriptError { file: path.display().to_string(), what })]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_script_is_sound() {
        for (file, text) in BUILT_IN {
            Script::parse(file, text).unwrap_or_else(|error| panic!("{error}"));
        }
    }

    #[test]
    fn the_example_of_the_manual_does_what_it_says() {
        use crate::model::{Model, UserAction};
        let manual = include_str!("../../../docs/sim.md");
        let (_, rest) = manual.split_once("```toml").unwrap();
        let script = Script::parse("docs/sim.md", rest.split_once("```").unwrap().0).unwrap();
        let now = std::time::Instant::now();
        let mut shop = Model::new(Arc::new(script), 1, now);
        for id in ["more", "more", "less", "yes"] {
            shop.act(&UserAction::Press(id.to_owned()), now).unwrap();
        }
        assert_eq!(shop.windows().len(), 2);
        shop.advance(now + std::time::Duration::from_millis(300));
        assert_eq!(shop.windows().len(), 1);
        assert!(shop.find("item-1").is_some() && shop.find("item-2").is_none());
    }

    #[test]
    fn a_broken_script_is_left_out_and_the_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| std::fs::write(folder.path().join(file), text).unwrap();
        write("a.toml", "name = 'Broken'");
        write("b.toml", "name = 'Mine'\n[[window]]\nid = 'w'\ntitle = 'Mine'");
        write("c.txt", "not a script");
        let paths = [folder.path().to_owned(), folder.path().join("missing.toml")];
        let names: Vec<String> = load(false, &paths).iter().map(|app| app.name.clone()).collect();
        assert_eq!(names, ["Mine"]);
    }

    #[test]
    fn an_own_app_takes_the_place_of_a_built_in_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.toml");
        std::fs::write(&file, "name = 'notes'\nidentity = 'me'\n[[window]]\nid = 'w'\ntitle = 'N'").unwrap();
        let apps = load(true, &[file]);
        assert_eq!(apps.len(), BUILT_IN.len());
        assert_eq!(apps.last().unwrap().identity, "me");
    }
}
