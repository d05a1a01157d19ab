//! What is kept of a run beside the report, for who reads it elsewhere; and the archive of it all.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axd_client::launchd;

use crate::ax::Ax;
use crate::process::{self, Ran};
use crate::report::Report;

/// How long a program that tells something may take.
const TOOL_LIMIT: Duration = Duration::from_secs(20);
/// How long reading the system's log may take.
const SYSTEM_LOG_LIMIT: Duration = Duration::from_secs(60);
/// How long a stream of changes is listened to.
const STREAM_LIMIT: Duration = Duration::from_secs(1);
/// How long making the archive may take.
const ARCHIVE_LIMIT: Duration = Duration::from_secs(60);

/// The machine in a line: its macOS and its processor.
pub fn machine() -> String {
    let told = |name: &str, args: &[&str]| {
        let ran = process::tool(name, args, TOOL_LIMIT).unwrap_or_default();
        ran.out.trim().to_owned()
    };
    let version = told("sw_vers", &["-productVersion"]);
    let build = told("sw_vers", &["-buildVersion"]);
    format!("macOS {version} ({build}), {}, axd {}", told("uname", &["-m"]), env!("CARGO_PKG_VERSION"))
}

/// A folder for what is kept.
#[derive(Debug)]
pub struct Evidence {
    folder: PathBuf,
}

impl Evidence {
    /// In this folder.
    pub fn new(folder: &Path) -> Evidence {
        Evidence { folder: folder.to_owned() }
    }

    /// Keeps a text. That it cannot be kept is said, and ends nothing.
    pub fn keep(&self, name: &str, text: &str) {
        let file = self.folder.join(name);
        let folder = file.parent().unwrap_or(&self.folder);
        if let Err(fault) = fs::create_dir_all(folder).and_then(|()| fs::write(&file, text)) {
            eprintln!("{} cannot be written: {fault}", file.display());
        }
    }

    fn keep_run(&self, name: &str, ran: Result<Ran, String>) {
        self.keep(name, &ran.map_or_else(|fault| format!("{fault}\n"), |ran| ran.text()));
    }

    /// Keeps what a failed check leaves: the command that failed, and the trees and windows as they are now.
    pub fn keep_failure(&self, check: &str, why: &str, ax: &Ax) {
        let folder = check.replace(' ', "-");
        let command = ax.take_failure().unwrap_or_default();
        self.keep(&format!("failures/{folder}/why.txt"), &format!("{why}\n\n{command}"));
        for (name, words) in [
            ("snapshot.json", &["snapshot", "--actions", "--bounds", "--json", "--deadline-ms", "10000"][..]),
            ("windows.json", &["list-windows", "--json", "--deadline-ms", "10000"]),
            ("status.json", &["status", "--json"]),
        ] {
            self.keep_run(&format!("failures/{folder}/{name}"), ax.run(words, TOOL_LIMIT));
        }
    }

    /// Keeps what is worth having of every run.
    pub fn keep_all(&self, ax: &Ax) {
        for (name, words) in [
            ("status.json", &["status", "--json"][..]),
            ("status.txt", &["status", "--text"]),
            ("doctor.txt", &["doctor", "--text"]),
            ("permissions.txt", &["permissions", "--text"]),
            ("apps.txt", &["list-apps", "--text"]),
            ("displays.json", &["list-displays", "--json"]),
        ] {
            self.keep_run(name, ax.run(words, TOOL_LIMIT));
        }
        let bundle = ax.bundle();
        let bundle = bundle.to_string_lossy();
        for (name, program, args) in [
            ("sw_vers.txt", "sw_vers", &[][..]),
            ("codesign.txt", "codesign", &["-dvvv", &*bundle]),
            ("codesign-verify.txt", "codesign", &["--verify", "--strict", "--verbose=4", &*bundle]),
            ("spctl.txt", "spctl", &["--assess", "--verbose=4", &*bundle]),
            ("launchctl-list.txt", "launchctl", &["list"]),
        ] {
            self.keep_run(name, process::tool(program, args, TOOL_LIMIT));
        }
        for label in labels() {
            let target = launchd::target(&label);
            self.keep_run(
                &format!("launchctl-{label}.txt"),
                process::tool("launchctl", ["print", &target], TOOL_LIMIT),
            );
        }
        let tcc =
            ["show", "--style", "compact", "--last", "15m", "--predicate", "subsystem == \"com.apple.TCC\""];
        let tcc = process::tool("log", tcc, SYSTEM_LOG_LIMIT).map(|ran| Ran {
            out: ran
                .out
                .lines()
                .filter(|line| line.contains("axd"))
                .map(|line| format!("{line}\n"))
                .collect(),
            ..ran
        });
        self.keep_run("tcc-log.txt", tcc);
    }

    /// Keeps the tree of an app: as a replica gets it, with the roles that elements have for macOS, and with places and menus.
    pub fn keep_tree(&self, app: &str, pid: u64, ax: &Ax) {
        let pid = pid.to_string();
        // A stream does not end by itself; what has come by then is the tree.
        let streamed = ax.run(&["subscribe", "--app", &pid, "--snapshot", "--json"], STREAM_LIMIT);
        self.keep(&format!("trees/{app}.native.jsonl"), &streamed.unwrap_or_default().out);
        let words = [
            "snapshot",
            "--app",
            &pid,
            "--actions",
            "--bounds",
            "--menubar",
            "--json",
            "--deadline-ms",
            "15000",
        ];
        self.keep_run(&format!("trees/{app}.json"), ax.run(&words, TOOL_LIMIT));
    }
}

/// The labels of the agents of axd that launchd has.
pub fn labels() -> Vec<String> {
    let listed = process::tool("launchctl", ["list"], TOOL_LIMIT).unwrap_or_default();
    let names = listed.out.lines().filter_map(|line| line.split_whitespace().last());
    names.filter(|name| name.starts_with(launchd::LABEL)).map(str::to_owned).collect()
}

/// Counts which notifications the daemon heard, by its log.
pub fn count_notifications(log: &str, report: &mut Report) {
    report.heard.clear();
    for line in log.lines().filter(|line| line.contains("announced")) {
        let field = |name: &str| {
            let value = line.split_once(&format!(" {name}="))?.1.trim_start_matches('"');
            let end = value.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(value.len());
            Some(value[..end].to_owned()).filter(|value| !value.is_empty())
        };
        let Some(name) = field("name") else { continue };
        *report.heard.entry((name, field("scope").unwrap_or_else(|| "any".to_owned()))).or_default() += 1;
    }
    report.write();
}

/// Makes one file of the folder of the report. Returns where it is, or the folder if it cannot be made.
pub fn pack(folder: &Path) -> PathBuf {
    let archive = PathBuf::from(format!("{}.zip", folder.display()));
    let _ = fs::remove_file(&archive);
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else { return folder.to_owned() };
    let by_ditto = process::tool(
        "ditto",
        ["-c".as_ref(), "-k".as_ref(), "--keepParent".as_ref(), folder.as_os_str(), archive.as_os_str()],
        ARCHIVE_LIMIT,
    );
    if !by_ditto.is_ok_and(|ran| ran.code == Some(0)) {
        let mut zip = std::process::Command::new("zip");
        let _ = process::run(zip.current_dir(parent).arg("-qr").arg(&archive).arg(name), ARCHIVE_LIMIT);
    }
    if archive.exists() { archive } else { folder.to_owned() }
}
