//! The read strategies of an app on the accessibility bus, in the order they are polled.

use std::time::Instant;

use crate::app::BusApp;
use crate::app::delayed_reread::DelayedRereads;
use crate::app::quick_read::QuickReads;
use crate::app::rescan::Rescan;
use axd_platform::ElementKey;
use axd_platform::worker::{Progress, ReadStrategy, StepResult, Turn, WorkerState};

/// What is read of an app besides dirty elements, interests and the sweep.
#[derive(Debug, Default)]
pub(crate) struct Strategies {
    pub quick_reads: QuickReads,
    pub delayed_rereads: DelayedRereads,
    pub rescan: Rescan,
}

impl ReadStrategy<BusApp> for Strategies {
    async fn step(&mut self, turn: Turn<'_>, app: &mut BusApp, state: &mut WorkerState) -> StepResult {
        match self.quick_reads.step(turn, app, state).await? {
            Progress::None => {}
            progress => return Ok(progress),
        }
        match self.delayed_rereads.step(turn, app, state).await? {
            Progress::None => self.rescan.step(turn, app, state).await,
            progress => Ok(progress),
        }
    }

    fn next_due(&self, app: &BusApp) -> Option<Instant> {
        let due =
            [self.quick_reads.next_due(app), self.delayed_rereads.next_due(app), self.rescan.next_due(app)];
        due.into_iter().flatten().min()
    }

    /// A rescan for the fence begins only when nothing that comes before it is waited for.
    fn flush(&mut self, app: &BusApp, state: &mut WorkerState, prerequisite: &mut Option<u64>) -> bool {
        self.quick_reads.flush(app, state, prerequisite)
            && self.delayed_rereads.flush(app, state, prerequisite)
            && self.rescan.flush(app, state, prerequisite)
    }

    fn has_pending_event(&self, key: ElementKey) -> bool {
        ReadStrategy::<BusApp>::has_pending_event(&self.quick_reads, key)
    }

    fn on_dirty_read(&mut self, dirty: &[ElementKey]) {
        ReadStrategy::<BusApp>::on_dirty_read(&mut self.quick_reads, dirty);
    }

    fn on_new_elements(&mut self, new: &[ElementKey], app: &BusApp, state: &WorkerState) {
        self.delayed_rereads.on_new_elements(new, app, state);
    }
}
