//! The text form of `ax audit`.

use serde_json::Value;

use super::Render;
use crate::audit::day_of;
use crate::command::AuditAnswer;
use crate::text::one_line;

/// The fields that a line begins with; all others follow by their names.
const LEADING: [&str; 5] = ["n", "prev", "at_ms", "command", "delivery"];

impl Render for AuditAnswer {
    fn render(&self, out: &mut String) {
        for line in &self.lines {
            let text = |field: &str| one_line(line[field].as_str().unwrap_or("-")).into_owned();
            let at = line["at_ms"].as_u64().unwrap_or(0) / 1_000;
            let (day, second) = (day_of(at), at % 86_400);
            out.push_str(&format!(
                "{} {day} {:02}:{:02}:{:02} {} {}",
                line["n"],
                second / 3_600,
                second / 60 % 60,
                second % 60,
                text("command"),
                text("delivery"),
            ));
            for (name, value) in line.as_object().into_iter().flatten() {
                if LEADING.contains(&name.as_str()) {
                    continue;
                }
                let value = match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                out.push_str(&format!(" {}={}", one_line(name), one_line(&value)));
            }
            out.push('\n');
        }
        let Some(intact) = self.intact else { return };
        let files = if self.files == 1 { "1 file" } else { &format!("{} files", self.files) };
        match (intact, self.last) {
            (true, 0) => out.push_str(&format!("no audit in {}\n", one_line(&self.folder))),
            (true, last) => out.push_str(&format!(
                "intact: lines {} to {last} in {files}, {}\nlast hash {}\n",
                self.first,
                one_line(&self.folder),
                self.hash
            )),
            (false, _) => {
                let broken = self.broken.as_deref().unwrap_or("it cannot be read");
                out.push_str(&format!("NOT INTACT: {}\n", one_line(broken)));
            }
        }
    }
}
