//! `ax approve`: shows what waits for approval, and passes on what the person at the terminal answers.

use std::io::{self, BufRead, Write};

use axd_client::protocol::Command;
use axd_client::protocol::command::{
    Approval, ApprovalVerdict, Approvals, ApprovalsAnswer, Approve, Decide, DecideAnswer,
};
use axd_client::protocol::render::Render;
use axd_client::protocol::text::defuse;
use axd_client::{ClientError, Connection, RequestOptions};

use super::output::{self, Mode, Stdout};
use super::parse::Options;
use super::{Exit, connect, watch};

/// How long one request for what is to be approved waits.
const WAIT_MS: u64 = 25_000;

/// Asks about one request after the other, until it is interrupted or its input ends.
pub fn run(_what: &Approve, options: &Options, mode: Mode) -> Exit {
    let asked = watch::end_on_interrupt()
        .map_err(ClientError::from)
        .and_then(|()| connect(options))
        .and_then(ask_about_all);
    match asked {
        Ok(()) => Exit::Done,
        Err(fault) => output::failure("approve", &fault, mode),
    }
}

fn ask_about_all(mut connection: Connection) -> Result<(), ClientError> {
    // Registers as an approver before it says so.
    let mut waiting = next(&mut connection, None, 0)?;
    say("waiting for requests to approve; Ctrl-C ends it, and what is not answered is not done\n")?;
    let mut lines = io::stdin().lock().lines();
    let mut after = None;
    loop {
        for approval in waiting {
            after = Some(approval.approval);
            let mut text = String::new();
            approval.render(&mut text);
            say(&defuse(&text))?;
            let Some(given) = answer(&mut lines)? else { return Ok(()) };
            decide(&mut connection, &approval, given)?;
        }
        waiting = next(&mut connection, after, WAIT_MS)?;
    }
}

fn next(connection: &mut Connection, after: Option<u64>, wait_ms: u64) -> Result<Vec<Approval>, ClientError> {
    let command = Command::Approvals(Approvals { after, wait_ms: Some(wait_ms), of_pid: None });
    let answer: ApprovalsAnswer = connection.request(&command, RequestOptions::default())?.data()?;
    Ok(answer.approvals)
}

/// What the person answers: the verdict, and whether it is for all that the rule asks about. `None` at the end of the input.
fn answer(
    lines: &mut impl Iterator<Item = io::Result<String>>,
) -> Result<Option<(ApprovalVerdict, bool)>, ClientError> {
    loop {
        say("allow it? [y]es, [n]o, [a]lways for this client: ")?;
        let Some(line) = lines.next().transpose()? else {
            say("\n")?;
            return Ok(None);
        };
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(Some((ApprovalVerdict::Allow, false))),
            "n" | "no" => return Ok(Some((ApprovalVerdict::Deny, false))),
            "a" | "always" => return Ok(Some((ApprovalVerdict::Allow, true))),
            _ => {}
        }
    }
}

fn decide(
    connection: &mut Connection,
    approval: &Approval,
    (verdict, always): (ApprovalVerdict, bool),
) -> Result<(), ClientError> {
    let command = Command::Decide(Decide { approval: approval.approval, verdict, always });
    match connection.request(&command, RequestOptions::default()).and_then(|reply| reply.data()) {
        Ok(DecideAnswer { .. }) => Ok(()),
        // It was answered by somebody else, or nobody waits for it any more: the next one may still be waited for.
        Err(ClientError::Daemon(error)) => say(&format!("{}\n", defuse(&error.message))),
        Err(fault) => Err(fault),
    }
}

fn say(text: &str) -> Result<(), ClientError> {
    Ok(Stdout.write_all(text.as_bytes())?)
}
