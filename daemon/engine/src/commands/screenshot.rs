//! Screenshots: resolves what to capture, and encodes the image.

use std::sync::Arc;

use axd_protocol::command::Screenshot;
use axd_protocol::{Bounds, Error, ErrorCode, Result};
use tokio::time::{Instant, timeout_at};

use crate::Engine;
use crate::answer::Answer;
use crate::apps::measure::Measurements;
use crate::apps::target::{Located, Where, alive};
use crate::commands::image_file::{cut, encoded, form};
use crate::failure::Subject;
use crate::marks::draw::draw;
use crate::marks::elements::MarkScope;
use crate::marks::kept::{PictureOwner, handle_of};
use crate::marks::picture::{MeasuredPicture, max_marks};
use crate::policy::painted_over::{Covers, ScreenPart, paint_over};
use crate::policy::rates::too_many;
use axd_platform::{CaptureTarget, CapturedImage, DesktopWindow};
use axd_service::Call;

/// What to capture.
struct CaptureSubject {
    of: CaptureTarget,
    /// The part of the captured image that is wanted.
    part: Option<Bounds>,
    /// The app and the window that it is in, unless it is the screen.
    within: Option<(u32, Option<u64>)>,
}

impl From<CaptureTarget> for CaptureSubject {
    fn from(of: CaptureTarget) -> CaptureSubject {
        CaptureSubject { of, part: None, within: None }
    }
}

/// How an image is captured.
pub(crate) struct CaptureOptions {
    /// What is captured.
    of: CaptureTarget,
    /// Whether the pointer is in it.
    cursor: bool,
    /// The windows that are painted over, besides those that the policy blocks.
    covers: Covers,
}

/// A captured image, and the windows that were on the screen before and after.
pub(crate) type Shot = (CapturedImage, [Vec<ScreenPart>; 2]);

impl Engine {
    pub(crate) async fn screenshot(
        self: &Arc<Self>,
        call: &Call,
        args: &Screenshot,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let deadline = Engine::deadline(call);
        only_one(args)?;
        let form = form(args)?;
        let most_marks = max_marks(args.max_marks)?;
        marks_requested(args)?;
        let subject = self.subject(call, args, deadline).await?;
        let scope = match args.marks {
            true => Some(self.mark_scope(call, &subject, args, deadline).await?),
            false => None,
        };
        let most = self.policy.current().limits.captures_per_minute;
        self.rates.captures.count(most).map_err(|left| too_many("captures", most, left))?;
        let covers = Covers::new(&args.cover, &args.cover_except);
        let options = CaptureOptions { of: subject.of, cursor: args.cursor, covers };
        let (shot, measured) = match &scope {
            Some(scope) => {
                let MeasuredPicture { shot, look, moving } =
                    self.measured_picture(call, scope, &options, deadline).await?;
                (shot, Some((scope, look, moving)))
            }
            None => (self.shot(call, &options, deadline).await?, None),
        };
        let (mut picture, screens) = shot;
        let blocked: Vec<u64> = screens.iter().flatten().filter_map(|part| part.blocked_window()).collect();
        let part = subject.part;
        let (mut picture, blocked_windows) = blocking(deadline, move || {
            let blocked_windows = paint_over(&mut picture, &screens);
            let picture = match part {
                Some(part) => cut(&picture, part)?,
                None => picture,
            };
            Ok((picture, blocked_windows))
        })
        .await?;
        let mut marked = None;
        if let Some((scope, look, moving)) = measured {
            let scenery = self.scenery(&look, &picture, scope, blocked);
            let mut unread = scope.unread.clone();
            unread.extend(look.silent.iter().cloned());
            let view = (picture.origin, picture.scale);
            let made = self.marks_of(look, &scenery, view, most_marks, deadline).await;
            marked = Some((made, moving, unread));
        }
        let boxes: Vec<Bounds> =
            marked.iter().flat_map(|(made, ..)| &made.marks).map(|mark| mark.bounds).collect();
        let (style, known) = (args.style.unwrap_or_default(), args.if_changed.clone());
        let in_base_64 = !answer.is_text();
        let mut data = blocking(deadline, move || {
            draw(&mut picture, &boxes, style);
            encoded(&picture, form, known.as_deref(), in_base_64)
        })
        .await?;
        data.blocked_windows = blocked_windows;
        if let Some((made, moving, unread)) = marked {
            let handle = handle_of(&data.hash, &made.marks);
            self.kept_pictures.add(&handle, made.kept, PictureOwner::of(&call.session));
            data.picture = Some(handle);
            data.marks = Some(made.marks);
            data.unmarked = made.unmarked;
            data.moving = moving;
            data.apps_without_marks = unread;
        }
        answer.value(Some(self.clock.now()), None, &data);
        Ok(())
    }

    /// Captures an image.
    pub(crate) async fn shot(
        self: &Arc<Self>,
        call: &Call,
        CaptureOptions { of, cursor, covers }: &CaptureOptions,
        deadline: Instant,
    ) -> Result<Shot> {
        let (of, cursor) = (*of, *cursor);
        let before = self.screen_parts(call, of, covers);
        let captured = self
            .call_desktop(Subject::Desktop, &call.gate, deadline, |platform, _| platform.capture(of, cursor))
            .await;
        let picture = captured.map_err(|error| of_picture(error, of))?;
        Ok((picture, [before, self.screen_parts(call, of, covers)]))
    }

    /// Whose elements get marks.
    async fn mark_scope(
        self: &Arc<Self>,
        call: &Call,
        subject: &CaptureSubject,
        args: &Screenshot,
        deadline: Instant,
    ) -> Result<MarkScope> {
        if let Some(within) = subject.within {
            return self.mark_scope_of_window(call, within, args, deadline).await;
        }
        let area = match subject.of {
            CaptureTarget::Region(part) => Some(part),
            CaptureTarget::Display(number) => {
                let desktop = self.desktop.read();
                desktop.displays.iter().find(|known| known.display == number).map(|display| display.bounds)
            }
            CaptureTarget::All | CaptureTarget::Window(_) => None,
        };
        self.mark_scope_of_screen(call, area, args, deadline).await
    }

    async fn subject(
        self: &Arc<Self>,
        call: &Call,
        args: &Screenshot,
        deadline: Instant,
    ) -> Result<CaptureSubject> {
        if args.all || args.display.is_some() || args.region.is_some() {
            self.permit_screen(call)?;
        }
        if args.all {
            return Ok(CaptureTarget::All.into());
        }
        if let Some(number) = args.display {
            let desktop = self.desktop.read();
            let displays: Vec<String> =
                desktop.displays.iter().map(|display| display.display.to_string()).collect();
            if !desktop.displays.iter().any(|display| display.display == number) {
                let there = if displays.is_empty() { "none".into() } else { displays.join(", ") };
                return Err(Error::new(ErrorCode::InvalidArgs, format!("display {number} not found"))
                    .suggest(format!("displays: {there}"))
                    .retry("list-displays"));
            }
            return Ok(CaptureTarget::Display(number).into());
        }
        if let Some(region) = args.region {
            let shown = self.on_screen(region.0).ok_or_else(|| {
                Error::new(ErrorCode::InvalidArgs, format!("region {region} is not on any display"))
                    .suggest("run `ax list-displays` to see where displays are")
                    .retry("list-displays")
            })?;
            return Ok(CaptureTarget::Region(shown).into());
        }
        if let Some(target) = &args.element {
            let place =
                Where { app: args.app.as_deref(), window: args.window.as_deref(), ..Where::default() };
            let located = self.locate(call, target, place, deadline).await?;
            let title = {
                let tree = located.app.tree.read();
                self.window_title(&tree, alive(&located.app, &tree, located.id)?)
            };
            self.permit_on(call, located.app.pid(), title.as_deref())?;
            return self.element(&located, deadline).await;
        }
        let window = self.window_meant(call, args.window.as_deref(), args.app.as_deref(), deadline).await?;
        self.permit_on(call, window.pid, Some(&window.title))?;
        not_put_away(&window)?;
        let within = Some((window.pid, Some(window.window)));
        Ok(CaptureSubject { of: CaptureTarget::Window(window.window), part: None, within })
    }

    /// An element is captured as a part of the screen or, if another window covers it, as a part of its window.
    async fn element(&self, located: &Located, deadline: Instant) -> Result<CaptureSubject> {
        let app = &located.app;
        let (key, window) = {
            let tree = app.tree.read();
            let ix = alive(app, &tree, located.id)?;
            let window = tree.windows().find(|window| tree.is_within(ix, *window));
            (tree.key(ix), window.and_then(|window| tree.window_number(window)))
        };
        let not_actionable =
            |how: &str| Error::new(ErrorCode::NotActionable, format!("{} {how}", located.id));
        let window = window.and_then(|number| self.desktop.read().window(number).cloned());
        window.as_ref().map_or(Ok(()), not_put_away)?;
        let key = key.ok_or_else(|| not_actionable("has no position on the screen"))?;
        let places = Measurements::to_act(app, vec![key], deadline).await;
        if places.age.is_some() {
            return Err(Error::new(
                ErrorCode::AppUnresponsive,
                format!("{} does not report the position of {}", app.seen().name, located.id),
            )
            .suggest("try again, or capture its window"));
        }
        let bounds = places.bounds(key).filter(|bounds| bounds.width > 0 && bounds.height > 0);
        let Some(bounds) = bounds else {
            return Err(not_actionable("has no position on the screen")
                .suggest("it may not be visible; capture its window instead"));
        };
        let off_screen = || {
            not_actionable("is off the screen")
                .suggest("bring its window onto the screen with `ax move-window`")
        };
        let window_bounds = window.as_ref().and_then(|window| window.bounds);
        if window_bounds.is_some_and(|bounds| self.on_screen(bounds).is_none()) {
            return Err(off_screen());
        }
        if places.visible(key) == Some(false) {
            return Err(not_actionable("is not visible: it is hidden or scrolled out of view")
                .retry(format!("scroll-to {}", located.id)));
        }
        let shown = self.on_screen(bounds).ok_or_else(off_screen)?;
        let desktop = self.desktop.read();
        let covered = window.as_ref().filter(|window| is_covered(desktop.stack(), window.window, shown));
        let (of, part) = match covered {
            Some(window) => (CaptureTarget::Window(window.window), Some(bounds)),
            None => (CaptureTarget::Region(shown), None),
        };
        let within = Some((app.pid(), window.as_ref().map(|window| window.window)));
        Ok(CaptureSubject { of, part, within })
    }

    /// The part of a rectangle that lies within the displays; all of it where no displays are known.
    fn on_screen(&self, bounds: Bounds) -> Option<Bounds> {
        let desktop = self.desktop.read();
        let mut displays = desktop.displays.iter().map(|display| display.bounds).peekable();
        if displays.peek().is_none() {
            return Some(bounds);
        }
        let parts: Vec<Bounds> = displays.filter_map(|display| bounds.intersection(&display)).collect();
        let (x, y) = (parts.iter().map(|part| part.x).min()?, parts.iter().map(|part| part.y).min()?);
        let right = parts.iter().map(|part| part.x + part.width).max()?;
        let bottom = parts.iter().map(|part| part.y + part.height).max()?;
        Some(Bounds { x, y, width: right - x, height: bottom - y })
    }
}

/// The error for a failed capture.
fn of_picture(mut error: Error, of: CaptureTarget) -> Error {
    // The window is valid, but it cannot be captured where it is.
    if let (ErrorCode::InvalidArgs, CaptureTarget::Window(_)) = (error.code, of) {
        error.code = ErrorCode::NotActionable;
        error.suggestion = "bring the window onto the screen with `ax move-window`".to_owned();
    }
    error
}

/// Whether a window in front of this one covers any part of the bounds. The windows are front to back.
fn is_covered(windows: &[DesktopWindow], window: u64, bounds: Bounds) -> bool {
    let before = windows.iter().take_while(|other| other.window != window);
    let mut over = before.filter(|other| !other.minimized).filter_map(|other| other.bounds);
    over.any(|other| other.intersection(&bounds).is_some())
}

fn not_put_away(window: &DesktopWindow) -> Result<()> {
    if !window.minimized {
        return Ok(());
    }
    Err(Error::new(ErrorCode::NotActionable, format!("the window '{}' is minimized", window.title))
        .suggest("restore it first")
        .retry(format!("restore {}", window.window)))
}

/// Does work that takes long on a thread of its own, until the deadline.
async fn blocking<T: Send + 'static>(
    deadline: Instant,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match timeout_at(deadline, tokio::task::spawn_blocking(work)).await {
        Ok(Ok(done)) => done,
        Ok(Err(fault)) => Err(Error::new(ErrorCode::Internal, format!("writing the image failed: {fault}"))),
        Err(_) => Err(Error::new(ErrorCode::Timeout, "writing the image timed out")),
    }
}

/// Fails if the request says how to mark, but not that it wants marks.
fn marks_requested(args: &Screenshot) -> Result<()> {
    let said = [
        ("root", args.root.is_some()),
        ("roles", !args.roles.is_empty()),
        ("max_marks", args.max_marks.is_some()),
        ("style", args.style.is_some()),
    ];
    match said.iter().find(|(_, said)| *said && !args.marks) {
        Some((name, _)) => {
            Err(Error::new(ErrorCode::InvalidArgs, format!("{name} applies to marked pictures only"))
                .suggest(format!("add --marks, or omit {name}")))
        }
        None => Ok(()),
    }
}

/// Fails if the request names more than one subject.
fn only_one(args: &Screenshot) -> Result<()> {
    let whole = args.window.is_some() || args.app.is_some();
    let ways = [
        ("element", args.element.is_some()),
        ("region", args.region.is_some()),
        ("display", args.display.is_some()),
        ("all", args.all),
        // An element may be given together with the window it is in.
        ("window or app", whole && args.element.is_none()),
    ];
    let said: Vec<&str> = ways.iter().filter(|(_, said)| *said).map(|(way, _)| *way).collect();
    if said.len() < 2 {
        return Ok(());
    }
    Err(Error::new(ErrorCode::InvalidArgs, format!("{} exclude each other", said.join(" and ")))
        .suggest("take one screenshot at a time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screenshot() -> Screenshot {
        serde_json::from_str("{}").unwrap()
    }

    #[test]
    fn a_picture_is_of_one_thing() {
        assert!(only_one(&screenshot()).is_ok());
        let element =
            Screenshot { element: Some("button".into()), app: Some("Notes".into()), ..screenshot() };
        assert!(only_one(&element).is_ok());
        for both in [
            Screenshot { all: true, display: Some(1), ..screenshot() },
            Screenshot { all: true, app: Some("Notes".into()), ..screenshot() },
            Screenshot { display: Some(1), ..element.clone() },
        ] {
            assert_eq!(only_one(&both).unwrap_err().code, ErrorCode::InvalidArgs);
        }
    }

    #[test]
    fn only_windows_before_it_cover_a_window() {
        let window = |window, x| DesktopWindow {
            window,
            pid: 1,
            title: String::new(),
            bounds: Some(Bounds { x, y: 0, width: 10, height: 10 }),
            minimized: false,
            maximized: false,
            splash: false,
        };
        let mut windows = vec![window(1, 0), window(2, 5), window(3, 5)];
        let left = Bounds { x: 5, y: 0, width: 3, height: 3 };
        let right = Bounds { x: 12, y: 0, width: 3, height: 3 };
        assert!(is_covered(&windows, 2, left) && !is_covered(&windows, 2, right));
        assert!(!is_covered(&windows, 1, left));
        windows[0].minimized = true;
        assert!(!is_covered(&windows, 2, left));
    }
}
