//! The clipboard: `clipboard-get`, `clipboard-set`, `clipboard-clear`.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use axd_protocol::command::{ClipKind, ClipboardGet, ClipboardGetAnswer, ClipboardSet, ClipboardSetAnswer};
use axd_protocol::{Error, ErrorCode, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE_64;
use tokio::time::{Instant, timeout, timeout_at};
use tracing::warn;

use crate::Engine;
use crate::answer::Answer;
use crate::failure::Subject;
use axd_platform::{ClipboardContent, ClipboardKind};
use axd_service::Call;

/// How long passing on the clipboard's content may delay the daemon's exit.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);
/// The maximum size of an image file for the clipboard.
const MAX_IMAGE_BYTES: u64 = 64 << 20;

impl Engine {
    /// Called when the daemon shuts down: the content it has put on the clipboard should stay there, where another process can
    /// keep it.
    pub async fn shut_down_platform(&self) {
        match timeout(SHUTDOWN_TIMEOUT, self.platform.shutdown()).await {
            Ok(Ok(Ok(_))) => {}
            Ok(Ok(Err(failure))) => warn!(%failure, "what is on the clipboard goes with axd"),
            Ok(Err(_)) | Err(_) => {
                warn!("what is on the clipboard goes with axd: it was not given away in time")
            }
        }
    }

    pub(crate) async fn clipboard_get(
        &self,
        call: &Call,
        args: &ClipboardGet,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let kind = match args.kind.unwrap_or_default() {
            ClipKind::Any => ClipboardKind::Any,
            ClipKind::Text => ClipboardKind::Text,
            ClipKind::Image => ClipboardKind::Image,
            ClipKind::Files => ClipboardKind::Files,
        };
        let deadline = Engine::deadline(call);
        let clip = self
            .call_desktop(Subject::Desktop, &call.gate, deadline, |platform, _| platform.clipboard(kind))
            .await?;
        let mut data =
            ClipboardGetAnswer { kind: clip.as_ref().map(kind_of), ..ClipboardGetAnswer::default() };
        match clip {
            Some(ClipboardContent::Text(text)) => data.text = Some(text),
            Some(ClipboardContent::Files(files)) => data.files = files,
            Some(ClipboardContent::Image(png)) => {
                data.bytes = Some(crate::tree_work::blocking(|| BASE_64.encode(png)))
            }
            None => {}
        }
        answer.value(Some(self.clock.now()), None, &data);
        Ok(())
    }

    pub(crate) async fn clipboard_set(
        &self,
        call: &Call,
        args: &ClipboardSet,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let deadline = Engine::deadline(call);
        let clip = match (&args.text, &args.image, &args.file[..]) {
            (Some(text), None, []) => ClipboardContent::Text(text.clone()),
            (None, Some(path), []) => {
                ClipboardContent::Image(from_disk(path.clone(), deadline, read_png).await?)
            }
            (None, None, paths) if !paths.is_empty() => {
                ClipboardContent::Files(from_disk(paths.to_vec(), deadline, all_there).await?)
            }
            (None, None, _) => {
                return Err(invalid("text, image or file is required".into())
                    .suggest("give a text, --image PATH or --file PATH; `ax clipboard-clear` clears it"));
            }
            _ => {
                return Err(invalid("text, image and file exclude each other".into())
                    .suggest("put one of them on the clipboard"));
            }
        };
        self.put_on_clipboard(call, Some(clip), deadline, answer).await
    }

    pub(crate) async fn clipboard_clear(&self, call: &Call, answer: &mut Answer<'_>) -> Result<()> {
        self.put_on_clipboard(call, None, Engine::deadline(call), answer).await
    }

    async fn put_on_clipboard(
        &self,
        call: &Call,
        clip: Option<ClipboardContent>,
        deadline: Instant,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let kind = clip.as_ref().map(kind_of);
        self.call_desktop(Subject::Desktop, &call.gate, deadline, |platform, gate| {
            platform.set_clipboard(clip, gate)
        })
        .await?;
        answer.value(Some(self.clock.now()), None, &ClipboardSetAnswer { kind });
        Ok(())
    }
}

fn kind_of(clip: &ClipboardContent) -> ClipKind {
    match clip {
        ClipboardContent::Text(_) => ClipKind::Text,
        ClipboardContent::Image(_) => ClipKind::Image,
        ClipboardContent::Files(_) => ClipKind::Files,
    }
}

fn invalid(message: String) -> Error {
    Error::new(ErrorCode::InvalidArgs, message)
}

/// Reads from disk on a thread where a slow disk blocks nothing else.
async fn from_disk<P: Send + 'static, T: Send + 'static>(
    what: P,
    deadline: Instant,
    read: fn(P) -> Result<T>,
) -> Result<T> {
    match timeout_at(deadline, tokio::task::spawn_blocking(move || read(what))).await {
        Ok(Ok(read)) => read,
        Ok(Err(fault)) => Err(Error::new(ErrorCode::Internal, format!("reading files failed: {fault}"))),
        Err(_) => Err(Error::new(ErrorCode::Timeout, "reading the files timed out")),
    }
}

/// The content of an image file, if it can be put on the clipboard.
fn read_png(path: PathBuf) -> Result<Vec<u8>> {
    is_whole("image", &path)?;
    let failed = |fault: std::io::Error| {
        invalid(format!("image: cannot read {}: {fault}", path.display()))
            .suggest("use a PNG file that axd can read")
    };
    // Checked before the file is opened: opening a pipe would block until another process writes to it.
    let about = path.metadata().map_err(failed)?;
    if !about.is_file() {
        return Err(invalid(format!("image: {} is not a file", path.display())).suggest("use a PNG file"));
    }
    let too_large = || {
        let most = MAX_IMAGE_BYTES >> 20;
        Error::new(ErrorCode::PayloadTooLarge, format!("image: {} has more than {most} MiB", path.display()))
            .suggest("put a smaller image on the clipboard, or the file itself with --file")
    };
    if about.len() > MAX_IMAGE_BYTES {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(about.len() as usize);
    let file = File::open(&path).map_err(failed)?;
    file.take(MAX_IMAGE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_IMAGE_BYTES {
        return Err(too_large());
    }
    png::Decoder::new(Cursor::new(&bytes)).read_info().map_err(|fault| {
        invalid(format!("image: {} is not a PNG image: {fault}", path.display()))
            .suggest("convert it to PNG, or put the file itself on the clipboard with --file")
    })?;
    Ok(bytes)
}

/// Returns the paths if each of them exists.
fn all_there(paths: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    for path in &paths {
        is_whole("file", path)?;
        path.symlink_metadata().map_err(|fault| {
            invalid(format!("file: {} not found: {fault}", path.display())).suggest("use existing files")
        })?;
    }
    Ok(paths)
}

fn is_whole(arg: &str, path: &Path) -> Result<()> {
    if path.is_absolute() {
        return Ok(());
    }
    Err(invalid(format!("{arg}: '{}' is not an absolute path", path.display()))
        .suggest("use an absolute path; the daemon does not share your working directory"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_png_that_is_there_and_not_too_large_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let refused = |path: &Path| read_png(path.to_owned()).unwrap_err();
        assert!(refused(Path::new("a.png")).message.contains("absolute path"));
        assert!(refused(&path).message.contains("cannot read"));
        assert!(refused(folder.path()).message.contains("not a file"));
        std::fs::write(&path, b"GIF89a").unwrap();
        assert!(refused(&path).message.contains("not a PNG"));
        let file = File::create(&path).unwrap();
        file.set_len(MAX_IMAGE_BYTES + 1).unwrap();
        assert_eq!(refused(&path).code, ErrorCode::PayloadTooLarge);
        let mut made = Vec::new();
        let mut writer = png::Encoder::new(&mut made, 1, 1).write_header().unwrap();
        writer.write_image_data(&[0]).unwrap();
        writer.finish().unwrap();
        std::fs::write(&path, &made).unwrap();
        assert_eq!(read_png(path).unwrap(), made);
    }

    #[test]
    fn files_are_whole_paths_to_something() {
        let folder = tempfile::tempdir().unwrap();
        assert!(all_there(vec![folder.path().to_owned()]).is_ok());
        assert!(all_there(vec![folder.path().join("none")]).unwrap_err().message.contains("not found"));
        assert!(all_there(vec!["relative".into()]).unwrap_err().message.contains("absolute path"));
    }
}
