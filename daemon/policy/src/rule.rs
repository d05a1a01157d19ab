//! A rule of the file: a verdict, and the conditions under which it counts.
//!
//! All conditions must hold. A rule does two things: it *restricts*, if it denies or asks, and it *permits* what the default would
//! not, if it allows or asks. What is not known, and what a request has several of (key combinations, arguments, files), counts
//! against the request in both: a rule restricts if it may match, and if *one* of the values matches; it permits only if it does match,
//! and only if *all* of them do. So nothing is gained by adding a value, or by keeping something from being known.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use axd_protocol::keys::Combo;

use crate::commands::{APPROVES, Commands, TREE_READERS, reads};
use crate::decision::{Decision, Verdict};
use crate::keys::KeyPattern;
use crate::programs::{spellings, spellings_of_path};
use crate::question::{AppFacts, ElementFacts, Fact, LaunchFacts, Question, Stage};
use axd_protocol::pattern::{Pattern, any_matches};

/// A rule of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Its name, which errors end with.
    pub name: String,
    /// Its line in the file.
    pub line: usize,
    /// What becomes of the requests that it matches.
    pub verdict: Verdict,
    /// The reason, for whoever is denied.
    pub reason: Option<String>,
    /// For which commands it counts.
    pub(crate) commands: Commands,
    /// The commands as they are written; none if it counts for all.
    pub(crate) named: Vec<String>,
    pub(crate) conditions: Conditions,
    /// Whether the windows that it names are hidden from all reading.
    pub(crate) hides: bool,
}

/// What a rule depends on besides the command; what is absent makes no difference.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Conditions {
    pub apps: Option<Vec<Pattern>>,
    pub windows: Option<Vec<Pattern>>,
    pub roles: Option<Vec<Pattern>>,
    pub names: Option<Vec<Pattern>>,
    pub states: Option<Vec<Pattern>>,
    pub clients: Option<Vec<Pattern>>,
    pub agents: Option<Vec<Pattern>>,
    pub keys: Option<Vec<KeyPattern>>,
    pub texts: Option<Vec<Pattern>>,
    pub programs: Option<Vec<Pattern>>,
    pub args: Option<Vec<Pattern>>,
    pub env: Option<Vec<Pattern>>,
    pub files: Option<Vec<Pattern>>,
}

/// Whether a condition holds. Of several the least one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Holds {
    No,
    Unknown,
    Yes,
}

impl From<bool> for Holds {
    fn from(holds: bool) -> Holds {
        if holds { Holds::Yes } else { Holds::No }
    }
}

impl Rule {
    /// Its conditions as they are written.
    pub(crate) fn written(&self) -> BTreeMap<String, Vec<String>> {
        let conditions = &self.conditions;
        let lists = [
            ("apps", &conditions.apps),
            ("windows", &conditions.windows),
            ("roles", &conditions.roles),
            ("names", &conditions.names),
            ("states", &conditions.states),
            ("clients", &conditions.clients),
            ("agents", &conditions.agents),
            ("texts", &conditions.texts),
            ("programs", &conditions.programs),
            ("args", &conditions.args),
            ("env", &conditions.env),
            ("files", &conditions.files),
        ];
        let lists = lists.into_iter().filter_map(|(key, patterns)| {
            Some((key, patterns.as_ref()?.iter().map(|pattern| pattern.as_str().to_owned()).collect()))
        });
        let keys = conditions
            .keys
            .iter()
            .map(|keys| ("keys", keys.iter().map(|keys| keys.as_str().to_owned()).collect()));
        let named = (!self.named.is_empty()).then(|| ("commands", self.named.clone()));
        lists.chain(keys).chain(named).map(|(key, values)| (key.to_owned(), values)).collect()
    }

    /// Whether it denies a request, or asks. What is not known counts when the question is asked for the last time.
    pub(crate) fn restricts(&self, question: &Question<'_>) -> bool {
        if self.verdict == Verdict::Ask && APPROVES.contains(&question.command) {
            return false;
        }
        self.verdict > Verdict::Allow
            && (may_hold(self.holds(question, Several::One), question.stage) || self.hides_from(question))
    }

    /// Whether a request reads a window that the rule hides. A tree is read as a whole, in no window.
    fn hides_from(&self, question: &Question<'_>) -> bool {
        TREE_READERS.contains(&question.command)
            && matches!(question.window, Fact::Known(_))
            && self.hides
            && may_hold(self.conditions.hold(question, Several::One), question.stage)
    }

    /// Whether it restricts any command that reads.
    pub(crate) fn restricts_reading(&self) -> bool {
        self.hides || (self.verdict > Verdict::Allow && self.commands.first(reads).is_some())
    }

    /// Whether it allows a request, or asks, whatever the default says. What is not known counts for it until the question is asked
    /// for the last time.
    pub(crate) fn permits(&self, question: &Question<'_>) -> bool {
        let holds = self.holds(question, Several::All);
        self.verdict < Verdict::Deny
            && (holds == Holds::Yes || (holds == Holds::Unknown && question.stage == Stage::Before))
    }

    fn holds(&self, question: &Question<'_>, several: Several) -> Holds {
        if !self.commands.contains(question.command) {
            return Holds::No;
        }
        self.conditions.hold(question, several)
    }

    /// What it says of a request that it permits. That it also asks, if it does, it says by restricting it.
    pub(crate) fn permission(&self) -> Decision {
        Decision { line: Some(self.line), ..Decision::allow(&*self.name) }
    }

    /// What it says of a request that it restricts.
    pub(crate) fn decision(&self, question: &Question<'_>) -> Decision {
        let why = || match self.verdict {
            Verdict::Ask => format!("{} needs approval by a rule of the policy file", question.command),
            _ => format!("{} is denied by a rule of the policy file", question.command),
        };
        let why = self.reason.clone().unwrap_or_else(why);
        let instead = "do it another way that is allowed, or leave it to the user";
        Decision { verdict: self.verdict, line: Some(self.line), ..Decision::deny(&*self.name, why, instead) }
    }

    /// Whether it hides a window.
    pub(crate) fn hides(&self, app: Fact<AppFacts<'_>>, title: Fact<&str>) -> bool {
        let question = Question { app, window: title, ..Question::default() };
        self.hides && self.conditions.hold(&question, Several::One) != Holds::No
    }
}

/// Whether something that may hold restricts a request at this stage.
pub(crate) fn may_hold(holds: Holds, stage: Stage) -> bool {
    match holds {
        Holds::No => false,
        Holds::Yes => true,
        Holds::Unknown => stage == Stage::Final,
    }
}

/// How many of several values must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Several {
    /// One is enough.
    One,
    /// All of them, and there must be one.
    All,
}

impl Several {
    fn of<T>(self, values: &[T], matches: impl Fn(&T) -> Holds) -> Holds {
        let each = values.iter().map(matches);
        let holds = match self {
            Several::One => each.max(),
            Several::All => each.min(),
        };
        holds.unwrap_or(Holds::No)
    }
}

impl Conditions {
    /// Whether all of them hold.
    pub fn hold(&self, question: &Question<'_>, several: Several) -> Holds {
        let all = [
            fact(&self.apps, question.app, |apps, app| is_app(apps, &app)),
            fact(&self.windows, question.window, any_matches),
            fact(&self.roles, question.element, |roles, element| any_matches(roles, element.role.name())),
            fact(&self.names, question.element, |names, element| {
                element.name.is_some_and(|name| any_matches(names, name))
            }),
            fact(&self.states, question.element, has_state),
            fact(&self.clients, question.client.into(), any_matches),
            fact(&self.agents, question.agent.into(), any_matches),
            fact(&self.texts, question.text.into(), any_matches),
            self.launch_holds(question, several),
            self.keys.as_ref().map_or(Holds::Yes, |patterns| {
                several.of(question.keys, |pressed| has_keys(patterns, pressed, several))
            }),
            self.files
                .as_ref()
                .map_or(Holds::Yes, |patterns| several.of(question.files, |file| is_file(patterns, file))),
        ];
        all.into_iter().min().unwrap_or(Holds::Yes)
    }

    /// Whether it depends on what only requests that act have.
    pub fn are_of_actions(&self) -> bool {
        self.keys.is_some()
            || [&self.texts, &self.programs, &self.args, &self.env, &self.files]
                .iter()
                .any(|patterns| patterns.is_some())
    }

    /// The name of a condition on elements, if there is one.
    pub fn of_element(&self) -> Option<&'static str> {
        let named = [("roles", &self.roles), ("names", &self.names), ("states", &self.states)];
        named.into_iter().find(|(_, patterns)| patterns.is_some()).map(|(name, _)| name)
    }

    /// The name of a condition on who requests something, if there is one.
    pub fn of_client(&self) -> Option<&'static str> {
        let named = [("clients", &self.clients), ("agents", &self.agents)];
        named.into_iter().find(|(_, patterns)| patterns.is_some()).map(|(name, _)| name)
    }

    fn launch_holds(&self, question: &Question<'_>, several: Several) -> Holds {
        let Some(launch) = question.launch else {
            return (self.programs.is_none() && self.args.is_none() && self.env.is_none()).into();
        };
        let texts = |patterns: &Option<Vec<Pattern>>, values: &[String]| {
            patterns.as_ref().map_or(Holds::Yes, |patterns| {
                several.of(values, |value| any_matches(patterns, value).into())
            })
        };
        let programs =
            self.programs.as_ref().map_or(Holds::Yes, |patterns| starts(patterns, &launch, several));
        programs.min(texts(&self.args, launch.args)).min(texts(&self.env, launch.env))
    }
}

/// Whether pressed keys are one of these combinations. With other modifiers held they still contain it, but are another one.
fn has_keys(patterns: &[KeyPattern], pressed: &Combo, several: Several) -> Holds {
    let matches = |pattern: &KeyPattern| match several {
        Several::One => pattern.is_within(pressed),
        Several::All => pattern.is(pressed),
    };
    patterns.iter().any(matches).into()
}

/// Whether a file is one of these. Of a path that leads elsewhere nobody knows.
fn is_file(patterns: &[Pattern], file: &Path) -> Holds {
    match leads_elsewhere(file) {
        true => Holds::Unknown,
        false => any_matches(patterns, &file.to_string_lossy()).into(),
    }
}

/// Whether a path is not the place that it reads like.
fn leads_elsewhere(path: &Path) -> bool {
    path.is_relative() || path.components().any(|part| part == Component::ParentDir)
}

/// Whether a condition holds for a fact.
fn fact<'p, T>(
    patterns: &'p Option<Vec<Pattern>>,
    fact: Fact<T>,
    holds: impl FnOnce(&'p [Pattern], T) -> bool,
) -> Holds {
    match (patterns, fact) {
        (None, _) => Holds::Yes,
        (Some(_), Fact::None) => Holds::No,
        (Some(_), Fact::Unknown) => Holds::Unknown,
        (Some(patterns), Fact::Known(value)) => holds(patterns, value).into(),
    }
}

/// Whether an app is one of these: by its name, its identity, or a program that it runs. A path is compared with paths only,
/// because apps choose their names.
fn is_app(patterns: &[Pattern], app: &AppFacts<'_>) -> bool {
    let names = || [app.name, app.identity].into_iter();
    patterns.iter().any(|pattern| match pattern.is_path() {
        true => {
            app.programs.iter().map(String::as_str).chain([app.identity]).any(|path| pattern.matches(path))
        }
        false => {
            names().any(|name| pattern.matches(name))
                || names()
                    .chain(app.programs.iter().map(String::as_str))
                    .any(|text| spellings(text).into_iter().any(|spelling| pattern.matches(&spelling)))
        }
    })
}

fn has_state(patterns: &[Pattern], element: ElementFacts<'_>) -> bool {
    element.states.iter().any(|state| any_matches(patterns, state.name()))
}

/// Whether a launch starts one of these programs. Where all must match, the name that the request gives it says nothing if the files
/// are known that it may be.
fn starts(patterns: &[Pattern], launch: &LaunchFacts<'_>, several: Several) -> Holds {
    let matches = |program: &String| {
        let is = |pattern: &Pattern| match pattern.is_path() {
            true => pattern.matches(program),
            false => {
                spellings_of_path(program).iter().chain([program]).any(|spelling| pattern.matches(spelling))
            }
        };
        Holds::from(patterns.iter().any(is))
    };
    let files: Vec<String> =
        launch.programs.iter().filter(|program| program.contains('/')).cloned().collect();
    match several {
        Several::All if !files.is_empty() => several.of(&files, matches),
        _ => several.of(launch.programs, matches),
    }
}
