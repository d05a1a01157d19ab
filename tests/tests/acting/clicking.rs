//! Clicks: by the app itself, with the mouse, on a point, several at once, with the other button.

use axd_tests::Stage;
use axd_tests::stage::Deed;
use serde_json::json;

#[test]
fn a_click_presses_a_button_by_the_app_itself() {
    let mut stage = Stage::start();
    let args = stage.on("Press");
    let done = stage.does(Deed::Press, "click", args).expect("a button can be pressed");
    assert_eq!(done["before"]["role"], "button", "{done}");
    assert_eq!(done["after"]["id"], done["before"]["id"], "{done}");
    stage.counts(1);
}

#[test]
fn a_click_by_input_presses_the_same_button_with_the_mouse() {
    let mut stage = Stage::start();
    let args = stage.on_with("Press", json!({ "route": "input" }));
    let done = stage.act("click", args);
    assert_eq!(done["route"], "input", "{done}");
    stage.counts(1);
    let [x, y, width, height] = stage.bounds("Press");
    let at = stage.act("mouse-position", json!({}));
    let (px, py) = (at["x"].as_i64().unwrap(), at["y"].as_i64().unwrap());
    assert!((x..x + width).contains(&px) && (y..y + height).contains(&py), "{at} {x},{y} {width}x{height}");
}

#[test]
fn a_click_on_a_point_is_a_click_on_what_is_there() {
    let mut stage = Stage::start();
    let (x, y) = stage.middle("Press");
    let args = stage.args(json!({ "target": format!("{x},{y}") }));
    let done = stage.act("click", args);
    assert_eq!(done["route"], "input", "{done}");
    stage.counts(1);
}

#[test]
fn a_click_on_an_id_is_a_click_on_that_element() {
    let mut stage = Stage::start();
    let id = stage.get("Press")["id"].clone();
    let done = stage.act("click", json!({ "target": id }));
    assert_eq!(done["before"]["id"], id, "{done}");
    stage.counts(1);
}

#[test]
fn many_clicks_in_a_row_are_each_delivered_once() {
    let mut stage = Stage::start();
    for _ in 0..5 {
        let args = stage.on_with("Press", json!({ "settle_ms": 0 }));
        let done = stage.act("click", args);
        assert_eq!(done["settled"], "skipped", "{done}");
    }
    stage.counts(5);
}

#[test]
fn a_double_click_is_two_clicks_with_the_mouse() {
    let mut stage = Stage::start();
    let args = stage.on("Press");
    let done = stage.act("double-click", args);
    assert_eq!(done["route"], "input", "{done}");
    stage.counts(2);
    let args = stage.on_with("Press", json!({ "route": "semantic" }));
    stage.fails("ACTION_NOT_SUPPORTED", "double-click", args);
    stage.counts(2);
}

#[test]
fn a_triple_click_selects_a_line() {
    let mut stage = Stage::start();
    let args = stage.on_with("Entry", json!({ "text": "some words here" }));
    stage.act("type", args);
    stage.holds("Entry", "some words here");
    let args = stage.on("Entry");
    stage.act("triple-click", args);
    // What is selected is replaced by what is typed.
    let args = stage.args(json!({ "combo": "x" }));
    stage.act("press", args);
    stage.holds("Entry", "x");
}

#[test]
fn a_right_click_opens_the_menu_of_an_element() {
    let mut stage = Stage::start();
    // Where the menu is drawn, seen before and after.
    let (x, y) = stage.middle("Entry");
    let region = format!("{},{},24,40", x - 12, y + 24);
    stage.act("mouse-move", json!({ "point": "1,1" }));
    let before = stage.act("screenshot", json!({ "region": region }))["hash"].clone();
    let mut args = stage.on("Entry");
    if stage.kit.lists_context_menus() {
        args["wait_for"] = json!(stage.the("Paste"));
    }
    let done = stage.act("right-click", args);
    assert_eq!(done["route"], "input", "{done}");
    stage.looks(&region, false, &before);
    let mut args = stage.args(json!({ "combo": "escape" }));
    if stage.kit.lists_context_menus() {
        args["wait_for_gone"] = json!(stage.the("Paste"));
    }
    stage.act("press", args);
    stage.looks(&region, true, &before);
}
