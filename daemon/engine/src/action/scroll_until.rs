//! Scrolls a container until an element in it matches, for lists whose rows come while they are scrolled.

use std::sync::Arc;
use std::time::Duration;

use axd_protocol::command::Scroll;
use axd_protocol::error::Delivery;
use axd_protocol::{Bounds, Error, ErrorCode, NodeId, Result, Tick};
use axd_tree::{Ix, Resolved, Scope, Tree};
use tokio::time::Instant;

use crate::action::context::{ActionContext, Outcome};
use crate::action::input::notches;
use crate::action::settle::Watch;
use crate::apps::measure::Measurements;
use crate::apps::target::parse_selector;
use crate::tree_work::search_now;

/// The maximum number of turns of the wheel.
const MAX_TURNS: u32 = 2_000;
/// After how long the places are measured again where nothing has moved; each next time after twice as long.
const FIRST_MEASURED_AGAIN: Duration = Duration::from_millis(100);
/// How many elements of the container are measured to see whether anything moves.
const SAMPLE: usize = 32;

/// How far something is scrolled: what its app had announced by then, and where a part of its elements are.
type Position = (Tick, Vec<Option<Bounds>>);

impl ActionContext<'_> {
    /// Scrolls until an element in the target matches, and then until that is in view. As long as something moves it goes on; when
    /// nothing does, it waits for more to come until the action's timeout.
    pub(super) async fn scroll_until(&mut self, scroll: &Scroll, selector: &str) -> Result<Outcome> {
        let selector = parse_selector(selector)?;
        let container = self.id().map_err(|_| {
            Error::new(ErrorCode::InvalidArgs, "until: a point has no elements to look for")
                .suggest("name the element to scroll, as in list:Results, instead of a point")
        })?;
        let app = Arc::clone(self.app()?);
        let _watch = Watch::whole(self.engine, &app);
        let deadline = self.deadline;
        let find = || -> Option<NodeId> {
            let search = |tree: &Tree| {
                let Resolved::Alive(root) = tree.resolve(container) else { return None };
                let found = tree.find(&selector, Scope { root }, Some(1));
                found.matches.first().map(|ix| tree.id(*ix))
            };
            search_now(&app, deadline, search).flatten()
        };
        let amount = notches(scroll.amount)?;
        let mut last = None;
        for _ in 0..MAX_TURNS {
            if let Some(found) = find() {
                self.target = Some(found);
                self.before = None;
                let there = self.scroll_to(None).await?;
                return Ok(last.map_or(there, Outcome::seen));
            }
            let before = self.position(container).await?;
            last = Some(self.scroll_by(scroll.direction, amount).await?);
            self.settle_quietly().await;
            if find().is_some() || self.position(container).await? != before {
                continue;
            }
            // This was the end so far. More may come, or a busy app may scroll late.
            let came = || app.tree.read().tick() != before.0 || find().is_some();
            let more = self
                .until_more(container, &before, came)
                .await
                .map_err(|error| error.delivered(Delivery::DeliveredUnverified))?;
            if !more {
                break;
            }
        }
        let message =
            format!("{} has nothing more to scroll, and nothing in it matches", self.target_label());
        Err(Error::new(ErrorCode::ActionFailed, message).delivered(Delivery::DeliveredUnverified).suggest(
            "see what is there with `ax look`; it may be called otherwise, or need the other --direction",
        ))
    }

    /// Waits until more has come or something has moved, which no app announces, so it is measured again and again, less and less
    /// often. False if neither has happened by the action's timeout.
    async fn until_more(
        &self,
        container: NodeId,
        before: &Position,
        came: impl Fn() -> bool + Copy,
    ) -> Result<bool> {
        let end = self.action_deadline();
        let mut pause = FIRST_MEASURED_AGAIN;
        while Instant::now() < end {
            let next = end.min(Instant::now() + pause);
            if self.until(next, came).await? || self.position(container).await? != *before {
                return Ok(true);
            }
            pause *= 2;
        }
        Ok(false)
    }

    /// How far the container is scrolled.
    async fn position(&self, container: NodeId) -> Result<Position> {
        let app = self.app()?;
        let (tick, keys) = self.read_node(container, |tree, ix| {
            let mut sample: Vec<Ix> = tree.children(ix).iter().copied().take(SAMPLE).collect();
            let mut next = 0;
            while sample.len() < SAMPLE && next < sample.len() {
                let room = SAMPLE - sample.len();
                sample.extend(tree.children(sample[next]).iter().copied().take(room).collect::<Vec<_>>());
                next += 1;
            }
            let keys: Vec<_> = sample.into_iter().filter_map(|ix| tree.key(ix)).collect();
            (tree.tick(), keys)
        })?;
        let places = Measurements::to_act(app, keys.clone(), self.deadline).await;
        Ok((tick, keys.into_iter().map(|key| places.bounds(key)).collect()))
    }
}
