//! Scrolling: by the element's own action, or else by the scroll bars of the area that contains it.

use axd_protocol::{Bounds, Role};

use super::{ActionContext, may_be_read_back};
use crate::ax::element::Element;
use crate::ax::error::AxError;
use crate::ax::value::from_number;
use crate::ffi::names as n;
use axd_platform::{Direction, ElementKey, Failure, FailureKind};

/// The length of one scroll step where there are no rows.
const SCROLL_STEP_POINTS: f64 = 40.0;

/// A scroll area, in one direction.
struct ScrollTrack {
    bar: Element,
    /// The length of the visible part, and of the whole content.
    shown: f64,
    all: f64,
}

impl ActionContext<'_> {
    /// Scrolls the element into view.
    pub(super) fn scroll_to(&self) -> Result<(), Failure> {
        let element = self.element.clone();
        self.scroll_into_view(&element)
    }

    fn scroll_into_view(&self, element: &Element) -> Result<(), Failure> {
        let actions = self.actions(element)?;
        if actions.iter().any(|action| action == n::AXScrollToVisible) {
            return self.perform(element, n::AXScrollToVisible);
        }
        let place = |element: &Element| self.read(self.app.reader.attributes.read_bounds(element));
        let nowhere = || Failure::unsupported("it has no position to scroll to");
        let area =
            self.scroll_area()?.ok_or_else(|| Failure::unsupported("none of its containers scrolls"))?;
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
            let Some(bar) = self.read(area.element(attribute))? else { continue };
            if let Some(value) = value_to_show(item, view, content) {
                match self.set(&bar, n::kAXValueAttribute, &from_number(value)) {
                    Err(failure) if !may_be_read_back(&failure) => return Err(failure),
                    _ => moved = true,
                }
            }
        }
        if !moved {
            return Err(Failure::unsupported("its container has no scroll bars"));
        }
        let attributes = &self.app.reader.attributes;
        let seen = self.wait_until(|| {
            let (item, view) = (attributes.read_bounds(element)?, attributes.read_bounds(&area)?);
            Ok(item.zip(view).is_some_and(|(item, view)| item.intersection(&view).is_some()))
        })?;
        if seen { Ok(()) } else { Err(Failure::not_effective("the app scrolled, but not to it")) }
    }

    /// Scrolls a container to one of its rows.
    pub(super) fn reveal(&mut self, row: u32) -> Result<(), Failure> {
        let wanted = usize::try_from(row).unwrap_or(usize::MAX);
        for attribute in [n::kAXRowsAttribute, n::kAXChildrenAttribute] {
            let Some(count) = self.read(self.element.count(attribute))? else { continue };
            if wanted >= count {
                let text = format!("row index {row} is out of range; it has {count} rows");
                return Err(Failure::new(FailureKind::Invalid, text));
            }
            let found = self.read(self.element.elements_from(attribute, wanted, 1))?.pop();
            let Some(found) = found else { continue };
            return self.scroll_into_view(&found);
        }
        Err(Failure::unsupported("it has no rows"))
    }

    /// Scrolls by steps, which are rows where there are rows.
    pub(super) fn scroll(&self, direction: Direction, steps: u32) -> Result<(), Failure> {
        let (attribute, sign) = match direction {
            Direction::Up => (n::kAXVerticalScrollBarAttribute, -1.0),
            Direction::Down => (n::kAXVerticalScrollBarAttribute, 1.0),
            Direction::Left => (n::kAXHorizontalScrollBarAttribute, -1.0),
            Direction::Right => (n::kAXHorizontalScrollBarAttribute, 1.0),
        };
        let area = self.scroll_area()?.ok_or_else(|| Failure::unsupported("it does not scroll"))?;
        let upright = matches!(direction, Direction::Up | Direction::Down);
        let track = self.track(&area, attribute, upright)?;
        let track = track.ok_or_else(|| Failure::unsupported("it has no scroll bar for that"))?;
        let (rows, height) = if upright { self.rows()? } else { (0.0, None) };
        let step = height.unwrap_or(SCROLL_STEP_POINTS);
        let now = self.read(track.bar.number(n::kAXValueAttribute))?.unwrap_or_default();
        // Some areas report only the visible part as their content; then the number of rows says more.
        let range = track.all.max(rows * step) - track.shown;
        if range <= 0.0 {
            return Err(Failure::unsupported("according to the app, all of it is in view"));
        }
        let value = (now + sign * f64::from(steps) * step / range).clamp(0.0, 1.0);
        match self.set(&track.bar, n::kAXValueAttribute, &from_number(value)) {
            Err(failure) if may_be_read_back(&failure) => {
                let has_moved = || Ok(track.bar.number(n::kAXValueAttribute)?.unwrap_or_default() != now);
                if self.wait_until(has_moved)? { Ok(()) } else { Err(failure) }
            }
            answer => answer,
        }
    }

    fn track(&self, area: &Element, attribute: &str, upright: bool) -> Result<Option<ScrollTrack>, Failure> {
        let Some(bar) = self.read(area.element(attribute))? else { return Ok(None) };
        if !self.can_set(&bar, n::kAXValueAttribute)? {
            return Ok(None);
        }
        let view = self.read(self.app.reader.attributes.read_bounds(area))?;
        let content = self.content_of(area)?;
        let along = |bounds: Bounds| if upright { vertical(bounds) } else { horizontal(bounds) };
        Ok(view.zip(content).map(|(view, content)| ScrollTrack {
            bar,
            shown: along(view).1,
            all: along(content).1,
        }))
    }

    /// The number of rows, and the height of one.
    fn rows(&self) -> Result<(f64, Option<f64>), Failure> {
        if !matches!(self.target.role, Role::Table | Role::Tree | Role::List | Role::Grid) {
            return Ok((0.0, None));
        }
        let count = self.read(self.element.count(n::kAXRowsAttribute))?.unwrap_or_default();
        let is_row = |key: &&ElementKey| {
            let role = self.app.reader.role_of(**key);
            role.is_some_and(|role| matches!(role, Role::Row | Role::TreeItem | Role::ListItem))
        };
        let first = self.app.reader.children_of(self.key).iter().find(is_row);
        let Some(first) = first.and_then(|first| self.app.reader.handles.get(*first)) else {
            return Ok((count as f64, None));
        };
        let place = self.read(self.app.reader.attributes.read_bounds(first))?;
        let height = place.map(|place| f64::from(place.height)).filter(|height| *height > 0.0);
        Ok((count as f64, height))
    }

    /// The scroll area of the element: itself, or the nearest ancestor that is one.
    fn scroll_area(&self) -> Result<Option<Element>, Failure> {
        if self.target.native == "AXScrollArea" {
            return Ok(Some(self.element.clone()));
        }
        for above in self.ancestors()? {
            if self.read(above.text(n::kAXRoleAttribute))?.as_deref() == Some("AXScrollArea") {
                return Ok(Some(above));
            }
        }
        Ok(None)
    }

    /// The bounds of a scroll area's content, which extends beyond the area.
    fn content_of(&self, area: &Element) -> Result<Option<Bounds>, Failure> {
        let contents = match area.elements(n::kAXContentsAttribute) {
            Ok(contents) if !contents.is_empty() => contents,
            Err(error @ (AxError::BUSY | AxError::GONE)) => return Err(error.read_failure()),
            _ => self.read(area.elements(n::kAXChildrenAttribute))?,
        };
        for content in &contents {
            let role = self.read(content.text(n::kAXRoleAttribute))?;
            if role.as_deref() != Some("AXScrollBar")
                && let Some(bounds) = self.read(self.app.reader.attributes.read_bounds(content))?
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

/// The scroll bar value (0 to 1) that puts an item into the middle of the view; `None` if it is in view. Each argument is
/// a start and a length.
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
        // Now the content is scrolled to the end.
        assert_eq!(value_to_show((-900.0, 20.0), view, (-900.0, 1000.0)), Some(0.0));
        assert_eq!(value_to_show((200.0, 20.0), view, (0.0, 90.0)), None, "nothing to scroll");
    }
}
