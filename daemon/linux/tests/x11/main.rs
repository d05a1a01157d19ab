//! Input, windows, launching, the clipboard and pictures on a real X server. Each test runs in a headless desktop of its
//! own (`scripts/desktop`); where that is not installed they say so and pass.
#![cfg(target_os = "linux")]

mod apps;
mod clipboard;
mod desk;
mod keyboard;
mod manager;
mod painted;
mod person;
mod pictures;
mod typing;
mod windows;
