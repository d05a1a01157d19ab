//! axd: keeps the accessibility trees of attached apps in memory, keeps them true by events, and serves them over a
//! Unix socket. `ARCHITECTURE.md` at the root of the project shows the rooms and the way the data goes.

mod descriptor;
pub mod engine;
pub mod logging;
mod memory;
pub mod options;
pub mod platform;
pub mod policy;
pub mod ready;
pub mod run;
pub mod server;
pub mod service;
pub mod session;
pub mod stop;
pub mod tree;
