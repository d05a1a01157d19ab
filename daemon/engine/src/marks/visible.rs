//! What of an element can be seen in a picture, and where it is clicked. Pure.

use axd_protocol::{Bounds, Point, Role};

/// An element narrower or lower than this, in points, is not marked.
const MIN_SIDE: i32 = 3;

/// Where an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ElementPlace {
    /// The window system's number of its window; `None` for what is in a window that the window system does not list, as popups are.
    pub window: Option<u64>,
    /// Whether it is in a popup, which need not lie within the element's own window.
    pub pops_up: bool,
    /// Its bounds, in points on the desktop.
    pub bounds: Bounds,
}

/// What lies where in a picture.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scenery {
    /// The part of the desktop that the picture shows.
    pub area: Bounds,
    /// The window of the picture, if it is of one, and its bounds.
    pub window: Option<(u64, Bounds)>,
    /// The windows on the screen, front to back.
    pub stack: Vec<(u64, Bounds)>,
    /// The popups of the window, from the lowest to the topmost.
    pub popups: Vec<Bounds>,
    /// The windows that are painted over.
    pub blocked: Vec<u64>,
}

/// What can be seen of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VisiblePart {
    /// Its bounds, as far as they are in the picture, in points on the desktop.
    pub bounds: Bounds,
    /// The points where it may be clicked, the best first.
    pub points: Vec<Point>,
}

/// What can be seen of an element in a picture; `None` if it cannot be seen.
pub(crate) fn visible_part(element: ElementPlace, scenery: &Scenery) -> Option<VisiblePart> {
    if element.window.is_some_and(|window| scenery.blocked.contains(&window)) {
        return None;
    }
    let is_listed = |window: u64| scenery.stack.iter().find(|(number, _)| *number == window);
    let floats = element.pops_up || element.window.is_none();
    let popup = scenery.popups.iter().rposition(|popup| floats && popup.contains(center(element.bounds)));
    let clip = match (popup, scenery.window, element.window) {
        (Some(index), ..) => scenery.popups[index],
        (None, Some((shown, bounds)), Some(own)) if shown == own => bounds,
        // What is in no window of the window system, and in no popup, belongs to the window if it lies in it.
        (None, Some((_, bounds)), None) => bounds,
        (None, Some(_), Some(_)) => return None,
        (None, None, Some(own)) if !element.pops_up => is_listed(own)?.1,
        (None, None, _) => scenery.area,
    };
    let bounds = element.bounds.intersection(&clip)?.intersection(&scenery.area)?;
    if bounds.width < MIN_SIDE || bounds.height < MIN_SIDE {
        return None;
    }
    let is_covered = |point: Point| {
        let above = popup.map_or(0, |index| index + 1);
        if scenery.popups[above..].iter().any(|other| other.contains(point)) {
            return true;
        }
        let front =
            scenery.stack.iter().find(|(_, bounds)| bounds.contains(point)).map(|(number, _)| *number);
        match (scenery.window, element.window) {
            (None, Some(own)) if !element.pops_up => front.is_some_and(|front| front != own),
            (None, _) => front.is_some_and(|front| scenery.blocked.contains(&front)),
            (Some(_), _) => false,
        }
    };
    let mut points = points_in(bounds);
    points.retain(|point| !is_covered(*point));
    (!points.is_empty()).then_some(VisiblePart { bounds, points })
}

/// Whether an element is a menu that is marked because of its items only: it holds the place of one of them.
pub(crate) fn is_menu_around(role: Role, bounds: Bounds, others: &[(Role, Bounds)]) -> bool {
    role == Role::Menu
        && others.iter().any(|(role, other)| {
            let is_item =
                matches!(role, Role::Menu | Role::MenuItem | Role::MenuItemCheckbox | Role::MenuItemRadio);
            is_item && *other != bounds && bounds.intersection(other) == Some(*other)
        })
}

/// The middle of a rectangle, then points around it.
fn points_in(bounds: Bounds) -> Vec<Point> {
    let at = |across: i32, down: i32| Point {
        x: bounds.x + bounds.width * across / 8,
        y: bounds.y + bounds.height * down / 8,
    };
    vec![at(4, 4), at(2, 4), at(6, 4), at(4, 2), at(4, 6), at(1, 4), at(7, 4)]
}

fn center(of: Bounds) -> Point {
    Point { x: of.x + of.width / 2, y: of.y + of.height / 2 }
}

/// A rectangle in points on the desktop, in pixels of a picture that begins at `origin`.
pub(crate) fn in_pixels(bounds: Bounds, origin: Point, scale: f64) -> Bounds {
    let pixels = |points: i32| (f64::from(points) * scale).round() as i32;
    let (x, y) = (pixels(bounds.x - origin.x), pixels(bounds.y - origin.y));
    let (right, bottom) =
        (pixels(bounds.x + bounds.width - origin.x), pixels(bounds.y + bounds.height - origin.y));
    Bounds { x, y, width: right - x, height: bottom - y }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(x: i32, y: i32, width: i32, height: i32) -> Bounds {
        Bounds { x, y, width, height }
    }

    fn element(window: Option<u64>, pops_up: bool, at: Bounds) -> ElementPlace {
        ElementPlace { window, pops_up, bounds: at }
    }

    /// A picture of the window 7, with a popup that sticks out of it.
    fn of_window() -> Scenery {
        let own = bounds(100, 100, 200, 200);
        Scenery {
            area: bounds(100, 100, 250, 200),
            window: Some((7, own)),
            stack: vec![(7, own)],
            popups: vec![bounds(250, 120, 100, 100)],
            blocked: Vec::new(),
        }
    }

    #[test]
    fn an_element_is_seen_as_far_as_its_window_shows_it() {
        let part = visible_part(element(Some(7), false, bounds(90, 110, 40, 20)), &of_window()).unwrap();
        assert_eq!((part.bounds, part.points[0]), (bounds(100, 110, 30, 20), Point { x: 115, y: 120 }));
        for (window, at) in
            [(7, bounds(10, 10, 40, 20)), (8, bounds(120, 110, 40, 20)), (7, bounds(298, 110, 9, 9))]
        {
            assert_eq!(visible_part(element(Some(window), false, at), &of_window()), None, "{at:?}");
        }
    }

    #[test]
    fn what_a_popup_covers_is_not_seen_and_what_is_in_it_is() {
        let under = bounds(260, 130, 20, 20);
        assert_eq!(visible_part(element(Some(7), false, under), &of_window()), None);
        let half = visible_part(element(Some(7), false, bounds(220, 130, 60, 20)), &of_window()).unwrap();
        assert!(half.points.iter().all(|point| point.x < 250), "{half:?}");
        for item in [element(Some(7), true, under), element(None, false, bounds(320, 130, 20, 20))] {
            assert_eq!(visible_part(item, &of_window()).unwrap().bounds, item.bounds);
        }
        let mut with_submenu = of_window();
        with_submenu.popups.push(bounds(255, 125, 30, 60));
        let item = element(Some(7), true, bounds(250, 180, 100, 20));
        let part = visible_part(item, &with_submenu).unwrap();
        assert_eq!(part.points[0], Point { x: 300, y: 190 });
    }

    #[test]
    fn on_a_screen_windows_cover_each_other_and_blocked_ones_have_nothing() {
        let screen = Scenery {
            area: bounds(0, 0, 400, 400),
            stack: vec![
                (1, bounds(0, 0, 100, 100)),
                (2, bounds(50, 50, 100, 100)),
                (3, bounds(0, 0, 400, 400)),
            ],
            blocked: vec![2],
            ..Scenery::default()
        };
        let seen = |window: u64, at: Bounds| visible_part(element(Some(window), false, at), &screen);
        assert!(seen(1, bounds(60, 60, 20, 20)).is_some());
        assert_eq!(seen(2, bounds(110, 110, 20, 20)), None, "it is painted over");
        assert_eq!(seen(3, bounds(110, 110, 20, 20)), None, "it lies behind");
        assert!(seen(3, bounds(200, 200, 20, 20)).is_some());
    }

    #[test]
    fn a_menu_is_marked_unless_it_is_there_for_its_items_only() {
        let items = [(Role::MenuItem, bounds(10, 10, 50, 10)), (Role::Menu, bounds(10, 20, 50, 10))];
        assert!(is_menu_around(Role::Menu, bounds(8, 8, 54, 30), &items));
        assert!(!is_menu_around(Role::Menu, bounds(10, 20, 50, 10), &items));
        assert!(!is_menu_around(Role::List, bounds(8, 8, 54, 30), &items));
    }

    #[test]
    fn pixels_are_rounded_at_both_edges() {
        let origin = Point { x: 10, y: 20 };
        assert_eq!(in_pixels(bounds(11, 22, 3, 4), origin, 2.0), bounds(2, 4, 6, 8));
        assert_eq!(in_pixels(bounds(11, 21, 1, 1), origin, 1.5), bounds(2, 2, 1, 1));
    }
}
