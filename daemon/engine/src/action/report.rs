//! The answer to an action.

use axd_protocol::command::{
    ActAnswer, Aspect, Effects, EffectsDetail, Expected, Modal, Receiver, Route, Settled,
};
use axd_protocol::error::{Delivery, Disposition};
use axd_protocol::text::{one_line, write_ref};
use axd_protocol::{Clock, Difference, Format, Result};

use crate::action::compare::difference;
use crate::action::context::{ActionContext, Outcome, Settle};
use crate::action::receiver::is_hidden;
use crate::action::spec::ActionSpec;
use crate::answer::Answer;
use crate::apps::modal::{described, in_words, modals};
use axd_tree::{Changes, Ix, Resolved, Tree};

/// The maximum number of changes that are listed in an answer; for more, a new snapshot serves the caller better.
pub(crate) const MAX_CHANGES: usize = 5_000;

impl ActionContext<'_> {
    /// The outcome of a dry run: what would be done.
    pub fn dry_run(&self, spec: &ActionSpec<'_>) -> Outcome {
        let by_input = spec.uses_input(self.point.is_some()) || self.options.route == Some(Route::Input);
        let (method, route) = if by_input {
            (self.engine.platform.input_method(), Route::Input)
        } else {
            (self.engine.platform.semantic_method(), self.options.route.unwrap_or(Route::Auto))
        };
        let note = Some("nothing was done".to_owned());
        Outcome { note, ..Outcome::by(method, route, Delivery::NotDelivered) }
    }

    /// Writes the answer.
    pub fn report(
        &self,
        done: &Outcome,
        rest: Settle,
        expected: Vec<Expected>,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let after = self.now();
        let changed = match (&self.before, &after) {
            (Some(before), Some(after)) => after.changes_since(before),
            (Some(_), None) => vec![Aspect::Gone],
            (None, _) => Vec::new(),
        };
        let came_of_it = match &self.before {
            // A changed focus alone is no effect: it results from reaching the element.
            Some(_) => changed.iter().any(|aspect| *aspect != Aspect::Focused),
            None => matches!(rest.settled, Settled::Quiet | Settled::Busy | Settled::Ended),
        };
        let doubt = done.doubt.as_ref().filter(|_| !came_of_it);
        let mut data = ActAnswer {
            method: done.method.to_owned(),
            route: done.route,
            before: self.before.clone(),
            after,
            changed,
            settled: rest.settled,
            waited_ms: rest.waited.as_millis() as u64,
            chosen: self.chosen.clone(),
            receiver: self.received.last().map(|receiver| self.named(receiver)),
            hit: self.hit.lock().clone().filter(|_| done.route == Route::Input),
            modal: None,
            expected,
            effects: None,
            disposition: Disposition::of(done.delivery),
            note: done.note.as_ref().or(doubt).cloned(),
        };
        let Some(app) = &self.app else {
            let clock = self.engine.clock.now();
            answer.either(
                Some(clock),
                None,
                || text_of(&data, None, None),
                |out| write(&data, None, None, out),
            );
            return Ok(());
        };
        let info = app.info();
        let tree = app.tree.read();
        data.modal = self.modal(&tree);
        let clock = self.engine.clock.now();
        let changes = tree.changes_since(self.since.tick).filter(|changes| changes.len() <= MAX_CHANGES);
        let detail = self.effects_detail();
        if detail != EffectsDetail::None {
            let (since, truncated) = (self.since, changes.is_none());
            let brief = changes.as_ref().filter(|_| detail == EffectsDetail::Brief);
            let brief = brief.map(|changes| brief_of(&tree, changes, since));
            data.effects =
                Some(Effects { since, clock, brief, difference: Difference::default(), truncated });
        }
        let changes = changes.as_ref().filter(|_| detail == EffectsDetail::Full);
        answer.either(
            Some(clock),
            Some(&info),
            || text_of(&data, changes, Some(&tree)),
            |out| write(&data, changes, Some(&tree), out),
        );
        Ok(())
    }
}

impl ActionContext<'_> {
    /// What the action has changed so far, unless the request does not want to know.
    pub fn effects(&self) -> Option<Effects> {
        let app = self.app.as_ref().filter(|_| self.effects_detail() != EffectsDetail::None)?;
        let tree = app.tree.read();
        let changes = tree.changes_since(self.since.tick).filter(|changes| changes.len() <= MAX_CHANGES);
        Some(self.told(&tree, changes.as_ref(), self.since))
    }

    /// Changes since a clock, in the detail that the request wants; none if they are too many to be listed.
    fn told(&self, tree: &Tree, changes: Option<&Changes>, since: Clock) -> Effects {
        let clock = self.engine.clock.now();
        let truncated = changes.is_none();
        let is_brief = self.effects_detail() == EffectsDetail::Brief;
        let brief = changes.filter(|_| is_brief).map(|changes| brief_of(tree, changes, since));
        let full = changes.filter(|_| !is_brief).map(|changes| difference(tree, changes));
        Effects { since, clock, brief, difference: full.unwrap_or_default(), truncated }
    }

    /// How much of what changed is told.
    fn effects_detail(&self) -> EffectsDetail {
        let by_default = match self.call.format {
            Format::Text => EffectsDetail::Brief,
            Format::Json => EffectsDetail::Full,
        };
        self.options.effects.unwrap_or(by_default)
    }

    /// A receiver, with the name of its app.
    fn named(&self, receiver: axd_platform::Receiver) -> Receiver {
        let desktop = self.engine.desktop.read();
        let app = receiver.pid.and_then(|pid| desktop.by_pid(pid)).map(|app| app.name.clone());
        let shown = !is_hidden(&desktop, &receiver);
        let (window, title) = (receiver.window.filter(|_| shown), receiver.title);
        Receiver { app, pid: receiver.pid, window, title: if shown { title } else { String::new() } }
    }
}

impl ActionContext<'_> {
    /// The modal dialog that is open over the subject of this action, if there is one: it waits for the user.
    fn modal(&self, tree: &Tree) -> Option<Modal> {
        let target = self.target.and_then(|id| match tree.resolve(id) {
            Resolved::Alive(ix) => Some(ix),
            _ => None,
        });
        // Input without a target element is about the window that receives it.
        let received = self.received.last().and_then(|receiver| receiver.window).filter(|_| target.is_none());
        let is_over = |window: &Ix| received.is_none() || tree.window_number(*window) != received;
        // A dialog that this action opened is part of the effects.
        let mut others = modals(tree, target).filter(is_over);
        others.find(|window| !tree.came_after(*window, self.since.tick)).map(|window| described(tree, window))
    }
}

/// What can be seen to have changed, as text.
fn brief_of(tree: &Tree, changes: &Changes, since: Clock) -> String {
    let mut out = String::new();
    tree.write_brief(changes, since.tick, &mut out);
    out
}

/// Writes the answer as JSON, with the difference straight from the tree.
fn write(data: &ActAnswer, changes: Option<&Changes>, tree: Option<&Tree>, out: &mut Vec<u8>) {
    let Some(effects) = &data.effects else {
        let _ = serde_json::to_writer(out, data);
        return;
    };
    let without = ActAnswer { effects: None, ..data.clone() };
    // Writing to a `Vec` cannot fail, and these fields always serialize.
    let _ = serde_json::to_writer(&mut *out, &without);
    out.pop();
    out.extend_from_slice(b",\"effects\":{\"since\":");
    let _ = serde_json::to_writer(&mut *out, &effects.since);
    out.extend_from_slice(b",\"clock\":");
    let _ = serde_json::to_writer(&mut *out, &effects.clock);
    match (&effects.brief, changes.zip(tree)) {
        (Some(brief), _) => {
            out.extend_from_slice(b",\"brief\":");
            let _ = serde_json::to_writer(&mut *out, brief);
        }
        (None, Some((changes, tree))) => {
            out.push(b',');
            tree.write_changes(changes, out);
        }
        (None, None) => {
            out.extend_from_slice(br#","removed":[],"moved":[],"added":[],"changed":[]"#);
        }
    }
    if effects.truncated {
        out.extend_from_slice(b",\"truncated\":true");
    }
    out.extend_from_slice(b"}}");
}

/// The answer as text: how the action was done, then what changed.
fn text_of(data: &ActAnswer, changes: Option<&Changes>, tree: Option<&Tree>) -> String {
    let mut out = String::new();
    let delivery = match data.disposition.delivery {
        Delivery::NotDelivered => "not done",
        Delivery::Uncertain => "outcome unknown",
        Delivery::DeliveredUnverified => "done",
        Delivery::DeliveredVerified => "done, verified",
    };
    out.push_str(&format!("{delivery} (by {})", data.method));
    let settled = match data.settled {
        Settled::Quiet => format!(", quiet after {} ms", data.waited_ms),
        Settled::NoChange => format!(", nothing changed in {} ms", data.waited_ms),
        Settled::Busy => format!(", still changing after {} ms", data.waited_ms),
        Settled::Unresponsive => ", the app does not answer".to_owned(),
        Settled::Ended => ", the app ended".to_owned(),
        Settled::CutShort => ", interrupted".to_owned(),
        Settled::Skipped => String::new(),
    };
    out.push_str(&settled);
    out.push('\n');
    if let Some((chosen, target)) = data.chosen.as_ref().zip(data.before.as_ref()) {
        out.push_str("  ");
        write_ref(&target.node, &mut out);
        out.push_str(&format!(": {chosen}\n"));
    }
    if let Some(note) = &data.note {
        out.push_str(&format!("  {}\n", one_line(note)));
    }
    for expected in &data.expected {
        out.push_str(&format!("  as expected: {}", one_line(&expected.expected)));
        if let Some(node) = &expected.node {
            out.push_str(": ");
            write_ref(node, &mut out);
        }
        out.push('\n');
    }
    // The receiver is named only if the request did not determine it.
    if let Some(receiver) = data.receiver.as_ref().filter(|_| data.before.is_none()) {
        let app = receiver.app.as_deref().unwrap_or("an unknown app");
        out.push_str(&format!("  received by {}: {:?}\n", one_line(app), receiver.title));
    }
    if let Some(modal) = &data.modal {
        out.push_str(&format!("  modal: {}\n", in_words(modal)));
    }
    if let Some((changes, tree)) = changes.zip(tree) {
        tree.write_changes_text(changes, &mut out);
    }
    if let Some(effects) = &data.effects {
        match &effects.brief {
            Some(brief) if brief.is_empty() && matches!(data.settled, Settled::Quiet | Settled::Busy) => {
                out.push_str("  nothing that can be seen has changed\n");
            }
            Some(brief) => out.push_str(brief),
            None if effects.truncated => {
                out.push_str("  more changed than is listed here; `ax snapshot` shows it\n");
            }
            None => {}
        }
    }
    out
}
