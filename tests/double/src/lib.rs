//! A double of macOS, for tests on machines that have none: the C functions of CoreFoundation, of the accessibility
//! API and of CoreGraphics that the backend uses, in front of the scripted apps of the built-in desktop.
//!
//! It follows Apple's documentation: what each function returns, who owns what, what is announced and what is not. Where people
//! have measured that Macs do worse, so does it, unless a test asks for other `manners`.
//! Whether Apple's own code does the same can only be tested on a Mac.
//!
//! `cf` is CoreFoundation, with the `ledger` of all objects; `ax` is the accessibility API, `cg` CoreGraphics,
//! `appkit` the table of AppKit functions, `bundles` some files of apps. `world` holds the apps, with its `clock`, the `faults` that are injected and the `trace` of
//! calls. The backend under test is `axd-macos`.

#![cfg(not(target_os = "macos"))]
#![allow(non_snake_case, non_upper_case_globals, reason = "the symbols are Apple's")]

pub mod appkit;
pub mod ax;
mod bundles;
pub mod cf;
pub mod cg;
mod clock;
pub mod faults;
pub mod ledger;
mod manners;
pub mod trace;
mod world;

pub use manners::Manners;
pub use world::{Settings, World};
