//! A stage: a daemon of a test's own, and a fresh app with the same widgets by the same names, in whichever toolkit
//! `AXD_STAGE` says. A test that is written for the stage runs on all of them.
//!
//! The real toolkits need a desktop around the tests (`tests/desktop/acting` makes one), and it to themselves: there is one
//! pointer and one keyboard.

mod hands;
mod kit;

use std::process::{Child, Command, Stdio};
use std::time::Instant;

use axd_protocol::{Node, Replica};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

pub use kit::{Deed, Kit, Way};

use crate::{Daemon, PATIENCE, Raw, Setup, lines, workspace};

/// The app of the built-in desktop.
pub const SIM_APP: &str = include_str!("stage.toml");

/// A daemon, an app, and a client.
#[derive(Debug)]
pub struct Stage {
    /// What the app is made with.
    pub kit: Kit,
    /// The client that the shorthands use.
    pub client: Raw,
    /// The app, as `--app` takes it.
    pub app: String,
    /// The daemon.
    pub daemon: Daemon,
    actor: Option<Actor>,
}

/// The app's process, on a real desktop.
#[derive(Debug)]
struct Actor(Child);

impl Stage {
    /// A fresh app, attached.
    pub fn start() -> Stage {
        let kit = Kit::chosen();
        let (daemon, actor) = match kit {
            Kit::Sim => (Setup::new().app(SIM_APP).start(), None),
            Kit::Double => (Setup::new().app(SIM_APP).platform("macos").start(), None),
            kit => {
                let daemon =
                    Setup::new().platform(if kit == Kit::Appkit { "macos" } else { "linux" }).start();
                let actor = Actor::enter(kit, &daemon);
                (daemon, Some(actor))
            }
        };
        let mut client = daemon.client();
        client.ok("wait", json!({ "window": kit.title(), "timeout": 30_000 }));
        let windows = client.data("list-windows", json!({ "filter": kit.title() }));
        let app = windows["windows"][0]["pid"].to_string();
        client.ok("wait", json!({ "for": [kit.selector("Press")], "app": app, "timeout": 30_000 }));
        let mut stage = Stage { kit, client, app, daemon, actor };
        stage.focus_window();
        stage
    }

    /// A second client.
    pub fn another(&self) -> Raw {
        self.daemon.client()
    }

    /// The selector of a widget.
    pub fn the(&self, widget: &str) -> &'static str {
        self.kit.selector(widget)
    }

    /// The selector of a row of the list by its number, as `:nth` counts; of all of them without.
    pub fn row(&self, number: impl Into<Option<usize>>) -> String {
        self.kit.row(&number.into().map(|number| format!(":nth({number})")).unwrap_or_default())
    }

    /// Args about the app.
    pub fn args(&self, mut args: Value) -> Value {
        args["app"] = json!(self.app);
        args
    }

    /// Args about a widget of the app.
    pub fn on(&self, widget: &str) -> Value {
        self.args(json!({ "target": self.the(widget) }))
    }

    /// Args about a widget of the app, and more.
    pub fn on_with(&self, widget: &str, more: Value) -> Value {
        let mut args = self.on(widget);
        for (name, value) in more.as_object().expect("args") {
            args[name] = value.clone();
        }
        args
    }

    /// Does something that succeeds; what came of it.
    pub fn act(&mut self, command: &str, args: Value) -> Value {
        self.client.data(command, args)
    }

    /// Does something that toolkits do in different ways: fails unless it is done the way this one does it. `None` if that
    /// is not at all.
    pub fn does(&mut self, deed: Deed, command: &str, args: Value) -> Option<Value> {
        let (semantic, input) = self.kit.methods();
        let (route, method) = match self.kit.way(deed) {
            Way::App => ("semantic", semantic),
            Way::Input => ("input", input),
            Way::Not(code) => {
                let error = self.client.fails(code, command, args);
                assert_eq!(error["disposition"]["retry"], "safe", "{error}");
                return None;
            }
            Way::InVain(code) => {
                let error = self.client.fails(code, command, args);
                assert_eq!(error["disposition"]["retry"], "unsafe", "{error}");
                return None;
            }
        };
        let done = self.act(command, args);
        assert_eq!((&done["route"], &done["method"]), (&json!(route), &json!(method)), "{done}");
        assert_eq!(done["disposition"]["retry"], "unsafe", "{done}");
        Some(done)
    }

    /// Asks for something that fails with this code; the error.
    pub fn fails(&mut self, code: &str, command: &str, args: Value) -> Value {
        self.client.fails(code, command, args)
    }

    /// Waits until something is so; fails if it does not come to be.
    pub fn wait(&mut self, mut condition: Value) -> Value {
        condition["timeout"] = json!(15_000);
        let args = self.args(condition);
        self.client.data("wait", args)
    }

    /// Waits until a widget holds this.
    pub fn holds(&mut self, widget: &str, value: &str) {
        let target = self.the(widget);
        if value.is_empty() {
            // An empty field holds nothing in some toolkits and an empty text in others.
            self.wait(json!({ "gone": [format!("{target}[value=~\".\"]")] }));
        } else {
            self.wait(json!({ "target": target, "value": value }));
        }
    }

    /// Waits until a widget has a state, or has it not.
    pub fn is(&mut self, widget: &str, state: &str) {
        let target = self.the(widget);
        self.wait(json!({ "target": target, "state": state }));
    }

    /// Waits until Press was pressed so often, and fails if it was pressed more often.
    pub fn counts(&mut self, number: u32) {
        self.wait(json!({ "for": [format!("text:\"count {number}\"")] }));
        self.tree();
        assert_eq!(self.count(), number);
    }

    /// How often Press was pressed, as far as is known.
    pub fn count(&mut self) -> u32 {
        let name = self.get("Count")["name"].as_str().map(str::to_owned);
        let number = name.as_deref().and_then(|name| name.strip_prefix("count ")?.parse().ok());
        number.unwrap_or_else(|| panic!("{name:?}"))
    }

    /// A widget, as it is known.
    pub fn get(&mut self, widget: &str) -> Value {
        let args = self.on(widget);
        self.client.data("get", args)["node"].take()
    }

    /// Where a widget is.
    pub fn bounds(&mut self, widget: &str) -> [i64; 4] {
        let args = self.on_with(widget, json!({ "property": ["bounds"] }));
        let began = Instant::now();
        loop {
            let node = self.client.data("get", args.clone());
            let bounds = &node["node"]["bounds"];
            let parts = ["x", "y", "width", "height"].map(|part| bounds[part].as_i64());
            if let [Some(x), Some(y), Some(width), Some(height)] = parts {
                return [x, y, width, height];
            }
            // A busy machine does not measure in time.
            assert!(began.elapsed() < PATIENCE / 4, "{widget}: {node}");
        }
    }

    /// The middle of a widget.
    pub fn middle(&mut self, widget: &str) -> (i64, i64) {
        let [x, y, width, height] = self.bounds(widget);
        (x + width / 2, y + height / 2)
    }

    /// Waits until a part of the screen looks as it does not, or as it does, by the hash of its picture.
    pub fn looks(&mut self, region: &str, like: bool, hash: &Value) -> Value {
        let began = Instant::now();
        loop {
            let shot = self.act("screenshot", json!({ "region": region }));
            if (shot["hash"] == *hash) == like {
                return shot["hash"].clone();
            }
            assert!(began.elapsed() < PATIENCE / 3, "{region} does not come to look {like}");
            // What is drawn is announced by nobody.
            self.act("wait", json!({ "ms": 30 }));
        }
    }

    /// The names of the rows of the list.
    pub fn rows(&mut self) -> Vec<String> {
        let tree = self.tree();
        let rows = tree
            .walk()
            .find(|node| self.kit.is_rows(node.role.name()) && node.name.as_deref() == Some("Rows"));
        let rows = rows.unwrap_or_else(|| panic!("there are no rows"));
        let items = rows.children.iter().filter(|item| matches!(item.role.name(), "listitem" | "row"));
        // The name is the last in it: a page puts a bullet before.
        let named = |node: &Node| node.name.clone().filter(|name| !name.is_empty());
        let name = |item: &Node| item.walk().filter_map(named).last();
        items.map(|item| name(item).unwrap_or_default()).collect()
    }

    /// The whole tree, with all the app has announced in it.
    pub fn tree(&mut self) -> Node {
        crate::sync(&mut self.client, &self.app)
    }

    /// What a replica of the app holds.
    pub fn replica(&self) -> Replica {
        Replica::new(crate::fresh(&self.daemon, &self.app))
    }

    /// The app's window.
    pub fn window(&mut self) -> Value {
        let windows =
            self.client.data("list-windows", json!({ "app": self.app, "filter": self.kit.title() }));
        windows["windows"][0].clone()
    }

    /// Brings the app's window to the front.
    pub fn focus_window(&mut self) {
        let args = json!({ "window": self.kit.title(), "app": self.app, "timeout_ms": 10_000 });
        self.client.ok("focus-window", args);
    }

    /// Has the app hang until [`Stage::wake`].
    pub fn hang(&mut self) {
        match &self.actor {
            None => {
                let app = self.app.clone();
                self.client.sim(&app, &["fault", "hang"]);
            }
            Some(actor) => actor.signal(Signal::SIGSTOP),
        }
    }

    /// Ends a hang.
    pub fn wake(&mut self) {
        match &self.actor {
            None => {
                let app = self.app.clone();
                self.client.sim(&app, &["heal"]);
            }
            Some(actor) => actor.signal(Signal::SIGCONT),
        }
        // What was asked of it while it hung is answered first.
        let began = Instant::now();
        let mut fresh = self.daemon.client();
        let sync = json!({ "app": self.app, "sync": true });
        while fresh.ask("snapshot", sync.clone())["ok"] != true {
            assert!(began.elapsed() < PATIENCE, "the app does not wake");
        }
    }

    /// A person at the screen presses a button: who waits on the app learns of it as of anything that happens. Takes the
    /// button's id in the script of the built-in app, and the place it has on a real screen.
    pub fn person_presses(&self, client: &mut Raw, id: &str, at: (i64, i64)) {
        match self.kit {
            kit if kit.is_scripted() => client.sim(&self.app, &["press", id]),
            kit => hands::click(kit, at),
        }
    }

    /// Which keys and buttons are down, by what the desktop itself says.
    pub fn held_down(&mut self) -> Vec<String> {
        hands::held_down(self.kit, &mut self.client)
    }
}

impl Actor {
    /// Starts the app, and waits until it says that it is up.
    fn enter(kit: Kit, daemon: &Daemon) -> Actor {
        let apps = workspace().join("tests/desktop/apps");
        let mut command = match kit {
            Kit::Sim | Kit::Double => unreachable!("the built-in desktop has its own apps"),
            Kit::Gtk3 => Command::new(apps.join("gtk3.py")),
            Kit::Gtk4 => Command::new(apps.join("gtk4.py")),
            Kit::Qt6 => Command::new(apps.join("qt6.py")),
            Kit::Chromium => {
                let mut command = Command::new("chromium");
                command.args(kit::chromium(&daemon.folder().join("chromium")));
                command
            }
            Kit::Appkit => Command::new(kit::bundle().join("Contents/MacOS/AxdTest")),
        };
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap_or_else(|fault| panic!("{command:?}: {fault}"));
        // A browser does not say when it is up; its window does.
        if kit != Kit::Chromium {
            let first = lines(&mut child).next();
            assert_eq!(first.as_deref(), Some("ready"), "{command:?}");
        }
        Actor(child)
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.0.id() as i32), signal).expect("it can be signalled");
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
