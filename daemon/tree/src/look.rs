//! The short form of a tree, for readers who want to know what can be done in a window and what it says.
//!
//! Shown are the controls and whatever has a name, a value or a description, as far as their app says that they are visible. What
//! holds others and says nothing has no line: its children are shown in its place. The rules are documented in `docs/mcp.md`.

use std::borrow::Cow;

use axd_protocol::text::{PartialChildren, children_noun, quote_within};
use axd_protocol::{Role, State, States};

use crate::store::{Ix, Node};
use crate::view::BYTES_PER_TOKEN;
use crate::{Tree, UNCOUNTED};

/// The maximum number of characters of a name or value that is shown; `get` shows all of it.
const MAX_TEXT_CHARS: usize = 160;
/// The maximum number of elements that are shown.
const MAX_NODES: usize = 10_000;

/// How much to show.
#[derive(Debug, Clone, Copy, Default)]
pub struct LookBudget {
    /// The maximum number of levels below the root, in the tree as it is shown.
    pub depth: Option<u32>,
    /// The approximate maximum number of tokens, for what is nearest the root first.
    pub max_tokens: Option<usize>,
}

/// What a look shows.
#[derive(Debug, Default)]
pub struct Look {
    /// A line for each element.
    pub lines: String,
    /// The number of elements.
    pub nodes: usize,
    /// Whether the budget left any out.
    pub truncated: bool,
}

/// An element that is shown.
struct Item<'t> {
    ix: Ix,
    depth: u32,
    /// What it is called.
    label: Option<Cow<'t, str>>,
    /// Whether the label is the text of elements in it.
    is_lent: bool,
    keep: bool,
}

impl Tree {
    /// What is to be seen of `root` and what is in it.
    pub fn look(&self, root: Ix, budget: LookBudget) -> Look {
        let mut items = self.visible_items(root, true);
        let lines: Vec<String> = items.iter().map(|item| self.look_line(item)).collect();
        let truncated = cut(&mut items, &lines, budget);
        let kept = || items.iter().zip(&lines).filter(|(item, _)| item.keep);
        let mut look = Look { nodes: kept().count(), truncated, ..Look::default() };
        self.write_lines(kept(), &mut look.lines);
        look
    }

    /// What is to be seen of an element and what is in it, if that has come into a window. The element itself has no line unless
    /// it would have one in a look at the window.
    pub(crate) fn look_at_part(&self, root: Ix) -> String {
        let mut out = String::new();
        let items = self.visible_items(root, false);
        let lines: Vec<String> = items.iter().map(|item| self.look_line(item)).collect();
        self.write_lines(items.iter().zip(&lines), &mut out);
        out
    }

    /// The elements that are shown, parents before children. The root is visible in any case if it `is_subject`.
    fn visible_items(&self, root: Ix, is_subject: bool) -> Vec<Item<'_>> {
        let mut items: Vec<Item<'_>> = Vec::new();
        // Each with the depth of its line and the item that it is shown in.
        let mut stack: Vec<(Ix, u32, Option<usize>)> = vec![(root, 0, None)];
        while let Some((ix, depth, within)) = stack.pop() {
            let node = &self.store[ix];
            let is_given = is_subject && ix == root;
            if node.states.has(State::Hidden) && !is_given {
                continue;
            }
            let (mut depth, mut within) = (depth, within);
            let label = self.label_of(ix);
            let repeats = || within.is_some_and(|above| self.repeats(ix, label.as_deref(), &items[above]));
            let is_seen = !node.states.has(State::Offscreen) || is_given;
            if is_seen && self.says_something(ix, label.as_deref()) && !repeats() {
                let is_lent = node.name.as_deref().is_none_or(|name| name.trim().is_empty());
                items.push(Item { ix, depth, label, is_lent, keep: true });
                (depth, within) = (depth + 1, Some(items.len() - 1));
            }
            stack.extend(node.children.iter().rev().map(|child| (*child, depth, within)));
        }
        self.drop_labels_of_fields(&mut items);
        self.return_texts_to_cells(&mut items);
        items
    }

    /// Writes the lines of elements. Texts that follow one another share a line.
    fn write_lines<'i, 't: 'i>(
        &self,
        items: impl Iterator<Item = (&'i Item<'t>, &'i String)>,
        out: &mut String,
    ) {
        let mut text_above: Option<u32> = None;
        for (item, line) in items {
            let is_text = self.is_bare_text(item);
            if is_text && text_above == Some(item.depth) {
                out.truncate(out.trim_end().len());
                out.push_str(&line[Role::Text.name().len()..]);
                out.push('\n');
            } else {
                push_line(item.depth, line, out);
            }
            text_above = is_text.then_some(item.depth);
        }
    }

    /// Whether the line of an element is the role and its name, and the role is that of texts.
    fn is_bare_text(&self, item: &Item<'_>) -> bool {
        let node = &self.store[item.ix];
        let is_more = is_text(&node.value) || node.total.is_some() || has_id(node);
        node.role == Role::Text && item.label.is_some() && !is_more && telling_states(node).is_empty()
    }

    /// What an element is called: its name, or the text in it if it is an item or a button.
    pub(crate) fn label_of(&self, ix: Ix) -> Option<Cow<'_, str>> {
        let name = self.store[ix].name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        name.map(Cow::Borrowed).or_else(|| self.lent(ix).map(Cow::Owned))
    }

    /// Whether an element is a control, or tells something by itself.
    fn says_something(&self, ix: Ix, label: Option<&str>) -> bool {
        let node = &self.store[ix];
        // What only holds others is told by what it is called; its description is that of a control in it.
        let is_described = (!node.role.is_plain() || node.children.is_empty()) && is_text(&node.description);
        let has_text = label.is_some() || is_text(&node.value) || is_described;
        match node.role {
            Role::Application | Role::Separator => false,
            // What they move is scrolled by `scroll`.
            Role::ScrollBar => label.is_some(),
            role if role.is_interactive() || role.is_window() => true,
            _ => {
                let acts = node.states.has(State::Editable) || node.states.has(State::Focused);
                has_text || acts || node.total.is_some()
            }
        }
    }

    /// Whether an element only repeats what the one that it is shown in is called.
    fn repeats(&self, ix: Ix, label: Option<&str>, above: &Item<'_>) -> bool {
        let node = &self.store[ix];
        let (Some(label), Some(called)) = (label, above.label.as_deref()) else { return false };
        let tells_more = is_text(&node.value) || !telling_states(node).is_empty();
        if node.role.is_interactive() || node.role.is_window() || tells_more {
            return false;
        }
        let is_part = matches!(node.role, Role::Text | Role::Heading | Role::Paragraph | Role::Image)
            && self.store[above.ix].role.is_interactive();
        called == label || is_part && format!(" {called} ").contains(&format!(" {label} "))
    }

    /// Drops the texts that are the labels of what is beside them: a control, or a group, of the same name. So are groups dropped
    /// that have nothing in them and are called as what is beside them.
    fn drop_labels_of_fields(&self, items: &mut Vec<Item<'_>>) {
        let is_label_like = |item: &Item<'_>| matches!(self.store[item.ix].role, Role::Text | Role::Heading);
        let bare = |item: &Item<'_>| {
            item.label.as_deref().map(|label| label.trim_end_matches([':', ' ']).to_owned())
        };
        let is_label = |at: usize| {
            let (item, node) = (&items[at], &self.store[items[at].ix]);
            let has_contents = items.get(at + 1).is_some_and(|next| next.depth > item.depth);
            let is_group = node.role == Role::Group && telling_states(node).is_empty();
            let same = |other: Option<&Item<'_>>| {
                other.is_some_and(|other| (is_group || !is_label_like(other)) && bare(other) == bare(item))
            };
            (is_label_like(item) || is_group)
                && !is_text(&node.value)
                && !has_contents
                && item.label.is_some()
                && (same(items.get(at + 1)) || at > 0 && same(items.get(at - 1)))
        };
        let labels: Vec<bool> = (0..items.len()).map(is_label).collect();
        let mut at = 0;
        items.retain(|_| {
            at += 1;
            !labels[at - 1]
        });
    }

    /// A row without a name is called by the text in it, unless its cells are shown with that text.
    fn return_texts_to_cells(&self, items: &mut [Item<'_>]) {
        for at in 0..items.len() {
            if !items[at].is_lent || items[at].label.is_none() {
                continue;
            }
            let below = items[at + 1..].iter().take_while(|item| item.depth > items[at].depth);
            let mut cells = below.filter(|item| self.store[item.ix].role.is_interactive());
            let lent = items[at].label.as_deref().unwrap_or_default();
            if cells.any(|cell| cell.label.as_deref().is_some_and(|label| lent.contains(label))) {
                items[at].label = None;
            }
        }
    }

    /// The line of an element, without its indentation.
    fn look_line(&self, item: &Item<'_>) -> String {
        let node = &self.store[item.ix];
        let mut out = node.role.name().to_owned();
        let quoted = |text: &str, out: &mut String| quote_within(text, MAX_TEXT_CHARS, out);
        if let Some(label) = item.label.as_deref() {
            out.push(' ');
            quoted(label, &mut out);
        } else if let Some(description) = node.description.as_deref().filter(|text| !text.is_empty()) {
            out.push_str(" [description=");
            quoted(description, &mut out);
            out.push(']');
        }
        let value = node.value.as_deref().filter(|value| !value.is_empty());
        if let Some(value) = value.filter(|value| item.label.as_deref() != Some(value)) {
            out.push_str(" = ");
            quoted(value, &mut out);
        }
        if has_id(node) {
            out.push(' ');
            out.push_str(node.id.as_str());
        }
        for state in telling_states(node).iter() {
            out.push(' ');
            out.push_str(state.name());
        }
        if let Some(total) = node.total {
            let PartialChildren { total, shown } = PartialChildren { total, shown: self.shown_rows(item.ix) };
            match total {
                UNCOUNTED => {
                    out.push_str(&format!(" ({shown} {} shown)", children_noun(node.role, shown)));
                }
                total => {
                    out.push_str(&format!(" ({total} {}, {shown} shown)", children_noun(node.role, total)))
                }
            }
        }
        out
    }

    /// The number of rows of a container that were read.
    fn shown_rows(&self, ix: Ix) -> u32 {
        self.unread_of(ix).map_or(self.store[ix].children.len() as u32, |unread| unread.read)
    }
}

fn is_text(text: &Option<Box<str>>) -> bool {
    text.as_deref().is_some_and(|text| !text.trim().is_empty())
}

/// Whether a line has an id. What is only read is named by its role and its name.
fn has_id(node: &Node) -> bool {
    let is_only_read = matches!(
        node.role,
        Role::Text
            | Role::Heading
            | Role::Paragraph
            | Role::Image
            | Role::Tooltip
            | Role::ProgressBar
            | Role::Meter
            | Role::Group
            | Role::Form
            | Role::Landmark
            | Role::StatusBar
    );
    !is_only_read || node.states.has(State::Editable) || node.total.is_some() || node.name.is_none()
}

/// The states that say more than the role does.
fn telling_states(node: &Node) -> States {
    let mut states = node.states;
    states.set(State::Multiselectable, false);
    match node.role {
        Role::TextField | Role::TextArea | Role::SearchField | Role::SpinButton => {
            states.set(State::Editable, false);
        }
        Role::Menu | Role::Combobox => {
            states.set(State::Collapsed, false);
            states.set(State::Haspopup, false);
        }
        _ => {}
    }
    states
}

fn push_line(depth: u32, line: &str, out: &mut String) {
    (0..depth).for_each(|_| out.push_str("  "));
    out.push_str(line);
    out.push('\n');
}

/// Leaves out what is over the budget: what is deepest first. Returns whether anything was.
fn cut(items: &mut [Item<'_>], lines: &[String], budget: LookBudget) -> bool {
    let mut by_depth: Vec<usize> = (0..items.len()).collect();
    by_depth.sort_by_key(|at| items[*at].depth);
    let mut tokens = budget.max_tokens.unwrap_or(usize::MAX);
    let (mut count, mut full) = (0, false);
    let mut truncated = false;
    for at in by_depth {
        let item = &mut items[at];
        let cost = (2 * item.depth as usize + lines[at].len() + 1).div_ceil(BYTES_PER_TOKEN);
        // One element is always shown. Once one is left out, all after it are, or depth would come before breadth.
        full |= count > 0 && (count >= MAX_NODES || cost > tokens);
        item.keep = !full && budget.depth.is_none_or(|most| item.depth <= most);
        truncated |= !item.keep;
        tokens = tokens.saturating_sub(cost);
        count += usize::from(item.keep);
    }
    truncated
}
