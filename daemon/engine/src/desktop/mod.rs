//! The desktop: `state` is its last known state, `hidden` says which of its windows may not be read, `call` sends requests to
//! it, `launch_detect` finds the result of a launch.

pub(crate) mod call;
pub(crate) mod hidden;
pub(crate) mod launch_detect;
pub(crate) mod state;
