//! What a soak stands on: a daemon, its apps, what is known of them, and the faults that are done to them.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::book::{Book, Wrong};
use super::wire::{Line, Wire};
use crate::workspace;

/// How long an answer may take beyond its deadline before it counts as one that never came.
const NEVER: Duration = Duration::from_secs(30);

/// An app of the built-in desktop with widgets that stay, and a list that comes and goes.
pub fn script(name: &str) -> String {
    let mut children = String::new();
    let mut rules = String::new();
    for n in 0..8 {
        children += &format!("  {{ role = \"button\", id = \"b{n}\", name = \"B{n}\" }},\n");
        let churn = match n % 2 {
            0 => "{ add = \"item\", into = \"list\" }",
            _ => "{ remove = \"last:list\" }",
        };
        rules +=
            &format!("[[rule]]\non = \"press:b{n}\"\ndo = [{{ increase = \"count\", by = 1 }}, {churn}]\n");
    }
    for n in 0..4 {
        children += &format!("  {{ role = \"checkbox\", id = \"c{n}\", name = \"C{n}\" }},\n");
        children += &format!("  {{ role = \"textfield\", id = \"f{n}\", name = \"F{n}\", value = \"\" }},\n");
    }
    format!(
        "name = \"{name}\"\nidentity = \"soak.{name}\"\n[[window]]\nid = \"main\"\ntitle = \"{name}\"\nchildren = [\n{children}\
         \u{20} {{ role = \"textfield\", id = \"count\", name = \"Count\", value = \"0\" }},\n\
         \u{20} {{ role = \"list\", id = \"list\", name = \"Items\", items = [\"First\", \"Second\", \"Third\"] }},\n]\n\
         [template.item]\nrole = \"listitem\"\nid = \"item-{{n}}\"\nname = \"Item {{n}}\"\n{rules}"
    )
}

/// The elements that live as long as their app, by selector.
fn witnesses(kind: Kind) -> Vec<String> {
    let mut all: Vec<String> = match kind {
        Kind::Storm => return vec!["button:Press".into()],
        Kind::Record | Kind::Sim => (0..8).map(|n| format!("button:B{n}")).collect(),
    };
    all.extend((0..4).flat_map(|n| [format!("checkbox:C{n}"), format!("textfield:F{n}")]));
    all
}

/// What an app is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Of the built-in desktop.
    Sim,
    /// `record.py`, which writes down what it got.
    Record,
    /// An app that storms when it is told to.
    Storm,
}

/// An app that is soaked.
#[derive(Debug)]
pub struct App {
    /// What it is called here.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Elements that live as long as it, by selector.
    pub witnesses: Vec<String>,
    command: Vec<String>,
    record: Option<PathBuf>,
    child: Mutex<Option<Child>>,
    pid: AtomicU32,
    /// Even while it is up; it goes up by two with each restart.
    generation: AtomicU64,
    /// Clicks that were answered with yes, and those whose outcome nobody knows.
    pub clicked: AtomicU64,
    /// See `clicked`.
    pub uncertain: AtomicU64,
    kills: AtomicU64,
    /// The id of each witness, and the generation it was seen in.
    ids: Mutex<HashMap<String, (String, u64)>>,
}

impl App {
    fn new(name: &str, kind: Kind, command: Vec<String>, record: Option<PathBuf>) -> App {
        App {
            name: name.to_owned(),
            kind,
            witnesses: witnesses(kind),
            command,
            record,
            child: Mutex::new(None),
            pid: AtomicU32::new(0),
            generation: AtomicU64::new(0),
            clicked: AtomicU64::new(0),
            uncertain: AtomicU64::new(0),
            kills: AtomicU64::new(0),
            ids: Mutex::new(HashMap::new()),
        }
    }

    /// What a request calls it.
    pub fn spec(&self) -> String {
        match self.kind {
            Kind::Sim => self.name.clone(),
            _ => self.pid.load(Relaxed).to_string(),
        }
    }

    /// Its process, where it has one of its own.
    pub fn pid(&self) -> u32 {
        self.pid.load(Relaxed)
    }

    /// Which run of it this is, if it is up.
    pub fn generation(&self) -> Option<u64> {
        Some(self.generation.load(Relaxed)).filter(|number| number % 2 == 0)
    }

    /// The id that a witness is known by.
    pub fn id_of(&self, witness: &str) -> Option<String> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).get(witness).map(|(id, _)| id.clone())
    }

    /// A witness was seen with this id, in a run that was the same before and after.
    pub fn saw(&self, book: &Book, witness: &str, id: &str, generation: u64) {
        Book::add(&book.ids_checked);
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        match ids.insert(witness.to_owned(), (id.to_owned(), generation)) {
            Some((known, when)) if known != id => {
                let wrong = if when == generation { Wrong::IdDied } else { Wrong::IdNotKept };
                book.wrong(wrong, || format!("{} {witness} was {known}, is {id}", self.name));
            }
            _ => {}
        }
    }

    fn start(&self) {
        if self.command.is_empty() {
            return;
        }
        let mut child = Command::new(&self.command[0])
            .args(&self.command[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the app can be started");
        self.pid.store(child.id(), Relaxed);
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut ready = String::new();
        let _ = lines.read_line(&mut ready);
        assert!(ready.starts_with("ready"), "{:?} said {ready:?}", self.command);
        // What it says later is read, so that it never waits for a full pipe.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        *self.child.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
    }

    fn signal(&self, signal: Signal) {
        let _ = kill(Pid::from_raw(self.pid() as i32), signal);
    }

    fn end(&self) {
        if let Some(mut child) = self.child.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// How often its buttons were clicked, by its own record.
    fn recorded(&self, wire: &mut Wire) -> Option<u64> {
        if let Some(record) = &self.record {
            let text = std::fs::read_to_string(record).ok()?;
            return Some(text.lines().filter(|line| line.starts_with("click ")).count() as u64);
        }
        if self.kind != Kind::Sim {
            return None;
        }
        let args = json!({ "app": self.name, "sync": true, "max_nodes": 0 });
        let answer = ask_of(wire, "snapshot", args)?;
        let found = find(&answer["data"]["tree"], "count")?;
        found["value"].as_str()?.parse().ok()
    }
}

fn find<'a>(node: &'a Value, identifier: &str) -> Option<&'a Value> {
    if node["identifier"] == identifier {
        return Some(node);
    }
    node["children"].as_array()?.iter().find_map(|child| find(child, identifier))
}

fn ask_of(wire: &mut Wire, command: &str, args: Value) -> Option<Value> {
    wire.begin(command, args, 20_000)?;
    match wire.line(NEVER) {
        Line::Text(line) => serde_json::from_slice(&line).ok(),
        _ => None,
    }
}

/// A daemon that is soaked.
#[derive(Debug)]
pub struct Ground {
    /// What it is called in the tables.
    pub name: &'static str,
    /// Its apps.
    pub apps: Vec<App>,
    /// Where it listens.
    pub socket: PathBuf,
    /// What is counted.
    pub book: Book,
    /// Set when the soak is over.
    pub stop: AtomicBool,
    child: Mutex<Child>,
    folder: tempfile::TempDir,
}

impl Ground {
    /// A daemon on the built-in desktop. Nobody restarts or hangs `Tally`, so that its clicks can be counted.
    pub fn sim(axd: &Path) -> Ground {
        let apps = ["Left", "Right", "Tally"].map(|name| App::new(name, Kind::Sim, Vec::new(), None));
        Ground::start("sim", axd, apps.into())
    }

    /// A daemon on the desktop that this process is in, with apps of three toolkits.
    pub fn linux(axd: &Path) -> Ground {
        let folder = workspace().join("tests/desktop/apps");
        let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
        let mut apps = Vec::new();
        for kit in ["gtk3", "gtk4", "qt6"] {
            let (title, record) = (format!("Record {kit}"), home.join(format!("{kit}.record")));
            let words = vec![path("record.py"), kit.into(), title, record.to_string_lossy().into_owned()];
            apps.push(App::new(&format!("record-{kit}"), Kind::Record, words, Some(record)));
            let words = vec![
                path(&format!("{kit}.py")),
                "--steps".into(),
                "60".into(),
                "--pace-ms".into(),
                "20".into(),
            ];
            apps.push(App::new(&format!("storm-{kit}"), Kind::Storm, words, None));
        }
        Ground::start("linux", axd, apps)
    }

    fn start(name: &'static str, axd: &Path, apps: Vec<App>) -> Ground {
        let folder = crate::folder();
        let scripts = folder.path().join("apps");
        std::fs::create_dir_all(&scripts).expect("a folder for the apps");
        for app in apps.iter().filter(|app| app.kind == Kind::Sim) {
            std::fs::write(scripts.join(format!("{}.toml", app.name)), script(&app.name))
                .expect("a script can be written");
        }
        let socket = folder.path().join("axd.sock");
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" --ready-fd 9 9>&1 >/dev/null"#])
            .arg(axd)
            .args(["--platform", name, "--log-level", "warn", "--socket"])
            .arg(&socket)
            .arg("--state")
            .arg(folder.path().join("state"))
            .env("AXD_SIM_APPS", &scripts)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the daemon can be started");
        let mut ready = String::new();
        let _ = BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut ready);
        assert!(ready.starts_with("ready"), "{}: {ready}", axd.display());
        let ground = Ground {
            name,
            apps,
            socket,
            book: Book::default(),
            stop: AtomicBool::new(false),
            child: Mutex::new(child),
            folder,
        };
        for app in &ground.apps {
            app.start();
            assert!(ground.is_known(app), "{} does not come up", app.name);
        }
        ground
    }

    /// The daemon's process.
    pub fn pid(&self) -> u32 {
        self.child.lock().unwrap_or_else(PoisonError::into_inner).id()
    }

    /// Whether the daemon has ended, which it must not.
    pub fn has_ended(&self) -> bool {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        !matches!(child.try_wait(), Ok(None))
    }

    /// The end of the daemon's log.
    pub fn log(&self) -> String {
        let mut all = Vec::new();
        for entry in std::fs::read_dir(self.folder.path().join("state")).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().contains("log") {
                all.extend(std::fs::read(entry.path()).unwrap_or_default());
            }
        }
        String::from_utf8_lossy(&all[all.len().saturating_sub(2_000)..]).into_owned()
    }

    /// Whether the soak is over.
    pub fn is_over(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// A new connection; `None` counts as one that the daemon refused.
    pub fn connect(&self) -> Option<Wire> {
        let wire = Wire::connect(&self.socket);
        if let Err(fault) = &wire {
            self.book.wrong(Wrong::Closed, || format!("connecting: {fault}"));
        }
        wire.ok()
    }

    /// Asks and waits for the answer, past events; counts what came of it. `None` if the connection is of no more use.
    pub fn ask(&self, wire: &mut Wire, kind: &'static str, command: &str, args: Value) -> Option<Value> {
        let began = Instant::now();
        let told = format!("{command} {args}");
        let Some(id) = wire.begin(command, args, 10_000) else {
            self.book.wrong(Wrong::Closed, || told);
            return None;
        };
        loop {
            match wire.line(NEVER) {
                Line::Text(line) => match self.read(&line) {
                    Some(answer) if answer["id"] == id => {
                        self.book.answered(kind, began.elapsed());
                        self.note_error(&answer, &told);
                        return Some(answer);
                    }
                    _ => {}
                },
                Line::Late => {
                    self.book.wrong(Wrong::Unanswered, || told);
                    return None;
                }
                Line::Closed => {
                    self.book.wrong(Wrong::Closed, || told);
                    return None;
                }
            }
        }
    }

    /// A line as JSON; one that is none is counted.
    pub fn read(&self, line: &[u8]) -> Option<Value> {
        let read = serde_json::from_slice(line);
        if read.is_err() {
            self.book.wrong(Wrong::Internal, || {
                String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned()
            });
        }
        read.ok()
    }

    /// Counts the code of an answer that has one.
    pub fn note_error(&self, answer: &Value, told: &str) {
        if let Some(code) = answer["error"]["code"].as_str() {
            self.book.error(code);
            if code == "INTERNAL" {
                self.book.wrong(Wrong::Internal, || format!("{told}: {}", answer["error"]));
            }
        }
    }

    /// Waits until the daemon shows the witnesses of an app.
    fn is_known(&self, app: &App) -> bool {
        let Ok(mut wire) = Wire::connect(&self.socket) else { return false };
        let end = Instant::now() + Duration::from_secs(60);
        while Instant::now() < end {
            let args = json!({ "for": app.witnesses, "app": app.spec(), "timeout": 15_000 });
            match ask_of(&mut wire, "wait", args) {
                Some(answer) if answer["ok"] == true => return true,
                Some(_) => {
                    // The app is not on the bus yet: its coming is an event.
                    let came = json!({ "event": ["app-launched"], "timeout": 500 });
                    if ask_of(&mut wire, "wait", came).is_none() {
                        return false;
                    }
                }
                None => return false,
            }
        }
        false
    }

    /// Ends an app without a word, and starts it again.
    pub fn restart(&self, app: &App) {
        app.generation.fetch_add(1, Relaxed);
        app.kills.fetch_add(1, Relaxed);
        if app.kind == Kind::Sim {
            if let Ok(mut wire) = Wire::connect(&self.socket) {
                ask_of(&mut wire, "sim", json!({ "app": app.name, "verb": "restart" }));
            }
        } else {
            app.end();
            app.start();
        }
        if !self.is_known(app) && !self.has_ended() {
            self.book.wrong(Wrong::Missed, || format!("{} was started again and is not known", app.name));
        }
        app.generation.fetch_add(1, Relaxed);
    }

    /// Stops an app in its tracks for a while, and lets it go on.
    pub fn hang(&self, app: &App, time: Duration) {
        let wire = Wire::connect(&self.socket).ok();
        let sim =
            |wire: &mut Option<Wire>, args: Value| wire.as_mut().and_then(|wire| ask_of(wire, "sim", args));
        let mut wire = wire;
        if app.kind == Kind::Sim {
            sim(&mut wire, json!({ "app": app.name, "verb": "fault", "target": "hang" }));
        } else {
            app.signal(Signal::SIGSTOP);
        }
        self.pause(time);
        if app.kind == Kind::Sim {
            sim(&mut wire, json!({ "app": app.name, "verb": "heal" }));
        } else {
            app.signal(Signal::SIGCONT);
        }
    }

    /// Has an app change much in a short time.
    pub fn flood(&self, app: &App) {
        match app.kind {
            Kind::Storm => app.signal(Signal::SIGUSR1),
            Kind::Sim => {
                if let Ok(mut wire) = Wire::connect(&self.socket) {
                    let args =
                        json!({ "app": app.name, "verb": "fault", "target": "flood", "text": "f0 300" });
                    ask_of(&mut wire, "sim", args);
                }
            }
            Kind::Record => {}
        }
    }

    /// Lets time pass, or the end of the soak come. This paces the load; nothing is waited for with it.
    pub fn pause(&self, time: Duration) {
        let end = Instant::now() + time;
        while !self.is_over() && Instant::now() < end {
            std::thread::park_timeout(
                end.saturating_duration_since(Instant::now()).min(Duration::from_millis(200)),
            );
        }
    }

    /// Holds what the answers said of clicks against what the apps got.
    pub fn settle_accounts(&self) {
        let Some(mut wire) = self.connect() else { return };
        for app in self.apps.iter().filter(|app| app.kind == Kind::Record || app.name == "Tally") {
            let (clicked, uncertain) = (app.clicked.load(Relaxed), app.uncertain.load(Relaxed));
            // An app that is killed may have said yes to a click that it had not carried out yet.
            let lost = app.kills.load(Relaxed);
            let Some(got) = app.recorded(&mut wire) else {
                self.book.wrong(Wrong::Miscounted, || format!("{} does not say what it got", app.name));
                continue;
            };
            if got + lost < clicked || got > clicked + uncertain {
                self.book.wrong(Wrong::Miscounted, || {
                    format!(
                        "{}: {clicked} clicks were answered with yes, {uncertain} are in doubt, it got {got}",
                        app.name
                    )
                });
            }
        }
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        self.apps.iter().for_each(App::end);
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = child.kill();
        let _ = child.wait();
    }
}
