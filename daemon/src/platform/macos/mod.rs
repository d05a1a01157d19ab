//! The macOS desktop: apps by the accessibility interface (AX), input by CGEvent, windows and pictures by CoreGraphics,
//! apps and the pasteboard by AppKit.
//!
//! `ffi` has the foreign declarations, `host` and `appkit` all that is AppKit's. Between them everything is plain Rust.

#[cfg(target_os = "macos")]
mod appkit;
pub(crate) mod ffi;
pub mod host;
pub mod image;
