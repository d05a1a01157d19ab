//! The rules of the file, and what is wrong with a rule as a whole.
//!
//! A rule that can never do what it says is an error: whoever wrote it relies on it.

use std::collections::BTreeSet;

use axd_protocol::{Role, State};

use super::section::{Section, Text};
use super::settings::{VERDICTS, key_patterns, patterns};
use crate::builtin;
use crate::commands::{ALWAYS_ALLOWED, APPROVES, Commands, TREE_READERS, reads};
use crate::decision::Verdict;
use crate::rule::{Conditions, Rule};
use crate::suggest;
use axd_protocol::pattern::Pattern;

/// The maximum length of a rule's name.
const MAX_NAME: usize = 64;

/// Reads the rules.
pub(super) fn read(file: &mut Section<'_, '_>) -> Vec<Rule> {
    let mut names = BTreeSet::new();
    file.sections("rule").into_iter().filter_map(|section| rule(section, &mut names)).collect()
}

/// Reads a rule; `None` if it has no verdict. All of it is read in any case, so that all errors in it are found.
fn rule(mut section: Section<'_, '_>, names: &mut BTreeSet<String>) -> Option<Rule> {
    let name = section.text("name");
    if let Some(name) = &name {
        check_name(&section, name, names);
    }
    let verdict = section.choice("verdict", VERDICTS);
    if !section.has("verdict") {
        section.fault(section.place, "the rule has no `verdict`; it must be \"allow\", \"ask\" or \"deny\"");
    }
    let reason = section.text("reason");
    if let Some(reason) = reason.as_ref().filter(|reason| reason.text.contains(char::is_control)) {
        section.fault(reason.place, "`reason` must be one line");
    }
    let (named, all) = commands(&mut section, verdict);
    let conditions = conditions(&mut section);
    let effect = verdict.map(|verdict| (verdict, effect(&section, all, &conditions, verdict)));
    let line = section.line();
    section.finish();
    let (verdict, (commands, hides)) = effect?;
    let name = name.map_or_else(|| format!("rule-in-line-{line}"), |name| name.text);
    Some(Rule {
        name,
        line,
        verdict,
        reason: reason.map(|reason| reason.text),
        commands,
        named,
        conditions,
        hides,
    })
}

/// Errors end with the name in parentheses, and the audit has it.
fn check_name(section: &Section<'_, '_>, name: &Text, names: &mut BTreeSet<String>) {
    let is_plain = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
    if name.text.len() > MAX_NAME || !name.text.chars().all(is_plain) {
        let message =
            format!("`name` must be at most {MAX_NAME} letters, digits, spaces, and the characters - _ .");
        section.fault(name.place, message);
    } else if builtin::is_reserved(&name.text) {
        section
            .fault(name.place, format!("{:?} is the name of a built-in rule; choose another one", name.text));
    } else if !names.insert(name.text.to_lowercase()) {
        section.fault(
            name.place,
            format!("another rule is called {:?}; errors could not tell them apart", name.text),
        );
    }
}

/// The commands that the rule names, as they are written and as a set; all, if it names none.
fn commands(section: &mut Section<'_, '_>, verdict: Option<Verdict>) -> (Vec<String>, Commands) {
    let Some(texts) = section.some_texts("commands") else { return (Vec::new(), Commands::All) };
    let mut commands = Commands::These(BTreeSet::new());
    for text in &texts {
        if let Err(fault) = commands.add(&text.text) {
            section.fault(text.place, fault);
        }
        if APPROVES.contains(&&*text.text) && verdict == Some(Verdict::Ask) {
            let message = format!(
                "nobody can be asked about {:?}, which answers such questions; allow or deny it",
                text.text
            );
            section.fault(text.place, message);
        }
        if ALWAYS_ALLOWED.contains(&&*text.text) && verdict != Some(Verdict::Allow) {
            let why = match &*text.text {
                "batch" => "it is decided command by command; name the commands that may be in it",
                _ => "without it nobody could see what is wrong, or stop what is under way",
            };
            section.fault(text.place, format!("{:?} is always allowed: {why}", text.text));
        }
    }
    (texts.into_iter().map(|text| text.text).collect(), commands)
}

fn conditions(section: &mut Section<'_, '_>) -> Conditions {
    Conditions {
        apps: section.some_texts("apps").map(patterns),
        windows: section.some_texts("windows").map(patterns),
        roles: section.some_texts("roles").map(|texts| roles(section, texts)),
        names: section.some_texts("names").map(patterns),
        states: section.some_texts("states").map(|texts| states(section, texts)),
        clients: section.some_texts("clients").map(patterns),
        agents: section.some_texts("agents").map(patterns),
        keys: section.some_texts("keys").map(|texts| key_patterns(section, texts)),
        texts: section.some_texts("texts").map(patterns),
        programs: section.some_texts("programs").map(patterns),
        args: section.some_texts("args").map(patterns),
        env: section.some_texts("env").map(patterns),
        files: section.some_texts("files").map(patterns),
    }
}

fn roles(section: &Section<'_, '_>, texts: Vec<Text>) -> Vec<Pattern> {
    let spellings = || Role::ALL.iter().flat_map(|role| role.aliases().iter().copied().chain([role.name()]));
    let mut patterns = Vec::new();
    for text in texts {
        let pattern = Pattern::new(&text.text);
        match (pattern.is_literal(), Role::parse(&text.text.to_lowercase())) {
            (true, Some(role)) => patterns.push(Pattern::new(role.name())),
            (true, None) => {
                let hint = suggest::nearest(&text.text, spellings()).map_or_else(
                    || "see `ax schema roles`".to_owned(),
                    |near| format!("did you mean {near}?"),
                );
                section.fault(text.place, format!("{:?} is not a role; {hint}", text.text));
            }
            (false, _) if Role::ALL.iter().any(|role| pattern.matches(role.name())) => patterns.push(pattern),
            (false, _) => {
                section.fault(text.place, format!("no role matches {:?}; see `ax schema roles`", text.text))
            }
        }
    }
    patterns
}

fn states(section: &Section<'_, '_>, texts: Vec<Text>) -> Vec<Pattern> {
    let names = || State::ALL.iter().map(|state| state.name());
    for text in &texts {
        let pattern = Pattern::new(&text.text);
        if !names().any(|name| pattern.matches(name)) {
            let hint = suggest::or_all(&text.text, names());
            section.fault(text.place, format!("{:?} is not a state; {hint}", text.text));
        }
    }
    patterns(texts)
}

/// For which commands a rule counts, and whether it hides windows from all reading.
fn effect(
    section: &Section<'_, '_>,
    commands: Commands,
    conditions: &Conditions,
    verdict: Verdict,
) -> (Commands, bool) {
    if conditions.are_of_actions() {
        return (of_actions(section, &commands), false);
    }
    if let Some(key) = conditions.of_element() {
        return (of_elements(section, &commands, key, verdict), false);
    }
    if conditions.windows.is_some() {
        return of_windows(section, &commands, conditions, verdict);
    }
    (commands, false)
}

/// Keys, texts, launches and files are of commands that act; others cannot match.
fn of_actions(section: &Section<'_, '_>, commands: &Commands) -> Commands {
    let acting = commands.without_readers();
    if acting.first(|_| true).is_none() {
        let message = "the rule never matches: none of its commands presses keys, enters text, launches or opens anything";
        section.fault(section.place, message);
    }
    acting
}

/// An element is known of what is acted on; what is read is a whole tree.
fn of_elements(section: &Section<'_, '_>, commands: &Commands, key: &str, verdict: Verdict) -> Commands {
    let is_narrowed = verdict == Verdict::Allow && *commands == Commands::All;
    if let Some(reader) = commands.first(reads).filter(|_| !is_narrowed) {
        let message = format!(
            "`{key}` is about an element that is acted on, and {reader} only reads; name commands that act, as in commands = [\"@acts\"]"
        );
        section.fault(section.place, message);
    }
    commands.without_readers()
}

/// Trees are shared: a window is in them for everybody, or for nobody.
fn of_windows(
    section: &Section<'_, '_>,
    commands: &Commands,
    conditions: &Conditions,
    verdict: Verdict,
) -> (Commands, bool) {
    let Some(reader) = commands.first(|name| TREE_READERS.contains(&name)) else {
        return (commands.clone(), false);
    };
    let others = commands.without_tree_readers();
    let instead = "name commands that are about one window, as in commands = [\"@acts\", \"@pictures\"]";
    match (verdict, conditions.of_client()) {
        (Verdict::Deny, None) => return (others, true),
        (Verdict::Deny, Some(key)) => {
            let message = format!(
                "`{key}` cannot hide `windows` from {reader}: all clients share the trees, so a window is hidden from all or from none; leave out `{key}`, or {instead}"
            );
            section.fault(section.place, message);
        }
        (Verdict::Allow, _) if *commands == Commands::All => {}
        (verdict, _) => {
            let message = format!(
                "{reader} reads a tree as a whole, so \"{}\" cannot depend on `windows`; {instead}, or hide them with \"deny\"",
                verdict.name()
            );
            section.fault(section.place, message);
        }
    }
    (others, false)
}
