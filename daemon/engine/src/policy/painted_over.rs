//! Windows that the policy allows in no picture, or that a request does not want in it: they are painted over.

use axd_platform::{CaptureTarget, CapturedImage, DesktopWindow};
use axd_policy::{Fact, Stage, Verdict};
use axd_protocol::Bounds;
use axd_protocol::pattern::{Pattern, any_matches};
use axd_service::Call;

use crate::Engine;
use crate::policy::facts::{About, Requester};

/// The colour of what is painted over.
const PAINT: [u8; 3] = [0x60, 0x60, 0x60];

/// Larger than all screens.
const EVERYWHERE: Bounds = Bounds { x: -(1 << 20), y: -(1 << 20), width: 1 << 21, height: 1 << 21 };

/// A window of the screen, front to back, and whether it may be in a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScreenPart {
    window: u64,
    bounds: Bounds,
    is_blocked: bool,
}

impl ScreenPart {
    /// The number of the window, if it is in no picture.
    pub fn blocked_window(&self) -> Option<u64> {
        Some(self.window).filter(|_| self.is_blocked)
    }
}

/// The windows that a request wants painted over, besides those that the policy blocks.
pub(crate) struct Covers {
    these: Vec<Pattern>,
    all_but: Vec<Pattern>,
}

impl Covers {
    pub(crate) fn new(these: &[String], all_but: &[String]) -> Covers {
        let patterns = |texts: &[String]| texts.iter().map(|text| Pattern::new(text)).collect();
        Covers { these: patterns(these), all_but: patterns(all_but) }
    }

    fn has(&self, title: &str) -> bool {
        any_matches(&self.these, title) || (!self.all_but.is_empty() && !any_matches(&self.all_but, title))
    }
}

impl Engine {
    /// The windows that are on the screen now and may cover what is captured, front to back.
    pub(crate) fn screen_parts(
        self: &std::sync::Arc<Self>,
        call: &Call,
        of: CaptureTarget,
        covers: &Covers,
    ) -> Vec<ScreenPart> {
        self.drain_desktop_events();
        let windows: Vec<(DesktopWindow, bool)> = {
            let desktop = self.desktop.read();
            desktop.stack().iter().map(|window| (window.clone(), desktop.is_hidden(window))).collect()
        };
        // A window that is captured alone is among them: its title may have changed since it was asked about.
        let it = windows.iter().position(|(window, _)| of == CaptureTarget::Window(window.window));
        let shown = windows.into_iter().take(it.map_or(usize::MAX, |at| at + 1));
        let parts = shown.filter(|(window, _)| !window.minimized).filter_map(|(window, is_hidden)| {
            let is_blocked =
                is_hidden || covers.has(&window.title) || self.is_blocked_in_pictures(call, &window);
            // One that is blocked may be anywhere, if nobody knows where it is.
            let bounds = window.bounds.or(is_blocked.then_some(EVERYWHERE))?;
            Some(ScreenPart { window: window.window, bounds, is_blocked })
        });
        parts.collect()
    }

    fn is_blocked_in_pictures(&self, call: &Call, window: &DesktopWindow) -> bool {
        let view = self.app_view(window.pid);
        let about = About {
            app: Fact::known_or_not(view.as_ref()),
            window: Fact::Known(&window.title),
            ..About::default()
        };
        let decision = self.decide(&Requester::of(call), &about, Stage::Final);
        // Who approved a picture of the screen approved what the same rule says of the windows on it.
        let is_asked = decision.verdict == Verdict::Ask;
        let is_approved = is_asked && call.approved.has_whole(&decision.rule);
        !is_approved && !self.is_allowed(&decision, call.session.client, &call.approved, &about)
    }
}

/// Paints over the blocked windows, where no other window lies before them. The screen is given as it was before and after the
/// picture was taken, because windows move. Returns how many windows were painted over.
pub(crate) fn paint_over(picture: &mut CapturedImage, screens: &[Vec<ScreenPart>]) -> u32 {
    if screens.iter().flatten().all(|part| !part.is_blocked) {
        return 0;
    }
    let (width, height) = (picture.width as usize, picture.height as usize);
    if picture.rgb.len() != width * height * 3 {
        return 0;
    }
    let mut painted = 0;
    for parts in screens {
        let mut covered = vec![false; width * height];
        let mut blocked = 0;
        for part in parts.iter().rev() {
            let Some((xs, ys)) = pixels(picture, part.bounds) else { continue };
            blocked += u32::from(part.is_blocked);
            for y in ys {
                covered[y * width..][xs.clone()].fill(part.is_blocked);
            }
        }
        for (pixel, is_covered) in picture.rgb.chunks_exact_mut(3).zip(covered) {
            if is_covered {
                pixel.copy_from_slice(&PAINT);
            }
        }
        painted = painted.max(blocked);
    }
    painted
}

/// The pixels of a picture that show a rectangle of the screen: all that it touches.
fn pixels(
    picture: &CapturedImage,
    bounds: Bounds,
) -> Option<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    let range = |start: i32, length: i32, origin: i32, most: u32| {
        let at = |point: i64| (point as f64 - f64::from(origin)) * picture.scale;
        let from = at(i64::from(start)).floor().clamp(0.0, f64::from(most)) as usize;
        let to = at(i64::from(start) + i64::from(length)).ceil().clamp(0.0, f64::from(most)) as usize;
        (from < to).then_some(from..to)
    };
    Some((
        range(bounds.x, bounds.width, picture.origin.x, picture.width)?,
        range(bounds.y, bounds.height, picture.origin.y, picture.height)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axd_protocol::Point;

    fn white(scale: f64) -> CapturedImage {
        let (width, height) = ((10.0 * scale) as u32, (10.0 * scale) as u32);
        let rgb = vec![255; (width * height * 3) as usize];
        CapturedImage { width, height, rgb, origin: Point { x: 100, y: 0 }, scale, popups: Vec::new() }
    }

    fn part(x: i32, width: i32, is_blocked: bool) -> ScreenPart {
        ScreenPart { window: 1, bounds: Bounds { x, y: 2, width, height: 3 }, is_blocked }
    }

    /// The pixels of a row that are painted over.
    fn painted(picture: &CapturedImage, row: usize) -> Vec<usize> {
        let width = picture.width as usize;
        let row = &picture.rgb[row * width * 3..(row + 1) * width * 3];
        row.chunks(3).enumerate().filter(|(_, pixel)| *pixel == PAINT).map(|(x, _)| x).collect()
    }

    #[test]
    fn a_blocked_window_is_painted_over_where_nothing_lies_before_it() {
        let mut picture = white(1.0);
        let screen = vec![part(105, 2, false), part(102, 6, true), part(90, 100, false)];
        assert_eq!(paint_over(&mut picture, &[screen]), 1);
        assert_eq!(painted(&picture, 2), [2, 3, 4, 7]);
        assert_eq!((painted(&picture, 1).len(), painted(&picture, 5).len()), (0, 0));
    }

    #[test]
    fn a_window_that_moved_is_painted_over_in_both_places() {
        let mut picture = white(2.0);
        let screens = [vec![part(101, 1, true)], vec![part(108, 50, true)], Vec::new()];
        assert_eq!(paint_over(&mut picture, &screens), 1);
        assert_eq!(painted(&picture, 4), [2, 3, 16, 17, 18, 19]);
    }

    #[test]
    fn what_is_not_in_the_picture_is_not_counted() {
        let mut picture = white(1.0);
        assert_eq!(paint_over(&mut picture, &[vec![part(500, 5, true), part(-900, 5, true)]]), 0);
        assert!(painted(&picture, 2).is_empty());
    }
}
