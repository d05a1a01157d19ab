//! The project's goals, measured side by side on a private daemon: `scripts/bench` runs this and makes a table of it.
//!
//! Every two things that are compared are measured in turns, a little of the one and a little of the other, so that
//! whatever else the machine does falls on both. Prints a line a number: its name, a tab, the number.

#[path = "../tree/benches/made/mod.rs"]
mod made;

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use axd_protocol::NodeId;
use serde_json::{Value, json};

use made::Fed;

/// The two sizes of app whose costs are compared, as rows of a row and three cells each.
const ROWS: [(&str, u32); 2] = [("Small", 498), ("Large", 24_998)];

/// How long tools sleep after an action that do not know when an app is at rest.
const FIXED_PAUSE: Duration = Duration::from_millis(80);

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["echo", socket] => echo(Path::new(socket)),
        ["--bench"] => run(Path::new(env!("CARGO_BIN_EXE_axd")), None),
        ["run", axd, ax, minimal, "--bench"] | ["run", axd, ax, minimal] => {
            run(Path::new(axd), Some([ax, minimal]))
        }
        // As `cargo test --benches` calls it, or with options that are criterion's.
        _ => Ok(()),
    }
}

fn run(axd: &Path, clients: Option<[&str; 2]>) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700))?;
    idle(axd, folder.path())?;
    tree();
    // Left alone, the scheduler puts client and server on one CPU or on two as it happens, which makes a round trip cost
    // 20 or 70 µs: more than all that is to be compared. So they are put on one; and once more, for what it is worth
    // to know, on two.
    pin(Place::Server);
    let daemon = Daemon::start(axd, folder.path(), "axd.sock", true)?;
    let echo = Daemon::start_echo(&folder.path().join("echo.sock"))?;
    socket(&daemon, &echo)?;
    pin(Place::Other);
    round_trips(&daemon, &echo, "_apart")?;
    pin(Place::Server);
    acting(&daemon)?;
    if let Some([ax, minimal]) = clients {
        processes(&daemon, ax, minimal)?;
    }
    Ok(())
}

/// Prints a number under its name.
fn told(name: &str, number: f64) {
    println!("{name}\t{number}");
}

/// The memory of a daemon that has nothing to do.
fn idle(axd: &Path, folder: &Path) -> io::Result<()> {
    let daemon = Daemon::start(axd, folder, "idle.sock", false)?;
    let mut client = Client::open(&daemon.socket)?;
    client.ask("status", &json!({}))?;
    told("idle_rss_bytes", daemon.rss()? as f64);
    Ok(())
}

/// The tree without anything around it: one change, in a small and in a large tree by turns.
fn tree() {
    let mut sizes = [2_000, 100_000].map(|nodes| Fed::of(made::walk(nodes)));
    let keys = made::texts(64);
    let (mut apply, mut changes) = ([vec![], vec![]], [vec![], vec![]]);
    let mut out = Vec::new();
    for round in 0..400 {
        for (at, fed) in sizes.iter_mut().enumerate() {
            for key in &keys {
                let updates = vec![made::new_value(*key, &round.to_string())];
                let since = fed.tick;
                apply[at].push(nanoseconds(|| fed.apply(updates)));
                changes[at].push(nanoseconds(|| {
                    out.clear();
                    let changes = fed.tree.changes_since(since).expect("the tick is known");
                    fed.tree.write_changes(&changes, &mut out);
                }));
            }
        }
    }
    for (name, [small, large]) in [("tree_apply", apply), ("tree_changes", changes)] {
        told(&format!("{name}_small_ns"), median(small));
        told(&format!("{name}_large_ns"), median(large));
    }
}

/// Everything over the socket.
fn socket(daemon: &Daemon, echo: &Daemon) -> io::Result<()> {
    let mut axd = Client::open(&daemon.socket)?;
    let (before, mut all) = (daemon.rss()?, 0.0);
    for (app, _) in ROWS.iter().rev() {
        let answer = axd.ask("attach", &json!({ "app": app }))?;
        let nodes = answer["data"]["nodes"].as_f64().unwrap_or_default();
        told(&format!("{}_nodes", app.to_lowercase()), nodes);
        all += nodes;
    }

    round_trips(daemon, echo, "")?;
    // Only now: what the first walks used is given back while others are served.
    told("daemon_bytes_per_node", (daemon.rss()? - before) as f64 / all);
    let mut other = Client::open(&daemon.socket)?;
    for (name, rounds, times, args) in [
        ("snapshot", 25, 4, json!({ "max_nodes": 0 })),
        ("find", 100, 20, json!({ "selector": "button:Needle" })),
    ] {
        let [small, large] = ROWS.map(|(app, _)| {
            let mut args = args.clone();
            args["app"] = app.into();
            line(name, &args)
        });
        let [small, large] = in_turns(
            rounds,
            times,
            [&mut || axd.round_trip(&small).map(drop), &mut || other.round_trip(&large).map(drop)],
        )?;
        told(&format!("{name}_small_us"), small / 1e3);
        told(&format!("{name}_large_us"), large / 1e3);
    }

    let mut lines = Vec::new();
    for (app, _) in ROWS {
        lines.push(line("changes", &json!({ "app": app, "since": one_change(&mut axd, app)? })));
    }
    let [small, large] = in_turns(
        100,
        20,
        [&mut || axd.round_trip(&lines[0]).map(drop), &mut || other.round_trip(&lines[1]).map(drop)],
    )?;
    told("changes_small_us", small / 1e3);
    told("changes_large_us", large / 1e3);
    Ok(())
}

/// The least that a request costs, and the least that a round trip does.
fn round_trips(daemon: &Daemon, echo: &Daemon, suffix: &str) -> io::Result<()> {
    let (mut axd, mut echo) = (Client::open(&daemon.socket)?, Client::open(&echo.socket)?);
    let get = line("get", &json!({ "target": needle(&mut axd, "Small")?.as_str() }));
    let [echoed, got] =
        in_turns(100, 50, [&mut || echo.round_trip(&get).map(drop), &mut || axd.round_trip(&get).map(drop)])?;
    told(&format!("echo{suffix}_us"), echoed / 1e3);
    told(&format!("get{suffix}_us"), got / 1e3);
    Ok(())
}

/// How soon a wait returns, and what it costs to know that an app has come to rest.
fn acting(daemon: &Daemon) -> io::Result<()> {
    let (mut hand, mut waiter) = (Client::open(&daemon.socket)?, Client::open(&daemon.socket)?);
    let set =
        |text: &str| line("sim", &json!({ "app": "Small", "verb": "set", "target": "status", "text": text }));
    let wait = |text: &str| {
        line(
            "wait",
            &json!({ "app": "Small", "target": "textfield:Status", "value": text, "timeout": 5_000 }),
        )
    };
    let (mut alone, mut waited) = (Vec::new(), Vec::new());
    for round in 0..200 {
        let start = Instant::now();
        hand.round_trip(&set(&format!("alone {round}")))?;
        alone.push(start.elapsed().as_nanos() as f64);
        let text = format!("awaited {round}");
        waiter.send(&wait(&text))?;
        // Answered after the wait before it was taken up: lines of one connection are read in order.
        waiter.round_trip(&line("version", &json!({})))?;
        let start = Instant::now();
        hand.send(&set(&text))?;
        waiter.receive()?;
        waited.push(start.elapsed().as_nanos() as f64);
        hand.receive()?;
    }
    told("set_us", median(alone) / 1e3);
    told("wait_us", median(waited) / 1e3);

    let click = |settle: bool| {
        let mut args = json!({ "app": "Small", "target": "checkbox:Box" });
        if !settle {
            args["settle_ms"] = 0.into();
        }
        line("click", &args)
    };
    let (settled, plain, look) = (click(true), click(false), line("snapshot", &json!({ "app": "Small" })));
    let (mut clicker, mut sleeper) = (Client::open(&daemon.socket)?, Client::open(&daemon.socket)?);
    let [settled, slept] = in_turns(
        20,
        1,
        [&mut || clicker.round_trip(&settled).map(drop), &mut || {
            sleeper.round_trip(&plain)?;
            // What tools do that do not know when an app is at rest.
            std::thread::sleep(FIXED_PAUSE);
            sleeper.round_trip(&look).map(drop)
        }],
    )?;
    told("click_settled_us", settled / 1e3);
    told("click_slept_us", slept / 1e3);
    Ok(())
}

/// Whole processes: `ax get`, and the least a client can be.
fn processes(daemon: &Daemon, ax: &str, minimal: &str) -> io::Result<()> {
    let id = needle(&mut Client::open(&daemon.socket)?, "Small")?;
    let socket = daemon.socket.to_string_lossy().into_owned();
    let start = |program: &str, args: [&str; 2]| {
        let mut command = Command::new(program);
        command.args(args).env("AXD_SOCKET", &socket).stdout(Stdio::null());
        if command.status()?.success() { Ok(()) } else { Err(io::Error::other(format!("{program} failed"))) }
    };
    let [least, ours] = in_turns(
        100,
        3,
        [&mut || start(minimal, [&socket, id.as_str()]), &mut || start(ax, ["get", id.as_str()])],
    )?;
    told("minimal_process_us", least / 1e3);
    told("ax_process_us", ours / 1e3);
    if std::env::var_os("BENCH_CALLGRIND").is_some() {
        told("minimal_instructions", instructions(&socket, &[minimal, &socket, id.as_str()])?);
        told("ax_instructions", instructions(&socket, &[ax, "get", id.as_str()])?);
    }
    Ok(())
}

/// How many instructions a process executes, from its first to its last.
fn instructions(socket: &str, command: &[&str]) -> io::Result<f64> {
    let done = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(command)
        .env("AXD_SOCKET", socket)
        .output()?;
    let said = String::from_utf8_lossy(&done.stderr);
    let count = said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    count.ok_or_else(|| io::Error::other(format!("callgrind did not say: {said}")))
}

/// The id of the one button that every app has.
fn needle(client: &mut Client, app: &str) -> io::Result<NodeId> {
    let answer = client.ask("find", &json!({ "app": app, "selector": "button:Needle" }))?;
    let id = answer["data"]["matches"][0]["id"].as_str().and_then(NodeId::parse);
    id.ok_or_else(|| io::Error::other(format!("no needle: {answer}")))
}

/// Changes one value in the app; the clock before it.
fn one_change(client: &mut Client, app: &str) -> io::Result<String> {
    let answer = client.ask("find", &json!({ "app": app, "selector": "button:Needle" }))?;
    let clock = answer["clock"].as_str().unwrap_or_default().to_owned();
    client.ask("sim", &json!({ "app": app, "verb": "set", "target": "status", "text": "changed" }))?;
    // What the app was seen to announce by a fence has been applied.
    client.ask("snapshot", &json!({ "app": app, "sync": true, "depth": 1 }))?;
    let changes = client.ask("changes", &json!({ "app": app, "since": clock }))?;
    match changes["data"]["apps"][0]["changed"].as_array() {
        Some(changed) if changed.len() == 1 => Ok(clock),
        _ => Err(io::Error::other(format!("one change was to be seen: {changes}"))),
    }
}

/// The CPU that servers run on, or another.
enum Place {
    Server,
    Other,
}

/// Keeps this thread, and the processes it starts, on one CPU. Does nothing where that cannot be done.
fn pin(place: Place) {
    #[cfg(target_os = "linux")]
    {
        use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
        use nix::unistd::Pid;
        use std::sync::OnceLock;
        static ALLOWED: OnceLock<Vec<usize>> = OnceLock::new();
        let allowed = ALLOWED.get_or_init(|| {
            let set = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
            (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or_default()).collect()
        });
        let cpu = match place {
            Place::Server => allowed.last(),
            Place::Other => allowed.first(),
        };
        let mut set = CpuSet::new();
        if cpu.is_some_and(|cpu| set.set(*cpu).is_ok()) {
            let _ = sched_setaffinity(Pid::from_raw(0), &set);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = place;
}

/// Does two things by turns; the median time of each, in nanoseconds.
fn in_turns(
    rounds: usize,
    times: usize,
    mut things: [&mut dyn FnMut() -> io::Result<()>; 2],
) -> io::Result<[f64; 2]> {
    let mut taken = [Vec::new(), Vec::new()];
    for round in 0..=rounds {
        for (thing, taken) in things.iter_mut().zip(&mut taken) {
            for _ in 0..times {
                let start = Instant::now();
                thing()?;
                // The first round warms up.
                if round > 0 {
                    taken.push(start.elapsed().as_nanos() as f64);
                }
            }
        }
    }
    Ok(taken.map(median))
}

fn nanoseconds<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed().as_nanos() as f64
}

fn median(mut taken: Vec<f64>) -> f64 {
    taken.sort_by(f64::total_cmp);
    taken[taken.len() / 2]
}

/// A blocking client that does nothing but send a line and read one.
struct Client {
    reader: BufReader<UnixStream>,
    line: Vec<u8>,
}

impl Client {
    fn open(socket: &Path) -> io::Result<Client> {
        let stream = UnixStream::connect(socket)?;
        Ok(Client { reader: BufReader::with_capacity(64 * 1024, stream), line: Vec::new() })
    }

    fn round_trip(&mut self, line: &str) -> io::Result<&[u8]> {
        self.send(line)?;
        self.receive()
    }

    fn send(&mut self, line: &str) -> io::Result<()> {
        self.reader.get_mut().write_all(line.as_bytes())
    }

    fn receive(&mut self) -> io::Result<&[u8]> {
        self.line.clear();
        self.reader.read_until(b'\n', &mut self.line)?;
        Ok(&self.line)
    }

    fn ask(&mut self, command: &str, args: &Value) -> io::Result<Value> {
        let answer: Value = serde_json::from_slice(self.round_trip(&line(command, args))?)?;
        if answer["ok"] == true { Ok(answer) } else { Err(io::Error::other(answer.to_string())) }
    }
}

fn line(command: &str, args: &Value) -> String {
    format!("{}\n", json!({ "id": 1, "command": command, "args": args }))
}

/// A server of our own, which ends with this.
struct Daemon {
    process: Child,
    socket: PathBuf,
}

impl Daemon {
    fn start(axd: &Path, folder: &Path, socket: &str, apps: bool) -> io::Result<Daemon> {
        let socket = folder.join(socket);
        // The shell puts the pipe where `--ready-fd` can name it, and is replaced by the daemon.
        let mut command = Command::new("sh");
        command.args(["-c", r#"exec "$0" "$@" --ready-fd 9 9>&1 >/dev/null"#]).arg(axd);
        command.args(["--platform", "sim", "--log-level", "info"]);
        command.arg("--socket").arg(&socket).arg("--state").arg(folder.join("state"));
        command.env_remove("AXD_SIM_APPS").stdin(Stdio::null());
        if apps {
            let scripts = folder.join("apps");
            fs::create_dir_all(&scripts)?;
            for (name, rows) in ROWS {
                fs::write(scripts.join(format!("{name}.toml")), script(name, rows))?;
            }
            command.env("AXD_SIM_APPS", scripts);
        }
        command.stdout(Stdio::piped());
        Daemon::when_told(command.spawn()?, socket)
    }

    /// A server that sends back every line, on a runtime like the daemon's: what a round trip costs at least.
    fn start_echo(socket: &Path) -> io::Result<Daemon> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("echo").arg(socket).stdout(Stdio::piped());
        Daemon::when_told(command.spawn()?, socket.to_owned())
    }

    /// The server, once it has said that it listens.
    fn when_told(process: Child, socket: PathBuf) -> io::Result<Daemon> {
        let mut daemon = Daemon { process, socket };
        let mut line = String::new();
        if let Some(told) = daemon.process.stdout.take() {
            BufReader::new(told).read_line(&mut line)?;
        }
        if !line.starts_with("ready") {
            return Err(io::Error::other(format!("nobody listens at {}: {line}", daemon.socket.display())));
        }
        Ok(daemon)
    }

    /// Its memory, in bytes.
    fn rss(&self) -> io::Result<u64> {
        let pid = self.process.id().to_string();
        let told = if cfg!(target_os = "linux") {
            let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default().to_owned()
        } else {
            let ps = Command::new("ps").args(["-o", "rss=", "-p", &pid]).output()?;
            String::from_utf8_lossy(&ps.stdout).into_owned()
        };
        let kilobytes = told.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
        kilobytes.map(|kilobytes| kilobytes * 1024).ok_or_else(|| io::Error::other("its memory is not told"))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// An app of the built-in desktop with a button, a text and a table.
fn script(name: &str, rows: u32) -> String {
    format!(
        r#"
name = "{name}"
[[window]]
id = "main"
title = "{name}"
children = [
  {{ role = "button", id = "needle", name = "Needle" }},
  {{ role = "checkbox", id = "box", name = "Box" }},
  {{ role = "textfield", id = "status", name = "Status", value = "ready" }},
  {{ role = "table", id = "rows", name = "Rows", generate = {{ rows = {rows}, columns = 3 }} }},
]
"#
    )
}

fn echo(socket: &Path) -> io::Result<()> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    // As in the daemon's `main`.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(8)
        .thread_stack_size(512 * 1024)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::UnixListener::bind(socket)?;
        println!("ready");
        loop {
            let (mut stream, _) = listener.accept().await?;
            tokio::spawn(async move {
                let mut buffer = vec![0; 64 * 1024];
                while let Ok(n @ 1..) = stream.read(&mut buffer).await {
                    if stream.write_all(&buffer[..n]).await.is_err() {
                        break;
                    }
                }
            });
        }
    })
}
