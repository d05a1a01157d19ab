//! A double of macOS, for tests on machines that have none: the C functions of CoreFoundation, of the accessibility
//! interface and of CoreGraphics that the backend uses, in front of the scripted apps of the built-in desktop.
//!
//! It stands on Apple's documentation: what each function answers, who owns what, what is announced and what is not.
//! Whether Apple's own code does the same, only a Mac can tell.

#![cfg(not(target_os = "macos"))]
#![allow(non_snake_case, non_upper_case_globals, reason = "the symbols are Apple's")]

pub mod cf;
pub mod ledger;
