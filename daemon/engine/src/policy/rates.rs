//! How much was done in the last minute.

use std::collections::VecDeque;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// The span in which things are counted.
const SPAN: Duration = Duration::from_secs(60);

/// When things were done, by all clients together.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    pub captures: Rate,
    pub actions: Rate,
}

/// When one kind of thing was done in the last minute.
#[derive(Debug, Default)]
pub(crate) struct Rate(Mutex<VecDeque<Instant>>);

impl Rate {
    /// Counts one, unless the most have been counted in the last minute already; then returns how long until there is room.
    pub fn count(&self, most: Option<u32>) -> Result<(), Duration> {
        let Some(most) = most else { return Ok(()) };
        let now = Instant::now();
        let mut times = self.0.lock();
        while times.front().is_some_and(|time| now.duration_since(*time) >= SPAN) {
            times.pop_front();
        }
        if times.len() < most as usize {
            times.push_back(now);
            return Ok(());
        }
        Err(times.front().map_or(SPAN, |first| SPAN.saturating_sub(now.duration_since(*first))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn no_more_than_the_most_are_done_in_any_minute() {
        let rate = Rate::default();
        assert_eq!((rate.count(Some(2)), rate.count(None)), (Ok(()), Ok(())));
        tokio::time::advance(Duration::from_secs(30)).await;
        assert_eq!(rate.count(Some(2)), Ok(()));
        assert_eq!(rate.count(Some(2)), Err(Duration::from_secs(30)));
        tokio::time::advance(Duration::from_secs(30)).await;
        assert_eq!(rate.count(Some(2)), Ok(()));
        assert!(rate.count(Some(2)).is_err());
    }
}
