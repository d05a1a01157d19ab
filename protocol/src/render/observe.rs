//! The answers of commands that read. Trees and elements are written by the daemon, which has them.

use super::{Render, file_size, format_bounds, write_unread};
use crate::command::{ImageFormat, IsAnswer, ScreenshotAnswer, SubscribeAnswer};
use crate::node::NodeRef;
use crate::text::{one_line, write_ref};

impl Render for IsAnswer {
    fn render(&self, out: &mut String) {
        out.push_str(if self.value { "true\n" } else { "false\n" });
        write_unread(&self.unread, out);
    }
}

impl Render for SubscribeAnswer {
    fn render(&self, out: &mut String) {
        out.push_str(&format!("subscription {}\n", self.sub));
    }
}

impl Render for ScreenshotAnswer {
    fn render(&self, out: &mut String) {
        let format = match self.format {
            ImageFormat::Png => "PNG",
            ImageFormat::Jpeg => "JPEG",
        };
        let scale =
            if self.scale == 1.0 { String::new() } else { format!(" at {} pixels per point", self.scale) };
        out.push_str(&format!("{}x{} @{}{scale}", self.width, self.height, format_bounds(self.bounds)));
        if self.unchanged {
            out.push_str(&format!(" unchanged, hash {}\n", self.hash));
            write_marks(self, out);
            return;
        }
        out.push_str(&format!(" {format}, {}, hash {}\n", file_size(self.size), self.hash));
        if self.blocked_windows > 0 {
            let noun = if self.blocked_windows == 1 { "window is" } else { "windows are" };
            out.push_str(&format!("{} {noun} painted over, as the policy demands\n", self.blocked_windows));
        }
        match &self.path {
            Some(path) => out.push_str(&format!("written to {}\n", path.display())),
            None => out.push_str("to save it: ax screenshot shot.png\n"),
        }
        write_marks(self, out);
    }
}

/// Writes the marks of a picture: one line each, as elements have.
pub fn write_marks(shot: &ScreenshotAnswer, out: &mut String) {
    if shot.popups > 0 {
        let noun = if shot.popups == 1 { "popup" } else { "popups" };
        out.push_str(&format!("with {} {noun} of the window\n", shot.popups));
    }
    let Some(marks) = &shot.marks else { return };
    let noun = if marks.len() == 1 { "mark" } else { "marks" };
    let picture = shot.picture.as_deref().unwrap_or_default();
    out.push_str(&format!("{} {noun} in picture {picture}\n", marks.len()));
    for mark in marks {
        out.push_str(&format!("  #{} ", mark.mark));
        write_ref(&NodeRef { id: mark.id, role: mark.role, name: mark.name.clone() }, out);
        out.push_str(&format!(" @{} point {},{}\n", format_bounds(mark.bounds), mark.point.x, mark.point.y));
    }
    if shot.unmarked > 0 {
        let message = "visible elements have no mark; raise --max-marks, or use --root or --roles";
        out.push_str(&format!("{} more {message}\n", shot.unmarked));
    }
    if shot.moving {
        out.push_str("elements moved while the picture was taken; those have no mark\n");
    }
    if !shot.apps_without_marks.is_empty() {
        let apps: Vec<_> = shot.apps_without_marks.iter().map(|app| one_line(app)).collect();
        out.push_str(&format!("no marks for {}: not read completely\n", apps.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Bounds;

    #[test]
    fn a_screenshot_is_rendered_with_its_size_and_its_file() {
        let mut answer = ScreenshotAnswer {
            format: ImageFormat::Png,
            width: 600,
            height: 400,
            bounds: Bounds { x: 10, y: 20, width: 300, height: 200 },
            scale: 2.0,
            hash: "00ff".into(),
            unchanged: false,
            blocked_windows: 0,
            popups: 0,
            marks: None,
            picture: None,
            unmarked: 0,
            moving: false,
            apps_without_marks: Vec::new(),
            size: 45_000,
            path: None,
            bytes: None,
        };
        let rendered = |answer: &ScreenshotAnswer| {
            let mut out = String::new();
            answer.render(&mut out);
            out
        };
        assert_eq!(
            rendered(&answer),
            "600x400 @10,20 300x200 at 2 pixels per point PNG, 45 kB, hash 00ff\nto save it: ax screenshot shot.png\n"
        );
        answer.path = Some("a.png".into());
        assert!(rendered(&answer).ends_with("\nwritten to a.png\n"));
        answer.unchanged = true;
        assert!(rendered(&answer).ends_with("unchanged, hash 00ff\n"));
    }
}
