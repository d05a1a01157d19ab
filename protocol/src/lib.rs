//! The contract between axd and its clients.

pub mod id;
pub mod role;
pub mod selector;
pub mod state;

pub use id::NodeId;
pub use role::Role;
pub use state::{State, States};
