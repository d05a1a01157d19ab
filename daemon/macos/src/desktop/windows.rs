//! The window server's list of windows, and how it is merged with what apps report of theirs.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use axd_protocol::Bounds;
use core_foundation::base::{CFType, TCFType};
use core_foundation::string::CFString;

use super::displays::Display;
use crate::ax::value;
use crate::ffi::cf::{CFDictionaryRef, CFStringRef, CFTypeRef};
use crate::ffi::cg::{
    CGRect, CGRectMakeWithDictionaryRepresentation, CGWindowListCopyWindowInfo, kCGNullWindowID,
    kCGWindowAlpha, kCGWindowBounds, kCGWindowLayer, kCGWindowListExcludeDesktopElements,
    kCGWindowListOptionAll, kCGWindowListOptionOnScreenOnly, kCGWindowName, kCGWindowNumber,
    kCGWindowOwnerPID,
};
use axd_platform::DesktopWindow;

/// From this layer on there are no ordinary windows, but the Dock, the menu bar and menus.
const FIRST_OVERLAY_LAYER: i64 = 20;
/// How far a window's edges may be from the display's for it to count as maximised, in points.
const FILL_TOLERANCE: i32 = 8;

/// A window of the window server's list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedWindow {
    /// Its number.
    pub window: u64,
    /// Its process.
    pub pid: u32,
    /// Its title, which needs the screen recording permission.
    pub title: Option<String>,
    /// Where it is.
    pub bounds: Bounds,
}

/// The state of a window, as its app reports it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WindowState {
    /// Its title.
    pub title: Option<String>,
    /// Where it is.
    pub bounds: Option<Bounds>,
    /// Whether it is minimised, or its app hidden.
    pub minimized: bool,
    /// Whether it is in full screen, on a space of its own.
    pub full_screen: bool,
}

/// The windows on the screen, front to back.
pub fn on_screen() -> Vec<ListedWindow> {
    list(kCGWindowListOptionOnScreenOnly | kCGWindowListExcludeDesktopElements, 0..FIRST_OVERLAY_LAYER)
}

/// What lies above ordinary windows: menus, the menu bar, the Dock. Front to back.
pub fn overlays() -> Vec<ListedWindow> {
    list(kCGWindowListOptionOnScreenOnly | kCGWindowListExcludeDesktopElements, FIRST_OVERLAY_LAYER..i64::MAX)
}

/// The numbers of all windows, on the screen or not.
pub fn all() -> HashSet<u64> {
    list(kCGWindowListOptionAll, 0..FIRST_OVERLAY_LAYER).into_iter().map(|listed| listed.window).collect()
}

/// The process of a window, whether or not the window is on the screen.
pub fn owner(window: u64) -> Option<u32> {
    list(kCGWindowListOptionAll, 0..FIRST_OVERLAY_LAYER)
        .into_iter()
        .find(|listed| listed.window == window)
        .map(|listed| listed.pid)
}

fn list(options: u32, layers: Range<i64>) -> Vec<ListedWindow> {
    // SAFETY: the result is null, or an object whose reference is ours.
    let all = unsafe { value::from_owned_array(CGWindowListCopyWindowInfo(options, kCGNullWindowID)) };
    all.iter().filter_map(|window| parse(window, &layers)).collect()
}

fn parse(window: &CFType, layers: &Range<i64>) -> Option<ListedWindow> {
    let number = |key: CFStringRef| get(window, key).as_ref().and_then(value::number);
    // SAFETY: the keys are constants of the system.
    let (layer, alpha, pid, id, name, place) = unsafe {
        (kCGWindowLayer, kCGWindowAlpha, kCGWindowOwnerPID, kCGWindowNumber, kCGWindowName, kCGWindowBounds)
    };
    let layer = number(layer).unwrap_or_default() as i64;
    if !layers.contains(&layer) || number(alpha) == Some(0.0) {
        return None;
    }
    let mut rect = CGRect::default();
    let place = get(window, place)?;
    // SAFETY: it is a dictionary, as is checked before, and `rect` is writable.
    let is_rect = is_dictionary(&place)
        && unsafe {
            CGRectMakeWithDictionaryRepresentation(place.as_CFTypeRef() as CFDictionaryRef, &mut rect)
        };
    let bounds = value::to_bounds(rect).filter(|bounds| is_rect && bounds.width > 1 && bounds.height > 1)?;
    Some(ListedWindow {
        window: number(id)? as u64,
        pid: number(pid)? as u32,
        title: get(window, name).as_ref().and_then(value::text),
        bounds,
    })
}

fn is_dictionary(value: &CFType) -> bool {
    value.instance_of::<core_foundation::dictionary::CFDictionary>()
}

fn get(dictionary: &CFType, key: CFStringRef) -> Option<CFType> {
    if !is_dictionary(dictionary) {
        return None;
    }
    // SAFETY: the key is a constant of the system, and the dictionary lives while it is borrowed.
    unsafe {
        let key = CFString::wrap_under_get_rule(key);
        value::lookup(dictionary.as_CFTypeRef() as CFTypeRef as CFDictionaryRef, &key)
    }
}

/// The windows to report: those on the screen whose process satisfies `is_app`, then those that are minimised.
pub fn merge(
    listed: &[ListedWindow],
    states: &HashMap<u64, (u32, WindowState)>,
    displays: &[Display],
    is_app: impl Fn(u32) -> bool,
) -> Vec<DesktopWindow> {
    let shown = listed.iter().filter(|window| is_app(window.pid)).map(|window| {
        let of_app = states.get(&window.window).map(|(_, state)| state);
        let title = of_app.and_then(|state| state.title.clone()).or_else(|| window.title.clone());
        let fills = of_app.is_some_and(|state| state.full_screen) || fills(window.bounds, displays);
        DesktopWindow {
            window: window.window,
            pid: window.pid,
            title: title.unwrap_or_default(),
            bounds: Some(window.bounds),
            minimized: false,
            maximized: fills,
            splash: false,
        }
    });
    let mut windows: Vec<DesktopWindow> = shown.collect();
    let is_shown = |window: u64| listed.iter().any(|listed| listed.window == window);
    let mut minimized: Vec<_> =
        states.iter().filter(|(window, (_, state))| state.minimized && !is_shown(**window)).collect();
    minimized.sort_by_key(|(window, _)| **window);
    windows.extend(minimized.into_iter().map(|(window, (pid, state))| DesktopWindow {
        window: *window,
        pid: *pid,
        title: state.title.clone().unwrap_or_default(),
        bounds: state.bounds,
        minimized: true,
        maximized: false,
        splash: false,
    }));
    windows
}

/// Whether a window fills a display, or the part of it that windows may use.
fn fills(bounds: Bounds, displays: &[Display]) -> bool {
    let near = |a: i32, b: i32| (a - b).abs() <= FILL_TOLERANCE;
    let is_same = |other: Bounds| {
        near(bounds.x, other.x)
            && near(bounds.y, other.y)
            && near(bounds.width, other.width)
            && near(bounds.height, other.height)
    };
    displays.iter().any(|display| is_same(display.usable) || is_same(display.info.bounds))
}

#[cfg(test)]
mod tests {
    use axd_protocol::DisplayInfo;

    use super::*;

    fn bounds(x: i32, y: i32, width: i32, height: i32) -> Bounds {
        Bounds { x, y, width, height }
    }

    fn window(window: u64, pid: u32, title: Option<&str>, at: Bounds) -> ListedWindow {
        ListedWindow { window, pid, title: title.map(str::to_owned), bounds: at }
    }

    #[test]
    fn what_the_app_says_of_a_window_goes_before_what_the_server_says() {
        let listed = [
            window(1, 10, None, bounds(0, 0, 100, 100)),
            window(2, 11, Some("Two"), bounds(0, 0, 100, 100)),
            window(3, 99, Some("Nobody's"), bounds(0, 0, 100, 100)),
        ];
        let one = WindowState { title: Some("One".into()), ..WindowState::default() };
        let minimized = WindowState { title: Some("Away".into()), minimized: true, ..WindowState::default() };
        let states = HashMap::from([(1, (10, one)), (4, (10, minimized))]);
        let seen = merge(&listed, &states, &[], |pid| pid < 50);
        let found: Vec<(u64, &str, bool)> =
            seen.iter().map(|window| (window.window, window.title.as_str(), window.minimized)).collect();
        assert_eq!(found, [(1, "One", false), (2, "Two", false), (4, "Away", true)]);
    }

    #[test]
    fn a_window_that_fills_what_it_may_use_is_maximised() {
        let whole = bounds(0, 0, 1440, 900);
        let info = DisplayInfo { display: 1, name: "A".into(), primary: true, bounds: whole, scale: 2.0 };
        let display = Display { id: 7, info, usable: bounds(0, 25, 1440, 800) };
        assert!(fills(bounds(0, 25, 1440, 798), std::slice::from_ref(&display)));
        assert!(fills(whole, std::slice::from_ref(&display)));
        assert!(!fills(bounds(0, 25, 1000, 800), &[display]));
    }
}
