//! The clipboard: text, images and files go on it and come back as they were.

use std::fs::{self, File};

use axd_tests::{Daemon, Raw, folder};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE_64;
use serde_json::{Value, json};

/// A picture of one pixel.
fn png() -> Vec<u8> {
    let mut made = Vec::new();
    let mut writer = png::Encoder::new(&mut made, 1, 1).write_header().expect("a header");
    writer.write_image_data(&[7]).expect("a pixel");
    writer.finish().expect("an end");
    made
}

fn got(client: &mut Raw, kind: Option<&str>) -> Value {
    client.data("clipboard-get", kind.map_or(json!({}), |kind| json!({ "kind": kind })))
}

#[test]
fn text_comes_back_as_it_was_until_the_clipboard_is_emptied() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    assert_eq!(got(&mut client, None), json!({}), "nothing is on it");
    let text = "Grüße,\n\t„Welt“ 🦀\u{0}\"\\";
    assert_eq!(client.data("clipboard-set", json!({ "text": text })), json!({ "kind": "text" }));
    for kind in [None, Some("any"), Some("text")] {
        assert_eq!(got(&mut client, kind), json!({ "kind": "text", "text": text }));
    }
    for kind in ["image", "files"] {
        assert_eq!(got(&mut client, Some(kind)), json!({}), "there is no {kind}");
    }
    assert_eq!(client.data("clipboard-set", json!({ "text": "" })), json!({ "kind": "text" }));
    assert_eq!(got(&mut client, None)["text"], "");
    assert_eq!(client.data("clipboard-clear", json!({})), json!({}));
    assert_eq!(got(&mut client, None), json!({}));
}

#[test]
fn an_image_comes_back_byte_for_byte() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let path = daemon.folder().join("a.png");
    fs::write(&path, png()).expect("a file");
    assert_eq!(client.data("clipboard-set", json!({ "image": path })), json!({ "kind": "image" }));
    let data = got(&mut client, None);
    assert_eq!(data["kind"], "image");
    let bytes = BASE_64.decode(data["bytes"].as_str().expect("bytes")).expect("base 64");
    assert_eq!(bytes, png());
    assert_eq!(got(&mut client, Some("text")), json!({}));
    let copy = daemon.folder().join("b.png");
    let ran = daemon.ax(&["clipboard-get", "--out", copy.to_str().expect("a plain path")]).run().exits(0);
    assert_eq!(ran.json()["data"]["bytes"], Value::Null);
    assert_eq!(fs::read(copy).expect("a file"), png());
}

#[test]
fn files_come_back_in_their_order() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let folder = folder();
    let files: Vec<_> = ["b c.txt", "ä.txt"].map(|name| folder.path().join(name)).to_vec();
    for file in &files {
        fs::write(file, "x").expect("a file");
    }
    assert_eq!(client.data("clipboard-set", json!({ "file": files })), json!({ "kind": "files" }));
    assert_eq!(got(&mut client, None), json!({ "kind": "files", "files": files }));
}

#[test]
fn what_cannot_be_put_on_the_clipboard_leaves_it_as_it_was() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("clipboard-set", json!({ "text": "before" }));
    let path = |name: &str| daemon.folder().join(name);
    fs::write(path("a.gif"), "GIF89a").expect("a file");
    fs::write(path("cut.png"), &png()[..20]).expect("a file");
    File::create(path("large.png")).and_then(|file| file.set_len((64 << 20) + 1)).expect("a file");
    nix::unistd::mkfifo(&path("pipe.png"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    for (code, args, said) in [
        ("INVALID_ARGS", json!({}), "text, image or file is required"),
        ("INVALID_ARGS", json!({ "text": "a", "image": path("a.gif") }), "exclude each other"),
        ("INVALID_ARGS", json!({ "text": "a", "file": [path("a.gif")] }), "exclude each other"),
        ("INVALID_ARGS", json!({ "image": "a.gif" }), "absolute path"),
        ("INVALID_ARGS", json!({ "image": path("none.png") }), "cannot read"),
        ("INVALID_ARGS", json!({ "image": daemon.folder() }), "not a file"),
        ("INVALID_ARGS", json!({ "image": path("pipe.png") }), "not a file"),
        ("INVALID_ARGS", json!({ "image": path("a.gif") }), "not a PNG"),
        ("INVALID_ARGS", json!({ "image": path("cut.png") }), "not a PNG"),
        ("PAYLOAD_TOO_LARGE", json!({ "image": path("large.png") }), "64 MiB"),
        ("INVALID_ARGS", json!({ "file": ["a.gif"] }), "absolute path"),
        ("INVALID_ARGS", json!({ "file": [path("a.gif"), path("none")] }), "not found"),
        ("INVALID_ARGS", json!({ "colour": "red" }), "colour"),
    ] {
        let error = client.fails(code, "clipboard-set", args);
        assert!(error["message"].as_str().is_some_and(|message| message.contains(said)), "{said}: {error}");
        assert_eq!(error["disposition"]["retry"], "safe", "{error}");
    }
    client.fails("INVALID_ARGS", "clipboard-get", json!({ "kind": "sound" }));
    assert_eq!(got(&mut client, None)["text"], "before");
}
