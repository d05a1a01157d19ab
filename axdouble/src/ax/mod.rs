//! The accessibility interface in front of the scripted apps.
//!
//! `tree` shows an app's widgets as AppKit shows views, `roles` names them, `places` says where they are, `attributes`
//! what they are like, `change` what can be asked of them, `notify` what AppKit announces of what happens. These are
//! pure. `graft` has what is of other processes. `element`, `act`, `observer` and `value` are the C functions.

mod act;
mod attributes;
mod change;
mod element;
mod error;
mod graft;
pub(crate) mod notify;
mod observer;
mod places;
mod roles;
mod tree;
mod value;

pub use error::Error;
pub use graft::Above;
pub(crate) use graft::Graft;
pub(crate) use observer::Observer;
pub(crate) use tree::Standing;
pub use tree::{Id, Part};

/// How far an app like Electron has come with showing the inside of its web pages.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Electron {
    /// How many levels of it are shown.
    pub shown: usize,
    /// Whether it was asked to.
    pub asked: bool,
}
