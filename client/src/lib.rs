//! Finding, starting and talking to `axd`.
//!
//! ```no_run
//! use axd_client::{Connection, DaemonStart, protocol::command::{Command, Get}};
//!
//! let socket = axd_client::places().socket;
//! let mut axd = axd_client::connect_or_start(&socket, &DaemonStart::default())?;
//! let get = Get { target: "button:7".into(), property: vec![], app: None, window: None };
//! let reply = axd.request(&Command::Get(get), Default::default())?;
//! println!("{}", reply.data.map_or_else(String::new, |data| data.get().to_owned()));
//! # Ok::<(), axd_client::ClientError>(())
//! ```
//!
//! [`Connection`] is blocking and needs nothing but the standard library; `r#async::Connection` (feature `tokio`) is
//! the same on tokio. A subscription takes its connection whole, so a slow reader holds up only itself; [`Live`] turns
//! its events into trees that stay true. After a lost connection nothing is ever sent again by itself: whether an
//! action may be repeated is for the caller to say.

#[cfg(feature = "tokio")]
pub mod r#async;
mod connection;
mod error;
pub mod launchd;
mod live;
mod start;
mod wire;

pub use axd_protocol as protocol;
pub use connection::{Connection, Subscription};
pub use error::ClientError;
pub use live::{Live, LiveApp, Update};
pub use start::{
    DaemonStart, IDLE_EXIT_S, await_end, await_exit, connect_or_start, find_daemon, is_program,
    restart_if_idle, stop,
};
pub use wire::{Ask, Reply, is_ok, push_of, request_line};

/// What the functions of this crate return.
pub type Result<T> = std::result::Result<T, ClientError>;

/// Where things live for the user who runs this, as the environment says.
pub fn places() -> protocol::Paths {
    let uid = nix::unistd::geteuid().as_raw();
    protocol::Paths::resolve(protocol::paths::System::CURRENT, uid, |name| std::env::var_os(name))
}
