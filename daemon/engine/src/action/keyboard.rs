//! Presses, holds and releases keys.

use axd_protocol::Result;
use axd_protocol::command::{KeyDown, KeyUp, Press};
use axd_protocol::keys::{Combo, Key};

use crate::action::context::{ActionContext, Outcome};
use crate::action::input::{lease, press};
use crate::action::input_lock::HeldInput;
use crate::action::receiver::Expected;
use crate::action::spec::{Action, ActionSpec, TargetKind};

impl Action for Press {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        Ok(ActionSpec { keys: Some(&self.combo.0), ..ActionSpec::by_input(TargetKind::Keyboard) })
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        context.by_keys(press(&self.combo.0)).await
    }
}

impl Action for KeyDown {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        lease(self.hold_ms)?;
        let spec = ActionSpec::by_input(TargetKind::Keyboard);
        Ok(ActionSpec { keys: Some(&self.combo.0), settles: false, ..spec })
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        context.take_input_lock().await?;
        context.raise(context.window_to_front()?, false).await?;
        let expected = context.expected_by_name()?;
        context.hold(Vec::new(), expected, &held(&self.combo.0), lease(self.hold_ms)?).await
    }
}

impl Action for KeyUp {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        let spec = ActionSpec::by_input(TargetKind::Keyboard);
        Ok(ActionSpec { settles: false, releases: true, ..spec })
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        context.release(Vec::new(), &held(&self.combo.0)).await
    }
}

impl ActionContext<'_> {
    /// The window to bring to the front for keys without a target element: that of the window or app that the request names.
    pub fn window_to_front(&self) -> Result<Option<u64>> {
        match (&self.app, self.expected_by_name()?) {
            (_, Expected::Window(_, window)) => Ok(Some(window)),
            (Some(app), Expected::App(pid)) => {
                // Any window of the app will do, so if one has the keyboard it keeps it.
                let active = {
                    let desktop = self.engine.desktop.read();
                    desktop.active_window.filter(|_| desktop.frontmost == Some(pid))
                };
                let tree = app.tree.read();
                let focused = || self.engine.focused_window(&tree).and_then(|ix| tree.window_number(ix));
                let first = || {
                    let desktop = self.engine.desktop.read();
                    desktop.windows.iter().find(|seen| seen.pid == pid).map(|seen| seen.window)
                };
                Ok(active.or_else(focused).or_else(first))
            }
            _ => Ok(None),
        }
    }
}

fn held(combo: &Combo) -> Vec<HeldInput> {
    let modifiers = combo.modifiers.iter().map(|modifier| HeldInput::Key(Key::Modifier(*modifier)));
    modifiers.chain([HeldInput::Key(combo.key)]).collect()
}
