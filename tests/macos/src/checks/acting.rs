//! Whether what is done to the test app is done, once, and said as it was.

use std::time::{Duration, Instant};

use super::{Needs, Table};
use crate::ax::Checked;
use crate::stage::{Stage, expect};

pub const CHECKS: Table = &[
    ("a press is done by the app and counted once", Needs::TestApp, press),
    ("a press by the mouse is counted once", Needs::TestApp, press_by_mouse),
    ("check boxes and switches are switched", Needs::TestApp, switches),
    ("a slider takes a number", Needs::TestApp, slider),
    ("text of any script is typed", Needs::TestApp, texts),
    ("a choice is chosen", Needs::TestApp, choice),
    ("keys go to the field that has the focus", Needs::TestApp, keys),
    ("a modal window inside of an action does not hold up who opened it", Needs::TestApp, modal),
    ("a menu item is chosen by its path", Needs::TestApp, menu),
    ("what is dragged is dropped", Needs::TestApp, drag),
    ("nothing is held down at the end", Needs::TestApp, held),
];

/// A text in three scripts and an emoji of two code points.
pub const TEXT: &str = "Grüße, 世界 👋🏽";

/// How often Press was pressed, as the app shows it.
pub fn count(stage: &Stage<'_>) -> Checked<u64> {
    let found = stage.on(&["find", "text[name^='count ']"])?;
    let name = found["matches"][0]["name"].as_str().unwrap_or_default();
    name.strip_prefix("count ")
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| format!("no count in {found}"))
}

/// Presses the button in a way, and looks whether it was counted once.
fn press_so(stage: &Stage<'_>, words: &[&str], method: (&str, &str)) -> Checked {
    let before = count(stage)?;
    let done = stage.on(&[&["click", "button:Press"], words].concat())?;
    expect((&done["method"], &done["route"]) == (&method.0.into(), &method.1.into()), || done.to_string())?;
    stage.on(&["wait", "--for", &format!("text:'count {}'", before + 1), "--timeout", "5000"])?;
    // A second press would come within this time.
    stage.ax.data(&["wait", "500"])?;
    stage.on(&["snapshot", "--sync", "--max-nodes", "1"])?;
    let after = count(stage)?;
    expect(after == before + 1, || format!("it was counted {} times", after - before))
}

fn press(stage: &mut Stage<'_>) -> Checked {
    press_so(stage, &[], ("ax", "semantic"))
}

fn press_by_mouse(stage: &mut Stage<'_>) -> Checked {
    press_so(stage, &["--route", "input"], ("cgevent", "input"))
}

fn switches(stage: &mut Stage<'_>) -> Checked {
    for target in ["checkbox:Check", "*:Switch"] {
        stage.on(&["check", target])?;
        stage.on(&["wait", "--target", target, "--state", "checked", "--timeout", "5000"])?;
        stage.on(&["uncheck", target])?;
        stage.on(&["wait", "--target", target, "--state", "checked=false", "--timeout", "5000"])?;
    }
    Ok(())
}

fn slider(stage: &mut Stage<'_>) -> Checked {
    stage.on(&["set-value", "slider:Slider", "40"])?;
    let value = stage.value("slider:Slider")?;
    expect(value.parse::<f64>() == Ok(40.0), || format!("it is {value}"))
}

fn texts(stage: &mut Stage<'_>) -> Checked {
    for route in ["semantic", "input"] {
        stage.on(&["clear", "textfield:Entry"])?;
        stage.on(&["type", "textfield:Entry", TEXT, "--route", route])?;
        let value = stage.value("textfield:Entry")?;
        expect(value == TEXT, || format!("{route}: {value}"))?;
    }
    Ok(())
}

fn choice(stage: &mut Stage<'_>) -> Checked {
    stage.on(&["select", "combobox:Combo", "two"])?;
    let value = stage.value("combobox:Combo")?;
    expect(value == "two", || format!("it is {value}"))
}

fn keys(stage: &mut Stage<'_>) -> Checked {
    stage.on(&["clear", "textfield:Entry"])?;
    stage.on(&["focus", "textfield:Entry"])?;
    stage.on(&["press", "shift+a"])?;
    let value = stage.value("textfield:Entry")?;
    expect(value == "A", || format!("it is {value:?}"))
}

/// The app answers the press when its modal window is closed again: it runs within the action.
fn modal(stage: &mut Stage<'_>) -> Checked {
    let begin = Instant::now();
    let opened = stage.on(&["click", "button:Dialog", "--wait-for", "button:OK"]);
    let time = begin.elapsed();
    // Whatever came of it, the window must not be in the way of the next check.
    let closed = stage.on(&["click", "button:OK"]);
    opened?;
    closed?;
    expect(time < Duration::from_secs(10), || format!("it took {:.1} s", time.as_secs_f64()))?;
    stage.on(&["wait", "--gone", "button:OK", "--timeout", "5000"]).map(|_| ())
}

fn menu(stage: &mut Stage<'_>) -> Checked {
    stage.on(&["menu", "File > New"])?;
    let said = stage.actor()?.line()?;
    expect(said == "chose New", || format!("the app says {said}"))
}

fn drag(stage: &mut Stage<'_>) -> Checked {
    stage.on(&["drag", "text:'Drag source'", "--to", "text:'Drop target'"])?;
    let said = stage.actor()?.line()?;
    expect(said == "dropped Drag source", || format!("the app says {said}"))
}

fn held(stage: &mut Stage<'_>) -> Checked {
    let held = stage.actor()?.held()?;
    expect(held.is_empty(), || held)
}
