//! Where elements are.

use axd_protocol::{Bounds, Point};
use axd_sim::model::SCREEN;

use super::roles::has_rows;
use super::tree::{Id, Part, View};

/// How high a row of a table is that makes its rows as they come into view, and how wide a scroll bar.
const LINE: i32 = 20;
const BAR: i32 = 12;

/// Where AppKit says that items of a closed menu are.
pub(super) const OFF_SCREEN: Bounds = Bounds { x: 0, y: SCREEN.height, width: 0, height: 0 };

impl View<'_> {
    /// Where an element is; `None` if it is not on the screen at all.
    pub(crate) fn place(&mut self, id: Id) -> Option<Bounds> {
        let handle = id.widget();
        let own = |view: &mut Self| view.model.place(handle).and_then(|place| place.bounds);
        match id.part {
            Part::Itself if self.model.windows().contains(&handle) => self.model.window_bounds(handle),
            Part::Itself if self.model.widget(handle).is_some_and(|widget| has_rows(widget.role)) => {
                let area = own(self)?;
                Some(self.content(id, area))
            }
            Part::Itself | Part::ScrollArea | Part::Cell => own(self),
            Part::Text => own(self).map(inset),
            Part::Menu => {
                let items = self.children(id);
                let places: Vec<Bounds> = items.into_iter().filter_map(|item| self.place(item)).collect();
                around(&places)
            }
            Part::Row(row) => self.place_of_row(id, row),
            Part::RowCell(row, cell) => {
                let realised = self.realised(handle, row);
                let cells = realised.and_then(|row| self.model.widget(row)).map(|row| row.children.clone());
                match cells.and_then(|cells| cells.get(cell as usize).copied()) {
                    Some(cell) => self.model.place(cell).and_then(|place| place.bounds),
                    None => self.place_of_row(id, row),
                }
            }
            Part::RowText(row, cell) => self.place(id.part(Part::RowCell(row, cell))).map(inset),
            Part::ScrollBar => {
                own(self).map(|area| Bounds { x: area.x + area.width - BAR, width: BAR, ..area })
            }
            Part::CloseButton => self.button(id, 0),
            Part::ZoomButton => self.button(id, 1),
            Part::MinimizeButton => self.button(id, 2),
        }
    }

    /// Where all of a table would be if its scroll area did not cut it off: as large as its rows, and moved up as far as
    /// it is scrolled.
    fn content(&mut self, id: Id, area: Bounds) -> Bounds {
        let Some(widget) = self.model.widget(id.widget()) else { return area };
        let (y, height) = match (widget.total(), widget.rows_in_view()) {
            (Some(total), Some(view)) => {
                let lines = |rows: u32| i32::try_from(rows).unwrap_or(i32::MAX).saturating_mul(LINE);
                (area.y.saturating_sub(lines(view.start)), lines(total))
            }
            _ => {
                let rows = self.rows(id);
                let ends = [rows.first().copied(), rows.last().copied()].map(|row| self.place(row?));
                let [Some(first), Some(last)] = ends else { return area };
                (first.y, last.y + last.height - first.y)
            }
        };
        Bounds { y, height: height.max(area.height), ..area }
    }

    /// The first row in view when a table is scrolled to its end.
    pub(crate) fn last_top(&mut self, id: Id) -> usize {
        let area = self.model.place(id.widget()).and_then(|place| place.bounds);
        let Some(widget) = self.model.widget(id.widget()) else { return 0 };
        match (widget.total(), widget.rows_in_view(), area) {
            (Some(total), Some(view), _) => total.saturating_sub(view.end - view.start) as usize,
            (_, _, Some(area)) => {
                let fitting = usize::try_from(area.height / LINE).unwrap_or(0);
                widget.children.len().saturating_sub(fitting)
            }
            _ => 0,
        }
    }

    fn place_of_row(&mut self, id: Id, row: u32) -> Option<Bounds> {
        if let Some(realised) = self.realised(id.widget(), row) {
            return self.model.place(realised).and_then(|place| place.bounds);
        }
        // Above or below what is in view.
        let area = self.model.place(id.widget()).and_then(|place| place.bounds)?;
        let top = self.model.widget(id.widget())?.rows_in_view()?.start;
        let down = (i64::from(row) - i64::from(top)) * i64::from(LINE);
        let y = i32::try_from(i64::from(area.y) + down).unwrap_or(i32::MAX);
        Some(Bounds { y, height: LINE, ..area })
    }

    fn button(&mut self, id: Id, place: i32) -> Option<Bounds> {
        let window = self.model.window_bounds(id.widget())?;
        Some(Bounds { x: window.x + 8 + place * 20, y: window.y + 7, width: 14, height: 14 })
    }

    /// The innermost element at a point.
    pub(crate) fn at(&mut self, point: Point) -> Option<Id> {
        let deepest = self.model.hit_test(point)?.last().copied()?;
        let mut id = self.id_of(deepest);
        // The parts that scripts do not have lie inside.
        loop {
            let is_part = |child: &Id| child.part != Part::Itself && !matches!(child.part, Part::Row(_));
            let parts: Vec<Id> = self.children(id).into_iter().filter(is_part).collect();
            let is_there = |child: &Id| self.place(*child).is_some_and(|place| place.contains(point));
            match parts.into_iter().find(is_there) {
                Some(inner) => id = inner,
                None => return Some(id),
            }
        }
    }
}

fn inset(bounds: Bounds) -> Bounds {
    Bounds { x: bounds.x + 2, width: (bounds.width - 4).max(1), ..bounds }
}

fn around(places: &[Bounds]) -> Option<Bounds> {
    let left = places.iter().map(|place| place.x).min()?;
    let top = places.iter().map(|place| place.y).min()?;
    let right = places.iter().map(|place| place.x + place.width).max()?;
    let bottom = places.iter().map(|place| place.y + place.height).max()?;
    Some(Bounds { x: left, y: top, width: right - left, height: bottom - top })
}
