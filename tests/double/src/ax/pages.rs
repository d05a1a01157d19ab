//! Web pages whose tree is built only on request, as in Electron and Chromium.
//!
//! A page of Chromium sleeps at first, and again some minutes after its window was hidden. Then it is not among the children of
//! anything. Only who asks what is at a point inside it gets it, and only when that one asks for its role does it wake. What
//! is in it is shown when the app's attribute is set; one that is embedded in an app of another kind shows it at once.

use std::sync::Arc;
use std::time::Duration;

use axd_protocol::Role;
use axd_sim::Inspector;
use axd_sim::model::Handle;

use super::notify::Notification;
use super::tree::{AppState, Id, View};
use crate::world::{Inner, World};

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
    /// Whether the pages sleep.
    pub asleep: bool,
    /// Whether somebody asked what is at a point inside a page that sleeps.
    pub touched: bool,
    /// Whether what is in them is shown once they wake.
    pub wanted: bool,
}

/// The attribute that makes an app build its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EnabledBy {
    /// `AXManualAccessibility`, as Electron does.
    Manual,
    /// `AXEnhancedUserInterface`, as Chromium does.
    Enhanced,
    /// None: that somebody looks at it is enough, as in apps that embed Chromium.
    Looking,
}

impl Pages {
    pub(crate) fn new(wakes: EnabledBy) -> Pages {
        let (asleep, wanted) = (wakes != EnabledBy::Manual, wakes == EnabledBy::Looking);
        Pages { wakes, shown: 0, asked: false, asleep, touched: false, wanted }
    }
}

/// Builds the web pages level by level, and announces each.
pub(super) fn show_pages(world: &Arc<Inner>, pid: u32, reach: &Inspector) {
    {
        let mut all = world.pages.lock();
        let Some(pages) = all.get_mut(&pid) else { return };
        pages.wanted = true;
        if pages.asleep || std::mem::replace(&mut pages.asked, true) {
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

impl World {
    /// Has the pages of an app sleep, and says so to nobody.
    pub fn doze(&self, app: &str) {
        if let Some(pages) = self.inner().pages.lock().get_mut(&self.pid(app)) {
            (pages.asleep, pages.touched, pages.asked, pages.shown) = (true, false, false, 0);
        }
    }

    /// Has the pages of an app be there from the start, as they were before Chromium saved the work.
    pub fn keep_pages_awake(&self, app: &str) {
        if let Some(pages) = self.inner().pages.lock().get_mut(&self.pid(app)) {
            pages.asleep = false;
        }
    }

    /// Whether the pages of an app sleep.
    pub fn is_asleep(&self, app: &str) -> bool {
        self.inner().pages.lock().get(&self.pid(app)).is_some_and(|pages| pages.asleep)
    }
}

impl Inner {
    /// What is at a point, where an app's page may sleep: all of a page is one element then. It fills its window, however
    /// little the script has in it.
    pub(super) fn touched(&self, pid: u32, view: &View<'_>, hit: Id) -> Id {
        let mut all = self.pages.lock();
        let Some(pages) = all.get_mut(&pid).filter(|pages| pages.asleep) else { return hit };
        let is_page =
            |part: &Handle| view.model.widget(*part).is_some_and(|widget| widget.role == Role::Document);
        let path = view.model.path(hit.widget()).unwrap_or_default();
        let above = path.iter().copied().find(is_page);
        let inside = || {
            let below = view.model.widget(hit.widget()).filter(|widget| widget.role.is_window())?;
            below.children.iter().copied().find(is_page)
        };
        let Some(page) = above.or_else(inside) else { return hit };
        pages.touched = true;
        Id::of(page)
    }

    /// The role of an element was asked for. That wakes a page that was touched.
    pub(super) fn looked_at(self: &Arc<Inner>, pid: u32, view: &View<'_>, id: Id) {
        let is_page = view.model.widget(id.widget()).is_some_and(|widget| widget.role == Role::Document);
        let wanted = {
            let mut all = self.pages.lock();
            let touched = |pages: &&mut Pages| pages.asleep && pages.touched && is_page;
            let Some(pages) = all.get_mut(&pid).filter(touched) else { return };
            pages.asleep = false;
            pages.wanted
        };
        let Some(reach) = self.sim.inspector(pid).filter(|_| wanted) else { return };
        let world = Arc::clone(self);
        self.runtime.spawn(async move { show_pages(&world, pid, &reach) });
    }
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
        pages.wanted = pages.wakes == EnabledBy::Looking;
        if !std::mem::replace(&mut pages.asked, false) {
            return;
        }
        pages.shown = 0;
    }
    for gone in inside {
        world.post(pid, &Notification::plain("AXUIElementDestroyed", gone));
    }
}
