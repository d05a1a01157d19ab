//! Hidden windows: which windows of the desktop may not be read, and how their apps' trees learn of it.
//!
//! [`DesktopState`] asks the question in one place, whenever windows, apps or the question itself change, and keeps what is
//! hidden out of the windows that everything else reads. The tree of an app hides a window by the title that the app gives it,
//! or because the desktop hides the window with that number, and the desktop hides what the tree hides by its title: the two may
//! disagree about the title.

use std::fmt;
use std::sync::Arc;

use axd_platform::RunningApp;
use axd_protocol::event::EventData;
use axd_protocol::{AppInfo, NodeRef};
use parking_lot::RwLock;
use rustc_hash::FxHashSet;

use crate::Engine;
use crate::apps::app::App;
use axd_tree::{Hides, Titled};

/// Says of an app and a title whether the windows of that app that have it are hidden. Of a process that is no app yet, only the
/// process id is known.
pub type HidesWindow = dyn Fn(&RunningApp, &str) -> bool + Send + Sync;

/// The predicate that is in force; none hides nothing.
#[derive(Clone, Default)]
pub(crate) struct HiddenBy(pub Option<Arc<HidesWindow>>);

impl fmt::Debug for HiddenBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "HiddenBy(..)" } else { "HiddenBy(nothing)" })
    }
}

/// The numbers of the hidden windows of the desktop. Trees ask for them while they are locked, so this lock is taken last.
pub(crate) type HiddenNumbers = Arc<RwLock<FxHashSet<u64>>>;

impl Engine {
    /// Says which windows may not be read from now on, of all apps. To clients a window that is hidden now has closed, and one
    /// that no longer is has opened.
    pub fn set_hidden(self: &Arc<Self>, hides: Arc<HidesWindow>) {
        let changes = self.desktop.write().set_hidden(HiddenBy(Some(hides)));
        self.log_desktop_changes(changes);
        self.all_apps().iter().for_each(|app| self.hide_windows_of(app));
        self.notify_changed();
    }

    /// Judges the windows in an app's tree again.
    pub(crate) fn hide_windows_of(&self, app: &App) {
        let (hides, numbers) = {
            let desktop = self.desktop.read();
            (desktop.hidden_by(), desktop.hidden_numbers())
        };
        let Some(hides) = hides.0 else { return };
        let seen = app.seen();
        let hides = Hides::new(move |of| {
            of.window.is_some_and(|window| numbers.read().contains(&window)) || hides(&seen, of.title)
        });
        self.change_tree(app, None, |tree, tick| Some(tree.set_hides(Some(hides), tick)));
    }

    /// Has the desktop hide the windows that an app's tree hides by their titles, and no others.
    pub(crate) fn hide_on_desktop(&self, app: &App) {
        let seen = app.seen();
        let mut known = app.hidden_windows.lock();
        let hidden: FxHashSet<u64> = {
            let tree = app.tree.read();
            // Of an app that is not read yet, or that has ended, nothing else is known than before.
            if tree.is_empty() || known.is_empty() && !tree.has_hidden() {
                return;
            }
            let hides = self.desktop.read().hidden_by();
            let by_title = |of: &Titled<'_>| hides.0.as_ref().is_some_and(|hides| hides(&seen, of.title));
            tree.hidden_windows().filter(by_title).filter_map(|of| of.window).collect()
        };
        if *known != hidden {
            known.clone_from(&hidden);
            let changes = self.desktop.write().set_hidden_in_tree(seen.pid, hidden);
            drop(known);
            self.log_window_changes(changes);
        }
    }

    /// Whether an event of the log is about what is hidden now, though it may not have been when it happened.
    pub(crate) fn is_hidden_event(&self, data: &EventData) -> bool {
        let (hides, seen) = {
            let desktop = self.desktop.read();
            let Some(hides) = desktop.hidden_by().0 else { return false };
            (hides, desktop.by_pid(data.app.pid).cloned())
        };
        if data
            .window
            .as_ref()
            .is_some_and(|window| self.desktop.read().hides(window.pid, window.window, &window.title))
        {
            return true;
        }
        // Of an app that has ended, the event says which it was.
        let AppInfo { name, pid, identity, .. } = data.app.clone();
        let seen = seen.unwrap_or_else(|| RunningApp { pid, name, identity, ..RunningApp::default() });
        let dialog = data.node.as_ref().filter(|node| node.role.is_window());
        let dialog = dialog.map(|node| node.name.as_deref().unwrap_or_default());
        let titles = data.window.as_ref().map(|window| window.title.as_str()).into_iter().chain(dialog);
        let mut titles = titles.filter(|title| hides(&seen, title));
        let is_concealed =
            |node: &NodeRef| self.by_pid(pid).is_some_and(|app| app.tree.read().is_concealed(node.id));
        titles.next().is_some() || data.node.as_ref().is_some_and(is_concealed)
    }
}
