//! Commands that are not actions on elements, one file per family. Each is a method of [`Engine`](crate::Engine) that writes
//! its answer.

pub(crate) mod batch;
pub(crate) mod changes;
pub(crate) mod clipboard;
pub(crate) mod daemon;
pub(crate) mod element;
pub(crate) mod extension;
pub(crate) mod find;
pub(crate) mod find_deep;
pub(crate) mod image_file;
pub(crate) mod launch;
pub(crate) mod list;
pub(crate) mod look;
pub(crate) mod policy;
pub(crate) mod screenshot;
pub(crate) mod snapshot;
pub(crate) mod wait;
pub(crate) mod windows;
