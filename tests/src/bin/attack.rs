//! Attacks a daemon of its own on the built-in desktop, and measures what another client notices of it.
//!
//! The attackers have one processor, the daemon and the probe another. The probe asks for one element of a small app, about a
//! thousand times a second. Two controls without a socket show what the machine itself does: one burns the attackers' processor,
//! the other the daemon's, as an attack does that makes the daemon work.
//!
//! Usage: `attack [--axd PATH] [--seconds N] [NAME...]`

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

/// The processor of the daemon and the probe, and that of the attackers.
const THEIRS: [usize; 2] = [0, 1];
/// An app of 100,000 elements, and one that changes when it is told to.
const BIG: &str = r#"
name = "Big"
identity = "sim.big"

[[window]]
id = "main"
title = "Big"
bounds = [400, 60, 400, 480]
children = [
  { role = "button", id = "more", name = "More" },
  { role = "textfield", id = "note", name = "Note", value = "" },
  { role = "textfield", id = "count", name = "Count", value = "0" },
  { role = "table", id = "table", name = "Table", generate = { rows = 20000, columns = 4 } },
]

[[rule]]
on = "press:more"
do = [{ increase = "count", by = 1 }]
"#;

/// What an attacker does in a loop until told to stop.
type Attack = fn(&Target, &AtomicBool);

/// The daemon that is attacked.
struct Target {
    socket: PathBuf,
    /// By how much requests with a deadline were late, at most, in microseconds.
    late_us: AtomicU64,
    /// How many attackers change an app.
    changers: AtomicU64,
}

/// An attack, by how many connections or threads it is made, and whether its goals are strict.
struct Row {
    name: &'static str,
    threads: usize,
    attack: Attack,
    strict: bool,
}

const ROWS: &[Row] = &[
    Row { name: "quiet", threads: 0, attack: |_, _| {}, strict: false },
    Row { name: "control", threads: 1, attack: burn, strict: false },
    Row { name: "control-same-processor", threads: 1, attack: burn_beside_the_daemon, strict: false },
    Row { name: "references", threads: 4, attack: references, strict: true },
    Row { name: "regex-find", threads: 4, attack: regex_find, strict: true },
    Row { name: "regex-wait", threads: 4, attack: regex_wait, strict: true },
    Row { name: "many-selectors", threads: 2, attack: many_selectors, strict: true },
    Row { name: "value-matches", threads: 2, attack: value_matches, strict: true },
    Row { name: "waits-elsewhere", threads: 50, attack: waits, strict: true },
    Row { name: "batch-of-snapshots", threads: 4, attack: batch_of_snapshots, strict: true },
    Row { name: "unread-answers", threads: 10, attack: unread_answers, strict: true },
    Row { name: "unread-snapshots", threads: 100, attack: unread_snapshots, strict: true },
    Row { name: "unfinished-lines", threads: 900, attack: unfinished_line, strict: true },
    Row { name: "changes", threads: 8, attack: changes, strict: false },
    Row { name: "long-lines", threads: 4, attack: long_lines, strict: false },
    Row { name: "snapshots", threads: 20, attack: snapshots, strict: false },
    Row { name: "pipelined", threads: 4, attack: pipelined, strict: false },
    Row { name: "cancelled-waits", threads: 4, attack: cancelled_waits, strict: false },
];

fn main() -> ExitCode {
    let (mut axd, mut seconds, mut names) = (PathBuf::from("target/release/axd"), 8, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--axd" => axd = args.next().map(PathBuf::from).unwrap_or(axd),
            "--seconds" => seconds = args.next().and_then(|n| n.parse().ok()).unwrap_or(seconds),
            name if ROWS.iter().any(|row| row.name == name) => names.push(arg),
            other => {
                eprintln!("attack: '{other}' is no attack; there are: {}", list());
                return ExitCode::from(2);
            }
        }
    }
    println!(
        "| attack | connections | get p50 ms | p99 ms | longest ms | answered | most memory MB | late ms | stops in ms |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut failed = Vec::new();
    for row in ROWS.iter().filter(|row| names.is_empty() || names.iter().any(|name| name == row.name)) {
        failed.extend(run(row, &axd, Duration::from_secs(seconds)));
    }
    failed.iter().for_each(|miss| println!("missed: {miss}"));
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn list() -> String {
    ROWS.iter().map(|row| row.name).collect::<Vec<_>>().join(" ")
}

/// Runs one attack against a new daemon, and prints a line about it. Returns the goals that were missed.
fn run(row: &Row, axd: &Path, time: Duration) -> Vec<String> {
    let mut daemon = Daemon::start(axd);
    let mut client = daemon.client();
    for app in ["Big", "Calculator"] {
        let attached = client.ask("attach", json!({ "app": app }));
        assert_eq!(attached["data"]["complete"], true, "{attached}");
    }
    let base = daemon.memory("VmRSS:");
    let target = Arc::new(Target {
        socket: daemon.socket.clone(),
        late_us: AtomicU64::new(0),
        changers: AtomicU64::new(0),
    });
    let stop = Arc::new(AtomicBool::new(false));
    let attackers: Vec<JoinHandle<()>> = (0..row.threads)
        .map(|_| {
            let (target, stop, attack) = (Arc::clone(&target), Arc::clone(&stop), row.attack);
            let attacker = move || {
                run_on(THEIRS[1]);
                attack(&target, &stop);
            };
            thread::Builder::new().stack_size(256 * 1024).spawn(attacker).expect("a thread")
        })
        .collect();
    let probed = probe(&daemon.socket, time);
    let peak = daemon.memory("VmHWM:").saturating_sub(base);
    let stopping = Instant::now();
    let _ = kill(Pid::from_raw(daemon.child.id() as i32), Signal::SIGTERM);
    let ended = daemon.ends_within(Duration::from_secs(10));
    let stopped = stopping.elapsed().as_secs_f64() * 1e3;
    stop.store(true, Relaxed);
    drop(daemon);
    attackers.into_iter().for_each(|attacker| drop(attacker.join()));
    let late = target.late_us.load(Relaxed) as f64 / 1e3;
    let at =
        |part: f64| probed.get(((probed.len() as f64 - 1.0) * part) as usize).copied().unwrap_or(f64::NAN);
    let (p50, p99, longest) = (at(0.5), at(0.99), at(1.0));
    println!(
        "| {} | {} | {p50:.2} | {p99:.2} | {longest:.1} | {} | {} | {late:.0} | {stopped:.0} |",
        row.name,
        row.threads,
        probed.len(),
        peak >> 20,
    );
    let mut missed = Vec::new();
    let mut goal = |met: bool, what: String| {
        if !met {
            missed.push(format!("{}: {what}", row.name));
        }
    };
    if row.strict {
        goal(p99 <= 5.0, format!("p99 {p99:.2} ms, not 5"));
        goal(longest <= 50.0, format!("longest {longest:.1} ms, not 50"));
    }
    goal(late <= 100.0, format!("a deadline was missed by {late:.0} ms, not 100"));
    goal(ended && stopped <= 3_000.0, format!("it stopped after {stopped:.0} ms, not 3,000"));
    goal(peak >> 20 <= 512, format!("{} MB more than the trees, not 512", peak >> 20));
    missed
}

/// Asks for one element again and again; the time of each answer in ms, sorted.
fn probe(socket: &Path, time: Duration) -> Vec<f64> {
    let socket = socket.to_owned();
    let probe = move || {
        run_on(THEIRS[0]);
        let mut client = Client::connect(&socket);
        let mut times = Vec::new();
        let end = Instant::now() + time;
        while Instant::now() < end {
            let began = Instant::now();
            let answer = client.ask_line("get", r#"{"target":"button:7","app":"Calculator"}"#);
            assert!(answer.contains(r#""ok":true"#), "{answer}");
            times.push(began.elapsed().as_secs_f64() * 1e3);
            // The pace of the probe; nothing depends on it.
            thread::sleep(Duration::from_millis(1).saturating_sub(began.elapsed()));
        }
        times.sort_by(f64::total_cmp);
        times
    };
    thread::spawn(probe).join().expect("the probe is answered")
}

fn burn(_: &Target, stop: &AtomicBool) {
    let mut n = 0u64;
    while !stop.load(Relaxed) {
        n = std::hint::black_box(n.wrapping_mul(6364136223846793005).wrapping_add(1));
    }
}

/// Keeps the processor of the daemon and the probe as busy as a daemon that computes without a pause.
fn burn_beside_the_daemon(target: &Target, stop: &AtomicBool) {
    run_on(THEIRS[0]);
    burn(target, stop);
}

/// A selector of sixteen costly regexes.
fn costly() -> String {
    vec![r#"*[text=~"((.?){30}){3}qq"]"#; 16].join(",")
}

fn references(target: &Target, stop: &AtomicBool) {
    let refs = vec!["$0.tree"; 90_000];
    let items = json!([
        { "command": "snapshot", "args": { "app": "Calculator", "max_nodes": 0 } },
        { "command": "wait", "args": { "for": refs } },
    ]);
    target.repeat(stop, "batch", json!({ "items": items }), 1_000);
}

fn regex_find(target: &Target, stop: &AtomicBool) {
    let mut changing = Client::connect(&target.socket);
    let mut client = Client::connect(&target.socket);
    while !stop.load(Relaxed) {
        let args = json!({ "selector": costly(), "app": "Big", "count": true });
        let sent = client.begin("find", args, Some(1_000));
        changing.begin("sim", json!({ "app": "Big", "verb": "press", "target": "more" }), None);
        changing.begin("get", json!({ "target": "button:More", "app": "Big" }), None);
        target.finish(&mut client, sent, 1_000);
        changing.read_line();
        changing.read_line();
    }
}

fn regex_wait(target: &Target, stop: &AtomicBool) {
    target.repeat(stop, "wait", json!({ "for": [costly()], "app": "Big" }), 1_000);
}

fn many_selectors(target: &Target, stop: &AtomicBool) {
    let selectors: Vec<String> = (0..1_000).map(|n| format!("*[text~=\"never {n}\"]")).collect();
    target.repeat(stop, "wait", json!({ "for": selectors, "app": "Big" }), 2_000);
    let selectors = &selectors[..64];
    target.repeat(stop, "wait", json!({ "for": selectors, "app": "Big" }), 2_000);
}

fn value_matches(target: &Target, stop: &AtomicBool) {
    let mut client = Client::connect(&target.socket);
    let text = "x".repeat(9_998);
    client.ask("set-value", json!({ "target": "textfield:Note", "app": "Big", "value": text }));
    let args = json!({ "target": "textfield:Note", "app": "Big", "value_matches": "((.?){40}){20}QQ", "timeout": 900 });
    target.repeat(stop, "wait", args, 1_000);
}

fn waits(target: &Target, stop: &AtomicBool) {
    let mut client = Client::connect(&target.socket);
    client.begin(
        "wait",
        json!({ "for": ["*[text~=\"never there\"]"], "app": "Big", "timeout": 60_000 }),
        None,
    );
    let mut changing = Client::connect(&target.socket);
    let is_changer = target.changers.fetch_add(1, Relaxed) == 0;
    while is_changer && !stop.load(Relaxed) {
        changing.ask("sim", json!({ "app": "Calculator", "verb": "press", "target": "seven" }));
        thread::park_timeout(Duration::from_millis(20));
    }
    idle(stop);
}

fn changes(target: &Target, stop: &AtomicBool) {
    let mut client = Client::connect(&target.socket);
    while !stop.load(Relaxed) {
        client.ask("sim", json!({ "app": "Calculator", "verb": "press", "target": "seven" }));
    }
}

fn batch_of_snapshots(target: &Target, stop: &AtomicBool) {
    let item = json!({ "command": "snapshot", "args": { "app": "Big", "max_nodes": 0 } });
    target.repeat(stop, "batch", json!({ "items": vec![item; 1_000] }), 5_000);
}

fn unread_answers(target: &Target, stop: &AtomicBool) {
    let mut client = Client::connect(&target.socket);
    for _ in 0..256 {
        client.begin("snapshot", json!({ "app": "Big", "max_nodes": 0, "sync": true }), None);
    }
    idle(stop);
}

fn unread_snapshots(target: &Target, stop: &AtomicBool) {
    let mut client = Client::connect(&target.socket);
    client.begin("snapshot", json!({ "app": "Big", "max_nodes": 0 }), None);
    idle(stop);
}

fn unfinished_line(target: &Target, stop: &AtomicBool) {
    let client = Client::connect(&target.socket);
    let _ = (&client.stream).write_all(&vec![b'x'; (1 << 20) - 1]);
    idle(stop);
}

fn long_lines(target: &Target, stop: &AtomicBool) {
    let item = json!({ "command": "get", "args": { "target": "button:7", "app": "Calculator" } });
    target.repeat(stop, "batch", json!({ "items": vec![item; 990], "stop_on_error": true }), 5_000);
}

fn snapshots(target: &Target, stop: &AtomicBool) {
    target.repeat(stop, "snapshot", json!({ "app": "Big", "max_nodes": 0 }), 60_000);
}

fn pipelined(target: &Target, stop: &AtomicBool) {
    let mut client = Client::connect(&target.socket);
    while !stop.load(Relaxed) {
        for _ in 0..200 {
            client.begin("get", json!({ "target": "button:7", "app": "Calculator" }), None);
        }
        for _ in 0..200 {
            client.read_line();
        }
    }
}

fn cancelled_waits(target: &Target, stop: &AtomicBool) {
    let mut client = Client::connect(&target.socket);
    while !stop.load(Relaxed) {
        let wait = client.begin("wait", json!({ "for": ["dialog"], "app": "Calculator" }), None);
        client.begin("cancel", json!({ "id": wait }), None);
        client.read_line();
        client.read_line();
    }
}

fn idle(stop: &AtomicBool) {
    while !stop.load(Relaxed) {
        thread::park_timeout(Duration::from_millis(100));
    }
}

impl Target {
    /// Sends a request with a deadline again and again, and notes by how much it was late.
    fn repeat(&self, stop: &AtomicBool, command: &str, args: Value, deadline_ms: u64) {
        let mut client = Client::connect(&self.socket);
        while !stop.load(Relaxed) {
            let sent = client.begin(command, args.clone(), Some(deadline_ms));
            if sent == 0 || self.finish(&mut client, sent, deadline_ms).is_none() {
                return;
            }
        }
    }

    fn finish(&self, client: &mut Client, _sent: u64, deadline_ms: u64) -> Option<String> {
        let began = client.sent_at;
        let answer = client.read_line()?;
        let late = began.elapsed().saturating_sub(Duration::from_millis(deadline_ms));
        self.late_us.fetch_max(late.as_micros() as u64, Relaxed);
        Some(answer)
    }
}

/// A connection that gives up without a word when the daemon is gone.
struct Client {
    stream: UnixStream,
    reader: BufReader<UnixStream>,
    next: u64,
    sent_at: Instant,
}

impl Client {
    fn connect(socket: &Path) -> Client {
        // A daemon that is gone is noticed at the first request.
        let stream = UnixStream::connect(socket).unwrap_or_else(|_| UnixStream::pair().expect("a pair").0);
        let reader = BufReader::with_capacity(256 * 1024, stream.try_clone().expect("a descriptor"));
        Client { stream, reader, next: 0, sent_at: Instant::now() }
    }

    /// Sends a request; its id, or 0 if the daemon is gone.
    fn begin(&mut self, command: &str, args: Value, deadline_ms: Option<u64>) -> u64 {
        self.next += 1;
        let mut request = json!({ "id": self.next, "command": command, "args": args });
        if let Some(ms) = deadline_ms {
            request["deadline_ms"] = ms.into();
        }
        let sent = self.stream.write_all(format!("{request}\n").as_bytes());
        self.sent_at = Instant::now();
        if sent.is_ok() { self.next } else { 0 }
    }

    fn read_line(&mut self) -> Option<String> {
        let mut line = String::new();
        self.reader.read_line(&mut line).ok().filter(|n| *n > 0).map(|_| line)
    }

    fn ask(&mut self, command: &str, args: Value) -> Value {
        self.begin(command, args, None);
        self.read_line().and_then(|line| serde_json::from_str(&line).ok()).unwrap_or_default()
    }

    fn ask_line(&mut self, command: &str, args: &str) -> String {
        let _ = self
            .stream
            .write_all(format!("{{\"id\":1,\"command\":\"{command}\",\"args\":{args}}}\n").as_bytes());
        self.read_line().unwrap_or_default()
    }
}

/// A daemon of an attack's own.
struct Daemon {
    child: Child,
    socket: PathBuf,
    _folder: tempfile::TempDir,
}

impl Daemon {
    fn start(axd: &Path) -> Daemon {
        let folder = axd_tests::folder();
        std::fs::write(folder.path().join("big.toml"), BIG).expect("a script can be written");
        let socket = folder.path().join("axd.sock");
        let mut child = Command::new("sh")
            .args(["-c", r#"exec taskset -c 0 "$0" "$@" --ready-fd 9 9>&1 >/dev/null"#])
            .arg(axd)
            .args(["--platform", "sim", "--socket"])
            .arg(&socket)
            .arg("--state")
            .arg(folder.path().join("state"))
            .env("AXD_SIM_APPS", folder.path().join("big.toml"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the daemon can be started");
        let mut ready = String::new();
        let out = child.stdout.take().expect("a pipe");
        let _ = BufReader::new(out).read_line(&mut ready);
        assert!(ready.starts_with("ready"), "{}: {ready}", axd.display());
        Daemon { child, socket, _folder: folder }
    }

    fn client(&self) -> Client {
        Client::connect(&self.socket)
    }

    /// A line of what the system tells of its memory, in bytes.
    fn memory(&self, field: &str) -> u64 {
        let mut status = String::new();
        if let Ok(mut file) = std::fs::File::open(format!("/proc/{}/status", self.child.id())) {
            let _ = file.read_to_string(&mut status);
        }
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
    }

    fn ends_within(&mut self, time: Duration) -> bool {
        let end = Instant::now() + time;
        while Instant::now() < end {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return true;
            }
            thread::park_timeout(Duration::from_millis(2));
        }
        false
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs this thread on one processor, where there is more than one.
#[cfg(target_os = "linux")]
fn run_on(processor: usize) {
    use nix::sched::{CpuSet, sched_setaffinity};
    let mut set = CpuSet::new();
    if thread::available_parallelism().is_ok_and(|n| n.get() > 1) && set.set(processor).is_ok() {
        let _ = sched_setaffinity(Pid::from_raw(0), &set);
    }
}

/// A thread cannot be bound to a processor here.
#[cfg(not(target_os = "linux"))]
fn run_on(_processor: usize) {}
