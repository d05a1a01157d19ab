//! All that is AppKit's.
//!
//! Read `host` first: it has the plain types that AppKit is talked to in, and how other threads reach thread 0. The functions
//! are the system's own on a Mac (`native`), elsewhere those that a double of macOS has installed (`installed`).

pub mod host;

#[cfg(target_os = "macos")]
mod native;
#[cfg(target_os = "macos")]
pub use native::*;

#[cfg(not(target_os = "macos"))]
mod installed;
#[cfg(not(target_os = "macos"))]
pub use installed::*;
