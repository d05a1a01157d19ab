//! The rows of views that show only some of them: which number each has, those that somebody looks for, and those that are
//! kept because somebody found them.
//!
//! A view that is a table tells its rows by number, and each is as many cells as it has columns; in any other view a row is a child.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::atspi::protocol::{ACCESSIBLE, Ref, TABLE, body, number};
use crate::read::details::Details;
use crate::read::outline::Outline;
use crate::read::reader::Reader;
use axd_platform::{ElementKey, Failure, FailureKind};

/// A table with more columns than this is a sheet: nobody looks through all of it.
const MOST_COLUMNS: u32 = 200;
/// How many rows of one view are kept beside those on the screen.
const MOST_KEPT: usize = 256;

/// What is known of a view that shows only some of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    rows: u32,
    /// `None`: its rows are its children.
    columns: Option<u32>,
}

impl Reader {
    /// The children on the screen of a view that has too many, and those of the rows that are kept.
    pub(crate) async fn some_children(
        &mut self,
        outline: &Outline,
        detail: &mut Details,
    ) -> Result<(), Failure> {
        let Outline { key, child_count, interfaces, .. } = outline;
        let extent = self.extent(*key, *child_count, interfaces.table).await?;
        let shown = self.shown_children(*key, *child_count, interfaces.table).await?;
        let mut calls = Vec::with_capacity(2 * shown.len());
        calls.extend(shown.iter().map(|at| self.call(*key, ACCESSIBLE, "GetChildAtIndex", &(*at,))));
        if extent.columns.is_some() {
            calls.extend(shown.iter().map(|at| self.call(*key, TABLE, "GetRowAtIndex", &(*at,))));
        }
        let answers = self.ask_all(calls).await?;
        let before: HashMap<(Option<u32>, usize), ElementKey> = self.places(*key);
        let mut found: Vec<(Option<u32>, Ref)> = Vec::with_capacity(shown.len());
        for (at, index) in shown.iter().enumerate() {
            let Some(child) = answers.get(at).and_then(body::<Ref>).filter(Ref::is_some) else { continue };
            let row = match extent.columns {
                // A header is in no row.
                Some(_) => answers.get(shown.len() + at).and_then(body::<i32>),
                None => Some(*index),
            };
            found.push((row.and_then(|row| u32::try_from(row).ok()), child));
        }
        let on_screen: HashSet<u32> = found.iter().filter_map(|(row, _)| *row).collect();
        let mut kept = self.kept.get(key).cloned().unwrap_or_default();
        kept.retain(|row| !on_screen.contains(row) && *row < extent.rows);
        found.extend(self.cells(*key, extent, kept).await?);
        // Rows that are kept lie among those on the screen as they do in the view.
        found.sort_by_key(|(row, _)| *row);
        let mut column = (None, 0);
        for (row, child) in found {
            column = (row, if column.0 == row { column.1 + 1 } else { 0 });
            let key = self.in_place_of(before.get(&column).copied(), &child);
            match row {
                Some(row) => self.rows.insert(key, row),
                None => self.rows.remove(&key),
            };
            detail.children.push(key);
        }
        self.extents.insert(*key, extent);
        detail.total = Some(extent.rows);
        Ok(())
    }

    /// What is in these rows of a view that shows only some of them.
    pub async fn look_at_rows(
        &mut self,
        key: ElementKey,
        rows: Range<u32>,
    ) -> Result<Vec<ElementKey>, Failure> {
        let Some(extent) = self.extents.get(&key).copied() else {
            return Err(Failure::new(FailureKind::Gone, "it no longer shows only some of its rows"));
        };
        if extent.columns.is_some_and(|columns| columns > MOST_COLUMNS) {
            let why = format!("it has more than {MOST_COLUMNS} columns: a sheet is not looked through");
            return Err(Failure::new(FailureKind::NotSupported, why));
        }
        let wanted = (rows.start..rows.end.min(extent.rows)).collect();
        let cells = self.cells(key, extent, wanted).await?;
        let mut keys = Vec::with_capacity(cells.len());
        for (row, cell) in cells {
            let key = self.handles.key(&cell);
            self.rows.extend(row.map(|row| (key, row)));
            keys.push(key);
        }
        Ok(keys)
    }

    /// Has these rows of a view listed with those on the screen from now on, and no others.
    pub fn keep_rows(&mut self, key: ElementKey, mut rows: Vec<u32>) {
        rows.truncate(MOST_KEPT);
        match rows.is_empty() {
            true => self.kept.remove(&key),
            false => self.kept.insert(key, rows),
        };
    }

    /// The elements of rows, by asking for each.
    async fn cells(
        &self,
        key: ElementKey,
        extent: Extent,
        rows: Vec<u32>,
    ) -> Result<Vec<(Option<u32>, Ref)>, Failure> {
        let columns = extent.columns.map(|columns| columns.min(MOST_COLUMNS));
        let places: Vec<(u32, u32)> =
            rows.iter().flat_map(|row| (0..columns.unwrap_or(1)).map(|column| (*row, column))).collect();
        let number = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        let calls = places.iter().map(|(row, column)| match columns {
            Some(_) => self.call(key, TABLE, "GetAccessibleAt", &(number(*row), number(*column))),
            None => self.call(key, ACCESSIBLE, "GetChildAtIndex", &(number(*row),)),
        });
        let answers = self.ask_all(calls.collect()).await?;
        let cells = places.iter().zip(&answers).filter_map(|((row, _), answer)| {
            body::<Ref>(answer).filter(Ref::is_some).map(|cell| (Some(*row), cell))
        });
        Ok(cells.collect())
    }

    async fn extent(&self, key: ElementKey, child_count: i32, table: bool) -> Result<Extent, Failure> {
        let whole = Extent { rows: child_count.unsigned_abs(), columns: None };
        if !table {
            return Ok(whole);
        }
        let calls = ["NRows", "NColumns"].map(|property| self.get(key, TABLE, property));
        let answers = self.ask_all(calls.into()).await?;
        let [rows, columns] =
            [0, 1].map(|at| answers.get(at).and_then(number).filter(|number| *number >= 1.0));
        Ok(match (rows, columns) {
            (Some(rows), Some(columns)) => Extent { rows: rows as u32, columns: Some(columns as u32) },
            _ => whole,
        })
    }

    /// What was listed of a view last, by row and place in the row.
    fn places(&mut self, key: ElementKey) -> HashMap<(Option<u32>, usize), ElementKey> {
        let mut column = (None, 0);
        let mut places = HashMap::new();
        for child in self.partial.remove(&key).unwrap_or_default() {
            let row = self.rows.get(&child).copied();
            column = (row, if column.0 == row { column.1 + 1 } else { 0 });
            places.insert(column, child);
        }
        places
    }
}
