//! Streams to clients: `subscription` follows apps from a clock on, `event_log` keeps events other than changes of trees.

pub(crate) mod event_log;
pub(crate) mod subscription;
