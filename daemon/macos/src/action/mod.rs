//! Acting on elements by what their app offers.
//!
//! The element is looked at first, then something is sent, then what can be read back is: apps say "done" of what they
//! never do. Everything that is sent passes the gate just before.
//!
//! `doing` is an element's own actions, `values` what it holds, `selection` choosing, `scrolling` the way to it.

mod doing;
mod scrolling;
mod selection;
mod values;

use std::time::{Duration, Instant};

use axd_protocol::Role;
use core_foundation::base::CFType;

use crate::app::attached_app::App;
use crate::app::roles;
use crate::ax::element::Element;
use crate::ax::error::Fault;
use crate::ax::run_loop;
use crate::ffi::names as n;
use axd_platform::{Act, ElementKey, Failure, FailureKind, Gate, Sent};

/// How long an app has to say that it did what it was told. One that opens a dialog says so only when that is closed.
const SHORT: f32 = 0.25;
/// How long is waited for what was told to come about.
const COMES_ABOUT: Duration = Duration::from_millis(300);
/// The pause between looks, at most: what the app announces ends it.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Acts on one element.
struct Actor<'a> {
    app: &'a mut App,
    key: ElementKey,
    element: Element,
    gate: &'a Gate,
    subject: Subject,
}

/// The element as it is just before the act.
struct Subject {
    native: String,
    role: Role,
    secure: bool,
    parent: Option<Role>,
}

impl App {
    /// Does something to an element.
    pub(super) fn act(&mut self, key: ElementKey, act: &Act, gate: &Gate) -> Result<(), Failure> {
        let element = self.reader.handles.get(key).cloned().ok_or_else(gone)?;
        let (subject, enabled) = self.look(key, &element)?;
        let scrolls = matches!(act, Act::ScrollTo | Act::Reveal(_) | Act::Scroll(..));
        if !enabled && !scrolls {
            return Err(Failure::new(FailureKind::Refused, "the element is disabled"));
        }
        let mut actor = Actor { app: self, key, element, gate, subject };
        match act {
            Act::Press => actor.press(),
            Act::Native(name) => actor.native(name),
            Act::SetValue(value) => actor.set_value(value),
            Act::Insert(text) => actor.insert(text),
            Act::CaretToEnd => actor.caret_to_end(),
            Act::Focus => actor.focus(),
            Act::Select => actor.select(),
            Act::Expand => actor.unfold(true),
            Act::Collapse => actor.unfold(false),
            Act::TellsChecked => Ok(()),
            Act::ScrollTo => actor.scroll_to(),
            Act::Reveal(row) => actor.reveal(*row),
            Act::Scroll(direction, steps) => actor.scroll(*direction, *steps),
        }
    }

    fn look(&mut self, key: ElementKey, element: &Element) -> Result<(Subject, bool), Failure> {
        let answers = self.reader.lists.outline(element, None).map_err(Fault::asking)?;
        let parent = self.reader.parent_of(key).and_then(|parent| self.reader.role_of(parent));
        let (raw, native) = (&answers.raw, answers.raw.native.clone());
        let subject = Subject {
            role: roles::role(&native, raw.subrole.as_deref(), parent),
            secure: roles::is_secure(raw.subrole.as_deref()),
            native,
            parent,
        };
        Ok((subject, raw.enabled != Some(false)))
    }
}

impl Actor<'_> {
    /// Does one of an element's actions, through the gate.
    fn perform(&self, element: &Element, action: &str) -> Result<(), Failure> {
        self.send(element, |element| element.perform(action))
    }

    /// Sets something of an element, through the gate.
    fn set(&self, element: &Element, attribute: &str, value: &CFType) -> Result<(), Failure> {
        self.send(element, |element| element.set(attribute, value))
    }

    fn send(
        &self,
        element: &Element,
        act: impl FnOnce(&Element) -> Result<(), Fault>,
    ) -> Result<(), Failure> {
        element.set_timeout(SHORT);
        if !self.gate.pass() {
            element.set_timeout(0.0);
            return Err(Failure::closed());
        }
        let done = act(element);
        element.set_timeout(0.0);
        done.map_err(Fault::acting)
    }

    /// Looks until it is so, or for long enough. What goes wrong while looking went wrong after something was sent.
    fn until(&self, mut is_so: impl FnMut() -> Result<bool, Fault>) -> Result<bool, Failure> {
        let end = Instant::now() + COMES_ABOUT;
        loop {
            if is_so().map_err(|fault| fault.asking().sent(Sent::Yes))? {
                return Ok(true);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            run_loop::wait(Some(left.min(LOOK_AGAIN)));
        }
    }

    /// Asks what changes nothing.
    fn ask<T>(&self, answer: Result<T, Fault>) -> Result<T, Failure> {
        answer.map_err(Fault::asking)
    }

    /// Whether something of the element can be set.
    fn can_set(&self, element: &Element, attribute: &str) -> Result<bool, Failure> {
        match element.is_settable(attribute) {
            Err(fault) if !crate::app::reader::is_of_app(fault) && fault != Fault::GONE => Ok(false),
            answer => self.ask(answer),
        }
    }

    /// What the element is in, its parent first, as far as that is of use.
    fn above(&self) -> Result<Vec<Element>, Failure> {
        const FAR: usize = 8;
        let mut above: Vec<Element> = Vec::new();
        while above.len() < FAR {
            let at = above.last().unwrap_or(&self.element);
            let Some(parent) = self.ask(at.element(n::kAXParentAttribute))? else { break };
            let role = self.ask(parent.text(n::kAXRoleAttribute))?;
            if matches!(role.as_deref(), Some("AXWindow" | "AXApplication") | None) {
                break;
            }
            above.push(parent);
        }
        Ok(above)
    }
}

fn gone() -> Failure {
    Failure::new(FailureKind::Gone, "the element is gone")
}

fn not_offered(why: impl Into<String>) -> Failure {
    Failure::new(FailureKind::NotSupported, why)
}

/// The app took it and did not do it.
fn not_done(why: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Refused, why).sent(Sent::Yes)
}

/// A failure of something that changes nothing when it fails: another way may be tried.
fn harmless(failure: Failure) -> Failure {
    match failure.sent {
        Sent::Yes => failure.sent(Sent::No),
        Sent::No | Sent::Maybe => failure,
    }
}
