//! One request, one answer: what is sent, what is printed where, and how `ax` exits.

mod fake;

use std::process::Stdio;

use fake::{Fake, Ran, ax};

const GOT: &str = r#"{"id":1,"ok":true,"command":"get","version":"1.0","platform":"sim","data":{"node":{"id":"btn_4k2p9x"}}}"#;
const STALE: &str = r#"{"id":1,"ok":false,"command":"get","version":"1.0","error":{"code":"STALE_REF","message":"btn_000000 is gone","suggestion":"use a candidate","retry_command":"find button:Save","candidates":[{"id":"btn_4k2p9x","role":"button","name":"Save"}],"disposition":{"delivery":"not_delivered","retry":"safe"}}}"#;

#[test]
fn an_answer_is_printed_as_it_came() {
    let fake = Fake::saying(GOT);
    let ran = fake.run("get button:Save --deadline-ms 900");
    assert_eq!(ran, Ran { code: Some(0), out: format!("{GOT}\n"), err: String::new() });
    let request = fake.requests.recv().unwrap();
    assert_eq!(
        request.to_string(),
        r#"{"id":1,"command":"get","args":{"target":"button:Save"},"deadline_ms":900,"protocol":1}"#
            .parse::<serde_json::Value>()
            .unwrap()
            .to_string()
    );
}

#[test]
fn text_is_asked_for_and_printed_unescaped() {
    let fake = Fake::saying(
        r#"{"id":1,"ok":true,"command":"get","version":"1.0","platform":"sim","text":"button \"Save\" btn_4k2p9x\n  ä"}"#,
    );
    let ran = fake.run("get button:Save --text");
    assert_eq!(
        ran,
        Ran { code: Some(0), out: "button \"Save\" btn_4k2p9x\n  ä\n".into(), err: String::new() }
    );
    assert_eq!(fake.requests.recv().unwrap()["format"], "text");
}

#[test]
fn an_error_is_json_on_stdout_or_text_on_stderr_and_exits_1() {
    let fake = Fake::saying(STALE);
    assert_eq!(
        fake.run("get btn_000000"),
        Ran { code: Some(1), out: format!("{STALE}\n"), err: String::new() }
    );
    let err = "error: btn_000000 is gone\n  try: use a candidate\n  - button \"Save\" btn_4k2p9x\n  run: ax find button:Save\n";
    assert_eq!(fake.run("get btn_000000 --text"), Ran { code: Some(1), out: String::new(), err: err.into() });
}

#[test]
fn bad_usage_exits_2_and_is_json_for_programs() {
    let ran = Ran::of(ax("get --colour red").output().unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), ""));
    let answer = ran.json();
    assert_eq!(answer["error"]["code"], "INVALID_ARGS");
    assert_eq!(answer["command"], "get");
    assert_eq!(answer["id"], serde_json::Value::Null);
    assert!(ran.out.starts_with(r#"{"id":null,"ok":false,"#), "ok comes early for those who only look there");
    let ran = Ran::of(ax("get --colour red --text").output().unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("Usage: ax get"), "{ran:?}");
}

#[test]
fn help_and_version_are_plain_and_well() {
    for line in ["--help", "help", "get --help", "--version"] {
        let ran = Ran::of(ax(line).output().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{line}");
        assert!(!ran.out.starts_with('{'), "{line}");
    }
}

#[test]
fn without_a_daemon_it_exits_3_and_says_where_it_looked() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("none.sock");
    let mut command = ax("status --no-autostart");
    let ran = Ran::of(command.arg("--socket").arg(&socket).output().unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (Some(3), ""));
    let answer = ran.json();
    assert_eq!(answer["error"]["code"], "DAEMON_UNAVAILABLE");
    assert!(answer["error"]["message"].as_str().unwrap().contains("none.sock"));
    let ran = Ran::of(
        ax("status --text").env("AXD_NO_AUTOSTART", "1").env("AXD_SOCKET", &socket).output().unwrap(),
    );
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""));
    assert!(ran.err.starts_with("error: no daemon answers at"), "{ran:?}");
}

#[test]
fn a_daemon_is_not_started_in_order_to_be_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = ax("shutdown");
    command.arg("--socket").arg(folder.path().join("axd.sock")).env("AXD_BIN", "/bin/false");
    assert_eq!(Ran::of(command.output().unwrap()).code, Some(3));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_lost_answer_is_an_error_that_says_whether_to_ask_again() {
    let fake = Fake::answering(|_| Vec::new());
    for (line, retry) in [("get x", "safe"), ("sim Notes press ok", "unsafe")] {
        let ran = fake.run(line);
        assert_eq!(ran.code, Some(1), "{line}");
        assert_eq!(ran.json()["error"]["disposition"]["retry"], retry, "{line}");
    }
    assert_eq!(fake.requests.try_iter().count(), 2, "nothing was sent twice");
}

#[test]
fn an_answer_larger_than_any_buffer_comes_whole() {
    let text = "x".repeat(3 << 20);
    let line = format!(r#"{{"id":1,"ok":true,"command":"snapshot","data":"{text}"}}"#);
    let fake = Fake::saying(&line);
    let ran = fake.run("snapshot");
    assert_eq!(ran.code, Some(0));
    assert!(ran.out == format!("{line}\n"));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let line = format!(r#"{{"id":1,"ok":true,"command":"snapshot","data":"{}"}}"#, "x".repeat(1 << 20));
    let fake = Fake::saying(&line);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = fake.ax("snapshot").stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(Ran::of(output), Ran { code: Some(0), out: String::new(), err: String::new() });
}

#[test]
fn a_daemon_of_another_major_that_is_not_ours_is_left_alone() {
    let mismatch = r#"{"id":1,"ok":false,"command":"get","version":"2.0","error":{"code":"PROTOCOL_MISMATCH","message":"the client uses protocol 1, this daemon uses 2","suggestion":"update","disposition":{"delivery":"not_delivered","retry":"safe"}}}"#;
    let status = r#"{"id":1,"ok":true,"command":"status","version":"2.0","data":{"clients":[{}]}}"#;
    let fake = Fake::answering(move |request| {
        vec![if request["protocol"].is_null() { status.to_owned() } else { mismatch.to_owned() }]
    });
    let mut command = ax("get x");
    let ran = Ran::of(command.arg("--socket").arg(fake.socket()).output().unwrap());
    assert_eq!(ran, Ran { code: Some(1), out: format!("{mismatch}\n"), err: String::new() });
    let asked: Vec<String> = fake.requests.try_iter().map(|request| request["command"].to_string()).collect();
    assert_eq!(asked, [r#""get""#, r#""status""#], "it was not told to shut down");
}

#[test]
fn schemas_and_the_reference_need_no_daemon() {
    let all = Ran::of(ax("schema").output().unwrap()).json();
    assert!(all["commands"]["get"]["args"]["properties"]["target"].is_object());
    let roles = Ran::of(ax("schema roles").output().unwrap()).json();
    assert!(roles.as_array().unwrap().iter().any(|role| role["role"] == "button"));
    let page = Ran::of(ax("schema --markdown").output().unwrap());
    assert!(page.out.starts_with("# Commands\n") && page.out.contains("### list-windows"));
    let wrong = Ran::of(ax("schema nonsense").output().unwrap());
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.json()["error"]["suggestion"].as_str().unwrap().contains("selector"));
}
