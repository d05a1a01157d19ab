//! The receiver of input, and the check that it is the right one.
//!
//! A platform finds out who would receive a stretch of input just before it sends it, and asks the [`Judge`] that came with the
//! input. Where the platform can ensure it, the receiver does not change between the check and the sending.

use std::sync::Arc;

use axd_protocol::{Bounds, Point};

use super::{Failure, InputStep};

/// A stretch of input that is about to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stretch {
    /// Keys, which go to the window with the input focus.
    Keys,
    /// A press or a turn of the wheel, which goes to the window at this point.
    Pointer(Point),
    /// The pointer itself, which comes over the window at this point.
    Over(Point),
}

/// The receiver of a stretch, as far as the platform knows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Receiver {
    /// Its process id.
    pub pid: Option<u32>,
    /// The window system's number of the top-level window.
    pub window: Option<u64>,
    /// The window's title.
    pub title: String,
    /// Whether it is a popup, such as a menu or a list: a window that briefly lies over others and is in no list of windows.
    pub popup: bool,
    /// The bounds of a popup.
    pub bounds: Option<Bounds>,
}

/// Decides whether a receiver is the right one.
#[derive(Clone)]
pub struct Judge(Arc<Decide>);

type Decide = dyn Fn(Stretch, &Receiver) -> Result<(), Failure> + Send + Sync;

impl Judge {
    /// A judge with this decision function.
    pub fn new(decide: impl Fn(Stretch, &Receiver) -> Result<(), Failure> + Send + Sync + 'static) -> Judge {
        Judge(Arc::new(decide))
    }

    /// A judge that accepts any receiver.
    pub fn anyone() -> Judge {
        Judge::new(|_, _| Ok(()))
    }

    /// Fails unless the receiver is the right one. If it fails, nothing of the stretch may be sent.
    pub fn decide(&self, stretch: Stretch, receiver: &Receiver) -> Result<(), Failure> {
        (self.0)(stretch, receiver)
    }
}

impl std::fmt::Debug for Judge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Judge")
    }
}

impl PartialEq for Judge {
    fn eq(&self, other: &Judge) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Input to send, with the judge of its receiver.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// The steps of the input.
    pub steps: Vec<InputStep>,
    /// Asked before each stretch.
    pub judge: Judge,
}

impl From<Vec<InputStep>> for Input {
    /// Input that may go to any receiver.
    fn from(steps: Vec<InputStep>) -> Input {
        Input { steps, judge: Judge::anyone() }
    }
}
