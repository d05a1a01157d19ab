//! States that change unannounced: Qt does not announce that an item was selected or that an entry of a menu was
//! enabled. Every rescan reads the states of elements, one call each, and marks those dirty that differ.

use crate::app::BusApp;
use crate::atspi::protocol::{ACCESSIBLE, body};
use crate::atspi::states::NativeStates;
use crate::read::reader::Reader;
use axd_platform::worker::WorkerState;
use axd_platform::{ElementKey, Failure};

impl BusApp {
    /// Marks those elements dirty whose states differ from what was last read. True if there are any.
    pub(crate) async fn compare_states(
        &mut self,
        state: &mut WorkerState,
        all: &[ElementKey],
    ) -> Result<bool, Failure> {
        if !self.reader.toolkit.changes_states_silently() {
            return Ok(false);
        }
        let others = self.reader.with_other_states(all).await?;
        let any = !others.is_empty();
        state.mark_known_dirty(others);
        Ok(any)
    }
}

impl Reader {
    async fn with_other_states(&self, keys: &[ElementKey]) -> Result<Vec<ElementKey>, Failure> {
        let known: Vec<(ElementKey, NativeStates)> = keys
            .iter()
            .filter_map(|key| Some((*key, self.elements.last(*key)?.silent.as_ref()?.native_states?)))
            .collect();
        let calls = known.iter().map(|(key, _)| self.build_call(*key, ACCESSIBLE, "GetState", &()));
        let answers = self.call_all(calls.collect()).await?;
        let now = |answer| body::<Vec<u32>>(answer).map(|words| NativeStates::from_words(&words));
        let others = known.iter().zip(&answers).filter(|((_, was), answer)| now(answer) != Some(*was));
        Ok(others.map(|((key, _), _)| *key).collect())
    }
}
