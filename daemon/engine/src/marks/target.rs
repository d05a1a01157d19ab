//! `#7` as a target: the element of a mark, if the picture still shows where it is.

use std::sync::Arc;

use axd_protocol::selector::{Mark, Target};
use axd_protocol::text::write_ref;
use axd_protocol::{Bounds, Error, ErrorCode, NodeRef, Result, State};
use axd_service::Call;
use tokio::time::Instant;

use crate::Engine;
use crate::apps::measure::Measurements;
use crate::apps::target::{Located, Where, alive, among, parse_target};
use crate::marks::kept::{KeptMark, KeptPicture, PictureOwner};
use crate::marks::picture::{Hit, hit_test};

/// How far the edges of an element may have moved, in points: toolkits round them.
const MAX_SHIFT: i32 = 2;

impl Engine {
    /// The element of a mark. Fails if it is gone, if it is not where the picture shows it, or if it is not what the picture shows.
    pub(crate) async fn locate_mark(
        self: &Arc<Self>,
        call: &Call,
        mark: &Mark,
        deadline: Instant,
    ) -> Result<Located> {
        let picture = self.picture_of(call, mark)?;
        let kept = mark_in(&picture, mark)?;
        let located = match kept.app.upgrade() {
            Some(app) => {
                self.permit_app(call, &app)?;
                among(&[Arc::clone(&app)], kept.node.id)?.ok_or_else(|| gone(mark, kept))?
            }
            // Nobody has used the app for long; its ids are what they were.
            None => self.locate_id(call, kept.node.id, Where::default(), deadline).await?,
        };
        self.check_mark(mark, kept, &located, deadline).await?;
        Ok(located)
    }

    /// The id of an element if the target is its mark, for commands that resolve targets in a locked tree.
    pub(crate) async fn id_of_mark(
        self: &Arc<Self>,
        call: &Call,
        target: Option<&str>,
        deadline: Instant,
    ) -> Result<Option<String>> {
        let Some(target) = target.filter(|target| target.trim_start().starts_with('#')) else {
            return Ok(None);
        };
        match parse_target(target)? {
            Target::Mark(mark) => {
                Ok(Some(self.locate_mark(call, &mark, deadline).await?.id.as_str().to_owned()))
            }
            _ => Ok(None),
        }
    }

    fn picture_of(&self, call: &Call, mark: &Mark) -> Result<Arc<KeptPicture>> {
        let found = match &mark.picture {
            Some(handle) => self.kept_pictures.named(handle),
            None => self.kept_pictures.latest(&PictureOwner::of(&call.session)),
        };
        found.ok_or_else(|| {
            let said = match &mark.picture {
                Some(handle) => format!("{mark}: the marked picture {handle} is not known"),
                None => format!("{mark}: no marked picture was taken"),
            };
            Error::new(ErrorCode::ElementNotFound, said)
                .suggest("take one with `ax screenshot --marks`")
                .retry("screenshot --marks")
        })
    }

    /// Fails if the element of a mark is not what and where the picture shows.
    async fn check_mark(
        self: &Arc<Self>,
        mark: &Mark,
        kept: &KeptMark,
        located: &Located,
        deadline: Instant,
    ) -> Result<()> {
        let app = &located.app;
        let (key, label, is_hidden) = {
            let tree = app.tree.read();
            let ix = alive(app, &tree, located.id)?;
            // Of what is in a popup, the app may not say at once that it is shown.
            let is_hidden = tree.states(ix).has(State::Hidden) && !kept.is_in_popup;
            (tree.key(ix), tree.name_or_text(ix), is_hidden)
        };
        let changed = |what: String| {
            Error::new(ErrorCode::Changed, format!("{mark}: {} {what}", described(&kept.node)))
                .suggest("take a new picture with `ax screenshot --marks`, or use the id")
                .retry("screenshot --marks")
        };
        if label != kept.node.name {
            let now = label.map_or_else(|| "nothing".to_owned(), |name| quoted(&name));
            return Err(changed(format!("is called {now} now")));
        }
        let Some(key) = key.filter(|_| !is_hidden) else {
            return Err(changed("has been hidden since the picture".to_owned()));
        };
        let places = Measurements::to_act(app, vec![key], deadline).await;
        if places.age.is_some() {
            let said = format!("{mark}: {} does not say where its elements are", app.seen().name);
            return Err(Error::new(ErrorCode::AppUnresponsive, said)
                .suggest("try again, or use the id, which needs no position"));
        }
        let bounds = places.bounds(key).filter(|_| places.visible(key) != Some(false));
        let Some(bounds) = bounds else {
            return Err(changed("has been hidden since the picture".to_owned()));
        };
        if !is_in_place(kept.bounds, bounds) {
            let from_to = format!("from {} to {}", words(kept.bounds), words(bounds));
            return Err(changed(format!("has moved since the picture, {from_to}")));
        }
        let popup = match kept.window {
            Some(window) => self.popup_at(window, kept.point).await,
            None => None,
        };
        match (popup, kept.is_in_popup) {
            (Some(false), true) => {
                return Err(changed("is not shown any more: the popup that it was in is closed".to_owned()));
            }
            (Some(true), false) => {
                return Err(changed("has been covered since the picture: a popup is there".to_owned()));
            }
            _ => {}
        }
        match hit_test(app, key, kept.point, deadline).await {
            Hit::Itself => Ok(()),
            // Some apps do not look into popups, so this says less than that the item is where it was.
            Hit::Other(_) if kept.is_in_popup => Ok(()),
            Hit::Other(other) => {
                Err(changed(format!("has been covered since the picture: {} is there", described(&other))))
            }
            Hit::Concealed => Err(changed("has been covered since the picture".to_owned())),
        }
    }
}

/// The mark with a number.
fn mark_in<'a>(picture: &'a KeptPicture, mark: &Mark) -> Result<&'a KeptMark> {
    let index = (mark.number as usize).checked_sub(1);
    index.and_then(|index| picture.marks.get(index)).ok_or_else(|| {
        let handle = &picture.handle;
        let said = match picture.marks.len() {
            0 => format!("{mark}: picture {handle} has no marks"),
            1 => format!("{mark}: picture {handle} has one mark, #1"),
            count => format!("{mark}: picture {handle} has {count} marks, #1 to #{count}"),
        };
        Error::new(ErrorCode::ElementNotFound, said)
            .suggest("use a number that the answer to `ax screenshot --marks` lists")
            .retry("screenshot --marks")
    })
}

fn gone(mark: &Mark, kept: &KeptMark) -> Error {
    Error::new(ErrorCode::StaleRef, format!("{mark}: {} is gone", described(&kept.node)))
        .suggest("take a new picture with `ax screenshot --marks`")
        .retry("screenshot --marks")
}

/// Whether an element is where it was.
fn is_in_place(was: Bounds, now: Bounds) -> bool {
    let edges = [
        was.x - now.x,
        was.y - now.y,
        was.x + was.width - now.x - now.width,
        was.y + was.height - now.y - now.height,
    ];
    edges.iter().all(|edge| edge.abs() <= MAX_SHIFT)
}

fn described(node: &NodeRef) -> String {
    let mut what = String::new();
    write_ref(node, &mut what);
    what
}

fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    axd_protocol::text::quote(text, &mut quoted);
    quoted
}

fn words(bounds: Bounds) -> String {
    let Bounds { x, y, width, height } = bounds;
    format!("{x},{y} {width}x{height}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_in_place_if_no_edge_has_moved_by_more_than_rounding() {
        let was = Bounds { x: 10, y: 20, width: 30, height: 40 };
        assert!(is_in_place(was, Bounds { x: 11, y: 18, ..was }));
        for now in [Bounds { x: 13, ..was }, Bounds { y: 17, ..was }, Bounds { width: 33, ..was }] {
            assert!(!is_in_place(was, now), "{now:?}");
        }
    }
}
