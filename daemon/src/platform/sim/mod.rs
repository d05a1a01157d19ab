//! The built-in desktop.
pub mod library;
pub mod model;
pub mod rule;
pub mod script;
