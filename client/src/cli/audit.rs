//! `ax audit`: reads the audit's files itself, because it must work without a daemon.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axd_client::protocol::audit::{Verifier, first_number, is_file_name};
use axd_client::protocol::command::{Audit, AuditAction, AuditAnswer};
use axd_client::protocol::{Error, ErrorCode};
use serde_json::Value;

use super::Exit;
use super::output::{self, Mode};

/// The number of lines that are shown, if the caller does not say.
const DEFAULT_LIMIT: usize = 100;

/// Shows or verifies the audit. A chain that is not whole is exit code 1.
pub fn run(what: &Audit, mode: Mode) -> Exit {
    match answer(what, &axd_client::paths().state) {
        Ok(answer) => {
            let exit = if answer.intact == Some(false) { Exit::Failed } else { Exit::Done };
            output::answer("audit", &answer, mode, exit)
        }
        Err(error) => output::failure("audit", &error.into(), mode),
    }
}

fn answer(what: &Audit, folder: &Path) -> Result<AuditAnswer, Error> {
    let since = what.since.as_deref().map(since).transpose()?;
    let texts = read_files(folder).map_err(|fault| {
        Error::new(ErrorCode::DaemonUnavailable, format!("cannot read {}: {fault}", folder.display()))
            .suggest("set AXD_STATE to the folder that axd was started with")
    })?;
    let mut verifier = Verifier::default();
    let checked = texts.iter().flat_map(|text| text.lines()).try_for_each(|line| verifier.feed(line));
    let end = verifier.end();
    let mut answer = AuditAnswer {
        folder: folder.display().to_string(),
        files: texts.len(),
        first: verifier.first(),
        last: end.n,
        hash: end.hash,
        ..AuditAnswer::default()
    };
    match what.action {
        AuditAction::Verify => {
            answer.intact = Some(checked.is_ok());
            answer.broken = checked.err().map(|broken| broken.to_string());
        }
        AuditAction::Show => {
            let lines = texts.iter().flat_map(|text| text.lines()).rev();
            let lines = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let wanted = lines.filter(|line| {
                since.is_none_or(|since| line["at_ms"].as_u64().is_some_and(|at| at >= since))
                    && what.client.as_deref().is_none_or(|client| is_of(line, client))
            });
            answer.lines = wanted.take(what.limit.unwrap_or(DEFAULT_LIMIT)).collect();
            answer.lines.reverse();
        }
    }
    Ok(answer)
}

/// The texts of all files, in the order of their first lines.
fn read_files(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut texts = Vec::new();
    for entry in entries {
        let entry = entry?;
        let is_file = entry.file_type()?.is_file();
        if is_file && entry.file_name().to_str().is_some_and(is_file_name) {
            texts.push(String::from_utf8_lossy(&fs::read(entry.path())?).into_owned());
        }
    }
    texts.retain(|text| !text.is_empty());
    texts.sort_by_key(|text| first_number(text));
    Ok(texts)
}

/// The time so long ago, in ms since 1970.
fn since(age: &str) -> Result<u64, Error> {
    let invalid = || {
        Error::new(ErrorCode::InvalidArgs, format!("--since: '{age}' is not an age"))
            .suggest("give a number and a unit: 30s, 10m, 2h, 7d")
    };
    let (number, seconds) = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400)]
        .into_iter()
        .find_map(|(unit, seconds)| Some((age.strip_suffix(unit)?, seconds)))
        .ok_or_else(invalid)?;
    let number: u64 = number.parse().map_err(|_| invalid())?;
    let age = Duration::from_secs(number.saturating_mul(seconds));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(now.saturating_sub(age).as_millis() as u64)
}

fn is_of(line: &Value, client: &str) -> bool {
    ["client_name", "agent"].iter().any(|field| line[field].as_str() == Some(client))
        || client.parse().is_ok_and(|client: u64| {
            ["client", "client_pid"].iter().any(|field| line[field].as_u64() == Some(client))
        })
}
