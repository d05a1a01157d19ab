//! Carrying out an action: by the app itself first, with mouse and keyboard second, and never twice.
//!
//! A second way is tried only if nothing was sent, or for what is read back and can be asked for again without harm.

use axd_protocol::command::{ElementState, Route};
use axd_protocol::error::Delivery;
use axd_protocol::keys::Button;
use axd_protocol::{Error, ErrorCode, NodeId, Result, Role, State};

use crate::action::context::{Done, Scene};
use crate::action::input::{clicks, turn, with};
use crate::action::receiver::Expected;
use crate::action::spec::Action;
use axd_platform::{Act, Failure, FailureKind, InputStep, Sent};
use axd_tree::{Ix, Tree};

/// What is said of a press whose outcome cannot be seen.
const NOT_TOLD: &str =
    "the app does not report whether it is checked; check with `ax screenshot` before pressing it again";

impl Action<'_> {
    /// Whether it is done with mouse and keyboard only.
    pub fn is_physical(&self, scene: &Scene<'_>) -> bool {
        self.is_by_hand(scene.point.is_some())
    }

    /// The same, for what is aimed at a place or not.
    pub fn is_by_hand(&self, at_a_place: bool) -> bool {
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

    /// Does it.
    pub async fn carry_out(&self, scene: &mut Scene<'_>) -> Result<Done> {
        if self.is_physical(scene) && scene.options.route == Some(Route::Semantic) {
            let what = scene.call.command.name();
            return Err(Error::new(
                ErrorCode::ActionNotSupported,
                format!("{what} requires mouse and keyboard"),
            )
            .suggest("use --route input, or omit --route"));
        }
        match *self {
            Action::Click { button, count, .. } if self.is_physical(scene) => {
                scene.click(button, count).await
            }
            Action::Click { button, count, .. } => match scene.by_app(Act::Press).await? {
                Some(done) => Ok(done),
                None => scene.click(button, count).await,
            },
            Action::Type { text, target } => scene.type_text(text, target.is_some()).await,
            Action::SetValue { value, .. } => scene.set_value(value).await,
            Action::Clear { .. } => scene.clear().await,
            Action::Focus { .. } => scene.focus().await,
            Action::Select { item, .. } => scene.select(item).await,
            Action::Menu { ref path } => scene.menu(path).await,
            Action::Toggle { .. } => scene.toggle().await,
            Action::Check { on, .. } => scene.check(on).await,
            Action::Expand { on, .. } => scene.expand(on).await,
            Action::Scroll { direction, amount, .. } => {
                if scene.point.is_none()
                    && let Some(done) = scene.by_app(Act::Scroll(direction, amount)).await?
                {
                    return Ok(done);
                }
                scene.wheel(direction, amount).await
            }
            Action::ScrollTo { row, .. } => scene.scroll_to(row).await,
            Action::Drag { to, .. } => scene.drag(to).await,
            Action::Hover { .. } => scene.hover().await,
            Action::Perform { action, .. } => scene.native(action).await,
            Action::Press { combo } => scene.press(combo).await,
            Action::KeyDown { combo, lease } => scene.hold_keys(combo, lease).await,
            Action::KeyUp { combo } => scene.release_keys(combo).await,
            Action::MouseMove { .. } => {
                let at = scene.spot().await?;
                scene.send(vec![InputStep::Move(at)], Expected::Anyone).await
            }
            Action::MouseClick { button, count, modifiers, .. } => {
                scene.input(clicks(scene.point_at().await?, button, count, modifiers)).await
            }
            Action::MouseDown { button, lease, .. } => {
                scene.hold_button(scene.spot().await?, button, lease).await
            }
            Action::MouseUp { button, .. } => scene.release_button(scene.spot().await?, button).await,
            Action::MouseWheel { direction, amount, modifiers, .. } => {
                let at = scene.point_at().await?;
                scene.input(with(modifiers, vec![InputStep::Move(at), turn(direction, amount)])).await
            }
        }
    }
}

impl Scene<'_> {
    /// Has the app do something to an element.
    pub async fn perform(&self, id: NodeId, act: Act) -> std::result::Result<(), Failure> {
        let gone = |error: Error| Failure::new(FailureKind::Gone, error.message);
        let key = self.key(id).map_err(gone)?;
        let app = self.app().map_err(gone)?;
        app.perform(key, act, self.call.gate.part(), self.deadline).await
    }

    pub fn by_semantics(&self, delivery: Delivery) -> Done {
        let method = self.engine.platform.semantic_method();
        Done::by(method, Route::Semantic, delivery)
    }

    /// Has the app do it to the target; `None` if it does not offer that, nothing was sent, and another way is allowed.
    pub async fn by_app(&self, act: Act) -> Result<Option<Done>> {
        self.by_app_on(self.id()?, act).await
    }

    /// The same to any element.
    pub async fn by_app_on(&self, id: NodeId, act: Act) -> Result<Option<Done>> {
        if self.options.route == Some(Route::Input) {
            return Ok(None);
        }
        self.until_enabled().await?;
        match self.perform(id, act).await {
            Ok(()) => Ok(Some(self.by_semantics(Delivery::DeliveredUnverified))),
            Err(failure) => match (failure.kind, failure.sent) {
                (FailureKind::NotSupported, Sent::No) if self.options.route != Some(Route::Semantic) => {
                    Ok(None)
                }
                _ => self.unanswered(&failure).map(Some),
            },
        }
    }

    /// What a failure comes to after something was sent. It may well have been done: some apps answer only when the dialog they
    /// opened is closed, and one that was told to end has nobody left to answer.
    pub fn unanswered(&self, failure: &Failure) -> Result<Done> {
        let note = match failure.kind {
            _ if failure.sent == Sent::No => return Err(self.failed(failure)),
            FailureKind::Unresponsive => "the app did not confirm the action",
            FailureKind::Gone => "the element disappeared before the app confirmed the action",
            _ => return Err(self.failed(failure)),
        };
        let done = self.by_semantics(Delivery::Uncertain);
        Ok(Done { note: Some(note.to_owned()), ..done })
    }

    async fn focus(&self) -> Result<Done> {
        let id = self.id()?;
        if self.holds_focus(id) && self.is_in_front(id) {
            return Ok(Done::already("it was already focused"));
        }
        if let Some(done) = self.by_app(Act::Focus).await? {
            self.pause(|| self.holds_focus(id)).await;
            if self.holds_focus(id) {
                return Ok(Done { delivery: Delivery::DeliveredVerified, ..done });
            }
        }
        let clickable = self.role().is_some_and(is_text) || self.has(State::Editable);
        if self.options.route == Some(Route::Semantic) || !clickable {
            return Err(self
                .not_offered("be focused without a click, which would do more than that")
                .suggest("use `ax click`, or move the focus with `ax press tab`"));
        }
        let done = self.click(Button::Left, 1).await?;
        self.pause(|| self.holds_focus(id)).await;
        if self.holds_focus(id) {
            return Ok(Done { delivery: Delivery::DeliveredVerified, ..done });
        }
        Err(self.not_achieved("focused"))
    }

    async fn toggle(&self) -> Result<Done> {
        let was = self.before.as_ref().is_some_and(|before| before.checked);
        if !self.role().is_some_and(is_checkable) {
            return Err(self.not_offered("be toggled"));
        }
        let done = match self.by_app(Act::Press).await? {
            Some(done) => done,
            None => self.click(Button::Left, 1).await?,
        };
        let done = self.verified_or_not(done, |now| now.checked != was).await?;
        match done.delivery {
            Delivery::DeliveredVerified => Ok(done),
            _ => Ok(self.with_doubt(done).await),
        }
    }

    /// Whether the app says of the target whether it is checked.
    async fn tells_checked(&self) -> bool {
        let Ok(id) = self.id() else { return true };
        let told = self.perform(id, Act::TellsChecked).await;
        !matches!(told, Err(failure) if failure.kind == FailureKind::NotSupported)
    }

    /// Says so if it cannot be known what a press came to: else somebody presses again, and undoes it.
    async fn with_doubt(&self, done: Done) -> Done {
        match self.tells_checked().await {
            true => done,
            false => Done { note: Some(NOT_TOLD.to_owned()), ..done },
        }
    }

    async fn check(&self, on: bool) -> Result<Done> {
        let role = self.role().unwrap_or(Role::Unknown);
        let can_be = is_checkable(role) || on && matches!(role, Role::Radio | Role::MenuItemRadio);
        if !can_be {
            let what = if on { "be checked" } else { "be unchecked" };
            return Err(self.not_offered(what));
        }
        let is_so =
            self.before.as_ref().is_some_and(|before| before.checked == on) && !self.has(State::Mixed);
        if is_so {
            return Ok(Done::already(if on { "it was already checked" } else { "it was already unchecked" }));
        }
        let done = match self.by_app(Act::Press).await? {
            Some(done) => done,
            None => self.click(Button::Left, 1).await?,
        };
        // A press that was taken is not repeated, though it is read back: it would undo what came late.
        let what = if on { "checked" } else { "unchecked" };
        match self.verified(done.clone(), what, |now| now.checked == on).await {
            Err(error) if error.code == ErrorCode::ActionFailed && !self.tells_checked().await => {
                Ok(Done { note: Some(NOT_TOLD.to_owned()), ..done })
            }
            verified => verified,
        }
    }

    async fn expand(&self, on: bool) -> Result<Done> {
        if self.opens_popup() {
            return self.unfold(on).await;
        }
        if !self.has(State::Expanded) && !self.has(State::Collapsed) && !self.has(State::Haspopup) {
            return Err(self.not_offered(if on { "be expanded" } else { "be collapsed" }));
        }
        if self.has(State::Expanded) == on {
            return Ok(Done::already(if on {
                "it was already expanded"
            } else {
                "it was already collapsed"
            }));
        }
        let what = if on { "expanded" } else { "collapsed" };
        let act = if on { Act::Expand } else { Act::Collapse };
        if let Some(done) = self.by_app(act).await? {
            self.pause(|| self.now().is_none_or(|now| now.expanded == on)).await;
            if self.now().is_none_or(|now| now.expanded == on) {
                return Ok(Done { delivery: Delivery::DeliveredVerified, ..done });
            }
            if self.options.route == Some(Route::Semantic) || done.delivery == Delivery::Uncertain {
                return Err(self.not_achieved(what));
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
                self.look(id, below).unwrap_or(false)
            })
        };
        match self.role() {
            Some(Role::Combobox | Role::Menu) => true,
            Some(Role::MenuItem) => holds_menu(),
            _ => false,
        }
    }

    /// Opens the popup of the target, or closes it. Closed again if it is not seen to have opened.
    async fn unfold(&self, on: bool) -> Result<Done> {
        let id = self.id()?;
        match (self.is_open(id).await, on) {
            (Some(true), true) => return Ok(Done::already("it was already expanded")),
            (Some(false), false) => return Ok(Done::already("it was already collapsed")),
            (None, false) => {
                let note = Some("its popup was not seen to open".to_owned());
                return Ok(Done { note, ..Done::by("none", Route::Auto, Delivery::DeliveredUnverified) });
            }
            _ => {}
        }
        if on {
            return self.open(id).await;
        }
        match self.close(id).await? {
            // Some have nothing any more to tell it by.
            Some(done) if self.is_open(id).await != Some(true) => Ok(done),
            _ => Err(self.not_achieved("collapsed")),
        }
    }

    async fn native(&self, action: &str) -> Result<Done> {
        if self.options.route == Some(Route::Input) {
            return Err(self.not_offered("do a native action with mouse and keyboard"));
        }
        self.until_enabled().await?;
        match self.perform(self.id()?, Act::Native(action.to_owned())).await {
            Ok(()) => Ok(self.by_semantics(Delivery::DeliveredUnverified)),
            Err(failure) => self.unanswered(&failure),
        }
    }

    /// Waits for an outcome; it not coming is an error that says what was sent.
    pub async fn verified(&self, done: Done, what: &str, so: impl Fn(&ElementState) -> bool) -> Result<Done> {
        let is_so = || self.now().is_some_and(|now| so(&now));
        self.pause(is_so).await;
        // Before it is called a failure, a slow app gets a little more time.
        if is_so() || self.now().is_some() && self.until(self.soon(), is_so).await? {
            return Ok(Done { delivery: Delivery::DeliveredVerified, ..done });
        }
        if self.now().is_none() {
            let note = Some("the element is gone".to_owned());
            return Ok(Done { note, ..done });
        }
        Err(self.not_achieved(what))
    }

    /// Waits for an outcome that need not come.
    async fn verified_or_not(&self, done: Done, so: impl Fn(&ElementState) -> bool) -> Result<Done> {
        let is_so = || self.now().is_some_and(|now| so(&now));
        self.pause(is_so).await;
        let delivery = if is_so() { Delivery::DeliveredVerified } else { done.delivery };
        Ok(Done { delivery, ..done })
    }

    pub fn not_achieved(&self, what: &str) -> Error {
        Error::new(ErrorCode::ActionFailed, format!("{} is still not {what}", self.called()))
            .delivered(Delivery::Uncertain)
            .suggest("check with `ax snapshot`; something may cover it, or the app may be slow")
    }

    pub fn not_offered(&self, what: &str) -> Error {
        Error::new(ErrorCode::ActionNotSupported, format!("{} cannot {what}", self.called()))
    }
}

/// Whether elements of this role hold text that is edited.
pub(crate) fn is_text(role: Role) -> bool {
    matches!(role, Role::TextField | Role::TextArea | Role::SearchField | Role::SpinButton | Role::Document)
}

/// Whether elements of this role are checked and unchecked by a press.
fn is_checkable(role: Role) -> bool {
    matches!(role, Role::Checkbox | Role::Switch | Role::ToggleButton | Role::MenuItemCheckbox)
}
