//! Web pages whose tree is built only on request, as in Electron and Chromium.

use std::sync::Arc;
use std::time::Duration;

use axd_sim::Inspector;

use super::notify::Notification;
use super::tree::{AppState, View};
use crate::world::Inner;

/// How long a page takes to build its next level.
const LEVEL_DELAY: Duration = Duration::from_millis(20);

/// How much of its web pages an app has built.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pages {
    /// The attribute that requests it.
    pub wakes: EnabledBy,
    /// How many levels are built.
    pub shown: usize,
    /// Whether it was requested.
    pub asked: bool,
}

/// The attribute that makes an app build its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EnabledBy {
    /// `AXManualAccessibility`, as Electron does.
    Manual,
    /// `AXEnhancedUserInterface`, as Chromium does.
    Enhanced,
}

impl Pages {
    pub(crate) fn new(wakes: EnabledBy) -> Pages {
        Pages { wakes, shown: 0, asked: false }
    }
}

/// Builds the web pages level by level, and announces each.
pub(super) fn show_pages(world: &Arc<Inner>, pid: u32, reach: &Inspector) {
    {
        let mut all = world.pages.lock();
        let Some(pages) = all.get_mut(&pid) else { return };
        if std::mem::replace(&mut pages.asked, true) {
            return;
        }
    }
    let (world, reach) = (Arc::downgrade(world), reach.clone());
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(LEVEL_DELAY).await;
            let Ok((found, deepest)) =
                reach.inspect(|inside| View::of(inside, AppState::default()).pages()).await
            else {
                return;
            };
            let Some(world) = world.upgrade() else { return };
            let shown = {
                let mut all = world.pages.lock();
                // It may have been switched off again.
                let Some(pages) = all.get_mut(&pid).filter(|pages| pages.asked) else { return };
                pages.shown += 1;
                pages.shown
            };
            let is_done = shown >= deepest;
            for page in found {
                world.post(
                    pid,
                    &Notification::plain(if is_done { "AXLoadComplete" } else { "AXLayoutComplete" }, page),
                );
            }
            if is_done {
                // From now on whatever comes is shown.
                if let Some(pages) = world.pages.lock().get_mut(&pid) {
                    pages.shown = usize::MAX;
                }
                return;
            }
        }
    });
}

/// Removes the trees of web pages at once, and announces that their elements are gone.
pub(super) async fn hide_pages(world: &Arc<Inner>, pid: u32, reach: &Inspector) {
    let inside = reach.inspect(|inside| {
        let view = View::of(inside, AppState::default());
        let pages = view.pages().0;
        pages.into_iter().flat_map(|page| view.children(page)).collect::<Vec<_>>()
    });
    let Ok(inside) = inside.await else { return };
    {
        let mut all = world.pages.lock();
        let Some(pages) = all.get_mut(&pid) else { return };
        if !std::mem::replace(&mut pages.asked, false) {
            return;
        }
        pages.shown = 0;
    }
    for gone in inside {
        world.post(pid, &Notification::plain("AXUIElementDestroyed", gone));
    }
}
