//! Acts on elements by the accessibility API.
//!
//! The element is read first, then the action is sent, then its effect is read back where that is possible, because apps
//! report success for actions they never perform, and errors for those they did. Everything that is sent passes the gate just
//! before.
//!
//! Read this file first; then `actions` (press, focus, expand), `menus` (items of closed menus), `values` (numbers and text), `selection` and `scrolling`.

mod actions;
mod menus;
mod scrolling;
mod selection;
mod values;

use std::time::{Duration, Instant};

use axd_protocol::Role;
use core_foundation::base::CFType;

use crate::app::attached_app::AttachedApp;
use crate::app::roles;
use crate::ax::element::Element;
use crate::ax::error::AxError;
use crate::ax::run_loop;
use crate::ffi::names as n;
use axd_platform::{Act, ElementKey, Failure, FailureKind, Gate, Sent};

/// How long an app may take to answer an action, in seconds. One that opens a dialog answers only when that is closed.
const ACTION_REPLY_TIMEOUT: f32 = 0.25;
/// How long to wait for the effect of an action.
const EFFECT_TIMEOUT: Duration = Duration::from_millis(300);
/// The longest pause between two reads of the effect; a notification of the app ends it earlier.
const EFFECT_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// An action on one element, and what it needs.
struct ActionContext<'a> {
    app: &'a mut AttachedApp,
    key: ElementKey,
    element: Element,
    gate: &'a Gate,
    target: TargetInfo,
}

/// The element as it is just before the action.
struct TargetInfo {
    native: String,
    role: Role,
    secure: bool,
    parent: Option<Role>,
}

impl AttachedApp {
    /// Performs an action on an element.
    pub(super) fn act(&mut self, key: ElementKey, act: &Act, gate: &Gate) -> Result<(), Failure> {
        let element = self.reader.handles.get(key).cloned().ok_or_else(Failure::gone)?;
        let (target, enabled) = self.inspect_target(key, &element)?;
        if !enabled && act.needs_enabled() && !self.is_enabled_once_open(key, &element, gate)? {
            return Err(Failure::new(FailureKind::Refused, "the element is disabled"));
        }
        let mut context = ActionContext { app: self, key, element, gate, target };
        match act {
            Act::Press => context.press(),
            Act::Native(name) => context.perform_named(name),
            Act::SetValue(value) => context.set_value(value),
            Act::Insert(text) => context.insert(text),
            Act::CaretToEnd => context.caret_to_end(),
            Act::Focus => context.focus(),
            Act::Select => context.select(),
            Act::Expand => context.set_expanded(true),
            Act::Collapse => context.set_expanded(false),
            Act::TellsChecked => Ok(()),
            Act::ScrollTo => context.scroll_to(),
            Act::Reveal(row) => context.reveal(*row),
            Act::Scroll(direction, steps) => context.scroll(*direction, *steps),
        }
    }

    fn inspect_target(&mut self, key: ElementKey, element: &Element) -> Result<(TargetInfo, bool), Failure> {
        let answers = self.reader.attributes.read_outline(element, None).map_err(AxError::read_failure)?;
        let parent = self.reader.parent_of(key).and_then(|parent| self.reader.role_of(parent));
        let (raw, native) = (&answers.raw, answers.raw.native.clone());
        let target = TargetInfo {
            role: roles::role(&native, raw.subrole.as_deref(), parent),
            secure: roles::is_secure(raw.subrole.as_deref()),
            native,
            parent,
        };
        Ok((target, raw.enabled != Some(false)))
    }
}

impl ActionContext<'_> {
    /// Performs one of an element's actions, through the gate.
    fn perform(&self, element: &Element, action: &str) -> Result<(), Failure> {
        self.send(element, |element| element.perform(action))
    }

    /// Sets an attribute of an element, through the gate.
    fn set(&self, element: &Element, attribute: &str, value: &CFType) -> Result<(), Failure> {
        self.send(element, |element| element.set(attribute, value))
    }

    /// Sets an attribute through the gate, and waits until the condition says that it has taken effect. What the app answers
    /// does not decide: some set it and answer an error, some answer success and leave it.
    fn set_until(
        &self,
        element: &Element,
        attribute: &str,
        value: &CFType,
        condition: impl FnMut() -> Result<bool, AxError>,
    ) -> Result<(), Failure> {
        let answer = self.set(element, attribute, value);
        if answer.as_ref().is_err_and(|failure| !may_be_read_back(failure)) {
            return answer;
        }
        match self.wait_until(condition)? {
            true => Ok(()),
            false => answer.and(Err(Failure::not_effective("the app accepted it, and it had no effect"))),
        }
    }

    fn send(
        &self,
        element: &Element,
        act: impl FnOnce(&Element) -> Result<(), AxError>,
    ) -> Result<(), Failure> {
        element.set_timeout(ACTION_REPLY_TIMEOUT);
        if !self.gate.pass() {
            element.set_timeout(0.0);
            return Err(Failure::closed());
        }
        let done = act(element);
        element.set_timeout(0.0);
        done.map_err(AxError::action_failure)
    }

    /// Waits until the condition holds or the timeout is over; false then. A failure of this comes after something was sent.
    fn wait_until(&self, mut condition: impl FnMut() -> Result<bool, AxError>) -> Result<bool, Failure> {
        let end = Instant::now() + EFFECT_TIMEOUT;
        loop {
            if condition().map_err(|error| error.read_failure().sent(Sent::Yes))? {
                return Ok(true);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            run_loop::wait(Some(left.min(EFFECT_POLL_INTERVAL)));
        }
    }

    /// The result of a read, which has no effect, as a failure of this action.
    fn read<T>(&self, answer: Result<T, AxError>) -> Result<T, Failure> {
        answer.map_err(AxError::read_failure)
    }

    /// Whether an attribute of an element can be set.
    fn can_set(&self, element: &Element, attribute: &str) -> Result<bool, Failure> {
        match element.is_settable(attribute) {
            Err(error) if !error.is_app_level() && error != AxError::GONE => Ok(false),
            answer => self.read(answer),
        }
    }

    /// The ancestors of the element up to its window, the parent first.
    fn ancestors(&self) -> Result<Vec<Element>, Failure> {
        const MAX_ANCESTORS: usize = 8;
        let mut above: Vec<Element> = Vec::new();
        while above.len() < MAX_ANCESTORS {
            let at = above.last().unwrap_or(&self.element);
            let Some(parent) = self.read(at.element(n::kAXParentAttribute))? else { break };
            let role = self.read(parent.text(n::kAXRoleAttribute))?;
            if matches!(role.as_deref(), Some("AXWindow" | "AXApplication") | None) {
                break;
            }
            above.push(parent);
        }
        Ok(above)
    }
}

/// Whether the effect of something that was sent can be read, although the app answered an error.
fn may_be_read_back(failure: &Failure) -> bool {
    (failure.kind, failure.sent) == (FailureKind::Refused, Sent::Maybe)
}

/// The failure of a request that was read back without effect and can be repeated without harm, so that another way may be
/// tried. One that the app answered with an error counts as not supported.
fn as_not_sent(failure: Failure) -> Failure {
    match (failure.kind, failure.sent) {
        (FailureKind::Refused, Sent::Maybe) => Failure::unsupported(failure.native),
        (_, Sent::Yes) => failure.sent(Sent::No),
        _ => failure,
    }
}
