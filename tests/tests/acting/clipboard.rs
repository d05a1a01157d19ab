//! The clipboard: text, an image, files.

use axd_tests::{Stage, workspace};
use base64::Engine as _;
use serde_json::json;

#[test]
fn text_put_on_the_clipboard_is_there_and_can_be_pasted() {
    let mut stage = Stage::start();
    let text = "clip – ✂ 日本";
    let done = stage.act("clipboard-set", json!({ "text": text }));
    assert_eq!(done["kind"], "text", "{done}");
    let got = stage.act("clipboard-get", json!({}));
    assert_eq!((&got["kind"], &got["text"]), (&json!("text"), &json!(text)), "{got}");
    let args = stage.on("Entry");
    stage.act("focus", args);
    let args = stage.args(json!({ "combo": "ctrl+v" }));
    stage.act("press", args);
    stage.holds("Entry", text);
    stage.act("clipboard-clear", json!({}));
    let got = stage.act("clipboard-get", json!({}));
    assert!(got["kind"].is_null() && got["text"].is_null(), "{got}");
}

#[test]
fn what_an_app_copies_is_read() {
    let mut stage = Stage::start();
    let args = stage.on_with("Entry", json!({ "text": "from the app" }));
    stage.act("type", args);
    stage.holds("Entry", "from the app");
    let args = stage.on("Entry");
    stage.act("focus", args);
    for combo in ["ctrl+a", "ctrl+c"] {
        let args = stage.args(json!({ "combo": combo }));
        stage.act("press", args);
    }
    let got = stage.act("clipboard-get", json!({ "kind": "text" }));
    assert_eq!(got["text"], "from the app", "{got}");
}

#[test]
fn files_and_an_image_are_put_on_the_clipboard_and_read() {
    let mut stage = Stage::start();
    let files = [workspace().join("Cargo.toml"), workspace().join("README.md")];
    stage.act("clipboard-set", json!({ "file": files }));
    let got = stage.act("clipboard-get", json!({}));
    assert_eq!((&got["kind"], &got["files"]), (&json!("files"), &json!(files)), "{got}");
    let shot = stage.act("screenshot", json!({ "region": "0,0,40,30" }));
    let bytes = shot["bytes"].as_str().expect("a picture");
    let bytes = base64::engine::general_purpose::STANDARD.decode(bytes).expect("base 64");
    let path = stage.daemon.folder().join("shot.png");
    std::fs::write(&path, bytes).expect("a picture can be written");
    stage.act("clipboard-set", json!({ "image": path }));
    let got = stage.act("clipboard-get", json!({ "kind": "image" }));
    assert_eq!(got["kind"], "image", "{got}");
    let image = super::pictures::decoded(&got["bytes"]);
    assert_eq!((image.width, image.height), (40, 30));
}
