//! The macOS desktop: apps by the accessibility interface (AX), input by CGEvent, windows and pictures by CoreGraphics,
//! apps and the pasteboard by AppKit.
//!
//! `ffi` has the foreign declarations, `host` and `appkit` all that is AppKit's. Above them: `element`, `value`, `observer`
//! and `run_loop` own what is native; `app` is the thread of an attached app, with `reader` (and the pure tables it goes
//! by: `roles`, `content`, `notes`) and `acting`; `follower` is the thread that follows the desktop.

#![cfg(any(target_os = "macos", feature = "double"))]

mod acting;
mod app;
pub mod appkit;
mod attributes;
mod calls;
mod capture;
mod children;
mod clipboard;
mod content;
mod desktop;
mod displays;
mod doctor;
pub mod element;
pub mod fault;
#[doc(hidden)]
pub mod ffi;
mod follower;
mod geometry;
mod handles;
pub mod host;
pub mod image;
mod input;
mod launch;
mod line;
mod notes;
pub mod observer;
mod permissions;
mod reader;
mod registration;
mod roles;
pub mod run_loop;
mod secure_input;
pub mod value;
mod waking;
mod window_ops;
mod windows;

pub use desktop::MacDesktop;
pub use doctor::examine;

#[cfg(target_os = "macos")]
pub use appkit::{run_main, stop_main};

// The tests of this crate are linked with the double's symbols where Apple's are not to be had.
#[cfg(all(test, not(target_os = "macos")))]
use axd_double as _;
