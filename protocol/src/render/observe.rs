//! The answers of commands that read. Trees and elements are written by the daemon, which has them.

use super::{Render, file_size, format_bounds, write_unread};
use crate::command::{ImageFormat, IsAnswer, ScreenshotAnswer, SubscribeAnswer};
use crate::node::NodeRef;
use crate::text::{quote, write_ref};

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

/// Writes what is to be said about the popups and marks of a picture.
fn write_marks(shot: &ScreenshotAnswer, out: &mut String) {
    notes_on_picture(shot).iter().for_each(|note| out.push_str(&format!("{note}\n")));
    list_marks(shot, out);
    if shot.unmarked > 0 {
        out.push_str("raise --max-marks, or use --root or --roles\n");
    }
}

/// What there is to say about the popups and marks of a picture, without any text of an app.
pub fn notes_on_picture(shot: &ScreenshotAnswer) -> Vec<String> {
    let counted = |count: usize, noun: &str| match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    };
    let mut notes = Vec::new();
    if shot.popups > 0 {
        notes.push(format!("with {} of the window", counted(shot.popups as usize, "popup")));
    }
    if let (Some(marks), Some(picture)) = (&shot.marks, &shot.picture) {
        notes.push(format!("{} in picture {picture}", counted(marks.len(), "mark")));
    }
    if shot.unmarked > 0 {
        notes.push(format!("{} more visible without a mark", counted(shot.unmarked as usize, "element")));
    }
    if shot.moving {
        notes.push("elements moved while the picture was taken; those have no mark".to_owned());
    }
    notes
}

/// Writes the marks of a picture, one line each, and whose elements have none. The texts of apps stand in quotes.
pub fn list_marks(shot: &ScreenshotAnswer, out: &mut String) {
    for mark in shot.marks.iter().flatten() {
        out.push_str(&format!("  #{} ", mark.mark));
        write_ref(&NodeRef { id: mark.id, role: mark.role, name: mark.name.clone() }, out);
        out.push_str(&format!(" @{} point {},{}\n", format_bounds(mark.bounds), mark.point.x, mark.point.y));
    }
    for app in &shot.apps_without_marks {
        out.push_str("  no marks: ");
        quote(app, out);
        out.push_str(" does not answer, or is not read completely\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::PictureMark;
    use crate::geometry::{Bounds, Point};
    use crate::id::NodeId;
    use crate::role::Role;

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
        answer.popups = 1;
        answer.marks = Some(vec![PictureMark {
            mark: 1,
            id: NodeId::parse("btn_4k2p9x").unwrap(),
            role: Role::Button,
            name: Some("Save".into()),
            bounds: Bounds { x: 4, y: 6, width: 80, height: 40 },
            point: Point { x: 32, y: 33 },
        }]);
        answer.picture = Some("1f2e3d4c".into());
        answer.unmarked = 2;
        let text = rendered(&answer);
        assert!(
            text.ends_with(
                "with 1 popup of the window\n1 mark in picture 1f2e3d4c\n2 elements more visible without a mark\n  \
                 #1 button \"Save\" btn_4k2p9x @4,6 80x40 point 32,33\nraise --max-marks, or use --root or --roles\n"
            ),
            "{text}"
        );
        (answer.popups, answer.marks, answer.unmarked) = (0, None, 0);
        answer.unchanged = true;
        assert!(rendered(&answer).ends_with("unchanged, hash 00ff\n"));
    }
}
