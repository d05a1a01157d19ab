//! CoreGraphics: input and capture.
//!
//! `input` sends mouse and keyboard events; `capture` captures the screen and windows, and `image` reads the pixels. Input
//! and capture do not depend on each other.

pub(crate) mod capture;
pub mod image;
pub(crate) mod input;
