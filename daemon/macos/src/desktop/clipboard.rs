//! The clipboard: AppKit's general pasteboard.

use std::path::PathBuf;

use crate::appkit;
use crate::appkit::host::{self, HostItem};
use axd_platform::{ClipboardContent, ClipboardKind, Failure, FailureKind, Gate, Sent};

const TEXT: &str = "public.utf8-plain-text";
const PNG: &str = "public.png";
/// The type that password managers mark their secrets with.
const CONCEALED: &str = "org.nspasteboard.ConcealedType";

/// Reads the clipboard.
pub async fn get(kind: ClipboardKind) -> Result<Option<ClipboardContent>, Failure> {
    let read = host::run_on_main(move || read(kind)).await.unwrap_or_else(|| Err(shutting_down()))?;
    let clip = match read {
        PasteboardContent::Nothing => None,
        PasteboardContent::Text(bytes) => {
            Some(ClipboardContent::Text(String::from_utf8_lossy(&bytes).into_owned()))
        }
        PasteboardContent::Image(png) => Some(ClipboardContent::Image(png)),
        PasteboardContent::Files(files) => Some(ClipboardContent::Files(files)),
    };
    Ok(clip)
}

/// Replaces the content of the clipboard; `None` clears it.
pub async fn set(clip: Option<ClipboardContent>, gate: Gate) -> Result<(), Failure> {
    host::run_on_main(move || write(clip, &gate)).await.unwrap_or_else(|| Err(shutting_down()))
}

enum PasteboardContent {
    Nothing,
    Text(Vec<u8>),
    Image(Vec<u8>),
    Files(Vec<PathBuf>),
}

/// On thread 0.
fn read(kind: ClipboardKind) -> Result<PasteboardContent, Failure> {
    if appkit::pasteboard_types().iter().any(|kind| kind == CONCEALED) {
        return Err(Failure::new(
            FailureKind::Refused,
            "the clipboard content is marked as secret; it is not read",
        ));
    }
    let files =
        || Some(appkit::pasteboard_files()).filter(|files| !files.is_empty()).map(PasteboardContent::Files);
    let image = || appkit::pasteboard_read(PNG).map(PasteboardContent::Image);
    let text = || appkit::pasteboard_read(TEXT).map(PasteboardContent::Text);
    let read = match kind {
        ClipboardKind::Any => files().or_else(image).or_else(text),
        ClipboardKind::Files => files(),
        ClipboardKind::Image => image(),
        ClipboardKind::Text => text(),
    };
    Ok(read.unwrap_or(PasteboardContent::Nothing))
}

/// On thread 0.
fn write(clip: Option<ClipboardContent>, gate: &Gate) -> Result<(), Failure> {
    gate.enter()?;
    let item = |kind: &str, bytes| vec![HostItem { kind: kind.to_owned(), bytes }];
    let taken = match clip {
        None => appkit::pasteboard_write(Vec::new()),
        Some(ClipboardContent::Text(text)) => appkit::pasteboard_write(item(TEXT, text.into_bytes())),
        Some(ClipboardContent::Image(png)) => appkit::pasteboard_write(item(PNG, png)),
        Some(ClipboardContent::Files(files)) => appkit::pasteboard_write_files(files),
    };
    match taken {
        true => Ok(()),
        false => {
            Err(Failure::new(FailureKind::Refused, "the pasteboard did not accept it").sent(Sent::Maybe))
        }
    }
}

fn shutting_down() -> Failure {
    Failure::new(FailureKind::Refused, "axd is stopping")
}
