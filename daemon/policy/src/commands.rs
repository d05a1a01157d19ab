//! Which commands a rule is about: names, patterns and groups, as a set of names.

use std::collections::BTreeSet;

use axd_protocol::Command;
use axd_protocol::command::{CommandKind, Family, family, kind};

use crate::suggest;
use axd_protocol::pattern::Pattern;

/// Commands that no rule, mode or default keeps from working: without them nobody could see what is wrong, or stop what
/// is under way. A batch is decided command by command.
pub const ALWAYS_ALLOWED: &[&str] =
    &["batch", "cancel", "doctor", "hello", "pause", "policy-check", "policy-show", "status", "version"];

/// Commands by which people approve requests. Nobody can be asked about them: only their answer would end the wait.
pub(crate) const APPROVES: &[&str] = &["approvals", "decide"];

/// Commands to which the default does not apply; rules do.
pub(crate) const NOT_BY_DEFAULT: &[&str] = &["approvals", "decide", "resume"];

/// Commands that release what is held down. What cannot be released would stay down.
pub(crate) const RELEASES: &[&str] = &["key-up", "mouse-up"];

/// Commands that answer with a picture.
pub(crate) const PICTURES: &[&str] = &["screenshot"];

/// Commands that use the clipboard.
pub(crate) const CLIPBOARD: &[&str] = &["clipboard-clear", "clipboard-get", "clipboard-set"];

/// Commands that answer with elements or windows of a tree. All clients share the trees, so what one of these commands may not
/// show is absent from all of them.
pub(crate) const TREE_READERS: &[&str] = &[
    "changes",
    "element-at",
    "find",
    "focused",
    "get",
    "is",
    "list-windows",
    "look",
    "snapshot",
    "subscribe",
    "wait",
];

/// The groups, and what is in them.
type IsMember = fn(&str) -> bool;
const GROUPS: &[(&str, IsMember)] = &[
    ("@observe", |name| family(name) == Some(Family::Observe)),
    ("@act", |name| family(name) == Some(Family::Act)),
    ("@desktop", |name| family(name) == Some(Family::Desktop)),
    ("@listen", |name| family(name) == Some(Family::Listen)),
    ("@daemon", |name| family(name) == Some(Family::Daemon)),
    ("@reads", |name| kind(name) == Some(CommandKind::Reads)),
    ("@acts", |name| kind(name) == Some(CommandKind::Acts)),
    ("@pictures", |name| PICTURES.contains(&name)),
    ("@clipboard", |name| CLIPBOARD.contains(&name)),
];

/// Whether a command acts on the desktop.
pub(crate) fn acts(name: &str) -> bool {
    kind(name) == Some(CommandKind::Acts)
}

/// Whether a command only reads.
pub(crate) fn reads(name: &str) -> bool {
    kind(name) == Some(CommandKind::Reads)
}

/// A set of commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Commands {
    /// All, those that only some daemons answer included.
    All,
    /// These.
    These(BTreeSet<&'static str>),
}

impl Commands {
    /// Whether a command is in the set.
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Commands::All => true,
            Commands::These(names) => names.contains(name),
        }
    }

    /// Adds what a name, a pattern or a group stands for; an error says what is wrong with it.
    pub fn add(&mut self, written: &str) -> Result<(), String> {
        if written == "*" {
            *self = Commands::All;
            return Ok(());
        }
        let found = named(written)?;
        if let Commands::These(names) = self {
            names.extend(found);
        }
        Ok(())
    }

    /// Leaves out the commands that only read.
    pub fn without_readers(&self) -> Commands {
        let all = Command::NAMES.iter().copied();
        Commands::These(all.filter(|name| self.contains(name) && !reads(name)).collect())
    }

    /// Leaves out the commands that answer with elements or windows of a tree.
    pub fn without_tree_readers(&self) -> Commands {
        let all = Command::NAMES.iter().copied();
        Commands::These(all.filter(|name| self.contains(name) && !TREE_READERS.contains(name)).collect())
    }

    /// The first command of the set for which this holds.
    pub fn first(&self, holds: impl Fn(&str) -> bool) -> Option<&'static str> {
        Command::NAMES
            .iter()
            .copied()
            .find(|name| !ALWAYS_ALLOWED.contains(name) && self.contains(name) && holds(name))
    }
}

/// The names that a name, a pattern or a group stands for.
fn named(written: &str) -> Result<Vec<&'static str>, String> {
    let all = || Command::NAMES.iter().copied();
    let groups = || GROUPS.iter().map(|(group, _)| *group);
    if written.starts_with('@') {
        let Some((_, is_member)) = GROUPS.iter().find(|(group, _)| *group == written) else {
            let hint = suggest::or_all(written, groups());
            return Err(format!("{written} is not a group of commands; {hint}"));
        };
        return Ok(all().filter(|name| is_member(name)).collect());
    }
    let pattern = Pattern::new(written);
    let found: Vec<&str> = all().filter(|name| pattern.matches(name)).collect();
    if found.is_empty() {
        let hint = suggest::nearest(written, all())
            .map_or_else(|| "see `ax --help`".to_owned(), |near| format!("did you mean {near}?"));
        return Err(match pattern.is_literal() {
            true => format!("there is no command '{written}'; {hint}"),
            false => format!("no command matches '{written}'; `ax --help` lists them"),
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(written: &[&str]) -> Commands {
        let mut commands = Commands::These(BTreeSet::new());
        written.iter().for_each(|written| commands.add(written).unwrap());
        commands
    }

    #[test]
    fn names_patterns_and_groups_stand_for_commands() {
        assert!(set(&["click"]).contains("click") && !set(&["click"]).contains("double-click"));
        let mouse = set(&["mouse-*"]);
        assert!(mouse.contains("mouse-up") && mouse.contains("mouse-position") && !mouse.contains("click"));
        assert!(set(&["@act"]).contains("press") && !set(&["@act"]).contains("launch"));
        assert!(set(&["@acts"]).contains("launch") && !set(&["@acts"]).contains("clipboard-get"));
        assert!(set(&["@clipboard", "@pictures"]).contains("clipboard-get"));
        assert!(set(&["click", "*"]).contains("a command that only some daemons answer"));
    }

    #[test]
    fn what_is_no_command_is_an_error_that_names_the_nearest_one() {
        let fault = |written: &str| Commands::All.clone().add(written).unwrap_err();
        assert!(fault("clik").contains("did you mean click?"));
        assert!(fault("@input").contains("@act"));
        assert!(fault("@observ").contains("did you mean @observe?"));
        assert!(fault("zz*").contains("no command matches"));
    }

    #[test]
    fn every_group_and_every_special_command_exists() {
        for (group, is_member) in GROUPS {
            assert!(Command::NAMES.iter().any(|name| is_member(name)), "{group}");
        }
        let special = [ALWAYS_ALLOWED, APPROVES, NOT_BY_DEFAULT, RELEASES, PICTURES, CLIPBOARD, TREE_READERS];
        for name in special.concat().into_iter().filter(|name| !name.starts_with("policy-")) {
            assert!(Command::NAMES.contains(&name), "{name}");
        }
    }
}
