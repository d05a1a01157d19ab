//! agent-desktop, a command line and tools of another design, done with axd's commands.
//!
//! What its command line (`ax` under the name `agent-desktop`) and its tools (`ax mcp --profile agent-desktop`) share: the commands
//! (`table.rs`), their arguments (`args.rs`), the envelope of answers, the refs, and what each command comes to (`observe.rs`,
//! `act.rs`, `desktop.rs`). It asks axd through [`Axd`], which either has implemented, and keeps nothing but a [`RefMap`].

mod act;
mod args;
mod desktop;
mod envelope;
mod observe;
mod refs;
pub mod table;
mod tree;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axd_protocol::command::{ImageFormat, ListWindowsAnswer};
use axd_protocol::{Clock, Command, Error, NodeId, Result, WindowInfo};
use serde::de::DeserializeOwned;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

use crate::Reply;
pub use args::{Args, invalid};
use envelope::EnvelopeWindow;
pub use envelope::{Envelope, EnvelopeApp};
pub use refs::{MAX_BYTES, RefEntry, RefMap};

/// How axd is asked.
pub trait Axd: Send + Sync {
    /// Sends a command; without a deadline, with that of its kind.
    fn ask(&self, command: Command, deadline: Option<Duration>)
    -> impl Future<Output = Result<Reply>> + Send;
}

/// A command that was run.
#[derive(Debug)]
pub struct Outcome {
    /// Its answer.
    pub envelope: Envelope,
    /// What axd says besides, which is no part of the envelope.
    pub extra: Map<String, Value>,
    /// The picture that it took.
    pub picture: Option<Picture>,
    /// axd's error, if it failed.
    pub error: Option<Error>,
}

/// A picture.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Its file, in base64.
    pub base64: String,
    /// Its format.
    pub format: ImageFormat,
    /// The file to write it to.
    pub path: Option<PathBuf>,
}

/// What a command has to say.
#[derive(Debug, Default)]
struct Said {
    data: Value,
    extra: Map<String, Value>,
    picture: Option<Picture>,
    about: About,
}

/// What an answer is about.
#[derive(Debug, Default)]
struct About {
    app: Option<EnvelopeApp>,
    platform: Option<String>,
    clock: Option<Clock>,
}

impl From<Value> for Said {
    fn from(data: Value) -> Said {
        Said { data, ..Said::default() }
    }
}

/// What the commands run with.
struct Session<'a, A> {
    axd: &'a A,
    refs: &'a Mutex<RefMap>,
    /// What the latest answer was about.
    about: Mutex<About>,
}

/// Runs a command. `fields` are its arguments by the names of the table.
pub async fn run<A: Axd>(axd: &A, refs: &Mutex<RefMap>, name: &str, fields: Map<String, Value>) -> Outcome {
    if name == "batch" {
        return batch(axd, refs, fields).await;
    }
    run_one(axd, refs, name, fields).await
}

async fn run_one<A: Axd>(axd: &A, refs: &Mutex<RefMap>, name: &str, fields: Map<String, Value>) -> Outcome {
    let session = Session { axd, refs, about: Mutex::default() };
    let said = match checked(name, fields) {
        Ok((name, args)) => session.dispatch(name, &args).await,
        Err(error) => Err(error),
    };
    let about = session.about.into_inner().unwrap_or_else(PoisonError::into_inner);
    match said {
        Ok(said) => {
            let app = said.about.app.or(about.app);
            let mut envelope = Envelope::done(name, said.data);
            (envelope.app, envelope.platform, envelope.clock) = (app, about.platform, about.clock);
            Outcome { envelope, extra: said.extra, picture: said.picture, error: None }
        }
        Err(error) => Outcome::failed(name, error),
    }
}

impl Outcome {
    /// A command that failed.
    pub fn failed(name: &str, error: Error) -> Outcome {
        let name = if table::find(name).is_some() { name } else { "unknown" };
        let extra = envelope::extra_of(error.disposition);
        Outcome { envelope: Envelope::failed(name, &error), extra, picture: None, error: Some(error) }
    }
}

fn checked(name: &str, fields: Map<String, Value>) -> Result<(&'static str, Args)> {
    let command = table::find(name).ok_or_else(|| {
        let names: Vec<&str> = table::COMMANDS.iter().map(|command| command.name).collect();
        invalid(format!("there is no command '{name}'"))
            .suggest(format!("the commands are: {}", names.join(", ")))
    })?;
    Ok((command.name, Args::checked(command, fields)?))
}

/// Runs the commands of a batch one after the other. Its answer is a list of envelopes.
async fn batch<A: Axd>(axd: &A, refs: &Mutex<RefMap>, fields: Map<String, Value>) -> Outcome {
    let args = match checked("batch", fields) {
        Ok((_, args)) => args,
        Err(error) => return Outcome::failed("batch", error),
    };
    let mut envelopes = Vec::new();
    for item in args.items("commands") {
        let outcome = match item_of(item) {
            Ok((name, fields)) => run_one(axd, refs, &name, fields).await,
            Err(error) => Outcome::failed("unknown", error),
        };
        let is_ok = outcome.envelope.ok;
        // Its keys are texts, so it is a value.
        envelopes.push(serde_json::to_value(outcome.envelope).unwrap_or_default());
        if !is_ok && args.flag("stop_on_error") {
            break;
        }
    }
    let envelope = Envelope::done("batch", envelopes.into());
    Outcome { envelope, extra: Map::new(), picture: None, error: None }
}

/// The command of an item of a batch, and its arguments.
fn item_of(item: &Value) -> Result<(String, Map<String, Value>)> {
    let Some(name) = item["command"].as_str() else {
        return Err(invalid("an item of a batch must be {\"command\", \"args\"}"));
    };
    if name == "batch" {
        return Err(invalid("a batch cannot be in a batch"));
    }
    match &item["args"] {
        Value::Null => Ok((name.to_owned(), Map::new())),
        Value::Object(fields) => Ok((name.to_owned(), fields.clone())),
        other => Err(invalid(format!("{name}: args must be an object, not {other}"))),
    }
}

impl<A: Axd> Session<'_, A> {
    async fn dispatch(&self, name: &str, args: &Args) -> Result<Said> {
        match name {
            "snapshot" => self.snapshot(args).await,
            "find" => self.find(args).await,
            "screenshot" => self.screenshot(args).await,
            "get" => self.get(args).await,
            "is" => self.is(args).await,
            "press" => self.press(args).await,
            "launch" => self.launch(args).await,
            "close-app" => self.close_app(args).await,
            "list-windows" => self.list_windows(args).await,
            "list-apps" => self.list_apps().await,
            "focus-window" => self.focus_window(args).await,
            "clipboard-get" => self.clipboard_get().await,
            "clipboard-set" => self.clipboard_set(args).await,
            "wait" => self.wait(args).await,
            "status" => self.status().await,
            "permissions" => self.permissions(args).await,
            "version" => self.version().await,
            other => self.act(other, args).await,
        }
    }

    /// Asks axd, and reads the answer. The arguments are those of the command on the wire.
    async fn ask<T: DeserializeOwned>(&self, command: &str, args: Value) -> Result<T> {
        self.ask_within(command, args, None).await
    }

    async fn ask_within<T: DeserializeOwned>(
        &self,
        command: &str,
        args: Value,
        deadline: Option<Duration>,
    ) -> Result<T> {
        let reply = self.axd.ask(self::command(command, &args)?, deadline).await?;
        let mut about = lock(&self.about);
        about.platform = Some(reply.platform.clone());
        about.clock = reply.clock.or(about.clock);
        if let Some(app) = &reply.app {
            about.app = Some(EnvelopeApp { name: app.name.clone(), window: None });
        }
        reply.data().map_err(|fault| fault.to_error())
    }

    /// The run of the daemon that the latest answer was of.
    fn boot(&self) -> u32 {
        lock(&self.about).clock.map_or(0, |clock| clock.boot)
    }

    /// What a target means to axd: `target`, and `app` if it is known.
    async fn target(&self, target: &str) -> Result<Value> {
        if !refs::is_ref(target) {
            return Ok(json!({ "target": target }));
        }
        let (entry, boot) = {
            let refs = lock(self.refs);
            (refs.resolve(target)?, refs.boot())
        };
        // Any answer that has a clock tells the run of the daemon.
        let _: Value = self.ask("list-displays", json!({})).await?;
        if self.boot() != boot {
            return Err(refs::stale(target));
        }
        Ok(json!({ "target": entry.id.to_string(), "app": entry.pid.to_string() }))
    }

    /// Has the answer say which window it is about, if there is one of this id.
    async fn window_of(&self, pid: u32, id: NodeId) -> Option<EnvelopeWindow> {
        let asked: Result<ListWindowsAnswer> =
            self.ask("list-windows", json!({ "app": pid.to_string() })).await;
        let window = asked.ok()?.windows.into_iter().find(|window| window.id == Some(id))?;
        Some(EnvelopeWindow { id: window_id(window.window), title: window.title })
    }
}

/// A command of axd, from its arguments on the wire.
fn command(name: &str, args: &Value) -> Result<Command> {
    let args = to_raw_value(args).map_err(|fault| invalid(fault.to_string()))?;
    Command::parse(name, Some(&args))
}

/// An error about a target, in this design's words if it was a ref.
fn of_target(target: &str, error: Error) -> Error {
    use axd_protocol::ErrorCode::{ElementNotFound, StaleRef};
    if refs::is_ref(target) && matches!(error.code, ElementNotFound | StaleRef) {
        return refs::stale(target).candidates(error.candidates);
    }
    error
}

/// A window's id, as it is written.
fn window_id(number: u64) -> String {
    format!("w-{number}")
}

/// The window's number that axd takes.
fn window_number(id: &str) -> Result<String> {
    let number = id.strip_prefix("w-").filter(|digits| digits.parse::<u64>().is_ok());
    number
        .map(ToOwned::to_owned)
        .ok_or_else(|| invalid(format!("'{id}' is not a window id; they look like w-4521")))
}

/// A window, as it is shown.
fn window_info(window: &WindowInfo) -> Value {
    let mut shown = json!({
        "id": window_id(window.window), "title": window.title, "app": window.app, "pid": window.pid,
        "is_focused": window.focused,
    });
    if let Some(bounds) = window.bounds {
        shown["bounds"] = json!(bounds);
    }
    shown
}

/// A panic leaves nothing half done in what is locked here, so it is used all the same.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
