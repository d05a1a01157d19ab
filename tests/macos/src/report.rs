//! The report: a table of checks, rewritten after each of them, so that there is one however the run ends.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

/// What came of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is as it should be.
    Ok,
    /// It is not, for this reason.
    Failed(String),
    /// It could not be tried, for this reason.
    Skipped(String),
}

/// A line of the table of round trips.
#[derive(Debug, Clone)]
pub struct Cost {
    /// The app.
    pub app: String,
    /// The elements in its tree.
    pub nodes: u64,
    /// The requests to the app's thread that one reading of the whole app took; each is many calls.
    pub requests: u64,
    /// The time that it took.
    pub time: Duration,
}

/// The report.
#[derive(Debug)]
pub struct Report {
    file: PathBuf,
    machine: String,
    rows: Vec<(String, Outcome, Duration)>,
    remarks: Vec<String>,
    /// How often each notification was heard, by its name and the scope it was registered in.
    pub heard: BTreeMap<(String, String), u64>,
    /// What reading apps costs.
    pub costs: Vec<Cost>,
    /// What `ax doctor` found.
    pub doctor: Vec<String>,
    /// What `ax selftest` measured, which needs no permission.
    pub selftest: Value,
    is_complete: bool,
}

impl Report {
    /// A report in this folder.
    pub fn new(folder: &Path, machine: String) -> Report {
        let report = Report {
            file: folder.join("report.md"),
            machine,
            rows: Vec::new(),
            remarks: Vec::new(),
            heard: BTreeMap::new(),
            costs: Vec::new(),
            doctor: Vec::new(),
            selftest: Value::Null,
            is_complete: false,
        };
        report.write();
        report
    }

    /// Adds what came of a check.
    pub fn add(&mut self, name: &str, outcome: Outcome, time: Duration) {
        match &outcome {
            Outcome::Ok => println!("ok       {name} ({:.1} s)", time.as_secs_f64()),
            Outcome::Failed(why) => println!("FAILED   {name}: {why}"),
            Outcome::Skipped(why) => println!("skipped  {name}: {why}"),
        }
        self.rows.push((name.to_owned(), outcome, time));
        self.write();
    }

    /// Adds a remark about the whole run.
    pub fn remark(&mut self, remark: impl Into<String>) {
        let remark = remark.into();
        println!("{remark}");
        self.remarks.push(remark);
        self.write();
    }

    /// Says that the run came to its end.
    pub fn complete(&mut self) {
        self.is_complete = true;
        self.write();
    }

    /// Whether every check that could be tried is as it should be, and at least one was.
    pub fn is_good(&self) -> bool {
        let failed = self.rows.iter().any(|(_, outcome, _)| matches!(outcome, Outcome::Failed(_)));
        self.is_complete && !failed && self.rows.iter().any(|(_, outcome, _)| *outcome == Outcome::Ok)
    }

    /// The number of checks that passed, failed and were skipped, in words.
    pub fn summary(&self) -> String {
        let count = |is: fn(&Outcome) -> bool| self.rows.iter().filter(|(_, outcome, _)| is(outcome)).count();
        format!(
            "{} passed, {} failed, {} skipped; {}",
            count(|outcome| *outcome == Outcome::Ok),
            count(|outcome| matches!(outcome, Outcome::Failed(_))),
            count(|outcome| matches!(outcome, Outcome::Skipped(_))),
            self.machine
        )
    }

    /// Writes it again. That it cannot be written is said, and ends nothing.
    pub fn write(&self) {
        if let Err(fault) = fs::write(&self.file, self.text()) {
            eprintln!("{} cannot be written: {fault}", self.file.display());
        }
    }

    fn text(&self) -> String {
        let mut text = format!("# L4\n\n{}\n\n", self.summary());
        if !self.is_complete {
            text.push_str("**The run did not come to its end.**\n\n");
        }
        for remark in &self.remarks {
            text.push_str(&format!("- {}\n", line(remark)));
        }
        text.push_str("\n| check | | time | |\n| --- | --- | --- | --- |\n");
        for (name, outcome, time) in &self.rows {
            let (state, why) = match outcome {
                Outcome::Ok => ("ok", ""),
                Outcome::Failed(why) => ("FAILED", why.as_str()),
                Outcome::Skipped(why) => ("skipped", why.as_str()),
            };
            text.push_str(&format!("| {name} | {state} | {:.1} s | {} |\n", time.as_secs_f64(), line(why)));
        }
        self.add_selftest(&mut text);
        text.push_str("\n## Which notifications apps sent\n\nThe scope is where axd had registered for it; `any` if its log does not say.\n\n");
        text.push_str("| notification | scope | heard |\n| --- | --- | --- |\n");
        for ((name, scope), count) in &self.heard {
            text.push_str(&format!("| {name} | {scope} | {count} |\n"));
        }
        text.push_str("\n## What reading costs\n\n| app | elements | requests | whole reading | an element |\n| --- | --- | --- | --- | --- |\n");
        for Cost { app, nodes, requests, time } in &self.costs {
            let each = time.as_secs_f64() * 1e6 / (*nodes).max(1) as f64;
            let whole = time.as_secs_f64() * 1e3;
            text.push_str(&format!(
                "| {} | {nodes} | {requests} | {whole:.0} ms | {each:.0} µs |\n",
                line(app)
            ));
        }
        text.push_str("\n## doctor\n\n");
        for finding in &self.doctor {
            text.push_str(&format!("- {}\n", line(finding)));
        }
        text
    }
}

impl Report {
    /// Adds what was measured with a window of axd's own.
    fn add_selftest(&self, text: &mut String) {
        let list = |name: &str| self.selftest[name].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut table = |title: &str, columns: &[&str], rows: &[Value]| {
            let line_of = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
            text.push_str(&format!("\n## {title}\n\n"));
            text.push_str(&line_of(columns.iter().map(|column| column.replace('_', " ")).collect()));
            text.push_str(&line_of(columns.iter().map(|_| "---".to_owned()).collect()));
            for row in rows {
                let cell = |column: &&str| match &row[*column] {
                    Value::String(told) => line(told),
                    told => line(&told.to_string()),
                };
                text.push_str(&line_of(columns.iter().map(cell).collect()));
            }
        };
        table(
            "Which notifications arrive, by where they are registered for",
            &["notification", "change", "app", "window", "element"],
            list("notifications"),
        );
        table("What a call costs", &["call", "count", "median_us", "worst_us"], list("round_trips"));
        table("Which texts arrive", &["text", "received", "intact"], list("texts"));
        table("What a press does", &["performed", "error"], std::slice::from_ref(&self.selftest["press"]));
    }
}

/// A text in one line of a table.
fn line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    text.replace(char::is_control, "\u{fffd}")
}
