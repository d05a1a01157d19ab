//! `status`: how axd is, and what it is doing.

use axd_protocol::Command;
use axd_protocol::command::{PermissionState, Permissions, PermissionsAnswer, Status, StatusAnswer};
use serde_json::json;

use super::{Answering, Hints, Tool};
use crate::answer::{Answer, Failure, quoted, whole};
use crate::arguments::Arguments;
use crate::call::Call;
use crate::schema::{self, Input, Object};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "status",
    description: "How axd is: platform, apps that hang or are degraded, who is acting, missing permissions.",
    hints: Hints::Reads,
    input: || Input::new().schema(),
    output,
    run,
    command: None,
};

fn output() -> Object {
    schema::output(json!({
        "version": { "type": "string" }, "platform": { "type": "string" }, "apps": { "type": "array" },
        "missing": { "type": "array" },
    }))
}

fn run<'a>(call: &'a Call<'a>, _: Arguments) -> Answering<'a> {
    Box::pin(async move {
        let reply = call.request(&Command::Status(Status {})).await?;
        let status: StatusAnswer = reply.data().map_err(|fault| Failure::Axd(fault.to_error()))?;
        let mut answer = Answer::new(format!("axd {} on {}", status.daemon, reply.platform));
        reply.clock.iter().for_each(|clock| answer.clock(*clock));
        answer.set("version", &status.daemon);
        answer.set("platform", &reply.platform);
        answer.set("clients", status.clients.len());
        let mut apps = Vec::new();
        for app in &status.apps {
            let mut line =
                format!("app {} pid {} {}", quoted(&app.app.name), app.app.pid, app.app.state.name());
            if let Some(why) = &app.degraded {
                line.push_str(&format!(" because {}", whole(why)));
            }
            if let Some(acting) = &app.acting {
                line.push_str(&format!(
                    " client {} does {} for {} ms",
                    acting.client, acting.command, acting.for_ms
                ));
            }
            answer.lines(&line);
            apps.push(json!({
                "name": app.app.name, "pid": app.app.pid, "state": app.app.state, "elements": app.nodes, "clock": app.clock,
            }));
        }
        answer.set("apps", apps);
        let missing = missing(call).await?;
        if !missing.is_empty() {
            answer.note(&format!(
                "missing permissions: {}; ask the user to run `ax permissions`",
                missing.join(", ")
            ));
        }
        answer.set("missing", missing);
        Ok(answer)
    })
}

/// The permissions that the system has not given.
async fn missing(call: &Call<'_>) -> Result<Vec<String>, Failure> {
    let asked = Command::Permissions(Permissions { request: false });
    let reply = call.request(&asked).await?;
    let answer: PermissionsAnswer = reply.data().map_err(|fault| Failure::Axd(fault.to_error()))?;
    let missing =
        answer.permissions.into_iter().filter(|permission| permission.state != PermissionState::Granted);
    Ok(missing.map(|permission| permission.name).collect())
}
