//! Moves the pointer, and uses the buttons and the wheel at points of the screen.

use axd_protocol::command::{MouseClick, MouseDown, MouseMove, MouseUp, MouseWheel};
use axd_protocol::{Error, ErrorCode, Result};

use crate::action::context::{ActionContext, Outcome};
use crate::action::input::{clicks, lease, notches, turn, with};
use crate::action::input_lock::HeldInput;
use crate::action::receiver::Expected;
use crate::action::spec::{Action, ActionSpec, TargetKind};
use axd_platform::InputStep;

/// The maximum number of clicks in one request.
const MAX_CLICKS: u32 = 10;

impl Action for MouseMove {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        Ok(ActionSpec { settles: false, ..ActionSpec::by_input(TargetKind::Place(self.point.0)) })
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        let at = context.click_point().await?;
        context.send(vec![InputStep::Move(at)], Expected::Anyone).await
    }
}

impl Action for MouseClick {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        if self.count.is_some_and(|count| !(1..=MAX_CLICKS).contains(&count)) {
            let message = format!("count must be between 1 and {MAX_CLICKS}");
            return Err(Error::new(ErrorCode::InvalidArgs, message));
        }
        Ok(ActionSpec::by_input(TargetKind::Place(self.point.0)))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        let at = context.point_at().await?;
        context.input(clicks(at, self.button, self.count.unwrap_or(1), &self.modifiers.0)).await
    }
}

impl Action for MouseDown {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        lease(self.hold_ms)?;
        Ok(ActionSpec { settles: false, ..ActionSpec::by_input(TargetKind::Place(self.point.0)) })
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        let at = context.click_point().await?;
        let expected = context.expected_at_spot()?;
        let button = HeldInput::Button(self.button);
        context.hold(vec![InputStep::Move(at)], expected, &[button], lease(self.hold_ms)?).await
    }
}

impl Action for MouseUp {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        let spec = ActionSpec::by_input(TargetKind::Place(self.point.0));
        Ok(ActionSpec { settles: false, releases: true, ..spec })
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        let at = context.click_point().await?;
        context.release(vec![InputStep::Move(at)], &[HeldInput::Button(self.button)]).await
    }
}

impl Action for MouseWheel {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        notches(self.amount)?;
        Ok(ActionSpec::by_input(TargetKind::Place(self.point.0)))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        let at = context.point_at().await?;
        let turn = turn(self.direction, notches(self.amount)?);
        context.input(with(&self.modifiers.0, vec![InputStep::Move(at), turn])).await
    }
}
