//! A call of a tool: what it may use.

use std::time::Duration;

use axd_client::Reply;
use axd_protocol::command::Changes;
use axd_protocol::{Clock, Command, Format};
use tokio_util::sync::CancellationToken;

use crate::answer::Failure;
use crate::server::Shared;

/// A call of a tool.
#[derive(Clone)]
pub struct Call<'a> {
    /// What all calls share.
    pub shared: &'a Shared,
    /// Cancelled when the client does not want the answer any more.
    pub cancelled: CancellationToken,
    /// Whether the client's person has agreed to this call.
    pub consented: bool,
}

/// What an app says has changed.
#[derive(Debug)]
pub struct ChangesText {
    /// The lines, in which the app's texts stand in quotes; empty if nothing changed.
    pub lines: String,
    /// Whether the lines are the whole tree, because the history does not reach back so far.
    pub fresh: bool,
    /// The clock up to which it is told.
    pub clock: Option<Clock>,
}

/// How the line ends under which axd sends a whole tree in place of a difference.
const FRESH: &str = " full tree follows; discard any earlier copy";

/// How the last line begins, which says at which clock the answer was read.
const CLOCK_LINE: &str = "\nclock ";

impl Call<'_> {
    /// Asks axd.
    pub async fn request(&self, command: &Command) -> Result<Reply, Failure> {
        self.shared.link.request(command, &self.cancelled).await.map_err(Failure::Axd)
    }

    /// Asks axd, with a deadline.
    pub async fn request_within(&self, command: &Command, deadline: Duration) -> Result<Reply, Failure> {
        let asked = self.shared.link.request_within(command, Format::Json, deadline, &self.cancelled);
        asked.await.map_err(Failure::Axd)
    }

    /// What has changed in an app since a clock: all of it, or what can be seen.
    pub async fn changes(&self, pid: u32, since: Clock, brief: bool) -> Result<ChangesText, Failure> {
        let command = Command::Changes(Changes { since, app: Some(pid.to_string()), brief });
        let deadline = Duration::from_secs(15);
        let asked = self.shared.link.request_within(&command, Format::Text, deadline, &self.cancelled);
        let reply = asked.await.map_err(Failure::Axd)?;
        let text = reply.text.unwrap_or_default();
        // The first line has the app's name outside of quotes, so it is left out.
        let (heading, lines) = text.split_once('\n').unwrap_or((&text, ""));
        // So is the last, which has the clock.
        let end = lines.rfind(CLOCK_LINE).map_or(0, |end| end + 1);
        let lines = if lines.starts_with(&CLOCK_LINE[1..]) { "" } else { &lines[..end] };
        Ok(ChangesText { lines: lines.to_owned(), fresh: heading.ends_with(FRESH), clock: reply.clock })
    }
}
