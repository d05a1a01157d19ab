//! The built-in desktop: scripted apps for machines without a desktop, and for every behaviour that is hard to get
//! from real ones: lazy announcements, hangs, deaths, floods, cycles.
//!
//! `script` and `rule` say what can be written, `model` brings it to life; these are pure and serve other doubles
//! too. `process` puts an app behind channels as a real one is behind an accessibility API, `worker` keeps an
//! attached app true over them, and `desktop` is the [`Platform`](super::Platform).

pub mod announce;
mod desktop;
pub mod fault;
pub mod library;
pub mod model;
mod process;
pub mod rule;
pub mod script;
mod worker;

pub use desktop::{SimDesktop, SimOptions, examine};

#[cfg(test)]
mod tests;
