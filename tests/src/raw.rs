//! A client that speaks raw lines: what no well-behaved client would send, and all that comes back.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{Value, json};

use crate::PATIENCE;

/// A connection, by the line.
#[derive(Debug)]
pub struct Raw {
    reader: BufReader<UnixStream>,
    /// Events that came while an answer was awaited.
    events: VecDeque<Value>,
    /// Everything that was ever received.
    pub received: Vec<u8>,
    next_id: u64,
}

impl Raw {
    /// Connects.
    pub fn connect(socket: &Path) -> Raw {
        Raw::over(UnixStream::connect(socket).expect("the daemon listens"))
    }

    /// Speaks over this stream.
    pub fn over(stream: UnixStream) -> Raw {
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        stream.set_write_timeout(Some(PATIENCE)).expect("a timeout can be set");
        let reader = BufReader::with_capacity(64 * 1024, stream);
        Raw { reader, events: VecDeque::new(), received: Vec::new(), next_id: 1 }
    }

    /// The stream underneath.
    pub fn stream(&self) -> &UnixStream {
        self.reader.get_ref()
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream().write_all(bytes.as_ref()).expect("the daemon reads");
    }

    /// Sends bytes to a daemon that may have closed the connection by now.
    pub fn send_anyhow(&mut self, bytes: &[u8]) {
        let _ = self.stream().write_all(bytes);
    }

    /// Says that no more will be sent.
    pub fn finish_sending(&mut self) {
        self.stream().shutdown(Shutdown::Write).expect("the connection is open");
    }

    /// Sends a request without waiting; its id.
    pub fn begin(&mut self, command: &str, args: Value) -> u64 {
        self.begin_within(command, args, None)
    }

    /// Sends a request with a deadline without waiting; its id.
    pub fn begin_within(&mut self, command: &str, args: Value, deadline_ms: Option<u64>) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let mut request = json!({ "id": id, "command": command, "args": args });
        if let Some(ms) = deadline_ms {
            request["deadline_ms"] = ms.into();
        }
        self.send(format!("{request}\n"));
        id
    }

    /// The next line, whatever it is; `None` once the daemon has closed the connection.
    pub fn line(&mut self) -> Option<Value> {
        let mut line = Vec::new();
        match self.reader.read_until(b'\n', &mut line) {
            Ok(_) => {}
            Err(fault) if fault.kind() == ErrorKind::ConnectionReset => return None,
            Err(fault) => panic!("no line came: {fault}"),
        }
        self.received.extend_from_slice(&line);
        if line.is_empty() {
            return None;
        }
        assert_eq!(line.last(), Some(&b'\n'), "half a line: {}", String::from_utf8_lossy(&line));
        Some(serde_json::from_slice(&line).unwrap_or_else(|fault| {
            panic!("{fault} in {}", String::from_utf8_lossy(&line[..line.len().min(400)]))
        }))
    }

    /// Sends a wait, and returns when the daemon has looked at its conditions once: requests of a connection begin in order.
    pub fn begin_wait(&mut self, args: Value) -> u64 {
        let wait = self.begin("wait", args);
        self.ok("version", json!({}));
        wait
    }

    /// The next answer, to whatever request.
    pub fn any_answer(&mut self) -> Value {
        loop {
            let line = self.line().expect("an answer, and not the end of the connection");
            if line.get("sub").is_none() {
                return line;
            }
            self.events.push_back(line);
        }
    }

    /// The answer to the request of that id; an answer to another fails the test.
    pub fn answer(&mut self, id: u64) -> Value {
        let answer = self.any_answer();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Asks, and waits for the answer.
    pub fn ask(&mut self, command: &str, args: Value) -> Value {
        let id = self.begin(command, args);
        self.answer(id)
    }

    /// Asks for something that succeeds; the whole answer.
    pub fn ok(&mut self, command: &str, args: Value) -> Value {
        let answer = self.ask(command, args);
        assert_eq!(answer["ok"], true, "{answer}");
        answer
    }

    /// Asks for something that succeeds; the `data` of the answer.
    pub fn data(&mut self, command: &str, args: Value) -> Value {
        self.ok(command, args)["data"].take()
    }

    /// Asks for something that fails with this code; the `error` of the answer.
    pub fn fails(&mut self, code: &str, command: &str, args: Value) -> Value {
        failed(code, self.ask(command, args))
    }

    /// Waits for the answer to a request that fails with this code; the `error` of the answer.
    pub fn fails_later(&mut self, code: &str, id: u64) -> Value {
        failed(code, self.answer(id))
    }

    /// Does something to an app of the built-in desktop.
    pub fn sim(&mut self, app: &str, words: &[&str]) {
        self.ok("sim", sim(app, words));
    }

    /// The next event.
    pub fn event(&mut self) -> Value {
        match self.events.pop_front() {
            Some(event) => event,
            None => {
                let line = self.line().expect("an event, and not the end of the connection");
                assert!(line.get("sub").is_some(), "{line}");
                line
            }
        }
    }

    /// The next event of which this is true; what comes before it is passed over.
    pub fn event_where(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let event = self.event();
            if wanted(&event) {
                return event;
            }
        }
    }

    /// The next event about the state of that app.
    pub fn app_state(&mut self, app: &str, state: &str) -> Value {
        self.event_where(|event| {
            event["event"] == "app-state" && event["app"]["name"] == app && event["app"]["state"] == state
        })
    }

    /// Asks a few things, and fails unless all is well: for the client whom nothing may disturb.
    pub fn is_served(&mut self) {
        let apps = self.data("list-apps", json!({}));
        assert!(apps["apps"].as_array().is_some_and(|apps| apps.len() >= 4), "{apps}");
        let seven = self.data("find", json!({ "selector": "button:7", "app": "Calculator" }));
        assert_eq!(seven["count"], 1, "{seven}");
    }

    /// What `status` says about the attached app of that process.
    pub fn status_of_pid(&mut self, pid: &str) -> Value {
        let status = self.data("status", json!({}));
        let apps = status["apps"].as_array().expect("apps");
        let number: Option<u64> = pid.parse().ok();
        let known = apps.iter().find(|known| known["pid"].as_u64() == number);
        known.unwrap_or_else(|| panic!("{pid} in {status}")).clone()
    }

    /// What `status` says about an attached app.
    pub fn status_of(&mut self, app: &str) -> Value {
        let status = self.data("status", json!({}));
        let apps = status["apps"].as_array().expect("apps");
        apps.iter().find(|known| known["name"] == app).unwrap_or_else(|| panic!("{app} in {status}")).clone()
    }
}

/// The args of `sim`.
fn sim(app: &str, words: &[&str]) -> Value {
    let mut args = json!({ "app": app, "verb": words[0] });
    for (name, word) in ["target", "text"].iter().zip(&words[1..]) {
        args[name] = (*word).into();
    }
    args
}

fn failed(code: &str, mut answer: Value) -> Value {
    assert_eq!(answer["ok"], false, "{answer}");
    let error = answer["error"].take();
    assert_eq!(error["code"], code, "{error}");
    for field in ["message", "suggestion"] {
        assert!(error[field].as_str().is_some_and(|text| !text.is_empty()), "{field} in {error}");
    }
    assert!(error["disposition"]["retry"].is_string(), "{error}");
    error
}
