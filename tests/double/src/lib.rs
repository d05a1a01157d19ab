//! A double of macOS, for tests on machines that have none: the C functions of CoreFoundation, of the accessibility
//! interface and of CoreGraphics that the backend uses, in front of the scripted apps of the built-in desktop.
//!
//! It stands on Apple's documentation: what each function answers, who owns what, what is announced and what is not.
//! Whether Apple's own code does the same, only a Mac can tell.
//!
//! `cf` is CoreFoundation, with the `ledger` of all objects; `ax` the accessibility interface, `cg` CoreGraphics,
//! `appkit` what little there is of AppKit. `world` holds the apps, `clock` is its time, `faults` what goes wrong with them, `trace` what was
//! asked of them. The backend under test is `axd-macos`.

#![cfg(not(target_os = "macos"))]
#![allow(non_snake_case, non_upper_case_globals, reason = "the symbols are Apple's")]

pub mod appkit;
pub mod ax;
pub mod cf;
pub mod cg;
mod clock;
pub mod faults;
pub mod ledger;
pub mod trace;
mod world;

pub use world::{Settings, World};
