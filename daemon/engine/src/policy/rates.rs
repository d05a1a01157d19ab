//! Limits: how much was done in the last minute, and how much text a batch enters.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axd_protocol::{Command, Error, ErrorCode, Result};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::Engine;
use crate::action::spec::action_of;
use axd_service::Call;

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
    pub fn count(&self, most: Option<u32>) -> std::result::Result<(), Duration> {
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

impl Engine {
    /// Counts a request that acts, unless it is one too many. A batch is counted by its parts.
    pub(crate) fn count_action(&self, call: &Call) -> Result<()> {
        let limits = self.policy.current().limits;
        match &call.command {
            Command::Batch(_) => return Ok(()),
            Command::Act(command) if command.options().dry_run => return Ok(()),
            Command::Act(command) if call.is_part => {
                // What is wrong with its arguments is told when it is executed.
                let text = action_of(command).spec_of().ok().and_then(|spec| spec.text);
                self.count_text(call, text.unwrap_or_default(), limits.text_chars)?;
            }
            _ => {}
        }
        let most = limits.actions_per_minute;
        self.rates.actions.count(most).map_err(|left| too_many("actions", most, left))
    }

    /// A batch enters no more at once than a single action may.
    fn count_text(&self, call: &Call, text: &str, most: usize) -> Result<()> {
        let length = text.chars().count();
        let entered = self.client_grants(call.session.client).batch_chars.fetch_add(length, Relaxed) + length;
        if entered <= most {
            return Ok(());
        }
        let message = format!(
            "the texts of this batch have {entered} characters so far; at most {most} are allowed at once (text-too-long)"
        );
        Err(Error::new(ErrorCode::PolicyDenied, message).suggest("enter it with several requests"))
    }

    /// Called when a batch of a client begins.
    pub(crate) fn count_batch_from_zero(&self, client: u64) {
        self.client_grants(client).batch_chars.store(0, Relaxed);
    }
}

/// The error for more than a limit allows in a minute.
pub(crate) fn too_many(what: &str, most: Option<u32>, left: Duration) -> Error {
    let (most, seconds) = (most.unwrap_or_default(), left.as_secs() + 1);
    Error::new(
        ErrorCode::RateLimited,
        format!("at most {most} {what} a minute are allowed (limits.{what}_per_minute)"),
    )
    .suggest(format!("try again in {seconds} s, or have the limit raised in the policy file"))
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
