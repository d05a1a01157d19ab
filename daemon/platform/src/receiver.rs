//! Who receives input, and who decides whether that is right.
//!
//! A platform finds out who would receive a stretch of input just before it sends it, and asks the [`Judge`] that came
//! with the input. Where the platform can, nobody changes the receiver between the question and the sending.

use std::sync::Arc;

use axd_protocol::{Bounds, Point};

use super::{Failure, InputStep};

/// What is about to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stretch {
    /// Keys, which go to the window with the input focus.
    Keys,
    /// A press or a turn of the wheel, which goes to what is at this point.
    Pointer(Point),
}

/// Who would receive it, as far as the platform can tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Receiver {
    /// The process.
    pub pid: Option<u32>,
    /// The window system's number of the top-level window.
    pub window: Option<u64>,
    /// The window's title.
    pub title: String,
    /// Whether it is a menu, a list or the like: a window that lies over others for a moment and is in no list of windows.
    pub popup: bool,
    /// Where a popup is.
    pub bounds: Option<Bounds>,
}

/// Decides whether a receiver is the right one.
#[derive(Clone)]
pub struct Judge(Arc<Decide>);

type Decide = dyn Fn(Stretch, &Receiver) -> Result<(), Failure> + Send + Sync;

impl Judge {
    /// Decides like this.
    pub fn new(decide: impl Fn(Stretch, &Receiver) -> Result<(), Failure> + Send + Sync + 'static) -> Judge {
        Judge(Arc::new(decide))
    }

    /// Whoever it is, is right.
    pub fn anyone() -> Judge {
        Judge::new(|_, _| Ok(()))
    }

    /// Fails unless the receiver is the right one. Then nothing of the stretch may be sent.
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

/// Input to make, and who decides who may receive it.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// What to do.
    pub steps: Vec<InputStep>,
    /// Asked before each stretch.
    pub judge: Judge,
}

impl From<Vec<InputStep>> for Input {
    /// Input that may go to anyone.
    fn from(steps: Vec<InputStep>) -> Input {
        Input { steps, judge: Judge::anyone() }
    }
}
