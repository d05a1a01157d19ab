//! `ax demo`: a tour on the built-in desktop. Everything shown is run as it is shown, by a daemon of its own.

use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use axd_client::protocol::Command;
use axd_client::protocol::command::{FindAnswer, Invocation};
use axd_client::{Ask, ClientError, Connection, DaemonStart, Reply, connect_or_start, find_daemon};
use nix::sys::signal::{SigSet, Signal};

use super::Exit;
use super::narrate::Narrator;
use super::output::{self, Mode, Stdout, finish};
use super::parse::{self, Parsed};
use super::watch::{colours, time_of_day};

/// How long a change may take to be told before the tour gives up on it.
const PATIENCE: Duration = Duration::from_secs(5);
/// Should `ax` be killed without a chance to clean up, its daemon goes by itself after so many seconds.
const IDLE_EXIT_S: u64 = 30;

/// Gives the tour.
pub fn run(mode: Mode) -> Exit {
    let toured = Stage::open().and_then(|stage| {
        let toured = tour(&stage);
        stage.close();
        stage.leave_the_end_to_an_interrupt();
        toured
    });
    match toured {
        Ok(()) => Exit::Done,
        Err(Trouble::Axd(fault)) => output::failure("demo", &fault, mode),
        Err(Trouble::Printing(fault)) => finish(Err(fault), Exit::Failed),
    }
}

/// Why a tour ends early.
enum Trouble {
    Axd(ClientError),
    Printing(std::io::Error),
}

impl From<ClientError> for Trouble {
    fn from(fault: ClientError) -> Trouble {
        Trouble::Axd(fault)
    }
}

impl From<std::io::Error> for Trouble {
    fn from(fault: std::io::Error) -> Trouble {
        Trouble::Printing(fault)
    }
}

fn tour(stage: &Stage) -> Result<(), Trouble> {
    let mut guide = Guide::new(connect_or_start(&stage.socket, &stage.start)?);
    guide.say("A tour on the built-in desktop, with a daemon of its own. What is running?")?;
    guide.run(&["list-apps"])?;
    guide
        .say("The first look at an app reads its tree once. From then on looks are answered from memory.")?;
    let snapshot = ["snapshot", "--app", "Calculator"];
    guide.run(&snapshot)?;
    guide.timed("snapshot again", &snapshot, Ask::text())?;
    let find = ["find", "button:7", "--app", "Calculator", "--first"];
    guide.run(&find)?;
    let found = guide.timed("find as JSON", &find, Ask::default())?;
    let clock =
        found.clock.ok_or_else(|| ClientError::Protocol("an answer without a clock".into()))?.to_string();
    let button =
        found.data::<FindAnswer>()?.matches.into_iter().next().map(|found| found.node.id.to_string());

    guide.say("Watch it while somebody presses a key. The daemon pushes what changes, as it changes:")?;
    guide.show("ax watch --app Calculator &")?;
    let told = watch_in_background(&stage.socket)?;
    guide.heard(&told)?;
    guide.run(&["sim", "Calculator", "press", "seven"])?;
    guide.heard(&told)?;

    guide.say("Whoever did not watch asks what happened since a clock (every answer carries one):")?;
    guide.run(&["changes", "--since", &clock, "--app", "Calculator"])?;
    guide.say("Ids stay valid, across changes and restarts:")?;
    guide.run(&["get", button.as_deref().unwrap_or("button:7"), "--app", "Calculator"])?;
    guide.run(&["status"])?;
    guide.sum_up()?;
    Ok(())
}

/// Runs commands and prints them with their output.
struct Guide {
    connection: Connection,
    colour: bool,
    /// What was asked and how long the answer took, from the request's first byte to the answer's last.
    took: Vec<(String, Duration)>,
}

impl Guide {
    fn new(connection: Connection) -> Guide {
        Guide { connection, colour: colours(), took: Vec::new() }
    }

    fn say(&self, text: &str) -> Result<(), Trouble> {
        let (dim, plain) = if self.colour { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
        Ok(Stdout.write_all(format!("\n{dim}# {text}{plain}\n").as_bytes())?)
    }

    fn show(&self, command: &str) -> Result<(), Trouble> {
        let (bold, plain) = if self.colour { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
        Ok(Stdout.write_all(format!("{bold}$ {command}{plain}\n").as_bytes())?)
    }

    fn run(&mut self, args: &[&str]) -> Result<Reply, Trouble> {
        self.show(&format!("ax {}", args.join(" ")))?;
        let reply = self.timed(args[0], args, Ask::text())?;
        let text = reply.text.as_deref().unwrap_or_default();
        Stdout.write_all(format!("{}\n", text.trim_end()).as_bytes())?;
        Ok(reply)
    }

    fn timed(&mut self, label: &str, args: &[&str], ask: Ask) -> Result<Reply, ClientError> {
        let command = wire_command(args)?;
        let began = Instant::now();
        let reply = self.connection.request(&command, ask)?;
        self.took.push((label.to_owned(), began.elapsed()));
        Ok(reply)
    }

    /// Prints what the watch heard: waits for the first line, then takes what came with it.
    fn heard(&self, told: &Receiver<String>) -> Result<(), Trouble> {
        let Ok(first) = told.recv_timeout(PATIENCE) else {
            return self.say("(nothing was heard; the app kept silent)");
        };
        Stdout.write_all(first.as_bytes())?;
        for more in told.try_iter() {
            Stdout.write_all(more.as_bytes())?;
        }
        Ok(())
    }

    fn sum_up(&self) -> Result<(), Trouble> {
        self.say("How long each answer took, there and back over the socket:")?;
        let times: Vec<String> =
            self.took.iter().map(|(label, took)| format!("{label} {} µs", took.as_micros())).collect();
        Stdout.write_all(format!("{}\n", times.join(" · ")).as_bytes())?;
        self.say("That was it: the daemon stops and its folder goes. On your own desktop: ax snapshot")
    }
}

/// What `ax` would send for these args.
fn wire_command(args: &[&str]) -> Result<Command, ClientError> {
    let words: Vec<_> = args.iter().map(Into::into).collect();
    if let Parsed::Run(invocation, _) = parse::parse(&words)
        && let Invocation::Wire(command) = *invocation
    {
        return Ok(*command);
    }
    Err(ClientError::Protocol(format!("the tour says what ax does not understand: {}", args.join(" "))))
}

/// Subscribes on a connection of its own; each event's lines come as one string.
fn watch_in_background(socket: &Path) -> Result<Receiver<String>, ClientError> {
    let Command::Subscribe(mut what) = wire_command(&["watch", "--app", "Calculator"])? else {
        return Err(ClientError::Protocol("watch is not a subscription".into()));
    };
    what.snapshot = true;
    let subscription = Connection::open(socket)?.subscribe(what)?;
    let (tell, told) = mpsc::channel();
    let mut narrator = Narrator::new(colours());
    std::thread::Builder::new().name("watch".into()).spawn(move || {
        for push in subscription.map_while(Result::ok) {
            if tell.send(narrator.tell(push, &time_of_day())).is_err() {
                break;
            }
        }
    })?;
    Ok(told)
}

/// The folder and the daemon of the tour. Closed when the tour is over, fails or is interrupted.
#[derive(Clone)]
struct Stage {
    folder: PathBuf,
    socket: PathBuf,
    start: DaemonStart,
    /// So that whoever comes second waits until the first has finished.
    closed: Arc<Once>,
    interrupted: Arc<AtomicBool>,
}

impl Stage {
    fn open() -> Result<Stage, Trouble> {
        let Some(binary) = find_daemon() else {
            return Err(ClientError::StartFailed {
                tried: PathBuf::new(),
                code: None,
                message: "there is no axd beside ax nor on the PATH. Build it with `cargo build --release -p axd`, or \
                          name it with AXD_BIN=/path/to/axd"
                    .into(),
            }
            .into());
        };
        let folder = std::env::temp_dir().join(format!("axd-demo-{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&folder)?;
        let start = DaemonStart {
            binary: Some(binary),
            platform: Some("sim".into()),
            state: Some(folder.join("state")),
            idle_exit_s: Some(IDLE_EXIT_S),
            tell: None,
        };
        let socket = folder.join("axd.sock");
        let stage =
            Stage { folder, socket, start, closed: Arc::new(Once::new()), interrupted: Arc::default() };
        stage.close_on_signal()?;
        Ok(stage)
    }

    fn close_on_signal(&self) -> std::io::Result<()> {
        let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().collect();
        signals.thread_block()?;
        let stage = self.clone();
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            if let Ok(signal) = signals.wait() {
                stage.interrupted.store(true, Ordering::SeqCst);
                stage.close();
                std::process::exit(128 + signal as i32);
            }
        })?;
        Ok(())
    }

    fn close(&self) {
        self.closed.call_once(|| {
            // There may be no daemon to stop: it did not start, or it died, and the tour said so.
            let _ = axd_client::stop(&self.socket);
            if let Err(fault) = std::fs::remove_dir_all(&self.folder) {
                eprintln!("could not remove {}: {fault}", self.folder.display());
            }
        });
    }

    /// An interrupted tour fails, because its daemon is stopped; but that is no news, and the exit code is the signal's.
    fn leave_the_end_to_an_interrupt(&self) {
        while self.interrupted.load(Ordering::SeqCst) {
            std::thread::park();
        }
    }
}
