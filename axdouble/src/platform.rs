//! The backend itself, the same source that macOS builds, on top of everything else that platforms share.

pub use axd::platform::*;

#[path = "../../daemon/src/platform/macos/mod.rs"]
pub mod macos;
