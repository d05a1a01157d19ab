//! What changed between two clocks, and in which order it is applied.
//!
//! A [`Difference`] is applied in four steps:
//!
//! 1. drop every subtree rooted at an id in `removed`;
//! 2. lift every id in `moved` out of its parent, keeping what is below it, and drop every id that appears anywhere in
//!    `added` and is still held (it went to a new place, and comes whole);
//! 3. insert `moved`, then `added`, in the order they are listed, each at its `index` at that moment;
//! 4. apply `changed`.
//!
//! [`crate::replica::Replica`] is that rule as code; the daemon's tests hold both sides to it.

use serde::{Deserialize, Serialize};

use crate::id::NodeId;
use crate::node::Node;
use crate::role::Role;
use crate::state::States;

/// What changed in one app.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// Roots of what is gone.
    #[serde(default)]
    pub removed: Vec<NodeId>,
    /// What has a new place.
    #[serde(default)]
    pub moved: Vec<Moved>,
    /// What is new, or came whole to a new parent.
    #[serde(default)]
    pub added: Vec<Added>,
    /// What is where it was, with new facts.
    #[serde(default)]
    pub changed: Vec<Changed>,
}

impl Difference {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.moved.is_empty() && self.added.is_empty() && self.changed.is_empty()
    }
}

/// An element that has a new place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moved {
    /// Which.
    pub id: NodeId,
    /// Its parent now.
    pub parent: NodeId,
    /// Where among the parent's children, at the moment it is inserted.
    pub index: u32,
}

/// An element that is new, with all below it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Added {
    /// Its parent; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<NodeId>,
    /// Where among the parent's children, at the moment it is inserted.
    pub index: u32,
    /// The element.
    pub node: Node,
}

/// An element with new facts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Changed {
    /// Which.
    pub id: NodeId,
    /// The new facts.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    pub set: Patch,
    /// The facts it no longer has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unset: Vec<Field>,
}

/// New facts of an element; what is absent did not change.
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
    /// See [`Node::states`]; the whole set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<States>,
    /// See [`Node::actions`]; the whole list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<Vec<String>>,
    /// See [`Node::children_count`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub children_count: Option<u32>,
}

impl Patch {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Patch::default()
    }
}

macro_rules! fields {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal;)+) => {
        /// A field of an element's content that changes by itself.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
        #[repr(u8)]
        pub enum Field { $($(#[doc = $doc])+ #[serde(rename = $name)] #[cfg_attr(feature = "cli", value(name = $name))] $variant,)+ }

        impl Field {
            /// Every field.
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
