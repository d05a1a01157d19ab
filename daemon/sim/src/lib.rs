//! The built-in desktop: scripted apps for machines without a desktop, and for every behaviour that is hard to get
//! from real ones: lazy announcements, hangs, deaths, floods, cycles.
//!
//! `script` and `rule` say what can be written, `model` brings it to life; these are pure and serve other doubles
//! too. `process` puts an app behind channels as a real one is behind an accessibility API; the
//! worker of [`worker`](axd_platform::worker) keeps an attached app true over them. `desk` is what the apps share, `calls`, `input` and `picture` are what can be done
//! with it, `sim_command` is the person at it, `reach` lets other doubles in, and `desktop` is the [`Platform`](axd_platform::Platform).

pub mod announce;
mod calls;
mod desktop;
pub mod fault;
mod input;
mod inspect;
pub mod library;
pub mod model;
mod process;
mod render;
pub mod rule;
pub mod script;
mod session;
mod sim_command;

pub use desktop::{SimDesktop, SimOptions, examine};
pub use inspect::{Inspection, Inspector};
pub use sim_command::{SimCommand, SimVerb};

#[cfg(test)]
mod tests;
