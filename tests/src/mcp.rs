//! `ax-mcp`, used by a client that speaks raw lines, and golden files of what it was asked and what it answered.
//!
//! A golden file is a list of steps. Their requests are written by hand, the answers by a run with `AXD_BLESS=1`, and read by a person
//! before they are kept. What differs from run to run stands for itself: `CLOCK`, `PICTURE`, 0 ms.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};

use serde_json::{Map, Value, json};

use crate::{Daemon, PATIENCE, programs};

/// A running `ax-mcp` with its client.
#[derive(Debug)]
pub struct Mcp {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    next: u64,
    /// What it said about itself when it was greeted.
    pub greeting: Value,
    /// The tools that it lists.
    pub tools: Vec<Value>,
    /// What its client's person answers to questions; `None` if nobody can be asked.
    pub person: Option<&'static str>,
    /// The questions that the person was asked.
    pub asked: Vec<String>,
}

impl Mcp {
    /// Serves the tools of a profile, of this daemon.
    pub fn of(daemon: &Daemon, profile: &str) -> Mcp {
        Mcp::with_person(daemon, profile, None)
    }

    /// The same for a client that can ask its person, who always gives this answer.
    pub fn with_person(daemon: &Daemon, profile: &str, person: Option<&'static str>) -> Mcp {
        let mut child = Command::new(programs::ax_mcp())
            .args(["--no-autostart", "--profile", profile, "--socket"])
            .arg(&daemon.socket)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("ax-mcp runs");
        let stdin = child.stdin.take().expect("it was asked for");
        let stdout = child.stdout.take().expect("it was asked for");
        let (tell, lines) = mpsc::channel();
        std::thread::spawn(move || {
            BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| tell.send(line))
        });
        let (greeting, tools, asked) = (Value::Null, Vec::new(), Vec::new());
        let mut mcp = Mcp { child, stdin, lines, next: 0, greeting, tools, person, asked };
        let able = person.map_or_else(|| json!({}), |_| json!({ "elicitation": {} }));
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": able, "clientInfo": { "name": "golden", "version": "1" },
        });
        mcp.greeting = mcp.request("initialize", hello)["result"].take();
        mcp.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let listed = mcp.request("tools/list", json!({}));
        mcp.tools = listed["result"]["tools"].as_array().expect("tools").clone();
        mcp
    }

    fn write(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").expect("it reads");
    }

    /// Sends a request, and returns the whole answer.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect("an answer");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["method"] == "elicitation/create" {
                let question = message["params"]["message"].as_str().expect("a question");
                self.asked.push(question.to_owned());
                let action = self.person.expect("nobody can be asked");
                let result = json!({ "action": action, "content": {} });
                self.write(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
            } else if message["id"] == id {
                return message;
            }
        }
    }

    /// Calls a tool. The result is held to what every result must be.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments.clone() }));
        let result = answer["result"].take();
        assert!(result.is_object(), "{tool} {arguments}: {answer}");
        let listed = self.tools.iter().find(|listed| listed["name"] == tool).expect("it is listed");
        let data = &result["structuredContent"];
        let wrong = violations(&listed["outputSchema"], data, "");
        assert!(wrong.is_empty(), "{tool} {arguments}: {wrong:?} in {data}");
        if let Ok(text) = serde_json::from_str::<Value>(text_of(&result)) {
            assert_eq!(text, without_pictures(data.clone()), "{tool} {arguments}: the text says the same");
        } else {
            assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
            assert_eq!(data["error"], text_of(&result), "{tool} {arguments}");
        }
        result
    }

    /// The structured content of a call.
    pub fn data(&mut self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments)["structuredContent"].take()
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first text of a result.
fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("a text first")
}

/// Structured content as the text of its result has it.
fn without_pictures(mut data: Value) -> Value {
    let fields = data.as_object_mut().expect("an object");
    fields.retain(|name, _| !["_axd", "screenshot", "base64_data"].contains(&name.as_str()));
    // The picture of an envelope.
    if let Some(Value::Object(inner)) = fields.get_mut("data").filter(|inner| inner["format"].is_string()) {
        inner.remove("data");
    }
    data
}

/// What of a value is not as a schema says. It knows the words that axd's schemas use.
pub fn violations(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let types = match &schema["type"] {
        Value::Array(types) => types.clone(),
        Value::Null => Vec::new(),
        one => vec![one.clone()],
    };
    let is = |name: &Value| match name.as_str().expect("a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("no schema here has the type {other}"),
    };
    let mut wrong = Vec::new();
    if !types.is_empty() && !types.iter().any(is) {
        wrong.push(format!("{at} is {value}, not {}", schema["type"]));
    }
    if schema["enum"].as_array().is_some_and(|allowed| !allowed.contains(value)) {
        wrong.push(format!("{at} is {value}, not one of {}", schema["enum"]));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.get(name.as_str().expect("a name")).is_none() {
            wrong.push(format!("{at} has no {name}"));
        }
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(name) {
            wrong.extend(violations(schema, value, &format!("{at}.{name}")));
        }
    }
    if let (Value::Object(_), Some(items)) = (&schema["items"], value.as_array()) {
        wrong.extend(items.iter().flat_map(|item| violations(&schema["items"], item, &format!("{at}[]"))));
    }
    wrong
}

/// A golden file: steps, each with a request, and the answer that was reviewed.
#[derive(Debug)]
pub struct Reviewed {
    path: std::path::PathBuf,
    steps: Vec<Map<String, Value>>,
}

impl Reviewed {
    /// The golden file of this name, under `tests/golden`.
    pub fn read(name: &str) -> Reviewed {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name);
        let text = fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
        let steps = serde_json::from_str(&text).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
        Reviewed { path, steps }
    }

    /// Does every step, and compares the answers, or writes them down if it was asked to.
    pub fn check(mut self, mut answer: impl FnMut(&Map<String, Value>) -> Value) {
        let bless = std::env::var_os("AXD_BLESS").is_some();
        for (number, step) in self.steps.iter_mut().enumerate() {
            let got = steady(answer(step));
            if bless {
                step.insert("answer".to_owned(), got);
                continue;
            }
            let expected = step.get("answer").cloned().unwrap_or_default();
            let shown = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default();
            assert!(
                got == expected,
                "{} step {number} {step:?}:\n{}\n-- expected:\n{}\nAXD_BLESS=1 writes the answers again",
                self.path.display(),
                shown(&got),
                shown(&expected)
            );
        }
        if bless {
            let text = serde_json::to_string_pretty(&self.steps).expect("JSON");
            fs::write(&self.path, text + "\n").expect("the file can be written");
        }
    }

    /// Does every step by calling a tool.
    pub fn check_calls(self, mcp: &mut Mcp) {
        self.check(|step| {
            let tool = step["call"].as_str().expect("a tool");
            let result = mcp.call(tool, step["arguments"].clone());
            let text = text_of(&result);
            let mut answer = json!({ "structured": result["structuredContent"] });
            // Of what says the same, one is enough.
            if serde_json::from_str::<Value>(text).is_err() {
                answer["text"] = text.into();
            }
            if result["isError"] == true {
                answer["is_error"] = true.into();
            }
            let more: Vec<Value> =
                result["content"].as_array().expect("content")[1..]
                    .iter()
                    .map(|block| {
                        if block["type"] == "image" {
                            block["mimeType"].clone()
                        } else {
                            block["text"].clone()
                        }
                    })
                    .collect();
            if !more.is_empty() {
                answer["then"] = more.into();
            }
            answer
        });
    }
}

/// A value in which what differs from run to run stands for itself.
fn steady(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| {
                let value = match (name.as_str(), value) {
                    ("clock" | "since", Value::String(_)) => "CLOCK".into(),
                    ("screenshot" | "base64_data", Value::String(_)) => "PICTURE".into(),
                    ("data", Value::String(data)) if data.len() > 1_000 => "PICTURE".into(),
                    ("latencyMs" | "waited_ms" | "file_size_bytes", Value::Number(_)) => 0.into(),
                    ("daemon_pid", Value::Number(_)) => 0.into(),
                    ("snapshot_id", Value::String(_)) => "NUMBERING".into(),
                    (_, value) => steady(value),
                };
                (name, value)
            })
            .collect(),
        Value::Array(items) => items.into_iter().map(steady).collect(),
        Value::String(text) => without_times(&text).into(),
        other => other,
    }
}

/// A text in which the times that something took are 0.
fn without_times(text: &str) -> String {
    let Some((before, after)) = text.split_once("timed out after ") else { return text.to_owned() };
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{before}timed out after 0{rest}")
}
