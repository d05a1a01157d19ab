//! The desktop: `state` is its last known state, `call` sends requests to it, `launch_detect` finds the result of a launch.

pub(crate) mod call;
pub(crate) mod launch_detect;
pub(crate) mod state;
