//! The functions that do something to elements: set attributes, perform actions.
//!
//! They are one message each: an app that hangs gets it when it wakes, whoever still waits for the answer.

use std::sync::Arc;

use axd_platform::worker::AppRequest;
use axd_platform::{Act, DesktopCall, ElementKey, Failure, FailureKind, Gate, Platform, WindowOp};
use axd_sim::Inspector;
use axd_sim::model::Handle;
use tokio::sync::oneshot;

use super::attributes::Value;
use super::change::Deed;
use super::element::{Ask, element_of, hand_out, trusted};
use super::error::{Error, code};
use super::pages::show_pages;
use super::tree::{Id, Standing, View};
use super::value::value_of;
use crate::cf::{self, CFTypeRef, out};
use crate::faults::Call;
use crate::world::{Inner, Waited, wait};

/// What a request is about, for what the app answers to what it cannot do.
#[derive(Debug, Clone, Copy)]
enum About {
    Attribute,
    Action,
}

/// Has an app do something, and waits until it says so.
fn message(
    ask: Ask,
    element: CFTypeRef,
    about: About,
    find: impl FnOnce(&mut View<'_>, Id) -> Result<Deed, Error> + Send + 'static,
) -> Result<(), Error> {
    let target = element_of(element, ask.function).ok_or(Error::InvalidUIElement)?;
    let world = trusted()?;
    let reach = world.reach(target.pid)?;
    let patience = world.patience(*target.patience.lock());
    let (done, answer) = oneshot::channel();
    let (pid, sent) = (target.pid, std::time::Instant::now());
    let asked = ask.of(element, {
        let world = Arc::clone(&world);
        move |view, id, _| {
            let deed = find(view, id)?;
            let runtime = world.runtime.clone();
            runtime.spawn(async move {
                let result = carry_out(&world, pid, &reach, deed).await;
                // Whoever asked may have given up.
                let _ = done.send(result.map_err(|failure| error_of(&failure, about)));
            });
            Ok(())
        }
    });
    asked?;
    match wait(answer, patience.saturating_sub(sent.elapsed())) {
        Waited::Answer(result) => result,
        Waited::Ended | Waited::Silent => Err(Error::CannotComplete),
    }
}

async fn carry_out(world: &Arc<Inner>, pid: u32, reach: &Inspector, deed: Deed) -> Result<(), Failure> {
    match deed {
        Deed::Done => Ok(()),
        Deed::Act(handle, act) => act_on(reach, handle, act).await,
        Deed::SelectRow(table, row) => {
            act_on(reach, table, Act::Reveal(row)).await?;
            let realised =
                reach.inspect(move |inside| View::of(inside, Standing::default()).realised(table, row));
            let gone = || Failure::new(FailureKind::Gone, "the row is gone");
            let row = realised.await.ok().flatten().ok_or_else(gone)?;
            act_on(reach, row, Act::Select).await
        }
        Deed::Window(window, op @ (WindowOp::Move(_) | WindowOp::Resize { .. }))
            if world.is_enhanced(pid) =>
        {
            world.animate(window, op).await
        }
        Deed::Window(window, op) => arrange(world, window, op).await,
        Deed::Activate => {
            let first = world.sim.windows().into_iter().find(|seen| seen.pid == pid);
            match first {
                Some(seen) => arrange(world, seen.window, WindowOp::Focus).await,
                None => Ok(()),
            }
        }
        Deed::Hide(hidden) => {
            world.hide(pid, hidden);
            Ok(())
        }
        Deed::ShowPages => {
            show_pages(world, pid, reach);
            Ok(())
        }
        Deed::Enhance(on) => {
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

pub(super) async fn arrange(world: &Arc<Inner>, window: u64, op: WindowOp) -> Result<(), Failure> {
    let reply = world.sim.call(DesktopCall::Window { window, op }, Gate::new());
    let ended = |_| Failure::new(FailureKind::Unresponsive, "the desktop has ended");
    reply.await.map_err(ended)?.map(drop)
}

fn error_of(failure: &Failure, about: About) -> Error {
    match (failure.kind, about) {
        (FailureKind::Gone, _) => Error::InvalidUIElement,
        (FailureKind::NotSupported, About::Attribute) => Error::AttributeUnsupported,
        (FailureKind::NotSupported, About::Action) => Error::ActionUnsupported,
        (FailureKind::Invalid, _) => Error::IllegalArgument,
        (FailureKind::Unresponsive, _) => Error::CannotComplete,
        (
            FailureKind::Refused | FailureKind::Closed | FailureKind::NotAllowed | FailureKind::Elsewhere,
            _,
        ) => Error::Failure,
    }
}

/// `AXUIElementIsAttributeSettable`.
#[unsafe(no_mangle)]
pub extern "C" fn AXUIElementIsAttributeSettable(
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
pub extern "C" fn AXUIElementSetAttributeValue(
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
    let find = move |view: &mut View<'_>, id: Id| view.deed_of_setting(id, &attribute, &value);
    code(message(ask, element, About::Attribute, find))
}

/// `AXUIElementCopyActionNames`.
#[unsafe(no_mangle)]
pub extern "C" fn AXUIElementCopyActionNames(element: CFTypeRef, names: *mut CFTypeRef) -> i32 {
    const NAME: &str = "AXUIElementCopyActionNames";
    let asked = Ask::new(Call::ActionNames, "", NAME).of(element, |view, id, _| view.actions(id));
    code(asked.and_then(|(_, found)| {
        let found = found.iter().map(|(name, _)| cf::string(name, NAME)).collect();
        hand_out(names, cf::array(found, NAME))
    }))
}

/// `AXUIElementCopyActionDescription`.
#[unsafe(no_mangle)]
pub extern "C" fn AXUIElementCopyActionDescription(
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
    code(asked.and_then(|(_, described)| hand_out(description, cf::string(&described, NAME))))
}

/// `AXUIElementPerformAction`.
#[unsafe(no_mangle)]
pub extern "C" fn AXUIElementPerformAction(element: CFTypeRef, action: CFTypeRef) -> i32 {
    const NAME: &str = "AXUIElementPerformAction";
    let Some(action) = cf::text_of(action, NAME) else { return Error::IllegalArgument as i32 };
    let ask = Ask::new(Call::Perform, action.clone(), NAME);
    let find = move |view: &mut View<'_>, id: Id| view.deed_of(id, &action);
    code(message(ask, element, About::Action, find))
}
