//! Performs an action: through the app first, with mouse and keyboard second, and never twice.
//!
//! The second route is tried only if nothing was sent, or for actions that are verified and can be repeated without harm.

use axd_protocol::command::{ElementState, Route};
use axd_protocol::error::Delivery;
use axd_protocol::keys::Button;
use axd_protocol::{Error, ErrorCode, NodeId, Result, Role, State};

use crate::action::context::{ActionContext, Outcome};
use crate::action::input::{clicks, turn, with};
use crate::action::receiver::Expected;
use crate::action::spec::Action;
use axd_platform::{Act, Failure, FailureKind, InputStep, Sent};
use axd_tree::{Ix, Tree};

/// The note on a press whose effect cannot be seen.
const STATE_UNKNOWN_NOTE: &str =
    "the app does not report whether it is checked; check with `ax screenshot` before pressing it again";

impl Action<'_> {
    /// Whether the action can be performed with mouse and keyboard only.
    pub fn is_physical(&self, context: &ActionContext<'_>) -> bool {
        self.uses_input(context.point.is_some())
    }

    /// Whether the action needs mouse and keyboard; `at_a_place` says whether its target is a point.
    pub fn uses_input(&self, at_a_place: bool) -> bool {
        match self {
            Action::Click { button, count, .. } => *button != Button::Left || *count > 1 || at_a_place,
            Action::Drag { .. }
            | Action::Hover { .. }
            | Action::Press { .. }
            | Action::KeyDown { .. }
            | Action::KeyUp { .. }
            | Action::MouseMove { .. }
            | Action::MouseClick { .. }
            | Action::MouseDown { .. }
            | Action::MouseUp { .. }
            | Action::MouseWheel { .. } => true,
            Action::Scroll { .. } => at_a_place,
            _ => false,
        }
    }

    /// Performs the action.
    pub async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        if self.is_physical(context) && context.options.route == Some(Route::Semantic) {
            let what = context.call.command.name();
            return Err(Error::new(
                ErrorCode::ActionNotSupported,
                format!("{what} requires mouse and keyboard"),
            )
            .suggest("use --route input, or omit --route"));
        }
        match *self {
            Action::Click { button, count, .. } if self.is_physical(context) => {
                context.click(button, count).await
            }
            Action::Click { button, count, .. } => match context.try_semantic(Act::Press).await? {
                Some(done) => Ok(done),
                None => context.click(button, count).await,
            },
            Action::Type { text, target } => context.type_text(text, target.is_some()).await,
            Action::SetValue { value, .. } => context.set_value(value).await,
            Action::Clear { .. } => context.clear().await,
            Action::Focus { .. } => context.focus().await,
            Action::Select { item, .. } => context.select(item).await,
            Action::Menu { ref path } => context.menu(path).await,
            Action::Toggle { .. } => context.toggle().await,
            Action::Check { on, .. } => context.check(on).await,
            Action::Expand { on, .. } => context.expand(on).await,
            Action::Scroll { direction, amount, .. } => {
                if context.point.is_none()
                    && let Some(done) = context.try_semantic(Act::Scroll(direction, amount)).await?
                {
                    return Ok(done);
                }
                context.wheel(direction, amount).await
            }
            Action::ScrollTo { row, .. } => context.scroll_to(row).await,
            Action::Drag { to, .. } => context.drag(to).await,
            Action::Hover { .. } => context.hover().await,
            Action::Perform { action, .. } => context.native(action).await,
            Action::Press { combo } => context.press(combo).await,
            Action::KeyDown { combo, lease } => context.hold_keys(combo, lease).await,
            Action::KeyUp { combo } => context.release_keys(combo).await,
            Action::MouseMove { .. } => {
                let at = context.click_point().await?;
                context.send(vec![InputStep::Move(at)], Expected::Anyone).await
            }
            Action::MouseClick { button, count, modifiers, .. } => {
                context.input(clicks(context.point_at().await?, button, count, modifiers)).await
            }
            Action::MouseDown { button, lease, .. } => {
                context.hold_button(context.click_point().await?, button, lease).await
            }
            Action::MouseUp { button, .. } => {
                context.release_button(context.click_point().await?, button).await
            }
            Action::MouseWheel { direction, amount, modifiers, .. } => {
                let at = context.point_at().await?;
                context.input(with(modifiers, vec![InputStep::Move(at), turn(direction, amount)])).await
            }
        }
    }
}

impl ActionContext<'_> {
    /// Performs an action on an element through its app.
    pub async fn perform(&self, id: NodeId, act: Act) -> std::result::Result<(), Failure> {
        let gone = |error: Error| Failure::new(FailureKind::Gone, error.message);
        let key = self.key(id).map_err(gone)?;
        let app = self.app().map_err(gone)?;
        app.perform(key, act, self.call.gate.part(), self.deadline).await
    }

    pub fn semantic_outcome(&self, delivery: Delivery) -> Outcome {
        let method = self.engine.platform.semantic_method();
        Outcome::by(method, Route::Semantic, delivery)
    }

    /// Performs an action on the target through its app; `None` if the app does not support it, nothing was sent, and the other
    /// route is allowed.
    pub async fn try_semantic(&self, act: Act) -> Result<Option<Outcome>> {
        self.try_semantic_on(self.id()?, act).await
    }

    /// Like `try_semantic`, on any element.
    pub async fn try_semantic_on(&self, id: NodeId, act: Act) -> Result<Option<Outcome>> {
        if self.options.route == Some(Route::Input) {
            return Ok(None);
        }
        self.until_enabled().await?;
        match self.perform(id, act).await {
            Ok(()) => Ok(Some(self.semantic_outcome(Delivery::DeliveredUnverified))),
            Err(failure) => match (failure.kind, failure.sent) {
                (FailureKind::NotSupported, Sent::No) if self.options.route != Some(Route::Semantic) => {
                    Ok(None)
                }
                _ => self.outcome_without_reply(&failure).map(Some),
            },
        }
    }

    /// The outcome of a failure after something was sent. The action may well have been performed: some apps reply only when
    /// the dialog they opened is closed, and an app that was asked to quit cannot reply.
    pub fn outcome_without_reply(&self, failure: &Failure) -> Result<Outcome> {
        let note = match failure.kind {
            _ if failure.sent == Sent::No => return Err(self.failed(failure)),
            FailureKind::Unresponsive => "the app did not confirm the action",
            FailureKind::Gone => "the element disappeared before the app confirmed the action",
            _ => return Err(self.failed(failure)),
        };
        let done = self.semantic_outcome(Delivery::Uncertain);
        Ok(Outcome { note: Some(note.to_owned()), ..done })
    }

    async fn focus(&self) -> Result<Outcome> {
        let id = self.id()?;
        if self.holds_focus(id) && self.is_in_front(id) {
            return Ok(Outcome::already("it was already focused"));
        }
        if let Some(done) = self.try_semantic(Act::Focus).await? {
            self.wait_for_effect(|| self.holds_focus(id)).await;
            if self.holds_focus(id) {
                return Ok(Outcome { delivery: Delivery::DeliveredVerified, ..done });
            }
        }
        let clickable = self.role().is_some_and(is_text) || self.has(State::Editable);
        if self.options.route == Some(Route::Semantic) || !clickable {
            return Err(self
                .unsupported("be focused without a click, which would do more than that")
                .suggest("use `ax click`, or move the focus with `ax press tab`"));
        }
        let done = self.click(Button::Left, 1).await?;
        self.wait_for_effect(|| self.holds_focus(id)).await;
        if self.holds_focus(id) {
            return Ok(Outcome { delivery: Delivery::DeliveredVerified, ..done });
        }
        Err(self.not_effective("focused"))
    }

    async fn toggle(&self) -> Result<Outcome> {
        let was = self.before.as_ref().is_some_and(|before| before.checked);
        if !self.role().is_some_and(is_checkable) {
            return Err(self.unsupported("be toggled"));
        }
        let done = match self.try_semantic(Act::Press).await? {
            Some(done) => done,
            None => self.click(Button::Left, 1).await?,
        };
        let done = self.verified_or_not(done, |now| now.checked != was).await?;
        match done.delivery {
            Delivery::DeliveredVerified => Ok(done),
            _ => Ok(self.with_unknown_state(done).await),
        }
    }

    /// Whether the app reports if the target is checked.
    async fn tells_checked(&self) -> bool {
        let Ok(id) = self.id() else { return true };
        let told = self.perform(id, Act::TellsChecked).await;
        !matches!(told, Err(failure) if failure.kind == FailureKind::NotSupported)
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

    async fn expand(&self, on: bool) -> Result<Outcome> {
        if self.opens_popup() {
            return self.set_expanded(on).await;
        }
        if !self.has(State::Expanded) && !self.has(State::Collapsed) && !self.has(State::Haspopup) {
            return Err(self.unsupported(if on { "be expanded" } else { "be collapsed" }));
        }
        if self.has(State::Expanded) == on {
            return Ok(Outcome::already(if on {
                "it was already expanded"
            } else {
                "it was already collapsed"
            }));
        }
        let what = if on { "expanded" } else { "collapsed" };
        let act = if on { Act::Expand } else { Act::Collapse };
        if let Some(done) = self.try_semantic(act).await? {
            self.wait_for_effect(|| self.now().is_none_or(|now| now.expanded == on)).await;
            if self.now().is_none_or(|now| now.expanded == on) {
                return Ok(Outcome { delivery: Delivery::DeliveredVerified, ..done });
            }
            if self.options.route == Some(Route::Semantic) || done.delivery == Delivery::Uncertain {
                return Err(self.not_effective(what));
            }
        }
        let done = self.click(Button::Left, 1).await?;
        self.verified(done, what, |now| now.expanded == on).await
    }

    /// Whether the target opens a popup: a combo box, a menu, an item with a menu of its own.
    fn opens_popup(&self) -> bool {
        let holds_menu = || {
            self.target.is_some_and(|id| {
                let is_menu = |tree: &Tree, ix: Ix| tree.role(ix) == Role::Menu;
                let below = |tree: &Tree, ix: Ix| tree.children(ix).iter().any(|at| is_menu(tree, *at));
                self.read_node(id, below).unwrap_or(false)
            })
        };
        match self.role() {
            Some(Role::Combobox | Role::Menu) => true,
            Some(Role::MenuItem) => holds_menu(),
            _ => false,
        }
    }

    /// Opens or closes the popup of the target. If it is not seen to open, it is closed again.
    async fn set_expanded(&self, on: bool) -> Result<Outcome> {
        let id = self.id()?;
        match (self.is_open(id).await, on) {
            (Some(true), true) => return Ok(Outcome::already("it was already expanded")),
            (Some(false), false) => return Ok(Outcome::already("it was already collapsed")),
            (None, false) => {
                let note = Some("its popup was not seen to open".to_owned());
                return Ok(Outcome {
                    note,
                    ..Outcome::by("none", Route::Auto, Delivery::DeliveredUnverified)
                });
            }
            _ => {}
        }
        if on {
            return self.open(id).await;
        }
        match self.close(id).await? {
            // Some elements no longer show whether they are open.
            Some(done) if self.is_open(id).await != Some(true) => Ok(done),
            _ => Err(self.not_effective("collapsed")),
        }
    }

    async fn native(&self, action: &str) -> Result<Outcome> {
        if self.options.route == Some(Route::Input) {
            return Err(self.unsupported("do a native action with mouse and keyboard"));
        }
        self.until_enabled().await?;
        match self.perform(self.id()?, Act::Native(action.to_owned())).await {
            Ok(()) => Ok(self.semantic_outcome(Delivery::DeliveredUnverified)),
            Err(failure) => self.outcome_without_reply(&failure),
        }
    }

    /// Waits for an effect. If it does not come, the error says what was sent.
    pub async fn verified(
        &self,
        done: Outcome,
        what: &str,
        so: impl Fn(&ElementState) -> bool,
    ) -> Result<Outcome> {
        let is_so = || self.now().is_some_and(|now| so(&now));
        self.wait_for_effect(is_so).await;
        // A slow app gets a little more time before this becomes an error.
        if is_so() || self.now().is_some() && self.until(self.outcome_deadline(), is_so).await? {
            return Ok(Outcome { delivery: Delivery::DeliveredVerified, ..done });
        }
        if self.now().is_none() {
            let note = Some("the element is gone".to_owned());
            return Ok(Outcome { note, ..done });
        }
        Err(self.not_effective(what))
    }

    /// Waits for an effect that may fail to come without being an error.
    async fn verified_or_not(&self, done: Outcome, so: impl Fn(&ElementState) -> bool) -> Result<Outcome> {
        let is_so = || self.now().is_some_and(|now| so(&now));
        self.wait_for_effect(is_so).await;
        let delivery = if is_so() { Delivery::DeliveredVerified } else { done.delivery };
        Ok(Outcome { delivery, ..done })
    }

    pub fn not_effective(&self, what: &str) -> Error {
        Error::new(ErrorCode::ActionFailed, format!("{} is still not {what}", self.target_label()))
            .delivered(Delivery::Uncertain)
            .suggest("check with `ax snapshot`; something may cover it, or the app may be slow")
    }

    pub fn unsupported(&self, what: &str) -> Error {
        Error::new(ErrorCode::ActionNotSupported, format!("{} cannot {what}", self.target_label()))
    }
}

/// Whether elements of this role hold editable text.
pub(crate) fn is_text(role: Role) -> bool {
    matches!(role, Role::TextField | Role::TextArea | Role::SearchField | Role::SpinButton | Role::Document)
}

/// Whether a press checks and unchecks elements of this role.
fn is_checkable(role: Role) -> bool {
    matches!(role, Role::Checkbox | Role::Switch | Role::ToggleButton | Role::MenuItemCheckbox)
}
