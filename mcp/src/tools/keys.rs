//! `keys`: key combinations.

use axd_protocol::{Command, Error};

use super::{Answering, Hints, Tool, act};
use crate::arguments::Arguments;
use crate::call::Call;
use crate::schema::{Input, Object};
use crate::view::{self, Wanted};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "keys",
    description: "Press a key or a combination: ctrl+s, escape, shift+tab, f5. Answers as act does.",
    hints: Hints::Acts,
    input,
    output: act::output,
    run,
    command: Some(command),
};

fn input() -> Object {
    let input = Input::new()
        .renamed("press", "combo", "keys", Some("Modifiers and a key, joined by +"))
        .described("press", "app", "Only if this app receives it")
        .described("press", "window", "Title or id");
    view::arguments(input).required(&["keys"]).schema()
}

fn command(mut args: Arguments) -> Result<Command, Error> {
    Wanted::take(&mut args);
    args.rename("keys", "combo");
    args.into_command("press")
}

fn run<'a>(call: &'a Call<'a>, mut args: Arguments) -> Answering<'a> {
    Box::pin(async move {
        let wanted = Wanted::take(&mut args);
        act::perform(call, &command(args)?, wanted).await
    })
}
