//! `AXEnhancedUserInterface`: what an app does for screen readers once one has set it.
//!
//! Nobody documents it. What is known from those whose windows it moved, and from the sources of Chromium:
//! - AppKit animates windows that are moved or resized by their attributes. The call returns at once; what is read
//!   meanwhile is somewhere on the way, and whoever asks for the next change before the last is done cuts that short.
//! - Chromium shows the inside of its pages, but only two seconds after the last change: it counts what is switched on and
//!   off within that time. To switch it off later takes the pages away at once.

use std::sync::Arc;
use std::time::Duration;

use axd_platform::{Failure, WindowOp};
use axd_protocol::{Bounds, Point};

use super::act::call_window_op;
use super::pages::{EnabledBy, hide_pages, show_pages};
use crate::world::{Inner, World};

/// How long an animated move or resize takes.
const ANIMATION_TIME: Duration = Duration::from_millis(200);
/// How long Chromium waits after the last change.
const CHROMIUM_SETTLE_TIME: Duration = Duration::from_secs(2);

/// The state of one app.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Enhanced {
    /// Whether it is set.
    set: bool,
    /// How often it was switched on, less how often off, since pages were last shown.
    requests: u32,
    /// Counts the changes, so that what waits knows whether it is still wanted.
    changes: u64,
}

impl World {
    /// Switches it on or off, as a screen reader does.
    pub fn enhance(&self, app: &str, on: bool) {
        self.inner().runtime.block_on(self.shared().enhance(self.pid(app), on));
    }

    /// Whether it is on.
    pub fn is_enhanced(&self, app: &str) -> bool {
        self.inner().is_enhanced(self.pid(app))
    }
}

impl Inner {
    pub(crate) fn is_enhanced(&self, pid: u32) -> bool {
        self.enhanced.lock().get(&pid).is_some_and(|enhanced| enhanced.set)
    }

    /// Sets or clears it for an app.
    pub(super) async fn enhance(self: &Arc<Inner>, pid: u32, on: bool) {
        let wakes = self.pages.lock().get(&pid).map(|pages| pages.wakes);
        let is_off = {
            let mut all = self.enhanced.lock();
            let enhanced = all.entry(pid).or_default();
            // Whoever sees it set can count on the time to run.
            enhanced.set = on;
            let counted =
                if wakes == Some(EnabledBy::Enhanced) { enhanced.count(on) } else { Counted::Nothing };
            if let Counted::Waits(changes) = counted {
                self.after(CHROMIUM_SETTLE_TIME, move |world| async move {
                    let is_wanted = world.enhanced.lock().get_mut(&pid).is_some_and(|it| it.settle(changes));
                    if let Some(reach) = world.sim.inspector(pid).filter(|_| is_wanted) {
                        show_pages(&world, pid, &reach);
                    }
                });
            }
            matches!(counted, Counted::Off)
        };
        if let Some(reach) = self.sim.inspector(pid).filter(|_| is_off) {
            hide_pages(self, pid, &reach).await;
        }
    }

    /// Moves or resizes a window with an animation.
    pub(super) async fn animate(self: &Arc<Inner>, window: u64, op: WindowOp) -> Result<(), Failure> {
        let windows = self.sim.windows();
        let now = windows.iter().find(|seen| seen.window == window).and_then(|seen| seen.bounds);
        let turn = {
            let mut moving = self.moving.lock();
            let turn = moving.entry(window).or_default();
            *turn += 1;
            *turn
        };
        call_window_op(self, window, half_way(now.unwrap_or_default(), op)).await?;
        self.after(ANIMATION_TIME, move |world| async move {
            let is_current = world.moving.lock().get(&window) == Some(&turn);
            if is_current {
                // The window may have been closed on its way.
                let _ = call_window_op(&world, window, op).await;
            }
        });
        Ok(())
    }
}

/// What a change means for Chromium's pages.
enum Counted {
    Nothing,
    /// The pages are taken away.
    Off,
    /// They are shown, if nothing changes any more.
    Waits(u64),
}

impl Enhanced {
    fn count(&mut self, on: bool) -> Counted {
        if !on && self.requests == 0 {
            return Counted::Off;
        }
        self.requests = if on { self.requests + 1 } else { self.requests - 1 };
        self.changes += 1;
        if self.requests > 0 { Counted::Waits(self.changes) } else { Counted::Nothing }
    }

    /// Whether nothing has changed since.
    fn settle(&mut self, changes: u64) -> bool {
        let is_settled = self.changes == changes;
        if is_settled {
            self.requests = 0;
        }
        is_settled
    }
}

fn half_way(now: Bounds, op: WindowOp) -> WindowOp {
    match op {
        WindowOp::Move(to) => {
            let (x, y) = (i32::midpoint(now.x, to.x), i32::midpoint(now.y, to.y));
            WindowOp::Move(Point { x, y })
        }
        WindowOp::Resize { width, height } => WindowOp::Resize {
            width: u32::midpoint(now.width.unsigned_abs(), width),
            height: u32::midpoint(now.height.unsigned_abs(), height),
        },
        op => op,
    }
}
