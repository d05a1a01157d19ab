//! The clipboard: AppKit's general pasteboard.
//!
//! Its content may only be promised, by an app that hangs: each call has a thread of its own, and a time to finish.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::appkit;
use crate::appkit::host::{self, HostItem};
use axd_platform::{ClipboardContent, ClipboardKind, Failure, FailureKind, Gate, Sent};

const TEXT: &str = "public.utf8-plain-text";
const PNG: &str = "public.png";
/// The type that password managers mark their secrets with.
const CONCEALED: &str = "org.nspasteboard.ConcealedType";
/// How long the pasteboard may take.
const PASTEBOARD_TIMEOUT: Duration = Duration::from_secs(2);
/// How many calls may be under way: those that hang stay.
const MAX_PASTEBOARD_THREADS: usize = 4;

/// Reads the clipboard.
pub async fn get(kind: ClipboardKind) -> Result<Option<ClipboardContent>, Failure> {
    let clip = match on_pasteboard_thread(move || read(kind)).await? {
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
    let at_thread = gate.clone();
    on_pasteboard_thread(move || write(clip, &at_thread)).await.map_err(|failure| {
        // Nothing may be written later that was said to have failed.
        match failure.kind == FailureKind::Unresponsive && !gate.close() {
            true => failure.sent(Sent::Maybe),
            false => failure,
        }
    })
}

/// Runs something with the pasteboard on a thread of its own, and waits for it for a limited time.
async fn on_pasteboard_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    /// One call at a time; each thread holds a reference.
    static THREADS: Mutex<Option<Arc<Mutex<()>>>> = Mutex::new(None);
    let turn = Arc::clone(THREADS.lock().get_or_insert_default());
    // The static has one reference, and so has this function.
    if Arc::strong_count(&turn) > MAX_PASTEBOARD_THREADS + 1 {
        return Err(unresponsive());
    }
    let (answer, reply) = oneshot::channel();
    let thread = std::thread::Builder::new().name("axd-pasteboard".to_owned()).spawn(move || {
        let _turn = turn.lock();
        // The caller may have stopped waiting.
        let _ = answer.send(host::with_autorelease_pool(work));
    });
    if thread.is_err() {
        return Err(Failure::new(FailureKind::Refused, "the system gives no thread for the clipboard"));
    }
    match tokio::time::timeout(PASTEBOARD_TIMEOUT, reply).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) | Err(_) => Err(unresponsive()),
    }
}

fn unresponsive() -> Failure {
    Failure::new(
        FailureKind::Unresponsive,
        "the clipboard does not answer; the app that its content comes from may hang, or macOS may be asking for permission",
    )
}

enum PasteboardContent {
    Nothing,
    Text(Vec<u8>),
    Image(Vec<u8>),
    Files(Vec<PathBuf>),
}

fn read(kind: ClipboardKind) -> Result<PasteboardContent, Failure> {
    if appkit::pasteboard_denied() {
        return Err(Failure::new(
            FailureKind::NotAllowed,
            "macOS denies axd the content of the clipboard: turn it on in System Settings > Privacy & Security > Paste from Other Apps",
        ));
    }
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
