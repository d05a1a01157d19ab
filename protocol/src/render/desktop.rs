//! The answers about apps, windows, displays and the clipboard.

use super::{Render, Table, file_size, format_bounds, unverified_note};
use crate::app::WindowInfo;
use crate::command::{
    AttachAnswer, ClipKind, ClipboardGetAnswer, ClipboardSetAnswer, CloseAppAnswer, LaunchAnswer,
    ListAppsAnswer, ListDisplaysAnswer, ListWindowsAnswer, MousePositionAnswer, WindowAnswer,
};
use crate::text::one_line;

impl Render for ListAppsAnswer {
    fn render(&self, out: &mut String) {
        let mut table = Table::new(["APP", "PID", "STATE", "WINDOWS", "IDENTITY"]);
        for listed in &self.apps {
            let mark = if listed.frontmost { "*" } else { "" };
            table.row([
                format!("{}{mark}", listed.app.name),
                listed.app.pid.to_string(),
                listed.app.state.name().into(),
                listed.windows.to_string(),
                listed.app.identity.clone(),
            ]);
        }
        table.write(out);
    }
}

impl Render for ListWindowsAnswer {
    fn render(&self, out: &mut String) {
        let mut table = Table::new(["WINDOW", "ID", "APP", "PLACE", "TITLE"]);
        for window in &self.windows {
            let mark = if window.focused { " *" } else { state(window) };
            table.row([
                window.window.to_string(),
                window.id.map_or(String::new(), |id| id.to_string()),
                window.app.clone(),
                window.bounds.map(format_bounds).unwrap_or_default(),
                format!("{}{mark}", window.title),
            ]);
        }
        table.write(out);
    }
}

impl Render for ListDisplaysAnswer {
    fn render(&self, out: &mut String) {
        let mut table = Table::new(["DISPLAY", "PLACE", "SCALE", "NAME"]);
        for display in &self.displays {
            let mark = if display.primary { "*" } else { "" };
            table.row([
                format!("{}{mark}", display.display),
                format_bounds(display.bounds),
                display.scale.to_string(),
                display.name.clone(),
            ]);
        }
        table.write(out);
    }
}

impl Render for AttachAnswer {
    fn render(&self, out: &mut String) {
        let how = if self.complete { "" } else { ", still being read" };
        out.push_str(&format!("{} elements{how}\n", self.nodes));
    }
}

impl Render for LaunchAnswer {
    fn render(&self, out: &mut String) {
        match (&self.launched, self.pid) {
            (Some(app), _) if self.handed_over_to == Some(app.pid) => {
                out.push_str(&format!("handed over to {} (pid {})", one_line(&app.name), app.pid));
            }
            (Some(app), _) => out.push_str(&format!("{} is running as {}", one_line(&app.name), app.pid)),
            (None, Some(pid)) => out.push_str(&format!("started, as {pid}")),
            (None, None) => out.push_str("started"),
        }
        if let Some(window) = &self.window {
            out.push_str("; its window is ");
            write_window(window, out);
            out.push_str(&format!(" (after {} ms)", self.waited_ms));
        }
        if let Some(note) = &self.note {
            out.push_str(&format!("\n  {}", one_line(note)));
        }
        out.push('\n');
    }
}

impl Render for CloseAppAnswer {
    fn render(&self, out: &mut String) {
        let how = if self.closed { "closed" } else { "still there" };
        out.push_str(&format!("{how} after {} ms\n", self.waited_ms));
    }
}

impl Render for WindowAnswer {
    fn render(&self, out: &mut String) {
        match &self.after {
            Some(window) => write_window(window, out),
            None => {
                out.push_str("gone: ");
                write_window(&self.before, out);
            }
        }
        out.push_str(unverified_note(self.disposition));
        out.push('\n');
    }
}

impl Render for MousePositionAnswer {
    fn render(&self, out: &mut String) {
        out.push_str(&format!("{},{}\n", self.x, self.y));
    }
}

impl Render for ClipboardGetAnswer {
    /// Writes text without anything around it, so that it can be used in a pipe.
    fn render(&self, out: &mut String) {
        let size = self.bytes.as_ref().map(|bytes| file_size(bytes.len() as u64 / 4 * 3));
        match (&self.text, &self.path, size) {
            (Some(text), _, _) => out.push_str(text),
            (None, Some(path), _) => {
                out.push_str(&format!("an image, in {}\n", one_line(&path.to_string_lossy())))
            }
            (None, None, Some(size)) => out.push_str(&format!(
                "an image of {size}; write it to a file with `ax clipboard-get --out shot.png`\n"
            )),
            (None, None, None) if self.files.is_empty() => out.push_str("(nothing)\n"),
            _ => self
                .files
                .iter()
                .for_each(|file| out.push_str(&format!("{}\n", one_line(&file.to_string_lossy())))),
        }
    }
}

impl Render for ClipboardSetAnswer {
    fn render(&self, out: &mut String) {
        out.push_str(match self.kind {
            Some(ClipKind::Text) => "text is on the clipboard\n",
            Some(ClipKind::Image) => "an image is on the clipboard\n",
            Some(ClipKind::Files) => "files are on the clipboard\n",
            Some(ClipKind::Any) | None => "the clipboard is empty\n",
        });
    }
}

/// Writes a window without a newline: `window "Notes" win_8d0c2m of Notes @10,20 300x200`.
pub(super) fn write_window(window: &WindowInfo, out: &mut String) {
    out.push_str("window ");
    crate::text::quote(&window.title, out);
    match window.id {
        Some(id) => out.push_str(&format!(" {id}")),
        None => out.push_str(&format!(" {}", window.window)),
    }
    match &*window.app {
        // An app that has just started has no name yet.
        "" => out.push_str(&format!(" of process {}", window.pid)),
        app => out.push_str(&format!(" of {}", one_line(app))),
    }
    if let Some(bounds) = window.bounds {
        out.push_str(&format!(" @{}", format_bounds(bounds)));
    }
    if window.focused {
        out.push_str(" focused");
    }
    out.push_str(state(window));
}

fn state(window: &WindowInfo) -> &'static str {
    match (window.minimized, window.maximized) {
        (true, _) => " (minimized)",
        (_, true) => " (maximized)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Delivery, Disposition};

    fn rendered(answer: &impl Render) -> String {
        let mut out = String::new();
        answer.render(&mut out);
        out
    }

    fn window() -> WindowInfo {
        serde_json::from_str(
            r#"{"window":7,"title":"Notes","app":"Notes","pid":9,"bounds":{"x":1,"y":2,"width":30,"height":40},"focused":true}"#,
        )
        .unwrap()
    }

    #[test]
    fn a_window_is_rendered_with_a_remark_if_it_was_not_verified() {
        let mut answer = WindowAnswer {
            before: window(),
            after: Some(window()),
            waited_ms: 3,
            disposition: Disposition::of(Delivery::DeliveredVerified),
        };
        assert_eq!(rendered(&answer), "window \"Notes\" 7 of Notes @1,2 30x40 focused\n");
        answer.disposition = Disposition::of(Delivery::DeliveredUnverified);
        assert!(rendered(&answer).ends_with("focused (requested, not confirmed)\n"));
        answer.after = None;
        assert!(rendered(&answer).starts_with("gone: window \"Notes\""));
    }

    #[test]
    fn the_clipboard_is_rendered_without_anything_around_it() {
        let empty = ClipboardGetAnswer::default();
        assert_eq!(rendered(&empty), "(nothing)\n");
        assert_eq!(rendered(&ClipboardGetAnswer { text: Some("a\nb".into()), ..empty.clone() }), "a\nb");
        let files = ClipboardGetAnswer { files: vec!["/a".into(), "/b c".into()], ..empty.clone() };
        assert_eq!(rendered(&files), "/a\n/b c\n");
        let image = ClipboardGetAnswer { bytes: Some("A".repeat(4_000)), ..empty };
        assert!(rendered(&image).starts_with("an image of 3 kB;"), "{}", rendered(&image));
    }
}
