//! A picture and the places of what is in it, of one moment; and the marks that follow from both.

use std::sync::Arc;
use std::time::Duration;

use axd_platform::{CapturedImage, ElementKey, WorkerRequest};
use axd_protocol::command::PictureMark;
use axd_protocol::{Bounds, Error, ErrorCode, NodeRef, Point, Result};
use axd_service::Call;
use tokio::time::Instant;

use crate::Engine;
use crate::action::settle::fence;
use crate::apps::app::App;
use crate::change_wait::Next;
use crate::commands::screenshot::{CaptureOptions, Shot};
use crate::marks::elements::{Look, MarkElement, MarkScope};
use crate::marks::kept::KeptMark;
use crate::marks::visible::{Scenery, VisiblePart, in_pixels, is_menu_around, visible_part};

/// How often a picture is taken, at most, until nothing in it has moved meanwhile.
const MAX_TRIES: u32 = 6;
/// How long to wait between two tries for what moves to come to rest.
const RETRY_INTERVAL: Duration = Duration::from_millis(40);
/// How long an app may take to pass on what it announced before the picture.
const FENCE_TIMEOUT: Duration = Duration::from_millis(500);
/// How long apps are asked, for one picture, what is at the points of its marks.
const HIT_TESTS_TIMEOUT: Duration = Duration::from_millis(1_500);
/// The default maximum number of marks.
const MAX_MARKS: usize = 150;
/// More marks than this cannot be asked for.
const MOST_MARKS: u32 = 500;

/// The maximum number of marks that a request asks for.
pub(crate) fn max_marks(asked: Option<u32>) -> Result<usize> {
    match asked {
        None => Ok(MAX_MARKS),
        Some(most @ 1..=MOST_MARKS) => Ok(most as usize),
        Some(most) => Err(Error::new(
            ErrorCode::InvalidArgs,
            format!("max_marks must be between 1 and {MOST_MARKS}, not {most}"),
        )),
    }
}

/// A picture with what was measured while it was taken.
pub(crate) struct MeasuredPicture {
    pub shot: Shot,
    /// What was in the same place before the picture and after it.
    pub look: Look,
    /// Whether something moved each time.
    pub moving: bool,
}

/// The marks of a picture.
#[derive(Default)]
pub(crate) struct PictureMarks {
    pub marks: Vec<PictureMark>,
    pub kept: Vec<KeptMark>,
    /// The number of visible elements without a mark.
    pub unmarked: u32,
}

impl Engine {
    /// Takes a picture between two looks that see the same, if that can be had.
    pub(crate) async fn measured_picture(
        self: &Arc<Self>,
        call: &Call,
        scope: &MarkScope,
        options: &CaptureOptions,
        deadline: Instant,
    ) -> Result<MeasuredPicture> {
        let mut before = self.look_for_marks(scope, deadline).await?;
        let mut tries = 1;
        loop {
            let shot = self.shot(call, options, deadline).await?;
            for (app, _) in &scope.apps {
                let end = deadline.min(Instant::now() + FENCE_TIMEOUT);
                // An app that does not answer is silent in the next look, too.
                if fence(app, end, &call.gate).await.is_none() {
                    return Err(Error::new(ErrorCode::Cancelled, "screenshot was cancelled"));
                }
            }
            let after = self.look_for_marks(scope, deadline).await?;
            if before == after {
                return Ok(MeasuredPicture { shot, look: after, moving: false });
            }
            if tries == MAX_TRIES || Instant::now() >= deadline {
                let Look { windows, silent, elements } = after;
                let still = |element: &MarkElement| before.elements.contains(element);
                let elements = elements.into_iter().filter(still).collect();
                let look = Look { windows, silent, elements };
                return Ok(MeasuredPicture { shot, look, moving: true });
            }
            tries += 1;
            match self.change_wait(deadline, &call.gate).next_within(RETRY_INTERVAL).await {
                Next::Check | Next::TimedOut => {}
                Next::Cancelled => return Err(Error::new(ErrorCode::Cancelled, "screenshot was cancelled")),
            }
            before = self.look_for_marks(scope, deadline).await?;
        }
    }

    /// The marks of a picture: the elements that can be seen in it, where they can be seen.
    pub(crate) async fn marks_of(
        &self,
        look: Look,
        scenery: &Scenery,
        (origin, scale): (Point, f64),
        most: usize,
        deadline: Instant,
    ) -> PictureMarks {
        let seen = look.elements.into_iter().filter_map(|element| {
            let part = visible_part(element.place, scenery)?;
            Some((element, part))
        });
        let seen: Vec<(MarkElement, VisiblePart)> = seen.collect();
        let places: Vec<_> = seen.iter().map(|(element, part)| (element.role, part.bounds)).collect();
        let end = deadline.min(Instant::now() + HIT_TESTS_TIMEOUT);
        let mut made = PictureMarks::default();
        for (element, part) in seen {
            if is_menu_around(element.role, part.bounds, &places) {
                continue;
            }
            if made.marks.len() == most {
                made.unmarked += 1;
                continue;
            }
            let is_in_popup = scenery.popups.iter().any(|popup| popup.contains(part.points[0]));
            let trusts = is_in_popup && (element.place.pops_up || element.place.window.is_none());
            let Some(point) = reachable_point(&element, &part, trusts, end).await else { continue };
            let MarkElement { app, id, role, name, place, .. } = element;
            let bounds = in_pixels(part.bounds, origin, scale);
            let mark = made.marks.len() as u32 + 1;
            made.marks.push(PictureMark { mark, id, role, name: name.clone(), bounds, point });
            let node = NodeRef { id, role, name };
            let (app, bounds) = (Arc::downgrade(&app), place.bounds);
            let window = scenery.window.map(|(window, _)| window).or(place.window);
            made.kept.push(KeptMark { app, node, bounds, point, is_in_popup: trusts, window });
        }
        made
    }

    /// What lies where in a picture.
    pub(crate) fn scenery(
        &self,
        look: &Look,
        picture: &CapturedImage,
        scope: &MarkScope,
        blocked: Vec<u64>,
    ) -> Scenery {
        let points = |pixels: u32| (f64::from(pixels) / picture.scale).round() as i32;
        let area = Bounds {
            x: picture.origin.x,
            y: picture.origin.y,
            width: points(picture.width),
            height: points(picture.height),
        };
        let window = scope.window.and_then(|window| {
            let (_, bounds) = look.windows.iter().find(|(number, _)| *number == window)?;
            Some((window, *bounds))
        });
        Scenery { area, window, stack: look.windows.clone(), popups: picture.popups.clone(), blocked }
    }
}

/// What an app says is at a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hit {
    /// The element, something in it or around it; or nobody knows.
    Itself,
    /// Another element.
    Other(NodeRef),
    /// Something in a window that may not be read.
    Concealed,
}

/// Asks an app what is at a point of an element. If the app does not say by the deadline, it counts as the element.
pub(crate) async fn hit_test(app: &App, key: ElementKey, point: Point, deadline: Instant) -> Hit {
    let hit = app.ask_raw(deadline, |reply| WorkerRequest::HitTest { point, reply }).await;
    let Some(top) = hit.ok().flatten() else { return Hit::Itself };
    let tree = app.tree.read();
    if tree.is_concealed_key(top) {
        return Hit::Concealed;
    }
    let (Some(top), Some(own)) = (tree.by_key(top), tree.by_key(key)) else { return Hit::Itself };
    let is_related = tree.is_within(top, own) || tree.is_within(own, top);
    // Another window of the app may lie before this one; a picture shows the window without it.
    let numbered = |ix| tree.window_of(ix).and_then(|window| tree.window_number(window));
    let is_elsewhere = match (numbered(top), numbered(own)) {
        (Some(one), Some(other)) => one != other,
        _ => false,
    };
    if is_related || is_elsewhere { Hit::Itself } else { Hit::Other(tree.node_ref(top)) }
}

/// The first of the points of an element at which its app finds it. `trusts` if the app need not find it: some do not look into
/// popups.
async fn reachable_point(
    element: &MarkElement,
    part: &VisiblePart,
    trusts: bool,
    deadline: Instant,
) -> Option<Point> {
    for point in &part.points {
        if Instant::now() >= deadline {
            return Some(part.points[0]);
        }
        if hit_test(&element.app, element.key, *point, deadline).await == Hit::Itself {
            return Some(*point);
        }
    }
    part.points.first().copied().filter(|_| trusts)
}
