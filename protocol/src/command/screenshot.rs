//! Screenshots.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::geometry::{Bounds, Point};
use crate::id::NodeId;
use crate::role::Role;

/// A region of the screen: `X,Y,WIDTH,HEIGHT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct Region(pub Bounds);

impl FromStr for Region {
    type Err = String;

    fn from_str(text: &str) -> Result<Region, String> {
        let numbers: Vec<i32> = text.split(',').map_while(|part| part.trim().parse().ok()).collect();
        match numbers[..] {
            [x, y, width, height] if width > 0 && height > 0 && text.split(',').count() == 4 => {
                Ok(Region(Bounds { x, y, width, height }))
            }
            _ => Err(format!("'{text}' is not a region; write X,Y,WIDTH,HEIGHT, as in 0,0,800,600")),
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bounds { x, y, width, height } = self.0;
        write!(f, "{x},{y},{width},{height}")
    }
}

impl Serialize for Region {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Region {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Region, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The format of an image file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum ImageFormat {
    /// PNG, which is lossless.
    #[default]
    Png,
    /// JPEG, which is smaller.
    #[serde(alias = "jpg")]
    #[cfg_attr(feature = "cli", value(alias = "jpg"))]
    Jpeg,
}

/// How marks are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum MarkStyle {
    /// A frame around each element, with its number beside it.
    #[default]
    Outline,
    /// The same, with a tint over each element.
    Fill,
    /// Nothing; the answer lists the marks.
    None,
}

/// Take a screenshot of a display, a window, an element or a region.
///
/// Without options: the active window. A picture of a window includes its menus and other popups. With a PATH, `ax` writes the
/// file; `-` writes the image to standard output. Without a PATH, the answer contains the image in base64.
///
/// With --marks, numbered boxes are drawn around the elements that can be acted on and are visible in the picture, and
/// the answer lists them. `#7` is then a target: mark 7 of the latest marked picture of the same client; `#7@PICTURE` names the
/// picture.
///
/// Examples:
///   ax screenshot shot.png
///   ax screenshot button.png --element button:Save
///   ax screenshot all.jpg --all --quality 60
///   ax screenshot shot.png --marks --roles button,link
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Screenshot {
    /// Output file; its extension selects the format unless --format is given.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(value_name = "PATH"))]
    pub path: Option<PathBuf>,
    /// Capture the front window of this app.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP"))]
    pub app: Option<String>,
    /// Capture this window, by title, id or window number.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "WINDOW"))]
    pub window: Option<String>,
    /// Capture this element: an id or a selector.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TARGET", conflicts_with_all = ["region", "display", "all"]))]
    pub element: Option<String>,
    /// Capture this region of the screen.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "X,Y,WIDTH,HEIGHT", allow_hyphen_values = true, conflicts_with_all = ["window", "app", "display", "all"]))]
    pub region: Option<Region>,
    /// Capture this display, by number.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", conflicts_with_all = ["window", "app", "all"]))]
    pub display: Option<u32>,
    /// Capture all displays.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, conflicts_with_all = ["window", "app"]))]
    pub all: bool,
    /// Image format [default: png].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FORMAT", value_enum))]
    pub format: Option<ImageFormat>,
    /// JPEG quality, from 1 to 100 [default: 80].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub quality: Option<u8>,
    /// Include the pointer.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub cursor: bool,
    /// Paint over windows whose titles match this pattern, as the policy does with those it blocks; may be repeated.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PATTERN"))]
    pub cover: Vec<String>,
    /// Paint over windows whose titles match none of these patterns; may be repeated.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PATTERN"))]
    pub cover_except: Vec<String>,
    /// Omit the image if its hash equals HASH.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "HASH"))]
    pub if_changed: Option<String>,
    /// Mark the elements that can be acted on with numbered boxes.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub marks: bool,
    /// Mark only elements in this one: an id or a selector.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TARGET", requires = "marks"))]
    pub root: Option<String>,
    /// Mark only elements of these roles.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "ROLE", value_delimiter = ',', requires = "marks"))]
    pub roles: Vec<Role>,
    /// Maximum number of marks [default: 150].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", requires = "marks"))]
    pub max_marks: Option<u32>,
    /// How marks are drawn [default: outline].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "STYLE", value_enum, requires = "marks"))]
    pub style: Option<MarkStyle>,
}

/// A marked element of a picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PictureMark {
    /// Its number, from 1. `#7` is the target with the number 7.
    pub mark: u32,
    /// The id of the element.
    pub id: NodeId,
    /// Its role.
    pub role: Role,
    /// Its name, or the text that stands for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The element as far as its window shows it, in pixels of the picture.
    pub bounds: Bounds,
    /// The point to click, in points on the desktop.
    pub point: Point,
}

/// The answer to `screenshot`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScreenshotAnswer {
    /// The format of the image.
    pub format: ImageFormat,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The region that the image shows, in points on the desktop.
    pub bounds: Bounds,
    /// The number of pixels per point.
    pub scale: f64,
    /// The hash of the image, for `--if-changed`.
    pub hash: String,
    /// Whether the hash equals that of `--if-changed`; the image is omitted then.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub unchanged: bool,
    /// The number of windows that are painted over: those that the policy allows in no picture, and those of `--cover`.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub blocked_windows: u32,
    /// The number of popups of the window that are in the picture: menus, lists of combo boxes, tooltips.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub popups: u32,
    /// The marked elements, if marks were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks: Option<Vec<PictureMark>>,
    /// The handle of the marked picture, for targets such as `#7@PICTURE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// The number of visible elements without a mark, because there are more than the maximum.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub unmarked: u32,
    /// Whether elements moved while the picture was taken, each time that it was tried. Those that did have no mark.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub moving: bool,
    /// The apps whose elements have no marks, because they did not answer or were not read completely.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub apps_without_marks: Vec<String>,
    /// The size of the file in bytes.
    pub size: u64,
    /// The file to which `ax` has written the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The file in base64; this is the last field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_four_numbers_with_an_extent() {
        assert_eq!("-5, 0,10,20".parse(), Ok(Region(Bounds { x: -5, y: 0, width: 10, height: 20 })));
        for wrong in ["1,2,3", "1,2,3,4,5", "0,0,0,5", "a,0,1,1"] {
            assert!(wrong.parse::<Region>().is_err(), "{wrong}");
        }
    }
}
