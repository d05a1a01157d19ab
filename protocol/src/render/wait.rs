//! The answers of `wait` and `batch`.

use serde_json::Value;

use super::Render;
use super::desktop::write_window;
use crate::command::{BatchAnswer, WaitAnswer};
use crate::error::Error;
use crate::event::{Event, Observed};
use crate::text::{one_line, quote, write_ref};

impl Render for WaitAnswer {
    fn render(&self, out: &mut String) {
        let what = if self.met.is_empty() {
            "the time".to_owned()
        } else {
            one_line(&self.met.join(", ")).into_owned()
        };
        let how = match self.observed {
            Observed::Event => "",
            Observed::Reread => " (found by rereading)",
        };
        out.push_str(&format!("{what}: after {} ms{how}\n", self.waited_ms));
        for window in &self.windows {
            out.push_str("  ");
            write_window(window, out);
            out.push('\n');
        }
        let is_window = |id| self.windows.iter().any(|window| window.id == Some(id));
        for node in self.nodes.iter().filter(|node| !is_window(node.id)) {
            out.push_str("  ");
            write_ref(node, out);
            out.push('\n');
        }
        for event in &self.events {
            out.push_str("  ");
            write_event(event, out);
            out.push('\n');
        }
    }
}

/// Writes an event without a newline: `window-opened in Notes "Untitled"`.
fn write_event(event: &Event, out: &mut String) {
    // The JSON form has the same fields for every kind of event.
    let json = serde_json::to_value(event).unwrap_or_default();
    out.push_str(json["event"].as_str().unwrap_or_default());
    if let Some(app) = json["app"]["name"].as_str() {
        out.push_str(&format!(" in {}", one_line(app)));
    }
    if let Ok(node) = serde_json::from_value(json["node"].clone()) {
        out.push(' ');
        write_ref(&node, out);
    }
    for text in [&json["window"]["title"], &json["text"]] {
        if let Some(text) = text.as_str() {
            out.push(' ');
            quote(text, out);
        }
    }
}

impl Render for BatchAnswer {
    fn render(&self, out: &mut String) {
        for result in &self.results {
            render_result(result, out);
        }
        let counts = [(self.succeeded, "succeeded"), (self.failed, "failed"), (self.skipped, "skipped")];
        let counts: Vec<String> = counts
            .iter()
            .filter(|(count, how)| *count > 0 || *how == "succeeded")
            .map(|(count, how)| format!("{count} {how}"))
            .collect();
        out.push_str(&counts.join(", "));
        out.push('\n');
    }
}

/// Writes one answer of a batch as it is rendered alone: on the same line if it is one line, otherwise indented below.
fn render_result(result: &Value, out: &mut String) {
    let command = result["command"].as_str().unwrap_or("?");
    out.push_str(&format!("{} {}", result["index"], one_line(command)));
    if let Ok(error) = serde_json::from_value::<Error>(result["error"].clone()) {
        out.push_str(": ");
        error.render(out);
        return;
    }
    match result["text"].as_str().unwrap_or_default().trim_end() {
        "" => out.push('\n'),
        text if text.contains('\n') => {
            out.push('\n');
            text.lines().for_each(|line| out.push_str(&format!("  {line}\n")));
        }
        text => out.push_str(&format!(": {text}\n")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rendered(answer: &impl Render) -> String {
        let mut out = String::new();
        answer.render(&mut out);
        out
    }

    #[test]
    fn a_wait_is_rendered_with_what_was_found() {
        let answer: WaitAnswer = serde_json::from_value(json!({
            "met": ["--for dialog", "--event dialog"],
            "waited_ms": 42,
            "observed": "event",
            "nodes": [
                { "id": "dlg_000000", "role": "dialog", "name": "Saved" },
                { "id": "win_000000", "role": "window", "name": "Mail" },
            ],
            "windows": [{ "window": 8, "id": "win_000000", "title": "Mail", "app": "", "pid": 10 }],
            "events": [{
                "event": "window-opened",
                "clock": "c:00000001:3",
                "app": { "name": "Notes", "pid": 9, "identity": "notes", "state": "live" },
                "window": { "window": 7, "title": "Saved", "app": "Notes", "pid": 9 },
            }],
        }))
        .unwrap();
        assert_eq!(
            rendered(&answer),
            "--for dialog, --event dialog: after 42 ms\n  window \"Mail\" win_000000 of process 10\n  dialog \"Saved\" dlg_000000\n  window-opened in Notes \"Saved\"\n"
        );
        let only_time = WaitAnswer { met: vec![], nodes: vec![], windows: vec![], events: vec![], ..answer };
        assert_eq!(rendered(&only_time), "the time: after 42 ms\n");
    }

    #[test]
    fn a_batch_is_rendered_with_each_answer_and_the_counts() {
        let error = Error::new(crate::ErrorCode::Timeout, "it did not come").suggest("wait longer");
        let answer = BatchAnswer {
            succeeded: 3,
            failed: 1,
            skipped: 0,
            results: vec![
                json!({ "index": 0, "ok": true, "command": "is", "text": "true\n" }),
                json!({ "index": 1, "ok": true, "command": "find", "text": "button a\nbutton b\n" }),
                json!({ "index": 2, "ok": true, "command": "get", "data": { "nodes": 7 }, "text": "" }),
                json!({ "index": 3, "ok": false, "command": "wait", "error": error }),
            ],
        };
        assert_eq!(
            rendered(&answer),
            "0 is: true\n1 find\n  button a\n  button b\n2 get\n3 wait: error: it did not come\n  try: wait longer\n3 succeeded, 1 failed\n"
        );
    }
}
