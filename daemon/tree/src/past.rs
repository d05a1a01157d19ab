//! What elements said before they changed, for a while: a difference for readers says what is other than before, and the tree
//! has only what is. Bounded, so that no flood of changes takes more memory; what is older is not known.

use std::collections::VecDeque;

use axd_protocol::{NodeId, States, Tick};
use rustc_hash::FxHashMap;

/// The maximum number of changes that are kept.
const MAX_ENTRIES: usize = 1_024;
/// The maximum number of bytes of their texts.
const MAX_BYTES: usize = 128 * 1024;
/// The maximum length of a text that is kept.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// What an element said before a change, as far as the change replaced it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Before {
    pub states: Option<States>,
    /// The name; `Some(None)` if it had none.
    pub name: Option<Option<Box<str>>>,
    /// The value; `Some(None)` if it had none.
    pub value: Option<Option<Box<str>>>,
}

impl Before {
    fn bytes(&self) -> usize {
        let bytes = |text: &Option<Option<Box<str>>>| {
            text.as_ref().and_then(Option::as_ref).map_or(0, |text| text.len())
        };
        bytes(&self.name) + bytes(&self.value)
    }

    /// A text to be kept; `None` if it is too long for that.
    pub fn text(text: Option<Box<str>>) -> Option<Option<Box<str>>> {
        match text {
            Some(text) if text.len() > MAX_TEXT_BYTES => None,
            text => Some(text),
        }
    }
}

/// The changes of one app that are remembered, the earliest first.
#[derive(Debug, Default)]
pub(crate) struct Past {
    entries: VecDeque<(Tick, NodeId, Before)>,
    bytes: usize,
    /// What was before a change at this tick, or an earlier one, may be forgotten.
    horizon: Tick,
}

impl Past {
    pub fn add(&mut self, tick: Tick, id: NodeId, before: Before) {
        self.bytes += before.bytes();
        self.entries.push_back((tick, id, before));
        while self.entries.len() > MAX_ENTRIES || self.bytes > MAX_BYTES {
            let Some((tick, _, before)) = self.entries.pop_front() else { break };
            self.bytes -= before.bytes();
            self.horizon = tick;
        }
    }

    /// What the elements that changed after `since` said at `since`. Empty if that is not known any more.
    pub fn at(&self, since: Tick) -> FxHashMap<NodeId, Before> {
        let mut all: FxHashMap<NodeId, Before> = FxHashMap::default();
        if since < self.horizon {
            return all;
        }
        let start = self.entries.partition_point(|(tick, ..)| *tick <= since);
        for (_, id, before) in self.entries.range(start..) {
            let known = all.entry(*id).or_default();
            known.states = known.states.or(before.states);
            if known.name.is_none() {
                known.name.clone_from(&before.name);
            }
            if known.value.is_none() {
                known.value.clone_from(&before.value);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(word: &str) -> NodeId {
        NodeId::parse(word).unwrap()
    }

    fn valued(value: &str) -> Before {
        Before { value: Some(Some(value.into())), ..Before::default() }
    }

    #[test]
    fn what_was_said_at_a_tick_is_what_the_first_change_after_it_replaced() {
        let mut past = Past::default();
        past.add(2, id("txt_000001"), valued("a"));
        past.add(3, id("txt_000001"), valued("b"));
        past.add(3, id("txt_000002"), Before { states: Some(States::NONE), ..Before::default() });
        assert_eq!(past.at(1)[&id("txt_000001")], valued("a"));
        assert_eq!(past.at(2)[&id("txt_000001")], valued("b"));
        assert_eq!(past.at(2)[&id("txt_000002")].states, Some(States::NONE));
        assert!(past.at(3).is_empty());
    }

    #[test]
    fn a_flood_is_forgotten_and_nothing_false_is_remembered() {
        let mut past = Past::default();
        for tick in 1..=MAX_ENTRIES as Tick + 5 {
            past.add(tick, id("txt_000001"), valued("x"));
        }
        assert!(past.at(4).is_empty() && !past.at(5).is_empty());
        for tick in 2_000..2_020 {
            past.add(tick, id("txt_000001"), valued(&"x".repeat(MAX_TEXT_BYTES)));
        }
        assert!(past.bytes <= MAX_BYTES, "{}", past.bytes);
        assert_eq!(Before::text(Some("x".repeat(MAX_TEXT_BYTES + 1).into())), None);
    }
}
