//! Pictures of the screen: of what was asked, as large as it is, and only if it changed.

use axd_tests::picture::{Pixels, image_file as file};
use axd_tests::{Daemon, Raw};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE_64;
use serde_json::{Value, json};

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// The pixels of an answer, after making sure that it is right about its size.
fn pixels(shot: &Value) -> Vec<u8> {
    Pixels::of(shot).rgb
}

fn bounds_of(client: &mut Raw, target: &str, app: &str) -> Value {
    let got = client.data("get", json!({ "target": target, "app": app, "property": ["bounds"] }));
    got["node"]["bounds"].clone()
}

fn window_of(client: &mut Raw, app: &str) -> Value {
    client.data("list-windows", json!({ "app": app }))["windows"][0].take()
}

#[test]
fn a_picture_is_of_the_active_window_unless_something_else_is_named() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let calculator = window_of(&mut client, "Calculator");
    let notes = window_of(&mut client, "Notes");
    let screen = client.data("list-displays", json!({}))["displays"][0].take();
    let region = json!({ "x": 30, "y": 40, "width": 50, "height": 60 });
    for (args, bounds) in [
        (json!({}), &calculator["bounds"]),
        (json!({ "app": "Notes" }), &notes["bounds"]),
        (json!({ "app": "Notes", "window": "Notes" }), &notes["bounds"]),
        (json!({ "window": notes["window"].to_string() }), &notes["bounds"]),
        (json!({ "display": 1 }), &screen["bounds"]),
        (json!({ "all": true }), &screen["bounds"]),
        (json!({ "region": "30,40,50,60" }), &region),
    ] {
        let shot = client.data("screenshot", args.clone());
        assert_eq!(&shot["bounds"], bounds, "{args}");
        assert_eq!((&shot["width"], &shot["height"]), (&bounds["width"], &bounds["height"]), "{args}");
        let pixels = pixels(&shot);
        assert!(pixels.iter().any(|byte| *byte != pixels[0]), "{args}: there is something in it");
    }
}

#[test]
fn the_pixels_of_a_part_are_those_of_the_whole() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let whole = client.data("screenshot", json!({ "all": true }));
    let (width, all) = (whole["width"].as_u64().expect("a width") as usize, pixels(&whole));
    let part = pixels(&client.data("screenshot", json!({ "region": "100,90,64,32" })));
    for (row, part) in part.chunks_exact(64 * 3).enumerate() {
        let start = ((90 + row) * width + 100) * 3;
        assert_eq!(part, &all[start..start + 64 * 3], "row {row}");
    }
}

#[test]
fn a_picture_of_an_element_shows_it_even_if_another_window_covers_it() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("focus-window", json!({ "app": "Paint" }));
    let element = json!({ "element": "canvas", "app": "Paint" });
    let seen = client.data("screenshot", element.clone());
    assert_eq!(seen["bounds"], bounds_of(&mut client, "canvas", "Paint"));
    client.ok("maximize", json!({ "app": "Notes" }));
    client.ok("focus-window", json!({ "app": "Notes" }));
    let covered = client.data("screenshot", element);
    assert_eq!((&covered["bounds"], pixels(&covered)), (&seen["bounds"], pixels(&seen)));
    // On the screen there is something else now.
    let bounds = &seen["bounds"];
    let region = ["x", "y", "width", "height"].map(|side| bounds[side].to_string()).join(",");
    let screen = client.data("screenshot", json!({ "region": region }));
    assert_ne!(screen["hash"], seen["hash"]);
}

#[test]
fn what_cannot_be_seen_is_not_actionable_and_says_why() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let error = client.fails(
        "NOT_ACTIONABLE",
        "screenshot",
        json!({ "element": "list > *:nth(40)", "app": "Table" }),
    );
    assert!(text(&error["message"]).contains("out of view"), "{error}");
    assert!(text(&error["retry_command"]).starts_with("scroll-to "), "{error}");
    client.ok("move-window", json!({ "app": "Notes", "to": "-5000,-5000" }));
    let error =
        client.fails("NOT_ACTIONABLE", "screenshot", json!({ "element": "button:Delete", "app": "Notes" }));
    assert!(text(&error["message"]).contains("off the screen"), "{error}");
    client.fails("NOT_ACTIONABLE", "screenshot", json!({ "app": "Notes" }));
    client.ok("minimize", json!({ "app": "Notes" }));
    for args in [json!({ "app": "Notes" }), json!({ "element": "button:Delete", "app": "Notes" })] {
        let error = client.fails("NOT_ACTIONABLE", "screenshot", args);
        assert!(text(&error["message"]).contains("minimized"), "{error}");
        assert!(text(&error["retry_command"]).starts_with("restore "), "{error}");
    }
}

#[test]
fn a_picture_of_what_is_not_there_says_so() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    for (code, args) in [
        ("WINDOW_NOT_FOUND", json!({ "app": "Notes", "window": "Nothing" })),
        ("APPLICATION_NOT_FOUND", json!({ "app": "Nobody" })),
        ("ELEMENT_NOT_FOUND", json!({ "app": "Notes", "element": "button:Nothing" })),
        ("AMBIGUOUS_TARGET", json!({ "app": "Calculator", "element": "button" })),
        ("INVALID_ARGS", json!({ "display": 9 })),
        ("INVALID_ARGS", json!({ "region": "9000,9000,5,5" })),
        ("INVALID_ARGS", json!({ "region": "2147483647,0,2147483647,5" })),
        ("INVALID_ARGS", json!({ "region": "0,0,0,5" })),
        ("INVALID_ARGS", json!({ "region": "0,0,5,5", "all": true })),
        ("INVALID_ARGS", json!({ "element": "button:7", "display": 1 })),
        ("INVALID_ARGS", json!({ "app": "Notes", "all": true })),
        ("INVALID_ARGS", json!({ "quality": 50 })),
        ("INVALID_ARGS", json!({ "format": "jpeg", "quality": 0 })),
        ("INVALID_ARGS", json!({ "format": "jpeg", "quality": 101 })),
        ("INVALID_ARGS", json!({ "format": "gif" })),
    ] {
        let error = client.fails(code, "screenshot", args);
        assert_eq!(error["disposition"]["retry"], "safe", "{error}");
    }
}

#[test]
fn a_part_that_sticks_out_of_the_screen_is_cut_off_at_its_edge() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let shot = client.data("screenshot", json!({ "region": "-10,-20,100,100" }));
    assert_eq!(shot["bounds"], json!({ "x": 0, "y": 0, "width": 90, "height": 80 }));
    assert_eq!(pixels(&shot).len(), 90 * 80 * 3);
}

#[test]
fn a_picture_comes_again_only_if_it_changed() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let first = client.data("screenshot", json!({ "app": "Calculator" }));
    let again = json!({ "app": "Calculator", "if_changed": first["hash"] });
    let same = client.data("screenshot", again.clone());
    assert_eq!(
        (&same["unchanged"], &same["hash"], &same["bytes"]),
        (&json!(true), &first["hash"], &Value::Null)
    );
    client.sim("Calculator", &["press", "seven"]);
    let other = client.data("screenshot", again);
    assert_eq!(other["unchanged"], Value::Null);
    assert_ne!(other["hash"], first["hash"]);
    assert_ne!(pixels(&other), pixels(&first));
}

#[test]
fn a_jpeg_is_one_and_smaller_the_lower_its_quality() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let mut sizes = Vec::new();
    for quality in [10, 95] {
        let shot = client.data("screenshot", json!({ "all": true, "format": "jpeg", "quality": quality }));
        let file = file(&shot);
        assert!(shot["format"] == "jpeg" && file.starts_with(&[0xff, 0xd8, 0xff]), "{quality}");
        sizes.push(file.len());
    }
    assert!(sizes[0] < sizes[1], "{sizes:?}");
}

#[test]
fn the_pointer_is_in_the_picture_only_if_it_is_asked_for() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let hash = |client: &mut Raw, cursor: bool| {
        client.data("screenshot", json!({ "all": true, "cursor": cursor }))["hash"].take()
    };
    let without = hash(&mut client, false);
    assert_eq!(without, hash(&mut client, false));
    assert_ne!(without, hash(&mut client, true));
}

#[test]
fn an_app_that_hangs_still_shows_its_window_but_not_where_its_elements_are() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.data("attach", json!({ "app": "Notes" }));
    client.sim("Notes", &["fault", "hang"]);
    pixels(&client.data("screenshot", json!({ "app": "Notes" })));
    client.fails("APP_UNRESPONSIVE", "screenshot", json!({ "element": "button:Delete", "app": "Notes" }));
}

#[test]
fn ax_writes_the_picture_to_its_file() {
    let daemon = Daemon::start();
    let path = daemon.folder().join("shot.png");
    let path = path.to_str().expect("a plain path");
    let told = daemon.ax(&["screenshot", path, "--app", "Notes", "--json"]).run().exits(0).json();
    assert_eq!((&told["data"]["path"], &told["data"]["bytes"]), (&json!(path), &Value::Null), "{told}");
    let file = std::fs::read(path).expect("the file");
    assert_eq!(told["data"]["size"], file.len());
    let shot = json!({
        "bytes": BASE_64.encode(&file),
        "format": "png",
        "size": file.len(),
        "width": told["data"]["width"],
        "height": told["data"]["height"],
    });
    pixels(&shot);
    let text = daemon.ax(&["screenshot", "--app", "Notes", "--text"]).run().exits(0);
    assert!(text.out.contains("ax screenshot shot.png"), "{text:?}");
}
