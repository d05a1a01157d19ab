//! A client's copy of one app's tree, kept by the change stream: the reducer that gives [`crate::change`]'s rules
//! their meaning. Applying the stream to the snapshot it started from gives the daemon's content tree exactly.

use std::collections::HashMap;

use crate::change::{Added, Changed, Difference, Field};
use crate::id::NodeId;
use crate::node::Node;
use crate::state::States;

/// A copy of one app's tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Replica {
    root: Option<NodeId>,
    nodes: HashMap<NodeId, Held>,
}

/// An element as it is held: its facts (with no children in them) and its place.
#[derive(Debug, Clone, PartialEq)]
struct Held {
    facts: Node,
    parent: Option<NodeId>,
    children: Vec<NodeId>,
}

/// The difference does not fit the replica: the stream was not applied from where it started. Take a fresh tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// A place in an element that is not held.
    #[error("{0} is not held, but something is said to be in it")]
    NoParent(NodeId),
    /// A fact about an element that is not held.
    #[error("{0} is not held, but is said to have changed")]
    NotHeld(NodeId),
    /// A place beyond the end.
    #[error("{0} has no place {1}")]
    NoPlace(NodeId, u32),
}

impl Replica {
    /// A copy of this tree; empty if there is none.
    pub fn new(tree: Option<Node>) -> Replica {
        let mut replica = Replica::default();
        if let Some(tree) = tree {
            replica.hold(tree, None);
        }
        replica
    }

    /// How many elements are held.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The root's id.
    pub fn root(&self) -> Option<NodeId> {
        self.root
    }

    /// An element's facts, without its children.
    pub fn get(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(&id).map(|held| &held.facts)
    }

    /// The ids of an element's children, in order.
    pub fn children(&self, id: NodeId) -> &[NodeId] {
        self.nodes.get(&id).map_or(&[], |held| &held.children)
    }

    /// An element's parent.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.nodes.get(&id)?.parent
    }

    /// The whole tree, as a snapshot would show it.
    pub fn tree(&self) -> Option<Node> {
        self.root.map(|root| self.subtree(root))
    }

    /// Applies a difference. After an error the replica is not to be used: take a fresh tree.
    pub fn apply(&mut self, difference: Difference) -> Result<(), Misfit> {
        for id in difference.removed {
            self.drop_subtree(id);
        }
        for moved in &difference.moved {
            self.lift(moved.id);
        }
        for added in &difference.added {
            for node in added.node.walk() {
                self.drop_subtree(node.id);
            }
        }
        for moved in difference.moved {
            self.place(moved.id, moved.parent, moved.index)?;
            self.held(moved.id)?.parent = Some(moved.parent);
        }
        for Added { parent, index, node } in difference.added {
            let id = node.id;
            self.hold(node, parent);
            if let Some(parent) = parent {
                self.place(id, parent, index)?;
            }
        }
        difference.changed.into_iter().try_for_each(|changed| self.change(changed))
    }

    fn held(&mut self, id: NodeId) -> Result<&mut Held, Misfit> {
        self.nodes.get_mut(&id).ok_or(Misfit::NotHeld(id))
    }

    /// Takes an element out of its parent's children; it and what is below it stay held.
    fn lift(&mut self, id: NodeId) {
        let parent = self.nodes.get(&id).and_then(|held| held.parent);
        if let Some(parent) = parent.and_then(|parent| self.nodes.get_mut(&parent)) {
            parent.children.retain(|child| *child != id);
        }
    }

    fn place(&mut self, id: NodeId, parent: NodeId, index: u32) -> Result<(), Misfit> {
        let children = &mut self.nodes.get_mut(&parent).ok_or(Misfit::NoParent(parent))?.children;
        if index as usize > children.len() {
            return Err(Misfit::NoPlace(parent, index));
        }
        children.insert(index as usize, id);
        Ok(())
    }

    fn drop_subtree(&mut self, id: NodeId) {
        self.lift(id);
        let mut doomed = vec![id];
        while let Some(id) = doomed.pop() {
            if let Some(held) = self.nodes.remove(&id) {
                doomed.extend(held.children);
            }
        }
        if self.root == Some(id) {
            self.root = None;
        }
    }

    /// Takes in a tree. Iterative: a hostile daemon must not be able to overflow the stack.
    fn hold(&mut self, tree: Node, parent: Option<NodeId>) {
        if parent.is_none() {
            self.root = Some(tree.id);
        }
        let mut pending = vec![(tree, parent)];
        while let Some((mut node, parent)) = pending.pop() {
            let children = std::mem::take(&mut node.children);
            let id = node.id;
            let held =
                Held { facts: node, parent, children: children.iter().map(|child| child.id).collect() };
            self.nodes.insert(id, held);
            pending.extend(children.into_iter().map(|child| (child, Some(id))));
        }
    }

    fn change(&mut self, changed: Changed) -> Result<(), Misfit> {
        let facts = &mut self.held(changed.id)?.facts;
        let set = changed.set;
        if let Some(role) = set.role {
            facts.role = role;
        }
        for (field, text) in [
            (&mut facts.name, set.name),
            (&mut facts.value, set.value),
            (&mut facts.description, set.description),
            (&mut facts.identifier, set.identifier),
            (&mut facts.native_role, set.native_role),
        ] {
            if text.is_some() {
                *field = text;
            }
        }
        if let Some(states) = set.states {
            facts.states = states;
        }
        if let Some(actions) = set.actions {
            facts.actions = actions;
        }
        if set.children_count.is_some() {
            facts.children_count = set.children_count;
        }
        for field in changed.unset {
            match field {
                Field::Name => facts.name = None,
                Field::Value => facts.value = None,
                Field::Description => facts.description = None,
                Field::Identifier => facts.identifier = None,
                Field::NativeRole => facts.native_role = None,
                Field::States => facts.states = States::NONE,
                Field::Actions => facts.actions.clear(),
                Field::ChildrenCount => facts.children_count = None,
                Field::Role => {}
            }
        }
        Ok(())
    }

    fn subtree(&self, id: NodeId) -> Node {
        // Children are finished before their parents: post-order over an explicit stack.
        let mut order = vec![id];
        let mut next = 0;
        while next < order.len() {
            order.extend(self.children(order[next]));
            next += 1;
        }
        let mut finished: HashMap<NodeId, Node> = HashMap::with_capacity(order.len());
        for id in order.into_iter().rev() {
            let held = &self.nodes[&id];
            let mut node = held.facts.clone();
            node.children = held.children.iter().filter_map(|child| finished.remove(child)).collect();
            // Of a whole tree the count is told only where some are missing. It may count rows, of which each has several children.
            node.truncated = node.children_count.is_some();
            finished.insert(id, node);
        }
        finished.remove(&id).unwrap_or_else(|| self.nodes[&id].facts.clone())
    }
}
