//! What is on or off, open or closed: toggled, checked, unchecked, expanded, collapsed, and left alone if it is so already.

use axd_tests::Stage;
use axd_tests::stage::{Deed, Kit};
use serde_json::json;

#[test]
fn a_check_box_is_checked_and_unchecked_and_left_alone_if_it_is_so() {
    let mut stage = Stage::start();
    let args = stage.on("Check");
    assert_eq!(stage.act("uncheck", args.clone())["method"], "none");
    let done = stage.does(Deed::Check, "check", args.clone()).expect("a check box can be checked");
    assert_eq!(done["disposition"]["delivery"], "delivered_verified", "{done}");
    assert_eq!(
        (&done["before"]["checked"], &done["after"]["checked"]),
        (&json!(false), &json!(true)),
        "{done}"
    );
    assert!(done["changed"].as_array().unwrap().contains(&json!("checked")), "{done}");
    stage.is("Check", "checked");
    let again = stage.act("check", args.clone());
    assert_eq!((&again["method"], &again["changed"]), (&json!("none"), &json!([])), "{again}");
    stage.does(Deed::Check, "uncheck", args);
    stage.is("Check", "checked=false");
}

#[test]
fn a_toggle_button_and_a_switch_are_toggled_to_the_other_side() {
    let mut stage = Stage::start();
    for (widget, deed) in [("Toggle", Deed::Toggle), ("Switch", Deed::Switch)] {
        let args = stage.on(widget);
        for on in [true, false] {
            let Some(done) = stage.does(deed, "toggle", args.clone()) else { break };
            assert_eq!(done["before"]["checked"], !on, "{done}");
            assert_eq!(done["after"]["checked"], on, "{done}");
        }
    }
}

#[test]
fn what_has_no_other_side_cannot_be_toggled_or_checked() {
    let mut stage = Stage::start();
    for command in ["toggle", "check", "uncheck"] {
        let args = stage.on("Press");
        stage.fails("ACTION_NOT_SUPPORTED", command, args);
    }
    stage.counts(0);
}

#[test]
fn a_radio_button_is_checked_and_the_others_are_not() {
    let mut stage = Stage::start();
    let args = stage.on("Green");
    let done = stage.does(Deed::Radio, "check", args).expect("a radio button can be checked");
    assert_eq!(done["after"]["checked"], true, "{done}");
    stage.is("Red", "checked=false");
    if stage.kit != Kit::Gtk4 {
        // One that is checked is unchecked by another, never by itself.
        let args = stage.on("Green");
        stage.fails("ACTION_NOT_SUPPORTED", "uncheck", args);
    }
}

#[test]
fn what_is_hidden_is_shown_and_hidden_again_and_left_alone_if_it_is_so() {
    let mut stage = Stage::start();
    let args = stage.on("More");
    let Some(done) = stage.does(Deed::Expand, "expand", args.clone()) else { return };
    assert_eq!(done["after"]["expanded"], true, "{done}");
    stage.wait(json!({ "for": ["text:\"hidden until expanded\"[visible]"] }));
    assert_eq!(stage.act("expand", args.clone())["method"], "none");
    stage.does(Deed::Expand, "collapse", args.clone());
    stage.is("More", "expanded=false");
    assert_eq!(stage.act("collapse", args)["method"], "none");
}

#[test]
fn what_holds_nothing_cannot_be_expanded() {
    let mut stage = Stage::start();
    for command in ["expand", "collapse"] {
        let args = stage.on("Press");
        stage.fails("ACTION_NOT_SUPPORTED", command, args);
    }
}
