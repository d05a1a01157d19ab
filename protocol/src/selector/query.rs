//! One search with a matcher over a tree that does not change meanwhile.
//!
//! Trying every assignment of a path's steps to ancestors could take exponential time. Instead, the search computes for each
//! node which steps are matched there ([`Reach`]), from the result for its parent. So it visits every node about once per
//! step; only a `:has` of several steps may visit a node again from each of its ancestors. It recurses only over the nesting
//! of the selector, never over the tree.

use std::collections::HashMap;

use super::ast::{Attr, Combinator, RoleTest};
use super::budget::spend;
use super::fold::{folds_to, lower};
use super::matcher::{
    Facts, Forest, Matcher, ReadyPart, ReadyPath, ReadyStep, TextTest, takes_name_from_content,
};
use crate::state::State;

/// Which steps of a path are matched at a node: one bit per step, because a selector has at most 16.
#[derive(Clone, Copy, Default)]
struct Reach {
    /// A bit is set if the steps up to this one are matched, and this one by the node itself.
    here: u32,
    /// A bit is set if the steps up to this one are matched, and this one by the node or an ancestor.
    so_far: u32,
}

/// The child of a parent that an `:nth` selects.
#[derive(Clone, Copy)]
enum NthChild<N> {
    /// This node.
    Node(N),
    /// The nodes with this row index in a virtual container.
    Row(i64),
    /// No child, because there are fewer.
    None,
}

/// One search with its caches. Sites are unique within a matcher, so that one map serves all of them.
pub(super) struct Query<'q, F: Forest> {
    matcher: &'q Matcher,
    forest: &'q F,
    /// Which steps of a path (by index) are matched at a node, without the last step.
    reach: HashMap<(usize, F::Node), Reach>,
    /// Whether a `:has` holds at a node.
    has: HashMap<(usize, F::Node), bool>,
    /// The child of a parent that an `:nth` selects.
    nth: HashMap<(usize, F::Node), NthChild<F::Node>>,
}

impl<'q, F: Forest> Query<'q, F> {
    pub fn new(matcher: &'q Matcher, forest: &'q F) -> Query<'q, F> {
        Query { matcher, forest, reach: HashMap::new(), has: HashMap::new(), nth: HashMap::new() }
    }

    /// Finds the matches in `scope` in tree order, up to `limit`, by walking it.
    pub fn walk(&mut self, scope: F::Node, limit: usize) -> Vec<F::Node> {
        let mut found = Vec::new();
        // Each entry is a node whose children are being visited, with the index of the next child.
        let mut open: Vec<(F::Node, usize)> = Vec::new();
        let mut visiting = Some(scope);
        while let Some(node) = visiting {
            if found.len() >= limit || !spend(1) {
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

    /// Finds the matches among `candidates` that are in `scope`, in tree order, each once, up to `limit`.
    pub fn pick(
        &mut self,
        scope: F::Node,
        candidates: impl IntoIterator<Item = F::Node>,
        limit: usize,
    ) -> Vec<F::Node> {
        let mut found: Vec<(Vec<usize>, F::Node)> = Vec::new();
        for node in candidates {
            if !spend(2) {
                break;
            }
            if self.matches(node) && self.in_scope(scope, node) {
                found.push((self.position(node), node));
            }
        }
        // Only roots share a position, and they are never in the same scope.
        found.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        found.dedup_by(|one, other| one.1 == other.1);
        found.into_iter().take(limit).map(|(_, node)| node).collect()
    }

    /// Whether `node` is `scope` or one of its descendants.
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
        // The cheapest test comes first, because most nodes fail on their role or name.
        self.head_matches(step, node, &facts)
            && (last == 0 || {
                let above = self.reach_at(index, path, self.forest.parent(node));
                may_follow(path, last, above)
            })
            && self.parts_hold(&step.parts, step, node, &facts)
    }

    /// Whether any path could match an element in `container` that is not in the tree. All that is known of such an element is
    /// that it is a descendant of the container, and which roles are never in a container of rows.
    pub fn may_match_in(&mut self, container: F::Node) -> bool {
        let matcher = self.matcher;
        let is_menu = self.forest.facts(container).role == crate::role::Role::Menu;
        matcher.paths.iter().enumerate().any(|(index, path)| {
            if is_menu {
                // The items of a closed menu are not what a selector means that does not say so.
                let last = path.steps.last();
                return last.is_some_and(|(_, step)| names_a_menu_item(step));
            }
            // An element that is not in the tree may decide a `:has` of its ancestors.
            if path.steps.iter().any(|(_, step)| looks_below(step)) {
                return true;
            }
            let above = self.reach_at(index, path, Some(container));
            let may_be_there = |from: usize| path.steps[from..].iter().all(|(_, step)| may_be_a_row(step));
            (0..path.steps.len()).any(|from| may_follow(path, from, above) && may_be_there(from))
        })
    }

    /// Which steps of a path are matched at `node`, without the last step, which may be expensive and is tested on candidates only.
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
        if !spend(unknown.len() as u64) {
            return reach;
        }
        for ancestor in unknown.into_iter().rev() {
            reach = self.advance(path, path.steps.len() - 1, reach, ancestor);
            self.reach.insert((index, ancestor), reach);
        }
        reach
    }

    /// Which of the first `steps` steps of a path are matched at `node`, from the result `above` for its parent.
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

    /// Whether the role and the name of a step match. The text in a node serves as its name if the matcher allows that.
    fn head_matches(&self, step: &ReadyStep, node: F::Node, facts: &Facts<'_>) -> bool {
        if heads_match(step, facts) {
            return true;
        }
        let (true, Some(name)) = (self.matcher.names_from_content, step.folded_name.as_deref()) else {
            return false;
        };
        let nameless = facts.name.is_none_or(|name| name.trim().is_empty()) && !name.is_empty();
        let by_content =
            nameless && takes_name_from_content(facts.role) && role_matches(step, facts) && spend(8);
        by_content && self.forest.name_from_content(node).is_some_and(|text| folds_to(&text, name))
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

    /// Whether an `:nth` that follows the first `before` parts of `step` selects `node`, which matches those parts.
    fn is_nth(
        &mut self,
        site: usize,
        ordinal: i32,
        step: &'q ReadyStep,
        before: usize,
        node: F::Node,
    ) -> bool {
        let Some(parent) = self.forest.parent(node) else { return matches!(ordinal, 1 | -1) };
        let selected = match self.nth.get(&(site, parent)) {
            Some(selected) => *selected,
            None => {
                let selected = self.nth_child(ordinal, step, before, parent);
                self.nth.insert((site, parent), selected);
                selected
            }
        };
        match selected {
            NthChild::Node(selected) => selected == node,
            NthChild::Row(row) => self.forest.row_index(node).is_some_and(|index| i64::from(index) == row),
            NthChild::None => false,
        }
    }

    /// The child of `parent` that an `:nth` selects. If any counted child has a row index in a virtual container, the row index
    /// is used, because which rows are in the tree depends on how far the user has scrolled.
    fn nth_child(
        &mut self,
        ordinal: i32,
        step: &'q ReadyStep,
        before: usize,
        parent: F::Node,
    ) -> NthChild<F::Node> {
        let mut counted = Vec::new();
        let mut last_row = None;
        for i in 0..self.forest.child_count(parent) {
            if !spend(1) {
                break;
            }
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
        let index = if ordinal > 0 { i64::from(ordinal) - 1 } else { count + i64::from(ordinal) };
        match usize::try_from(index) {
            Ok(_) if last_row.is_some() => NthChild::Row(index),
            Ok(index) => counted.get(index).copied().map_or(NthChild::None, NthChild::Node),
            Err(_) => NthChild::None,
        }
    }

    /// Whether a path matches below `node`, with all of its steps.
    fn has_below(&mut self, site: usize, path: &'q ReadyPath, node: F::Node) -> bool {
        if let Some(known) = self.has.get(&(site, node)) {
            return *known;
        }
        // The descendants of a node are descendants of its parent too.
        let excluded =
            self.forest.parent(node).is_some_and(|parent| self.has.get(&(site, parent)) == Some(&false));
        let holds = !excluded && self.search_below(site, path, node);
        self.has.insert((site, node), holds);
        holds
    }

    fn search_below(&mut self, site: usize, path: &'q ReadyPath, node: F::Node) -> bool {
        let steps = path.steps.len();
        let mut open = vec![(node, 0)];
        // The steps that are matched at each node of `open`; ancestors of the first do not count.
        let mut reaches = vec![Reach::default()];
        while let Some(child) = self.next_child(&mut open) {
            if !spend(1) {
                return false;
            }
            reaches.truncate(open.len());
            let above = reaches.last().copied().unwrap_or_default();
            let reach = self.advance(path, steps, above, child);
            let known = self.has.get(&(site, child)).copied();
            if reach.here & 1 << (steps - 1) != 0 || known == Some(true) {
                if steps == 1 {
                    // It is below every node on the way too, so that none of them has to be searched.
                    self.has.extend(open.iter().map(|(ancestor, _)| ((site, *ancestor), true)));
                }
                return true;
            }
            // A longer path may start above an excluded node and end below it; a single step cannot.
            if steps > 1 || known.is_none() {
                open.push((child, 0));
                reaches.push(reach);
            }
        }
        false
    }

    /// The next child of the innermost open node that has one left; nodes without one are closed.
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

    /// Iterates over `node` and its ancestors.
    fn up_from(&self, node: Option<F::Node>) -> impl Iterator<Item = F::Node> + use<'q, F> {
        let forest = self.forest;
        std::iter::successors(node, |node| forest.parent(*node))
    }

    /// The child indexes from the root to `node`, which sort in tree order.
    fn position(&self, node: F::Node) -> Vec<usize> {
        let mut position: Vec<usize> =
            self.up_from(Some(node)).filter_map(|node| self.forest.index_in_parent(node)).collect();
        position.reverse();
        position
    }
}

/// Whether a step depends on the descendants of the element.
fn looks_below(step: &ReadyStep) -> bool {
    step.parts.iter().any(|part| match part {
        ReadyPart::Has { .. } => true,
        ReadyPart::Not(step) => looks_below(step),
        _ => false,
    })
}

/// Whether a step could match an element in a container of rows.
fn may_be_a_row(step: &ReadyStep) -> bool {
    use crate::role::Role as R;
    match &step.role {
        RoleTest::Role(R::Application | R::MenuBar | R::Toolbar | R::StatusBar) => false,
        RoleTest::Role(role) => !role.is_window(),
        RoleTest::Any | RoleTest::Native(_) => true,
    }
}

/// Whether a step names the role of something in a menu.
fn names_a_menu_item(step: &ReadyStep) -> bool {
    use crate::role::Role as R;
    matches!(step.role, RoleTest::Role(R::MenuItem | R::MenuItemCheckbox | R::MenuItemRadio))
}

/// Whether step `i` of a path may be matched at a node, given the result `above` for its parent.
fn may_follow(path: &ReadyPath, i: usize, above: Reach) -> bool {
    let Some(before) = i.checked_sub(1) else { return true };
    let reached = match path.steps[i].0 {
        Combinator::Child => above.here,
        Combinator::Descendant => above.so_far,
    };
    reached & 1 << before != 0
}

/// Whether the role of a step matches.
fn role_matches(step: &ReadyStep, facts: &Facts<'_>) -> bool {
    match &step.role {
        RoleTest::Any => true,
        RoleTest::Role(role) => facts.role.is_kind_of(*role),
        RoleTest::Native(native) => facts.native_role == Some(native),
    }
}

/// Whether the role and the name of a step match.
fn heads_match(step: &ReadyStep, facts: &Facts<'_>) -> bool {
    let role = role_matches(step, facts);
    // An absent name equals an empty one, so that `image:""` finds images without a name.
    role && step.folded_name.as_deref().is_none_or(|name| folds_to(facts.name.unwrap_or_default(), name))
}

fn text_passes(attr: Attr, test: &TextTest, ignore_case: bool, facts: &Facts<'_>) -> bool {
    // The value of a secure field is never tested, because even a failed test would reveal something about it.
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
        // Long texts take longer to go through than a node does to look at.
        .take_while(|text| spend(text.len() as u64 / 256))
        .any(|text| if ignore_case { test.passes(&lower(text)) } else { test.passes(text) })
}
