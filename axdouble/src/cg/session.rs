//! The session of the user who is logged in, and who has its keyboard to itself.
//!
//! A secure field has while it has the focus, and an app that took it and did not give it back. What becomes of keys that
//! programs make meanwhile is a setting: they arrive, as they mostly do on a Mac, or they are swallowed.

use std::time::Duration;

use axd_protocol::State;

use crate::cf::{self, CFTypeRef};
use crate::world::{Inner, Waited, current, wait};

/// The process that has the keyboard to itself, if one has.
pub(super) async fn holder(world: &Inner) -> Option<u32> {
    let taken = world.settings.lock().secure_input_held_by;
    if taken.is_some() {
        return taken;
    }
    let pid = world.sim.active().0?;
    let looked = world.sim.reach(pid)?.visit(|inside| {
        let focus = inside.model.focus().and_then(|focus| inside.model.widget(focus));
        focus.is_some_and(|focus| focus.states.has(State::Secure))
    });
    // An app that hangs is not known to have it.
    let looked = tokio::time::timeout(Duration::from_millis(200), looked).await;
    looked.is_ok_and(|looked| looked == Ok(true)).then_some(pid)
}

fn holder_now() -> Option<u32> {
    let world = current()?;
    let (answer, reply) = tokio::sync::oneshot::channel();
    let runtime = world.runtime.clone();
    runtime.spawn(async move {
        let _ = answer.send(holder(&world).await);
    });
    match wait(reply, Duration::from_secs(1)) {
        Waited::Answer(holder) => holder,
        _ => None,
    }
}

/// `IsSecureEventInputEnabled`.
#[unsafe(no_mangle)]
pub extern "C" fn IsSecureEventInputEnabled() -> u8 {
    u8::from(holder_now().is_some())
}

/// `CGSessionCopyCurrentDictionary`: who has the keyboard to itself is in it, if anybody has.
#[unsafe(no_mangle)]
pub extern "C" fn CGSessionCopyCurrentDictionary() -> CFTypeRef {
    const NAME: &str = "CGSessionCopyCurrentDictionary";
    let mut entries = vec![(cf::string("kCGSSessionOnConsoleKey", NAME), cf::boolean(true))];
    if let Some(pid) = holder_now() {
        entries.push((cf::string("kCGSSessionSecureInputPID", NAME), cf::integer(i64::from(pid), NAME)));
    }
    cf::dictionary(entries, NAME).give()
}
