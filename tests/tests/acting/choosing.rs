//! Choosing: of a combo box, a list, a radio group, a tab list, a menu.

use axd_tests::Stage;
use axd_tests::stage::{Deed, Kit};
use serde_json::json;

#[test]
fn a_choice_of_a_combo_box_is_selected_by_name_and_by_number() {
    let mut stage = Stage::start();
    for (choice, shown) in [("three", "three"), ("2", "two")] {
        let args = stage.on_with("Combo", json!({ "value": choice }));
        if stage.does(Deed::SelectChoice, "select", args).is_none() {
            return;
        }
        let chosen = stage.the("Chosen").replace("{}", shown);
        stage.wait(json!({ "for": [chosen] }));
    }
    let args = stage.on_with("Combo", json!({ "value": "two" }));
    let again = stage.act("select", args);
    assert_eq!(again["method"], "none", "{again}");
}

#[test]
fn a_row_of_a_list_is_selected_by_name_by_number_and_by_itself() {
    let mut stage = Stage::start();
    for (value, row) in [(json!("row 2"), 2), (json!(3), 3)] {
        let args = stage.on_with("Rows", json!({ "value": value }));
        if stage.does(Deed::SelectRow, "select", args).is_none() {
            return;
        }
        let selected = format!("{}[selected]", stage.row(row));
        stage.wait(json!({ "for": [selected] }));
    }
    let row = stage.row(1);
    let first = stage.args(json!({ "target": row }));
    stage.act("select", first);
    stage.wait(json!({ "for": [format!("{row}[selected]")] }));
}

#[test]
fn a_radio_button_is_selected() {
    let mut stage = Stage::start();
    let args = stage.on("Green");
    stage.does(Deed::Radio, "select", args);
    stage.is("Green", "checked");
}

#[test]
fn a_tab_is_selected_and_shows_its_page() {
    let mut stage = Stage::start();
    let args = stage.on("Text");
    stage.does(Deed::SelectTab, "select", args.clone());
    stage.wait(json!({ "for": ["textarea:Notes[visible]"] }));
    assert_eq!(stage.act("select", args)["method"], "none");
}

#[test]
fn an_item_that_is_not_there_is_answered_with_those_that_are() {
    let mut stage = Stage::start();
    let args = stage.on_with("Rows", json!({ "value": "row 77" }));
    let error = stage.fails("ELEMENT_NOT_FOUND", "select", args);
    assert!(error["candidates"].as_array().is_some_and(|all| all.len() == 3), "{error}");
    if !matches!(stage.kit, Kit::Gtk4 | Kit::Chromium) {
        let args = stage.on_with("Combo", json!({ "value": "seven" }));
        let error = stage.fails("ELEMENT_NOT_FOUND", "select", args);
        let names: Vec<_> =
            error["candidates"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
        assert_eq!(names, ["one", "two", "three"], "{error}");
    }
}

#[test]
fn an_item_of_a_menu_is_picked() {
    let mut stage = Stage::start();
    let args = stage.args(json!({ "path": "File > Open" }));
    stage.does(Deed::Menu, "menu", args);
}

#[test]
fn an_item_that_no_menu_has_is_answered_with_those_there_are() {
    let mut stage = Stage::start();
    for (path, missing) in [("Fiel > Open", "Fiel"), ("File > Opne", "Opne")] {
        let args = stage.args(json!({ "path": path }));
        if stage.kit == Kit::Chromium {
            stage.fails("ACTION_NOT_SUPPORTED", "menu", args);
            continue;
        }
        let error = stage.fails("ELEMENT_NOT_FOUND", "menu", args);
        assert!(error["message"].as_str().unwrap().contains(missing), "{error}");
        assert!(error["candidates"].as_array().is_some_and(|all| !all.is_empty()), "{error}");
    }
    let args = stage.args(json!({ "path": "File > " }));
    stage.fails("INVALID_ARGS", "menu", args);
}

#[test]
fn a_combo_box_is_opened_and_closed() {
    let mut stage = Stage::start();
    let args = stage.on("Combo");
    stage.act("expand", args.clone());
    let again = stage.act("expand", args.clone());
    assert_eq!(again["method"], "none", "{again}");
    stage.act("collapse", args.clone());
    assert_eq!(stage.act("collapse", args)["method"], "none");
    // Nothing that is open takes the mouse.
    let args = stage.on_with("Press", json!({ "route": "input" }));
    stage.act("click", args);
    stage.counts(1);
}

#[test]
fn what_was_opened_to_choose_what_is_not_there_is_closed_again() {
    for route in ["auto", "input"] {
        let mut stage = Stage::start();
        let args = stage.on_with("Combo", json!({ "value": "seven", "route": route }));
        stage.fails("ELEMENT_NOT_FOUND", "select", args);
        if stage.kit != Kit::Chromium {
            let args = stage.args(json!({ "path": "File > Open > Nothing", "route": route }));
            stage.fails("ELEMENT_NOT_FOUND", "menu", args);
        }
        let args = stage.on_with("Press", json!({ "route": "input" }));
        stage.act("click", args);
        stage.counts(1);
    }
}

#[test]
fn a_choice_is_taken_with_mouse_and_keyboard() {
    let mut stage = Stage::start();
    let args = stage.on_with("Combo", json!({ "value": "three", "route": "input" }));
    let done = stage.act("select", args);
    assert_eq!(
        (&done["route"], &done["disposition"]["delivery"]),
        (&json!("input"), &json!("delivered_verified")),
        "{done}"
    );
    let chosen = stage.the("Chosen").replace("{}", "three");
    stage.wait(json!({ "for": [chosen] }));
}

#[test]
fn an_item_of_a_menu_is_picked_with_the_mouse_through_the_menus_on_the_way() {
    let mut stage = Stage::start();
    if stage.kit == Kit::Chromium {
        return;
    }
    let args = stage.args(json!({ "path": "File > Open", "route": "input", "timeout_ms": 2_000 }));
    if stage.kit == Kit::Gtk4 {
        // It does not say where its popups are. What was opened is closed again.
        stage.fails("NOT_ACTIONABLE", "menu", args);
    } else {
        let done = stage.act("menu", args);
        assert_eq!(done["route"], "input", "{done}");
    }
    let args = stage.on_with("Press", json!({ "route": "input" }));
    stage.act("click", args);
    stage.counts(1);
}
