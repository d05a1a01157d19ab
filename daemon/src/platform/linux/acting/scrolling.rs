//! Scrolling elements into view.

use super::{Actor, Subject, not_offered};

use crate::platform::linux::handles::Handle;
use crate::platform::linux::link::{call, get};
use crate::platform::linux::wire::{COMPONENT, Ref, TABLE, body, number};
use crate::platform::{Failure, FailureKind};

/// Wherever in the view, as long as it is there.
const ANYWHERE: u32 = 6;

impl Actor {
    /// Scrolls an element into view. An app that says that it did not has not moved anything.
    pub(super) async fn scroll_to(&self, at: &Handle, subject: &Subject) -> Result<(), Failure> {
        if !subject.interfaces.component {
            return Err(not_offered("it has no place"));
        }
        match self.tell_whether(call(&at.bus, &at.path, COMPONENT, "ScrollTo", &(ANYWHERE,))).await? {
            true => Ok(()),
            false => Err(not_offered("the app does not scroll it into view")),
        }
    }

    /// Scrolls a table to a row.
    pub(super) async fn reveal(&self, subject: &Subject, row: u32) -> Result<(), Failure> {
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
        let cell = Handle { bus: cell.bus.as_str().into(), path: cell.path.as_str().into() };
        match self.look(&cell).await? {
            Some(subject) => self.scroll_to(&cell, &subject).await,
            None => Err(not_offered("the app does not tell its rows")),
        }
    }
}
