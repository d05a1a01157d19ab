//! Enters text and values into fields.
//!
//! Line ends and tabs are keys wherever a user would press them: in single-line fields, and in cells and documents of office
//! programs. Only a multi-line text area takes them as text. This holds for both routes.

use axd_protocol::command::{Clear, ElementState, Route, SetValue, Type};
use axd_protocol::error::Delivery;
use axd_protocol::{AppState, Error, ErrorCode, NodeId, Result, Role, State};
use tokio::time::Instant;

use crate::action::context::{ActionContext, Outcome};
use crate::action::semantic::is_text;
use crate::action::spec::{Action, ActionSpec, TargetKind};
use crate::action::typed_text::{Came, came, came_last};
use axd_platform::{Act, FailureKind, Sent, Stretch};
use axd_tree::Tree;

/// The note on typed text that the field shows differently.
const OTHERWISE: &str = "the field's text differs from what was typed; the app may have changed it";

impl Action for Type {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        let target = self.target.as_deref().map_or(TargetKind::Focus, TargetKind::Element);
        Ok(ActionSpec { text: Some(&self.text.0), ..ActionSpec::on(target) })
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        context.type_text(&self.text.0, self.target.is_some()).await
    }
}

impl Action for SetValue {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        Ok(ActionSpec { text: Some(&self.value.0), ..ActionSpec::on_element(&self.target) })
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        context.set_value(&self.value.0).await
    }
}

impl Action for Clear {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        Ok(ActionSpec::on_element(&self.target))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        context.clear().await
    }
}

impl ActionContext<'_> {
    /// Types into the target; `aimed` says that the request names the target, rather than using whatever has the focus.
    async fn type_text(&mut self, text: &str, aimed: bool) -> Result<Outcome> {
        if !aimed {
            self.turn_to_focus();
        }
        self.turn_to_field();
        let Some(id) = self.target else { return self.keys(text).await };
        let is_secure = self.has(State::Secure);
        let is_text = self.has(State::Editable) || self.role().is_some_and(is_text);
        let is_area = self.role() == Some(Role::TextArea);
        let with_keys = has_keys(text) && !is_area;
        if with_keys && self.options.route == Some(Route::Semantic) {
            let message =
                format!("{} is a single-line field, where newlines and tabs are keys", self.target_label());
            return Err(Error::new(ErrorCode::ActionNotSupported, message)
                .suggest("omit --route, use --route input, or remove them from the text"));
        }
        let before = self.now().and_then(|now| now.value);
        let by_app = match is_text && !with_keys {
            true => self.by_app_to_type(text, aimed).await?,
            false => None,
        };
        if let Some(done) = by_app {
            return match is_secure || done.delivery != Delivery::DeliveredUnverified {
                true => Ok(done),
                false => self.with_what_came(done, before.as_deref(), text, is_text).await,
            };
        }
        if self.options.route == Some(Route::Semantic) {
            return Err(self.unsupported("take text through the accessibility API; use --route input"));
        }
        self.until_enabled().await?;
        // A target that only had the focus does not get it again: keys go where the focus is now.
        if aimed {
            self.focus_to_type().await?;
        }
        let before = self.now().and_then(|now| now.value);
        let done = match text.split_once('\t') {
            Some((first, rest)) if is_area => self.keys_with_tab(id, first, rest).await,
            _ => self.keys(text).await,
        };
        let done = match done {
            Err(error) if is_text && !is_secure => {
                return Err(self.with_what_is_there(error, before.as_deref(), text).await);
            }
            done => done?,
        };
        // Other clients need not wait while the effect is verified.
        self.release_input_lock();
        // The effect of keys does not show in the field they were pressed in.
        match is_secure || with_keys {
            true => Ok(done),
            false => self.with_what_came(done, before.as_deref(), text, is_text).await,
        }
    }

    /// Verifies typed text: if it is there the outcome says so; if it is missing that is an error, where it can be known.
    /// `is_text` says what the target was before: an app that ends has no fields any more.
    async fn with_what_came(
        &self,
        mut done: Outcome,
        before: Option<&str>,
        text: &str,
        is_text: bool,
    ) -> Result<Outcome> {
        let holds = || self.now().and_then(|now| now.value).unwrap_or_default();
        let was = before.unwrap_or_default();
        let is_whole = || came(was, &holds(), text) == Came::Whole;
        self.wait_for_effect(is_whole).await;
        if is_whole() {
            done.delivery = Delivery::DeliveredVerified;
        } else if is_text && before.is_some() && !text.trim().is_empty() {
            self.until_it_has_come(was, text, &mut done).await?;
        }
        Ok(done)
    }

    /// The error of typing that was stopped part way, with how many characters are in the field: an app that loses the focus may drop
    /// keys that its window had received.
    async fn with_what_is_there(&self, error: Error, before: Option<&str>, text: &str) -> Error {
        // A browser that has lost the focus tells of its fields too late to be believed.
        let (Some(sent), Some(was), false) = (error.delivered_chars, before, self.is_in_document()) else {
            return error;
        };
        let sent: String = text.chars().take(sent as usize).collect();
        let holds = || self.now().and_then(|now| now.value).unwrap_or_default();
        self.wait_for_effect(|| came(was, &holds(), &sent) == Came::Whole).await;
        if let Some(id) = self.target {
            let _ = self.read_again(id).await;
        }
        let now = holds();
        let there = match came(was, &now, &sent) {
            Came::Nothing => "",
            Came::Short(there) if sent.starts_with(there) => there,
            Came::Short(_) | Came::Otherwise => match came_last(was, &now, &sent) {
                Some(there) => there,
                None => return error,
            },
            Came::Whole | Came::Unknown => return error,
        };
        let count = there.chars().count() as u32;
        let message = format!("{}; the app took {count} of them", error.message);
        Error { message, delivered_chars: Some(count), ..error }
    }

    /// Whether the target is inside a page or another document.
    fn is_in_document(&self) -> bool {
        let is_inside = |tree: &Tree, ix| {
            let mut above = std::iter::successors(tree.parent(ix), |ix| tree.parent(*ix));
            above.any(|ix| tree.role(ix) == Role::Document)
        };
        self.target.is_some_and(|id| self.read_node(id, is_inside).unwrap_or(true))
    }

    /// Fails if none or only part of the typed text is in the field after a while, wherever the rest went.
    async fn until_it_has_come(&self, before: &str, text: &str, done: &mut Outcome) -> Result<()> {
        self.still_runs()?;
        // A field that is gone reports nothing any more.
        let holds = || self.now().map(|now| now.value.unwrap_or_default());
        let is_missing = |now: &str| matches!(came(before, now, text), Came::Nothing | Came::Short(_));
        // The wait goes on as long as more text arrives.
        loop {
            let last = holds();
            let has_moved = || holds() != last;
            let is_over = || holds().is_none_or(|now| !is_missing(&now));
            if is_over()
                || !self.until(self.outcome_deadline(), has_moved).await?
                || Instant::now() >= self.deadline
            {
                break;
            }
        }
        // The field is read again, in case it changed without an event.
        if let Some(id) = self.target {
            let _ = self.read_again(id).await;
        }
        let Some(now) = holds() else { return self.still_runs() };
        let missing = match came(before, &now, text) {
            Came::Whole => {
                done.delivery = Delivery::DeliveredVerified;
                return Ok(());
            }
            Came::Unknown => return Ok(()),
            Came::Otherwise => {
                done.note.get_or_insert(OTHERWISE.to_owned());
                return Ok(());
            }
            Came::Nothing => "still has its old value: none of the text arrived".to_owned(),
            // The fields of a date, or of a card number, pass the focus on when they are full.
            Came::Short(came)
                if done.route == Route::Input && self.target.is_some_and(|id| !self.holds_focus(id)) =>
            {
                done.note.get_or_insert(format!("the field has {came:?}; the focus moved during typing"));
                return Ok(());
            }
            Came::Short(came) => format!(
                "received only {} of the {} characters: {came:?}",
                came.chars().count(),
                text.chars().count()
            ),
        };
        // A browser in the background reports the text of its fields seconds late.
        if done.route != Route::Input || !self.still_has_keyboard().await {
            let note = format!("according to the app, the field {missing}, but its report may be late");
            done.note.get_or_insert(note);
            return Ok(());
        }
        let mut message = format!("{} {missing}", self.target_label());
        if let Some(doubt) = &done.doubt {
            message.push_str(&format!(" ({doubt})"));
        }
        Err(Error::new(ErrorCode::ActionFailed, message).delivered(Delivery::Uncertain).suggest(
            "its window received the keys; check with `ax snapshot` where they went and whether the field accepts such text",
        ))
    }

    /// Fails if the app has ended, because then nobody can tell what of the text it had taken.
    fn still_runs(&self) -> Result<()> {
        if self.app()?.state() != AppState::Gone {
            return Ok(());
        }
        let message = format!("the app of {} ended during typing", self.target_label());
        Err(Error::new(ErrorCode::ApplicationNotFound, message).delivered(Delivery::Uncertain))
    }

    /// Whether the target's window would still receive keys. If that cannot be found out the answer is no: the text has been
    /// sent, so this must not become an error that says otherwise.
    async fn still_has_keyboard(&self) -> bool {
        let Some(expected) = self.target.and_then(|id| self.expected_of(id).ok()) else { return false };
        matches!(self.receiver_of(Stretch::Keys, expected).await, Ok(Ok(_)))
    }

    /// Inserts text through the app; `None` if the other route is to be taken. Keys also reach elements that do not accept text
    /// themselves, such as the display of a calculator: they are sent if the element just has the focus; if the request names
    /// it, the error says that keys can be sent.
    async fn by_app_to_type(&self, text: &str, aimed: bool) -> Result<Option<Outcome>> {
        let done = self.try_semantic(Act::Insert(text.to_owned())).await;
        let refused = |error: &Error| {
            error.code == ErrorCode::ActionFailed && error.disposition.delivery == Delivery::NotDelivered
        };
        match done {
            Err(error) if refused(&error) && self.options.route != Some(Route::Semantic) => match aimed {
                true => Err(error.suggest("use --route input to send keys")),
                false => Ok(None),
            },
            done => done,
        }
    }

    /// Types into a text area with the keyboard. In some, as on web pages, Tab moves to the next field: then the rest of the
    /// text is not typed there.
    async fn keys_with_tab(&self, id: NodeId, first: &str, rest: &str) -> Result<Outcome> {
        self.keys(&format!("{first}\t")).await?;
        self.wait_for_effect(|| !self.holds_focus(id)).await;
        if self.holds_focus(id) {
            return self.keys(rest).await;
        }
        let mut error = Error::new(
            ErrorCode::ActionFailed,
            format!(
                "{} lost the focus at the first tab; the text after it was not typed",
                self.target_label()
            ),
        )
        .delivered(Delivery::Uncertain)
        .suggest("type it without tabs, or paste it from the clipboard");
        error.delivered_chars = Some(first.chars().count() as u32 + 1);
        Err(error)
    }

    /// Updates the target: the focus may have moved since it was looked up.
    fn turn_to_focus(&mut self) {
        let focused = self.app.as_ref().and_then(|app| {
            let tree = app.tree.read();
            tree.focused().map(|ix| tree.id(ix))
        });
        if focused != self.target {
            self.target = focused;
            self.before = self.now();
        }
    }

    /// Replaces an editable combo box by its text field, which is what is meant.
    fn turn_to_field(&mut self) {
        let Some(id) = self.target.filter(|_| self.role() == Some(Role::Combobox)) else { return };
        let field = self.read_node(id, |tree, ix| {
            let is_field = |at| {
                matches!(tree.role(at), Role::TextField | Role::SearchField)
                    && !tree.states(at).has(State::Readonly)
            };
            let itself = tree.states(ix).has(State::Editable) && tree.children(ix).is_empty();
            let mut fields = tree.subtree(ix).skip(1).filter(|at| !itself && is_field(*at));
            fields.next().filter(|_| fields.next().is_none()).map(|at| tree.id(at))
        });
        if let Ok(Some(field)) = field {
            self.target = Some(field);
            self.before = self.now();
        }
    }

    async fn set_value(&mut self, value: &str) -> Result<Outcome> {
        self.turn_to_field();
        let role = self.role().unwrap_or(Role::Unknown);
        if value.contains(['\n', '\r'])
            && role != Role::TextArea
            && (is_text(role) || self.has(State::Editable))
        {
            let message =
                format!("{} is a single-line field; the value must not have a newline", self.target_label());
            return Err(Error::new(ErrorCode::InvalidArgs, message)
                .suggest("remove the newline; to press Enter, use `ax type` or `ax press enter`"));
        }
        let unsupported = || {
            Error::new(
                ErrorCode::ActionNotSupported,
                format!("{}: element does not support set_value; try 'type'", self.target_label()),
            )
            .suggest("use `ax type` for text, or `ax select` for an item")
        };
        if self.options.route == Some(Route::Input) {
            return Err(unsupported());
        }
        self.until_enabled().await?;
        let id = self.id()?;
        let mut uncertain = None;
        match self.perform(id, Act::SetValue(value.to_owned())).await {
            Ok(()) => {}
            Err(failure) if failure.kind == FailureKind::NotSupported && failure.sent == Sent::No => {
                return Err(unsupported());
            }
            Err(failure) if failure.kind == FailureKind::Unresponsive && failure.sent != Sent::No => {}
            Err(failure) => uncertain = Some(self.outcome_without_reply(&failure)?),
        }
        if self.has(State::Secure) {
            return Ok(uncertain.unwrap_or_else(|| self.semantic_outcome(Delivery::DeliveredUnverified)));
        }
        let holds = || self.now().is_some_and(|now| same_value(now.value.as_deref().unwrap_or(""), value));
        self.wait_for_effect(holds).await;
        if holds() {
            return Ok(self.semantic_outcome(Delivery::DeliveredVerified));
        }
        if let Some(uncertain) = uncertain {
            return Ok(uncertain);
        }
        let mut done = self.semantic_outcome(Delivery::DeliveredUnverified);
        done.note = Some(
            "the app accepted the value and shows another one; it may limit or format values".to_owned(),
        );
        Ok(done)
    }

    async fn clear(&mut self) -> Result<Outcome> {
        self.turn_to_field();
        let is_empty = |now: &ElementState| now.value.as_deref().unwrap_or("").is_empty();
        if !self.has(State::Secure) && self.now().is_some_and(|now| is_empty(&now)) {
            return Ok(Outcome::already("it was already empty"));
        }
        if let Some(done) = self.try_semantic(Act::SetValue(String::new())).await? {
            self.wait_for_effect(|| self.now().is_some_and(|now| is_empty(&now))).await;
            if self.has(State::Secure) {
                return Ok(done);
            }
            if self.now().is_some_and(|now| is_empty(&now)) {
                return Ok(done.seen());
            }
            // The field is verified to be empty, and clearing it twice does no harm.
            if self.options.route == Some(Route::Semantic) {
                return Err(self.not_effective("empty"));
            }
        }
        self.until_enabled().await?;
        self.focus_to_type().await?;
        let done = self.erase().await?;
        if self.has(State::Secure) {
            return Ok(done);
        }
        self.verified(done, "empty", is_empty).await
    }
}

/// Whether a text contains characters that are keys in a single-line field.
fn has_keys(text: &str) -> bool {
    text.contains(['\n', '\r', '\t'])
}

/// Whether two values are equal, though the app formats its value in its own way: 30 is 30.0.
fn same_value(holds: &str, given: &str) -> bool {
    holds == given
        || matches!((holds.trim().parse::<f64>(), given.trim().parse::<f64>()), (Ok(a), Ok(b)) if (a - b).abs() < 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_same_in_any_form() {
        assert!(same_value("30.0", "30"));
        assert!(same_value("", ""));
        assert!(!same_value("30", "31"));
        assert!(!same_value("a", "b"));
    }
}
