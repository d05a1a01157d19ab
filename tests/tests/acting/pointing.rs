//! The mouse: hovering, dragging, scrolling, and its parts.

use std::time::Instant;

use axd_tests::stage::{Deed, Way};
use axd_tests::{PATIENCE, Stage};
use serde_json::{Value, json};

fn pointer(stage: &mut Stage) -> (i64, i64) {
    let at = stage.act("mouse-position", json!({}));
    (at["x"].as_i64().expect("x"), at["y"].as_i64().expect("y"))
}

#[test]
fn hovering_leaves_the_pointer_over_the_element() {
    let mut stage = Stage::start();
    let args = stage.on("Press");
    let done = stage.act("hover", args);
    assert_eq!(done["route"], "input", "{done}");
    let [x, y, width, height] = stage.bounds("Press");
    let (px, py) = pointer(&mut stage);
    assert!((x..x + width).contains(&px) && (y..y + height).contains(&py));
    stage.counts(0);
}

#[test]
fn a_drag_takes_along_what_it_began_on() {
    let mut stage = Stage::start();
    if stage.kit.drags_sliders() {
        let args = stage.on_with("Slider", json!({ "value": 50 }));
        stage.act("set-value", args);
        stage.holds("Slider", "50");
        // The thumb is in the middle now.
        let (from, to) = stage.kit.thumb(stage.bounds("Slider"));
        let args = stage.args(json!({ "target": from, "to": to }));
        let done = stage.act("drag", args);
        assert_eq!(done["route"], "input", "{done}");
        stage.wait(json!({ "target": stage.the("Slider"), "value_matches": "^([6-9][0-9]|100)(\\.|$)" }));
        assert_eq!(stage.held_down(), [""; 0]);
    }
    // What is dragged over in a field is selected, and replaced by what is typed.
    let args = stage.on_with("Entry", json!({ "text": "drag" }));
    stage.act("type", args);
    stage.holds("Entry", "drag");
    let [x, y, width, height] = stage.bounds("Entry");
    // The edge of a field is no part of its text.
    let (left, right, middle) = (x + 3, x + width - 20, y + height / 2);
    let args = stage.args(json!({ "target": format!("{right},{middle}"), "to": format!("{left},{middle}") }));
    stage.act("drag", args);
    let args = stage.args(json!({ "combo": "x" }));
    stage.act("press", args);
    stage.holds("Entry", "x");
    assert_eq!(stage.held_down(), [""; 0]);
}

#[test]
fn the_pointer_goes_where_it_is_sent_on_the_screen_and_in_a_window() {
    let mut stage = Stage::start();
    stage.act("mouse-move", json!({ "point": "321,234" }));
    assert_eq!(pointer(&mut stage), (321, 234));
    let bounds = stage.window()["bounds"].clone();
    let args = stage.args(json!({ "point": "20,30", "window": stage.kit.title() }));
    stage.act("mouse-move", args);
    let at = |part: &str| bounds[part].as_i64().expect("bounds");
    assert_eq!(pointer(&mut stage), (at("x") + 20, at("y") + 30));
}

#[test]
fn the_mouse_clicks_at_a_place_in_a_window() {
    let mut stage = Stage::start();
    let bounds = stage.window()["bounds"].clone();
    let (x, y) = stage.middle("Press");
    let inside = format!("{},{}", x - bounds["x"].as_i64().unwrap(), y - bounds["y"].as_i64().unwrap());
    let args = stage.args(json!({ "point": inside, "window": stage.kit.title() }));
    let done = stage.act("mouse-click", args);
    assert_eq!(done["method"], stage.kit.methods().1, "{done}");
    stage.counts(1);
    let args = json!({ "point": format!("{x},{y}"), "count": 2 });
    stage.act("mouse-click", args);
    stage.counts(3);
}

#[test]
fn a_button_of_the_mouse_goes_down_and_comes_up() {
    let mut stage = Stage::start();
    let (x, y) = stage.middle("Press");
    stage.act("mouse-down", json!({ "point": format!("{x},{y}") }));
    assert_eq!(stage.held_down(), ["left button"]);
    let status = stage.act("status", json!({}));
    assert_eq!(status["held"][0]["what"], "left button", "{status}");
    stage.counts(0);
    stage.act("mouse-up", json!({ "point": format!("{x},{y}") }));
    assert_eq!(stage.held_down(), [""; 0]);
    stage.counts(1);
}

/// So many rows that the list cannot show all of them.
fn many_rows(stage: &mut Stage) {
    let click = json!({ "command": "click", "args": stage.on_with("Add", json!({ "settle_ms": 0, "no_effects": true })) });
    let items: Vec<Value> = std::iter::repeat_n(click, 42).collect();
    let done = stage.act("batch", json!({ "items": items }));
    assert_eq!(done["succeeded"], 42, "{}", done["results"][0]);
    let last = stage.row(45);
    stage.wait(json!({ "for": [last] }));
}

/// Fails unless a row comes to be in sight, or out of it: where things are is announced by nobody, and told when there is time.
fn sees(stage: &mut Stage, row: usize, visible: bool) {
    let began = Instant::now();
    while is_visible(stage, row) != visible {
        assert!(began.elapsed() < PATIENCE / 4, "row {row} is not as visible as {visible}");
    }
}

fn is_visible(stage: &mut Stage, row: usize) -> bool {
    let target = stage.row(row);
    let args = stage.args(json!({ "target": target, "property": "visible" }));
    stage.act("is", args)["value"] == true
}

#[test]
fn a_list_is_scrolled_by_its_element_and_by_the_wheel() {
    let mut stage = Stage::start();
    many_rows(&mut stage);
    sees(&mut stage, 1, true);
    sees(&mut stage, 45, false);
    let args = stage.on_with("Rows", json!({ "direction": "down", "amount": 100 }));
    stage.does(Deed::Scroll, "scroll", args);
    sees(&mut stage, 1, false);
    let (x, y) = stage.kit.inside_rows(stage.bounds("Rows"), &stage.window()["bounds"]);
    let args = stage.args(json!({ "point": format!("{x},{y}"), "direction": "up", "amount": 100 }));
    stage.act("mouse-wheel", args);
    sees(&mut stage, 1, true);
    sees(&mut stage, 45, false);
}

#[test]
fn what_is_scrolled_away_is_scrolled_to() {
    let mut stage = Stage::start();
    many_rows(&mut stage);
    let row = stage.row(45);
    let last = stage.args(json!({ "target": row }));
    let done = stage.does(Deed::ScrollTo, "scroll-to", last.clone()).expect("it can be scrolled to");
    assert_eq!(done["disposition"]["delivery"], "delivered_verified", "{done}");
    sees(&mut stage, 45, true);
    let again = stage.act("scroll-to", last);
    assert_eq!(again["method"], "none", "{again}");
}

#[test]
fn a_list_is_scrolled_until_what_is_looked_for_is_in_sight_or_nothing_moves_any_more() {
    let mut stage = Stage::start();
    many_rows(&mut stage);
    let row = stage.row(45).rsplit(' ').next().expect("a row").to_owned();
    let args = stage.on_with("Rows", json!({ "direction": "down", "until": row }));
    let done = stage.does(Deed::ScrollTo, "scroll", args).expect("it can be scrolled to");
    assert_eq!(done["disposition"]["delivery"], "delivered_verified", "{done}");
    sees(&mut stage, 45, true);
    let args = stage.on_with(
        "Rows",
        json!({ "direction": "down", "amount": 30, "until": "button:Nobody", "timeout_ms": 300 }),
    );
    if matches!(stage.kit.way(Deed::Scroll), Way::App | Way::Input) {
        let error = stage.fails("ACTION_FAILED", "scroll", args);
        assert!(error["message"].as_str().unwrap().contains("nothing more to scroll"), "{error}");
    }
}
