//! Chooses the elements to show: filters, and budgets that cut breadth before depth.

use axd_protocol::text::PartialChildren;
use axd_protocol::{Bounds, Role, State};
use rustc_hash::FxHashMap;

use crate::Tree;
use crate::store::{Ix, Node};

/// The approximate number of bytes per token.
pub(crate) const BYTES_PER_TOKEN: usize = 4;

/// Which elements to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Filter {
    /// All elements.
    #[default]
    All,
    /// Interactive elements, and their containers.
    Interactive,
    /// Only containers.
    Skeleton,
}

/// What to show.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// Which elements to show.
    pub filter: Filter,
    /// The maximum number of levels below the root.
    pub depth: Option<u32>,
    /// Whether to show menu bars.
    pub menubar: bool,
    /// The maximum number of elements.
    pub max_nodes: Option<usize>,
    /// The approximate maximum number of tokens of text.
    pub max_tokens: Option<usize>,
    /// The bounds of the elements that were measured.
    pub bounds: Option<FxHashMap<Ix, Bounds>>,
    /// If given, only visible elements are shown (and their containers).
    pub visible: Option<FxHashMap<Ix, bool>>,
}

/// An element to be shown, in output order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// The element.
    pub ix: Ix,
    /// The number of shown ancestors.
    pub depth: u32,
    /// How many children it has and how many are shown, if a budget, the depth or the app itself left some out.
    pub cut: Option<PartialChildren>,
    /// Whether children were left out for another reason than the skeleton filter.
    pub truncated: bool,
}

/// The result of [`Tree::show`].
#[derive(Debug)]
pub struct Showing {
    /// The elements, parents before children.
    pub nodes: Vec<Shown>,
    /// Whether a budget left something out.
    pub truncated: bool,
}

/// An element that passed the filters.
#[derive(Clone, Copy)]
struct Item {
    ix: Ix,
    /// The position of the item it is shown under.
    parent: u32,
    depth: u32,
    /// The number of children that passed.
    children: u32,
    /// The total number of children, and whether that is more than have been read. Stored here so that each node is accessed
    /// only once: in a large tree these accesses take most of the time.
    total: u32,
    partial: bool,
    keep: bool,
    /// Whether the depth limit hid its children.
    clipped: bool,
}

impl Tree {
    /// Chooses what to show of `root` and the elements below it.
    pub fn show(&self, root: Ix, view: &View) -> Showing {
        let mut items = self.pass_filters(root, view);
        if view.filter != Filter::All || view.visible.is_some() {
            items = self.prune(items, view);
        }
        let truncated = cut_to_budget(self, &mut items, view);
        let mut shown_children = vec![0_u32; items.len()];
        for at in (1..items.len()).filter(|at| items[*at].keep) {
            shown_children[items[at].parent as usize] += 1;
        }
        let nodes = items
            .iter()
            .zip(shown_children)
            .filter(|(item, _)| item.keep)
            .map(|(item, shown)| item.shown(shown, view));
        Showing { nodes: nodes.collect(), truncated }
    }

    /// All elements that the depth limit and the menu bar rule allow, in tree order.
    fn pass_filters(&self, root: Ix, view: &View) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        let mut stack = vec![(root, 0_u32, 0_u32)];
        while let Some((ix, parent, depth)) = stack.pop() {
            let node = &self.store[ix];
            if node.role == Role::MenuBar && !view.menubar && ix != root {
                items[parent as usize].children -= 1;
                continue;
            }
            let at = items.len() as u32;
            let clipped = view.depth.is_some_and(|most| depth >= most);
            let mut children = 0;
            if !clipped {
                stack.extend(node.children.iter().rev().map(|child| (*child, at, depth + 1)));
                children = node.children.len() as u32;
            }
            let (total, partial) = (node.total.unwrap_or(node.children.len() as u32), node.total.is_some());
            items.push(Item { ix, parent, depth, children, total, partial, keep: true, clipped });
        }
        items
    }

    /// Drops the elements that the filter rejects; their children move up to the nearest kept ancestor.
    fn prune(&self, items: Vec<Item>, view: &View) -> Vec<Item> {
        let mut wanted: Vec<bool> = items.iter().map(|item| self.is_wanted(item.ix, view)).collect();
        // A container of a wanted element is kept if it shows where that element is.
        let mut holds = wanted.clone();
        for at in (1..items.len()).rev() {
            if holds[at] {
                holds[items[at].parent as usize] = true;
            }
        }
        for at in 0..items.len() {
            let node = &self.store[items[at].ix];
            wanted[at] |= at == 0 || holds[at] && says_where(node);
        }
        // The position of the nearest kept element at or above each item.
        let mut kept: Vec<Item> = Vec::new();
        let mut home = vec![0_u32; items.len()];
        for (at, item) in items.iter().enumerate() {
            let above = if at == 0 { 0 } else { home[item.parent as usize] };
            if !wanted[at] {
                home[at] = above;
                continue;
            }
            home[at] = kept.len() as u32;
            let depth = if at == 0 { 0 } else { kept[above as usize].depth + 1 };
            if at != 0 {
                kept[above as usize].children += 1;
            }
            kept.push(Item { parent: above, depth, children: 0, ..*item });
        }
        kept
    }

    fn is_wanted(&self, ix: Ix, view: &View) -> bool {
        let node = &self.store[ix];
        let hidden = node.states.has(State::Hidden);
        // An element that could not be measured counts as visible unless its states say otherwise.
        let shown = !hidden && !node.states.has(State::Offscreen);
        let in_sight = view.visible.as_ref().is_none_or(|visible| visible.get(&ix).copied().unwrap_or(shown));
        in_sight
            && match view.filter {
                Filter::All => true,
                Filter::Interactive => {
                    !hidden && (node.role.is_interactive() || node.states.has(State::Editable))
                }
                Filter::Skeleton => {
                    !node.role.is_interactive() && (says_where(node) || !node.children.is_empty())
                }
            }
    }
}

impl Item {
    /// The item as it is shown, with this number of children shown.
    fn shown(&self, shown: u32, view: &View) -> Shown {
        let left_out = self.partial || self.clipped && self.total > 0 || shown < self.children;
        let counts = left_out || view.filter == Filter::Skeleton && shown < self.total;
        // Where the filter moves children up from dropped elements, the total counts what the filter would show.
        let moved_up = view.filter == Filter::Interactive && !self.partial && !self.clipped;
        let total = if moved_up { self.children } else { self.total };
        Shown {
            ix: self.ix,
            depth: self.depth,
            cut: counts.then_some(PartialChildren { total, shown }),
            truncated: left_out,
        }
    }
}

/// Whether an element shows something about the place of its contents.
fn says_where(node: &Node) -> bool {
    let plain = matches!(
        node.role,
        Role::Group | Role::ScrollArea | Role::SplitGroup | Role::Unknown | Role::Paragraph | Role::Separator
    );
    node.role.is_window()
        || node.role == Role::Application
        || !plain && !node.children.is_empty()
        || node.name.is_some() && !node.children.is_empty()
}

/// Keeps what the budgets allow: elements nearer to the root first, then in tree order. Returns whether anything was cut.
fn cut_to_budget(tree: &Tree, items: &mut [Item], view: &View) -> bool {
    let most = view.max_nodes.unwrap_or(usize::MAX);
    if items.len() <= most && view.max_tokens.is_none() {
        return false;
    }
    let mut by_depth: Vec<u32> = (0..items.len() as u32).collect();
    by_depth.sort_by_key(|at| items[*at as usize].depth);
    let mut tokens = view.max_tokens.unwrap_or(usize::MAX);
    let mut count = 0;
    let mut full = false;
    for at in by_depth {
        let item = &items[at as usize];
        let cost = if view.max_tokens.is_some() { line_tokens(&tree.store[item.ix], item.depth) } else { 0 };
        // The root is always shown. Once one element is cut, all after it are, or depth would come before breadth.
        full |= count > 0 && (count >= most || cost > tokens);
        items[at as usize].keep = !full;
        tokens = tokens.saturating_sub(cost);
        count += usize::from(!full);
    }
    full
}

fn line_tokens(node: &Node, depth: u32) -> usize {
    let text = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| text.len().min(400) + 3);
    let states = 9 * node.states.iter().count();
    let called = if node.name.is_some() { text(&node.name) } else { text(&node.description) };
    (2 * depth as usize + node.role.name().len() + called + text(&node.value) + 12 + states)
        .div_ceil(BYTES_PER_TOKEN)
}
