//! The macOS backend on the double, topic by topic.
#![cfg(not(target_os = "macos"))]

mod acting;
mod containers;
mod desktop;
mod displays;
mod enable_accessibility;
mod hiding;
mod input;
mod keyboard;
mod menus;
mod observing;
#[path = "../common/backend.rs"]
mod on;
mod panics;
mod permissions;
mod processes;
mod reading;
#[path = "../common/scripts.rs"]
mod scripts;
mod selftest;
mod shapes;
mod slowness;
mod spaces;
mod texts;
