//! The desktop as a whole: which apps, windows and displays there are, and what is done to them.
//!
//! Read in this order: `mac_desktop` (implements `Platform`) and `calls` (which thread a call runs on); `monitor` (the
//! thread that reports apps, windows and displays) with `monitored_app`, `windows` and `displays`, which read the window server's lists;
//! then one file for each kind of call: `window_ops`, `launch`, `clipboard`. `permissions` and `secure_input` say what macOS
//! withholds, and `doctor` reports both. `power` says whether the machine saves power.

mod calls;
mod clipboard;
pub mod displays;
pub mod doctor;
mod launch;
pub mod mac_desktop;
pub mod monitor;
mod monitored_app;
pub mod permissions;
pub mod power;
pub mod secure_input;
mod window_ops;
pub mod windows;
