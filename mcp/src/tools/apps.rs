//! `apps`: the running apps and their windows.

use axd_client::Reply;
use axd_protocol::command::{CloseAppAnswer, LaunchAnswer, ListAppsAnswer, ListWindowsAnswer, WindowAnswer};
use axd_protocol::{Command, Error, WindowInfo};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::{Answering, Hints, Tool};
use crate::answer::{Answer, Failure, quoted, whole};
use crate::arguments::Arguments;
use crate::call::Call;
use crate::schema::{self, Input, Object};

/// How long a start is waited for, in ms. Clients end calls after 60 s.
const LAUNCH_TIMEOUT_MS: u64 = 20_000;

/// The tool.
pub const TOOL: Tool = Tool {
    name: "apps",
    description: "List apps or windows; launch, close or focus. launch takes a name or a path, and waits for the window.",
    hints: Hints::Acts,
    input,
    output,
    run,
    command: Some(command),
};

fn input() -> Object {
    Input::new()
        .own("verb", json!({ "type": "string", "enum": ["list", "windows", "launch", "close", "focus"] }))
        .described("launch", "app", "Name or pid")
        .described("focus-window", "window", "focus: title or id")
        .described("launch", "arg", "launch: arguments")
        .described("close-app", "force", "close: kill it")
        .required(&["verb"])
        .schema()
}

fn output() -> Object {
    schema::output(json!({
        "apps": { "type": "array" }, "windows": { "type": "array" }, "app": { "type": "object" },
        "window": { "type": "object" }, "closed": { "type": "boolean" },
    }))
}

fn command(mut args: Arguments) -> Result<Command, Error> {
    let verb = args.take_text("verb").unwrap_or_default();
    if matches!(verb.as_str(), "launch" | "close") && !args.has("app") {
        return Err(args.missing("app", &format!("verb {verb}")));
    }
    match verb.as_str() {
        "windows" => args.into_command("list-windows"),
        "launch" => {
            args.set("wait", true);
            args.set("timeout_ms", LAUNCH_TIMEOUT_MS);
            args.into_command("launch")
        }
        "close" => args.into_command("close-app"),
        "focus" => args.into_command("focus-window"),
        _ => args.into_command("list-apps"),
    }
}

fn run<'a>(call: &'a Call<'a>, args: Arguments) -> Answering<'a> {
    Box::pin(async move {
        let command = command(args)?;
        let reply = call.request(&command).await?;
        let mut answer = match &command {
            Command::ListApps(_) => list(parsed(&reply)?),
            Command::ListWindows(_) => windows(parsed(&reply)?),
            Command::Launch(_) => launched(parsed(&reply)?),
            Command::CloseApp(_) => closed(parsed(&reply)?),
            _ => focused(parsed(&reply)?),
        };
        reply.clock.iter().for_each(|clock| answer.clock(*clock));
        if !matches!(command, Command::ListApps(_) | Command::ListWindows(_))
            && let Some(app) = &reply.app
        {
            answer.app(app);
        }
        Ok(answer)
    })
}

fn parsed<T: DeserializeOwned>(reply: &Reply) -> Result<T, Failure> {
    reply.data().map_err(|fault| Failure::Axd(fault.to_error()))
}

fn list(found: ListAppsAnswer) -> Answer {
    let mut answer = Answer::new(format!("{} apps", found.apps.len()));
    let mut apps = Vec::new();
    for listed in &found.apps {
        let app = &listed.app;
        let front = if listed.frontmost { " frontmost" } else { "" };
        let (name, state) = (quoted(&app.name), app.state.name());
        answer.lines(&format!("app {name} pid {} {state} windows {}{front}\n", app.pid, listed.windows));
        apps.push(json!({
            "name": app.name, "pid": app.pid, "state": app.state, "windows": listed.windows, "frontmost": listed.frontmost,
        }));
    }
    answer.set("apps", apps);
    answer
}

fn windows(found: ListWindowsAnswer) -> Answer {
    let mut answer = Answer::new(format!("{} windows, front to back", found.windows.len()));
    found.windows.iter().for_each(|window| answer.lines(&line_of(window)));
    answer.set("windows", found.windows);
    answer
}

fn line_of(window: &WindowInfo) -> String {
    let id = window.id.map_or_else(|| window.window.to_string(), |id| id.as_str().to_owned());
    let mut line =
        format!("window {} {id} app {} pid {}", quoted(&window.title), quoted(&window.app), window.pid);
    for (state, holds) in
        [("focused", window.focused), ("minimized", window.minimized), ("maximized", window.maximized)]
    {
        if holds {
            line.push(' ');
            line.push_str(state);
        }
    }
    line.push('\n');
    line
}

fn launched(done: LaunchAnswer) -> Answer {
    let mut answer = Answer::new(format!("launched after {} ms", done.waited_ms));
    if let Some(window) = &done.window {
        answer.lines(&line_of(window));
        answer.set("window", window);
    }
    if let Some(app) = &done.launched {
        answer.app(app);
    }
    note(&mut answer, done.note.as_deref());
    answer.set("delivery", done.disposition.delivery);
    answer
}

fn closed(done: CloseAppAnswer) -> Answer {
    let said =
        if done.closed { "closed" } else { "asked to close, and still running: it may ask something first" };
    let mut answer = Answer::new(said);
    answer.set("closed", done.closed);
    answer.set("delivery", done.disposition.delivery);
    answer
}

fn focused(done: WindowAnswer) -> Answer {
    let after = done.after.as_ref().unwrap_or(&done.before);
    let mut answer = Answer::new(if after.focused { "focused" } else { "not focused" });
    answer.lines(&line_of(after));
    answer.set("window", after);
    answer.set("delivery", done.disposition.delivery);
    answer
}

fn note(answer: &mut Answer, note: Option<&str>) {
    if let Some(note) = note {
        answer.lines(&format!("note {}\n", whole(note)));
    }
}
