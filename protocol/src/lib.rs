//! The contract between axd and its clients: commands, nodes, events, errors, clock tokens, selectors, the text form,
//! and the replica that turns a snapshot and the change stream into the tree the daemon has.
//!
//! It depends on no runtime, no operating system and no platform, so that every side can use it.

pub mod app;
pub mod audit;
pub mod caused_by;
pub mod change;
pub mod clock;
pub mod command;
pub mod envelope;
pub mod error;
pub mod event;
pub mod geometry;
pub mod id;
pub mod keys;
pub mod node;
pub mod paths;
pub mod pattern;
pub mod render;
pub mod replica;
pub mod role;
mod role_kinds;
pub mod selector;
pub mod state;
pub mod text;

pub use app::{AppInfo, AppState, DisplayInfo, WindowInfo};
pub use caused_by::{CausedBy, OtherActor};
pub use change::{Added, Changed, Difference, Field, Moved, Patch};
pub use clock::{Clock, Tick};
pub use command::Command;
pub use envelope::{Answer, Format, MAX_REQUEST_BYTES, PROTOCOL, PROTOCOL_VERSION, Request};
pub use error::{Error, ErrorCode, Result};
pub use geometry::{Bounds, Point};
pub use id::NodeId;
pub use node::{Candidate, Node, NodeRef, Unread};
pub use paths::Paths;
pub use replica::Replica;
pub use role::Role;
pub use state::{State, States};
