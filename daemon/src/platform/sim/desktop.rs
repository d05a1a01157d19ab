//! The built-in desktop: which apps run, whose windows lie where, and the hand outside that uses them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axd_protocol::DisplayInfo;
use axd_protocol::command::Finding;
use axd_protocol::command::{Sim, SimAnswer, SimVerb};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use super::fault::Fault;
use super::library;
use super::model::{Deed, Model, SCREEN};
use super::process::{self, Control, Process};
use super::script::Script;
use super::worker;
use crate::platform::{
    AppSeen, Counters, DesktopAnswer, DesktopCall, DesktopEvent, Failure, FailureKind, FromWorker, Gate,
    Mailbox, Platform, Reply, WindowSeen,
};

/// What the built-in desktop consists of.
#[derive(Debug, Clone)]
pub struct SimOptions {
    /// Whether the apps that come with axd are there.
    pub built_in: bool,
    /// Files and folders of further app scripts.
    pub apps: Vec<PathBuf>,
    /// Further apps, ready made.
    pub scripts: Vec<Arc<Script>>,
}

impl Default for SimOptions {
    fn default() -> SimOptions {
        SimOptions { built_in: true, apps: Vec::new(), scripts: Vec::new() }
    }
}

impl SimOptions {
    /// The built-in apps and those named by `AXD_SIM_APPS`, paths with colons between.
    pub fn from_env() -> SimOptions {
        let apps = std::env::var_os("AXD_SIM_APPS");
        let apps = apps.map(|paths| std::env::split_paths(&paths).collect()).unwrap_or_default();
        SimOptions { apps, ..SimOptions::default() }
    }
}

/// The built-in desktop.
pub struct SimDesktop {
    scripts: Vec<Arc<Script>>,
    desk: Arc<Desk>,
}

/// What the desktop and the apps on it share: who runs, and how the windows lie.
pub(super) struct Desk {
    next_pid: AtomicU32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    out: Option<mpsc::UnboundedSender<DesktopEvent>>,
    running: BTreeMap<u32, Running>,
    /// Front to back.
    windows: Vec<WindowSeen>,
    frontmost: (Option<u32>, Option<u64>),
}

struct Running {
    seen: AppSeen,
    process: Process,
}

impl State {
    fn tell(&self, event: DesktopEvent) {
        // Nobody listens any more: the daemon is ending.
        let _ = self.out.as_ref().map(|out| out.send(event));
    }

    fn tell_windows(&mut self, windows: Vec<WindowSeen>) {
        if windows != self.windows {
            self.windows = windows;
            self.tell(DesktopEvent::Windows(self.windows.clone()));
        }
        let front = self.windows.first();
        let frontmost = (front.map(|window| window.pid), front.map(|window| window.window));
        if frontmost != self.frontmost {
            self.frontmost = frontmost;
            self.tell(DesktopEvent::Frontmost { pid: frontmost.0, window: frontmost.1 });
        }
    }
}

impl Desk {
    /// Takes in how an app's windows lie now, front to back. What is new comes to the front, and all of the app's
    /// windows do if it is `activated`.
    pub(super) fn arrange(&self, pid: u32, theirs: Vec<WindowSeen>, activated: bool) {
        let mut state = self.state.lock();
        let was_there = |window: &WindowSeen| state.windows.iter().any(|old| old.window == window.window);
        let raised = activated || theirs.iter().any(|window| !was_there(window));
        let mut theirs = theirs.into_iter();
        let mut windows: Vec<WindowSeen> = Vec::new();
        if raised {
            windows.extend(theirs.by_ref());
        }
        for old in &state.windows {
            // In their own order, in the places that the app's windows had.
            if old.pid != pid {
                windows.push(old.clone());
            } else {
                windows.extend(theirs.next());
            }
        }
        state.tell_windows(windows);
    }

    /// An app ended.
    pub(super) fn ended(&self, pid: u32) {
        let mut state = self.state.lock();
        if state.running.remove(&pid).is_some() {
            state.tell(DesktopEvent::AppGone { pid });
            let windows = state.windows.iter().filter(|window| window.pid != pid).cloned().collect();
            state.tell_windows(windows);
        }
    }

    fn launch(self: &Arc<Desk>, script: &Arc<Script>) -> (u32, Vec<WindowSeen>) {
        let pid = self.next_pid.fetch_add(1, Ordering::Relaxed);
        let now = tokio::time::Instant::now().into_std();
        let mut model = Model::new(Arc::clone(script), u64::from(pid) * 100, now);
        let windows = process::windows_of(pid, &mut model);
        let process = process::spawn(pid, model, Arc::clone(self));
        let seen = AppSeen { pid, name: script.name.clone(), identity: script.identity.clone() };
        let mut state = self.state.lock();
        state.tell(DesktopEvent::AppUp(seen.clone()));
        state.running.insert(pid, Running { seen, process });
        (pid, windows)
    }

    fn process(&self, pid: u32) -> Option<Process> {
        self.state.lock().running.get(&pid).map(|running| running.process.clone())
    }

    /// The process of an app.
    fn pid_of(&self, script: &Script) -> Option<u32> {
        let state = self.state.lock();
        let found = state.running.iter().find(|(_, running)| running.seen.name == script.name);
        found.map(|(pid, _)| *pid)
    }
}

impl SimDesktop {
    /// A desktop; its apps start when it does.
    pub fn new(options: SimOptions) -> SimDesktop {
        let mut scripts = library::load(options.built_in, &options.apps);
        for script in options.scripts {
            scripts.retain(|other| !other.name.eq_ignore_ascii_case(&script.name));
            scripts.push(script);
        }
        let desk = Arc::new(Desk { next_pid: AtomicU32::new(1001), state: Mutex::new(State::default()) });
        SimDesktop { scripts, desk }
    }

    /// The app of that name, identity or process.
    fn find(&self, word: &str) -> Result<Arc<Script>, Failure> {
        let by_pid = |script: &Script| word.parse().is_ok_and(|pid| self.desk.pid_of(script) == Some(pid));
        let found = self.scripts.iter().find(|script| {
            script.name.eq_ignore_ascii_case(word) || script.identity == word || by_pid(script)
        });
        found.cloned().ok_or_else(|| {
            let names: Vec<&str> = self.scripts.iter().map(|script| script.name.as_str()).collect();
            invalid(format!("there is no app '{word}'; there are: {}", names.join(", ")))
        })
    }
}

impl Drop for SimDesktop {
    fn drop(&mut self) {
        // The apps end when the last way to reach them does.
        let mut state = self.desk.state.lock();
        state.out = None;
        state.running.clear();
    }
}

impl Platform for SimDesktop {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn capabilities(&self) -> Vec<&'static str> {
        vec!["tree", "events", "fence", "watch", "geometry", "hit-test", "windows", "displays", "sim"]
    }

    fn call(&self, _call: DesktopCall, _gate: Gate) -> Reply<DesktopAnswer> {
        let (answer, reply) = oneshot::channel();
        let _ = answer.send(Err(Failure::new(FailureKind::NotSupported, "acting is not offered here")));
        reply
    }

    fn semantic_method(&self) -> &'static str {
        "sim"
    }

    fn input_method(&self) -> &'static str {
        "sim"
    }

    fn examine(&self) -> Reply<Vec<Finding>> {
        let (answer, reply) = oneshot::channel();
        let _ = answer.send(Ok(examine()));
        reply
    }

    /// Must be called inside a tokio runtime, where the apps will run.
    fn start(&self, out: mpsc::UnboundedSender<DesktopEvent>) {
        self.desk.state.lock().out = Some(out);
        let mut windows = Vec::new();
        for script in self.scripts.iter().filter(|script| script.running) {
            let (_, theirs) = self.desk.launch(script);
            windows.splice(0..0, theirs);
        }
        let mut state = self.desk.state.lock();
        state.tell_windows(windows);
        state.tell(DesktopEvent::Displays(vec![DisplayInfo {
            display: 1,
            name: "Built-in".to_owned(),
            primary: true,
            bounds: SCREEN,
            scale: 1.0,
        }]));
    }

    fn attach(&self, app: &AppSeen, out: mpsc::Sender<FromWorker>, counters: Arc<Counters>) -> Mailbox {
        let (letters, inbox) = mpsc::unbounded_channel();
        worker::spawn(self.desk.process(app.pid), inbox, out, counters);
        Mailbox::new(move |letter| letters.send(letter).is_ok())
    }

    fn sim(&self, act: Sim) -> Reply<SimAnswer> {
        let (answer, reply) = oneshot::channel();
        match self.find(&act.app) {
            Ok(script) => {
                let desk = Arc::clone(&self.desk);
                tokio::spawn(async move {
                    let done = desk.carry_out(&script, act).await;
                    let _ = answer.send(done.map(|done| SimAnswer { done }));
                });
            }
            Err(failure) => {
                let _ = answer.send(Err(failure));
            }
        }
        reply
    }
}

impl Desk {
    async fn carry_out(self: Arc<Desk>, script: &Arc<Script>, act: Sim) -> Result<String, Failure> {
        let name = &script.name;
        let pid = self.pid_of(script);
        match act.verb {
            SimVerb::Launch => match pid {
                Some(pid) => Ok(format!("{name} runs already, as {pid}")),
                None => Ok(format!("{name} started, as {}", self.launch_now(script))),
            },
            SimVerb::Restart => {
                if let Some(pid) = pid {
                    self.tell_app(pid, name, Control::Quit).await?;
                }
                Ok(format!("{name} started again, as {}", self.launch_now(script)))
            }
            verb => {
                let idle = || invalid(format!("{name} does not run; `ax sim {name} launch` starts it"));
                let pid = pid.ok_or_else(idle)?;
                let control = Self::control(script, verb, act)?;
                let done = self.tell_app(pid, name, control).await?;
                Ok(format!("{name}: {done}"))
            }
        }
    }

    fn launch_now(self: &Arc<Desk>, script: &Arc<Script>) -> u32 {
        let (pid, windows) = self.launch(script);
        self.arrange(pid, windows, true);
        pid
    }

    /// What the verb comes to for the app.
    fn control(script: &Script, verb: SimVerb, act: Sim) -> Result<MakeControl, Failure> {
        let name = &script.name;
        let Sim { target, text, .. } = act;
        let word = format!("{verb:?}").to_lowercase();
        let widget = || {
            let lacking = || invalid(format!("{word} takes a widget: `ax sim {name} {word} WIDGET`"));
            target.clone().ok_or_else(lacking)
        };
        let words = || {
            let lacking = || invalid(format!("{word} takes a text: `ax sim {name} {word} WIDGET TEXT`"));
            text.clone().ok_or_else(lacking)
        };
        let deed = match verb {
            SimVerb::Press => Deed::Press(widget()?),
            SimVerb::Set => Deed::Set(widget()?, words()?),
            SimVerb::Type => Deed::Type(widget()?, words()?),
            SimVerb::Select => Deed::Select(widget()?, text),
            SimVerb::Focus => Deed::Focus(widget()?),
            SimVerb::Scroll => {
                let row = words()?;
                let wrong = |_| invalid(format!("scroll takes a row's number, from 1, not '{row}'"));
                Deed::Scroll(widget()?, row.trim().parse().map_err(wrong)?)
            }
            SimVerb::Raise => Deed::Raise(target),
            SimVerb::Fault => {
                let fault = Fault::parse(target.as_deref(), text.as_deref()).map_err(invalid)?;
                return Ok(Box::new(move |answer| Control::Fault(fault, answer)));
            }
            SimVerb::Heal => return Ok(Box::new(Control::Heal)),
            SimVerb::Quit | SimVerb::Launch | SimVerb::Restart => return Ok(Box::new(Control::Quit)),
        };
        Ok(Box::new(move |answer| Control::Act(deed, answer)))
    }

    async fn tell_app(
        &self,
        pid: u32,
        name: &str,
        control: impl FnOnce(oneshot::Sender<Result<String, Failure>>) -> Control,
    ) -> Result<String, Failure> {
        let (answer, reply) = oneshot::channel();
        let gone = || Failure::new(FailureKind::Gone, format!("{name} has ended"));
        let process = self.process(pid).ok_or_else(gone)?;
        process.controls.send(control(answer)).map_err(|_| gone())?;
        reply.await.map_err(|_| gone())?
    }
}

type MakeControl = Box<dyn FnOnce(oneshot::Sender<Result<String, Failure>>) -> Control + Send>;

fn invalid(text: String) -> Failure {
    Failure::new(FailureKind::Invalid, text)
}

/// The built-in desktop is always there.
pub fn examine() -> Vec<Finding> {
    vec![Finding::ok("desktop", "the built-in one, which needs nothing")]
}
