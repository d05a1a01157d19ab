//! Secure input: an app has turned it on because one of its password fields is focused or because it asked for it,
//! and perhaps forgot to turn it off.
//!
//! What is known. Apple (TN2150) says who does not get to *see* keys then, wherever the focus is: event taps, who seizes the
//! keyboard, who asks which keys are down. Of keys that programs *make* it says nothing, and what people found differs:
//! - Text expanders type into password fields with events of their own, and say that this works to this day; only that
//!   they are triggered by typing does not.
//! - Others find since macOS 11.3 that what they make is lost in password fields, and in a Terminal with "Secure Keyboard
//!   Entry", as long as that is in front. Some of these post at the session's tap, not at the hardware's.
//! - That keys for an app in front are lost because one behind it has secure input on, nobody was found to say.
//!
//! So what becomes of them is a setting. The system knows who switched it on, but not reliably: one that did so from behind
//! is taken for the one in front, or for the login window.

use std::time::Duration;

use axd_protocol::State;

use super::event::{EventKind, Posted};
use crate::cf::{self, CFTypeRef};
use crate::world::{Inner, WaitResult, World, current, wait};

/// Which synthetic keys are lost while secure input is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LostKeys {
    /// None.
    #[default]
    Nothing,
    /// Those for the app that turned it on.
    ItsOwn,
    /// All of them.
    Everything,
}

impl World {
    /// Turns secure input on or off for a process. It need not run any more: an app that ended may have left it on.
    pub fn secure_input(&self, pid: u32, on: bool) {
        let mut secured = self.inner().secured.lock();
        if on {
            secured.insert(pid)
        } else {
            secured.remove(&pid)
        };
    }
}

/// Whether a secure field of the active app has the focus.
async fn secure_focus(world: &Inner) -> bool {
    let Some(reach) = world.sim.active().0.and_then(|pid| world.sim.inspector(pid)) else { return false };
    let looked = reach.inspect(|inside| {
        let focus = inside.model.focus().and_then(|focus| inside.model.widget(focus));
        focus.is_some_and(|focus| focus.states.has(State::Secure))
    });
    // An app that hangs is not known to have one.
    tokio::time::timeout(Duration::from_millis(200), looked).await.is_ok_and(|looked| looked == Ok(true))
}

/// The process that turned it on.
async fn holder(world: &Inner) -> Option<u32> {
    let taken = world.secured.lock().iter().next().copied();
    match taken {
        None if secure_focus(world).await => world.sim.active().0,
        taken => taken,
    }
}

/// Whether an event is lost.
pub(super) async fn is_swallowed(world: &Inner, event: &Posted) -> bool {
    if !matches!(event.kind, EventKind::Key { .. }) {
        return false;
    }
    let swallows = world.settings.lock().secure_input_swallows;
    let front = world.sim.active().0;
    let to = event.pid.map_or(front, |pid| u32::try_from(pid).ok());
    match swallows {
        LostKeys::Nothing => false,
        LostKeys::ItsOwn => {
            let is_its_own = to.is_some_and(|to| world.secured.lock().contains(&to));
            is_its_own || to == front && secure_focus(world).await
        }
        LostKeys::Everything => holder(world).await.is_some(),
    }
}

fn holder_now() -> Option<u32> {
    let world = current()?;
    let (answer, reply) = tokio::sync::oneshot::channel();
    let runtime = world.runtime.clone();
    runtime.spawn(async move {
        let _ = answer.send(holder(&world).await);
    });
    match wait(reply, Duration::from_secs(1)) {
        WaitResult::Answer(holder) => holder,
        _ => None,
    }
}

/// `IsSecureEventInputEnabled`: whoever switched it on.
#[unsafe(no_mangle)]
pub extern "C" fn IsSecureEventInputEnabled() -> u8 {
    u8::from(holder_now().is_some())
}

/// `CGSessionCopyCurrentDictionary`: who has it on is in it, if anybody has.
#[unsafe(no_mangle)]
pub extern "C" fn CGSessionCopyCurrentDictionary() -> CFTypeRef {
    const NAME: &str = "CGSessionCopyCurrentDictionary";
    let mut entries = vec![(cf::string("kCGSSessionOnConsoleKey", NAME), cf::boolean(true))];
    if let Some(pid) = holder_now() {
        entries.push((cf::string("kCGSSessionSecureInputPID", NAME), cf::integer(i64::from(pid), NAME)));
    }
    cf::dictionary(entries, NAME).give()
}
