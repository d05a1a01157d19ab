//! What is pushed: `subscription` follows apps from a clock on, `event_log` keeps what happened besides changes of trees.

pub(crate) mod event_log;
pub(crate) mod subscription;
