//! axd: keeps the accessibility trees of attached apps in memory, keeps them true by events, and serves them over a
//! Unix socket. `ARCHITECTURE.md` at the root of the project shows the crates and the way the data goes.

pub mod logging;
pub mod options;
pub mod policy_test;
pub mod ready;
pub mod run;
pub mod watchdog;
