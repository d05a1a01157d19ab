//! The log of this profile: a line a call, without what was typed.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

use super::guard::Guard;
use crate::answer::quoted;

/// What stands for a text that was typed.
const REDACTED: &str = "[REDACTED]";

/// Writes the line of a call, if there is a log. A log that cannot be written is told on standard error, and stops nothing.
pub fn write(
    guard: &Guard,
    tool: &str,
    fields: &Map<String, Value>,
    noted: &Map<String, Value>,
    is_done: bool,
) {
    let Some(path) = guard.settings.log_file.as_ref().filter(|_| guard.settings.log_all_actions) else {
        return;
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut line = format!("[UI] {} {tool}", timestamp(now));
    for (name, value) in fields.iter().chain(noted) {
        line.push_str(&format!(" {}", pair(name, value)));
    }
    if !is_done {
        line.push_str(" success=false");
    }
    line.push('\n');
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    if let Err(fault) = file.and_then(|mut file| file.write_all(line.as_bytes())) {
        eprintln!("ax-mcp: the log {path} cannot be written: {fault}");
    }
}

/// The arguments of a call, for a person who is asked about it.
pub fn arguments(fields: &Map<String, Value>) -> String {
    let shown = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name}={}", quoted(text)),
        other => format!("{name}={other}"),
    };
    fields.iter().map(shown).collect::<Vec<_>>().join("\n")
}

/// A part of a line. `window_title` is called as it is in the lines that people know.
fn pair(name: &str, value: &Value) -> String {
    let name = if name == "window_title" { "window" } else { name };
    match (name, value) {
        ("text" | "keys", _) => format!("{name}={}", quoted(REDACTED)),
        // A size and a mode are words.
        ("size" | "mode" | "button" | "format" | "output", Value::String(word)) if is_word(word) => {
            format!("{name}={word}")
        }
        (_, Value::String(text)) => format!("{name}={}", quoted(text)),
        (_, other) => format!("{name}={other}"),
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// A time, in seconds since 1970, as `YYYY-MM-DD HH:MM:SS` in UTC.
fn timestamp(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Counted in years that begin in March, so that the day that is sometimes there is the last one.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year_of_era + next_year;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_are_written_as_people_write_them() {
        for (seconds, written) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_399, "2000-02-28 23:59:59"),
            (951_782_400, "2000-02-29 00:00:00"),
            (1_736_937_045, "2025-01-15 10:30:45"),
            (4_107_542_400, "2100-03-01 00:00:00"),
        ] {
            assert_eq!(timestamp(seconds), written);
        }
    }

    #[test]
    fn what_is_typed_is_never_in_the_log() {
        assert_eq!(pair("text", &json!("secret")), "text=\"[REDACTED]\"");
        assert_eq!(pair("keys", &json!(["s", "e"])), "keys=\"[REDACTED]\"");
        assert_eq!(pair("window_title", &json!("My \"App\"\n")), r#"window="My \"App\"\n""#);
        assert_eq!(pair("button", &json!("left")), "button=left");
        assert_eq!(
            (pair("size", &json!("1920x1080")), pair("x", &json!(500))),
            ("size=1920x1080".into(), "x=500".into())
        );
    }
}
