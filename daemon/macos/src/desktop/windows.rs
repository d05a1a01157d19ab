//! The windows, as the window server lists them, and what apps say of theirs.

use std::collections::HashMap;
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
use axd_platform::WindowSeen;

/// Windows from this layer on are no windows to people: the Dock, the menu bar, menus.
const TOO_HIGH: i64 = 20;
/// A window this near to filling the screen fills it.
const NEAR: i32 = 8;

/// A window, as the window server lists it.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its number.
    pub window: u64,
    /// Its process.
    pub pid: u32,
    /// Its title, if we are allowed to know.
    pub title: Option<String>,
    /// Where it is.
    pub bounds: Bounds,
}

/// What an app says of a window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Said {
    /// Its title.
    pub title: Option<String>,
    /// Where it is.
    pub bounds: Option<Bounds>,
    /// Whether it is minimised, or its app hidden.
    pub minimized: bool,
    /// Whether it has a space of its own.
    pub full_screen: bool,
}

/// The windows on the screen, front to back.
pub fn on_screen() -> Vec<Listed> {
    list(kCGWindowListOptionOnScreenOnly | kCGWindowListExcludeDesktopElements, 0..TOO_HIGH)
}

/// What lies above windows: menus, the menu bar, the Dock. Front to back.
pub fn above() -> Vec<Listed> {
    list(kCGWindowListOptionOnScreenOnly | kCGWindowListExcludeDesktopElements, TOO_HIGH..i64::MAX)
}

/// The process of a window, wherever that is.
pub fn owner(window: u64) -> Option<u32> {
    list(kCGWindowListOptionAll, 0..TOO_HIGH)
        .into_iter()
        .find(|listed| listed.window == window)
        .map(|listed| listed.pid)
}

fn list(options: u32, layers: Range<i64>) -> Vec<Listed> {
    // SAFETY: what is handed out is ours; nothing is if it is null.
    let all = unsafe { value::own_array(CGWindowListCopyWindowInfo(options, kCGNullWindowID)) };
    all.iter().filter_map(|window| listed(window, &layers)).collect()
}

fn listed(window: &CFType, layers: &Range<i64>) -> Option<Listed> {
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
    // SAFETY: it is a dictionary, as `get` saw to, and `rect` can be written to.
    let is_rect = is_dictionary(&place)
        && unsafe {
            CGRectMakeWithDictionaryRepresentation(place.as_CFTypeRef() as CFDictionaryRef, &mut rect)
        };
    let bounds = value::bounds(rect).filter(|bounds| is_rect && bounds.width > 1 && bounds.height > 1)?;
    Some(Listed {
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
    // SAFETY: the key is a string that lives for ever, and the dictionary lives while it is borrowed.
    unsafe {
        let key = CFString::wrap_under_get_rule(key);
        value::lookup(dictionary.as_CFTypeRef() as CFTypeRef as CFDictionaryRef, &key)
    }
}

/// What is told of windows: those on the screen of the apps that `is_app` knows, then those that are minimised.
pub fn seen(
    listed: &[Listed],
    said: &HashMap<u64, (u32, Said)>,
    displays: &[Display],
    is_app: impl Fn(u32) -> bool,
) -> Vec<WindowSeen> {
    let shown = listed.iter().filter(|window| is_app(window.pid)).map(|window| {
        let of_app = said.get(&window.window).map(|(_, said)| said);
        let title = of_app.and_then(|said| said.title.clone()).or_else(|| window.title.clone());
        let fills = of_app.is_some_and(|said| said.full_screen) || fills(window.bounds, displays);
        WindowSeen {
            window: window.window,
            pid: window.pid,
            title: title.unwrap_or_default(),
            bounds: Some(window.bounds),
            minimized: false,
            maximized: fills,
            splash: false,
        }
    });
    let mut windows: Vec<WindowSeen> = shown.collect();
    let is_shown = |window: u64| listed.iter().any(|listed| listed.window == window);
    let mut away: Vec<_> =
        said.iter().filter(|(window, (_, said))| said.minimized && !is_shown(**window)).collect();
    away.sort_by_key(|(window, _)| **window);
    windows.extend(away.into_iter().map(|(window, (pid, said))| WindowSeen {
        window: *window,
        pid: *pid,
        title: said.title.clone().unwrap_or_default(),
        bounds: said.bounds,
        minimized: true,
        maximized: false,
        splash: false,
    }));
    windows
}

/// Whether a window fills what windows may use of a display, or all of it.
fn fills(bounds: Bounds, displays: &[Display]) -> bool {
    let near = |a: i32, b: i32| (a - b).abs() <= NEAR;
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

    fn window(window: u64, pid: u32, title: Option<&str>, at: Bounds) -> Listed {
        Listed { window, pid, title: title.map(str::to_owned), bounds: at }
    }

    #[test]
    fn what_the_app_says_of_a_window_goes_before_what_the_server_says() {
        let listed = [
            window(1, 10, None, bounds(0, 0, 100, 100)),
            window(2, 11, Some("Two"), bounds(0, 0, 100, 100)),
            window(3, 99, Some("Nobody's"), bounds(0, 0, 100, 100)),
        ];
        let one = Said { title: Some("One".into()), ..Said::default() };
        let away = Said { title: Some("Away".into()), minimized: true, ..Said::default() };
        let said = HashMap::from([(1, (10, one)), (4, (10, away))]);
        let seen = seen(&listed, &said, &[], |pid| pid < 50);
        let told: Vec<(u64, &str, bool)> =
            seen.iter().map(|window| (window.window, window.title.as_str(), window.minimized)).collect();
        assert_eq!(told, [(1, "One", false), (2, "Two", false), (4, "Away", true)]);
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
