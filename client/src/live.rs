//! Trees that stay current: a replica per app, updated by a subscription's events.

use std::collections::BTreeMap;

use axd_protocol::event::{Event, Push};
use axd_protocol::replica::ReplicaError;
use axd_protocol::{AppInfo, AppState, Clock, Replica};

/// The trees of the apps of a subscription.
///
/// It must be given every event of one subscription that was made with `snapshot: true` and without filters; from the first
/// `fresh` of an app on, its replica equals the daemon's tree at its clock.
#[derive(Debug, Default)]
pub struct Live {
    /// The apps by pid, because two instances of one app have separate trees.
    apps: BTreeMap<u32, LiveApp>,
}

/// One app's tree.
#[derive(Debug)]
pub struct LiveApp {
    /// The app, as the last event described it.
    pub info: AppInfo,
    /// The clock of the tree. A client can resume from here with `since` after a lost connection.
    pub clock: Clock,
    /// The tree.
    pub tree: Replica,
}

/// What an event did to the trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// An app's tree was replaced.
    Replaced(u32),
    /// An app's tree changed.
    Changed(u32),
    /// An app ended and its tree was dropped.
    Dropped(u32),
    /// The subscription ended; the trees do not change any more.
    Over,
    /// The event was not about a tree.
    Other,
}

impl Live {
    /// A value without trees.
    pub fn new() -> Live {
        Live::default()
    }

    /// Applies an event. After a [`ReplicaError`] the app's tree is dropped, and the client must subscribe again to get it.
    pub fn take(&mut self, push: Push) -> Result<Update, ReplicaError> {
        match push.event {
            Event::Fresh { clock, app, tree, .. } => {
                let pid = app.pid;
                self.apps.insert(pid, LiveApp { info: app, clock, tree: Replica::new(tree) });
                Ok(Update::Replaced(pid))
            }
            Event::Changes { clock, app, difference, .. } => {
                let pid = app.pid;
                // Without a fresh tree before it, the app was empty when the subscription began.
                let live = self.apps.entry(pid).or_insert_with(|| LiveApp {
                    info: app.clone(),
                    clock,
                    tree: Replica::default(),
                });
                live.info = app;
                live.clock = clock;
                let applied = live.tree.apply(difference);
                if applied.is_err() {
                    self.apps.remove(&pid);
                }
                applied.map(|()| Update::Changed(pid))
            }
            Event::AppTerminated(data) => {
                let pid = data.app.pid;
                Ok(self.apps.remove(&pid).map_or(Update::Other, |_| Update::Dropped(pid)))
            }
            Event::AppState(data) => {
                let pid = data.app.pid;
                if data.app.state == AppState::Gone {
                    return Ok(self.apps.remove(&pid).map_or(Update::Other, |_| Update::Dropped(pid)));
                }
                if let Some(live) = self.apps.get_mut(&pid) {
                    live.info = data.app;
                }
                Ok(Update::Other)
            }
            Event::End { .. } => Ok(Update::Over),
            _ => Ok(Update::Other),
        }
    }

    /// The app of this pid.
    pub fn app(&self, pid: u32) -> Option<&LiveApp> {
        self.apps.get(&pid)
    }

    /// Every app, by pid.
    pub fn apps(&self) -> impl Iterator<Item = &LiveApp> {
        self.apps.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axd_protocol::text::write_tree;

    const FRESH: &str = r#"{"sub":1,"event":"fresh","clock":"c:00000001:1","app":{"name":"Notes","pid":9,"identity":"notes","state":"live"},"cause":"snapshot","tree":{"id":"app_000000","role":"application","name":"Notes","children":[{"id":"lst_000000","role":"list","name":"All"}]}}"#;
    const ADDED: &str = r#"{"sub":1,"event":"changes","clock":"c:00000001:2","app":{"name":"Notes","pid":9,"identity":"notes","state":"live"},"observed":"event","removed":[],"moved":[],"added":[{"parent":"lst_000000","index":0,"node":{"id":"row_000000","role":"row","name":"One"}}],"changed":[]}"#;
    const CHANGED: &str = r#"{"sub":1,"event":"changes","clock":"c:00000001:3","app":{"name":"Notes","pid":9,"identity":"notes","state":"live"},"observed":"reread","removed":[],"moved":[],"added":[],"changed":[{"id":"row_000000","set":{"name":"Two"}}]}"#;
    const GONE: &str = r#"{"sub":1,"event":"app-terminated","clock":"c:00000001:4","app":{"name":"Notes","pid":9,"identity":"notes","state":"gone"}}"#;

    fn take(live: &mut Live, line: &str) -> Result<Update, ReplicaError> {
        live.take(serde_json::from_str(line).unwrap())
    }

    fn shown(live: &Live) -> String {
        let mut out = String::new();
        write_tree(&live.app(9).unwrap().tree.tree().unwrap(), 0, &mut out);
        out
    }

    #[test]
    fn a_tree_follows_the_stream_from_its_snapshot_on() {
        let mut live = Live::new();
        assert_eq!(take(&mut live, FRESH), Ok(Update::Replaced(9)));
        take(&mut live, ADDED).unwrap();
        assert_eq!(take(&mut live, CHANGED), Ok(Update::Changed(9)));
        assert_eq!(
            shown(&live),
            "application \"Notes\" app_000000\n  list \"All\" lst_000000\n    row \"Two\" row_000000\n"
        );
        assert_eq!(live.app(9).unwrap().clock.tick, 3);
        assert_eq!(take(&mut live, FRESH), Ok(Update::Replaced(9)));
        assert!(!shown(&live).contains("row"), "a fresh tree replaces what was held");
        assert_eq!(take(&mut live, GONE), Ok(Update::Dropped(9)));
        assert_eq!(live.apps().count(), 0);
    }

    #[test]
    fn a_change_that_does_not_fit_drops_the_tree_rather_than_keep_a_false_one() {
        let mut live = Live::new();
        take(&mut live, FRESH).unwrap();
        assert!(take(&mut live, CHANGED).is_err(), "the row was never added");
        assert!(live.app(9).is_none());
    }
}
