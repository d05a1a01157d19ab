//! One run of a matcher over a forest that holds still.
//!
//! A path is not matched by trying every way to lay its steps over the ancestors, of which there can be very many, but
//! by how far it gets: a node's [`Reach`] follows from its parent's. So a run looks at every node about once a step,
//! whatever the selector; only a `:has` of several steps may look again from each level, so as often as the tree is
//! deep. Nothing here recurses over the tree, only over the nesting of the selector.

use std::collections::HashMap;

use super::ast::{Attr, Combinator, RoleTest};
use super::fold::{folds_to, lower};
use super::matcher::{Facts, Forest, Matcher, ReadyPart, ReadyPath, ReadyStep, TextTest, may_borrow};
use crate::state::State;

/// How far a path gets at a node, a bit for each step: a selector has at most 16 in all.
#[derive(Clone, Copy, Default)]
struct Reach {
    /// Steps up to this one are matched, this one by the node itself.
    here: u32,
    /// Steps up to this one are matched, this one by the node or an ancestor.
    so_far: u32,
}

/// Which of a parent's children an `:nth` means.
#[derive(Clone, Copy)]
enum Ranked<N> {
    /// This one.
    Node(N),
    /// Those at this place of a virtual container.
    Row(i64),
    /// There are not so many.
    Nobody,
}

/// One run, with what it has learnt. Sites are unique within a matcher, so one map serves them all.
pub(super) struct Query<'q, F: Forest> {
    matcher: &'q Matcher,
    forest: &'q F,
    /// How far a path (by index) gets at a node, its last step left out.
    reach: HashMap<(usize, F::Node), Reach>,
    /// Whether a `:has` holds at a node.
    has: HashMap<(usize, F::Node), bool>,
    /// Whom an `:nth` means among the children of a parent.
    ranked: HashMap<(usize, F::Node), Ranked<F::Node>>,
}

impl<'q, F: Forest> Query<'q, F> {
    pub fn new(matcher: &'q Matcher, forest: &'q F) -> Query<'q, F> {
        Query { matcher, forest, reach: HashMap::new(), has: HashMap::new(), ranked: HashMap::new() }
    }

    /// Every match at and below `scope` in tree order, up to `limit`.
    pub fn walk(&mut self, scope: F::Node, limit: usize) -> Vec<F::Node> {
        let mut found = Vec::new();
        // Each entry is a node whose children are being visited, and which of them is next.
        let mut open: Vec<(F::Node, usize)> = Vec::new();
        let mut visiting = Some(scope);
        while let Some(node) = visiting {
            if found.len() >= limit {
                break;
            }
            if self.matches(node) {
                found.push(node);
            }
            open.push((node, 0));
            visiting = self.next_child(&mut open);
        }
        found
    }

    /// Every match among `candidates` that is in `scope`, in tree order, once each, up to `limit`.
    pub fn pick(
        &mut self,
        scope: F::Node,
        candidates: impl IntoIterator<Item = F::Node>,
        limit: usize,
    ) -> Vec<F::Node> {
        let mut found: Vec<(Vec<usize>, F::Node)> = Vec::new();
        for node in candidates {
            if self.matches(node) && self.in_scope(scope, node) {
                found.push((self.place(node), node));
            }
        }
        // No place is had by two nodes, save by roots, which are never in one scope.
        found.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        found.dedup_by(|one, other| one.1 == other.1);
        found.into_iter().take(limit).map(|(_, node)| node).collect()
    }

    /// Whether `node` is `scope` or below it.
    pub fn in_scope(&self, scope: F::Node, node: F::Node) -> bool {
        self.up_from(Some(node)).any(|ancestor| ancestor == scope)
    }

    /// Whether any path of the selector leads to `node`.
    pub fn matches(&mut self, node: F::Node) -> bool {
        let matcher = self.matcher;
        matcher.paths.iter().enumerate().any(|(index, path)| self.path_leads_to(index, path, node))
    }

    fn path_leads_to(&mut self, index: usize, path: &'q ReadyPath, node: F::Node) -> bool {
        let last = path.steps.len() - 1;
        let step = &path.steps[last].1;
        let facts = self.forest.facts(node);
        // Cheapest first: most nodes fail by role or name, and few parts are dear.
        self.head_matches(step, node, &facts)
            && (last == 0 || {
                let above = self.reach_at(index, path, self.forest.parent(node));
                may_follow(path, last, above)
            })
            && self.parts_hold(&step.parts, step, node, &facts)
    }

    /// Whether any path may lead to something in `container` that the forest does not hold. Of that nothing is known but
    /// that it is below the container, and what no container of rows holds.
    pub fn may_match_in(&mut self, container: F::Node) -> bool {
        let matcher = self.matcher;
        matcher.paths.iter().enumerate().any(|(index, path)| {
            // What is not held may decide a `:has` of anything above it.
            if path.steps.iter().any(|(_, step)| looks_below(step)) {
                return true;
            }
            let above = self.reach_at(index, path, Some(container));
            let may_be_there = |from: usize| path.steps[from..].iter().all(|(_, step)| may_be_a_row(step));
            (0..path.steps.len()).any(|from| may_follow(path, from, above) && may_be_there(from))
        })
    }

    /// How far a path gets at `node`, its last step left out: that may be dear, and is asked of the node that is meant.
    fn reach_at(&mut self, index: usize, path: &'q ReadyPath, node: Option<F::Node>) -> Reach {
        let mut unknown = Vec::new();
        let mut reach = Reach::default();
        for ancestor in self.up_from(node) {
            if let Some(known) = self.reach.get(&(index, ancestor)) {
                reach = *known;
                break;
            }
            unknown.push(ancestor);
        }
        for ancestor in unknown.into_iter().rev() {
            reach = self.advance(path, path.steps.len() - 1, reach, ancestor);
            self.reach.insert((index, ancestor), reach);
        }
        reach
    }

    /// How far the first `steps` steps of a path get at `node`, whose parent they got to `above`.
    fn advance(&mut self, path: &'q ReadyPath, steps: usize, above: Reach, node: F::Node) -> Reach {
        let facts = self.forest.facts(node);
        let mut here = 0;
        for (i, (_, step)) in path.steps[..steps].iter().enumerate() {
            if may_follow(path, i, above) && self.step_holds(step, node, &facts) {
                here |= 1 << i;
            }
        }
        Reach { here, so_far: above.so_far | here }
    }

    fn step_holds(&mut self, step: &'q ReadyStep, node: F::Node, facts: &Facts<'_>) -> bool {
        self.head_matches(step, node, facts) && self.parts_hold(&step.parts, step, node, facts)
    }

    /// Whether role and name of a step fit, the name by what is lent where that counts.
    fn head_matches(&self, step: &ReadyStep, node: F::Node, facts: &Facts<'_>) -> bool {
        if heads_match(step, facts) {
            return true;
        }
        let (true, Some(name)) = (self.matcher.lends, step.folded_name.as_deref()) else { return false };
        let nameless = facts.name.is_none_or(|name| name.trim().is_empty()) && !name.is_empty();
        let borrows = nameless && may_borrow(facts.role) && role_matches(step, facts);
        borrows && self.forest.lent_name(node).is_some_and(|lent| folds_to(&lent, name))
    }

    /// Whether `parts`, which are the first parts of `step`, hold.
    fn parts_hold(
        &mut self,
        parts: &'q [ReadyPart],
        step: &'q ReadyStep,
        node: F::Node,
        facts: &Facts<'_>,
    ) -> bool {
        parts.iter().enumerate().all(|(i, part)| match part {
            ReadyPart::State { test, negated } => test.holds(facts.states) != *negated,
            ReadyPart::Text { attr, test, ignore_case, negated } => {
                text_passes(*attr, test, *ignore_case, facts) != *negated
            }
            ReadyPart::Nth { site, ordinal } => self.is_nth(*site, *ordinal, step, i, node),
            ReadyPart::Has { site, path } => self.has_below(*site, path, node),
            ReadyPart::Not(step) => !self.step_holds(step, node, facts),
        })
    }

    /// Whether `node`, which matches the parts of `step` before `before`, is the one an `:nth` there means.
    fn is_nth(
        &mut self,
        site: usize,
        ordinal: i32,
        step: &'q ReadyStep,
        before: usize,
        node: F::Node,
    ) -> bool {
        let Some(parent) = self.forest.parent(node) else { return matches!(ordinal, 1 | -1) };
        let ranked = match self.ranked.get(&(site, parent)) {
            Some(ranked) => *ranked,
            None => {
                let ranked = self.rank(ordinal, step, before, parent);
                self.ranked.insert((site, parent), ranked);
                ranked
            }
        };
        match ranked {
            Ranked::Node(meant) => meant == node,
            Ranked::Row(row) => self.forest.row_index(node).is_some_and(|index| i64::from(index) == row),
            Ranked::Nobody => false,
        }
    }

    /// Whom an `:nth` means among the children of `parent`. If any of those it counts knows its place in a virtual
    /// container, places are what it counts: which rows are realised is up to how far the user has scrolled.
    fn rank(&mut self, ordinal: i32, step: &'q ReadyStep, before: usize, parent: F::Node) -> Ranked<F::Node> {
        let mut counted = Vec::new();
        let mut last_row = None;
        for i in 0..self.forest.child_count(parent) {
            let child = self.forest.child(parent, i);
            let facts = self.forest.facts(child);
            if self.head_matches(step, child, &facts)
                && self.parts_hold(&step.parts[..before], step, child, &facts)
            {
                counted.push(child);
                last_row = last_row.max(self.forest.row_index(child));
            }
        }
        let count = match last_row {
            Some(row) => self.forest.row_count(parent).map_or(i64::from(row) + 1, i64::from),
            None => counted.len() as i64,
        };
        let place = if ordinal > 0 { i64::from(ordinal) - 1 } else { count + i64::from(ordinal) };
        match usize::try_from(place) {
            Ok(_) if last_row.is_some() => Ranked::Row(place),
            Ok(place) => counted.get(place).copied().map_or(Ranked::Nobody, Ranked::Node),
            Err(_) => Ranked::Nobody,
        }
    }

    /// Whether a path lies below `node`, all of it.
    fn has_below(&mut self, site: usize, path: &'q ReadyPath, node: F::Node) -> bool {
        if let Some(known) = self.has.get(&(site, node)) {
            return *known;
        }
        // What lies below a node lies below its parent too.
        let barren =
            self.forest.parent(node).is_some_and(|parent| self.has.get(&(site, parent)) == Some(&false));
        let holds = !barren && self.search_below(site, path, node);
        self.has.insert((site, node), holds);
        holds
    }

    fn search_below(&mut self, site: usize, path: &'q ReadyPath, node: F::Node) -> bool {
        let steps = path.steps.len();
        let mut open = vec![(node, 0)];
        // How far the path gets at each node of `open`; above the first, nothing counts.
        let mut reaches = vec![Reach::default()];
        while let Some(child) = self.next_child(&mut open) {
            reaches.truncate(open.len());
            let above = reaches.last().copied().unwrap_or_default();
            let reach = self.advance(path, steps, above, child);
            let known = self.has.get(&(site, child)).copied();
            if reach.here & 1 << (steps - 1) != 0 || known == Some(true) {
                if steps == 1 {
                    // Every node on the way has it below, too, so that none of them has to look again.
                    self.has.extend(open.iter().map(|(ancestor, _)| ((site, *ancestor), true)));
                }
                return true;
            }
            // A longer path may begin above a barren node and end below it; a single step cannot.
            if steps > 1 || known.is_none() {
                open.push((child, 0));
                reaches.push(reach);
            }
        }
        false
    }

    /// The next child of the innermost open node that has one, closing those that have none left.
    fn next_child(&self, open: &mut Vec<(F::Node, usize)>) -> Option<F::Node> {
        while let Some((node, next)) = open.last_mut() {
            if *next < self.forest.child_count(*node) {
                *next += 1;
                return Some(self.forest.child(*node, *next - 1));
            }
            open.pop();
        }
        None
    }

    /// `node`, its parent, and so on.
    fn up_from(&self, node: Option<F::Node>) -> impl Iterator<Item = F::Node> + use<'q, F> {
        let forest = self.forest;
        std::iter::successors(node, |node| forest.parent(*node))
    }

    /// The indexes that lead from the root to `node`: they sort as the tree does.
    fn place(&self, node: F::Node) -> Vec<usize> {
        let mut place: Vec<usize> =
            self.up_from(Some(node)).filter_map(|node| self.forest.index_in_parent(node)).collect();
        place.reverse();
        place
    }
}

/// Whether what a step means depends on what is below it.
fn looks_below(step: &ReadyStep) -> bool {
    step.parts.iter().any(|part| match part {
        ReadyPart::Has { .. } => true,
        ReadyPart::Not(step) => looks_below(step),
        _ => false,
    })
}

/// Whether a step may mean something in a container of rows.
fn may_be_a_row(step: &ReadyStep) -> bool {
    use crate::role::Role as R;
    match &step.role {
        RoleTest::Role(R::Application | R::MenuBar | R::Toolbar | R::StatusBar) => false,
        RoleTest::Role(role) => !role.is_window(),
        RoleTest::Any | RoleTest::Native(_) => true,
    }
}

/// Whether step `i` of a path may be matched by a node whose parent the path got to `above`.
fn may_follow(path: &ReadyPath, i: usize, above: Reach) -> bool {
    let Some(before) = i.checked_sub(1) else { return true };
    let reached = match path.steps[i].0 {
        Combinator::Child => above.here,
        Combinator::Descendant => above.so_far,
    };
    reached & 1 << before != 0
}

/// Whether the role and the name of a step match.
fn role_matches(step: &ReadyStep, facts: &Facts<'_>) -> bool {
    match &step.role {
        RoleTest::Any => true,
        RoleTest::Role(role) => facts.role == *role,
        RoleTest::Native(native) => facts.native_role == Some(native),
    }
}

fn heads_match(step: &ReadyStep, facts: &Facts<'_>) -> bool {
    let role = role_matches(step, facts);
    // No name is the same as a blank one: `image:""` finds those without.
    role && step.folded_name.as_deref().is_none_or(|name| folds_to(facts.name.unwrap_or_default(), name))
}

fn text_passes(attr: Attr, test: &TextTest, ignore_case: bool, facts: &Facts<'_>) -> bool {
    // Not even a test that fails may tell anything of a secret.
    let value = if facts.states.has(State::Secure) { None } else { facts.value };
    let texts = match attr {
        Attr::Name => [facts.name, None, None],
        Attr::Value => [value, None, None],
        Attr::Description => [facts.description, None, None],
        Attr::Identifier => [facts.identifier, None, None],
        Attr::NativeRole => [facts.native_role, None, None],
        Attr::Text => [facts.name, value, facts.description],
    };
    texts
        .into_iter()
        .flatten()
        .any(|text| if ignore_case { test.passes(&lower(text)) } else { test.passes(text) })
}
