//! The file of an image: the part that is wanted, its hash, and PNG or JPEG.

use std::hash::Hasher;

use axd_platform::CapturedImage;
use axd_protocol::command::{ImageFormat, Screenshot, ScreenshotAnswer};
use axd_protocol::{Bounds, Error, ErrorCode, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE_64;
use rustc_hash::FxHasher;

/// The default JPEG quality.
const QUALITY: u8 = 80;
/// The maximum width and height of a JPEG.
const JPEG_MOST: u32 = 65_535;

/// The format of the image file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Png,
    Jpeg(u8),
}

pub(crate) fn form(args: &Screenshot) -> Result<Form> {
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
pub(crate) fn encoded(
    picture: &CapturedImage,
    form: Form,
    known: Option<&str>,
    in_base_64: bool,
) -> Result<ScreenshotAnswer> {
    let expected = u64::from(picture.width) * u64::from(picture.height) * 3;
    if expected == 0 || picture.rgb.len() as u64 != expected {
        return Err(Error::new(
            ErrorCode::Internal,
            format!("the desktop returned an incomplete image: {picture:?}"),
        ));
    }
    let hash = hash(picture);
    let unchanged = known == Some(hash.as_str());
    let file = if unchanged { Vec::new() } else { encode(picture, form)? };
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
        popups: picture.popups.len() as u32,
        marks: None,
        picture: None,
        unmarked: 0,
        moving: false,
        apps_without_marks: Vec::new(),
        size: file.len() as u64,
        path: None,
        bytes: (in_base_64 && !unchanged).then(|| BASE_64.encode(&file)),
    })
}

/// The part of an image within these bounds, which are points on the desktop.
pub(crate) fn cut(picture: &CapturedImage, part: Bounds) -> Result<CapturedImage> {
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
    let popups = picture.popups.iter().filter_map(|popup| popup.intersection(&part)).collect();
    let (width, height) = (width as u32, height as u32);
    Ok(CapturedImage { width, height, rgb, origin, scale: picture.scale, popups })
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
        CapturedImage { width, height, rgb, origin: Point { x: 100, y: 50 }, scale, popups: Vec::new() }
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
        let first = encoded(&picture(20, 10, 1.0), Form::Png, None, true).unwrap();
        assert!(first.bytes.is_some() && !first.unchanged && first.size > 0);
        let again = encoded(&picture(20, 10, 1.0), Form::Png, Some(&first.hash), true).unwrap();
        assert_eq!((again.unchanged, again.bytes, again.size), (true, None, 0));
        let mut other = picture(20, 10, 1.0);
        other.rgb[17] ^= 1;
        let other = encoded(&other, Form::Png, Some(&first.hash), true).unwrap();
        assert!(!other.unchanged && other.bytes.is_some());
        let turned = encoded(&picture(10, 20, 1.0), Form::Png, Some(&first.hash), true).unwrap();
        assert!(!turned.unchanged);
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
}
