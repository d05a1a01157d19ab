//! Checks, unchecks and toggles check boxes, switches, radio buttons and toggle buttons.

use axd_protocol::command::{Check, Toggle, Uncheck};
use axd_protocol::error::Delivery;
use axd_protocol::keys::Button;
use axd_protocol::{ErrorCode, Result, Role, State};

use crate::action::context::{ActionContext, Outcome};
use crate::action::spec::{Action, ActionSpec};
use axd_platform::{Act, FailureKind};

/// The note on a press whose effect cannot be seen.
const STATE_UNKNOWN_NOTE: &str =
    "the app does not report whether it is checked; check with `ax screenshot` before pressing it again";

impl Action for Toggle {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        Ok(ActionSpec::on_element(&self.target))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        let was = context.before.as_ref().is_some_and(|before| before.checked);
        if !context.role().is_some_and(is_checkable) {
            return Err(context.unsupported("be toggled"));
        }
        let done = match context.try_semantic(Act::Press).await? {
            Some(done) => done,
            None => context.click(Button::Left, 1).await?,
        };
        let done = context.verified_or_not(done, |now| now.checked != was).await?;
        match done.delivery {
            Delivery::DeliveredVerified => Ok(done),
            _ => Ok(context.with_unknown_state(done).await),
        }
    }
}

impl Action for Check {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        Ok(ActionSpec::on_element(&self.target))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        context.check(true).await
    }
}

impl Action for Uncheck {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        Ok(ActionSpec::on_element(&self.target))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        context.check(false).await
    }
}

impl ActionContext<'_> {
    /// Whether the app reports if the target is checked.
    async fn tells_checked(&self) -> bool {
        let Ok(id) = self.id() else { return true };
        let reported = self.perform(id, Act::TellsChecked).await;
        !matches!(reported, Err(failure) if failure.kind == FailureKind::NotSupported)
    }

    /// Adds a note if the effect of a press cannot be seen, so that the caller does not press again and undo it.
    async fn with_unknown_state(&self, done: Outcome) -> Outcome {
        match self.tells_checked().await {
            true => done,
            false => Outcome { note: Some(STATE_UNKNOWN_NOTE.to_owned()), ..done },
        }
    }

    async fn check(&self, on: bool) -> Result<Outcome> {
        let role = self.role().unwrap_or(Role::Unknown);
        let can_be = is_checkable(role) || on && matches!(role, Role::Radio | Role::MenuItemRadio);
        if !can_be {
            let what = if on { "be checked" } else { "be unchecked" };
            return Err(self.unsupported(what));
        }
        let is_so =
            self.before.as_ref().is_some_and(|before| before.checked == on) && !self.has(State::Mixed);
        if is_so {
            if on {
                return Ok(Outcome::already("it was already checked"));
            }
            if self.tells_checked().await {
                return Ok(Outcome::already("it was already unchecked"));
            }
            // Some toolkits report only that something is checked, and of some elements not even that.
            let unknown = Outcome::already("it was not pressed: the app does not report it as checked");
            return Ok(Outcome { delivery: Delivery::DeliveredUnverified, ..unknown });
        }
        let done = match self.try_semantic(Act::Press).await? {
            Some(done) => done,
            None => self.click(Button::Left, 1).await?,
        };
        // A press that the app accepted is not repeated, though it is verified: if its effect is only late, the second press
        // would undo it.
        let what = if on { "checked" } else { "unchecked" };
        match self.verified(done.clone(), what, |now| now.checked == on).await {
            Err(error) if error.code == ErrorCode::ActionFailed && !self.tells_checked().await => {
                Ok(Outcome { note: Some(STATE_UNKNOWN_NOTE.to_owned()), ..done })
            }
            verified => verified,
        }
    }
}

/// Whether a press checks and unchecks elements of this role.
fn is_checkable(role: Role) -> bool {
    matches!(role, Role::Checkbox | Role::Switch | Role::ToggleButton | Role::MenuItemCheckbox)
}
