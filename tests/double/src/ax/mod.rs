//! The accessibility API in front of the scripted apps.
//!
//! `tree` shows an app's widgets as AppKit shows views, `roles` names them, `places` says where they are, `attributes`
//! what they are like, `change` what can be done to them, `notify` what AppKit announces. These are
//! pure. `graft` has what is of other processes, `dress` values that are no plain strings, `pages` and `enhanced` what apps do
//! only when asked. `element`, `act`, `observer` and `value` are the C functions.

mod act;
mod attributes;
mod change;
mod dress;
mod element;
mod enhanced;
mod error;
mod graft;
mod menus;
pub(crate) mod notify;
mod observer;
mod pages;
mod places;
mod roles;
mod tree;
mod value;

pub use dress::Dress;
pub(crate) use enhanced::Enhanced;
pub use error::Error;
pub(crate) use graft::Graft;
pub use graft::GraftParent;
pub(crate) use observer::Observer;
pub(crate) use pages::{EnabledBy, Pages};
pub(crate) use tree::AppState;
pub use tree::{Id, Part};
