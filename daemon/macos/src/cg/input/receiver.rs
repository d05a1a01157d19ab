//! Who would receive input, by what the system says now.

use axd_protocol::Point;

use crate::appkit;
use crate::appkit::host;
use crate::ax::element::Element;
use crate::desktop::windows::{self, Listed};
use crate::ffi::names as n;
use axd_platform::{Receiver, Stretch};

/// Who would receive this, if it were sent now.
pub(super) fn of(stretch: Stretch) -> Receiver {
    match stretch {
        Stretch::Keys => with_focus(),
        Stretch::Pointer(point) => at(point),
    }
}

fn with_focus() -> Receiver {
    let Some(pid) = host::ask_waiting(appkit::frontmost).flatten() else { return Receiver::default() };
    let listed = windows::on_screen();
    let focused = Element::app(pid)
        .and_then(|app| app.element(n::kAXFocusedWindowAttribute).ok().flatten())
        .and_then(|window| window.window_number())
        // One that was put away is in front of nothing, whatever its app says.
        .filter(|focused| listed.iter().any(|listed| listed.window == *focused));
    let of_app = || listed.iter().find(|window| window.pid == pid).map(|window| window.window);
    let window = focused.or_else(of_app);
    let title =
        listed.iter().find(|listed| Some(listed.window) == window).and_then(|listed| listed.title.clone());
    Receiver { pid: Some(pid), window, title: title.unwrap_or_default(), ..Receiver::default() }
}

/// The window server does not say which windows let clicks through, so what lies above ordinary windows counts only if an
/// element of its app is there.
fn at(point: Point) -> Receiver {
    let is_there = |window: &&Listed| window.bounds.contains(point);
    let element =
        Element::system_wide().and_then(|all| all.at(point.x as f32, point.y as f32).ok().flatten());
    let hit = element.and_then(|element| element.pid());
    let above = windows::above();
    if let Some(popup) = above.iter().filter(is_there).find(|window| Some(window.pid) == hit) {
        return receiver(popup, true);
    }
    let listed = windows::on_screen();
    listed.iter().find(is_there).map(|window| receiver(window, false)).unwrap_or_default()
}

fn receiver(window: &Listed, popup: bool) -> Receiver {
    Receiver {
        pid: Some(window.pid),
        window: Some(window.window),
        title: window.title.clone().unwrap_or_default(),
        popup,
        bounds: popup.then_some(window.bounds),
    }
}
