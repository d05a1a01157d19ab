//! `changes`: what changed in one app or in all of them since a clock.

use axd_protocol::command::{Changes, ChangesAnswer};
use axd_protocol::{Clock, Command};
use serde_json::json;

use super::{Answering, Hints, Tool};
use crate::answer::{Answer, Failure, quoted};
use crate::arguments::{Arguments, invalid};
use crate::call::Call;
use crate::schema::{Input, Object};
use crate::view::{self, Wanted};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "changes",
    description: "What changed since the clock of an earlier answer, in one app or in all.",
    hints: Hints::Reads,
    input,
    output,
    run,
    command: None,
};

fn input() -> Object {
    let input = Input::new()
        .described("changes", "since", "Clock of an earlier answer")
        .described("changes", "app", "Name or pid [default: all]")
        .own("all", json!({ "type": "boolean", "description": "Also what is not visible" }))
        .own("max_tokens", json!({ "type": "integer" }));
    input.required(&["since"]).schema()
}

fn output() -> Object {
    view::output(json!({
        "apps": { "type": "array" }, "fresh": { "type": "boolean" }, "truncated": { "type": "boolean" },
    }))
}

fn run<'a>(call: &'a Call<'a>, mut args: Arguments) -> Answering<'a> {
    Box::pin(async move {
        let wanted = Wanted::take(&mut args);
        let is_whole = args.take_flag("all");
        args.set("brief", !is_whole);
        let command = args.into_command("changes")?;
        let Command::Changes(Changes { since, brief, .. }) = command else {
            return Err(invalid("since: it must be a clock".to_owned()).into());
        };
        let reply = call.request(&command).await?;
        let changed: ChangesAnswer = reply.data().map_err(|fault| Failure::Axd(fault.to_error()))?;
        let mut answer = Answer::default();
        reply.clock.iter().for_each(|clock| answer.clock(*clock));
        answer.set("mode", "changes");
        if changed.apps.is_empty() {
            answer.note("nothing changed");
        }
        let mut left = wanted.max_tokens;
        let mut shown = Vec::new();
        let mut is_fresh = false;
        for app in &changed.apps {
            shown.push(json!({ "name": app.app.name, "pid": app.app.pid, "state": app.app.state }));
            answer.lines(&format!("app {} pid {}\n", quoted(&app.app.name), app.app.pid));
            if app.fresh {
                if !is_fresh {
                    answer.note(fresh(since, reply.clock));
                    answer.set("fresh", true);
                }
                is_fresh = true;
                continue;
            }
            let told = call.changes(app.app.pid, since, brief).await?;
            let cost = told.lines.len().div_ceil(4);
            if cost > left {
                answer.note("cut: use a larger max_tokens, or look at one app");
                answer.set("truncated", true);
                answer.lines("(more than fits)\n");
                continue;
            }
            left -= cost;
            answer.lines(&told.lines);
        }
        answer.set("apps", shown);
        answer.lines_in_data();
        Ok(answer)
    })
}

/// Why there is no difference.
fn fresh(since: Clock, now: Option<Clock>) -> &'static str {
    match now {
        Some(now) if now.boot != since.boot => {
            "axd was restarted since that clock: call look for the whole tree"
        }
        _ => "that clock is too old for a difference: call look for the whole tree",
    }
}
