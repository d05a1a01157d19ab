//! The built-in desktop: scripted apps for machines without a desktop, and for behaviour that is hard to reproduce
//! with real apps: missing notifications, hangs, crashes, floods of events, cycles.
//!
//! `script` and `rule` define the format of scripts, `model` runs them; these are pure, and used by other test doubles
//! too. `process` puts an app behind channels as a real one is behind an accessibility API; the
//! [`worker`](axd_platform::worker) of an attached app talks to it over them. `session` is the state that the apps share; `calls`, `input` and `render` act on it;
//! `sim_command` is the command `sim`, `inspect` gives access to other test doubles, and `desktop` is the [`Platform`](axd_platform::Platform).

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
