//! Subscriptions: positions in the history of apps, from which lines are written when the client has room.
//!
//! A subscription has no queue. While its client does not read, its position stays where it is; when there is room again it
//! writes the difference between its position and now, however much happened between.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axd_protocol::command::{Subscribe, SubscribeAnswer};
use axd_protocol::event::{Event, EventData, EventKind, FreshCause, Observed, Push};
use axd_protocol::{AppInfo, Clock, Error, ErrorCode, Field, NodeId, Result, Role, Tick};
use tokio::sync::watch;

use crate::Engine;
use crate::answer::Answer;
use crate::apps::app::App;
use crate::apps::causes::Attribution;
use crate::apps::target::Where;
use crate::policy::permit::Reader;
use crate::subscribe::event_log::event_data;
use crate::tree_work::{SMALL_ANSWER, long_work};
use axd_platform::WorkerRequest;
use axd_service::{BoxFuture, Call, Feed, Session};
use axd_tree::{Changes, Ix, Tree};

impl Engine {
    pub(crate) async fn subscribe(
        self: &Arc<Self>,
        call: &Call,
        args: &Subscribe,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        if args.snapshot && args.since.is_some() {
            return Err(Error::new(
                ErrorCode::InvalidArgs,
                "subscribe: snapshot and since exclude each other",
            ));
        }
        args.since.map_or(Ok(()), |since| self.not_from_the_future(since))?;
        let deadline = Engine::deadline(call);
        let within = match &args.within {
            Some(target) => Some(
                self.locate(
                    call,
                    target,
                    Where { app: args.app.as_deref(), window: None, ..Where::default() },
                    deadline,
                )
                .await?,
            ),
            None => None,
        };
        let app = match (&within, &args.app) {
            (Some(located), _) => Some(Arc::clone(&located.app)),
            (None, Some(spec)) => Some(self.app(call, Some(spec), deadline).await?),
            (None, None) => None,
        };
        let identity = app.as_ref().map(|app| (app.seen().identity, app.ordinal));
        let mut feed = Subscription {
            sub: call.sub,
            interest: self.next_interest.fetch_add(1, Relaxed),
            updates: self.changed.subscribe(),
            reader: self.reader(call),
            engine: Arc::clone(self),
            identity,
            within: within.map(|located| located.id),
            roles: args.role.clone(),
            kinds: args.kind.clone(),
            fields: args.fields.clone(),
            not_mine: args.not_mine.then(|| Arc::clone(&call.session)),
            coalesce: args.coalesce_ms.map(Duration::from_millis),
            snapshot: args.snapshot,
            positions: HashMap::new(),
            next_event: self.event_log.lock().next(),
        };
        let clock = feed.begin(args.since);
        let info = app.map(|app| app.info());
        answer.value(Some(clock), info.as_ref(), &SubscribeAnswer { sub: call.sub });
        answer.follow(Box::new(feed));
        Ok(())
    }
}

/// One subscription.
struct Subscription {
    /// Its number within its connection.
    sub: u64,
    /// The number of its interest, unique among those sent to workers.
    interest: u64,
    engine: Arc<Engine>,
    /// Who subscribes: the policy may change meanwhile.
    reader: Reader,
    updates: watch::Receiver<u64>,
    /// The one app it follows, across restarts; `None` for all apps.
    identity: Option<(String, u32)>,
    within: Option<NodeId>,
    roles: Vec<Role>,
    kinds: Vec<EventKind>,
    fields: Vec<Field>,
    coalesce: Option<Duration>,
    /// The client whose own changes are left out.
    not_mine: Option<Arc<Session>>,
    /// Whether the whole tree of a new app is sent.
    snapshot: bool,
    /// Its position in each app, by slot.
    positions: HashMap<u32, Following>,
    next_event: u64,
}

/// The position of a subscription in one app.
struct Following {
    app: Arc<App>,
    at: Position,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Everything up to this tick has been sent.
    Told(Tick),
    /// The whole tree must be sent, for this reason.
    Whole(FreshCause),
}

impl Following {
    fn new(app: Arc<App>, at: Position, interest: u64, within: Option<NodeId>) -> Following {
        app.followers.fetch_add(1, Relaxed);
        if let Some(id) = within {
            let tree = app.tree.read();
            let key = if let axd_tree::Resolved::Alive(ix) = tree.resolve(id) { tree.key(ix) } else { None };
            drop(tree);
            if let Some(key) = key {
                app.notify_worker(WorkerRequest::Watch { interest, keys: vec![key] });
            }
        }
        Following { app, at }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        for following in self.positions.values() {
            following.app.followers.fetch_sub(1, Relaxed);
            following.app.touch();
            if self.within.is_some() {
                following.app.notify_worker(WorkerRequest::Unwatch { interest: self.interest });
            }
        }
    }
}

impl Subscription {
    /// Sets the first position, and returns its clock.
    fn begin(&mut self, since: Option<Clock>) -> Clock {
        let apps = self.apps();
        // All trees are locked at once, so that one clock is valid for all of them.
        let trees: Vec<_> = apps.iter().map(|app| (app, app.tree.read())).collect();
        let now = self.engine.clock.now();
        let position = |app: &App| match since {
            _ if self.snapshot => Position::Whole(FreshCause::Snapshot),
            None => Position::Told(now.tick),
            Some(since) if since.boot != now.boot => Position::Whole(FreshCause::Boot),
            Some(since) if since.tick < app.attached => Position::Whole(FreshCause::Attached),
            Some(since) => Position::Told(since.tick),
        };
        let positions: Vec<(Arc<App>, Position)> = trees
            .iter()
            .filter(|(app, _)| app.is_complete())
            .map(|(app, _)| (Arc::clone(app), position(app)))
            .collect();
        drop(trees);
        for (app, at) in positions {
            self.positions.insert(app.slot, Following::new(app, at, self.interest, self.within));
        }
        if let Some(since) = since.filter(|since| since.boot == now.boot) {
            // Events since then are sent too, as far as they are kept.
            self.next_event = self.engine.event_log.lock().first_after(since.tick);
        }
        since.filter(|since| since.boot == now.boot).unwrap_or(now)
    }

    fn wants(&self, kind: EventKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// The apps it follows that are attached now.
    fn apps(&self) -> Vec<Arc<App>> {
        let mut apps = self.engine.readable_apps(&self.reader);
        if let Some((identity, ordinal)) = &self.identity {
            apps.retain(|app| app.ordinal == *ordinal && app.seen().identity == *identity);
        }
        apps
    }

    /// Adds positions for new apps, and drops those of detached apps.
    fn follow_new_apps(&mut self) {
        let apps = self.apps();
        self.positions.retain(|slot, following| {
            let kept = apps.iter().any(|app| app.slot == *slot);
            if !kept {
                following.app.followers.fetch_sub(1, Relaxed);
            }
            kept
        });
        for app in apps.into_iter().filter(|app| app.is_complete()) {
            if !self.positions.contains_key(&app.slot) {
                let following = Following::new(
                    Arc::clone(&app),
                    Position::Whole(FreshCause::Attached),
                    self.interest,
                    self.within,
                );
                self.positions.insert(app.slot, following);
            }
        }
    }

    fn has_changes(&self) -> bool {
        let behind = |following: &Following| match following.at {
            Position::Whole(_) => true,
            Position::Told(tick) => following.app.tree.read().tick() > tick,
        };
        self.positions.values().any(behind) || self.engine.event_log.lock().next() > self.next_event
    }

    fn write_app(&mut self, slot: u32, out: &mut Vec<u8>) {
        let Some(following) = self.positions.get(&slot) else { return };
        let app = Arc::clone(&following.app);
        let tree = app.tree.read();
        let clock = self.engine.clock.now();
        let whole = match following.at {
            Position::Told(since) if since >= tree.tick() => None,
            Position::Told(since) => match tree.changes_since(since) {
                Some(changes) => {
                    let followed = app.causes.lock().since(since);
                    if !self.leaves_out(&followed) {
                        self.write_changes(&app, &tree, (clock, &followed), changes, out);
                    }
                    None
                }
                None => Some(FreshCause::History),
            },
            Position::Whole(cause) => Some(cause),
        };
        if let Some(cause) = whole.filter(|_| self.wants(EventKind::Changes)) {
            let fresh = |out: &mut Vec<u8>| write_fresh(self.sub, clock, &app.info(), cause, &tree, out);
            match tree.len() > SMALL_ANSWER {
                true => long_work(|| fresh(out)),
                false => fresh(out),
            }
        }
        drop(tree);
        if let Some(following) = self.positions.get_mut(&slot) {
            following.at = Position::Told(clock.tick);
        }
    }

    /// Whether changes are left out, because they followed actions of the client itself.
    fn leaves_out(&self, followed: &Attribution) -> bool {
        self.not_mine.as_ref().is_some_and(|session| {
            let agent = session.names.lock().1.clone();
            followed.is_all_of(session.client, agent.as_deref())
        })
    }

    fn write_changes(
        &self,
        app: &App,
        tree: &Tree,
        (clock, followed): (Clock, &Attribution),
        mut changes: Changes,
        out: &mut Vec<u8>,
    ) {
        if !self.wants(EventKind::Changes) {
            return;
        }
        self.narrow(tree, &mut changes);
        if changes.is_empty() {
            return;
        }
        let observed = if app.was_reread() { Observed::Reread } else { Observed::Event };
        begin_line(self.sub, "changes", clock, &app.info(), out);
        out.extend_from_slice(b",\"observed\":");
        let _ = serde_json::to_writer(&mut *out, &observed);
        followed.write(out);
        out.push(b',');
        tree.write_changes(&changes, out);
        out.extend_from_slice(b"}\n");
    }

    /// Reduces the changes to what the subscription asks for.
    fn narrow(&self, tree: &Tree, changes: &mut Changes) {
        if let Some(id) = self.within {
            let scope = if let axd_tree::Resolved::Alive(ix) = tree.resolve(id) { Some(ix) } else { None };
            let inside = |ix: Ix| scope.is_some_and(|scope| tree.is_within(ix, scope));
            changes.removed.retain(|gone| tree.was_removed_within(*gone, id));
            changes.moved.retain(|(ix, _, _)| inside(*ix));
            // An element that is sent whole may contain the followed element, rather than be inside it.
            changes
                .added
                .retain(|(ix, _)| inside(*ix) || scope.is_some_and(|scope| tree.is_within(scope, *ix)));
            changes.changed.retain(|(ix, _)| inside(*ix));
        }
        if !self.roles.is_empty() {
            let wanted = |ix: Ix| self.roles.contains(&tree.role(ix));
            changes
                .removed
                .retain(|gone| tree.role_of_dead(*gone).is_some_and(|role| self.roles.contains(&role)));
            changes.moved.retain(|(ix, _, _)| wanted(*ix));
            changes.added.retain(|(root, _)| tree.subtree(*root).any(wanted));
            changes.changed.retain(|(ix, _)| wanted(*ix));
        }
        if !self.fields.is_empty() {
            changes.removed.clear();
            changes.moved.clear();
            changes.added.clear();
            for (_, fields) in &mut changes.changed {
                *fields = fields.only(&self.fields);
            }
            changes.changed.retain(|(_, fields)| !fields.is_empty());
        }
    }

    fn write_events(&mut self, to: u64, out: &mut Vec<u8>) {
        let wanted = |event: &&Event| {
            event_data(event).is_some_and(|(kind, EventData { app, caused_by, .. })| {
                let cause = caused_by.as_ref().map(|cause| Arc::new(cause.clone()));
                let followed_by =
                    Attribution { others: cause.is_none(), causes: cause.into_iter().collect() };
                let followed = self.identity.as_ref().is_none_or(|(identity, _)| app.identity == *identity);
                followed && self.wants(kind) && !self.leaves_out(&followed_by)
            })
        };
        // Taken out first: who may see them depends on the desktop, whose lock is not taken with the log's.
        let events: Vec<Event> =
            self.engine.event_log.lock().between(self.next_event, to).filter(wanted).cloned().collect();
        for event in events {
            if !self.engine.may_see_event(&self.reader, &event) {
                continue;
            }
            let line = serde_json::to_vec(&Push { sub: self.sub, event });
            if let Ok(line) = line {
                out.extend_from_slice(&line);
                out.push(b'\n');
            }
        }
        self.next_event = to;
    }
}

impl Feed for Subscription {
    fn ready(&mut self) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            loop {
                self.updates.mark_unchanged();
                self.follow_new_apps();
                if self.has_changes() {
                    break;
                }
                if self.updates.changed().await.is_err() {
                    return false;
                }
            }
            if let Some(pause) = self.coalesce {
                // The client asked for this pause; it does not wait for anything.
                tokio::time::sleep(pause).await;
            }
            true
        })
    }

    fn write(&mut self, out: &mut Vec<u8>) {
        // Only events up to here are written. Changes that precede an event are written before it, and the trees are read next.
        let to = self.engine.event_log.lock().next();
        let mut slots: Vec<u32> = self.positions.keys().copied().collect();
        slots.sort_unstable();
        slots.into_iter().for_each(|slot| self.write_app(slot, out));
        self.write_events(to, out);
    }
}

fn begin_line(sub: u64, event: &str, clock: Clock, app: &AppInfo, out: &mut Vec<u8>) {
    out.extend_from_slice(format!(r#"{{"sub":{sub},"event":"{event}","clock":"{clock}","app":"#).as_bytes());
    let _ = serde_json::to_writer(out, app);
}

fn write_fresh(sub: u64, clock: Clock, app: &AppInfo, cause: FreshCause, tree: &Tree, out: &mut Vec<u8>) {
    begin_line(sub, "fresh", clock, app, out);
    out.extend_from_slice(b",\"cause\":");
    let _ = serde_json::to_writer(&mut *out, &cause);
    if let Some(root) = tree.root() {
        out.extend_from_slice(b",\"tree\":");
        tree.write_whole(root, out);
    }
    out.extend_from_slice(b"}\n");
}
