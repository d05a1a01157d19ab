//! The compiled form of a selector, and the trait of the trees that it searches.

use std::hash::Hash;

use super::ast::{
    Attr, AttrFilter, Combinator, Filter, Op, Part, Path, Pseudo, RoleTest, Selector, StateTest, Step,
};
use super::fold::{fold, lower};
use super::query::Query;
use super::regex::CostedRegex;
use crate::role::Role;
use crate::state::States;

/// One or more trees that selectors can search: the daemon's tree, or a client's replica of it.
///
/// Every method should take constant time, because a search calls it for many nodes.
pub trait Forest {
    /// The reference to a node.
    type Node: Copy + Eq + Hash;

    /// The parent; `None` for a root.
    fn parent(&self, node: Self::Node) -> Option<Self::Node>;
    /// The number of children.
    fn child_count(&self, node: Self::Node) -> usize;
    /// The child at `index`, which is less than [`child_count`](Forest::child_count).
    fn child(&self, node: Self::Node, index: usize) -> Self::Node;
    /// The index among the parent's children; `None` for a root.
    fn index_in_parent(&self, node: Self::Node) -> Option<usize>;
    /// The index of a row in a virtual container, counting rows that are not in the tree, if the platform reports it.
    fn row_index(&self, node: Self::Node) -> Option<u32>;
    /// The number of rows of a virtual container, counting rows that are not in the tree, if the platform reports it.
    fn row_count(&self, _container: Self::Node) -> Option<u32> {
        None
    }
    /// The text in a node without a name, which then serves as its name.
    fn name_from_content(&self, _node: Self::Node) -> Option<String> {
        None
    }
    /// The properties of a node.
    fn facts(&self, node: Self::Node) -> Facts<'_>;
}

/// The properties of a node that a selector can test.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The role.
    pub role: Role,
    /// The platform's own role.
    pub native_role: Option<&'a str>,
    /// The name.
    pub name: Option<&'a str>,
    /// The value. It is never tested if `states` has [`Secure`](crate::State::Secure).
    pub value: Option<&'a str>,
    /// The description.
    pub description: Option<&'a str>,
    /// The identifier that the developer gave it.
    pub identifier: Option<&'a str>,
    /// The states.
    pub states: States,
}

/// A compiled selector: its regexes are compiled, and its names are folded.
///
/// Only the root of the scope and its descendants can match. The steps before the last may match ancestors outside the
/// scope, so that `window:Inbox row` finds the rows of a list that is the scope. Inside `:has`, all steps must match
/// descendants of the node.
#[derive(Debug, Clone)]
pub struct Matcher {
    pub(super) paths: Vec<ReadyPath>,
    /// Whether elements without a name are matched by the text in them.
    pub(super) names_from_content: bool,
}

/// The index lookup that finds the candidates of one path: what its last step requires. Every match of the path has the
/// role or one that is a kind of it, if there is one, and a name that folds to `folded_name`, if there is one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Seed {
    /// The role that every match has, or is a kind of.
    pub role: Option<Role>,
    /// The folded name that every match has; never empty.
    pub folded_name: Option<String>,
}

/// The steps of a path, each with its relation to the one before. The relation of the first step is not used.
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

/// A part of a step. The `site` is a number that is unique in the selector; a query caches results by it.
#[derive(Debug, Clone)]
pub(super) enum ReadyPart {
    State { test: StateTest, negated: bool },
    Text { attr: Attr, test: TextTest, ignore_case: bool, negated: bool },
    Nth { site: usize, ordinal: i32 },
    Has { site: usize, path: ReadyPath },
    Not(ReadyStep),
}

/// A test on a text. With `ignore_case`, both the value and the text are in lower case.
#[derive(Debug, Clone)]
pub(super) enum TextTest {
    Equals(String),
    Contains(String),
    Starts(String),
    Ends(String),
    Regex(CostedRegex),
    /// Passes no text; it stands for a regex that does not compile, which no parsed selector has.
    Never,
}

impl Matcher {
    /// Compiles a selector.
    pub fn new(selector: &Selector) -> Matcher {
        let mut sites = 0;
        let paths = selector.paths().iter().map(|path| ready_path(path, &mut sites)).collect();
        Matcher { paths, names_from_content: false }
    }

    /// A matcher that also matches elements without a name by the text in them; `None` if the selector names no such
    /// element. It is for a second search after the first found nothing, because real names have precedence.
    pub fn with_names_from_content(&self) -> Option<Matcher> {
        let by_name = |step: &ReadyStep| {
            let named = step.folded_name.as_ref().is_some_and(|name| !name.is_empty());
            named && matches!(step.role, RoleTest::Role(role) if takes_name_from_content(role))
        };
        let is_useful = self.paths.iter().flat_map(|path| &path.steps).any(|(_, step)| by_name(step));
        is_useful.then(|| Matcher { names_from_content: true, ..self.clone() })
    }

    /// Whether `node` is in the scope and matches. For many nodes, [`find_among`](Matcher::find_among) is faster, because it
    /// caches the results for ancestors and siblings.
    pub fn matches<F: Forest>(&self, forest: &F, scope: F::Node, node: F::Node) -> bool {
        let mut query = Query::new(self, forest);
        query.in_scope(scope, node) && query.matches(node)
    }

    /// Finds the matches in the scope in tree order, up to `limit`, by walking the scope.
    pub fn find_all<F: Forest>(&self, forest: &F, scope: F::Node, limit: Option<usize>) -> Vec<F::Node> {
        Query::new(self, forest).walk(scope, limit.unwrap_or(usize::MAX))
    }

    /// Finds the matches among `candidates`, which may be in any order and contain duplicates, such as the union of the
    /// index entries for the [`seeds`](Matcher::seeds). The result is in tree order.
    pub fn find_among<F: Forest>(
        &self,
        forest: &F,
        scope: F::Node,
        candidates: impl IntoIterator<Item = F::Node>,
        limit: Option<usize>,
    ) -> Vec<F::Node> {
        Query::new(self, forest).pick(scope, candidates, limit.unwrap_or(usize::MAX))
    }

    /// Whether an element in `container` that is not in the tree, such as a row that was not read, could match.
    pub fn may_match_in<F: Forest>(&self, forest: &F, container: F::Node) -> bool {
        Query::new(self, forest).may_match_in(container)
    }

    /// The index lookups that find all candidates, one for each path.
    pub fn seeds(&self) -> Vec<Seed> {
        self.paths.iter().map(ReadyPath::seed).collect()
    }
}

/// Whether elements of this role are items of a list, a tree or a table.
pub fn is_item(role: Role) -> bool {
    matches!(role, Role::ListItem | Role::TreeItem | Role::Row | Role::Cell)
}

/// Whether an element of this role that has no name is named by the text in it.
pub fn takes_name_from_content(role: Role) -> bool {
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
            // Texts that are equal are also equal when folded.
            ReadyPart::Text {
                attr: Attr::Name,
                test: TextTest::Equals(name),
                ignore_case: false,
                negated: false,
            } => Some(fold(name).into_owned()),
            _ => None,
        });
        // An empty name selects nodes without a name, which are not in the index.
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
    let expected = || if ignore_case { lower(value).into_owned() } else { value.clone() };
    let test = match op {
        Op::Equals | Op::Differs => TextTest::Equals(expected()),
        Op::Contains => TextTest::Contains(expected()),
        Op::Starts => TextTest::Starts(expected()),
        Op::Ends => TextTest::Ends(expected()),
        Op::Regex => CostedRegex::new(value, ignore_case).map_or(TextTest::Never, TextTest::Regex),
    };
    // A regex ignores case by itself.
    let ignore_case = ignore_case && op != Op::Regex;
    ReadyPart::Text { attr, test, ignore_case, negated: op == Op::Differs }
}

impl TextTest {
    /// Whether a text passes the test.
    pub fn passes(&self, text: &str) -> bool {
        match self {
            TextTest::Equals(value) => text == value,
            TextTest::Contains(value) => text.contains(value.as_str()),
            TextTest::Starts(value) => text.starts_with(value.as_str()),
            TextTest::Ends(value) => text.ends_with(value.as_str()),
            TextTest::Regex(regex) => regex.is_match(text),
            TextTest::Never => false,
        }
    }
}
