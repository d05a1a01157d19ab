//! The clipboard: AppKit's general pasteboard.

use std::path::PathBuf;

#[cfg(target_os = "macos")]
use super::appkit;
use super::host::{self, HostItem};
#[cfg(not(target_os = "macos"))]
use crate::appkit;
use crate::platform::{Clip, ClipboardKind, DesktopAnswer, Failure, FailureKind, Gate, Sent};

const TEXT: &str = "public.utf8-plain-text";
const PNG: &str = "public.png";
/// What password managers mark their secrets with.
const CONCEALED: &str = "org.nspasteboard.ConcealedType";

/// Reads it.
pub async fn get(kind: ClipboardKind) -> Result<DesktopAnswer, Failure> {
    let read = host::ask(move || read(kind)).await.unwrap_or_else(|| Err(stopped()))?;
    let clip = match read {
        Read::Nothing => None,
        Read::Text(bytes) => Some(Clip::Text(String::from_utf8_lossy(&bytes).into_owned())),
        Read::Image(png) => Some(Clip::Image(png)),
        Read::Files(files) => Some(Clip::Files(files)),
    };
    Ok(DesktopAnswer::Clipboard(clip))
}

/// Replaces all that is on it.
pub async fn set(clip: Option<Clip>, gate: Gate) -> Result<DesktopAnswer, Failure> {
    host::ask(move || write(clip, &gate)).await.unwrap_or_else(|| Err(stopped()))?;
    Ok(DesktopAnswer::Done)
}

enum Read {
    Nothing,
    Text(Vec<u8>),
    Image(Vec<u8>),
    Files(Vec<PathBuf>),
}

/// On thread 0.
fn read(kind: ClipboardKind) -> Result<Read, Failure> {
    if appkit::pasteboard_types().iter().any(|kind| kind == CONCEALED) {
        return Err(Failure::new(
            FailureKind::Refused,
            "the clipboard content is marked as secret; it is not read",
        ));
    }
    let files = || Some(appkit::pasteboard_files()).filter(|files| !files.is_empty()).map(Read::Files);
    let image = || appkit::pasteboard_read(PNG).map(Read::Image);
    let text = || appkit::pasteboard_read(TEXT).map(Read::Text);
    let read = match kind {
        ClipboardKind::Any => files().or_else(image).or_else(text),
        ClipboardKind::Files => files(),
        ClipboardKind::Image => image(),
        ClipboardKind::Text => text(),
    };
    Ok(read.unwrap_or(Read::Nothing))
}

/// On thread 0.
fn write(clip: Option<Clip>, gate: &Gate) -> Result<(), Failure> {
    gate.enter()?;
    let item = |kind: &str, bytes| vec![HostItem { kind: kind.to_owned(), bytes }];
    let taken = match clip {
        None => appkit::pasteboard_write(Vec::new()),
        Some(Clip::Text(text)) => appkit::pasteboard_write(item(TEXT, text.into_bytes())),
        Some(Clip::Image(png)) => appkit::pasteboard_write(item(PNG, png)),
        Some(Clip::Files(files)) => appkit::pasteboard_write_files(files),
    };
    match taken {
        true => Ok(()),
        false => {
            Err(Failure::new(FailureKind::Refused, "the pasteboard did not accept it").sent(Sent::Maybe))
        }
    }
}

fn stopped() -> Failure {
    Failure::new(FailureKind::Refused, "axd is stopping")
}
