//! The one element that a selector means: its only match, or the one of several that a rule takes. The rules are documented in
//! `docs/selectors.md`; what none of them decides is an error that says what tells the matches apart.

use axd_protocol::selector::{RoleTest, Selector};
use axd_protocol::{Candidate, Error, ErrorCode, NodeRef, Result, Role, State, States};

use crate::apps::app::App;
use crate::apps::target::{CANDIDATES_HINT, not_looked_at, still_reading};
use axd_tree::{Ix, Scope, Tree};

/// The maximum number of candidates that an error lists.
pub(crate) const MAX_CANDIDATES: usize = 8;
/// The maximum number of characters of a value that a candidate shows.
const MAX_VALUE_CHARS: usize = 60;

/// Which of several matches is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The only one that has exactly the role.
    #[default]
    Exact,
    /// The only one that can be seen and used, or of those that can, the only one that has exactly the role.
    Usable,
    /// The one with this number, from 1 in tree order, or from the end if it is negative.
    Nth(i32),
}

impl Choice {
    /// The choice of an action.
    pub fn of_action(nth: Option<i32>) -> Choice {
        nth.map_or(Choice::Usable, Choice::Nth)
    }
}

/// The element that is taken, and why it and no other, if there are others.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub ix: Ix,
    pub why: Option<String>,
}

/// The error for the number 0, which no match has.
pub(crate) fn nth_is_0() -> Error {
    Error::new(ErrorCode::InvalidArgs, "nth must not be 0: counting starts at 1, or at -1 from the end")
}

/// The match with a number, as a list of at most one.
pub(crate) fn nth_of(matches: &[Ix], nth: i32) -> &[Ix] {
    let at = if nth > 0 {
        (nth as usize).checked_sub(1)
    } else {
        matches.len().checked_sub(nth.unsigned_abs() as usize)
    };
    at.and_then(|at| matches.get(at..at + 1)).unwrap_or_default()
}

/// The one element that a selector means below `root`.
pub(crate) fn one_match(
    app: &App,
    tree: &Tree,
    selector: &Selector,
    root: Ix,
    choice: Choice,
) -> Result<Chosen> {
    let found = tree.find(selector, Scope { root }, None).matches;
    if found.is_empty() {
        return Err(no_match(app, tree, selector, root));
    }
    match (choice, &found[..]) {
        (Choice::Nth(nth), matches) => match nth_of(matches, nth) {
            [ix] => Ok(Chosen { ix: *ix, why: None }),
            _ => Err(too_few(app, tree, selector, matches, nth)),
        },
        (_, [ix]) => Ok(Chosen { ix: *ix, why: None }),
        (choice, matches) => preferred(tree, selector, matches, choice == Choice::Usable)
            .ok_or_else(|| ambiguous(app, tree, selector, matches)),
    }
}

/// The one of several matches that a rule takes.
fn preferred(tree: &Tree, selector: &Selector, matches: &[Ix], usable: bool) -> Option<Chosen> {
    let all = matches.len();
    let only = |left: &[Ix], why: &str| match left {
        [ix] => Some(Chosen { ix: *ix, why: Some(format!("the only one of {all} matches that {why}")) }),
        _ => None,
    };
    let seen: Vec<Ix> = matches.iter().copied().filter(|ix| usable && is_usable(tree, *ix)).collect();
    let left = if seen.is_empty() { matches } else { &seen };
    only(left, "can be seen and is enabled").or_else(|| {
        let exact = left.iter().copied().filter(|ix| selector.names_role(tree.role(*ix)));
        only(&exact.collect::<Vec<Ix>>(), "has exactly that role")
    })
}

/// Whether an element is enabled and, as far as its app says, shown. A container that says it is off the screen does not count: some
/// toolkits say so of containers whose contents are shown.
fn is_usable(tree: &Tree, ix: Ix) -> bool {
    let states = tree.states(ix);
    let shown = !states.has(State::Hidden) && !states.has(State::Offscreen);
    shown
        && !states.has(State::Disabled)
        && !tree.ancestors(ix).any(|above| tree.states(above).has(State::Hidden))
}

fn no_match(app: &App, tree: &Tree, selector: &Selector, root: Ix) -> Error {
    if !app.is_complete() {
        return still_reading(app);
    }
    let last = selector.paths()[0].last();
    let role = if let RoleTest::Role(role) = last.role { role } else { Role::Unknown };
    let near = tree.like(role, last.name.as_deref(), MAX_CANDIDATES);
    let said = format!("no element in {} matches {selector}", app.seen().name);
    let error = Error::new(ErrorCode::ElementNotFound, said);
    let error = if near.is_empty() { error } else { error.suggest(CANDIDATES_HINT).candidates(near) };
    let error = error.retry(format!("snapshot --app '{}'", app.seen().name));
    let mut unread = tree.unread(selector, Scope { root });
    unread.extend(tree.unread_menus(selector, Scope { root }));
    not_looked_at(error, unread)
}

fn ambiguous(app: &App, tree: &Tree, selector: &Selector, matches: &[Ix]) -> Error {
    let said = format!("{selector} matches {} elements in {}", matches.len(), app.seen().name);
    Error::new(ErrorCode::AmbiguousTarget, said)
        .candidates(told_apart(tree, matches))
        .retry(format!("find '{selector}' --app '{}'", app.seen().name))
}

fn too_few(app: &App, tree: &Tree, selector: &Selector, matches: &[Ix], nth: i32) -> Error {
    let count = matches.len();
    let what = if count == 1 { "1 element matches" } else { &format!("{count} elements match") };
    let said = format!("only {what} {selector} in {}: there is no number {nth}", app.seen().name);
    Error::new(ErrorCode::ElementNotFound, said)
        .candidates(told_apart(tree, matches))
        .suggest(CANDIDATES_HINT)
}

/// The first of several matches, each with what it does not share with all of them, and its number.
pub(crate) fn told_apart(tree: &Tree, matches: &[Ix]) -> Vec<Candidate> {
    let listed = &matches[..matches.len().min(MAX_CANDIDATES)];
    let paths: Vec<Vec<NodeRef>> = listed.iter().map(|ix| named(tree.path(*ix))).collect();
    let same_values = listed.windows(2).all(|pair| tree.value(pair[0]) == tree.value(pair[1]));
    let same_states = listed.windows(2).all(|pair| tree.states(pair[0]) == tree.states(pair[1]));
    let shared = (0..).take_while(|at| {
        let first = paths.first().and_then(|path| path.get(*at));
        first.is_some()
            && paths.iter().all(|path| path.get(*at).map(|node| node.id) == first.map(|node| node.id))
    });
    let shared = shared.count();
    let candidate = |(at, (ix, path)): (usize, (&Ix, &Vec<NodeRef>))| Candidate {
        description: tree.description(*ix).filter(|_| tree.name(*ix).is_none()).map(str::to_owned),
        value: tree.value(*ix).filter(|_| !same_values).map(shortened),
        states: if same_states { States::NONE } else { tree.states(*ix) },
        path: path[shared..].to_vec(),
        nth: (matches.len() > 1).then_some(at as u32 + 1),
        ..tree.node_ref(*ix).into()
    };
    listed.iter().zip(&paths).enumerate().map(candidate).collect()
}

/// The elements of a path that say where something is.
fn named(path: Vec<NodeRef>) -> Vec<NodeRef> {
    let says_where =
        |node: &NodeRef| node.role.is_window() || node.name.as_ref().is_some_and(|name| !name.is_empty());
    path.into_iter().filter(says_where).collect()
}

fn shortened(value: &str) -> String {
    match value.char_indices().nth(MAX_VALUE_CHARS) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}
