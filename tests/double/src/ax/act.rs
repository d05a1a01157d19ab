//! The functions that do something to elements: set attributes, perform actions.
//!
//! They are one message each: an app that hangs gets it when it wakes, whoever still waits for the answer.

use std::sync::Arc;

use axd_platform::worker::AppRequest;
use axd_platform::{Act, ElementKey, Failure, FailureKind, Gate, Platform, WindowOp};
use axd_sim::Inspector;
use axd_sim::model::Handle;
use tokio::sync::oneshot;

use super::attributes::Value;
use super::change::Effect;
use super::element::{Ask, element_of, return_object, strike, trusted};
use super::error::{Error, code};
use super::pages::show_pages;
use super::tree::{AppState, Id, View};
use super::value::value_of;
use crate::cf::{self, CFTypeRef, out};
use crate::faults::Call;
use crate::world::{Inner, WaitResult, current, wait};

/// The kind of a request, which decides the error for what is not supported.
#[derive(Debug, Clone, Copy)]
enum RequestKind {
    Attribute,
    Action,
}

/// Sends a request that acts to an app, and waits for the answer.
fn message(
    ask: Ask,
    element: CFTypeRef,
    kind: RequestKind,
    find: impl FnOnce(&mut View<'_>, Id) -> Result<Effect, Error> + Send + 'static,
) -> Result<(), Error> {
    let target = element_of(element, ask.function).ok_or(Error::InvalidUIElement)?;
    let world = trusted()?;
    let reach = world.reach(target.pid)?;
    let timeout = world.message_timeout(*target.timeout.lock());
    let (done, answer) = oneshot::channel();
    let (pid, sent) = (target.pid, std::time::Instant::now());
    let asked = ask.acting(element, {
        let world = Arc::clone(&world);
        move |view, id, _, mut fault| {
            if let Some(instead) = fault.take_if(|fault| fault.instead) {
                strike(view, id, Some(instead))?;
            }
            let effect = find(view, id)?;
            let runtime = world.runtime.clone();
            runtime.spawn(async move {
                let result = perform(&world, pid, &reach, effect).await;
                let mut result = result.map_err(|failure| error_of(&failure, kind));
                if fault.is_some() {
                    let struck = reach
                        .inspect(move |inside| strike(&mut View::of(inside, AppState::default()), id, fault));
                    result = result.and(struck.await.unwrap_or(Ok(())));
                }
                // The caller may have stopped waiting.
                let _ = done.send(result);
            });
            Ok(())
        }
    });
    asked?;
    match wait(answer, timeout.saturating_sub(sent.elapsed())) {
        WaitResult::Answer(result) => result,
        WaitResult::Ended | WaitResult::Silent => Err(Error::CannotComplete),
    }
}

async fn perform(world: &Arc<Inner>, pid: u32, reach: &Inspector, effect: Effect) -> Result<(), Failure> {
    match effect {
        Effect::Done => Ok(()),
        Effect::Act(handle, act) => act_on(reach, handle, act).await,
        Effect::SelectRow(table, row) => {
            act_on(reach, table, Act::Reveal(row)).await?;
            let realised =
                reach.inspect(move |inside| View::of(inside, AppState::default()).realised(table, row));
            let gone = || Failure::new(FailureKind::Gone, "the row is gone");
            let row = realised.await.ok().flatten().ok_or_else(gone)?;
            act_on(reach, row, Act::Select).await
        }
        Effect::Window(window, op @ (WindowOp::Move(_) | WindowOp::Resize { .. }))
            if world.is_enhanced(pid) =>
        {
            world.animate(window, op).await
        }
        Effect::Window(window, op) => call_window_op(world, window, op).await,
        Effect::Activate => {
            let first = world.sim.windows().into_iter().find(|seen| seen.pid == pid);
            match first {
                Some(seen) => call_window_op(world, seen.window, WindowOp::Focus).await,
                None => Ok(()),
            }
        }
        Effect::Hide(hidden) => {
            world.hide(pid, hidden);
            Ok(())
        }
        Effect::ShowPages => {
            show_pages(world, pid, reach);
            Ok(())
        }
        Effect::Enhance(on) => {
            world.enhance(pid, on).await;
            Ok(())
        }
    }
}

async fn act_on(reach: &Inspector, handle: Handle, act: Act) -> Result<(), Failure> {
    let (answer, reply) = oneshot::channel();
    let ended = || Failure::new(FailureKind::Unresponsive, "the app has ended");
    if !reach.ask(AppRequest::Act(ElementKey(handle.0), act, Gate::new(), answer)) {
        return Err(ended());
    }
    reply.await.map_err(|_| ended())?
}

pub(super) async fn call_window_op(world: &Arc<Inner>, window: u64, op: WindowOp) -> Result<(), Failure> {
    let reply = world.sim.window_op(window, op, Gate::new());
    let ended = |_| Failure::new(FailureKind::Unresponsive, "the desktop has ended");
    reply.await.map_err(ended)?.map(drop)
}

fn error_of(failure: &Failure, kind: RequestKind) -> Error {
    match (failure.kind, kind) {
        (FailureKind::Gone, _) => Error::InvalidUIElement,
        (FailureKind::NotSupported, RequestKind::Attribute) => Error::AttributeUnsupported,
        (FailureKind::NotSupported, RequestKind::Action) => Error::ActionUnsupported,
        (FailureKind::Invalid, _) => Error::IllegalArgument,
        (FailureKind::Unresponsive, _) => Error::CannotComplete,
        (
            FailureKind::Refused
            | FailureKind::Closed
            | FailureKind::NotAllowed
            | FailureKind::Elsewhere
            | FailureKind::Denied,
            _,
        ) => Error::Failure,
    }
}

/// `AXUIElementIsAttributeSettable`.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXUIElementIsAttributeSettable(
    element: CFTypeRef,
    attribute: CFTypeRef,
    settable: *mut u8,
) -> i32 {
    const NAME: &str = "AXUIElementIsAttributeSettable";
    let Some(attribute) = cf::text_of(attribute, NAME) else { return Error::IllegalArgument as i32 };
    let ask = Ask::new(Call::Settable, attribute.clone(), NAME);
    let asked = ask.of(element, move |view, id, _| view.is_settable(id, &attribute));
    code(asked.and_then(|(_, can)| out(settable, u8::from(can)).then_some(()).ok_or(Error::IllegalArgument)))
}

/// `AXUIElementSetAttributeValue`.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXUIElementSetAttributeValue(
    element: CFTypeRef,
    attribute: CFTypeRef,
    value: CFTypeRef,
) -> i32 {
    const NAME: &str = "AXUIElementSetAttributeValue";
    let value: Option<Value> = if value.is_null() { None } else { value_of(value, NAME) };
    let (Some(attribute), Some(value)) = (cf::text_of(attribute, NAME), value) else {
        return Error::IllegalArgument as i32;
    };
    let ask = Ask::new(Call::Set, attribute.clone(), NAME);
    let name = attribute.clone();
    let find = move |view: &mut View<'_>, id: Id| view.effect_of_setting(id, &attribute, &value);
    let set = message(ask, element, RequestKind::Attribute, find);
    let settings = current().map(|world| world.settings.lock().clone()).unwrap_or_default();
    let lie = match name.as_str() {
        "AXEnhancedUserInterface" => settings.enhanced_answers,
        "AXManualAccessibility" => settings.manual_answers,
        _ => None,
    };
    code(set.and(lie.map_or(Ok(()), Err)))
}

/// `AXUIElementCopyActionNames`.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXUIElementCopyActionNames(element: CFTypeRef, names: *mut CFTypeRef) -> i32 {
    const NAME: &str = "AXUIElementCopyActionNames";
    let asked = Ask::new(Call::ActionNames, "", NAME).of(element, |view, id, _| view.actions(id));
    code(asked.and_then(|(_, found)| {
        let found = found.iter().map(|(name, _)| cf::string(name, NAME)).collect();
        return_object(names, cf::array(found, NAME))
    }))
}

/// `AXUIElementCopyActionDescription`.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXUIElementCopyActionDescription(
    element: CFTypeRef,
    action: CFTypeRef,
    description: *mut CFTypeRef,
) -> i32 {
    const NAME: &str = "AXUIElementCopyActionDescription";
    let Some(action) = cf::text_of(action, NAME) else { return Error::IllegalArgument as i32 };
    let ask = Ask::new(Call::ActionNames, action.clone(), NAME);
    let asked = ask.of(element, move |view, id, _| {
        let found = view.actions(id)?.into_iter().find(|(name, _)| *name == action);
        found.map(|(_, described)| described).ok_or(Error::ActionUnsupported)
    });
    code(asked.and_then(|(_, described)| return_object(description, cf::string(&described, NAME))))
}

/// `AXUIElementPerformAction`.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXUIElementPerformAction(element: CFTypeRef, action: CFTypeRef) -> i32 {
    const NAME: &str = "AXUIElementPerformAction";
    let Some(action) = cf::text_of(action, NAME) else { return Error::IllegalArgument as i32 };
    let ask = Ask::new(Call::Perform, action.clone(), NAME);
    let find = move |view: &mut View<'_>, id: Id| view.effect_of_action(id, &action);
    code(message(ask, element, RequestKind::Action, find))
}
