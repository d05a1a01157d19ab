//! Where elements are, measured when it is asked for, and what is at a point.
//!
//! Screen coordinates are asked for: Qt's window coordinates are wrong. Only GTK 4 knows none, and the place of its X
//! window is added to what it reports.

use std::ops::Range;

use axd_protocol::{Bounds, Point, Role};

use crate::atspi::protocol::{ACCESSIBLE, COMPONENT, ObjectRef, TABLE, body, number_property};
use crate::atspi::states::{NativeState, NativeStates};
use crate::read::reader::Reader;
use crate::x11::screen::Screen;
use axd_platform::mirror::Mirror;
use axd_platform::{ElementKey, Failure, Measured};

/// How many children of a very large container are read.
const VISIBLE_SAMPLE: i32 = 200;
/// How many cells of a spreadsheet are read at most.
const MAX_CELLS: usize = 1000;
/// How many elements are measured at most to find the one at a point.
const MAX_MEASURED: usize = 500;
/// Deeper than any chain of answers to "what is at this point".
const MAX_DEPTH: usize = 64;

/// Bounds as AT-SPI sends them; `None` without a size or a place on the screen.
pub(crate) fn bounds((x, y, width, height): (i32, i32, i32, i32)) -> Option<Bounds> {
    // GTK reports the lowest number there is for what is not shown.
    let somewhere = width > 0 && height > 0 && x > -100_000 && y > -100_000;
    somewhere.then_some(Bounds { x, y, width, height })
}

impl Reader {
    /// Measures elements; those that are gone are left out.
    pub async fn measure(
        &mut self,
        keys: &[ElementKey],
        mirror: &Mirror,
        screen: Option<&Screen>,
    ) -> Result<Vec<Measured>, Failure> {
        let windows: Vec<Option<ElementKey>> = keys.iter().map(|key| window_of(*key, mirror)).collect();
        let mut frames: Vec<ElementKey> = windows.iter().flatten().copied().collect();
        frames.sort_unstable();
        frames.dedup();
        let mut calls = Vec::with_capacity(keys.len() * 2 + frames.len());
        for key in keys {
            calls.push(self.build_call(*key, COMPONENT, "GetExtents", &(self.toolkit.coordinates(),)));
            calls.push(self.build_call(*key, ACCESSIBLE, "GetState", &()));
        }
        for frame in &frames {
            calls.push(self.build_call(*frame, COMPONENT, "GetExtents", &(self.toolkit.coordinates(),)));
        }
        let answers = self.call_all(calls).await?;
        let place = |at: usize| answers.get(at).and_then(body::<(i32, i32, i32, i32)>).and_then(bounds);
        let mut measured = Vec::with_capacity(keys.len());
        for (at, (key, window)) in keys.iter().zip(&windows).enumerate() {
            let Some(states) = answers.get(2 * at + 1).and_then(body::<Vec<u32>>) else { continue };
            let shift = window.map_or((0, 0), |window| self.window_offset(window, screen));
            let frame = window.and_then(|window| frames.binary_search(&window).ok());
            let frame =
                frame.and_then(|at| place(2 * keys.len() + at)).map(|bounds| offset_by(bounds, shift));
            let is_scaled = window.zip(frame).is_some_and(|(window, frame)| {
                let drawn = self.screen_bounds(window, screen);
                drawn.is_some_and(|drawn| is_scaled(frame, drawn))
            });
            let bounds = place(2 * at).map(|bounds| offset_by(bounds, shift));
            let states = NativeStates::from_words(&states);
            let shown =
                if self.toolkit.lacks_showing() { NativeState::Visible } else { NativeState::Showing };
            // Without a frame's place, being shown is all that is known.
            let inside = match (bounds, frame) {
                (Some(_), Some(_)) if self.is_in_popup(*key, mirror) => true,
                (Some(bounds), Some(frame)) => bounds.intersection(&frame).is_some(),
                (Some(_), None) => true,
                (None, _) => false,
            };
            let visible = states.has(shown) && inside;
            measured.push(Measured {
                key: *key,
                bounds,
                visible,
                misplaced: is_scaled || self.is_misplaced(*key, mirror),
            });
        }
        Ok(measured)
    }

    /// The elements at a point, from a window down to the deepest. Elements may be among them that are not known yet.
    pub async fn hit_test(
        &mut self,
        point: Point,
        mirror: &Mirror,
        screen: Option<&Screen>,
    ) -> Result<Vec<ElementKey>, Failure> {
        let windows: Vec<ElementKey> = mirror.children(ElementKey::APP).to_vec();
        let places = self.measure(&windows, mirror, screen).await?;
        let mut hit: Vec<ElementKey> = places
            .iter()
            .filter(|place| place.visible && place.bounds.is_some_and(|bounds| bounds.contains(point)))
            .map(|place| place.key)
            .collect();
        // The frontmost window first; a popup, which is no window of the screen's, is before them all.
        let rank = |key: &ElementKey| {
            let number = self.elements.window_number(*key)?;
            screen?.windows.iter().position(|window| window.info.window == number)
        };
        hit.sort_by_key(rank);
        let popup = self.popup_at(point, mirror, screen).await?;
        let Some(window) = popup.or(hit.first().copied()) else { return Ok(Vec::new()) };
        let mut path = self.descend(window, point, screen).await?;
        let shown = self.measure(&path, mirror, screen).await?;
        // GTK 3 may answer what lies on a page that is not shown.
        while path.len() > 1 && !shown.iter().any(|place| Some(&place.key) == path.last() && place.visible) {
            path.pop();
        }
        // Some toolkits stop short at a container, or do not answer at all.
        let deepest = path.last().copied().unwrap_or(window);
        let below = mirror.below(&[deepest]);
        if below.len() > 1 && below.len() <= MAX_MEASURED {
            path.extend(self.smallest_at(deepest, &below, point, mirror, screen).await?);
        }
        Ok(path)
    }

    /// The open menu or list of a combo box at a point, where those are part of the window they are opened from.
    async fn popup_at(
        &mut self,
        point: Point,
        mirror: &Mirror,
        screen: Option<&Screen>,
    ) -> Result<Option<ElementKey>, Failure> {
        if !self.toolkit.has_popups_inside() {
            return Ok(None);
        }
        let popups: Vec<ElementKey> =
            self.elements.read().filter(|key| mirror.has_sent(*key) && self.is_popup(*key, mirror)).collect();
        let places = self.measure(&popups, mirror, screen).await?;
        let hit =
            |place: &&Measured| place.visible && place.bounds.is_some_and(|bounds| bounds.contains(point));
        // A menu of a menu is nearer than that one, and has been made later.
        Ok(places.iter().filter(hit).map(|place| place.key).max())
    }

    fn is_popup(&self, key: ElementKey, mirror: &Mirror) -> bool {
        let role = |key: ElementKey| self.elements.role(key);
        match role(key) {
            Some(Role::Menu) => true,
            Some(Role::List | Role::Tree | Role::Table) => {
                mirror.parent(key).and_then(role) == Some(Role::Combobox)
            }
            _ => false,
        }
    }

    /// Whether an element is in a popup, which is not confined to the window it is part of.
    fn is_in_popup(&self, key: ElementKey, mirror: &Mirror) -> bool {
        let mut above = std::iter::successors(Some(key), |key| mirror.parent(*key));
        self.toolkit.has_popups_inside() && above.any(|key| self.is_popup(key, mirror))
    }

    /// Whether an element is in a popup of a toolkit that does not say where those are.
    fn is_misplaced(&self, key: ElementKey, mirror: &Mirror) -> bool {
        let opens_popups = |key: ElementKey| {
            use Role::{Button, Combobox, Menu, MenuItem, ToggleButton};
            matches!(self.elements.role(key), Some(Button | Combobox | Menu | MenuItem | ToggleButton))
        };
        let mut above = std::iter::successors(mirror.parent(key), |key| mirror.parent(*key));
        self.toolkit.misplaces_popups() && above.any(opens_popups)
    }

    async fn descend(
        &mut self,
        window: ElementKey,
        point: Point,
        screen: Option<&Screen>,
    ) -> Result<Vec<ElementKey>, Failure> {
        let shift = self.window_offset(window, screen);
        let (x, y) = (point.x - shift.0, point.y - shift.1);
        let mut path = vec![window];
        let mut at = window;
        while path.len() < MAX_DEPTH {
            let call =
                self.build_call(at, COMPONENT, "GetAccessibleAtPoint", &(x, y, self.toolkit.coordinates()));
            let answer = self.call_all(vec![call]).await?.pop();
            let Some(next) = answer.as_ref().and_then(body::<ObjectRef>).filter(ObjectRef::is_element) else {
                break;
            };
            let next = self.handles.key(&next);
            if path.contains(&next) {
                break;
            }
            path.push(next);
            at = next;
        }
        Ok(path)
    }

    /// The way from an element down to the smallest below it that is at the point, by measuring.
    async fn smallest_at(
        &mut self,
        top: ElementKey,
        below: &[ElementKey],
        point: Point,
        mirror: &Mirror,
        screen: Option<&Screen>,
    ) -> Result<Vec<ElementKey>, Failure> {
        let places = self.measure(below, mirror, screen).await?;
        let hit =
            |place: &&Measured| place.visible && place.bounds.is_some_and(|bounds| bounds.contains(point));
        let area =
            |place: &Measured| place.bounds.map_or(i64::MAX, |b| i64::from(b.width) * i64::from(b.height));
        // Parents come first, and of siblings what is later is drawn over what is earlier.
        let smallest = places.iter().filter(hit).rev().min_by_key(|place| area(place));
        let mut path: Vec<ElementKey> = Vec::new();
        let mut at = smallest.map(|place| place.key);
        while let Some(key) = at.filter(|key| *key != top) {
            path.push(key);
            at = mirror.parent(key);
        }
        path.reverse();
        Ok(path)
    }

    /// The offset between an app's coordinates and the screen's, for elements of this window.
    fn window_offset(&self, window: ElementKey, screen: Option<&Screen>) -> (i32, i32) {
        if !self.toolkit.has_window_coordinates_only() {
            return (0, 0);
        }
        let number = self.elements.window_number(window);
        let windows = screen.map_or(&[][..], |screen| &screen.windows);
        let window = windows.iter().find(|window| Some(window.info.window) == number);
        window.map_or((0, 0), |window| window.origin)
    }

    /// Where the X server has a window.
    fn screen_bounds(&self, window: ElementKey, screen: Option<&Screen>) -> Option<Bounds> {
        let number = self.elements.window_number(window)?;
        screen?.windows.iter().find(|window| window.info.window == number)?.info.bounds
    }

    /// The indices of the children of a very large container that are on the screen, as far as it reports them.
    pub async fn shown_children(
        &mut self,
        key: ElementKey,
        count: i32,
        table: bool,
    ) -> Result<Vec<i32>, Failure> {
        let start = || (0..VISIBLE_SAMPLE.min(count)).collect();
        let call = self.build_call(key, COMPONENT, "GetExtents", &(self.toolkit.coordinates(),));
        let answer = self.call_all(vec![call]).await?.pop();
        let Some(place) = answer.as_ref().and_then(body::<(i32, i32, i32, i32)>).and_then(bounds) else {
            return Ok(start());
        };
        let calls = sample_points(place).map(|(x, y)| {
            self.build_call(key, COMPONENT, "GetAccessibleAtPoint", &(x, y, self.toolkit.coordinates()))
        });
        let mut hit = Vec::new();
        for answer in self.call_all(calls.collect()).await? {
            if let Some(at) = body::<ObjectRef>(&answer).filter(ObjectRef::is_element) {
                hit.push(self.handles.key(&at));
            }
        }
        let mut calls: Vec<_> =
            hit.iter().map(|key| self.build_call(*key, ACCESSIBLE, "GetIndexInParent", &())).collect();
        calls.extend(table.then(|| self.build_get(key, TABLE, "NColumns")));
        let answers = self.call_all(calls).await?;
        let columns = answers.get(hit.len()).and_then(number_property).map_or(0, |columns| columns as i32);
        let found: Vec<i32> = answers
            .iter()
            .take(hit.len())
            .filter_map(body::<i32>)
            .filter(|at| (0..count).contains(at))
            .collect();
        let shown = match columns > VISIBLE_SAMPLE {
            true => cell_block(&found, columns),
            false => index_range(&found, count).map(Iterator::collect),
        };
        Ok(shown.unwrap_or_else(start))
    }
}

/// Points all over a place, its edges included.
fn sample_points(place: Bounds) -> impl Iterator<Item = (i32, i32)> {
    const COLUMNS: i32 = 4;
    const ROWS: i32 = 8;
    let inside = |from: i32, length: i32, at: i32, of: i32| from + 2 + (length - 5).max(0) * at / of;
    (0..=ROWS).flat_map(move |row| {
        let y = inside(place.y, place.height, row, ROWS);
        (0..=COLUMNS).map(move |column| (inside(place.x, place.width, column, COLUMNS), y))
    })
}

/// The range that the indices found span. A header may be found far from the rest: it is left out.
fn index_range(found: &[i32], count: i32) -> Option<Range<i32>> {
    let mut found = found.to_vec();
    found.sort_unstable();
    let middle = found.len() / 2;
    let apart = |pair: &[i32]| pair[1] - pair[0] > VISIBLE_SAMPLE;
    let first =
        found[..=middle.min(found.len().checked_sub(1)?)].windows(2).rposition(apart).map_or(0, |at| at + 1);
    let last = found[middle..].windows(2).position(apart).map_or(found.len() - 1, |at| middle + at);
    let (first, last) = (found[first], found[last]);
    // The last row may have cells to the right of what was hit.
    let margin = (VISIBLE_SAMPLE / 10).min(last - first + 1);
    Some((first - margin).max(0)..(last + 1 + margin).min(count).min(first + 4 * VISIBLE_SAMPLE))
}

/// The cells between the corners of what was found in a table that is wider than the screen: of a spreadsheet, a row is
/// thousands of cells long.
fn cell_block(found: &[i32], columns: i32) -> Option<Vec<i32>> {
    let span = |of: fn(i32, i32) -> i32| {
        let found = || found.iter().map(|index| of(*index, columns));
        Some((found().min()?, found().max()?))
    };
    let (top, bottom) = span(|index, columns| index / columns)?;
    let (left, right) = span(|index, columns| index % columns)?;
    let cells = (top..=bottom).flat_map(|row| (left..=right).map(move |column| row * columns + column));
    Some(cells.take(MAX_CELLS).collect())
}

/// The window an element is in.
pub(crate) fn window_of(key: ElementKey, mirror: &Mirror) -> Option<ElementKey> {
    let mut at = key;
    loop {
        match mirror.parent(at)? {
            ElementKey::APP => return Some(at),
            parent => at = parent,
        }
    }
}

/// Whether a window is drawn larger than its app says, in both directions alike: then the app scales by itself, and reports all its
/// places as they were without that. GTK 3, which scales by whole numbers, counts the window manager's frame as part of its window.
fn is_scaled(said: Bounds, drawn: Bounds) -> bool {
    const FACTORS: [f64; 7] = [1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0];
    const MAX_FRAME: f64 = 80.0;
    const LEAST_FACTOR: f64 = 1.2;
    let is = |said: i32, drawn: i32, factor: f64| {
        let expected = f64::from(said.max(1)) * factor;
        let frame = if factor.fract() == 0.0 { MAX_FRAME } else { 0.0 };
        let slack = expected * 0.02;
        // A small window that is drawn as it says must not pass for a scaled one with a frame.
        let least = (expected - slack.max(frame)).max(f64::from(said) * LEAST_FACTOR);
        (least..=expected + slack).contains(&f64::from(drawn))
    };
    FACTORS
        .into_iter()
        .any(|factor| is(said.width, drawn.width, factor) && is(said.height, drawn.height, factor))
}

fn offset_by(bounds: Bounds, (x, y): (i32, i32)) -> Bounds {
    Bounds { x: bounds.x + x, y: bounds.y + y, ..bounds }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_is_drawn_at_a_factor_is_told_from_one_with_borders_or_one_that_is_being_resized() {
        let sized = |width, height| Bounds { x: 10, y: 10, width, height };
        for (said, drawn, expected) in [
            ((400, 300), (800, 600), true),
            ((401, 301), (601, 452), true),
            ((640, 576), (1270, 1124), true),
            ((400, 300), (400, 300), false),
            ((60, 40), (60, 40), false),
            ((78, 78), (70, 50), false),
            ((400, 300), (452, 352), false),
            ((200, 120), (252, 172), false),
            ((400, 300), (800, 300), false),
            ((400, 300), (0, 0), false),
        ] {
            let found = is_scaled(sized(said.0, said.1), sized(drawn.0, drawn.1));
            assert_eq!(found, expected, "{said:?} {drawn:?}");
        }
    }

    #[test]
    fn what_has_no_size_is_nowhere() {
        assert_eq!(bounds((i32::MIN, i32::MIN, 10, 10)), None);
        assert_eq!(bounds((5, 5, 0, 10)), None);
        assert_eq!(bounds((-5, 5, 1, 1)), Some(Bounds { x: -5, y: 5, width: 1, height: 1 }));
    }

    #[test]
    fn the_shown_part_of_a_spreadsheet_is_a_square() {
        assert_eq!(
            cell_block(&[16_385, 3, 32_770], 16_384),
            Some(vec![1, 2, 3, 16_385, 16_386, 16_387, 32_769, 32_770, 32_771])
        );
        assert_eq!(cell_block(&[7], 16_384), Some(vec![7]));
        assert_eq!(cell_block(&[], 16_384), None);
        assert_eq!(cell_block(&[0, i32::MAX], 16_384).map(|cells| cells.len()), Some(MAX_CELLS));
    }

    #[test]
    fn the_shown_part_of_a_large_container_is_what_lies_between_its_corners() {
        assert_eq!(index_range(&[40, 60, 50], 5000), Some(20..81));
        assert_eq!(index_range(&[0, 1, 3000, 3010, 3020], 5000), Some(2980..3041));
        assert_eq!(index_range(&[4990, 4999], 5000), Some(4980..5000));
        assert_eq!(index_range(&[7], 5000), Some(6..9));
        assert_eq!(index_range(&[], 5000), None);
    }
}
