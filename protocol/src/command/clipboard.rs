//! The clipboard: text, an image, or a list of files.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A kind of clipboard content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum ClipKind {
    /// Any kind: files, otherwise an image, otherwise text.
    #[default]
    Any,
    /// Text.
    Text,
    /// An image.
    Image,
    /// Files.
    Files,
}

/// Read the clipboard.
///
/// An image is returned as PNG in base64; with --out, `ax` writes it to a file.
///
/// Examples:
///   ax clipboard-get
///   ax clipboard-get --kind image --out shot.png
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClipboardGet {
    /// Kind of content to read [default: any].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "KIND", value_enum))]
    pub kind: Option<ClipKind>,
    /// Output file for an image.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PATH"))]
    pub out: Option<PathBuf>,
}

/// The answer to `clipboard-get`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClipboardGetAnswer {
    /// The kind of the content; absent if there is none of the kind asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ClipKind>,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The paths of the files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PathBuf>,
    /// The file to which `ax` has written an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The image as PNG, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
}

/// Put text, an image or files on the clipboard.
///
/// Examples:
///   ax clipboard-set 'hello'
///   ax clipboard-set --image shot.png
///   ax clipboard-set --file a.txt --file b.txt
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClipboardSet {
    /// Text.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(value_name = "TEXT", allow_hyphen_values = true))]
    pub text: Option<String>,
    /// PNG file; must be an absolute path on the wire.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PATH", conflicts_with = "text"))]
    pub image: Option<PathBuf>,
    /// File; may be repeated. Must be an absolute path on the wire.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PATH", conflicts_with_all = ["text", "image"]))]
    pub file: Vec<PathBuf>,
}

/// Clear the clipboard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClipboardClear {}

/// The answer to `clipboard-set` and `clipboard-clear`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClipboardSetAnswer {
    /// The kind of the content now; absent if the clipboard is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ClipKind>,
}
