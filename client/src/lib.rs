//! Finding, starting and talking to `axd`.
//!
//! ```no_run
//! use axd_client::{Connection, DaemonStart, protocol::command::{Command, Get}};
//!
//! let socket = axd_client::paths().socket;
//! let mut axd = axd_client::connect_or_start(&socket, &DaemonStart::default())?;
//! let get = Get { target: "button:7".into(), property: vec![], app: None, window: None };
//! let reply = axd.request(&Command::Get(get), Default::default())?;
//! println!("{}", reply.data.map_or_else(String::new, |data| data.get().to_owned()));
//! # Ok::<(), axd_client::ClientError>(())
//! ```
//!
//! [`Connection`] is blocking and needs nothing but the standard library; `r#async::AsyncConnection` (feature `tokio`) is
//! the same on tokio. A subscription owns its connection, so that a slow reader delays only itself; [`Live`] turns its
//! events into trees that stay current. After a lost connection nothing is sent again automatically, because only the caller
//! knows whether an action may be repeated.

#[cfg(feature = "cli")]
pub mod agent_desktop;
#[cfg(feature = "tokio")]
pub mod r#async;
mod connection;
mod error;
#[cfg(feature = "cli")]
pub mod files;
mod find;
pub mod launchd;
mod live;
mod lock;
mod start;
mod wire;

pub use axd_protocol as protocol;
pub use connection::{Connection, Subscription};
pub use error::ClientError;
pub use find::{BUNDLE, bundle_of, find_daemon, is_program};
pub use live::{Live, LiveApp, Update};
pub use start::{
    DaemonStart, IDLE_EXIT_S, START_TIMEOUT, connect_or_start, restart_if_idle, stop, wait_for_exit,
    wait_until_stopped,
};
pub use wire::{Reply, RequestOptions, is_ok, push_of, request_line};

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, ClientError>;

/// The paths of the daemon of the user who runs this, from the environment.
pub fn paths() -> protocol::Paths {
    let uid = nix::unistd::geteuid().as_raw();
    protocol::Paths::resolve(protocol::paths::System::CURRENT, uid, |name| std::env::var_os(name))
}
