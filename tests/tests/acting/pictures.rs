//! Pictures: of a window, an element, a region, everything; and none if nothing changed.

use axd_tests::Stage;
use base64::Engine as _;
use serde_json::{Value, json};

/// A picture, decoded.
pub struct Image {
    pub width: u32,
    pub height: u32,
    pub pixels: Vec<u8>,
}

/// Decodes a PNG in base 64.
pub fn decoded(bytes: &Value) -> Image {
    let bytes = bytes.as_str().expect("a picture");
    let bytes = base64::engine::general_purpose::STANDARD.decode(bytes).expect("base 64");
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("its size")];
    let info = reader.next_frame(&mut pixels).expect("a frame");
    Image { width: info.width, height: info.height, pixels }
}

fn is_of_size(shot: &Value, width: &Value, height: &Value) {
    let image = decoded(&shot["bytes"]);
    assert_eq!((json!(image.width), json!(image.height)), (width.clone(), height.clone()));
    assert_eq!((&shot["width"], &shot["height"]), (width, height));
    assert!(image.pixels.iter().any(|byte| *byte != image.pixels[0]), "it is of one colour");
}

#[test]
fn a_picture_of_a_window_is_as_large_as_the_window() {
    let mut stage = Stage::start();
    let args = stage.args(json!({ "window": stage.kit.title() }));
    let shot = stage.act("screenshot", args);
    let bounds = stage.window()["bounds"].clone();
    is_of_size(&shot, &bounds["width"], &bounds["height"]);
    assert_eq!(shot["bounds"], bounds);
}

#[test]
fn a_picture_of_an_element_shows_that_element() {
    let mut stage = Stage::start();
    let [x, y, width, height] = stage.bounds("Press");
    let args = stage.args(json!({ "element": stage.the("Press") }));
    let shot = stage.act("screenshot", args);
    is_of_size(&shot, &json!(width), &json!(height));
    assert_eq!((&shot["bounds"]["x"], &shot["bounds"]["y"]), (&json!(x), &json!(y)), "{}", shot["bounds"]);
}

#[test]
fn pictures_of_a_region_and_of_everything_have_their_size() {
    let mut stage = Stage::start();
    let shot = stage.act("screenshot", json!({ "all": true }));
    let display = stage.act("list-displays", json!({}))["displays"][0]["bounds"].clone();
    is_of_size(&shot, &display["width"], &display["height"]);
    let window = stage.window()["bounds"].clone();
    let region = format!("{},{},200,100", window["x"], window["y"]);
    let shot = stage.act("screenshot", json!({ "region": region }));
    is_of_size(&shot, &json!(200), &json!(100));
}

#[test]
fn a_picture_that_is_the_same_does_not_come_again() {
    let mut stage = Stage::start();
    // Nothing blinks and nothing is pointed at.
    stage.act("mouse-move", json!({ "point": "1,1" }));
    let args = stage.args(json!({ "element": stage.the("Check") }));
    let args = |hash: &Value| {
        let mut args = args.clone();
        args["if_changed"] = hash.clone();
        args
    };
    let mut hash = stage.act("screenshot", args(&json!("none")))["hash"].clone();
    // The first drawing may not have been the last.
    let mut same = stage.act("screenshot", args(&hash));
    for _ in 0..50 {
        if same["unchanged"] == true {
            break;
        }
        hash = same["hash"].clone();
        same = stage.act("screenshot", args(&hash));
    }
    assert_eq!(same["unchanged"], true, "{}", same["hash"]);
    assert!(same["bytes"].is_null());
    let check = stage.on("Check");
    stage.act("check", check);
    let mut other = stage.act("screenshot", args(&hash));
    for _ in 0..50 {
        if other["unchanged"] != true {
            break;
        }
        other = stage.act("screenshot", args(&hash));
    }
    assert_ne!(other["hash"], hash);
    assert!(other["bytes"].is_string());
}
