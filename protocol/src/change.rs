//! Differences between two clocks, and the order in which they are applied.
//!
//! A [`Difference`] is applied in four steps:
//!
//! 1. drop every subtree rooted at an id in `removed`;
//! 2. detach every id in `moved` from its parent, keeping its subtree, and drop every id that appears anywhere in `added`
//!    and is still in the copy (the element has a new parent, and its subtree is sent again in full);
//! 3. insert `moved`, then `added`, in the order they are listed, each at its `index` at that moment;
//! 4. apply `changed`.
//!
//! [`crate::replica::Replica`] implements this rule; the daemon's tests check both sides against it.

use serde::{Deserialize, Serialize};

use crate::id::NodeId;
use crate::node::Node;
use crate::role::Role;
use crate::state::States;

/// What changed in one app.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The roots of the removed subtrees.
    #[serde(default)]
    pub removed: Vec<NodeId>,
    /// The elements that have a new parent or a new index.
    #[serde(default)]
    pub moved: Vec<Moved>,
    /// The subtrees that are new, or that are sent in full because they have a new parent.
    #[serde(default)]
    pub added: Vec<Added>,
    /// The elements whose properties changed, at the same place.
    #[serde(default)]
    pub changed: Vec<Changed>,
}

impl Difference {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.moved.is_empty() && self.added.is_empty() && self.changed.is_empty()
    }
}

/// An element that has a new parent or a new index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moved {
    /// The id of the element.
    pub id: NodeId,
    /// The new parent.
    pub parent: NodeId,
    /// The index among the parent's children at the moment the element is inserted.
    pub index: u32,
}

/// A new element with its subtree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Added {
    /// The parent; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<NodeId>,
    /// The index among the parent's children at the moment the element is inserted.
    pub index: u32,
    /// The element, with its descendants.
    pub node: Node,
}

/// An element whose properties changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Changed {
    /// The id of the element.
    pub id: NodeId,
    /// The properties that have a new value.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub set: Patch,
    /// The properties that no longer have a value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unset: Vec<Field>,
}

/// New values of an element's properties; an absent field did not change.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Patch {
    /// See [`Node::role`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// See [`Node::name`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// See [`Node::value`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// See [`Node::description`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// See [`Node::identifier`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
    /// See [`Node::native_role`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_role: Option<String>,
    /// See [`Node::states`]; the complete set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<States>,
    /// See [`Node::actions`]; the complete list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<Vec<String>>,
    /// See [`Node::children_count`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub children_count: Option<u32>,
}

impl Patch {
    /// Whether the patch sets no property.
    pub fn is_empty(&self) -> bool {
        *self == Patch::default()
    }
}

macro_rules! fields {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal;)+) => {
        /// A property of an element whose changes are reported.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
        #[repr(u8)]
        pub enum Field { $($(#[doc = $doc])+ #[serde(rename = $name)] #[cfg_attr(feature = "cli", value(name = $name))] $variant,)+ }

        impl Field {
            /// All fields.
            pub const ALL: &'static [Field] = &[$(Field::$variant,)+];

            /// The name used on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(Field::$variant => $name,)+ }
            }
        }
    };
}

fields! {
    /// [`Node::role`].
    Role = "role";
    /// [`Node::name`].
    Name = "name";
    /// [`Node::value`].
    Value = "value";
    /// [`Node::description`].
    Description = "description";
    /// [`Node::identifier`].
    Identifier = "identifier";
    /// [`Node::native_role`].
    NativeRole = "native_role";
    /// [`Node::states`].
    States = "states";
    /// [`Node::actions`].
    Actions = "actions";
    /// [`Node::children_count`].
    ChildrenCount = "children_count";
}
