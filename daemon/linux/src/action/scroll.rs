//! Scrolling elements into view.

use axd_protocol::Role;

use crate::action::{Actor, Target};
use crate::atspi::dbus::{call, get, set};
use crate::atspi::protocol::{
    ACCESSIBLE, COMPONENT, ObjectRef, TABLE, VALUE, body, number_property, ref_property,
};
use crate::atspi::states::NativeState;
use crate::read::handles::Handle;
use axd_platform::{Failure, FailureKind};

/// Wherever in the view, as long as it is there.
const SCROLL_ANYWHERE: u32 = 6;

impl Actor {
    /// Scrolls an element into view. An app that says that it did not has not moved anything.
    pub(crate) async fn scroll_to(&self, at: &Handle, target: &Target) -> Result<(), Failure> {
        if !target.interfaces.component {
            return Err(Failure::unsupported("it has no position"));
        }
        match self.send_and_confirm(call(&at.bus, &at.path, COMPONENT, "ScrollTo", &(SCROLL_ANYWHERE,))).await
        {
            Ok(true) => Ok(()),
            Ok(false) => self.scroll_by_bar(at).await,
            Err(failure) if failure.kind == FailureKind::NotSupported => self.scroll_by_bar(at).await,
            Err(failure) => Err(failure),
        }
    }

    /// Scrolls to a cell of a table by the scroll bar beside the table: as far down as its row is among all rows, which shows it if
    /// all are of the same height.
    async fn scroll_by_bar(&self, cell: &Handle) -> Result<(), Failure> {
        let refused = || Failure::unsupported("the app does not scroll it into view");
        let parent = |of: Option<ObjectRef>| {
            of.filter(ObjectRef::is_element).map(|at| handle(&at)).ok_or_else(refused)
        };
        let above = |of: &Handle| get(&of.bus, &of.path, ACCESSIBLE, "Parent");
        let table = parent(ref_property(&self.call(above(cell)).await?))?;
        let pane = parent(ref_property(&self.call(above(&table)).await?))?;
        let asked = [
            call(&cell.bus, &cell.path, ACCESSIBLE, "GetIndexInParent", &()),
            get(&table.bus, &table.path, TABLE, "NRows"),
            call(&pane.bus, &pane.path, ACCESSIBLE, "GetChildren", &()),
        ];
        let answers = self.call_all(asked.into()).await?;
        let [index, rows, beside] = &answers[..] else { return Err(refused()) };
        let index = body::<i32>(index).filter(|index| *index >= 0).ok_or_else(refused)?;
        let rows = number_property(rows).filter(|rows| *rows > 1.0).ok_or_else(refused)?;
        let row = self.call(call(&table.bus, &table.path, TABLE, "GetRowAtIndex", &(index,))).await?;
        let row = body::<i32>(&row).filter(|row| *row >= 0).ok_or_else(refused)?;
        for beside in body::<Vec<ObjectRef>>(beside).unwrap_or_default().iter().filter(|at| at.is_element()) {
            let bar = handle(beside);
            let is_bar = self.read_target(&bar).await?.filter(|target| {
                target.role == Role::ScrollBar && target.native_states.has(NativeState::Vertical)
            });
            if is_bar.is_none() {
                continue;
            }
            let ends = ["MinimumValue", "MaximumValue"].map(|end| get(&bar.bus, &bar.path, VALUE, end));
            let ends: Vec<f64> =
                self.call_all(ends.into()).await?.iter().filter_map(number_property).collect();
            let [least, most] = ends[..] else { return Err(refused()) };
            let place = least + (most - least) * f64::from(row) / (rows - 1.0);
            self.send_action(set(&bar.bus, &bar.path, VALUE, "CurrentValue", place)).await?;
            return Ok(());
        }
        Err(refused())
    }

    /// Scrolls a table to a row.
    pub(crate) async fn scroll_row_into_view(&self, target: &Target, row: u32) -> Result<(), Failure> {
        if !target.interfaces.table {
            return Err(Failure::unsupported("it is not a table that reports its rows"));
        }
        let rows = self.call(get(&self.at.bus, &self.at.path, TABLE, "NRows")).await?;
        let row = i32::try_from(row).unwrap_or(i32::MAX);
        if number_property(&rows).is_some_and(|rows| f64::from(row) >= rows) {
            return Err(Failure::new(FailureKind::Invalid, format!("row {row} not found")));
        }
        let cell = call(&self.at.bus, &self.at.path, TABLE, "GetAccessibleAt", &(row, 0));
        let Some(cell) = body::<ObjectRef>(&self.call(cell).await?).filter(ObjectRef::is_element) else {
            return Err(Failure::unsupported("the app does not report its rows"));
        };
        let cell = handle(&cell);
        match self.read_target(&cell).await? {
            Some(target) => self.scroll_to(&cell, &target).await,
            None => Err(Failure::unsupported("the app does not report its rows")),
        }
    }
}

fn handle(at: &ObjectRef) -> Handle {
    Handle { bus: at.bus.as_str().into(), path: at.path.as_str().into() }
}
