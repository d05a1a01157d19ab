//! The rows of views that show only some of them: which number each has, those that somebody looks for, and those that are
//! kept because somebody found them.
//!
//! A view that is a table has its rows by number, and each is as many cells as it has columns; in any other view a row is a child.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::atspi::protocol::{ACCESSIBLE, ObjectRef, TABLE, body, number_property};
use crate::read::details::Details;
use crate::read::outline::Outline;
use crate::read::reader::Reader;
use axd_platform::{ElementKey, Failure, FailureKind};

/// A table with more columns than this is a sheet: nobody looks through all of it.
const MAX_COLUMNS: u32 = 200;
/// How many found rows of one view are kept beside those on the screen.
const MAX_KEPT_ROWS: usize = 256;

/// The size of a view of which only some rows are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ViewSize {
    rows: u32,
    /// `None`: its rows are its children.
    columns: Option<u32>,
}

impl ViewSize {
    /// The size of a view whose rows are its children.
    pub fn of_children(count: u32) -> ViewSize {
        ViewSize { rows: count, columns: None }
    }
}

impl Reader {
    /// The children on the screen of a view that has too many, and those of the rows that are kept.
    pub(crate) async fn read_visible_rows(
        &mut self,
        outline: &Outline,
        detail: &mut Details,
    ) -> Result<(), Failure> {
        let Outline { key, child_count, interfaces, .. } = outline;
        let extent = self.read_size(*key, *child_count, interfaces.table).await?;
        let shown = self.shown_children(*key, *child_count, interfaces.table).await?;
        let mut calls = Vec::with_capacity(2 * shown.len());
        calls.extend(shown.iter().map(|at| self.build_call(*key, ACCESSIBLE, "GetChildAtIndex", &(*at,))));
        if extent.columns.is_some() {
            calls.extend(shown.iter().map(|at| self.build_call(*key, TABLE, "GetRowAtIndex", &(*at,))));
        }
        let answers = self.call_all(calls).await?;
        let before: HashMap<(Option<u32>, usize), ElementKey> = self.previous_places(*key);
        let mut found: Vec<(Option<u32>, ObjectRef)> = Vec::with_capacity(shown.len());
        for (at, index) in shown.iter().enumerate() {
            let Some(child) = answers.get(at).and_then(body::<ObjectRef>).filter(ObjectRef::is_element)
            else {
                continue;
            };
            let row = match extent.columns {
                // A header is in no row.
                Some(_) => answers.get(shown.len() + at).and_then(body::<i32>),
                None => Some(*index),
            };
            found.push((row.and_then(|row| u32::try_from(row).ok()), child));
        }
        let on_screen: HashSet<u32> = found.iter().filter_map(|(row, _)| *row).collect();
        let mut kept = self.elements.kept_rows(*key).to_vec();
        kept.retain(|row| !on_screen.contains(row) && *row < extent.rows);
        found.extend(self.read_cells(*key, extent, kept).await?);
        // Rows that are kept lie among those on the screen as they do in the view.
        found.sort_by_key(|(row, _)| *row);
        let mut column = (None, 0);
        for (row, child) in found {
            column = (row, if column.0 == row { column.1 + 1 } else { 0 });
            let key = self.key_in_place_of(before.get(&column).copied(), &child);
            self.elements.set_row(key, row);
            detail.children.push(key);
        }
        self.elements.set_view_size(*key, extent);
        detail.total = Some(extent.rows);
        Ok(())
    }

    /// What is in these rows of a view that shows only some of them.
    pub async fn read_rows(&mut self, key: ElementKey, rows: Range<u32>) -> Result<Vec<ElementKey>, Failure> {
        let Some(extent) = self.elements.view_size(key) else {
            return Err(Failure::new(FailureKind::Gone, "it no longer shows only some of its rows"));
        };
        if extent.columns.is_some_and(|columns| columns > MAX_COLUMNS) {
            let why = format!("it has more than {MAX_COLUMNS} columns; spreadsheets are not searched");
            return Err(Failure::new(FailureKind::NotSupported, why));
        }
        let wanted = (rows.start..rows.end.min(extent.rows)).collect();
        let cells = self.read_cells(key, extent, wanted).await?;
        let mut keys = Vec::with_capacity(cells.len());
        for (row, cell) in cells {
            let key = self.handles.key(&cell);
            self.elements.set_row(key, row);
            keys.push(key);
        }
        Ok(keys)
    }

    /// Has these rows of a view listed with those on the screen from now on, and no others.
    pub fn keep_rows(&mut self, key: ElementKey, mut rows: Vec<u32>) {
        rows.truncate(MAX_KEPT_ROWS);
        self.elements.set_kept_rows(key, rows);
    }

    /// Reads the elements of rows, one call each.
    async fn read_cells(
        &self,
        key: ElementKey,
        extent: ViewSize,
        rows: Vec<u32>,
    ) -> Result<Vec<(Option<u32>, ObjectRef)>, Failure> {
        let columns = extent.columns.map(|columns| columns.min(MAX_COLUMNS));
        let places: Vec<(u32, u32)> =
            rows.iter().flat_map(|row| (0..columns.unwrap_or(1)).map(|column| (*row, column))).collect();
        let number = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        let calls = places.iter().map(|(row, column)| match columns {
            Some(_) => self.build_call(key, TABLE, "GetAccessibleAt", &(number(*row), number(*column))),
            None => self.build_call(key, ACCESSIBLE, "GetChildAtIndex", &(number(*row),)),
        });
        let answers = self.call_all(calls.collect()).await?;
        let cells = places.iter().zip(&answers).filter_map(|((row, _), answer)| {
            body::<ObjectRef>(answer).filter(ObjectRef::is_element).map(|cell| (Some(*row), cell))
        });
        Ok(cells.collect())
    }

    async fn read_size(&self, key: ElementKey, child_count: i32, table: bool) -> Result<ViewSize, Failure> {
        let whole = ViewSize::of_children(child_count.unsigned_abs());
        if !table {
            return Ok(whole);
        }
        let calls = ["NRows", "NColumns"].map(|property| self.build_get(key, TABLE, property));
        let answers = self.call_all(calls.into()).await?;
        let [rows, columns] =
            [0, 1].map(|at| answers.get(at).and_then(number_property).filter(|number| *number >= 1.0));
        Ok(match (rows, columns) {
            (Some(rows), Some(columns)) => ViewSize { rows: rows as u32, columns: Some(columns as u32) },
            _ => whole,
        })
    }

    /// What was listed of a view last, by row and place in the row.
    fn previous_places(&mut self, key: ElementKey) -> HashMap<(Option<u32>, usize), ElementKey> {
        let mut column = (None, 0);
        let mut places = HashMap::new();
        for child in self.elements.take_partial(key).unwrap_or_default() {
            let row = self.elements.row(child);
            column = (row, if column.0 == row { column.1 + 1 } else { 0 });
            places.insert(column, child);
        }
        places
    }
}
