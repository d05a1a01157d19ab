//! What is allowed.
//!
//! A [`Policy`] is made of the built-in rules and those of a file. It decides a [`Question`]: a command, who requests it, and
//! what it is about. It knows nothing of how an action is performed, and asks nothing: what is not known is said to be unknown,
//! and never allows more. [`PolicyStore`] holds the one that is in force.
//!
//! Read `question` and `decision` first, then `policy`, `builtin` and `rule`, which decide; `file` reads the file, `store` keeps it read.

mod answers;
mod builtin;
mod commands;
mod decision;
mod file;
mod keys;
mod policy;
mod profile;
mod programs;
mod question;
mod rule;
mod store;
mod suggest;
#[cfg(test)]
mod tests;

pub use answers::test_file;
pub use axd_protocol::pattern::Pattern;
pub use commands::ALWAYS_ALLOWED;
pub use decision::{Decision, Verdict};
pub use file::{FileError, parse};
pub use keys::pressed_combos;
pub use policy::{Explanation, Limits, Mode, Policy};
pub use profile::ThuvuProfile;
pub use question::{AppFacts, ElementFacts, Fact, LaunchFacts, Question, Stage};
pub use rule::Rule;
pub use store::{PolicyState, PolicyStore};
