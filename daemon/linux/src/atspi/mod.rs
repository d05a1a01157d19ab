//! The accessibility bus: how axd connects to it, what AT-SPI2 says on it, and how each toolkit bends that.
//!
//! Read in this order: `dbus` is a connection with pipelined calls; `protocol` has AT-SPI's interfaces, references and replies;
//! `bus` finds the bus and turns accessibility on; `registry` lists the apps on it. `roles`, `states` and `toolkit` are pure:
//! what native numbers mean, and what each toolkit does its own way. `windows` lists the windows of apps where there is no X
//! server. `direct` are connections to apps themselves, and `connection_keeper` keeps those open when axd ends.

pub(crate) mod bus;
pub(crate) mod connection_keeper;
pub(crate) mod dbus;
pub(crate) mod direct;
pub(crate) mod protocol;
pub(crate) mod registry;
pub(crate) mod roles;
pub(crate) mod states;
pub(crate) mod toolkit;
pub(crate) mod windows;
