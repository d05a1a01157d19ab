//! The Linux desktop: trees and events over AT-SPI2, windows and displays over X11.
//!
//! Read in this order:
//!
//! - `desktop` is the [`Platform`](axd_platform::Platform): what the engine asks for. `calls` passes on what concerns the whole desktop,
//!   `monitor` follows which apps and windows come and go.
//! - `atspi` is the accessibility bus: connections, the vocabulary of AT-SPI, and what each toolkit makes of it.
//! - `app` is one app on that bus, as its worker has it: events in, elements to read again out.
//! - `read` reads elements; `action` acts on them.
//! - `x11` is the display: windows, input, capture and the clipboard.
//! - `launch` starts apps, `process` knows what a process is, `doctor` says what is missing.
//!
//! `docs/linux.md` says what each toolkit announces and what it does not.

#![cfg(target_os = "linux")]

mod action;
mod app;
mod atspi;
mod calls;
mod desktop;
mod doctor;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod launch;
mod monitor;
mod process;
mod read;
mod x11;

pub use atspi::bus::BusUnavailable;
pub use atspi::connection_keeper::{OPTION as KEEP_CONNECTIONS, keep_connections};
pub use desktop::LinuxDesktop;
pub use doctor::examine;
