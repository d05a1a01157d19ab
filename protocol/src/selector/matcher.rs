//! A selector made ready to run, and what it runs over.

use std::hash::Hash;

use regex_lite::Regex;

use super::ast::{
    Attr, AttrFilter, Combinator, Filter, Op, Part, Path, Pseudo, RoleTest, Selector, StateTest, Step,
};
use super::fold::{fold, lower};
use super::parse;
use super::query::Query;
use crate::role::Role;
use crate::state::States;

/// A tree, or several, that selectors can run over: the daemon's own tree and the client's replica of it.
///
/// Every call should take constant time.
pub trait Forest {
    /// How a node is spoken of.
    type Node: Copy + Eq + Hash;

    /// The node it hangs below; none for a root.
    fn parent(&self, node: Self::Node) -> Option<Self::Node>;
    /// How many children it has.
    fn child_count(&self, node: Self::Node) -> usize;
    /// Its child at `index`, which is below [`child_count`](Forest::child_count).
    fn child(&self, node: Self::Node, index: usize) -> Self::Node;
    /// Its place among its parent's children; none for a root.
    fn index_in_parent(&self, node: Self::Node) -> Option<usize>;
    /// Its place in a virtual container, counting what is not realised, if the platform told.
    fn row_index(&self, node: Self::Node) -> Option<u32>;
    /// How many places a virtual container has, counting what is not realised, if the platform told.
    fn row_count(&self, _container: Self::Node) -> Option<u32> {
        None
    }
    /// What it may be called where it has no name: by the text in it.
    fn lent_name(&self, _node: Self::Node) -> Option<String> {
        None
    }
    /// What is known of it.
    fn facts(&self, node: Self::Node) -> Facts<'_>;
}

/// What a selector may ask of a node.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// What it is.
    pub role: Role,
    /// What the platform calls it.
    pub native_role: Option<&'a str>,
    /// What a person calls it.
    pub name: Option<&'a str>,
    /// What it holds. Never looked at when `states` has [`Secure`](crate::State::Secure).
    pub value: Option<&'a str>,
    /// What it is for.
    pub description: Option<&'a str>,
    /// What its developer calls it.
    pub identifier: Option<&'a str>,
    /// What is true of it.
    pub states: States,
}

/// A selector made ready to run: regexes compiled, names folded.
///
/// Only the scope's root and what is below it can match. The steps before the last may match ancestors outside the
/// scope, up to the root of the forest, so `window:Inbox row` finds the rows of a list that is the scope. Inside
/// `:has` nothing outside the node counts: its whole path lies below.
#[derive(Debug, Clone)]
pub struct Matcher {
    pub(super) paths: Vec<ReadyPath>,
    /// Whether items without a name go by the text in them.
    pub(super) lends: bool,
}

/// Where to begin looking for the matches of one path: what its last step asks for that an index can answer. `None`
/// asks for nothing. Every match of the path has the role, and a name that folds to the name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Seed {
    /// The role every match has.
    pub role: Option<Role>,
    /// The fold of the name every match has; never empty.
    pub folded_name: Option<String>,
}

/// Steps with how each hangs below the one before; that of the first says nothing.
#[derive(Debug, Clone)]
pub(super) struct ReadyPath {
    pub steps: Vec<(Combinator, ReadyStep)>,
}

#[derive(Debug, Clone)]
pub(super) struct ReadyStep {
    pub role: RoleTest,
    pub folded_name: Option<String>,
    pub parts: Vec<ReadyPart>,
}

/// A part of a step. A `site` numbers the places in a selector whose answers a query remembers.
#[derive(Debug, Clone)]
pub(super) enum ReadyPart {
    State { test: StateTest, negated: bool },
    Text { attr: Attr, test: TextTest, ignore_case: bool, negated: bool },
    Nth { site: usize, ordinal: i32 },
    Has { site: usize, path: ReadyPath },
    Not(ReadyStep),
}

/// A test on a text; with `ignore_case`, both it and the text are in lower case.
#[derive(Debug, Clone)]
pub(super) enum TextTest {
    Equals(String),
    Contains(String),
    Starts(String),
    Ends(String),
    Regex(Regex),
    /// What a regex that does not compile passes. No selector that was read has one.
    Nothing,
}

impl Matcher {
    /// Makes a selector ready.
    pub fn new(selector: &Selector) -> Matcher {
        let mut sites = 0;
        let paths = selector.paths().iter().map(|path| ready_path(path, &mut sites)).collect();
        Matcher { paths, lends: false }
    }

    /// The same, by which items without a name go by the text in them; `None` if it asks for no item by name. For when
    /// nothing is called so: a name comes before what is only lent.
    pub fn lending(&self) -> Option<Matcher> {
        let by_name = |step: &ReadyStep| {
            let named = step.folded_name.as_ref().is_some_and(|name| !name.is_empty());
            named && matches!(step.role, RoleTest::Role(role) if may_borrow(role))
        };
        let asks = self.paths.iter().flat_map(|path| &path.steps).any(|(_, step)| by_name(step));
        asks.then(|| Matcher { lends: true, ..self.clone() })
    }

    /// Whether `node` is in the scope and matches. For many nodes, [`find_among`](Matcher::find_among) is quicker: it
    /// remembers what it learnt of ancestors and siblings.
    pub fn matches<F: Forest>(&self, forest: &F, scope: F::Node, node: F::Node) -> bool {
        let mut query = Query::new(self, forest);
        query.in_scope(scope, node) && query.matches(node)
    }

    /// Every match in the scope in tree order, up to `limit`, by walking the scope.
    pub fn find_all<F: Forest>(&self, forest: &F, scope: F::Node, limit: Option<usize>) -> Vec<F::Node> {
        Query::new(self, forest).walk(scope, limit.unwrap_or(usize::MAX))
    }

    /// What [`find_all`](Matcher::find_all) finds, as long as it is among `candidates`, which may come in any order
    /// and more than once: the union of what an index holds for the [`seeds`](Matcher::seeds), say.
    pub fn find_among<F: Forest>(
        &self,
        forest: &F,
        scope: F::Node,
        candidates: impl IntoIterator<Item = F::Node>,
        limit: Option<usize>,
    ) -> Vec<F::Node> {
        Query::new(self, forest).pick(scope, candidates, limit.unwrap_or(usize::MAX))
    }

    /// Whether something may match that is in `container` and that the forest does not hold: a row that was not read.
    pub fn may_match_in<F: Forest>(&self, forest: &F, container: F::Node) -> bool {
        Query::new(self, forest).may_match_in(container)
    }

    /// Where an index may begin, one seed a path: what matches a path is in its seed.
    pub fn seeds(&self) -> Vec<Seed> {
        self.paths.iter().map(ReadyPath::seed).collect()
    }
}

/// Whether an element of this role is one of many in a list, a tree or a table.
pub fn is_item(role: Role) -> bool {
    matches!(role, Role::ListItem | Role::TreeItem | Role::Row | Role::Cell)
}

/// Whether an element of this role goes by the text in it, where it has no name.
pub fn may_borrow(role: Role) -> bool {
    is_item(role) || matches!(role, Role::Button | Role::ToggleButton)
}

impl ReadyPath {
    fn seed(&self) -> Seed {
        let Some((_, last)) = self.steps.last() else { return Seed { role: None, folded_name: None } };
        let role = match last.role {
            RoleTest::Role(role) => Some(role),
            RoleTest::Any | RoleTest::Native(_) => None,
        };
        let by_filter = last.parts.iter().find_map(|part| match part {
            // Equal to the letter, so equal when folded.
            ReadyPart::Text {
                attr: Attr::Name,
                test: TextTest::Equals(name),
                ignore_case: false,
                negated: false,
            } => Some(fold(name).into_owned()),
            _ => None,
        });
        // A blank name asks for nodes without one, which an index of names does not hold.
        let folded_name = last.folded_name.clone().or(by_filter).filter(|name| !name.is_empty());
        Seed { role, folded_name }
    }
}

fn ready_path(path: &Path, sites: &mut usize) -> ReadyPath {
    let first = (Combinator::Descendant, ready_step(&path.first, sites));
    let rest = path.rest.iter().map(|(combinator, step)| (*combinator, ready_step(step, sites)));
    ReadyPath { steps: std::iter::once(first).chain(rest).collect() }
}

fn ready_step(step: &Step, sites: &mut usize) -> ReadyStep {
    ReadyStep {
        role: step.role.clone(),
        folded_name: step.name.as_deref().map(|name| fold(name).into_owned()),
        parts: step.parts.iter().map(|part| ready_part(part, sites)).collect(),
    }
}

fn ready_part(part: &Part, sites: &mut usize) -> ReadyPart {
    let mut site = || {
        *sites += 1;
        *sites
    };
    match part {
        Part::Filter(Filter::State { test, negated }) => ReadyPart::State { test: *test, negated: *negated },
        Part::Filter(Filter::Attr(filter)) => ready_text(filter),
        Part::Pseudo(Pseudo::Nth(ordinal)) => ReadyPart::Nth { site: site(), ordinal: *ordinal },
        Part::Pseudo(Pseudo::Has(path)) => ReadyPart::Has { site: site(), path: ready_path(path, sites) },
        Part::Pseudo(Pseudo::Not(step)) => ReadyPart::Not(ready_step(step, sites)),
    }
}

fn ready_text(filter: &AttrFilter) -> ReadyPart {
    let AttrFilter { attr, op, ref value, ignore_case } = *filter;
    let against = || if ignore_case { lower(value).into_owned() } else { value.clone() };
    let test = match op {
        Op::Equals | Op::Differs => TextTest::Equals(against()),
        Op::Contains => TextTest::Contains(against()),
        Op::Starts => TextTest::Starts(against()),
        Op::Ends => TextTest::Ends(against()),
        Op::Regex => parse::regex(value, ignore_case).map_or(TextTest::Nothing, TextTest::Regex),
    };
    // A regex knows about case by itself.
    let ignore_case = ignore_case && op != Op::Regex;
    ReadyPart::Text { attr, test, ignore_case, negated: op == Op::Differs }
}

impl TextTest {
    /// Whether a text passes.
    pub fn passes(&self, text: &str) -> bool {
        match self {
            TextTest::Equals(value) => text == value,
            TextTest::Contains(value) => text.contains(value.as_str()),
            TextTest::Starts(value) => text.starts_with(value.as_str()),
            TextTest::Ends(value) => text.ends_with(value.as_str()),
            TextTest::Regex(regex) => regex.is_match(text),
            TextTest::Nothing => false,
        }
    }
}
