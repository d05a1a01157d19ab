//! `ax demo`: a tour on the built-in desktop, with its own daemon. Every command is executed as it is shown.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use axd_client::protocol::Command;
use axd_client::protocol::command::{FindAnswer, Invocation};
use axd_client::{
    ClientError, Connection, DaemonStart, Reply, RequestOptions, connect_or_start, find_daemon,
};
use nix::sys::signal::{SigSet, Signal};

use super::Exit;
use super::format_event::EventFormatter;
use super::output::{self, Mode, Stdout, finish};
use super::parse::{self, Parsed};
use super::watch::{colours, time_of_day};

/// The maximum time to wait for an event.
const EVENT_TIMEOUT: Duration = Duration::from_secs(5);
/// The time after which the daemon exits if `ax` was killed and could not stop it, in seconds.
const IDLE_EXIT_S: u64 = 30;

/// Runs the tour.
pub fn run(mode: Mode) -> Exit {
    let result = DemoDaemon::open().and_then(|daemon| {
        let result = tour(&daemon);
        daemon.close();
        daemon.wait_if_interrupted();
        result
    });
    match result {
        Ok(()) => Exit::Done,
        Err(DemoError::Axd(fault)) => output::failure("demo", &fault, mode),
        Err(DemoError::Printing(fault)) => finish(Err(fault), Exit::Failed),
    }
}

/// The error that ends a tour.
enum DemoError {
    Axd(ClientError),
    Printing(std::io::Error),
}

impl From<ClientError> for DemoError {
    fn from(fault: ClientError) -> DemoError {
        DemoError::Axd(fault)
    }
}

impl From<std::io::Error> for DemoError {
    fn from(fault: std::io::Error) -> DemoError {
        DemoError::Printing(fault)
    }
}

fn tour(daemon: &DemoDaemon) -> Result<(), DemoError> {
    let mut guide = Guide::new(connect_or_start(&daemon.socket, &daemon.start)?);
    guide.say("A tour on the built-in desktop, with its own daemon. Which apps are running?")?;
    guide.run(&["list-apps"])?;
    guide.say(
        "The first command for an app reads its tree once. After that, reads are answered from memory.",
    )?;
    let snapshot = ["snapshot", "--app", "Calculator"];
    guide.run(&snapshot)?;
    guide.timed("snapshot again", &snapshot, RequestOptions::text())?;
    let find = ["find", "button:7", "--app", "Calculator", "--first"];
    guide.run(&find)?;
    let found = guide.timed("find as JSON", &find, RequestOptions::default())?;
    let clock =
        found.clock.ok_or_else(|| ClientError::Protocol("an answer without a clock".into()))?.to_string();
    let button =
        found.data::<FindAnswer>()?.matches.into_iter().next().map(|found| found.node.id.to_string());

    guide.say("Watch it while a key is pressed. The daemon sends changes as they happen:")?;
    guide.show("ax watch --app Calculator &")?;
    let events = watch_in_background(&daemon.socket)?;
    guide.print_events(&events)?;
    guide.run(&["sim", "Calculator", "press", "seven"])?;
    guide.print_events(&events)?;

    guide.say("Without a watch, ask what changed since a clock (every answer has one):")?;
    guide.run(&["changes", "--since", &clock, "--app", "Calculator"])?;
    guide.say("Ids stay valid, across changes and restarts:")?;
    guide.run(&["get", button.as_deref().unwrap_or("button:7"), "--app", "Calculator"])?;
    guide.run(&["status"])?;
    guide.print_times()?;
    Ok(())
}

/// Runs commands and prints them with their output.
struct Guide {
    connection: Connection,
    colour: bool,
    /// The commands with their times, from sending the request to receiving the answer.
    took: Vec<(String, Duration)>,
}

impl Guide {
    fn new(connection: Connection) -> Guide {
        Guide { connection, colour: colours(), took: Vec::new() }
    }

    fn say(&self, text: &str) -> Result<(), DemoError> {
        let (dim, plain) = if self.colour { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
        Ok(Stdout.write_all(format!("\n{dim}# {text}{plain}\n").as_bytes())?)
    }

    fn show(&self, command: &str) -> Result<(), DemoError> {
        let (bold, plain) = if self.colour { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
        Ok(Stdout.write_all(format!("{bold}$ {command}{plain}\n").as_bytes())?)
    }

    fn run(&mut self, args: &[&str]) -> Result<Reply, DemoError> {
        self.show(&format!("ax {}", args.join(" ")))?;
        let reply = self.timed(args[0], args, RequestOptions::text())?;
        let text = reply.text.as_deref().unwrap_or_default();
        Stdout.write_all(format!("{}\n", text.trim_end()).as_bytes())?;
        Ok(reply)
    }

    fn timed(&mut self, label: &str, args: &[&str], options: RequestOptions) -> Result<Reply, ClientError> {
        let command = wire_command(args)?;
        let began = Instant::now();
        let reply = self.connection.request(&command, options)?;
        self.took.push((label.to_owned(), began.elapsed()));
        Ok(reply)
    }

    /// Prints the events of the watch: waits for the first one, and prints those that arrived with it.
    fn print_events(&self, events: &Receiver<String>) -> Result<(), DemoError> {
        let Ok(first) = events.recv_timeout(EVENT_TIMEOUT) else {
            return self.say("(no event was received)");
        };
        Stdout.write_all(first.as_bytes())?;
        for more in events.try_iter() {
            Stdout.write_all(more.as_bytes())?;
        }
        Ok(())
    }

    fn print_times(&self) -> Result<(), DemoError> {
        self.say("Round-trip time of each answer over the socket:")?;
        let times: Vec<String> =
            self.took.iter().map(|(label, took)| format!("{label} {} µs", took.as_micros())).collect();
        Stdout.write_all(format!("{}\n", times.join(" · ")).as_bytes())?;
        self.say(
            "End of the tour: the daemon stops and its folder is removed. On your own desktop: ax snapshot",
        )
    }
}

/// The command for these arguments.
fn wire_command(args: &[&str]) -> Result<Command, ClientError> {
    let words: Vec<_> = args.iter().map(Into::into).collect();
    if let Parsed::Run(invocation, _) = parse::parse(&words)
        && let Invocation::Wire(command) = *invocation
    {
        return Ok(*command);
    }
    Err(ClientError::Protocol(format!("invalid command in the tour: {}", args.join(" "))))
}

/// Subscribes on a separate connection; the receiver gets the lines of each event as one string.
fn watch_in_background(socket: &Path) -> Result<Receiver<String>, ClientError> {
    let Command::Subscribe(mut what) = wire_command(&["watch", "--app", "Calculator"])? else {
        return Err(ClientError::Protocol("watch is not a subscription".into()));
    };
    what.snapshot = true;
    let subscription = Connection::open(socket)?.subscribe(what)?;
    let (sender, lines) = mpsc::channel();
    let mut formatter = EventFormatter::new(colours());
    std::thread::Builder::new().name("watch".into()).spawn(move || {
        for push in subscription.map_while(Result::ok) {
            if sender.send(formatter.format(push, &time_of_day())).is_err() {
                break;
            }
        }
    })?;
    Ok(lines)
}

/// The daemon of the tour and its folder. It is closed when the tour ends, fails or is interrupted.
#[derive(Clone)]
struct DemoDaemon {
    folder: PathBuf,
    socket: PathBuf,
    start: DaemonStart,
    /// Makes sure that it is closed once, and that a second caller waits until that is done.
    closed: Arc<Once>,
    interrupted: Arc<AtomicBool>,
}

impl DemoDaemon {
    fn open() -> Result<DemoDaemon, DemoError> {
        let Some(binary) = find_daemon() else {
            return Err(ClientError::StartFailed {
                tried: PathBuf::new(),
                code: None,
                message: "axd not found beside ax or on the PATH. Build it with `cargo build --release -p axd`, or set AXD_BIN=/path/to/axd"
                    .into(),
            }
            .into());
        };
        let folder = std::env::temp_dir().join(format!("axd-demo-{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&folder)?;
        // What the user's policy denies would end the tour.
        let config = folder.join("policy.toml");
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&config)?;
        file.write_all(b"# The built-in rules.\n")?;
        let start = DaemonStart {
            timeout: None,
            binary: Some(binary),
            platform: Some("sim".into()),
            state: Some(folder.join("state")),
            config: Some(config),
            idle_exit_s: Some(IDLE_EXIT_S),
            on_message: None,
        };
        let socket = folder.join("axd.sock");
        let daemon =
            DemoDaemon { folder, socket, start, closed: Arc::new(Once::new()), interrupted: Arc::default() };
        daemon.close_on_signal()?;
        Ok(daemon)
    }

    fn close_on_signal(&self) -> std::io::Result<()> {
        let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().collect();
        signals.thread_block()?;
        let daemon = self.clone();
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            if let Ok(signal) = signals.wait() {
                daemon.interrupted.store(true, Ordering::SeqCst);
                daemon.close();
                std::process::exit(128 + signal as i32);
            }
        })?;
        Ok(())
    }

    fn close(&self) {
        self.closed.call_once(|| {
            // There may be no daemon to stop, if it did not start or died; the tour has reported that.
            let _ = axd_client::stop(&self.socket);
            if let Err(fault) = std::fs::remove_dir_all(&self.folder) {
                eprintln!("could not remove {}: {fault}", self.folder.display());
            }
        });
    }

    /// Waits for the signal thread to exit, if the tour was interrupted. The tour then fails because its daemon is stopped, which
    /// must not be reported.
    fn wait_if_interrupted(&self) {
        while self.interrupted.load(Ordering::SeqCst) {
            std::thread::park();
        }
    }
}
