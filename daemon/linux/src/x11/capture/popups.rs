//! The popups of a window: windows of the same X client that no window manager manages, as menus, lists of combo boxes and tooltips
//! are.
//!
//! Toolkits say which window a popup belongs to (`WM_TRANSIENT_FOR`), some for submenus by way of the menu. A popup that says nothing
//! belongs to the window that it touches.

use axd_platform::{CapturedImage, NO_WINDOW};
use axd_protocol::{Bounds, Point};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, MapState, Window, WindowClass};

use crate::x11::capture::pixels::overlap;
use crate::x11::connection::{Display, XError, XResult};
use crate::x11::screen;

/// How far from its window a popup may be that does not say which one it belongs to.
const REACH: i32 = 12;
/// Windows narrower or lower than this are not seen: toolkits have some for selections and focus.
const MIN_SIDE: i32 = 2;
/// The maximum number of popups that belong to each other.
const MAX_CHAIN: usize = 8;

/// A window directly on the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TopWindow {
    pub window: Window,
    pub bounds: Bounds,
    /// No window manager manages it.
    pub is_unmanaged: bool,
    /// It is of the same X client as the window whose popups are looked for.
    pub is_same_client: bool,
    /// The window that it says it belongs to.
    pub owner: Option<Window>,
}

/// The windows on the root that can be seen, from the lowest to the topmost.
pub(crate) fn top_windows(display: &Display, of: Window) -> XResult<Vec<TopWindow>> {
    let connection = &display.connection;
    // The numbers of all windows of an X client begin with the same bits.
    let client = |window: Window| window & !connection.setup().resource_id_mask;
    let children = connection.query_tree(display.root)?.reply()?.children;
    let mut seen = Vec::new();
    for window in children {
        match top_window(display, window, client(window) == client(of)) {
            Ok(found) => seen.extend(found),
            // It went away meanwhile.
            Err(error) if error.is_gone() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(seen)
}

fn top_window(display: &Display, window: Window, is_same_client: bool) -> XResult<Option<TopWindow>> {
    let connection = &display.connection;
    let attributes = connection.get_window_attributes(window)?;
    let geometry = connection.get_geometry(window)?;
    let (attributes, geometry) =
        (attributes.reply().map_err(XError::from)?, geometry.reply().map_err(XError::from)?);
    if attributes.map_state != MapState::VIEWABLE || attributes.class != WindowClass::INPUT_OUTPUT {
        return Ok(None);
    }
    let is_unmanaged = attributes.override_redirect;
    let bounds = match is_unmanaged && is_same_client {
        true => screen::window_area(display, window)?.0,
        false => {
            let border = 2 * i32::from(geometry.border_width);
            let (width, height) = (i32::from(geometry.width) + border, i32::from(geometry.height) + border);
            Bounds { x: i32::from(geometry.x), y: i32::from(geometry.y), width, height }
        }
    };
    let owner = match is_unmanaged && is_same_client {
        true => display.numbers(window, AtomEnum::WM_TRANSIENT_FOR.into())?.first().copied(),
        false => None,
    };
    let owner = owner.filter(|owner| *owner != 0 && *owner != display.root);
    Ok(Some(TopWindow { window, bounds, is_unmanaged, is_same_client, owner }))
}

/// The popups of a window at these bounds, from the lowest to the topmost. Pure.
pub(crate) fn popups_of(seen: &[TopWindow], window: Window, bounds: Bounds) -> Vec<TopWindow> {
    let is_popup = |of: &TopWindow| {
        let is_large = of.bounds.width >= MIN_SIDE && of.bounds.height >= MIN_SIDE;
        of.is_unmanaged && of.is_same_client && of.window != window && is_large
    };
    let popups: Vec<TopWindow> = seen.iter().copied().filter(is_popup).collect();
    let mut own: Vec<Window> = Vec::new();
    // A popup may belong to one that is listed later.
    for _ in 0..MAX_CHAIN {
        let before = own.len();
        for popup in &popups {
            let belongs = match popup.owner {
                Some(owner) => owner == window || own.contains(&owner),
                None => {
                    let touched = |other: Bounds| overlap(around(popup.bounds), other).is_some();
                    let other_popup = |other: &&TopWindow| own.contains(&other.window);
                    touched(bounds) || popups.iter().filter(other_popup).any(|other| touched(other.bounds))
                }
            };
            if belongs && !own.contains(&popup.window) {
                own.push(popup.window);
            }
        }
        if own.len() == before {
            break;
        }
    }
    popups.into_iter().filter(|popup| own.contains(&popup.window)).collect()
}

/// Whether a window that is none of these popups lies over one of them. Pure.
pub(crate) fn is_covered(seen: &[TopWindow], popup: &TopWindow, popups: &[TopWindow]) -> bool {
    let above = seen.iter().skip_while(|other| other.window != popup.window).skip(1);
    above
        .filter(|other| !popups.iter().any(|member| member.window == other.window))
        .any(|other| overlap(other.bounds, popup.bounds).is_some())
}

/// One picture of a window with its popups, which are given from the lowest to the topmost. Pure.
pub(crate) fn compose(window: CapturedImage, popups: &[CapturedImage]) -> CapturedImage {
    if popups.is_empty() {
        return window;
    }
    let places: Vec<Bounds> = popups.iter().map(place).collect();
    let area = places.iter().fold(place(&window), |area, popup| union(area, *popup));
    let (width, height) = (area.width.unsigned_abs(), area.height.unsigned_abs());
    let mut rgb = NO_WINDOW.repeat(width as usize * height as usize);
    for image in std::iter::once(&window).chain(popups) {
        let (left, top) = ((image.origin.x - area.x) as usize, (image.origin.y - area.y) as usize);
        let stride = image.width as usize * 3;
        for (row, line) in image.rgb.chunks_exact(stride.max(1)).enumerate() {
            // The area is around all images, so this is inside.
            let start = ((top + row) * width as usize + left) * 3;
            if let Some(under) = rgb.get_mut(start..start + stride) {
                under.copy_from_slice(line);
            }
        }
    }
    let origin = Point { x: area.x, y: area.y };
    CapturedImage { width, height, rgb, origin, scale: window.scale, popups: places }
}

fn place(of: &CapturedImage) -> Bounds {
    Bounds { x: of.origin.x, y: of.origin.y, width: of.width as i32, height: of.height as i32 }
}

fn around(of: Bounds) -> Bounds {
    Bounds { x: of.x - REACH, y: of.y - REACH, width: of.width + 2 * REACH, height: of.height + 2 * REACH }
}

fn union(one: Bounds, other: Bounds) -> Bounds {
    let (x, y) = (one.x.min(other.x), one.y.min(other.y));
    let right = (one.x + one.width).max(other.x + other.width);
    let bottom = (one.y + one.height).max(other.y + other.height);
    Bounds { x, y, width: right - x, height: bottom - y }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Bounds = Bounds { x: 100, y: 100, width: 200, height: 200 };

    fn popup(window: Window, x: i32, owner: Option<Window>) -> TopWindow {
        let bounds = Bounds { x, y: 150, width: 40, height: 40 };
        TopWindow { window, bounds, is_unmanaged: true, is_same_client: true, owner }
    }

    fn windows(found: &[TopWindow]) -> Vec<Window> {
        found.iter().map(|popup| popup.window).collect()
    }

    #[test]
    fn a_popup_belongs_to_the_window_that_it_names_by_way_of_other_popups_too() {
        let seen = [
            popup(13, 900, Some(12)),
            popup(11, 500, Some(1)),
            popup(12, 700, Some(11)),
            popup(14, 120, Some(2)),
        ];
        assert_eq!(windows(&popups_of(&seen, 1, PLACE)), [13, 11, 12]);
        assert_eq!(windows(&popups_of(&seen, 2, PLACE)), [14]);
    }

    #[test]
    fn a_popup_that_names_no_window_belongs_to_the_one_that_it_touches() {
        let seen = [popup(11, 305, None), popup(12, 350, None), popup(13, 600, None)];
        assert_eq!(windows(&popups_of(&seen, 1, PLACE)), [11, 12], "the second touches the first");
        let managed = TopWindow { is_unmanaged: false, ..popup(14, 120, None) };
        let foreign = TopWindow { is_same_client: false, ..popup(15, 120, None) };
        assert!(popups_of(&[managed, foreign, popup(1, 120, None)], 1, PLACE).is_empty());
    }

    #[test]
    fn a_popup_is_covered_by_what_lies_over_it_and_is_no_popup_of_the_same_window() {
        let (menu, submenu) = (popup(11, 120, Some(1)), popup(12, 140, Some(11)));
        let other = TopWindow { is_same_client: false, ..popup(20, 100, None) };
        assert!(!is_covered(&[other, menu, submenu], &menu, &[menu, submenu]));
        assert!(is_covered(&[menu, submenu, other], &menu, &[menu, submenu]));
        assert!(!is_covered(&[menu, submenu, other], &submenu, &[menu, submenu]));
    }

    #[test]
    fn a_picture_holds_the_popups_at_their_place_and_nothing_else() {
        let image = |x: i32, y: i32, side: u32, shade: u8| CapturedImage {
            width: side,
            height: side,
            rgb: vec![shade; (side * side * 3) as usize],
            origin: Point { x, y },
            scale: 1.0,
            popups: Vec::new(),
        };
        let composed = compose(image(10, 10, 4, 1), &[image(12, 12, 4, 2), image(9, 13, 2, 3)]);
        assert_eq!((composed.width, composed.height, composed.origin), (7, 6, Point { x: 9, y: 10 }));
        let shades: Vec<u8> = composed.rgb.chunks(3).map(|pixel| pixel[0]).collect();
        let none = NO_WINDOW[0];
        assert_eq!(
            shades.chunks(7).collect::<Vec<_>>(),
            [
                [none, 1, 1, 1, 1, none, none],
                [none, 1, 1, 1, 1, none, none],
                [none, 1, 1, 2, 2, 2, 2],
                [3, 3, 1, 2, 2, 2, 2],
                [3, 3, none, 2, 2, 2, 2],
                [none, none, none, 2, 2, 2, 2],
            ]
        );
        assert_eq!(composed.popups.len(), 2);
        assert_eq!(compose(image(0, 0, 2, 1), &[]), image(0, 0, 2, 1));
    }
}
