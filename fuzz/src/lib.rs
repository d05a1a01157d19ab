//! What is fuzzed: functions that take any bytes, and panic if something does not hold that must hold.
//!
//! `libfuzzer/` runs each of them for as long as one likes; the test `tests/short.rs` runs each on its corpus and on some thousand
//! inputs made of that. A target is a file here, a line in [`TARGETS`], a file in `libfuzzer/fuzz_targets/` and a folder in
//! `corpus/`.

mod bytes;
mod difference;
#[cfg(target_os = "linux")]
mod event;
mod line;
mod policy;
mod selector;
mod tree;

pub use difference::difference;
#[cfg(target_os = "linux")]
pub use event::event;
pub use line::line;
pub use policy::policy;
pub use selector::selector;
pub use tree::{replica, tree};

/// A target: what takes the bytes.
pub type Target = fn(&[u8]);

/// All targets, by the names of their corpora.
pub const TARGETS: &[(&str, Target)] = &[
    ("line", line),
    ("selector", selector),
    ("policy", policy),
    #[cfg(target_os = "linux")]
    ("event", event),
    ("tree", tree),
    ("replica", replica),
    ("difference", difference),
];
