//! `act`: one verb for everything that is done to an element.

use axd_protocol::command::{ActAnswer, Aspect, Settled};
use axd_protocol::error::Delivery;
use axd_protocol::{Command, Error};
use serde_json::json;

use super::{Answering, Hints, Tool};
use crate::answer::{Answer, Failure, quoted, whole};
use crate::arguments::Arguments;
use crate::call::Call;
use crate::schema::{Input, Object};
use crate::view::{self, Wanted};

/// The verbs, and the commands that they are.
const VERBS: [(&str, &str); 15] = [
    ("click", "click"),
    ("double", "double-click"),
    ("right", "right-click"),
    ("toggle", "toggle"),
    ("check", "check"),
    ("uncheck", "uncheck"),
    ("expand", "expand"),
    ("collapse", "collapse"),
    ("select", "select"),
    ("focus", "focus"),
    ("menu", "menu"),
    ("scroll", "scroll"),
    ("hover", "hover"),
    ("drag", "drag"),
    ("perform", "perform"),
];

/// The tool.
pub const TOOL: Tool = Tool {
    name: "act",
    description: "Do one thing to an element. Waits until the app has settled and shows what changed: no need to look again. \
                  Nothing is done twice; an error says whether anything was sent. menu takes a path such as \
                  \"File > Save\" as target; select takes the item as value; scroll without direction scrolls the target into view.",
    hints: Hints::Acts,
    input,
    output,
    run,
    command: Some(command),
};

fn input() -> Object {
    let verbs: Vec<&str> = VERBS.iter().map(|(verb, _)| *verb).collect();
    let input = Input::new()
        .own("verb", json!({ "type": "string", "enum": verbs }))
        .described("click", "target", "Id, selector, point \"x,y\" or mark \"#7\"")
        .described("click", "nth", "Which match, from 1")
        .described("select", "value", "select: item name or number; perform: native action")
        .described("drag", "to", "drag: drop target")
        .described("scroll", "direction", "scroll")
        .described("scroll", "amount", "Wheel notches")
        .described("scroll-to", "row", "Row to scroll to, from 1");
    let input = input
        .described("click", "app", "Name or pid")
        .described("click", "window", "Title or id")
        .described("click", "route", "Accessibility API, or mouse and keyboard")
        .described("click", "wait_for", "Selector that must match afterwards")
        .described("click", "wait_for_gone", "Selector that must not")
        .described("click", "timeout_ms", "[default: 5000]");
    view::arguments(input).required(&["verb", "target"]).schema()
}

/// The output of all tools that act on an element.
pub fn output() -> Object {
    view::output(json!({
        "delivery": { "type": "string" }, "retry": { "type": "string" }, "settled": { "type": "string" },
        "changed": { "type": "array" },
    }))
}

fn command(mut args: Arguments) -> Result<Command, Error> {
    Wanted::take(&mut args);
    let verb = args.take_text("verb").unwrap_or_default();
    let command = VERBS.iter().find(|(known, _)| *known == verb).map_or("click", |(_, command)| command);
    match command {
        "scroll" if !args.has("direction") => {
            args.take("amount");
            return args.into_command("scroll-to");
        }
        "menu" => args.rename("target", "path"),
        "perform" => args.rename("value", "action"),
        "drag" if !args.has("to") => return Err(args.missing("to", "verb drag")),
        _ => {}
    }
    args.into_command(command)
}

fn run<'a>(call: &'a Call<'a>, mut args: Arguments) -> Answering<'a> {
    Box::pin(async move {
        let wanted = Wanted::take(&mut args);
        perform(call, &command(args)?, wanted).await
    })
}

/// Carries out an action, and answers with what came of it.
pub async fn perform(call: &Call<'_>, command: &Command, wanted: Wanted) -> Result<Answer, Failure> {
    let reply = call.request(command).await?;
    let done: ActAnswer = reply.data().map_err(|fault| Failure::Axd(fault.to_error()))?;
    let mut answer = Answer::new(in_words(&done));
    answer.lines(&in_lines(&done));
    answer.set("delivery", done.disposition.delivery);
    answer.set("retry", done.disposition.retry);
    answer.set("settled", done.settled);
    answer.set("changed", &done.changed);
    if let Some(note) = &done.note {
        answer.set("note", note);
    }
    let about = reply.app.as_ref().zip(done.effects.as_ref());
    match about {
        Some((app, effects)) => {
            view::after(call, app.pid, effects.since, wanted, &mut answer).await?;
            answer.set("app", json!({ "name": app.name, "pid": app.pid, "state": app.state }));
            if wanted.mode == view::Mode::None {
                answer.clock(effects.clock);
            }
        }
        None => reply.clock.iter().for_each(|clock| answer.clock(*clock)),
    }
    if let Some(modal) = &done.modal {
        answer.set("modal", modal);
    }
    Ok(answer)
}

/// How it was done, in words of ours.
fn in_words(done: &ActAnswer) -> String {
    let delivery = match done.disposition.delivery {
        Delivery::NotDelivered => "not done",
        Delivery::Uncertain => "outcome unknown: check before doing it again",
        Delivery::DeliveredUnverified => "done",
        Delivery::DeliveredVerified => "done, verified",
    };
    let settled = match done.settled {
        Settled::Quiet | Settled::NoChange | Settled::Skipped => "",
        Settled::Busy => ", the app is still changing: call wait with idle",
        Settled::Unresponsive => ", the app does not answer",
        Settled::Ended => ", the app ended",
        Settled::CutShort => ", interrupted",
    };
    format!("{delivery}{settled}")
}

/// What is to be told in which texts of the app may stand.
fn in_lines(done: &ActAnswer) -> String {
    let mut out = String::new();
    if let (Some(before), Some(after)) = (&done.before, &done.after) {
        for aspect in &done.changed {
            let of = |value: &Option<String>| value.as_deref().map_or_else(|| "nothing".to_owned(), quoted);
            match aspect {
                Aspect::Value => {
                    out.push_str(&format!("value {} -> {}\n", of(&before.value), of(&after.value)))
                }
                Aspect::Checked => {
                    out.push_str(&format!("checked {} -> {}\n", before.checked, after.checked))
                }
                _ => {}
            }
        }
    }
    if done.changed.contains(&Aspect::Gone) {
        out.push_str("the target is gone\n");
    }
    if let Some((chosen, target)) = done.chosen.as_ref().zip(done.before.as_ref()) {
        axd_protocol::text::write_ref(&target.node, &mut out);
        out.push_str(&format!(" is {}\n", whole(chosen)));
    }
    if let Some(note) = &done.note {
        out.push_str(&format!("note {}\n", whole(note)));
    }
    // The receiver is named only if the call did not determine it.
    if let Some(receiver) = done.receiver.as_ref().filter(|_| done.before.is_none()) {
        let app = receiver.app.as_deref().unwrap_or("an unknown app");
        out.push_str(&format!("received by {} {}\n", quoted(app), quoted(&receiver.title)));
    }
    if let Some(modal) = &done.modal {
        let buttons: Vec<String> = modal.buttons.iter().map(|button| quoted(button)).collect();
        out.push_str("modal ");
        axd_protocol::text::write_ref(&modal.node, &mut out);
        out.push_str(&format!(" with {}\n", buttons.join(", ")));
    }
    out
}
