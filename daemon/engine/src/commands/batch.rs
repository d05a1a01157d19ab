//! `batch`: several commands in one request, all checked before the first one runs.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use axd_protocol::command::{ALL_NAMES, Batch, BatchAnswer, BatchItem, Command};
use axd_protocol::render::Render;
use axd_protocol::{Clock, Error, ErrorCode, MAX_REQUEST_BYTES, Result};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::Engine;
use crate::answer::Answer;
use crate::commands::extension::Extensions;
use crate::tree_work::long_work;
use axd_service::held_bytes::HeldBytes;
use axd_service::{Approved, Call, Reply, write_error};

/// The maximum number of commands in a batch.
const MOST: usize = 1_000;
/// The maximum number of bytes of all answers of a batch. They are held until the last one is there.
const MAX_ANSWER_BYTES: usize = 32 << 20;
/// The maximum number of bytes of an answer that later commands may refer to: it is held a second time, parsed.
const MAX_REFERRED_BYTES: usize = 4 << 20;
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
        let turn = self.large_turn(Engine::deadline(call)).await?;
        // Answers that later commands refer to are needed as data, even in a text answer.
        let referred = long_work(|| check(items, &self.extensions))?;
        drop(turn);
        self.count_batch_from_zero(call.session.client);
        let mut answers = Answers::default();
        let (mut succeeded, mut failed) = (0, 0);
        // The clock before the last command, from which a following wait for an event counts.
        let mut before_last = self.clock.now();
        for (index, item) in items.iter().enumerate() {
            if call.gate.is_closed() || (args.stop_on_error && failed > 0) {
                break;
            }
            if answers.bytes > MAX_ANSWER_BYTES {
                let said = format!("the answers to this batch are longer than {} MB", MAX_ANSWER_BYTES >> 20);
                let error = Error::new(ErrorCode::PayloadTooLarge, said)
                    .suggest("it and all commands after it were not executed; ask for less in one batch");
                let mut line = Vec::new();
                write_error(self.platform.name(), None, &item.command, &error, &mut line);
                answers.push(Reply { line, feed: None, held: HeldBytes::default() }, false);
                failed += 1;
                break;
            }
            let before = self.clock.now();
            let is_referred = referred.contains(&index);
            let item_app = args.app.as_deref();
            let reply = self.item(call, (item, item_app), is_referred, &mut answers, before_last).await;
            if item.command != "wait" {
                before_last = before;
            }
            if reply.line.starts_with(b"{\"id\":null,\"ok\":true") {
                succeeded += 1
            } else {
                failed += 1
            }
            answers.push(reply, is_referred);
        }
        let skipped = (items.len() - answers.lines.len()) as u32;
        let clock = Some(self.clock.now());
        // The answers are freed there too, because that takes long if they are.
        long_work(|| {
            let replies = answers.lines.into_iter();
            let (lines, _held): (Vec<Vec<u8>>, Vec<HeldBytes>) =
                replies.map(|reply| (reply.line, reply.held)).unzip();
            let counts = (succeeded, failed, skipped);
            answer.either(clock, None, || text_of(&lines, counts), |out| write_results(&lines, counts, out));
        });
        Ok(())
    }

    /// Runs one item and returns its answer, a whole line.
    async fn item(
        self: &Arc<Self>,
        call: &Call,
        (item, app): (&BatchItem, Option<&str>),
        with_data: bool,
        answers: &mut Answers,
        before_last: Clock,
    ) -> Reply {
        let refers = item.args.as_ref().is_some_and(|args| args.get().contains('$'));
        let mut filled = || filled(item, answers);
        let command = if refers { long_work(filled) } else { filled() }
            .and_then(|args| self.extensions.parse(&item.command, args.as_deref()))
            .map(|mut command| {
                app.iter().for_each(|app| command.default_app(app));
                since(command, before_last)
            });
        let command = match command {
            Ok(command) => command,
            Err(error) => {
                let mut line = Vec::new();
                write_error(self.platform.name(), None, &item.command, &error, &mut line);
                return Reply { line, feed: None, held: HeldBytes::default() };
            }
        };
        let part = Call {
            id: None,
            command,
            format: call.format,
            with_data,
            is_part: true,
            deadline: call.deadline,
            session: Arc::clone(&call.session),
            sub: 0,
            gate: call.gate.part(),
            approved: Approved::default(),
        };
        Arc::clone(self).carry_out(part).await
    }
}

/// The answers as text; the counts are those that succeeded, failed and were skipped.
fn text_of(lines: &[Vec<u8>], (succeeded, failed, skipped): (u32, u32, u32)) -> String {
    let read = |(index, line): (usize, &Vec<u8>)| {
        let mut result: Value = serde_json::from_slice(line).unwrap_or_default();
        result["index"] = index.into();
        result
    };
    let results = lines.iter().enumerate().map(read).collect();
    let mut text = String::new();
    BatchAnswer { succeeded, failed, skipped, results }.render(&mut text);
    text
}

/// Writes the answers as JSON.
fn write_results(lines: &[Vec<u8>], (succeeded, failed, skipped): (u32, u32, u32), out: &mut Vec<u8>) {
    out.reserve(lines.iter().map(|line| line.len() + 16).sum());
    out.extend_from_slice(
        format!("{{\"succeeded\":{succeeded},\"failed\":{failed},\"skipped\":{skipped},\"results\":[")
            .as_bytes(),
    );
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(format!("{{\"index\":{index},").as_bytes());
        out.extend_from_slice(line.strip_prefix(NO_ID).unwrap_or(line).trim_ascii_end());
    }
    out.extend_from_slice(b"]}");
}

/// The answers of the commands that have been executed.
#[derive(Default)]
struct Answers {
    lines: Vec<Reply>,
    /// Those that later commands refer to, parsed when the first of them does. Parsing one for every reference would take
    /// minutes.
    parsed: HashMap<usize, Option<Value>>,
    bytes: usize,
}

impl Answers {
    fn push(&mut self, reply: Reply, is_referred: bool) {
        if is_referred {
            self.parsed.insert(self.lines.len(), None);
        }
        self.bytes += reply.line.len();
        self.lines.push(reply);
    }

    /// An answer, parsed.
    fn parsed(&mut self, index: usize) -> std::result::Result<&Value, &'static str> {
        let line = &self.lines.get(index).ok_or("that command was not executed")?.line;
        if line.len() > MAX_REFERRED_BYTES {
            return Err("that answer is too long to refer to");
        }
        let parsed = self.parsed.entry(index).or_default();
        Ok(parsed.get_or_insert_with(|| serde_json::from_slice(line).unwrap_or_default()))
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

/// Checks everything that can be checked before the first command runs. Returns the indexes of the commands whose answers
/// others refer to.
fn check(items: &[BatchItem], extensions: &Extensions) -> Result<BTreeSet<usize>> {
    let mut referred = BTreeSet::new();
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
        referred.extend(references.into_iter().map(|(index, _)| index));
    }
    Ok(referred)
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
fn filled(item: &BatchItem, answers: &mut Answers) -> Result<Option<Box<RawValue>>> {
    let Some(args) = &item.args else { return Ok(None) };
    if !args.get().contains('$') {
        return Ok(Some(args.clone()));
    }
    let invalid = |why: String| Error::new(ErrorCode::InvalidArgs, why);
    let mut value: Value = serde_json::from_str(args.get()).map_err(|fault| invalid(fault.to_string()))?;
    let mut room = MAX_REQUEST_BYTES;
    fill(&mut value, answers, &mut room)?;
    to_raw_value(&value).map(Some).map_err(|fault| invalid(fault.to_string()))
}

/// Replaces the references in a value. What they stand for may be as long as a request, and no longer.
fn fill(value: &mut Value, answers: &mut Answers, room: &mut usize) -> Result<()> {
    match value {
        Value::String(text) => {
            if let Some((index, path)) = reference(text) {
                *value = answered(text, index, &path, answers, room)?;
            } else if let Some(plain) = text.strip_prefix("$$") {
                *value = Value::String(format!("${plain}"));
            }
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| fill(item, answers, room))?,
        Value::Object(fields) => fields.values_mut().try_for_each(|field| fill(field, answers, room))?,
        _ => {}
    }
    Ok(())
}

/// The value at a path in the answer of an earlier item.
fn answered(text: &str, index: usize, path: &str, answers: &mut Answers, room: &mut usize) -> Result<Value> {
    let missing = |why: &str| {
        Error::new(ErrorCode::InvalidArgs, format!("{text}: {why}"))
            .suggest("check the earlier command's answer; paths refer to its data, as in $0.matches.0.id")
    };
    let whole = answers.parsed(index).map_err(missing)?;
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
    if at.is_null() {
        return Err(missing("there is nothing there"));
    }
    if serde_json::to_writer(Room(room), at).is_err() {
        return Err(Error::new(ErrorCode::PayloadTooLarge, format!("{text}: the arguments become too long"))
            .suggest("refer to a part of the answer, as in $0.matches.0.id"));
    }
    Ok(at.clone())
}

/// Counts what is written to it, and fails when there is no room left.
struct Room<'a>(&'a mut usize);

impl std::io::Write for Room<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let left = self.0.checked_sub(bytes.len());
        *self.0 = left.ok_or(std::io::ErrorKind::WriteZero)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
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
        let args = filled(&click, &mut answers(&first)).unwrap().unwrap();
        assert_eq!(args.get(), r#"{"target":"btn_4k2p9x","window":"$5"}"#);
        for (reference, why) in [("$0.matches.7.id", "nothing there"), ("$1.x", "not executed")] {
            let args = format!(r#"{{"target":"{reference}"}}"#);
            let error = filled(&item("click", &args), &mut answers(&first)).unwrap_err();
            assert!(error.message.contains(why), "{}", error.message);
        }
        let failed = br#"{"id":null,"ok":false,"error":{}}"#.to_vec();
        assert!(filled(&click, &mut answers(&failed)).unwrap_err().message.contains("failed"));
    }

    #[test]
    fn what_references_stand_for_is_no_longer_than_a_request() {
        let text = "x".repeat(MAX_REQUEST_BYTES / 8);
        let long = format!(r#"{{"id":null,"ok":true,"data":{{"text":"{text}"}}}}"#).into_bytes();
        let with = |times: usize| {
            let args = vec!["\"$0.text\""; times].join(",");
            filled(&item("wait", &format!(r#"{{"for":[{args}]}}"#)), &mut answers(&long))
        };
        assert!(with(7).is_ok());
        assert_eq!(with(90_000).unwrap_err().code, ErrorCode::PayloadTooLarge);
        let longer = vec![b' '; MAX_REFERRED_BYTES + 1];
        let error = filled(&item("get", r#"{"target":"$0.x"}"#), &mut answers(&longer)).unwrap_err();
        assert!(error.message.contains("too long to refer to"), "{}", error.message);
    }

    fn answers(line: &[u8]) -> Answers {
        let mut answers = Answers::default();
        answers.push(Reply { line: line.to_vec(), feed: None, held: HeldBytes::default() }, true);
        answers
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
