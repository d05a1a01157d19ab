//! An element as clients see it.

use serde::{Deserialize, Serialize};

use crate::geometry::Bounds;
use crate::id::NodeId;
use crate::role::Role;
use crate::state::States;

/// An element and what is below it. A field that is absent has no value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Node {
    /// Its stable id.
    pub id: NodeId,
    /// What it is.
    pub role: Role,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it holds. Secure fields have none, ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What its developer calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
    /// What its toolkit calls its role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_role: Option<String>,
    /// What is true of it.
    #[serde(default, skip_serializing_if = "States::is_empty_ref")]
    pub states: States,
    /// What it can do, by native name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<String>,
    /// Where it is on the screen; only when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
    /// How many children it has, or rows if it is a table of cells, where that is more than are shown. 0: there may be more, and the
    /// app does not say how many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub children_count: Option<u32>,
    /// Whether some of its children are not shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// What is in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Node>,
}

impl States {
    /// `is_empty` in the form serde asks for.
    fn is_empty_ref(&self) -> bool {
        self.is_empty()
    }
}

impl Node {
    /// The node and all below it, parents before children.
    pub fn walk(&self) -> impl Iterator<Item = &Node> {
        let mut stack = vec![self];
        std::iter::from_fn(move || {
            let node = stack.pop()?;
            stack.extend(node.children.iter().rev());
            Some(node)
        })
    }
}

/// A container of which only a part was looked at: what is not in that part may be there all the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unread {
    /// The container.
    #[serde(flatten)]
    pub node: NodeRef,
    /// How many of its rows, or of what else it holds, were looked at.
    pub read: u32,
    /// How many it has; left out where the app does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u32>,
}

/// An element, named: enough to choose between candidates or to show a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeRef {
    /// Its stable id.
    pub id: NodeId,
    /// What it is.
    pub role: Role,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}
