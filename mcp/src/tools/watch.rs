//! `watch`: events for a while, for agents that follow what a person does.

use std::time::Duration;

use axd_protocol::event::Event;
use axd_protocol::{Clock, Command};
use serde_json::json;
use tokio::time::Instant;

use super::{Answering, Hints, Tool};
use crate::answer::{Answer, Failure};
use crate::arguments::{Arguments, invalid};
use crate::call::Call;
use crate::schema::{self, Input, Object};

/// How long events are collected, if the call does not say.
const DEFAULT_FOR_MS: u64 = 10_000;
/// How long they are collected at most.
const MAX_FOR_MS: u64 = 50_000;
/// How many events an answer has at most, if the call does not say.
const DEFAULT_MAX_EVENTS: u64 = 50;

/// The tool.
pub const TOOL: Tool = Tool {
    name: "watch",
    description: "Collect events as they come: focus, windows, dialogs, menus, announcements, apps, and with kind changes the \
                  differences of trees. Answers after for_ms or max_events; call again with its clock as since to go on.",
    hints: Hints::Reads,
    input,
    output,
    run,
    command: None,
};

fn input() -> Object {
    Input::new()
        .of("subscribe", &["app", "within", "kind", "since"])
        .own("for_ms", json!({ "type": "integer", "description": "[default: 10000]" }))
        .own("max_events", json!({ "type": "integer", "description": "[default: 50]" }))
        .schema()
}

fn output() -> Object {
    schema::output(json!({ "events": { "type": "array" }, "clock": { "type": "string" } }))
}

fn run<'a>(call: &'a Call<'a>, mut args: Arguments) -> Answering<'a> {
    Box::pin(async move {
        let time = args.take_number("for_ms").unwrap_or(DEFAULT_FOR_MS).min(MAX_FOR_MS);
        let most = args.take_number("max_events").unwrap_or(DEFAULT_MAX_EVENTS).clamp(1, 1_000) as usize;
        let command = args.into_command("subscribe")?;
        let Command::Subscribe(what) = command else {
            return Err(invalid("watch: nothing to watch".to_owned()).into());
        };
        let mut clock = what.since;
        let mut subscription = call.shared.link.subscribe(what).await.map_err(Failure::Axd)?;
        clock = subscription.reply().clock.or(clock);
        let end = Instant::now() + Duration::from_millis(time);
        let mut events = Vec::new();
        let mut lines = String::new();
        while events.len() < most {
            let push = tokio::select! {
                push = subscription.next() => push.map_err(|fault| Failure::Axd(fault.to_error()))?,
                () = tokio::time::sleep_until(end) => break,
                () = call.cancelled.cancelled() => break,
                () = call.shared.closing.cancelled() => break,
            };
            let Some(push) = push else { break };
            clock = clock_of(&push.event).or(clock);
            // JSON has every text in quotes, with its line breaks escaped.
            let event = serde_json::to_value(&push.event).unwrap_or_default();
            lines.push_str(&format!("{event}\n"));
            events.push(event);
        }
        let mut answer = Answer::new(format!("{} events", events.len()));
        clock.iter().for_each(|clock| answer.clock(*clock));
        answer.lines(&lines);
        answer.set("events", events);
        Ok(answer)
    })
}

/// The clock of an event.
fn clock_of(event: &Event) -> Option<Clock> {
    match event {
        Event::Changes { clock, .. } | Event::Fresh { clock, .. } => Some(*clock),
        Event::End { .. } => None,
        Event::Focus(data)
        | Event::WindowOpened(data)
        | Event::WindowClosed(data)
        | Event::WindowFocused(data)
        | Event::WindowChanged(data)
        | Event::AppLaunched(data)
        | Event::AppTerminated(data)
        | Event::MenuOpened(data)
        | Event::MenuClosed(data)
        | Event::Dialog(data)
        | Event::Announcement(data)
        | Event::AppState(data) => Some(data.clock),
    }
}
