//! `picture`: what is on the screen, as an image.

use axd_protocol::command::{ImageFormat, ScreenshotAnswer};
use axd_protocol::render::{list_marks, notes_on_picture};
use serde_json::json;

use super::{Answering, Hints, Tool};
use crate::answer::{Answer, Failure};
use crate::arguments::Arguments;
use crate::call::Call;
use crate::schema::{self, Input, Object};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "picture",
    description: "Take a picture, for what the tree does not tell. With marks, what can be acted on is numbered and listed; #7 is a target then.",
    hints: Hints::Reads,
    input,
    output,
    run,
    command: None,
};

fn input() -> Object {
    Input::new()
        .described("screenshot", "app", "Front window of this app [default: the active window]")
        .described("screenshot", "window", "Title or id")
        .described("screenshot", "element", "Id or selector")
        .described("screenshot", "region", "\"x,y,width,height\"")
        .described("screenshot", "format", "[default: png]")
        .plain("screenshot", "marks")
        .described("screenshot", "root", "Mark only in this element")
        .described("screenshot", "if_changed", "hash of an earlier picture")
        .schema()
}

fn output() -> Object {
    schema::output(json!({
        "hash": { "type": "string" }, "width": { "type": "integer" }, "height": { "type": "integer" },
        "bounds": { "type": "object" }, "unchanged": { "type": "boolean" },
        "marks": { "type": "array" },
    }))
}

fn run<'a>(call: &'a Call<'a>, args: Arguments) -> Answering<'a> {
    Box::pin(async move {
        let reply = call.request(&args.into_command("screenshot")?).await?;
        let shot: ScreenshotAnswer = reply.data().map_err(|fault| Failure::Axd(fault.to_error()))?;
        let at = shot.bounds;
        let mut answer = Answer::new(format!(
            "{}x{} pixels of {},{} {}x{}, hash {}",
            shot.width, shot.height, at.x, at.y, at.width, at.height, shot.hash
        ));
        answer.set("hash", &shot.hash);
        answer.set("width", shot.width);
        answer.set("height", shot.height);
        answer.set("bounds", shot.bounds);
        answer.set("scale", shot.scale);
        answer.set("unchanged", shot.unchanged);
        notes_on_picture(&shot).iter().for_each(|note| answer.note(note));
        let mut list = String::new();
        list_marks(&shot, &mut list);
        answer.lines(&list);
        if shot.popups > 0 {
            answer.set("popups", shot.popups);
        }
        if let Some(marks) = &shot.marks {
            answer.set("marks", marks);
            answer.set("picture", &shot.picture);
            answer.set("unmarked", shot.unmarked);
            answer.set("moving", shot.moving);
            answer.set("apps_without_marks", &shot.apps_without_marks);
        }
        let mime = match shot.format {
            ImageFormat::Png => "image/png",
            ImageFormat::Jpeg => "image/jpeg",
        };
        match shot.bytes {
            Some(bytes) => answer.image(bytes, mime),
            None => answer.note("unchanged"),
        }
        Ok(answer)
    })
}
