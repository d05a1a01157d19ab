//! Apple's C functions: the only place with foreign declarations. Everything above is the same source on every system;
//! who provides the functions is decided here.
//!
//! On macOS they come from the frameworks. Elsewhere a double must be linked that provides them (`tests/double`).

#![allow(non_upper_case_globals, non_snake_case, missing_docs, reason = "names and meanings are Apple's")]

pub mod ax;
pub mod cf;
pub mod cg;
#[cfg(not(target_os = "macos"))]
mod cg_types;
pub mod names;
#[cfg(target_os = "macos")]
pub mod power;
#[cfg(target_os = "macos")]
pub mod text_input;
