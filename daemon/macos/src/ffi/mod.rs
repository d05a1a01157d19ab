//! Apple's C interfaces: the only place with foreign declarations. Everything above is the same source wherever it is
//! built; who provides the functions is decided here.
//!
//! On macOS they come from the frameworks. Elsewhere whoever links the backend has to provide them.

#![allow(non_upper_case_globals, non_snake_case, missing_docs, reason = "names and meanings are Apple's")]

pub mod ax;
pub mod cf;
pub mod cg;
pub mod names;
#[cfg(target_os = "macos")]
pub mod text_input;
