//! The desktop as the engine knows it: `state` is what the platform has told, `call` has it do something, `launch_detect` finds out what
//! came of a launch, `error` turns a platform's failures into errors.

pub(crate) mod call;
pub(crate) mod error;
pub(crate) mod launch_detect;
pub(crate) mod state;
