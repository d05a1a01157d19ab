//! All that is AppKit's: on a Mac the system's own (`native`), elsewhere what a double of macOS has installed.

#[cfg(target_os = "macos")]
mod native;
#[cfg(target_os = "macos")]
pub use native::*;

#[cfg(not(target_os = "macos"))]
mod installed;
#[cfg(not(target_os = "macos"))]
pub use installed::*;
