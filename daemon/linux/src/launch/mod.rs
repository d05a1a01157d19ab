//! Starting apps: by the name or id of a desktop entry, or as a program.
//!
//! `entry` and `environment` are pure; `catalog` knows what is installed; `spawn` starts it; `history` knows what came of it.

mod catalog;
mod entry;
mod environment;
mod history;
mod spawn;

use std::path::{Path, PathBuf};

pub(super) use self::history::LaunchHistory;

use crate::launch::catalog::{Catalog, InstalledApp};
use crate::launch::entry::DesktopEntry;
use crate::launch::history::{LaunchRecord, MARK_VARIABLE};
use crate::launch::spawn::LaunchCommand;
use crate::process;
use axd_platform::{Failure, FailureKind, Gate, LaunchPlan, Launched};

/// Starts an app, and blocks only while it is started. `ended` is called when its process has ended, with how if it
/// failed.
pub(super) fn launch(
    plan: &LaunchPlan,
    gate: &Gate,
    starts: &LaunchHistory,
    ended: impl FnOnce(u32, Option<String>) + Send + 'static,
) -> Result<Launched, Failure> {
    let mut start = resolve(plan, &Catalog::from_environment(|name| std::env::var_os(name)))?;
    start.env.push((MARK_VARIABLE.to_owned(), plan.mark.clone()));
    gate.enter()?;
    let pid = spawn::start(&start, ended)?;
    starts.remember(LaunchRecord { mark: plan.mark.clone(), pid, program: start.program.clone() });
    // One that has handed over and ended already goes by the name of its program.
    let identity = pid.and_then(process::of_process).or_else(|| name_of(&start.program));
    Ok(Launched { pid, identity })
}

/// The program that a launch of this app would start: as its entry names it, and the file behind all links.
pub(super) fn programs(app: &str) -> Vec<String> {
    let plan = LaunchPlan { app: app.to_owned(), ..LaunchPlan::default() };
    let catalog = Catalog::from_environment(|name| std::env::var_os(name));
    let Ok(start) = resolve(&plan, &catalog) else { return Vec::new() };
    let target = std::fs::canonicalize(&start.program).ok();
    let paths = [Some(start.program), target].into_iter().flatten();
    let mut programs: Vec<String> = paths.map(|path| path.to_string_lossy().into_owned()).collect();
    programs.dedup();
    programs
}

/// What the desktop entry of a running program is called: its id, the last part of that, and its names in all languages.
pub(super) fn aliases(identity: &str, executable: Option<&Path>) -> Vec<String> {
    let catalog = Catalog::from_environment(|name| std::env::var_os(name));
    let entries = catalog.entries_of_program(identity, executable);
    let mut aliases: Vec<String> = Vec::new();
    for app in entries {
        let last = app.id.rsplit('.').next().map(str::to_owned);
        for alias in [Some(app.id.clone()), last]
            .into_iter()
            .flatten()
            .chain(app.entry.names)
            .chain(app.entry.generic_names)
        {
            if !alias.is_empty() && !aliases.contains(&alias) {
                aliases.push(alias);
            }
        }
    }
    aliases
}

/// Resolves a launch plan to a command.
fn resolve(plan: &LaunchPlan, catalog: &Catalog) -> Result<LaunchCommand, Failure> {
    let name = plan.app.trim();
    if name.is_empty() {
        return Err(invalid("no app is given".to_owned()));
    }
    if let Some(cwd) = plan.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
        return Err(invalid(format!("{} is not a folder", cwd.display())));
    }
    if name.contains('/') {
        return resolve_path(Path::new(name), plan, catalog);
    }
    let installed = catalog.installed();
    if let Some(app) = find(name, &installed)? {
        return of_entry(&app.entry, &app.file, plan, catalog);
    }
    if let Some(program) = catalog.program(name) {
        return Ok(of_program(program, name, plan));
    }
    let like = catalog.similar_names(name, &installed);
    let hint = match like.is_empty() {
        true => "name an installed app, a program in PATH, or a path".to_owned(),
        false => format!("did you mean {}?", like.join(", ")),
    };
    Err(absent(format!("no app or program is called '{name}'; {hint}")))
}

fn resolve_path(path: &Path, plan: &LaunchPlan, catalog: &Catalog) -> Result<LaunchCommand, Failure> {
    if !path.exists() {
        return Err(absent(format!("{} not found", path.display())));
    }
    if path.extension().is_some_and(|extension| extension == "desktop") {
        let entry = catalog::read(path);
        let entry =
            entry.ok_or_else(|| invalid(format!("{} is not a desktop entry of an app", path.display())))?;
        return of_entry(&entry, path, plan, catalog);
    }
    match path.to_str().and_then(|text| catalog.program(text)) {
        Some(program) => Ok(of_program(program, &path.to_string_lossy(), plan)),
        None => Err(invalid(format!("{} is not an executable program", path.display()))),
    }
}

/// The installed app of this id or name.
fn find<'a>(name: &str, installed: &'a [InstalledApp]) -> Result<Option<&'a InstalledApp>, Failure> {
    let id = name.strip_suffix(".desktop").unwrap_or(name);
    if let Some(app) = installed.iter().find(|app| app.id == id) {
        return Ok(Some(app));
    }
    let by_id = installed.iter().filter(|app| app.id.to_lowercase() == id.to_lowercase());
    let mut found: Vec<&InstalledApp> = by_id.collect();
    if found.is_empty() {
        let shown = installed.iter().filter(|app| !app.entry.no_display);
        found = shown.filter(|app| app.entry.is_called(name)).collect();
    }
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        several => {
            let mut ids: Vec<&str> = several.iter().map(|app| app.id.as_str()).collect();
            ids.sort_unstable();
            Err(invalid(format!("several apps are called '{name}': {}; use the id of one", ids.join(", "))))
        }
    }
}

fn of_entry(
    entry: &DesktopEntry,
    file: &Path,
    plan: &LaunchPlan,
    catalog: &Catalog,
) -> Result<LaunchCommand, Failure> {
    let name = entry.names.first().map_or_else(|| file.display().to_string(), Clone::clone);
    if entry.terminal {
        let message = format!("{name} runs in a terminal; start a terminal and run it there");
        return Err(Failure::new(FailureKind::Refused, message));
    }
    if let Some(needed) = entry.try_exec.as_ref().filter(|program| catalog.program(program).is_none()) {
        return Err(absent(format!("{name} is not installed: {needed} not found")));
    }
    let mut line = entry
        .command(&plan.args, file)
        .map_err(|why| invalid(format!("{} cannot be used: {why}", file.display())))?;
    let program = catalog
        .program(&line[0])
        .ok_or_else(|| absent(format!("{name} is not installed: program {} not found", line[0])))?;
    environment::add_options(&program, &mut line);
    let cwd =
        plan.cwd.clone().or_else(|| entry.path.as_ref().map(PathBuf::from).filter(|path| path.is_dir()));
    Ok(LaunchCommand { program, line, env: plan.env.clone(), cwd: cwd.or_else(home) })
}

fn of_program(program: PathBuf, called: &str, plan: &LaunchPlan) -> LaunchCommand {
    let mut line = vec![called.to_owned()];
    line.extend_from_slice(&plan.args);
    environment::add_options(&program, &mut line);
    LaunchCommand { program, line, env: plan.env.clone(), cwd: plan.cwd.clone().or_else(home) }
}

/// Where an app starts if nobody says: not where axd happens to run.
fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_dir())
}

fn name_of(program: &Path) -> Option<String> {
    let program = std::fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    program.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// There is no such app.
fn absent(message: String) -> Failure {
    Failure::new(FailureKind::Gone, message)
}

fn invalid(message: String) -> Failure {
    Failure::new(FailureKind::Invalid, message)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A catalog with programs `tool` and `chromium`, and these entries.
    fn catalog(folder: &Path, entries: &[(&str, &str)]) -> Catalog {
        let (programs, applications) = (folder.join("bin"), folder.join("applications"));
        std::fs::create_dir_all(&programs).unwrap();
        std::fs::create_dir_all(&applications).unwrap();
        for name in ["tool", "chromium"] {
            let path = programs.join(name);
            std::fs::write(&path, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        for (id, lines) in entries {
            let text = format!("[Desktop Entry]\nType=Application\n{lines}\n");
            std::fs::write(applications.join(format!("{id}.desktop")), text).unwrap();
        }
        Catalog { applications: vec![applications], programs: vec![programs] }
    }

    fn plan(app: &str, args: &[&str]) -> LaunchPlan {
        let args = args.iter().map(|word| (*word).to_owned()).collect();
        LaunchPlan { app: app.to_owned(), args, ..LaunchPlan::default() }
    }

    const ENTRIES: [(&str, &str); 6] = [
        ("org.x.Tool", "Name=The Tool\nExec=tool --new %U"),
        ("web", "Name=Web\nExec=chromium %U"),
        ("one", "Name=Same\nExec=tool"),
        ("two", "Name=Same\nExec=tool"),
        ("term", "Name=Term\nExec=tool\nTerminal=true"),
        ("lost", "Name=Lost\nExec=gone\nTryExec=gone"),
    ];

    #[test]
    fn an_app_is_found_by_id_by_name_as_a_program_and_by_path() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = catalog(folder.path(), &ENTRIES);
        let tool = folder.path().join("bin/tool");
        for name in ["org.x.Tool", "org.x.tool.desktop", "the tool"] {
            let start = resolve(&plan(name, &["a b"]), &catalog).unwrap();
            assert_eq!(
                (start.program, start.line),
                (tool.clone(), vec!["tool".into(), "--new".into(), "a b".into()])
            );
        }
        for name in ["tool", tool.to_str().unwrap()] {
            let start = resolve(&plan(name, &["x"]), &catalog).unwrap();
            assert_eq!((start.program, &*start.line[1]), (tool.clone(), "x"), "{name}");
        }
        let web = resolve(&plan("web", &["http://x"]), &catalog).unwrap();
        assert_eq!(web.line, ["chromium", "--force-renderer-accessibility", "http://x"]);
    }

    #[test]
    fn what_cannot_be_started_is_refused_with_similar_names() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = catalog(folder.path(), &ENTRIES);
        for (name, kind, message) in [
            ("Same", FailureKind::Invalid, "several apps are called 'Same': one, two"),
            ("Term", FailureKind::Refused, "terminal"),
            ("Lost", FailureKind::Gone, "gone not found"),
            ("The Tol", FailureKind::Gone, "did you mean The Tool"),
            ("tol", FailureKind::Gone, "did you mean tool"),
            ("/nowhere/x", FailureKind::Gone, "/nowhere/x not found"),
            ("", FailureKind::Invalid, "no app is given"),
        ] {
            let failure = resolve(&plan(name, &[]), &catalog).unwrap_err();
            assert_eq!(failure.kind, kind, "{name}");
            assert!(failure.native.contains(message), "{name}: {failure}");
        }
        let nowhere = LaunchPlan { cwd: Some("/nowhere".into()), ..plan("tool", &[]) };
        assert!(resolve(&nowhere, &catalog).unwrap_err().native.contains("not a folder"));
    }
}
