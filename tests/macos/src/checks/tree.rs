//! Whether the tree is what the test app shows.

use serde_json::Value;

use super::{Needs, Table};
use crate::ax::Checked;
use crate::stage::{Stage, expect};

pub const CHECKS: Table = &[
    ("the tree has every widget by role and name", Needs::TestApp, widgets),
    ("a change that the app makes by itself is announced", Needs::TestApp, timer),
    ("a change that an action causes is in the difference", Needs::TestApp, difference),
    ("what is remembered is what is there", Needs::TestApp, remembered),
    ("rows that come and go are known", Needs::TestApp, rows),
    ("a password is never told", Needs::TestApp, password),
];

const WIDGETS: [&str; 14] = [
    "button:Press",
    "checkbox:Check",
    "radio:Red",
    "textfield:Entry",
    "textfield:Password",
    "slider:Slider",
    "combobox:Combo",
    "progressbar:Progress",
    "button:Target",
    "tab:List",
    "button:Add",
    "button:'Modern Press'",
    "textfield:'Modern Field'",
    "slider:'Modern Slider'",
];

fn widgets(stage: &mut Stage<'_>) -> Checked {
    let mut missing = Vec::new();
    for widget in WIDGETS {
        let found = stage.on(&["find", widget])?;
        if found["matches"].as_array().is_none_or(Vec::is_empty) {
            missing.push(widget);
        }
    }
    let app = stage.actor()?.app;
    stage.measure("test-app", app)?;
    expect(missing.is_empty(), || format!("not found: {}", missing.join(", ")))
}

/// The number that the app counts up once a second, as it is remembered.
fn ticks(stage: &Stage<'_>) -> Checked<u64> {
    let found = stage.on(&["find", "text[name^='tick ']"])?;
    let name = found["matches"][0]["name"].as_str().unwrap_or_default();
    name.strip_prefix("tick ")
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| format!("no tick in {found}"))
}

/// The notifications of the test app so far, and the changes that it did not announce.
fn events(stage: &Stage<'_>) -> Checked<(u64, u64)> {
    let app = stage.actor()?.app;
    let status = stage.ax.data(&["status"])?;
    let apps = status["apps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_it = |candidate: &&Value| candidate["pid"] == app;
    let app = apps.iter().find(is_it).ok_or_else(|| format!("{app} is not attached"))?;
    Ok((app["events"].as_u64().unwrap_or(0), app["missed"].as_u64().unwrap_or(0)))
}

/// Nothing is done to the app and nothing is waited for in it, because both would have it read again.
fn timer(stage: &mut Stage<'_>) -> Checked {
    let (tick, (before, _)) = (ticks(stage)?, events(stage)?);
    stage.ax.data(&["wait", "4000"])?;
    let (later, (after, missed)) = (ticks(stage)?, events(stage)?);
    expect(after > before, || {
        format!("no notification came in 4 s; the tree went from tick {tick} to {later}")
    })?;
    expect(later > tick, || {
        format!(
            "{} notifications came, but the tree stays at tick {tick} ({missed} changes were missed)",
            after - before
        )
    })
}

fn difference(stage: &mut Stage<'_>) -> Checked {
    let count = super::acting::count(stage)?;
    let app = stage.actor()?.app.to_string();
    let clock = stage.ax.ask(&["find", "button:Press", "--app", &app])?["clock"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    stage.on(&["click", "button:Press"])?;
    let changes = stage.on(&["changes", "--since", &clock])?.to_string();
    expect(changes.contains(&format!("count {}", count + 1)), || changes)
}

fn remembered(stage: &mut Stage<'_>) -> Checked {
    stage.on(&["click", "button:Add"])?;
    stage.on(&["click", "button:Rename"])?;
    let remembered = stage.on(&["snapshot", "--sync"])?;
    let read = stage.on(&["snapshot", "--verify"])?;
    // The app counts meanwhile.
    let without_tick = |tree: &Value| {
        let text = tree["tree"].to_string();
        text.split("\"name\":\"tick ")
            .map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()))
            .collect::<String>()
    };
    expect(without_tick(&remembered) == without_tick(&read), || {
        "reading from the root finds another tree".to_owned()
    })
}

fn rows(stage: &mut Stage<'_>) -> Checked {
    let named = "*[name^='row ']";
    let count = |stage: &Stage<'_>| {
        stage.on(&["find", named]).map(|found| found["matches"].as_array().map_or(0, Vec::len))
    };
    let before = count(stage)?;
    expect(before >= 2, || format!("{before} rows"))?;
    stage.on(&["click", "button:Add"])?;
    let more = count(stage)?;
    expect(more > before, || format!("{before} rows before, {more} after one was added"))?;
    stage.on(&["click", "button:Remove"])?;
    let less = count(stage)?;
    expect(less == before, || format!("{before} rows before, {less} after one was added and removed"))
}

fn password(stage: &mut Stage<'_>) -> Checked {
    stage.on(&["type", "textfield:Password", "s3cret"])?;
    let tree = stage.on(&["snapshot"])?.to_string();
    expect(!tree.contains("s3cret"), || "the snapshot has it".to_owned())?;
    expect(!stage.ax.log().contains("s3cret"), || "the log has it".to_owned())
}
