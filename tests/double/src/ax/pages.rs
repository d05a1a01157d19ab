//! Web pages of which nothing is shown until somebody asks for it, as Electron and Chromium do.

use std::sync::Arc;
use std::time::Duration;

use axd_sim::Inspector;

use super::notify::News;
use super::tree::{Standing, View};
use crate::world::Inner;

/// How long a page takes to show its next level.
const NEXT_LEVEL: Duration = Duration::from_millis(20);

/// How far an app has come with showing the inside of its web pages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pages {
    /// What it wants to be asked by.
    pub wakes: Wakes,
    /// How many levels of it are shown.
    pub shown: usize,
    /// Whether it was asked to.
    pub asked: bool,
}

/// What an app wants to be asked by to show its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wakes {
    /// `AXManualAccessibility`, as Electron does.
    Manual,
    /// `AXEnhancedUserInterface`, as Chromium does.
    Enhanced,
}

impl Pages {
    pub(crate) fn new(wakes: Wakes) -> Pages {
        Pages { wakes, shown: 0, asked: false }
    }
}

/// The inside of web pages comes level by level, each announced, until all of it is there.
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
            tokio::time::sleep(NEXT_LEVEL).await;
            let Ok((found, deepest)) =
                reach.inspect(|inside| View::of(inside, Standing::default()).pages()).await
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
                    &News::plain(if is_done { "AXLoadComplete" } else { "AXLayoutComplete" }, page),
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

/// All of it is taken away at once, and what was in the pages is announced to have ended.
pub(super) async fn hide_pages(world: &Arc<Inner>, pid: u32, reach: &Inspector) {
    let inside = reach.inspect(|inside| {
        let view = View::of(inside, Standing::default());
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
        world.post(pid, &News::plain("AXUIElementDestroyed", gone));
    }
}
