//! Attaches apps, applies what their workers send, and detaches them.

use std::future::poll_fn;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Weak};
use std::task::{Poll, ready};
use std::time::Duration;

use axd_protocol::command::{Attach, AttachAnswer, Detach};
use axd_protocol::event::{Event, EventData};
use axd_protocol::{AppInfo, AppState, Error, ErrorCode, Result, Role, Tick, WindowInfo};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;
use tracing::{debug, info, warn};

use crate::Engine;
use crate::answer::Answer;
use crate::apps::app;
use crate::apps::app::App;
use crate::desktop::state::DesktopChange;
use crate::memory;
use axd_platform::{Batch, Cause, DesktopEvent, DesktopWindow, ElementKey, RunningApp, Update, WorkerEvent};
use axd_service::Call;
use axd_tree::{Applied, Notice, Tree};

/// The capacity of a worker's queue to the engine. When it is full the rest stays with the worker, where it is merged.
const WORKER_QUEUE_LEN: usize = 64;
/// An app that no request has used and no subscription has followed for this long is detached.
const DETACH_AFTER: Duration = Duration::from_secs(600);

impl Engine {
    /// `attach`: returns when all of the app has been read.
    pub(crate) async fn attach(
        self: &Arc<Self>,
        call: &Call,
        args: &Attach,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let seen = self.desktop.read().named(&args.app)?.clone();
        let app = self.attached(&seen);
        self.permit_app(call, &app)?;
        let complete = self.wait_for_walk(&app, Engine::deadline(call)).await?;
        let tree = app.tree.read();
        let data = AttachAnswer { complete, nodes: tree.len() as u32 };
        answer.value(Some(self.clock.now()), Some(&app.info()), &data);
        Ok(())
    }

    /// `detach`.
    pub(crate) fn detach(&self, args: &Detach, answer: &mut Answer<'_>) -> Result<()> {
        let seen = self.desktop.read().named(&args.app)?.clone();
        let Some(app) = self.by_pid(seen.pid) else {
            return Err(Error::new(ErrorCode::ApplicationNotFound, format!("{} is not attached", seen.name))
                .suggest("no action needed"));
        };
        let nodes = app.tree.read().len() as u32;
        self.detach_app(&app);
        answer.value(Some(self.clock.now()), Some(&app.info()), &AttachAnswer { complete: true, nodes });
        Ok(())
    }

    /// The attached app of this process.
    pub(crate) fn by_pid(&self, pid: u32) -> Option<Arc<App>> {
        self.apps
            .iter()
            .find(|app| app.pid() == pid && app.state() != AppState::Gone)
            .map(|app| Arc::clone(&app))
    }

    /// All attached apps, in the order they were attached. Those that ended are included until they are detached.
    pub(crate) fn all_apps(&self) -> Vec<Arc<App>> {
        let mut apps: Vec<Arc<App>> = self.apps.iter().map(|app| Arc::clone(&app)).collect();
        apps.sort_by_key(|app| app.slot);
        apps
    }

    /// The app, attached now if it was not. It gets its old ids if it was attached when it ended. Does not wait for its walk.
    pub(crate) fn attached(self: &Arc<Self>, seen: &RunningApp) -> Arc<App> {
        if let Some(app) = self.by_pid(seen.pid) {
            app.touch();
            return app;
        }
        // Two requests may get here at once; the lock lets one of them attach and the other find the app attached.
        let _attaching = self.attaching.lock();
        if let Some(app) = self.by_pid(seen.pid) {
            return app;
        }
        let others = self.same_identity(&seen.identity);
        if let Some(app) = others.iter().find(|app| app.state() == AppState::Gone) {
            info!(app = seen.name, pid = seen.pid, "attach again");
            self.connect(app, seen);
            return Arc::clone(app);
        }
        let ordinal =
            (0..).find(|ordinal| others.iter().all(|app| app.ordinal != *ordinal)).unwrap_or_default();
        let slot = self.next_slot.fetch_add(1, Relaxed);
        let app = Arc::new(App::new(slot, ordinal, seen.clone(), &self.clock));
        self.apps.insert(slot, Arc::clone(&app));
        info!(app = seen.name, pid = seen.pid, slot, "attach");
        self.connect(&app, seen);
        app
    }

    fn same_identity(&self, identity: &str) -> Vec<Arc<App>> {
        self.apps.iter().filter(|app| app.seen().identity == identity).map(|app| Arc::clone(&app)).collect()
    }

    /// Starts a worker for the app, and a task that applies what it sends.
    fn connect(self: &Arc<Self>, app: &Arc<App>, seen: &RunningApp) {
        let (out, from_worker) = mpsc::channel(WORKER_QUEUE_LEN);
        app.tree.write().begin(crate::clock::random());
        let handle = self.platform.attach(seen, out, Arc::clone(&app.counters));
        app.connect(seen.clone(), handle);
        *app.hidden_windows.lock() = self.desktop.read().hidden_in_tree(seen.pid);
        self.hide_windows_of(app);
        tokio::spawn(pump_worker(Arc::downgrade(self), Arc::clone(app), seen.pid, from_worker));
    }

    fn detach_app(&self, app: &Arc<App>) {
        info!(app = app.seen().name, pid = app.pid(), "let go");
        self.apps.remove(&app.slot);
        app.disconnect(AppState::Detached);
        self.log_event(Event::AppState, app.info(), None, None, None);
    }

    /// Detaches apps that no request has used for a while.
    pub(crate) fn detach_unused(self: &Arc<Self>) {
        let engine = Arc::downgrade(self);
        let mut every = tokio::time::interval(DETACH_AFTER / 10);
        every.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tokio::spawn(async move {
            loop {
                every.tick().await;
                let Some(engine) = engine.upgrade() else { return };
                for app in engine.all_apps().iter().filter(|app| app.unused_for() > DETACH_AFTER) {
                    engine.detach_app(app);
                }
            }
        });
    }

    /// Starts applying the events of the desktop. Those that are available at once are applied when this returns.
    pub(crate) fn listen_to_desktop(self: &Arc<Self>) {
        let (out, mut events) = mpsc::unbounded_channel();
        self.platform.start(out);
        while let Ok(event) = events.try_recv() {
            self.desktop.write().apply(event);
        }
        *self.desktop_events.lock() = Some(events);
        let engine = Arc::downgrade(self);
        // The task ends with the engine, or with the platform.
        tokio::spawn(poll_fn(move |context| {
            let Some(engine) = engine.upgrade() else { return Poll::Ready(()) };
            let mut events = engine.desktop_events.lock();
            let Some(events) = &mut *events else { return Poll::Ready(()) };
            while let Some(event) = ready!(events.poll_recv(context)) {
                engine.desktop_changed(event);
            }
            Poll::Ready(())
        }));
    }

    /// Applies the desktop events that have arrived. Then the effects of a client's earlier request are known: a request that
    /// follows must not miss an app that the client knows to be running.
    pub(crate) fn drain_desktop_events(self: &Arc<Self>) {
        // The lock is held while events are applied, so that they are applied in order.
        if let Some(events) = &mut *self.desktop_events.lock() {
            while let Ok(event) = events.try_recv() {
                self.desktop_changed(event);
            }
        }
    }

    fn desktop_changed(self: &Arc<Self>, event: DesktopEvent) {
        let changes = self.desktop.write().apply(event);
        self.log_desktop_changes(changes);
        // Not every desktop event becomes an event of the log, but a caller may wait for its effect.
        self.notify_changed();
    }

    pub(crate) fn log_desktop_changes(self: &Arc<Self>, changes: Vec<DesktopChange>) {
        for change in changes {
            match change {
                DesktopChange::Launched(seen) => self.launched(&seen),
                DesktopChange::Terminated(seen) => self.terminated(&seen),
                of_window => self.log_window_changes(vec![of_window]),
            }
        }
    }

    pub(crate) fn log_window_changes(&self, changes: Vec<DesktopChange>) {
        for change in changes {
            match change {
                DesktopChange::Opened(window) => self.log_window_event(Event::WindowOpened, &window),
                DesktopChange::Closed(window) => self.log_window_event(Event::WindowClosed, &window),
                DesktopChange::Altered(window) => self.log_window_event(Event::WindowChanged, &window),
                DesktopChange::Focused(window) => self.log_window_event(Event::WindowFocused, &window),
                DesktopChange::Hidden(pid) => {
                    if let Some(app) = self.by_pid(pid) {
                        self.hide_windows_of(&app);
                    }
                }
                DesktopChange::Launched(_) | DesktopChange::Terminated(_) => {}
            }
        }
    }

    /// Called when an app started. If it was attached when it ended, it is attached again, under its old ids.
    fn launched(self: &Arc<Self>, seen: &RunningApp) {
        self.log_event(Event::AppLaunched, self.info_of(seen), None, None, None);
        if self.same_identity(&seen.identity).iter().any(|app| app.state() == AppState::Gone) {
            self.attached(seen);
        }
    }

    fn terminated(&self, seen: &RunningApp) {
        if let Some(app) = self.by_pid(seen.pid) {
            info!(app = seen.name, pid = seen.pid, "the app ended");
            app.disconnect(AppState::Gone);
            self.apply(&app, Batch { cause: Cause::Event, updates: vec![Update::Gone(ElementKey::APP)] });
            tokio::task::spawn_blocking(memory::give_back);
        }
        let info = AppInfo { state: AppState::Gone, ..self.info_of(seen) };
        self.log_event(Event::AppTerminated, info, None, None, None);
    }

    /// An app as it appears in answers, attached or not.
    pub(crate) fn info_of(&self, seen: &RunningApp) -> AppInfo {
        let state = self.by_pid(seen.pid).map_or(AppState::Detached, |app| app.state());
        app::info(seen, state)
    }

    /// A window as it appears in answers.
    pub(crate) fn window_info(&self, window: &DesktopWindow) -> WindowInfo {
        // Lock order: no tree is locked while the desktop is, because other code locks them the other way round.
        let (app, focused) = {
            let desktop = self.desktop.read();
            let app = desktop.by_pid(window.pid).map_or(String::new(), |app| app.name.clone());
            (app, desktop.active_window == Some(window.window))
        };
        let id = self.by_pid(window.pid).and_then(|app| {
            let tree = app.tree.read();
            tree.windows().find(|ix| tree.window_number(*ix) == Some(window.window)).map(|ix| tree.id(ix))
        });
        WindowInfo {
            window: window.window,
            id,
            title: window.title.clone(),
            app,
            pid: window.pid,
            bounds: window.bounds,
            focused,
            minimized: window.minimized,
            maximized: window.maximized,
        }
    }

    fn log_window_event(&self, kind: fn(EventData) -> Event, window: &DesktopWindow) {
        let seen = self.desktop.read().by_pid(window.pid).cloned();
        let seen = seen.unwrap_or_else(|| RunningApp { pid: window.pid, ..RunningApp::default() });
        self.log_event(kind, self.info_of(&seen), None, Some(self.window_info(window)), None);
    }

    /// Adds an event to the event log.
    fn log_event(
        &self,
        kind: fn(EventData) -> Event,
        app: AppInfo,
        node: Option<axd_protocol::NodeRef>,
        window: Option<WindowInfo>,
        text: Option<String>,
    ) {
        // By the process alone: the caller may hold the lock of the app's state.
        let of_app = |attached: &App| (attached.pid() == app.pid).then(|| attached.queue.cause()).flatten();
        let caused_by = self.apps.iter().find_map(|attached| of_app(&attached)).map(Arc::unwrap_or_clone);
        let event = kind(EventData { clock: self.clock.now(), app, node, window, text, caused_by });
        self.event_log.lock().push(event);
        self.notify_changed();
    }

    /// Applies a batch to an app's tree and wakes those who wait for changes.
    fn apply(&self, app: &App, batch: Batch) {
        self.apply_if(app, batch, || true);
    }

    /// Like `apply`, but only if `still` returns true once the tree is locked.
    fn apply_if(&self, app: &App, batch: Batch, still: impl FnOnce() -> bool) {
        let cause = batch.cause;
        self.change_tree(app, Some(cause), |tree, tick| still().then(|| tree.apply(batch, tick)));
    }

    /// Changes an app's tree at the next tick, unless `change` does not, and tells what happened. Of a first walk nothing is
    /// an event.
    pub(crate) fn change_tree(
        &self,
        app: &App,
        cause: Option<Cause>,
        change: impl FnOnce(&mut Tree, Tick) -> Option<Applied>,
    ) {
        let applied = {
            let mut tree = app.tree.write();
            let tick = self.clock.next();
            let applied = change(&mut tree, tick);
            // Before the tree is unlocked, so that whoever sees the change sees what it followed.
            if applied.as_ref().is_some_and(|applied| applied.changed) {
                app.causes.lock().note(tick, app.queue.cause());
            }
            applied
        };
        let Some(applied) = applied else { return };
        self.hide_on_desktop(app);
        for key in applied.suspect {
            debug!(app = app.seen().name, key = key.0, "suspect: walk it again");
            app.rewalk(key);
        }
        if !applied.changed {
            return;
        }
        if let Some(cause) = cause {
            app.observed(cause);
        }
        if cause != Some(Cause::Walk) {
            applied.notices.into_iter().for_each(|notice| self.noticed(app, notice));
        }
        self.notify_changed();
    }

    fn noticed(&self, app: &App, notice: Notice) {
        let kind: fn(EventData) -> Event = match &notice {
            Notice::Focus(_) => Event::Focus,
            Notice::Opened(node) if node.role == Role::Menu => Event::MenuOpened,
            Notice::Closed(node) if node.role == Role::Menu => Event::MenuClosed,
            Notice::Opened(node) if matches!(node.role, Role::Dialog | Role::Alert) => Event::Dialog,
            // Events about plain windows come from the desktop.
            Notice::Opened(_) | Notice::Closed(_) => return,
        };
        let (Notice::Focus(node) | Notice::Opened(node) | Notice::Closed(node)) = notice;
        self.log_event(kind, app.info(), Some(node), None, None);
    }
}

/// Applies what a worker sends until it ends.
async fn pump_worker(
    engine: Weak<Engine>,
    app: Arc<App>,
    pid: u32,
    mut from_worker: mpsc::Receiver<WorkerEvent>,
) {
    while let Some(event) = from_worker.recv().await {
        let Some(engine) = engine.upgrade() else { return };
        // What the worker of an ended app still had in the queue is about a process that is gone.
        let is_current = || app.pid() == pid && app.state() != AppState::Gone;
        if !is_current() {
            return;
        }
        match event {
            // Checked again under the lock: meanwhile the app may have ended and its successor may have been read.
            WorkerEvent::Batch(batch) => engine.apply_if(&app, batch, is_current),
            // It is not known which window an announcement is about.
            WorkerEvent::Announcement(_) if app.tree.read().has_hidden() => {}
            WorkerEvent::Announcement(text) => {
                engine.log_event(Event::Announcement, app.info(), None, None, Some(text))
            }
            WorkerEvent::State { degraded, complete } => {
                if let Some(why) = &degraded {
                    warn!(app = app.seen().name, why, "degraded");
                }
                let first_walk_is_over = complete && !app.is_complete();
                app.set_condition(pid, degraded, complete, |info| {
                    engine.log_event(Event::AppState, info, None, None, None);
                });
                if first_walk_is_over {
                    tokio::task::spawn_blocking(memory::give_back);
                }
            }
            WorkerEvent::Reply(reply) => reply.deliver(),
        }
    }
    // The app was detached. What it took is not needed any more.
    drop(app);
    tokio::task::spawn_blocking(memory::give_back);
}
