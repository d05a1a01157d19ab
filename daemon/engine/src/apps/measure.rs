//! Bounds of elements, which are measured on request and never part of the tree. Where an app does not reply in time, the last
//! known bounds are used, with their age.

use std::time::Duration;

use axd_protocol::Bounds;
use rustc_hash::FxHashMap;
use tokio::time::Instant;

use crate::apps::app::{App, Place};
use axd_platform::{ElementKey, Measured, WorkerRequest};
use axd_tree::{Ix, Tree};

/// How long a read waits for measurements.
const READ_BUDGET: Duration = Duration::from_millis(200);
/// How long an action waits for measurements; longer than a read, because it relies on them.
const ACTION_BUDGET: Duration = Duration::from_millis(1_500);

/// The bounds of elements.
#[derive(Debug, Default)]
pub(crate) struct Measurements {
    by_key: FxHashMap<ElementKey, Place>,
    /// The age of the oldest bounds, if they could not be measured now.
    pub age: Option<Duration>,
}

impl Measurements {
    /// The current bounds of elements, or the last known ones.
    pub async fn of(app: &App, keys: Vec<ElementKey>, deadline: Instant) -> Measurements {
        Measurements::within(READ_BUDGET, app, keys, deadline).await
    }

    /// Like `of`, for an action, which should rather wait than rely on old bounds.
    pub async fn to_act(app: &App, keys: Vec<ElementKey>, deadline: Instant) -> Measurements {
        Measurements::within(ACTION_BUDGET, app, keys, deadline).await
    }

    async fn within(budget: Duration, app: &App, keys: Vec<ElementKey>, deadline: Instant) -> Measurements {
        let deadline = deadline.min(Instant::now() + budget);
        let asked = keys.clone();
        if let Ok(measured) = app.ask(deadline, |reply| WorkerRequest::Measure { keys: asked, reply }).await {
            let at = Instant::now();
            let places = measured.into_iter().map(|Measured { key, bounds, visible, misplaced }| {
                (key, Place { bounds, visible, misplaced, at })
            });
            let by_key: FxHashMap<ElementKey, Place> = places.collect();
            app.remember_places(by_key.iter().map(|(key, place)| (*key, *place)));
            return Measurements { by_key, age: None };
        }
        let known: FxHashMap<ElementKey, Place> =
            keys.into_iter().filter_map(|key| Some((key, app.place(key)?))).collect();
        let oldest = known.values().map(|place| place.at.elapsed()).max();
        Measurements { by_key: known, age: Some(oldest.unwrap_or_default()) }
    }

    /// The bounds of an element.
    pub fn bounds(&self, key: ElementKey) -> Option<Bounds> {
        self.by_key.get(&key)?.bounds
    }

    /// Whether an element is visible.
    pub fn visible(&self, key: ElementKey) -> Option<bool> {
        Some(self.by_key.get(&key)?.visible)
    }

    /// Whether the app is known to say the wrong place of an element.
    pub fn misplaced(&self, key: ElementKey) -> bool {
        self.by_key.get(&key).is_some_and(|place| place.misplaced)
    }

    /// The bounds, by slot.
    pub fn bounds_in(&self, tree: &Tree) -> FxHashMap<Ix, Bounds> {
        self.by_key.iter().filter_map(|(key, place)| Some((tree.by_key(*key)?, place.bounds?))).collect()
    }

    /// The visibility, by slot.
    pub fn visible_in(&self, tree: &Tree) -> FxHashMap<Ix, bool> {
        self.by_key.iter().filter_map(|(key, place)| Some((tree.by_key(*key)?, place.visible))).collect()
    }
}
