//! The macOS desktop: apps by the accessibility API (AX), input by CGEvent, windows and pictures by CoreGraphics,
//! apps and the pasteboard by AppKit.
//!
//! Read from the bottom up: `ffi` has the foreign declarations and `appkit` all that is Objective-C; `ax` owns what the
//! accessibility API hands out; `app` is the thread of an attached app, and `action` what it does to elements; `cg` is
//! input and pictures; `desktop` follows the desktop and implements `Platform` with all of these. `selftest` measures what the system
//! does.

#![cfg(any(target_os = "macos", feature = "double"))]

mod action;
mod app;
pub mod appkit;
pub mod ax;
pub mod cg;
mod desktop;
#[doc(hidden)]
pub mod ffi;
pub mod selftest;

pub use desktop::doctor::examine;
pub use desktop::mac_desktop::MacDesktop;

#[cfg(target_os = "macos")]
pub use appkit::{run_main, stop_main};

// The tests of this crate are linked with the double's symbols where Apple's are not to be had.
#[cfg(all(test, not(target_os = "macos")))]
use axd_double as _;
