//! Elements, as clients see them.

use serde::{Deserialize, Serialize};

use crate::geometry::Bounds;
use crate::id::NodeId;
use crate::role::Role;
use crate::state::States;

/// An element with its descendants. An absent field has no value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Node {
    /// Its stable id.
    pub id: NodeId,
    /// Its role.
    pub role: Role,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its value. A secure field never has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Its description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The identifier that its developer gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
    /// The toolkit's name for its role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_role: Option<String>,
    /// Its states.
    #[serde(default, skip_serializing_if = "States::is_empty_ref")]
    pub states: States,
    /// The native names of its actions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<String>,
    /// Its bounds on the screen; present only if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
    /// The number of its children (of its rows, if it is a table of cells), if that is more than are shown. 0 means that there may
    /// be more and that the app does not say how many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub children_count: Option<u32>,
    /// Whether some of its children are not shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Its children.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Node>,
}

impl States {
    /// [`States::is_empty`] with the signature that serde needs.
    fn is_empty_ref(&self) -> bool {
        self.is_empty()
    }
}

impl Node {
    /// Iterates over the node and its descendants, parents before children.
    pub fn walk(&self) -> impl Iterator<Item = &Node> {
        let mut stack = vec![self];
        std::iter::from_fn(move || {
            let node = stack.pop()?;
            stack.extend(node.children.iter().rev());
            Some(node)
        })
    }
}

/// An element that may have been meant, with what tells it from the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Candidate {
    /// The element.
    #[serde(flatten)]
    pub node: NodeRef,
    /// Its description, if it has no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its value, cut if it is long; only if not all candidates have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Its states; only if not all candidates have the same.
    #[serde(default, skip_serializing_if = "States::is_empty_ref")]
    pub states: States,
    /// The ancestors that it does not share with all candidates, from the outermost to the innermost, without those that have no
    /// name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<NodeRef>,
    /// Its number among the matches, as `nth` takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
}

impl From<NodeRef> for Candidate {
    fn from(node: NodeRef) -> Candidate {
        Candidate { node, description: None, value: None, states: States::NONE, path: Vec::new(), nth: None }
    }
}

/// A container that was searched only in part, because not all of its rows are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unread {
    /// The container.
    #[serde(flatten)]
    pub node: NodeRef,
    /// The number of its rows (or other children) that were searched.
    pub read: u32,
    /// The number that it has; absent if the app does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u32>,
}

/// A reference to an element, with enough to choose between candidates or to show a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeRef {
    /// Its stable id.
    pub id: NodeId,
    /// Its role.
    pub role: Role,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}
