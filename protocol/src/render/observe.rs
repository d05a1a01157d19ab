//! Looking at what is there. Trees and elements are written by whoever holds them.

use super::{Render, file_size, place, write_unread};
use crate::command::{IsAnswer, PictureFormat, ScreenshotAnswer, SubscribeAnswer};

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
            PictureFormat::Png => "PNG",
            PictureFormat::Jpeg => "JPEG",
        };
        let scale =
            if self.scale == 1.0 { String::new() } else { format!(" at {} pixels a point", self.scale) };
        out.push_str(&format!("{}x{} @{}{scale}", self.width, self.height, place(self.bounds)));
        if self.unchanged {
            out.push_str(&format!(" unchanged, hash {}\n", self.hash));
            return;
        }
        out.push_str(&format!(" {format}, {}, hash {}\n", file_size(self.size), self.hash));
        match &self.path {
            Some(path) => out.push_str(&format!("written to {}\n", path.display())),
            None => out.push_str("to keep it, say where: ax screenshot shot.png\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Bounds;

    #[test]
    fn a_picture_is_told_by_its_size_and_where_it_is() {
        let mut answer = ScreenshotAnswer {
            format: PictureFormat::Png,
            width: 600,
            height: 400,
            bounds: Bounds { x: 10, y: 20, width: 300, height: 200 },
            scale: 2.0,
            hash: "00ff".into(),
            unchanged: false,
            size: 45_000,
            path: None,
            bytes: None,
        };
        let told = |answer: &ScreenshotAnswer| {
            let mut out = String::new();
            answer.render(&mut out);
            out
        };
        assert_eq!(
            told(&answer),
            "600x400 @10,20 300x200 at 2 pixels a point PNG, 45 kB, hash 00ff\nto keep it, say where: ax screenshot shot.png\n"
        );
        answer.path = Some("a.png".into());
        assert!(told(&answer).ends_with("\nwritten to a.png\n"));
        answer.unchanged = true;
        assert!(told(&answer).ends_with("unchanged, hash 00ff\n"));
    }
}
