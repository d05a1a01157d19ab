//! Gives an element the focus: through the app, else by a click, where a click does nothing else.

use axd_protocol::command::{Focus, Route};
use axd_protocol::keys::Button;
use axd_protocol::{Result, State};

use crate::action::context::{ActionContext, Outcome};
use crate::action::semantic::is_text;
use crate::action::spec::{Action, ActionSpec};
use axd_platform::Act;

impl Action for Focus {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        Ok(ActionSpec::on_element(&self.target))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        let id = context.id()?;
        if context.holds_focus(id) && context.is_in_front(id) {
            return Ok(Outcome::already("it was already focused"));
        }
        if let Some(done) = context.try_semantic(Act::Focus).await? {
            context.wait_for_effect(|| context.holds_focus(id)).await;
            if context.holds_focus(id) {
                return Ok(done.seen());
            }
        }
        let clickable = context.role().is_some_and(is_text) || context.has(State::Editable);
        if context.options.route == Some(Route::Semantic) || !clickable {
            return Err(context
                .unsupported("be focused without a click, which would do more than that")
                .suggest("use `ax click`, or move the focus with `ax press tab`"));
        }
        let done = context.click(Button::Left, 1).await?;
        context.wait_for_effect(|| context.holds_focus(id)).await;
        if context.holds_focus(id) {
            return Ok(done.seen());
        }
        Err(context.not_effective("focused"))
    }
}
