//! Windows without a window system to ask: the frames that apps themselves list, for Wayland and for machines without
//! a display. Only places and order are missing, which Wayland reports to nobody.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use axd_protocol::Role;

use crate::atspi::dbus::{BusConnection, call, get};
use crate::atspi::protocol::{ACCESSIBLE, ObjectRef, body, string_property};
use crate::atspi::roles;
use crate::atspi::states::{NativeState, NativeStates};
use crate::read::handles::Handle;
use axd_platform::{DesktopWindow, Failure};

/// A window that an app lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedWindow {
    /// As the desktop sees it.
    pub info: DesktopWindow,
    /// Whether it is the active one.
    pub active: bool,
}

/// A window's number, where no window system gives one: the same for as long as the frame lives. It fits into the
/// numbers of JSON.
pub(crate) fn window_number(frame: &Handle) -> u64 {
    let mut hasher = DefaultHasher::new();
    frame.hash(&mut hasher);
    hasher.finish() >> 11
}

/// The windows an app lists.
pub(crate) async fn list_windows(
    calls: &BusConnection,
    root: &Handle,
    pid: u32,
) -> Result<Vec<ListedWindow>, Failure> {
    let answer = calls.call(call(&root.bus, &root.path, ACCESSIBLE, "GetChildren", &())).await?;
    let refs: Vec<ObjectRef> = body(&answer).unwrap_or_default();
    let frames: Vec<Handle> = refs
        .iter()
        .filter(|at| at.is_element())
        .map(|at| Handle { bus: at.bus.as_str().into(), path: at.path.as_str().into() })
        .collect();
    let mut asked = Vec::with_capacity(frames.len() * 3);
    for Handle { bus, path } in &frames {
        asked.push(get(bus, path, ACCESSIBLE, "Name"));
        asked.push(call(bus, path, ACCESSIBLE, "GetRole", &()));
        asked.push(call(bus, path, ACCESSIBLE, "GetState", &()));
    }
    let answers = calls.call_all(asked).await?;
    let mut seen = Vec::new();
    for (frame, answers) in frames.iter().zip(answers.chunks_exact(3)) {
        let states = NativeStates::from_words(&body::<Vec<u32>>(&answers[2]).unwrap_or_default());
        let role = body::<u32>(&answers[1])
            .map_or(Role::Unknown, |number| roles::top_level(number, roles::role(number, states)));
        if role.is_window() && states.has(NativeState::Visible) {
            let title = string_property(&answers[0]).unwrap_or_default();
            let minimized = states.has(NativeState::Iconified);
            let seen_as = DesktopWindow {
                window: window_number(frame),
                pid,
                title,
                bounds: None,
                minimized,
                maximized: false,
                splash: false,
            };
            seen.push(ListedWindow { info: seen_as, active: states.has(NativeState::Active) });
        }
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frames_number_is_its_own_and_fits_into_json() {
        let frame = |path: &str| Handle { bus: ":1.2".into(), path: path.into() };
        assert_eq!(window_number(&frame("/a")), window_number(&frame("/a")));
        assert_ne!(window_number(&frame("/a")), window_number(&frame("/b")));
        assert!(window_number(&frame("/a")) < 1 << 53);
    }
}
