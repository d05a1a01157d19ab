//! The contract of acting: every command and every error, by behaviour. The same tests, by the same names, run on the built-in
//! desktop and, in a headless desktop (`tests/desktop/acting`), on real apps: `AXD_STAGE` says which.

mod answers;
mod batching;
mod choosing;
mod clicking;
mod clipboard;
mod cutting_short;
mod expecting;
mod holding;
mod pictures;
mod pointing;
mod refusals;
mod storm;

mod switching;
mod typing;
mod values;
mod waiting;
mod windows;
