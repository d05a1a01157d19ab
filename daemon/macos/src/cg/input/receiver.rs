//! Finds which app and window would receive input now.

use axd_protocol::Point;

use crate::appkit;
use crate::appkit::host;
use crate::ax::element::Element;
use crate::desktop::windows::{self, ListedWindow};
use crate::ffi::names as n;
use axd_platform::{Receiver, Stretch};

/// The receiver of input that is sent now.
pub(super) fn receiver_of(stretch: Stretch) -> Receiver {
    match stretch {
        Stretch::Keys => keyboard_receiver(),
        Stretch::Pointer(point) | Stretch::Over(point) => pointer_receiver(point),
    }
}

fn keyboard_receiver() -> Receiver {
    let Some(pid) = host::run_on_main_blocking(appkit::frontmost).flatten() else {
        return Receiver::default();
    };
    let listed = windows::on_screen();
    let focused = Element::app(pid)
        .and_then(|app| app.element(n::kAXFocusedWindowAttribute).ok().flatten())
        .and_then(|window| window.window_number())
        // A minimised window receives nothing, even if its app reports it as focused.
        .filter(|focused| listed.iter().any(|listed| listed.window == *focused));
    let of_app = || listed.iter().find(|window| window.pid == pid).map(|window| window.window);
    let window = focused.or_else(of_app);
    let title =
        listed.iter().find(|listed| Some(listed.window) == window).and_then(|listed| listed.title.clone());
    Receiver { pid: Some(pid), window, title: title.unwrap_or_default(), ..Receiver::default() }
}

/// The receiver of a click. Windows that let clicks through are not marked in the window server's list, so an overlay counts
/// only if an element of its app is at the point.
fn pointer_receiver(point: Point) -> Receiver {
    let is_there = |window: &&ListedWindow| window.bounds.contains(point);
    let element =
        Element::system_wide().and_then(|all| all.hit_test(point.x as f32, point.y as f32).ok().flatten());
    let hit = element.and_then(|element| element.pid());
    let overlays = windows::overlays();
    if let Some(popup) = overlays.iter().filter(is_there).find(|window| Some(window.pid) == hit) {
        return from_window(popup, true);
    }
    let listed = windows::on_screen();
    listed.iter().find(is_there).map(|window| from_window(window, false)).unwrap_or_default()
}

fn from_window(window: &ListedWindow, popup: bool) -> Receiver {
    Receiver {
        pid: Some(window.pid),
        window: Some(window.window),
        title: window.title.clone().unwrap_or_default(),
        popup,
        bounds: popup.then_some(window.bounds),
    }
}
