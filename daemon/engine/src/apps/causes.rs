//! Which changes of an app's tree followed an action: the ticks at which it changed, with the action that was being done then.

use std::collections::VecDeque;
use std::sync::Arc;

use axd_protocol::{CausedBy, Tick};

/// The maximum number of spans that are kept.
const MAX_SPANS: usize = 512;

/// Changes in a row that followed the same action, or none.
#[derive(Debug)]
struct Span {
    last: Tick,
    cause: Option<Arc<CausedBy>>,
}

/// The recent changes of an app, and what they followed.
#[derive(Debug, Default)]
pub(crate) struct Causes {
    spans: VecDeque<Span>,
    /// The last change that is no longer kept.
    forgotten: Option<Tick>,
}

/// What the changes between two clocks followed.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Attribution {
    /// The actions that some of them followed, each once.
    pub causes: Vec<Arc<CausedBy>>,
    /// Whether there may be others among them.
    pub others: bool,
}

impl Causes {
    /// Notes a change at a tick.
    pub fn note(&mut self, tick: Tick, cause: Option<Arc<CausedBy>>) {
        let is_same = |span: &&mut Span| match (&span.cause, &cause) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        };
        if let Some(span) = self.spans.back_mut().filter(is_same) {
            span.last = tick;
            return;
        }
        if self.spans.len() == MAX_SPANS {
            self.forgotten = self.spans.pop_front().map(|span| span.last);
        }
        self.spans.push_back(Span { last: tick, cause });
    }

    /// What the changes after a tick followed.
    pub fn since(&self, tick: Tick) -> Attribution {
        let others = self.forgotten.is_some_and(|forgotten| forgotten > tick);
        let mut attribution = Attribution { others, ..Attribution::default() };
        for span in self.spans.iter().filter(|span| span.last > tick) {
            match &span.cause {
                None => attribution.others = true,
                Some(cause) if attribution.causes.iter().any(|known| Arc::ptr_eq(known, cause)) => {}
                Some(cause) => attribution.causes.push(Arc::clone(cause)),
            }
        }
        attribution
    }
}

impl Attribution {
    /// Whether all of the changes followed actions of this client.
    pub fn is_all_of(&self, client: u64, agent: Option<&str>) -> bool {
        !self.others && self.causes.iter().all(|cause| cause.is_of(client, agent))
    }

    /// Writes the fields of it, each with a comma before it.
    pub fn write(&self, out: &mut Vec<u8>) {
        if self.causes.is_empty() {
            return;
        }
        let causes: Vec<&CausedBy> = self.causes.iter().map(|cause| &**cause).collect();
        out.extend_from_slice(b",\"caused_by\":");
        // Serialising plain values cannot fail.
        let _ = serde_json::to_writer(&mut *out, &causes);
        if self.others {
            out.extend_from_slice(b",\"others\":true");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn click(client: u64, agent: Option<&str>) -> Arc<CausedBy> {
        let agent = agent.map(str::to_owned);
        Arc::new(CausedBy { client, name: None, agent, request: None, command: "click".to_owned() })
    }

    #[test]
    fn changes_are_told_apart_by_the_action_that_they_followed() {
        let (mine, theirs) = (click(1, None), click(2, Some("other")));
        let mut causes = Causes::default();
        causes.note(3, None);
        causes.note(4, Some(Arc::clone(&mine)));
        causes.note(6, Some(Arc::clone(&mine)));
        causes.note(7, Some(Arc::clone(&theirs)));
        assert!(causes.since(2).others);
        let since = causes.since(3);
        assert_eq!(
            since,
            Attribution { causes: vec![Arc::clone(&mine), Arc::clone(&theirs)], others: false }
        );
        assert!(!since.is_all_of(1, None));
        assert!(causes.since(6).is_all_of(9, Some("other")), "another connection of the same agent");
        assert!(!causes.since(6).is_all_of(9, None));
        assert_eq!(causes.since(7), Attribution::default());
        // Two actions of one client are two.
        causes.note(8, Some(click(2, None)));
        assert_eq!(causes.since(6).causes.len(), 2);
    }

    #[test]
    fn what_is_forgotten_counts_as_another_change() {
        let mut causes = Causes::default();
        for tick in 0..2 * MAX_SPANS as u64 {
            causes.note(tick, Some(click(1, None)));
        }
        assert!(!causes.since(0).is_all_of(1, None));
        assert!(causes.since(MAX_SPANS as u64).is_all_of(1, None));
    }
}
