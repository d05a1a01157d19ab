//! States that change without a word: Qt does not say that an item was selected or that an entry of a menu can be used now.
//! They are asked for with every survey, one call each, and what is in other states than it was is read again.

use crate::app::BusApp;
use crate::atspi::protocol::{ACCESSIBLE, body};
use crate::atspi::states::Natives;
use crate::read::reader::Reader;
use axd_platform::worker::WorkerState;
use axd_platform::{ElementKey, Failure};

impl BusApp {
    /// Has those of the elements read again that are in other states now. True if there are any.
    pub(crate) async fn compare_states(
        &mut self,
        state: &mut WorkerState,
        all: &[ElementKey],
    ) -> Result<bool, Failure> {
        if !self.reader.toolkit.restates_silently() {
            return Ok(false);
        }
        let others = self.reader.restated(all).await?;
        let any = !others.is_empty();
        state.mark_known_dirty(others);
        Ok(any)
    }
}

impl Reader {
    async fn restated(&self, keys: &[ElementKey]) -> Result<Vec<ElementKey>, Failure> {
        let known: Vec<(ElementKey, Natives)> =
            keys.iter().filter_map(|key| Some((*key, *self.natives.get(key)?))).collect();
        let calls = known.iter().map(|(key, _)| self.call(*key, ACCESSIBLE, "GetState", &()));
        let answers = self.ask_all(calls.collect()).await?;
        let now = |answer| body::<Vec<u32>>(answer).map(|words| Natives::from_words(&words));
        let others = known.iter().zip(&answers).filter(|((_, was), answer)| now(answer) != Some(*was));
        Ok(others.map(|((key, _), _)| *key).collect())
    }
}
