//! Clicks, hovers and drags.

use std::time::Duration;

use axd_protocol::command::{Click, DoubleClick, Drag, Hover, RightClick, TripleClick};
use axd_protocol::keys::Button;
use axd_protocol::{Point, Result};

use crate::action::context::{ActionContext, Outcome};
use crate::action::spec::{Action, ActionSpec, NeedsInput, TargetKind};
use axd_platform::{Act, InputStep, Stretch};

/// A drag consists of this many moves with this pause between them: apps do not recognize a drag that jumps.
const DRAG_MOVES: i32 = 10;
const DRAG_PAUSE: Duration = Duration::from_millis(16);

impl Action for Click {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        let spec = ActionSpec::on_element(&self.target);
        Ok(ActionSpec { needs_input: NeedsInput::AtPoint, takes_bare_point: true, checks_hit: true, ..spec })
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        if context.point.is_none()
            && let Some(done) = context.try_semantic(Act::Press).await?
        {
            return Ok(done);
        }
        context.click(Button::Left, 1).await
    }
}

impl Action for DoubleClick {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        Ok(by_pointer(&self.target))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        context.click(Button::Left, 2).await
    }
}

impl Action for TripleClick {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        Ok(by_pointer(&self.target))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        context.click(Button::Left, 3).await
    }
}

impl Action for RightClick {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        Ok(by_pointer(&self.target))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        context.click(Button::Right, 1).await
    }
}

impl Action for Hover {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        Ok(by_pointer(&self.target))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        let at = context.point_at().await?;
        context.input(vec![InputStep::Expect(Stretch::Pointer(at)), InputStep::Move(at)]).await
    }
}

impl Action for Drag {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        Ok(by_pointer(&self.target))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        // Reaching the destination may scroll or cover the starting point, so the starting point is determined last.
        context.click_point().await?;
        let to = context.click_point_of(&self.to).await?;
        let from = context.point_at().await?;
        let mut steps = vec![
            InputStep::Expect(Stretch::Pointer(to)),
            InputStep::Move(from),
            InputStep::Button(Button::Left, true),
        ];
        for step in 1..=DRAG_MOVES {
            let part = |from: i32, to: i32| from + (to - from) * step / DRAG_MOVES;
            steps.push(InputStep::Pause(DRAG_PAUSE));
            steps.push(InputStep::Move(Point { x: part(from.x, to.x), y: part(from.y, to.y) }));
        }
        steps.push(InputStep::Pause(DRAG_PAUSE));
        steps.push(InputStep::Button(Button::Left, false));
        context.input(steps).await
    }
}

/// An action with the mouse on an element or at a point.
fn by_pointer(target: &str) -> ActionSpec<'_> {
    ActionSpec { takes_bare_point: true, ..ActionSpec::by_input(TargetKind::Element(target)) }
}
