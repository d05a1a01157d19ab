//! The display: windows, input, capture and the clipboard by X11.
//!
//! Read in this order: `connection` is a connection for those who act; `screen` follows windows and displays on a thread of its own;
//! `ewmh` asks the window manager, for `window_ops` and `close`. `window_match` finds out which window of the screen an element is,
//! and `popups` what lies over a window. `person` notices what a person does with mouse and keyboard. `input`, `capture` and `clipboard` have a thread and a connection each.

pub(crate) mod capture;
pub(crate) mod clipboard;
pub(crate) mod close;
pub(crate) mod connection;
pub(crate) mod ewmh;
pub(crate) mod input;
pub(crate) mod person;
pub(crate) mod popups;
pub(crate) mod screen;
pub(crate) mod window_match;
pub(crate) mod window_ops;
