//! Matches an app's windows on the accessibility bus with windows of the screen: by process and title, and by place
//! where titles are the same.

use axd_protocol::Bounds;

use crate::x11::screen::{Screen, XWindow};

/// A window as its app describes it on the accessibility bus.
#[derive(Debug, Clone, Default)]
pub(crate) struct AppWindow {
    /// Its name.
    pub title: String,
    /// Where it says it is. GTK 4 knows only its size.
    pub bounds: Option<Bounds>,
}

/// The numbers of the windows on the screen, in the order of the app's windows. No window is given twice.
pub(crate) fn match_windows(frames: &[AppWindow], pid: u32, screen: &Screen) -> Vec<Option<u64>> {
    let mut free: Vec<&XWindow> = screen.windows.iter().filter(|window| window.info.pid == pid).collect();
    let mut found: Vec<Option<u64>> = vec![None; frames.len()];
    let tests: [fn(&AppWindow, &XWindow) -> bool; 5] = [
        |frame, window| same_title(frame, window) && same_place(frame, window),
        |frame, window| same_title(frame, window) && same_size(frame, window),
        same_title,
        // A title that has just changed has not come to both sides yet.
        same_place,
        same_size,
    ];
    for fits in tests {
        for (frame, found) in frames.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
            if let Some(at) = free.iter().position(|window| fits(frame, window)) {
                *found = Some(free.remove(at).info.window);
            }
        }
    }
    found
}

fn same_title(frame: &AppWindow, window: &XWindow) -> bool {
    frame.title == window.info.title
}

/// GTK 3 counts the window manager's frame in, so a frame may be a little larger than the window in it.
fn same_place(frame: &AppWindow, window: &XWindow) -> bool {
    const WIDEST_EDGE: i32 = 64;
    let (Some(outer), Some(inner)) = (frame.bounds, window.info.bounds) else { return false };
    let edges = [
        inner.x - outer.x,
        inner.y - outer.y,
        outer.x + outer.width - inner.x - inner.width,
        outer.y + outer.height - inner.y - inner.height,
    ];
    edges.iter().all(|edge| (0..=WIDEST_EDGE).contains(edge))
}

fn same_size(frame: &AppWindow, window: &XWindow) -> bool {
    match (frame.bounds, window.info.bounds) {
        (Some(one), Some(other)) => (one.width, one.height) == (other.width, other.height),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axd_platform::DesktopWindow;

    fn at(x: i32, width: i32) -> Option<Bounds> {
        Some(Bounds { x, y: 0, width, height: 10 })
    }

    fn window(window: u64, title: &str, bounds: Option<Bounds>) -> XWindow {
        let seen = DesktopWindow {
            window,
            pid: 7,
            title: title.into(),
            bounds,
            minimized: false,
            maximized: false,
            splash: false,
        };
        XWindow { info: seen, origin: (0, 0) }
    }

    fn frame(title: &str, bounds: Option<Bounds>) -> AppWindow {
        AppWindow { title: title.into(), bounds }
    }

    #[test]
    fn titles_decide_and_places_where_titles_are_the_same() {
        let windows = vec![window(1, "a", at(0, 5)), window(2, "b", at(0, 5)), window(3, "b", at(90, 5))];
        let screen = Screen { windows, ..Screen::default() };
        let frames = [frame("b", at(90, 5)), frame("a", None), frame("b", at(0, 5)), frame("c", None)];
        assert_eq!(match_windows(&frames, 7, &screen), [Some(3), Some(1), Some(2), None]);
        assert_eq!(match_windows(&frames, 8, &screen), [None; 4]);
    }

    #[test]
    fn a_title_under_change_is_made_up_for_by_the_size() {
        let screen = Screen { windows: vec![window(1, "old", at(3, 5))], ..Screen::default() };
        assert_eq!(match_windows(&[frame("new", at(0, 5))], 7, &screen), [Some(1)]);
    }
}
