//! Where the image of an answer is written. Also makes paths absolute, because the daemon has another working directory.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use axd_client::ClientError;
use axd_client::files::write_whole;
use axd_client::protocol::command::{ClipKind, ClipboardGetAnswer, Command, ImageFormat, ScreenshotAnswer};
use axd_client::protocol::render::Render;
use axd_client::protocol::{Error, ErrorCode, NodeId, Role};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE_64;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::output::{self, Mode, Stdout};
use super::parse::Usage;
use super::{Exit, request};

/// Where the image of an answer is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageOutput {
    /// To a file.
    File(PathBuf),
    /// To standard output, where nothing else is printed then.
    Stdout,
}

/// Prepares a command for sending: makes its paths absolute, and takes out where its image is written.
pub fn prepare(command: &mut Command) -> Result<Option<ImageOutput>, Usage> {
    match command {
        Command::Screenshot(args) => {
            let Some(path) = args.path.take() else { return Ok(None) };
            if let Some(element) = path.to_str().filter(|path| is_element(path)) {
                let message = format!("'{element}' looks like an element; this argument is the output file");
                let tip = format!("use --element {element}, with an output file such as shot.png");
                return Err(usage("screenshot", message, &tip));
            }
            let output_to = ImageOutput::new("screenshot", path)?;
            if let (ImageOutput::File(path), None) = (&output_to, args.format) {
                args.format = format_of(path)?;
            }
            Ok(Some(output_to))
        }
        Command::ClipboardGet(args) => {
            let Some(path) = args.out.take() else { return Ok(None) };
            if matches!(args.kind, Some(ClipKind::Text | ClipKind::Files)) {
                let tip = "omit --out; text and files are printed";
                return Err(usage("clipboard-get", "--out applies to images only".into(), tip));
            }
            args.kind = Some(ClipKind::Image);
            ImageOutput::new("clipboard-get", path).map(Some)
        }
        Command::ClipboardSet(args) => {
            args.image.iter_mut().chain(&mut args.file).for_each(make_absolute);
            Ok(None)
        }
        Command::Launch(args) => {
            args.cwd.iter_mut().for_each(make_absolute);
            // The app is given by the path of its program.
            if args.app.contains('/') {
                let mut path = PathBuf::from(&args.app);
                make_absolute(&mut path);
                args.app = path.to_string_lossy().into_owned();
            }
            Ok(None)
        }
        _ => Ok(None),
    }
}

fn make_absolute(path: &mut PathBuf) {
    // This fails only for an empty path or without a working directory; the daemon reports that.
    if let Ok(whole) = std::path::absolute(&*path) {
        *path = whole;
    }
}

/// Whether an output path is the id or the selector of an element, which is probably a mistake.
fn is_element(path: &str) -> bool {
    let is_role = |name: &str| Role::ALL.iter().any(|role| role.name() == name);
    let selects = path.split_once(':').is_some_and(|(role, _)| is_role(role));
    Path::new(path).extension().is_none() && (selects || NodeId::parse(path).is_some())
}

/// The format of a file's extension; `None` for PNG, which is the default.
fn format_of(path: &Path) -> Result<Option<ImageFormat>, Usage> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        None | Some("png") => Ok(None),
        Some("jpg" | "jpeg") => Ok(Some(ImageFormat::Jpeg)),
        Some(other) => Err(usage(
            "screenshot",
            format!("images are written as PNG or JPEG, not '.{other}'"),
            "use a path that ends in .png or .jpg, or --format png",
        )),
    }
}

fn usage(command: &str, message: String, tip: &str) -> Usage {
    let text = format!("error: {message}\n\n  tip: {tip}\n");
    Usage { command: command.into(), text, message, tip: Some(tip.into()) }
}

/// An answer that contains an image.
trait WithImage: DeserializeOwned + Serialize + Render {
    /// Removes the image, in base64, from the answer.
    fn take_image(&mut self) -> Option<String>;
    /// Sets the path to which the image was written.
    fn set_path(&mut self, path: PathBuf);
    /// The error for an answer without an image, unless it may have none.
    fn missing_image(&self) -> Option<Error>;
}

impl WithImage for ScreenshotAnswer {
    fn take_image(&mut self) -> Option<String> {
        self.bytes.take()
    }

    fn set_path(&mut self, path: PathBuf) {
        self.path = Some(path);
    }

    fn missing_image(&self) -> Option<Error> {
        (!self.unchanged).then(|| Error::new(ErrorCode::Internal, "axd answered without the image"))
    }
}

impl WithImage for ClipboardGetAnswer {
    fn take_image(&mut self) -> Option<String> {
        self.bytes.take()
    }

    fn set_path(&mut self, path: PathBuf) {
        self.path = Some(path);
    }

    fn missing_image(&self) -> Option<Error> {
        Some(
            Error::new(ErrorCode::ActionFailed, "the clipboard has no image")
                .suggest("run `ax clipboard-get` to see its content")
                .retry("clipboard-get"),
        )
    }
}

impl ImageOutput {
    fn new(command: &str, path: PathBuf) -> Result<ImageOutput, Usage> {
        if path.as_os_str() != "-" {
            return Ok(ImageOutput::File(path));
        }
        if io::stdout().is_terminal() {
            let message = "an image cannot be written to a terminal".to_owned();
            return Err(usage(command, message, "use an output file, or redirect standard output"));
        }
        Ok(ImageOutput::Stdout)
    }

    /// Writes the image of an answer, and prints the rest of the answer.
    pub fn write(&self, line: &[u8], mode: Mode) -> Exit {
        let line = String::from_utf8_lossy(line);
        let (command, written) =
            match request::read(line.as_bytes()).map(|answer| answer.command.into_owned()) {
                Ok(command) if command == "clipboard-get" => {
                    let written = self.write_typed::<ClipboardGetAnswer>(&line, mode);
                    (command, written)
                }
                Ok(command) => {
                    let written = self.write_typed::<ScreenshotAnswer>(&line, mode);
                    (command, written)
                }
                Err(fault) => ("screenshot".to_owned(), Err(fault)),
            };
        written.unwrap_or_else(|fault| output::failure(&command, &fault, mode))
    }

    fn write_typed<T: WithImage>(&self, line: &str, mode: Mode) -> Result<Exit, ClientError> {
        let broken = |fault: &dyn std::fmt::Display| ClientError::Protocol(fault.to_string());
        let data = request::read(line.as_bytes())?.data.ok_or_else(|| broken(&"an answer without data"))?;
        let mut answer: T = serde_json::from_str(data.get()).map_err(|fault| broken(&fault))?;
        let image = match answer.take_image() {
            Some(bytes) => Some(BASE_64.decode(bytes).map_err(|fault| broken(&fault))?),
            None => None,
        };
        match (self, image) {
            (ImageOutput::Stdout, Some(image)) => {
                return Ok(output::finish(Stdout.write_all(&image), Exit::Done));
            }
            (ImageOutput::File(path), Some(image)) => {
                write_whole(path, &image).map_err(|fault| write_error(path, &fault))?;
                // JSON cannot contain a path that is not UTF-8.
                answer.set_path(path.display().to_string().into());
            }
            (_, None) => {
                if let Some(error) = answer.missing_image() {
                    return Err(error.into());
                }
                if *self == ImageOutput::Stdout {
                    return Ok(Exit::Done);
                }
            }
        }
        Ok(match mode {
            Mode::Json => {
                let answer = serde_json::to_string(&answer).map_err(|fault| broken(&fault))?;
                output::print_text(&replace_part(line, data.get(), &answer))
            }
            Mode::Text => {
                let mut text = String::new();
                answer.render(&mut text);
                output::print_text(&axd_client::protocol::text::defuse(&text))
            }
        })
    }
}

/// Replaces one part of a line. The part must be borrowed from the line.
fn replace_part(line: &str, part: &str, by: &str) -> String {
    // The part is borrowed from the line, so its address is inside it.
    let start = (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
    let (before, after) = (line.get(..start), line.get(start + part.len()..));
    format!("{}{by}{}", before.unwrap_or_default(), after.unwrap_or_default())
}

fn write_error(path: &Path, fault: &io::Error) -> ClientError {
    let code = match fault.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => ErrorCode::PermissionDenied,
        _ => ErrorCode::ActionFailed,
    };
    Error::new(code, format!("cannot write {}: {fault}", path.display()))
        .suggest("use another file; the image was taken but not saved")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_the_format() {
        assert_eq!(format_of(Path::new("a.png")).unwrap(), None);
        assert_eq!(format_of(Path::new("a")).unwrap(), None);
        for jpeg in ["a.jpg", "b/a.JPEG"] {
            assert_eq!(format_of(Path::new(jpeg)).unwrap(), Some(ImageFormat::Jpeg));
        }
        assert!(format_of(Path::new("a.webp")).unwrap_err().message.contains(".webp"));
    }

    #[test]
    fn an_element_is_not_taken_for_a_file() {
        for (path, expected) in [
            ("button:Save", true),
            ("btn_4k2p9x", true),
            ("shot.png", false),
            ("button:Save.png", false),
            ("shot", false),
            ("12:30", false),
        ] {
            assert_eq!(is_element(path), expected, "{path}");
        }
    }

    #[test]
    fn a_part_of_a_line_is_replaced_where_it_is() {
        let line = r#"{"a":{"x":1},"b":{"x":1}}"#;
        assert_eq!(replace_part(line, &line[17..24], "2"), r#"{"a":{"x":1},"b":2}"#);
    }
}
