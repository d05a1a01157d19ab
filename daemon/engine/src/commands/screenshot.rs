//! Screenshots: resolves what to capture, and encodes the image.

use std::hash::Hasher;
use std::sync::Arc;

use axd_protocol::command::{ImageFormat, Screenshot, ScreenshotAnswer};
use axd_protocol::{Bounds, Error, ErrorCode, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE_64;
use rustc_hash::FxHasher;
use tokio::time::{Instant, timeout_at};

use crate::Engine;
use crate::answer::Answer;
use crate::apps::measure::Measurements;
use crate::apps::target::{Located, Where, alive};
use crate::failure::Subject;
use crate::policy::painted_over::{Covers, paint_over};
use crate::policy::rates::too_many;
use axd_platform::{CaptureTarget, CapturedImage, DesktopWindow};
use axd_service::Call;

/// The default JPEG quality.
const QUALITY: u8 = 80;
/// The maximum width and height of a JPEG.
const JPEG_MOST: u32 = 65_535;

/// What to capture.
struct CaptureSubject {
    of: CaptureTarget,
    /// The part of the captured image that is wanted.
    part: Option<Bounds>,
}

impl From<CaptureTarget> for CaptureSubject {
    fn from(of: CaptureTarget) -> CaptureSubject {
        CaptureSubject { of, part: None }
    }
}

/// The format of the image file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Png,
    Jpeg(u8),
}

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
        let CaptureSubject { of, part } = self.subject(call, args, deadline).await?;
        let most = self.policy.current().limits.captures_per_minute;
        self.rates.captures.count(most).map_err(|left| too_many("captures", most, left))?;
        let covers = Covers::new(&args.cover, &args.cover_except);
        let before = self.screen_parts(call, of, &covers);
        let captured = self
            .call_desktop(Subject::Desktop, &call.gate, deadline, |platform, _| {
                platform.capture(of, args.cursor)
            })
            .await;
        let mut picture = captured.map_err(|error| of_picture(error, of))?;
        let screens = [before, self.screen_parts(call, of, &covers)];
        let known = args.if_changed.clone();
        let in_base_64 = !answer.is_text();
        let made = tokio::task::spawn_blocking(move || {
            let blocked_windows = paint_over(&mut picture, &screens);
            let made = make(picture, part, form, known.as_deref(), in_base_64)?;
            Ok(ScreenshotAnswer { blocked_windows, ..made })
        });
        let data = match timeout_at(deadline, made).await {
            Ok(Ok(made)) => made?,
            Ok(Err(fault)) => {
                return Err(Error::new(ErrorCode::Internal, format!("writing the image failed: {fault}")));
            }
            Err(_) => return Err(Error::new(ErrorCode::Timeout, "writing the image timed out")),
        };
        answer.value(Some(self.clock.now()), None, &data);
        Ok(())
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
            let place = Where { app: args.app.as_deref(), window: args.window.as_deref() };
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
        Ok(CaptureTarget::Window(window.window).into())
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
        Ok(match covered {
            Some(window) => CaptureSubject { of: CaptureTarget::Window(window.window), part: Some(bounds) },
            None => CaptureTarget::Region(shown).into(),
        })
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

fn form(args: &Screenshot) -> Result<Form> {
    match (args.format.unwrap_or_default(), args.quality) {
        (ImageFormat::Png, None) => Ok(Form::Png),
        (ImageFormat::Png, Some(_)) => {
            Err(Error::new(ErrorCode::InvalidArgs, "quality applies to JPEG only")
                .suggest("omit quality, or use --format jpeg"))
        }
        (ImageFormat::Jpeg, quality) => match quality.unwrap_or(QUALITY) {
            quality @ 1..=100 => Ok(Form::Jpeg(quality)),
            quality => Err(Error::new(
                ErrorCode::InvalidArgs,
                format!("quality must be between 1 and 100, not {quality}"),
            )),
        },
    }
}

/// Encodes an image and makes the answer. This takes a while, so it must not run on the threads that serve requests.
fn make(
    picture: CapturedImage,
    part: Option<Bounds>,
    form: Form,
    known: Option<&str>,
    in_base_64: bool,
) -> Result<ScreenshotAnswer> {
    let picture = match part {
        Some(part) => cut(&picture, part)?,
        None => picture,
    };
    let expected = u64::from(picture.width) * u64::from(picture.height) * 3;
    if expected == 0 || picture.rgb.len() as u64 != expected {
        return Err(Error::new(
            ErrorCode::Internal,
            format!("the desktop returned an incomplete image: {picture:?}"),
        ));
    }
    let hash = hash(&picture);
    let unchanged = known == Some(hash.as_str());
    let file = if unchanged { Vec::new() } else { encode(&picture, form)? };
    let points = |pixels: u32| (f64::from(pixels) / picture.scale).round() as i32;
    Ok(ScreenshotAnswer {
        format: if form == Form::Png { ImageFormat::Png } else { ImageFormat::Jpeg },
        width: picture.width,
        height: picture.height,
        bounds: Bounds {
            x: picture.origin.x,
            y: picture.origin.y,
            width: points(picture.width),
            height: points(picture.height),
        },
        scale: picture.scale,
        hash,
        unchanged,
        blocked_windows: 0,
        size: file.len() as u64,
        path: None,
        bytes: (in_base_64 && !unchanged).then(|| BASE_64.encode(&file)),
    })
}

/// The part of an image within these bounds, which are points on the desktop.
fn cut(picture: &CapturedImage, part: Bounds) -> Result<CapturedImage> {
    let pixels = |points: i32| (f64::from(points) * picture.scale).round() as i32;
    let whole = Bounds { x: 0, y: 0, width: picture.width as i32, height: picture.height as i32 };
    let (left, top) =
        (pixels(part.x.saturating_sub(picture.origin.x)), pixels(part.y.saturating_sub(picture.origin.y)));
    let wanted = Bounds { x: left, y: top, width: pixels(part.width), height: pixels(part.height) };
    let Some(there) = wanted.intersection(&whole) else {
        return Err(Error::new(ErrorCode::NotActionable, "the element is not in the image of its window")
            .suggest("capture the screen with --all, or a region with --region"));
    };
    // The part lies within the image, so none of these is negative.
    let (x, y) = (there.x as usize, there.y as usize);
    let (width, height) = (there.width as usize, there.height as usize);
    let stride = picture.width as usize * 3;
    let mut rgb = Vec::with_capacity(width * height * 3);
    for row in picture.rgb.chunks_exact(stride).skip(y).take(height) {
        rgb.extend_from_slice(&row[x * 3..(x + width) * 3]);
    }
    let points = |pixels: i32| (f64::from(pixels) / picture.scale).round() as i32;
    let mut origin = picture.origin;
    (origin.x, origin.y) = (origin.x + points(there.x), origin.y + points(there.y));
    Ok(CapturedImage { width: width as u32, height: height as u32, rgb, origin, scale: picture.scale })
}

/// A hash of an image: equal for the same pixels in the same size.
fn hash(picture: &CapturedImage) -> String {
    let mut hasher = FxHasher::default();
    hasher.write_u32(picture.width);
    hasher.write_u32(picture.height);
    hasher.write(&picture.rgb);
    format!("{:016x}", hasher.finish())
}

fn encode(picture: &CapturedImage, form: Form) -> Result<Vec<u8>> {
    let failed = |fault: &dyn std::fmt::Display| {
        Error::new(ErrorCode::Internal, format!("the image could not be written: {fault}"))
    };
    let mut file = Vec::new();
    match form {
        Form::Png => {
            let mut encoder = png::Encoder::new(&mut file, picture.width, picture.height);
            encoder.set_color(png::ColorType::Rgb);
            encoder.set_depth(png::BitDepth::Eight);
            encoder.set_compression(png::Compression::Fast);
            let mut writer = encoder.write_header().map_err(|fault| failed(&fault))?;
            writer.write_image_data(&picture.rgb).map_err(|fault| failed(&fault))?;
            writer.finish().map_err(|fault| failed(&fault))?;
        }
        Form::Jpeg(quality) => {
            if picture.width.max(picture.height) > JPEG_MOST {
                let message = format!("a JPEG can have at most {JPEG_MOST} pixels per side");
                return Err(Error::new(ErrorCode::InvalidArgs, message).suggest("use --format png"));
            }
            let (width, height) = (picture.width as u16, picture.height as u16);
            jpeg_encoder::Encoder::new(&mut file, quality)
                .encode(&picture.rgb, width, height, jpeg_encoder::ColorType::Rgb)
                .map_err(|fault| failed(&fault))?;
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use axd_protocol::Point;

    use super::*;

    /// An image in which every pixel encodes its position.
    fn picture(width: u32, height: u32, scale: f64) -> CapturedImage {
        let rgb = (0..height).flat_map(|y| (0..width).flat_map(move |x| [x as u8, y as u8, 7])).collect();
        CapturedImage { width, height, rgb, origin: Point { x: 100, y: 50 }, scale }
    }

    fn screenshot() -> Screenshot {
        serde_json::from_str("{}").unwrap()
    }

    #[test]
    fn a_part_is_cut_out_in_pixels_and_says_where_it_is_in_points() {
        let cut = cut(&picture(20, 10, 2.0), Bounds { x: 102, y: 51, width: 3, height: 2 }).unwrap();
        assert_eq!((cut.width, cut.height, cut.origin), (6, 4, Point { x: 102, y: 51 }));
        assert_eq!((cut.rgb.len(), &cut.rgb[..3]), (6 * 4 * 3, &[4, 2, 7][..]));
        assert_eq!(&cut.rgb[6 * 4 * 3 - 3..], &[9, 5, 7]);
    }

    #[test]
    fn a_part_that_sticks_out_is_cut_off_at_the_edge() {
        let whole = picture(20, 10, 1.0);
        let corner = cut(&whole, Bounds { x: 90, y: 55, width: 15, height: 99 }).unwrap();
        assert_eq!((corner.width, corner.height, corner.origin), (5, 5, Point { x: 100, y: 55 }));
        let outside = cut(&whole, Bounds { x: 0, y: 0, width: 9, height: 9 }).unwrap_err();
        assert_eq!(outside.code, ErrorCode::NotActionable);
    }

    #[test]
    fn a_png_gives_back_every_pixel_and_a_jpeg_is_one() {
        let taken = picture(20, 10, 1.0);
        let file = encode(&taken, Form::Png).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut rgb).unwrap();
        assert_eq!(rgb, taken.rgb);
        assert!(encode(&taken, Form::Jpeg(60)).unwrap().starts_with(&[0xff, 0xd8, 0xff]));
    }

    #[test]
    fn the_same_picture_has_the_same_hash_and_does_not_come_again() {
        let first = make(picture(20, 10, 1.0), None, Form::Png, None, true).unwrap();
        assert!(first.bytes.is_some() && !first.unchanged && first.size > 0);
        let again = make(picture(20, 10, 1.0), None, Form::Png, Some(&first.hash), true).unwrap();
        assert_eq!((again.unchanged, again.bytes, again.size), (true, None, 0));
        let mut other = picture(20, 10, 1.0);
        other.rgb[17] ^= 1;
        let other = make(other, None, Form::Png, Some(&first.hash), true).unwrap();
        assert!(!other.unchanged && other.bytes.is_some());
        let turned = make(picture(10, 20, 1.0), None, Form::Png, Some(&first.hash), true).unwrap();
        assert!(!turned.unchanged);
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
    fn quality_is_of_a_jpeg_and_from_1_to_100() {
        let jpeg = Screenshot { format: Some(ImageFormat::Jpeg), ..screenshot() };
        assert_eq!(form(&screenshot()), Ok(Form::Png));
        assert_eq!(form(&jpeg), Ok(Form::Jpeg(QUALITY)));
        assert!(form(&Screenshot { quality: Some(9), ..screenshot() }).is_err());
        for wrong in [0, 101] {
            assert!(form(&Screenshot { quality: Some(wrong), ..jpeg.clone() }).is_err());
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
