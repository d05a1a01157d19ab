//! Scrolling elements into view.

use axd_protocol::Role;

use crate::action::{Actor, Subject, not_offered};
use crate::atspi::dbus::{call, get, set};
use crate::atspi::protocol::{ACCESSIBLE, COMPONENT, Ref, TABLE, VALUE, body, number, reference};
use crate::atspi::states::Native;
use crate::read::handles::Handle;
use axd_platform::{Failure, FailureKind};

/// Wherever in the view, as long as it is there.
const ANYWHERE: u32 = 6;

impl Actor {
    /// Scrolls an element into view. An app that says that it did not has not moved anything.
    pub(crate) async fn scroll_to(&self, at: &Handle, subject: &Subject) -> Result<(), Failure> {
        if !subject.interfaces.component {
            return Err(not_offered("it has no place"));
        }
        match self.tell_whether(call(&at.bus, &at.path, COMPONENT, "ScrollTo", &(ANYWHERE,))).await {
            Ok(true) => Ok(()),
            Ok(false) => self.scroll_by_bar(at).await,
            Err(failure) if failure.kind == FailureKind::NotSupported => self.scroll_by_bar(at).await,
            Err(failure) => Err(failure),
        }
    }

    /// Scrolls to a cell of a table by the scroll bar beside the table: as far down as its row is among all rows, which shows it if
    /// all are of the same height.
    async fn scroll_by_bar(&self, cell: &Handle) -> Result<(), Failure> {
        let refused = || not_offered("the app does not scroll it into view");
        let parent = |of: Option<Ref>| of.filter(Ref::is_some).map(|at| handle(&at)).ok_or_else(refused);
        let above = |of: &Handle| get(&of.bus, &of.path, ACCESSIBLE, "Parent");
        let table = parent(reference(&self.ask_one(above(cell)).await?))?;
        let pane = parent(reference(&self.ask_one(above(&table)).await?))?;
        let asked = [
            call(&cell.bus, &cell.path, ACCESSIBLE, "GetIndexInParent", &()),
            get(&table.bus, &table.path, TABLE, "NRows"),
            call(&pane.bus, &pane.path, ACCESSIBLE, "GetChildren", &()),
        ];
        let answers = self.ask(asked.into()).await?;
        let [index, rows, beside] = &answers[..] else { return Err(refused()) };
        let index = body::<i32>(index).filter(|index| *index >= 0).ok_or_else(refused)?;
        let rows = number(rows).filter(|rows| *rows > 1.0).ok_or_else(refused)?;
        let row = self.ask_one(call(&table.bus, &table.path, TABLE, "GetRowAtIndex", &(index,))).await?;
        let row = body::<i32>(&row).filter(|row| *row >= 0).ok_or_else(refused)?;
        for beside in body::<Vec<Ref>>(beside).unwrap_or_default().iter().filter(|at| at.is_some()) {
            let bar = handle(beside);
            let is_bar = self
                .look(&bar)
                .await?
                .filter(|subject| subject.role == Role::ScrollBar && subject.natives.has(Native::Vertical));
            if is_bar.is_none() {
                continue;
            }
            let ends = ["MinimumValue", "MaximumValue"].map(|end| get(&bar.bus, &bar.path, VALUE, end));
            let ends: Vec<f64> = self.ask(ends.into()).await?.iter().filter_map(number).collect();
            let [least, most] = ends[..] else { return Err(refused()) };
            let place = least + (most - least) * f64::from(row) / (rows - 1.0);
            self.tell(set(&bar.bus, &bar.path, VALUE, "CurrentValue", place)).await?;
            return Ok(());
        }
        Err(refused())
    }

    /// Scrolls a table to a row.
    pub(crate) async fn reveal(&self, subject: &Subject, row: u32) -> Result<(), Failure> {
        if !subject.interfaces.table {
            return Err(not_offered("it is not a table that tells its rows"));
        }
        let rows = self.ask_one(get(&self.at.bus, &self.at.path, TABLE, "NRows")).await?;
        let row = i32::try_from(row).unwrap_or(i32::MAX);
        if number(&rows).is_some_and(|rows| f64::from(row) >= rows) {
            return Err(Failure::new(FailureKind::Invalid, format!("there is no row {row}")));
        }
        let cell = call(&self.at.bus, &self.at.path, TABLE, "GetAccessibleAt", &(row, 0));
        let Some(cell) = body::<Ref>(&self.ask_one(cell).await?).filter(Ref::is_some) else {
            return Err(not_offered("the app does not tell its rows"));
        };
        let cell = handle(&cell);
        match self.look(&cell).await? {
            Some(subject) => self.scroll_to(&cell, &subject).await,
            None => Err(not_offered("the app does not tell its rows")),
        }
    }
}

fn handle(at: &Ref) -> Handle {
    Handle { bus: at.bus.as_str().into(), path: at.path.as_str().into() }
}
