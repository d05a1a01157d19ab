//! The accessibility API (AX) as safe Rust: everything native that a thread owns is owned here.
//!
//! Read in this order: `guard` (where panics and exceptions end), `error` (what the API's error codes mean), `value` and `text` (CoreFoundation values to Rust's and back),
//! `element` (one element of an app: attributes and actions), `observer` (notifications, queued), `run_loop` (how a thread
//! waits for notifications and for messages at once).

pub mod element;
pub mod error;
pub mod guard;
pub mod observer;
pub mod pulse;
pub mod run_loop;
pub mod text;
pub mod value;
