//! The route through the app's accessibility API, and how an effect is verified. Mouse and keyboard are tried second, only if
//! nothing was sent, or for actions that are verified and can be repeated without harm.

use axd_protocol::command::{ElementState, Perform, Route};
use axd_protocol::error::Delivery;
use axd_protocol::{Error, ErrorCode, NodeId, Result, Role};

use crate::action::context::{ActionContext, Outcome};
use crate::action::spec::{Action, ActionSpec, DynAction};
use axd_platform::{Act, Failure, FailureKind, Sent};

impl Action for Perform {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        Ok(ActionSpec::on_element(&self.target))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        if context.options.route == Some(Route::Input) {
            return Err(context.unsupported("do a native action with mouse and keyboard"));
        }
        context.until_enabled().await?;
        match context.perform(context.id()?, Act::Native(self.action.clone())).await {
            Ok(()) => Ok(context.semantic_outcome(Delivery::DeliveredUnverified)),
            Err(failure) => context.outcome_without_reply(&failure),
        }
    }
}

impl ActionContext<'_> {
    /// Performs an action on an element through its app.
    pub async fn perform(&self, id: NodeId, act: Act) -> std::result::Result<(), Failure> {
        let gone = |error: Error| Failure::new(FailureKind::Gone, error.message);
        let key = self.key(id).map_err(gone)?;
        let app = self.app().map_err(gone)?;
        self.guard_act(app, id, &act)?;
        app.perform(key, act, self.call.gate.part(), self.deadline).await
    }

    /// Performs the action, unless the route that the request demands is impossible.
    pub async fn run(&mut self, action: &dyn DynAction, spec: &ActionSpec<'_>) -> Result<Outcome> {
        if spec.uses_input(self.point.is_some()) && self.options.route == Some(Route::Semantic) {
            let message = format!("{} requires mouse and keyboard", self.call.command.name());
            return Err(Error::new(ErrorCode::ActionNotSupported, message)
                .suggest("use --route input, or omit --route"));
        }
        action.run_on(self).await
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
    /// the dialog they opened is closed, an app that was asked to quit cannot reply, and some reply with an error to what they
    /// have done. It is never tried another way.
    pub fn outcome_without_reply(&self, failure: &Failure) -> Result<Outcome> {
        let note = match (failure.kind, failure.sent) {
            (_, Sent::No) => return Err(self.failed(failure)),
            (FailureKind::Unresponsive, _) => "the app did not confirm the action".to_owned(),
            (FailureKind::Gone, _) => {
                "the element disappeared before the app confirmed the action".to_owned()
            }
            (FailureKind::Refused, Sent::Maybe) => {
                format!("{failure}; it may have been done: check with `ax snapshot` before doing it again")
            }
            _ => return Err(self.failed(failure)),
        };
        Ok(Outcome { note: Some(note), ..self.semantic_outcome(Delivery::Uncertain) })
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
            return Ok(done.seen());
        }
        if self.now().is_none() {
            let note = Some("the element is gone".to_owned());
            return Ok(Outcome { note, ..done });
        }
        Err(self.not_effective(what))
    }

    /// Waits for an effect that may fail to come without being an error.
    pub async fn verified_or_not(
        &self,
        done: Outcome,
        so: impl Fn(&ElementState) -> bool,
    ) -> Result<Outcome> {
        let is_so = || self.now().is_some_and(|now| so(&now));
        self.wait_for_effect(is_so).await;
        Ok(if is_so() { done.seen() } else { done })
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
