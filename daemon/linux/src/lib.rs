//! The Linux desktop: trees and events over AT-SPI2, windows and displays over X11.
//!
//! `link` is a connection to a bus, `wire` what AT-SPI puts on it, `bus` finds it. `roles`, `states`, `toolkit`,
//! `identity` and `windows` are pure: what native things mean. `events` brings what apps announce to their `ear`,
//! `reader` (with `outline`, `details`, `cached`, `children`, `chosen` and `glance`) and `geometry` ask them, `acting` tells
//! them what to do, over `direct` connections where that is needed, which a `keeper` keeps. `app` is all of that as a worker has it, and `hearing`, `survey` and `newcomers` are how it is kept
//! true. `frames` stands in for `x11` where there is none.
//!
//! `calls` says where what is asked of the whole desktop goes: `input`, `window_ops` and `close` (with `manager`, which
//! asks the window manager), `launch`, `clipboard` and `capture`, over a `display` of their own. `desktop` is the
//! [`Platform`](axd_platform::Platform). `docs/linux.md` tells what each toolkit announces and what it does not.

#![cfg(target_os = "linux")]

mod acting;
mod app;
mod at_once;
mod bus;
mod cached;
mod calls;
mod capture;
mod children;
mod chosen;
mod clipboard;
mod close;
mod content;
mod desktop;
mod details;
mod direct;
mod display;
mod doctor;
mod ear;
mod events;
mod focus;
mod frames;
mod geometry;
mod glance;
mod handles;
mod hearing;
mod identity;
mod input;
mod keeper;
mod launch;
mod link;
mod manager;
mod names;
mod newcomers;
mod outline;
mod page;
mod popups;
mod reader;
mod registry;
mod restated;
mod roles;
mod rows;
mod states;
mod survey;
mod toolkit;
mod window_ops;
mod windows;
mod wire;
mod x11;

pub use bus::Missing;
pub use desktop::LinuxDesktop;
pub use doctor::examine;
pub use keeper::{OPTION as KEEP_CONNECTIONS, keep_connections};
