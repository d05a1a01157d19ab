//! A client's copy of one app's tree, kept current by the change stream. It implements the rules of [`crate::change`]:
//! applying the stream to the snapshot it started from gives exactly the daemon's content tree.

use std::collections::HashMap;

use crate::change::{Added, Changed, Difference, Field};
use crate::id::NodeId;
use crate::node::Node;
use crate::state::States;

/// A copy of one app's tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Replica {
    root: Option<NodeId>,
    nodes: HashMap<NodeId, Entry>,
}

/// An element of the replica: its properties (without children) and its position.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    facts: Node,
    parent: Option<NodeId>,
    children: Vec<NodeId>,
}

/// The error for a difference that does not fit the replica, because the stream was not applied from its start. The client
/// must take a full tree again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplicaError {
    /// An element was added to a parent that is not in the replica.
    #[error("a child was added to {0}, which is not in the replica")]
    UnknownParent(NodeId),
    /// An element changed that is not in the replica.
    #[error("{0} changed, but is not in the replica")]
    UnknownElement(NodeId),
    /// A child was added beyond the end of its parent's children.
    #[error("a child was added to {0} at index {1}, which is out of range")]
    IndexOutOfRange(NodeId, u32),
}

impl Replica {
    /// A replica of this tree; empty if there is none.
    pub fn new(tree: Option<Node>) -> Replica {
        let mut replica = Replica::default();
        if let Some(tree) = tree {
            replica.insert_tree(tree, None);
        }
        replica
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the replica has no elements.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The root's id.
    pub fn root(&self) -> Option<NodeId> {
        self.root
    }

    /// An element without its children.
    pub fn get(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(&id).map(|entry| &entry.facts)
    }

    /// The ids of an element's children, in order.
    pub fn children(&self, id: NodeId) -> &[NodeId] {
        self.nodes.get(&id).map_or(&[], |entry| &entry.children)
    }

    /// An element's parent.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.nodes.get(&id)?.parent
    }

    /// The tree, as a snapshot would show it.
    pub fn tree(&self) -> Option<Node> {
        self.root.map(|root| self.subtree(root))
    }

    /// Applies a difference. After an error the replica must not be used any more.
    pub fn apply(&mut self, difference: Difference) -> Result<(), ReplicaError> {
        for id in difference.removed {
            self.drop_subtree(id);
        }
        for moved in &difference.moved {
            self.unlink(moved.id);
        }
        for added in &difference.added {
            for node in added.node.walk() {
                self.drop_subtree(node.id);
            }
        }
        for moved in difference.moved {
            self.link(moved.id, moved.parent, moved.index)?;
            self.entry_mut(moved.id)?.parent = Some(moved.parent);
        }
        for Added { parent, index, node } in difference.added {
            let id = node.id;
            self.insert_tree(node, parent);
            if let Some(parent) = parent {
                self.link(id, parent, index)?;
            }
        }
        difference.changed.into_iter().try_for_each(|changed| self.change(changed))
    }

    fn entry_mut(&mut self, id: NodeId) -> Result<&mut Entry, ReplicaError> {
        self.nodes.get_mut(&id).ok_or(ReplicaError::UnknownElement(id))
    }

    /// Removes an element from its parent's children. The element and its subtree stay in the replica.
    fn unlink(&mut self, id: NodeId) {
        let parent = self.nodes.get(&id).and_then(|entry| entry.parent);
        if let Some(parent) = parent.and_then(|parent| self.nodes.get_mut(&parent)) {
            parent.children.retain(|child| *child != id);
        }
    }

    /// Inserts an element into its parent's children.
    fn link(&mut self, id: NodeId, parent: NodeId, index: u32) -> Result<(), ReplicaError> {
        let children = &mut self.nodes.get_mut(&parent).ok_or(ReplicaError::UnknownParent(parent))?.children;
        if index as usize > children.len() {
            return Err(ReplicaError::IndexOutOfRange(parent, index));
        }
        children.insert(index as usize, id);
        Ok(())
    }

    fn drop_subtree(&mut self, id: NodeId) {
        self.unlink(id);
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            if let Some(entry) = self.nodes.remove(&id) {
                pending.extend(entry.children);
            }
        }
        if self.root == Some(id) {
            self.root = None;
        }
    }

    /// Adds a tree. It does not recurse, because a hostile daemon must not be able to overflow the stack.
    fn insert_tree(&mut self, tree: Node, parent: Option<NodeId>) {
        if parent.is_none() {
            self.root = Some(tree.id);
        }
        let mut pending = vec![(tree, parent)];
        while let Some((mut node, parent)) = pending.pop() {
            let children = std::mem::take(&mut node.children);
            let id = node.id;
            let entry =
                Entry { facts: node, parent, children: children.iter().map(|child| child.id).collect() };
            self.nodes.insert(id, entry);
            pending.extend(children.into_iter().map(|child| (child, Some(id))));
        }
    }

    fn change(&mut self, changed: Changed) -> Result<(), ReplicaError> {
        let facts = &mut self.entry_mut(changed.id)?.facts;
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
        // Children are built before their parents, without recursion, because the tree may be deep.
        let mut order = vec![id];
        let mut next = 0;
        while next < order.len() {
            order.extend(self.children(order[next]));
            next += 1;
        }
        let mut finished: HashMap<NodeId, Node> = HashMap::with_capacity(order.len());
        for id in order.into_iter().rev() {
            let entry = &self.nodes[&id];
            let mut node = entry.facts.clone();
            node.children = entry.children.iter().filter_map(|child| finished.remove(child)).collect();
            // A full tree has the count only where children are missing. It may count rows, each of which has several children.
            node.truncated = node.children_count.is_some();
            finished.insert(id, node);
        }
        finished.remove(&id).unwrap_or_else(|| self.nodes[&id].facts.clone())
    }
}
