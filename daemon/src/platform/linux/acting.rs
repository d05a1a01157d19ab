//! Acting on elements.

use super::worker::Worker;
use crate::platform::{Act, ElementKey, Failure, FailureKind, Gate, WorkerAnswer};

impl Worker {
    /// Does something to an element.
    pub(super) async fn perform(
        &mut self,
        _key: ElementKey,
        _act: Act,
        _gate: &Gate,
    ) -> Result<WorkerAnswer, Failure> {
        Err(Failure::new(FailureKind::NotSupported, "acting is not offered here"))
    }
}
