//! CoreGraphics: what goes in and what comes out.
//!
//! `input` sends mouse and keyboard events; `capture` takes pictures of the screen and of windows, and `image` reads their
//! pixels. None needs another.

pub(crate) mod capture;
pub mod image;
pub(crate) mod input;
