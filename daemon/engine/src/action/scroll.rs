//! Scrolls until an element, or a row of it, is in view.

use axd_protocol::command::{Route, Scroll, ScrollTo};
use axd_protocol::error::Delivery;
use axd_protocol::{Bounds, Error, ErrorCode, Point, Result};

use crate::action::context::{ActionContext, Outcome};
use crate::action::input::{notches, turn};
use crate::action::select::row_of;
use crate::action::spec::{Action, ActionSpec, NeedsInput};
use crate::apps::measure::Measurements;
use crate::apps::target::parse_selector;
use axd_platform::{Act, Direction, InputStep, WorkerRequest};
use axd_tree::Ix;

/// The maximum number of wheel turns to bring an element into view.
const MAX_TURNS: u32 = 400;
/// The minimum and maximum number of notches in one turn of the wheel.
const MIN_TURN: u32 = 2;
const MAX_TURN: u32 = 60;
/// How many siblings on each side of an element are examined to find out where it lies.
const MAX_SIBLINGS: usize = 256;

impl Action for Scroll {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        notches(self.amount)?;
        if let Some(selector) = &self.until {
            parse_selector(selector)?;
        }
        let spec = ActionSpec::on_element(&self.target);
        Ok(ActionSpec { needs_input: NeedsInput::AtPoint, takes_bare_point: true, ..spec })
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        if let Some(selector) = &self.until {
            return context.scroll_until(self, selector).await;
        }
        context.scroll_by(self.direction, notches(self.amount)?).await
    }
}

impl Action for ScrollTo {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        if self.row == Some(0) {
            return Err(Error::new(ErrorCode::InvalidArgs, "row must be at least 1"));
        }
        Ok(ActionSpec::on_element(&self.target))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        context.scroll_to(self.row).await
    }
}

impl ActionContext<'_> {
    /// Scrolls once.
    pub(super) async fn scroll_by(&mut self, direction: Direction, amount: u32) -> Result<Outcome> {
        if self.point.is_none()
            && let Some(done) = self.try_semantic(Act::Scroll(direction, amount)).await?
        {
            return Ok(done);
        }
        let at = self.point_at().await?;
        self.input(vec![InputStep::Move(at), turn(direction, amount)]).await
    }

    /// Scrolls until the target, or a row of it, is in view.
    pub(super) async fn scroll_to(&mut self, row: Option<u32>) -> Result<Outcome> {
        if let Some(row) = row {
            let row = row - 1;
            let holder = self.id()?;
            let find = || self.read_node(holder, |tree, ix| row_of(tree, ix, row)).ok().flatten();
            let Some(done) = self.try_semantic(Act::Reveal(row)).await? else {
                // The row may be available by its index all the same; then it is scrolled to like any element that is out of
                // view.
                let (app, key) = (self.app()?, self.key(holder)?);
                app.ask(self.deadline, |reply| WorkerRequest::Keep { key, rows: vec![row], reply }).await?;
                let Some(found) = find() else {
                    return Err(self.unsupported("scroll to a row by its number"));
                };
                self.target = Some(found);
                self.before = None;
                return Box::pin(self.scroll_to(None)).await;
            };
            self.until(self.action_deadline(), || find().is_some()).await?;
            let Some(found) = find() else { return Err(self.not_effective("scrolled to that row")) };
            self.target = Some(found);
            self.before = None;
            return Ok(done.seen());
        }
        if self.in_sight().await.is_some_and(|(_, visible)| visible) {
            return Ok(Outcome::already("it was already in view"));
        }
        if let Some(done) = self.try_semantic(Act::ScrollTo).await? {
            self.settle_quietly().await;
            if self.in_sight().await.is_some_and(|(_, visible)| visible) {
                return Ok(done.seen());
            }
            if self.options.route == Some(Route::Semantic) {
                return Err(self.not_effective("in sight"));
            }
        }
        self.wheel_to().await
    }

    /// Turns the wheel over the target's container until the target is in view, or nothing moves any more.
    async fn wheel_to(&self) -> Result<Outcome> {
        let mut still = 0;
        let mut before = None;
        for _ in 0..MAX_TURNS {
            let Some((at, frame)) = self.holder_in_sight().await else {
                return Err(self.not_actionable("is not in a scrollable container"));
            };
            let mut notches = MIN_TURN;
            let now = match self.in_sight().await {
                Some((Some(bounds), _)) => (toward(bounds, frame), Progress::At(bounds)),
                // Some toolkits do not report the bounds of elements that are scrolled away, but their order is known.
                Some((None, _)) | None => match self.way_by_order().await {
                    Some((direction, first, rows)) => {
                        // A notch is about three rows. Only half the distance is scrolled, so as not to pass the target.
                        notches = (rows / 6).clamp(MIN_TURN, MAX_TURN);
                        (direction, Progress::Past(first, rows))
                    }
                    None => return Err(self.not_actionable("has no position to scroll to")),
                },
            };
            // Some apps scroll a moment later; if nothing has moved after several turns, nothing will.
            still = if before == Some(now) { still + 1 } else { 0 };
            if still > 3 {
                break;
            }
            before = Some(now);
            self.input(vec![InputStep::Move(at), turn(now.0, notches)]).await?;
            self.settle_quietly().await;
            if self.in_sight().await.is_some_and(|(_, visible)| visible) {
                let method = self.engine.platform.input_method();
                let delivery = Delivery::DeliveredVerified;
                return Ok(Outcome::by(method, Route::Input, delivery));
            }
        }
        Err(self.not_effective("in sight"))
    }

    /// The direction from the target's visible siblings to the target, the index of the first of these, and how many rows lie
    /// between.
    async fn way_by_order(&self) -> Option<(Direction, usize, u32)> {
        let app = self.app.as_ref()?;
        let (own, beside) = self
            .read_node(self.id().ok()?, |tree, ix| {
                let beside = tree.children(tree.parent(ix)?);
                let own = beside.iter().position(|other| *other == ix)?;
                let from = own.saturating_sub(MAX_SIBLINGS);
                let some = beside.iter().enumerate().skip(from).take(2 * MAX_SIBLINGS);
                let rows = |other: Ix| tree.row(ix).unwrap_or(0).abs_diff(tree.row(other).unwrap_or(0));
                let placed = some.filter_map(|(place, ix)| Some((place, tree.key(*ix)?, rows(*ix))));
                Some((own, placed.collect::<Vec<_>>()))
            })
            .ok()??;
        let places =
            Measurements::to_act(app, beside.iter().map(|(_, key, _)| *key).collect(), self.deadline).await;
        let mut seen = beside.iter().filter(|(_, key, _)| places.visible(*key) == Some(true));
        let (first, _, rows) = *seen.next()?;
        Some((if own > first { Direction::Down } else { Direction::Up }, first, rows))
    }

    /// The bounds of the target, and whether it is in view.
    async fn in_sight(&self) -> Option<(Option<Bounds>, bool)> {
        let (app, key) = (self.app.as_ref()?, self.key(self.id().ok()?).ok()?);
        let places = Measurements::to_act(app, vec![key], self.deadline).await;
        Some((places.bounds(key), places.visible(key)?))
    }

    /// The nearest visible ancestor of the target, and a point in it.
    async fn holder_in_sight(&self) -> Option<(Point, Bounds)> {
        let app = self.app.as_ref()?;
        let above: Vec<_> = self
            .read_node(self.id().ok()?, |tree, ix| {
                let mut at = tree.parent(ix);
                std::iter::from_fn(move || {
                    let above = at?;
                    at = tree.parent(above);
                    Some(above)
                })
                .filter_map(|above| tree.key(above))
                .collect()
            })
            .ok()?;
        let places = Measurements::to_act(app, above.clone(), self.deadline).await;
        let seen = |key| {
            let bounds = places.bounds(key).filter(|bounds| bounds.width > 0 && bounds.height > 0)?;
            places.visible(key).filter(|visible| *visible)?;
            Some(bounds)
        };
        // The container of a long list is seen through its own container, so it is clipped to that.
        let mut frames = above.into_iter().filter_map(seen);
        let nearest = frames.next()?;
        let frame = frames.fold(nearest, |part, frame| part.intersection(&frame).unwrap_or(part));
        Some((Point { x: frame.x + frame.width / 2, y: frame.y + frame.height / 2 }, frame))
    }
}

/// The progress of scrolling.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Progress {
    /// The target's bounds.
    At(Bounds),
    /// The index of the target's first visible sibling, and how many rows lie between the two.
    Past(usize, u32),
}

/// The direction to scroll in so that `bounds` comes into `frame`.
fn toward(bounds: Bounds, frame: Bounds) -> Direction {
    if bounds.y + bounds.height > frame.y + frame.height {
        Direction::Down
    } else if bounds.y < frame.y {
        Direction::Up
    } else if bounds.x + bounds.width > frame.x + frame.width {
        Direction::Right
    } else {
        Direction::Left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_scroll_is_the_way_to_the_element() {
        let frame = Bounds { x: 0, y: 100, width: 200, height: 300 };
        let at = |x, y| Bounds { x, y, width: 20, height: 20 };
        assert_eq!(toward(at(10, 900), frame), Direction::Down);
        assert_eq!(toward(at(10, 0), frame), Direction::Up);
        assert_eq!(toward(at(900, 200), frame), Direction::Right);
        assert_eq!(toward(at(-90, 200), frame), Direction::Left);
    }
}
