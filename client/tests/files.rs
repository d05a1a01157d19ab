//! What `ax` writes and reads itself: pictures, paths, and a batch on standard input.

mod fake;

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use fake::{Fake, Ran, ax};
use serde_json::{Value, json};

/// Eight bytes of which not all are text, in base 64.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n";
const BYTES: &str = "iVBORw0KGgo=";

fn screenshot(bytes: &str) -> String {
    let bounds = r#"{"x":0,"y":0,"width":2,"height":2}"#;
    format!(
        r#"{{"id":1,"ok":true,"command":"screenshot","version":"1.0","platform":"sim","clock":"c:00000001:5","data":{{"format":"png","width":2,"height":2,"bounds":{bounds},"scale":1.0,"hash":"00ff","size":8{bytes}}}}}"#
    )
}

fn taken() -> Fake {
    Fake::saying(&screenshot(&format!(r#","bytes":"{BYTES}""#)))
}

fn clipboard(data: &str) -> Fake {
    Fake::saying(&format!(
        r#"{{"id":1,"ok":true,"command":"clipboard-get","version":"1.0","platform":"sim","data":{data}}}"#
    ))
}

fn run_in(folder: &Path, fake: &Fake, line: &str) -> Ran {
    Ran::of(fake.ax(line).current_dir(folder).stdin(Stdio::null()).output().unwrap())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn args(fake: &Fake) -> Value {
    fake.requests.recv().unwrap()["args"].take()
}

#[test]
fn a_picture_is_written_to_its_file_and_the_answer_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let fake = taken();
    let ran = run_in(folder.path(), &fake, "screenshot shot.png --app Notes");
    assert_eq!(std::fs::read(folder.path().join("shot.png")).unwrap(), PICTURE);
    assert_eq!(names(folder.path()), ["shot.png"]);
    let expected = screenshot(r#","path":"shot.png""#) + "\n";
    assert_eq!(ran, Ran { code: Some(0), out: expected, err: String::new() });
    assert_eq!(args(&fake), json!({ "app": "Notes" }), "where it is written is no business of the daemon");
    let ran = run_in(folder.path(), &fake, "screenshot shot.png --text");
    let said = "2x2 @0,0 2x2 PNG, 8 bytes, hash 00ff\nwritten to shot.png\n";
    assert_eq!(ran, Ran { code: Some(0), out: said.into(), err: String::new() });
}

#[test]
fn the_ending_says_the_format_unless_an_option_does() {
    let folder = tempfile::tempdir().unwrap();
    let fake = taken();
    for (line, format) in [
        ("screenshot a.jpg", json!("jpeg")),
        ("screenshot a.jpeg --format png", json!("png")),
        ("screenshot a.PNG", Value::Null),
    ] {
        assert_eq!(run_in(folder.path(), &fake, line).code, Some(0), "{line}");
        assert_eq!(args(&fake)["format"], format, "{line}");
    }
    let ran = run_in(folder.path(), &fake, "screenshot a.gif");
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (Some(2), &json!("INVALID_ARGS")));
    assert!(fake.requests.try_recv().is_err(), "nothing was asked for");
}

#[test]
fn a_picture_that_cannot_be_written_whole_is_not_there_at_all() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("old.png"), "before").unwrap();
    let large = "A".repeat(400_000);
    let fake = Fake::saying(&screenshot(&format!(r#","bytes":"{large}""#)));
    for name in ["new.png", "old.png"] {
        // A file may not be larger than a few blocks here, as on a disk that is full.
        let limited = r#"trap "" XFSZ; ulimit -f 8; exec "$0" "$@""#;
        let ran = std::process::Command::new("sh")
            .args(["-c", limited, env!("CARGO_BIN_EXE_ax"), "screenshot", name, "--no-autostart", "--socket"])
            .arg(fake.socket())
            .current_dir(folder.path())
            .output()
            .unwrap();
        let ran = Ran::of(ran);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let error = ran.json()["error"].take();
        assert_eq!(error["code"], "ACTION_FAILED", "{error}");
        assert!(error["message"].as_str().unwrap().starts_with(&format!("cannot write {name}: ")), "{error}");
        assert_eq!(error["disposition"]["retry"], "safe");
    }
    assert_eq!(names(folder.path()), ["old.png"]);
    assert_eq!(std::fs::read(folder.path().join("old.png")).unwrap(), b"before");
    let ran = run_in(folder.path(), &fake, "screenshot none/a.png --text");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.starts_with("error: cannot write none/a.png: No such file"), "{ran:?}");
}

#[test]
fn standard_output_gets_the_picture_and_nothing_else() {
    let output = taken().ax("screenshot - --json").output().unwrap();
    assert_eq!((output.status.code(), &output.stdout[..], &output.stderr[..]), (Some(0), PICTURE, &b""[..]));
    let error = r#"{"id":1,"ok":false,"command":"screenshot","version":"1.0","error":{"code":"WINDOW_NOT_FOUND","message":"Notes has no window","suggestion":"","disposition":{"delivery":"not_delivered","retry":"safe"}}}"#;
    let ran = Fake::saying(error).run("screenshot -");
    let expected = Ran { code: Some(1), out: String::new(), err: "error: Notes has no window\n".into() };
    assert_eq!(ran, expected, "an error is no picture");
    let ran = Ran::of(ax("screenshot - --no-autostart --socket /none").output().unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""));
}

#[test]
fn a_picture_that_is_the_same_leaves_the_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let line = screenshot("").replace(r#""size":8"#, r#""unchanged":true,"size":0"#);
    let fake = Fake::saying(&line);
    let ran = run_in(folder.path(), &fake, "screenshot shot.png --if-changed 00ff");
    assert_eq!(ran, Ran { code: Some(0), out: line + "\n", err: String::new() });
    assert_eq!(args(&fake), json!({ "if_changed": "00ff" }));
    assert_eq!(names(folder.path()), [""; 0]);
    assert_eq!(fake.run("screenshot - --if-changed 00ff").out, "");
}

#[test]
fn without_a_file_the_answer_is_as_it_came_and_text_says_to_name_one() {
    let fake = taken();
    assert!(fake.run("screenshot").out.contains(BYTES));
    let text = r#"{"id":1,"ok":true,"command":"screenshot","version":"1.0","platform":"sim","text":"2x2\nto save it: ax screenshot shot.png\n"}"#;
    let fake = Fake::saying(text);
    assert!(fake.run("screenshot --text").out.ends_with("ax screenshot shot.png\n"));
    assert_eq!(fake.requests.recv().unwrap()["format"], "text");
}

#[test]
fn an_image_on_the_clipboard_is_written_to_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let fake = clipboard(&format!(r#"{{"kind":"image","bytes":"{BYTES}"}}"#));
    let ran = run_in(folder.path(), &fake, "clipboard-get --out a.png");
    assert_eq!(std::fs::read(folder.path().join("a.png")).unwrap(), PICTURE);
    assert_eq!(ran.json()["data"], json!({ "kind": "image", "path": "a.png" }));
    assert_eq!(args(&fake), json!({ "kind": "image" }));
    let ran = clipboard("{}").run("clipboard-get --out a.png");
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (Some(1), &json!("ACTION_FAILED")));
    let ran = clipboard("{}").run("clipboard-get --kind text --out a.png");
    assert_eq!(ran.code, Some(2));
}

#[test]
fn paths_are_sent_whole() {
    let folder = tempfile::tempdir().unwrap();
    // As the process that is started sees it, whatever links lead there.
    let here = folder.path().canonicalize().unwrap();
    let whole = |name: &str| here.join(name).to_str().unwrap().to_owned();
    let fake = Fake::saying(
        r#"{"id":1,"ok":true,"command":"clipboard-set","version":"1.0","platform":"sim","data":{}}"#,
    );
    for (line, sent) in [
        ("clipboard-set --image a.png", json!({ "image": whole("a.png") })),
        ("clipboard-set --file a.txt --file /b.txt", json!({ "file": [whole("a.txt"), "/b.txt"] })),
        ("clipboard-set a.txt", json!({ "text": "a.txt" })),
        ("launch bin/app --cwd sub", json!({ "app": whole("bin/app"), "cwd": whole("sub") })),
        ("launch Notes", json!({ "app": "Notes" })),
    ] {
        assert_eq!(run_in(&here, &fake, line).code, Some(0), "{line}");
        assert_eq!(args(&fake), sent, "{line}");
    }
}

#[test]
fn a_batch_may_come_on_standard_input() {
    let fake =
        Fake::saying(r#"{"id":1,"ok":true,"command":"batch","version":"1.0","platform":"sim","data":{}}"#);
    let fed = |input: &[u8]| {
        let mut command = fake.ax("batch - --stop-on-error");
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // It stops reading when it has seen too much.
        let _ = child.stdin.take().unwrap().write_all(input);
        Ran::of(child.wait_with_output().unwrap())
    };
    let items = "[\n  {\"command\": \"click\",\n   \"args\": {\n     \"target\": \"button:New\"\n   }}\n]\n";
    assert_eq!(fed(items.as_bytes()).code, Some(0));
    let sent = json!({ "items": [{ "command": "click", "args": { "target": "button:New" } }], "stop_on_error": true });
    assert_eq!(args(&fake), sent);
    let ran = fed(&vec![b' '; (1 << 20) + 1]);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (Some(1), &json!("PAYLOAD_TOO_LARGE")), "{ran:?}");
    let ran = fed(b"{");
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (Some(2), &json!("INVALID_ARGS")), "{ran:?}");
    assert!(fake.requests.try_recv().is_err(), "neither was sent");
}
