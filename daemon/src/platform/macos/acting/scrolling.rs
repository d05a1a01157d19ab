//! Bringing into view: by what the element offers, else by the scroll bars of what it is in.

use axd_protocol::{Bounds, Role};

use super::{Actor, not_done, not_offered};
use crate::platform::macos::element::Element;
use crate::platform::macos::fault::Fault;
use crate::platform::macos::ffi::names as n;
use crate::platform::macos::value::from_number;
use crate::platform::{Direction, ElementKey, Failure, FailureKind};

/// A step where there are no rows, in points.
const STEP: f64 = 40.0;

/// An area that scrolls, in one direction.
struct Track {
    bar: Element,
    /// The length of what is shown, and of all there is.
    shown: f64,
    all: f64,
}

impl Actor<'_> {
    /// Scrolls the element into view.
    pub(super) fn scroll_to(&self) -> Result<(), Failure> {
        let element = self.element.clone();
        self.bring_into_view(&element)
    }

    fn bring_into_view(&self, element: &Element) -> Result<(), Failure> {
        let actions = self.actions(element)?;
        if actions.iter().any(|action| action == n::AXScrollToVisible) {
            return self.perform(element, n::AXScrollToVisible);
        }
        let place = |element: &Element| self.ask(self.app.reader.lists.place(element));
        let nowhere = || not_offered("it has no position to scroll to");
        let area = self.area()?.ok_or_else(|| not_offered("none of its containers scrolls"))?;
        let (item, view) = (place(element)?.ok_or_else(nowhere)?, place(&area)?.ok_or_else(nowhere)?);
        if item.intersection(&view) == Some(item) {
            return Ok(());
        }
        let content = self.content_of(&area)?.ok_or_else(nowhere)?;
        let mut moved = false;
        for (attribute, item, view, content) in [
            (n::kAXVerticalScrollBarAttribute, vertical(item), vertical(view), vertical(content)),
            (n::kAXHorizontalScrollBarAttribute, horizontal(item), horizontal(view), horizontal(content)),
        ] {
            let Some(bar) = self.ask(area.element(attribute))? else { continue };
            if let Some(value) = value_to_show(item, view, content) {
                self.set(&bar, n::kAXValueAttribute, &from_number(value))?;
                moved = true;
            }
        }
        if !moved {
            return Err(not_offered("its container has no scroll bars"));
        }
        let lists = &self.app.reader.lists;
        let seen = self.until(|| {
            let (item, view) = (lists.place(element)?, lists.place(&area)?);
            Ok(item.zip(view).is_some_and(|(item, view)| item.intersection(&view).is_some()))
        })?;
        if seen { Ok(()) } else { Err(not_done("the app scrolled, but not to it")) }
    }

    /// Scrolls a container to one of its rows.
    pub(super) fn reveal(&mut self, row: u32) -> Result<(), Failure> {
        let wanted = usize::try_from(row).unwrap_or(usize::MAX);
        for attribute in [n::kAXRowsAttribute, n::kAXChildrenAttribute] {
            let Some(count) = self.ask(self.element.count(attribute))? else { continue };
            if wanted >= count {
                let text = format!("row index {row} is out of range; it has {count} rows");
                return Err(Failure::new(FailureKind::Invalid, text));
            }
            let found = self.ask(self.element.some(attribute, wanted, 1))?.pop();
            let Some(found) = found else { continue };
            return self.bring_into_view(&found);
        }
        Err(not_offered("it has no rows"))
    }

    /// Scrolls by steps: rows, where there are rows.
    pub(super) fn scroll(&self, direction: Direction, steps: u32) -> Result<(), Failure> {
        let (attribute, sign) = match direction {
            Direction::Up => (n::kAXVerticalScrollBarAttribute, -1.0),
            Direction::Down => (n::kAXVerticalScrollBarAttribute, 1.0),
            Direction::Left => (n::kAXHorizontalScrollBarAttribute, -1.0),
            Direction::Right => (n::kAXHorizontalScrollBarAttribute, 1.0),
        };
        let area = self.area()?.ok_or_else(|| not_offered("it does not scroll"))?;
        let upright = matches!(direction, Direction::Up | Direction::Down);
        let track = self.track(&area, attribute, upright)?;
        let track = track.ok_or_else(|| not_offered("it has no scroll bar for that"))?;
        let (rows, height) = if upright { self.rows()? } else { (0.0, None) };
        let step = height.unwrap_or(STEP);
        let now = self.ask(track.bar.number(n::kAXValueAttribute))?.unwrap_or_default();
        // Some say of all that is in the area only where they are seen; their rows say more.
        let range = track.all.max(rows * step) - track.shown;
        if range <= 0.0 {
            return Err(not_offered("according to the app, all of it is in view"));
        }
        let value = (now + sign * f64::from(steps) * step / range).clamp(0.0, 1.0);
        self.set(&track.bar, n::kAXValueAttribute, &from_number(value))
    }

    fn track(&self, area: &Element, attribute: &str, upright: bool) -> Result<Option<Track>, Failure> {
        let Some(bar) = self.ask(area.element(attribute))? else { return Ok(None) };
        if !self.can_set(&bar, n::kAXValueAttribute)? {
            return Ok(None);
        }
        let view = self.ask(self.app.reader.lists.place(area))?;
        let content = self.content_of(area)?;
        let along = |bounds: Bounds| if upright { vertical(bounds) } else { horizontal(bounds) };
        Ok(view.zip(content).map(|(view, content)| Track {
            bar,
            shown: along(view).1,
            all: along(content).1,
        }))
    }

    /// How many rows the container has, and how high one is.
    fn rows(&self) -> Result<(f64, Option<f64>), Failure> {
        if !matches!(self.subject.role, Role::Table | Role::Tree | Role::List | Role::Grid) {
            return Ok((0.0, None));
        }
        let count = self.ask(self.element.count(n::kAXRowsAttribute))?.unwrap_or_default();
        let is_row = |key: &&ElementKey| {
            let role = self.app.reader.role_of(**key);
            role.is_some_and(|role| matches!(role, Role::Row | Role::TreeItem | Role::ListItem))
        };
        let first = self.app.reader.children_of(self.key).iter().find(is_row);
        let Some(first) = first.and_then(|first| self.app.reader.handles.get(*first)) else {
            return Ok((count as f64, None));
        };
        let place = self.ask(self.app.reader.lists.place(first))?;
        let height = place.map(|place| f64::from(place.height)).filter(|height| *height > 0.0);
        Ok((count as f64, height))
    }

    /// The area that scrolls the element: itself, or the nearest that it is in.
    fn area(&self) -> Result<Option<Element>, Failure> {
        if self.subject.native == "AXScrollArea" {
            return Ok(Some(self.element.clone()));
        }
        for above in self.above()? {
            if self.ask(above.text(n::kAXRoleAttribute))?.as_deref() == Some("AXScrollArea") {
                return Ok(Some(above));
            }
        }
        Ok(None)
    }

    /// Where all that an area scrolls lies: it reaches beyond the area.
    fn content_of(&self, area: &Element) -> Result<Option<Bounds>, Failure> {
        let contents = match area.elements(n::kAXContentsAttribute) {
            Ok(contents) if !contents.is_empty() => contents,
            Err(fault @ (Fault::BUSY | Fault::GONE)) => return Err(fault.asking()),
            _ => self.ask(area.elements(n::kAXChildrenAttribute))?,
        };
        for content in &contents {
            let role = self.ask(content.text(n::kAXRoleAttribute))?;
            if role.as_deref() != Some("AXScrollBar")
                && let Some(bounds) = self.ask(self.app.reader.lists.place(content))?
            {
                return Ok(Some(bounds));
            }
        }
        Ok(None)
    }
}

fn vertical(bounds: Bounds) -> (f64, f64) {
    (f64::from(bounds.y), f64::from(bounds.height))
}

fn horizontal(bounds: Bounds) -> (f64, f64) {
    (f64::from(bounds.x), f64::from(bounds.width))
}

/// What a scroll bar is to be set to (0 to 1) so that an item is in the middle of the view, if it is not in it. Each is
/// where it begins and how long it is.
fn value_to_show(item: (f64, f64), view: (f64, f64), content: (f64, f64)) -> Option<f64> {
    let range = content.1 - view.1;
    let inside = item.0 >= view.0 && item.0 + item.1 <= view.0 + view.1;
    if inside || range <= 0.0 {
        return None;
    }
    let from_start = item.0 - content.0;
    Some(((from_start - (view.1 - item.1) / 2.0) / range).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scroll_bar_is_set_so_that_the_item_is_in_the_middle() {
        // 1000 points of content, 100 of them shown, at the top; an item of 20.
        let (view, content) = ((0.0, 100.0), (0.0, 1000.0));
        assert_eq!(value_to_show((50.0, 20.0), view, content), None, "it is in view");
        assert_eq!(value_to_show((490.0, 20.0), view, content), Some(0.5));
        assert_eq!(value_to_show((980.0, 20.0), view, content), Some(1.0));
        // The same, scrolled to the end.
        assert_eq!(value_to_show((-900.0, 20.0), view, (-900.0, 1000.0)), Some(0.0));
        assert_eq!(value_to_show((200.0, 20.0), view, (0.0, 90.0)), None, "nothing to scroll");
    }
}
