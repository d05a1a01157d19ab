//! Injects faults into an app.

use std::time::Duration;

use axd_protocol::State;

use super::AppTask;
use crate::announce::Notification;
use crate::fault::{Fault, find_target, is_inside};
use crate::model::{Handle, Model, Widget};

/// The current faults of an app.
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub hangs: bool,
    pub slow: Duration,
    /// The number of notifications that will still be dropped.
    pub dropping: u64,
    /// Whether actions report success without doing anything.
    pub deaf: bool,
    /// How long after an action its reply is sent.
    pub late: Duration,
    /// Whether an action that opens a modal dialog is answered when the dialog is closed.
    pub blocks: bool,
    /// Children that are claimed in addition to the true ones, for cycles and second parents.
    pub claims: Vec<(Handle, Handle)>,
    /// Elements that a parent lists although they no longer exist.
    pub stale_children: Vec<(Handle, Handle)>,
}

impl AppTask {
    pub(super) async fn inject(&mut self, fault: Fault) -> Result<String, String> {
        let has_value = |model: &Model, handle| {
            let widget = model.widget(handle);
            widget.is_some_and(|widget| widget.value.is_some() && !widget.states.has(State::Secure))
        };
        let is_leaf = |model: &Model, handle: Handle| {
            is_inside(model, handle) && model.widget(handle).is_some_and(|widget| widget.children.is_empty())
        };
        let is_deep = |model: &Model, handle: Handle| model.path(handle).is_some_and(|path| path.len() > 3);
        let label = |model: &Model, handle| model.widget(handle).map(Widget::describe).unwrap_or_default();
        Ok(match fault {
            Fault::DropEvents(count) => {
                self.faults.dropping = count.unwrap_or(u64::MAX);
                match count {
                    Some(count) => format!("the next {count} announcements are lost"),
                    None => "announces nothing until `heal`".to_owned(),
                }
            }
            Fault::Hang => {
                self.faults.hangs = true;
                "hangs until `heal`".to_owned()
            }
            Fault::Slow(millis) => {
                self.faults.slow = Duration::from_millis(millis);
                format!("takes {millis} ms longer for each call")
            }
            Fault::Deaf => {
                self.faults.deaf = true;
                "reports success without acting".to_owned()
            }
            Fault::Late(millis) => {
                self.faults.late = Duration::from_millis(millis);
                format!("acts at once, and answers {millis} ms later")
            }
            Fault::Blocks => {
                self.faults.blocks = true;
                "answers what opens a modal dialog when that is closed".to_owned()
            }
            Fault::Huge(rows) => {
                self.model.add_list(rows);
                format!("has {rows} more items in a list")
            }
            Fault::Flood(widget, count) => {
                let target = find_target(&self.model, widget.as_deref(), has_value)?;
                for turn in 1..=count {
                    self.model.set_value(target, turn.to_string());
                    self.publish();
                    // This lets observers handle notifications meanwhile, as they could with a real app.
                    if turn % 64 == 0 {
                        tokio::task::yield_now().await;
                    }
                }
                format!("changed {} {count} times", label(&self.model, target))
            }
            Fault::Reparent(names) => {
                let (widget, into) = names.unzip();
                let moved = find_target(&self.model, widget.as_deref(), is_deep)?;
                let window = self.model.window_of(moved).unwrap_or(Handle::APP);
                let into =
                    into.map_or(Ok(window), |into| find_target(&self.model, Some(&into), is_inside))?;
                let (what, place) = (label(&self.model, moved), label(&self.model, into));
                if !self.model.move_to(moved, into, None) {
                    return Err(format!("{what} cannot be moved into {place}"));
                }
                format!("moved {what} into {place}")
            }
            Fault::Cycle(widget) => {
                let target = find_target(&self.model, widget.as_deref(), is_leaf)?;
                let window = self.model.window_of(target).unwrap_or(Handle::APP);
                self.claim_child(target, window);
                format!("{} claims its own window as a child", label(&self.model, target))
            }
            Fault::DoubleParent(widget) => {
                let target = find_target(&self.model, widget.as_deref(), is_deep)?;
                let window = self.model.window_of(target).unwrap_or(Handle::APP);
                self.claim_child(window, target);
                format!("{} is claimed by its window too", label(&self.model, target))
            }
            Fault::Vanish(count) => {
                let window = self.model.windows().first().copied().unwrap_or(Handle::APP);
                for _ in 0..count {
                    let stale = self.model.reserve_handle();
                    self.faults.stale_children.push((window, stale));
                }
                self.emit(Notification::Structure(window));
                format!("{} lists {count} elements that no longer exist", label(&self.model, window))
            }
            // The main loop handles this and ends.
            Fault::Die => "ended".to_owned(),
        })
    }

    fn claim_child(&mut self, parent: Handle, child: Handle) {
        self.faults.claims.push((parent, child));
        self.emit(Notification::Structure(parent));
    }
}
