//! `batch`: several commands in one request, all checked before the first one runs.

use std::collections::BTreeSet;
use std::sync::Arc;

use axd_protocol::command::{ALL_NAMES, Batch, BatchAnswer, BatchItem, Command};
use axd_protocol::render::Render;
use axd_protocol::{Clock, Error, ErrorCode, Result};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::Engine;
use crate::answer::Answer;
use crate::commands::extension::Extensions;
use axd_service::{Call, write_error};

/// The maximum number of commands in a batch.
const MOST: usize = 1_000;
/// Commands that cannot be part of a batch, because they are about the connection or the daemon.
const NOT_IN_A_BATCH: &[&str] = &["batch", "subscribe", "cancel", "shutdown", "hello"];
/// The beginning of an answer without an id; in a batch the id is replaced by the index.
const NO_ID: &[u8] = b"{\"id\":null,";

impl Engine {
    pub(crate) async fn batch(
        self: &Arc<Self>,
        call: &Call,
        args: &Batch,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let items = &args.items.0;
        check(items, &self.extensions)?;
        // Answers that later commands refer to are needed as data, even in a text answer.
        let referred: BTreeSet<usize> =
            items.iter().filter_map(|item| references(item).ok()).flatten().map(|(index, _)| index).collect();
        let mut answers: Vec<Vec<u8>> = Vec::new();
        let (mut succeeded, mut failed) = (0, 0);
        // The clock before the last command, from which a following wait for an event counts.
        let mut before_last = self.clock.now();
        for (index, item) in items.iter().enumerate() {
            if call.gate.is_closed() || (args.stop_on_error && failed > 0) {
                break;
            }
            let before = self.clock.now();
            let line = self.item(call, item, referred.contains(&index), &answers, before_last).await;
            if item.command != "wait" {
                before_last = before;
            }
            if line.starts_with(b"{\"id\":null,\"ok\":true") {
                succeeded += 1
            } else {
                failed += 1
            }
            answers.push(line);
        }
        let skipped = (items.len() - answers.len()) as u32;
        let clock = Some(self.clock.now());
        let text = || {
            let read = |(index, line): (usize, &Vec<u8>)| {
                let mut result: Value = serde_json::from_slice(line).unwrap_or_default();
                result["index"] = index.into();
                result
            };
            let results = answers.iter().enumerate().map(read).collect();
            let mut text = String::new();
            BatchAnswer { succeeded, failed, skipped, results }.render(&mut text);
            text
        };
        answer.either(clock, None, text, |out| {
            out.extend_from_slice(
                format!(
                    "{{\"succeeded\":{succeeded},\"failed\":{failed},\"skipped\":{skipped},\"results\":["
                )
                .as_bytes(),
            );
            for (index, line) in answers.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(format!("{{\"index\":{index},").as_bytes());
                out.extend_from_slice(line.strip_prefix(NO_ID).unwrap_or(line).trim_ascii_end());
            }
            out.extend_from_slice(b"]}");
        });
        Ok(())
    }

    /// Runs one item and returns its answer, a whole line.
    async fn item(
        self: &Arc<Self>,
        call: &Call,
        item: &BatchItem,
        with_data: bool,
        answers: &[Vec<u8>],
        before_last: Clock,
    ) -> Vec<u8> {
        let mut line = Vec::new();
        let command = filled(item, answers)
            .and_then(|args| self.extensions.parse(&item.command, args.as_deref()))
            .map(|command| since(command, before_last));
        let command = match command {
            Ok(command) => command,
            Err(error) => {
                write_error(self.platform.name(), None, &item.command, &error, &mut line);
                return line;
            }
        };
        let part = Call {
            id: None,
            command,
            format: call.format,
            with_data,
            deadline: call.deadline,
            session: Arc::clone(&call.session),
            sub: 0,
            gate: call.gate.part(),
        };
        Arc::clone(self).carry_out(part).await.line
    }
}

/// A wait for an event counts from before the preceding command, so that no event is missed between the two.
fn since(command: Command, before_last: Clock) -> Command {
    match command {
        Command::Wait(mut wait) if !wait.event.is_empty() && wait.since.is_none() => {
            wait.since = Some(before_last);
            Command::Wait(wait)
        }
        command => command,
    }
}

/// Checks everything that can be checked before the first command runs.
fn check(items: &[BatchItem], extensions: &Extensions) -> Result<()> {
    let invalid = |index: usize, why: String| {
        Error::new(ErrorCode::InvalidArgs, format!("items[{index}]: {why}"))
            .suggest("fix it and send the batch again; nothing was executed")
    };
    if items.is_empty() || items.len() > MOST {
        return Err(Error::new(
            ErrorCode::InvalidArgs,
            format!("items must have between 1 and {MOST} commands"),
        ));
    }
    for (index, item) in items.iter().enumerate() {
        if NOT_IN_A_BATCH.contains(&item.command.as_str()) {
            return Err(invalid(index, format!("{} cannot be part of a batch", item.command)));
        }
        let name = item.command.as_str();
        if !ALL_NAMES.contains(&name) && !extensions.names().contains(&name) {
            return Err(invalid(index, format!("unknown command '{}'", item.command)));
        }
        let references = references(item).map_err(|why| invalid(index, why))?;
        if let Some(later) = references.iter().find(|(other, _)| *other >= index) {
            return Err(invalid(index, format!("${} must refer to an earlier command", later.0)));
        }
        if references.is_empty() {
            extensions.check(name, item.args.as_deref()).map_err(|error| invalid(index, error.message))?;
        }
    }
    Ok(())
}

/// The references of an item: the index of an earlier item, and the path in its answer.
fn references(item: &BatchItem) -> std::result::Result<Vec<(usize, String)>, String> {
    let Some(args) = &item.args else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let value: Value = serde_json::from_str(args.get()).map_err(|fault| fault.to_string())?;
    visit(&value, &mut |text| {
        if let Some(reference) = reference(text) {
            found.push(reference);
        }
    });
    Ok(found)
}

/// Parses a reference: `$0.matches.0.id` → 0 and `matches.0.id`. A leading `$$` stands for a literal `$`.
fn reference(text: &str) -> Option<(usize, String)> {
    let rest = text.strip_prefix('$')?;
    let (number, path) = rest.split_once('.').unwrap_or((rest, ""));
    Some((number.parse().ok()?, path.to_owned()))
}

fn visit(value: &Value, see: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => see(text),
        Value::Array(items) => items.iter().for_each(|item| visit(item, see)),
        Value::Object(fields) => fields.values().for_each(|field| visit(field, see)),
        _ => {}
    }
}

/// The arguments of an item, with references replaced by values from earlier answers.
fn filled(item: &BatchItem, answers: &[Vec<u8>]) -> Result<Option<Box<RawValue>>> {
    let Some(args) = &item.args else { return Ok(None) };
    if !args.get().contains('$') {
        return Ok(Some(args.clone()));
    }
    let invalid = |why: String| Error::new(ErrorCode::InvalidArgs, why);
    let mut value: Value = serde_json::from_str(args.get()).map_err(|fault| invalid(fault.to_string()))?;
    fill(&mut value, answers)?;
    to_raw_value(&value).map(Some).map_err(|fault| invalid(fault.to_string()))
}

fn fill(value: &mut Value, answers: &[Vec<u8>]) -> Result<()> {
    match value {
        Value::String(text) => {
            if let Some((index, path)) = reference(text) {
                *value = answered(text, index, &path, answers)?;
            } else if let Some(plain) = text.strip_prefix("$$") {
                *value = Value::String(format!("${plain}"));
            }
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| fill(item, answers))?,
        Value::Object(fields) => fields.values_mut().try_for_each(|field| fill(field, answers))?,
        _ => {}
    }
    Ok(())
}

/// The value at a path in the answer of an earlier item.
fn answered(text: &str, index: usize, path: &str, answers: &[Vec<u8>]) -> Result<Value> {
    let missing = |why: &str| {
        Error::new(ErrorCode::InvalidArgs, format!("{text}: {why}"))
            .suggest("check the earlier command's answer; paths refer to its data, as in $0.matches.0.id")
    };
    let line = answers.get(index).ok_or_else(|| missing("that command was not executed"))?;
    let whole: Value = serde_json::from_slice(line).map_err(|_| missing("that command has no answer"))?;
    if whole["ok"] != Value::Bool(true) {
        return Err(missing("that command failed"));
    }
    let mut at = &whole["data"];
    for part in path.split('.').filter(|part| !part.is_empty()) {
        at = match part.parse::<usize>() {
            Ok(number) if at.is_array() => &at[number],
            _ => &at[part],
        };
    }
    if at.is_null() { Err(missing("there is nothing there")) } else { Ok(at.clone()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(command: &str, args: &str) -> BatchItem {
        BatchItem { command: command.to_owned(), args: Some(RawValue::from_string(args.to_owned()).unwrap()) }
    }

    #[test]
    fn what_an_earlier_command_answered_can_be_used() {
        let first = br#"{"id":null,"ok":true,"data":{"matches":[{"id":"btn_4k2p9x","n":3}]}}"#.to_vec();
        let click = item("click", r#"{"target":"$0.matches.0.id","window":"$$5"}"#);
        let args = filled(&click, std::slice::from_ref(&first)).unwrap().unwrap();
        assert_eq!(args.get(), r#"{"target":"btn_4k2p9x","window":"$5"}"#);
        for (reference, why) in [("$0.matches.7.id", "nothing there"), ("$1.x", "not executed")] {
            let args = format!(r#"{{"target":"{reference}"}}"#);
            assert!(
                filled(&item("click", &args), std::slice::from_ref(&first))
                    .unwrap_err()
                    .message
                    .contains(why)
            );
        }
        let failed = br#"{"id":null,"ok":false,"error":{}}"#.to_vec();
        assert!(filled(&click, &[failed]).unwrap_err().message.contains("failed"));
    }

    #[test]
    fn a_batch_is_checked_whole_before_anything_is_done() {
        let good = || item("get", r#"{"target":"button"}"#);
        let none = Extensions::new(Vec::new());
        assert!(check(&[good()], &none).is_ok());
        for (wrong, why) in [
            (item("gte", "{}"), "unknown command 'gte'"),
            (item("get", "{}"), "missing field `target`"),
            (item("batch", r#"{"items":[]}"#), "cannot be part of a batch"),
            (item("get", r#"{"target":"$1.id"}"#), "$1 must refer to an earlier command"),
            (item("get", r#"{"target":"$2.id"}"#), "$2 must refer to an earlier command"),
        ] {
            let error = check(&[good(), wrong], &none).unwrap_err();
            assert!(
                error.message.starts_with("items[1]") && error.message.contains(why),
                "{}",
                error.message
            );
        }
        assert!(check(&[], &none).is_err());
    }
}
