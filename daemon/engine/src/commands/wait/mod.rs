//! `wait`: conditions that are checked whenever something changes, never by walking an app again.
//!
//! `unmet` describes conditions that did not become true; `idle` decides when an app is idle.

pub(crate) mod idle;
pub(crate) mod unmet;

use std::sync::Arc;
use std::time::Duration;

use axd_protocol::command::{Wait, WaitAnswer};
use axd_protocol::event::{Event, EventKind, Observed};
use axd_protocol::selector::{CostedRegex, Selector, Target};
use axd_protocol::{Error, ErrorCode, NodeId, NodeRef, Result, Tick, WindowInfo};
use tokio::time::{Instant, sleep_until};

use crate::Engine;
use crate::action::Watch;
use crate::answer::Answer;
use crate::apps::app::App;
use crate::apps::target::{parse_selector, parse_target};
use crate::change_wait::Next;
use crate::commands::launch::IN_TREE;
use crate::policy::permit::Reader;
use crate::state_word::StateWord;
use crate::subscribe::event_log::event_data;
use crate::tree_work::rest_after;
use axd_service::Call;
use axd_tree::{Resolved, Scope, Tree};

/// The default timeout.
const TIMEOUT: Duration = Duration::from_millis(10_000);
/// How long nothing may change until an app counts as idle, if the request does not say.
const QUIET: Duration = Duration::from_millis(100);
/// The maximum number of selectors that a request waits for.
const MAX_SELECTORS: usize = 64;
/// A condition that takes longer to check than this is not checked at every change.
const LONG_CHECK: Duration = Duration::from_millis(5);
/// The maximum number of elements that an answer lists per condition.
const NODES: usize = 8;

/// A condition to wait for.
struct Condition {
    /// The condition as the request gives it.
    label: String,
    /// The app of the condition: the one that is named, or the one that was frontmost.
    app: Option<String>,
    /// Who waits: what may not be read is not there.
    reader: Reader,
    test: Test,
    /// What was found when it was last checked, and in which state of its app.
    checked: Option<(Seen, Option<Holds>)>,
    /// When it may be checked again.
    rests_until: Instant,
}

/// The state of an app in which a condition was checked: the app's slot, its tick, whether all of it had been read, and whether
/// its last change was found by reading again.
type Seen = (u32, Tick, bool, bool);

enum Test {
    /// A selector matches an element.
    Match(Selector),
    /// A selector matches nothing; `seen` has its earlier matches.
    Gone { selector: Selector, seen: Vec<NodeId> },
    /// An element has a state, or does not have it.
    State { target: Named, state: StateWord, on: bool },
    /// An element's value passes a test.
    Value { target: Named, fits: Fits },
    /// There is a window with this in its title; `came` is when one was first seen.
    Window { title: String, came: Option<Instant> },
    /// Nothing has changed for this long.
    Idle {
        quiet: Duration,
        seen: Option<Tick>,
        since: Instant,
        /// The tick up to which everything the app announced is known to have been read. An app that hangs is not idle, however
        /// quiet it is.
        fenced: Option<Tick>,
        wants_fence: bool,
    },
    /// An event of this kind occurred; `from` is the number of the first event that counts, `after` the tick after which it
    /// must be.
    Event { kind: EventKind, from: u64, after: Tick },
}

/// An element, by id or selector.
enum Named {
    Id(NodeId),
    Selector(Selector),
}

/// A test of a value.
enum Fits {
    Is(String),
    Contains(String),
    Matches(CostedRegex),
}

/// What makes a condition true.
#[derive(Debug, Clone, Default)]
struct Holds {
    nodes: Vec<NodeRef>,
    windows: Vec<WindowInfo>,
    events: Vec<Event>,
    reread: bool,
}

impl Engine {
    pub(crate) async fn wait(
        self: &Arc<Self>,
        call: &Call,
        args: &Wait,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let began = Instant::now();
        let timeout = args.timeout.map_or(TIMEOUT, Duration::from_millis);
        let end = call.deadline.unwrap_or(began + timeout).min(began + timeout);
        args.since.map_or(Ok(()), |since| self.not_from_the_future(since))?;
        let of_mark = self.id_of_mark(call, args.target.as_deref(), end).await?;
        let of_mark = of_mark.map(|id| Wait { target: Some(id), ..args.clone() });
        let args = of_mark.as_ref().unwrap_or(args);
        let mut conditions = self.conditions(call, args)?;
        if conditions.is_empty() {
            let Some(ms) = args.ms else {
                return Err(Error::new(ErrorCode::InvalidArgs, "wait: a condition or a time is required")
                    .suggest(
                        "give a condition, as in `ax wait --for dialog`, or a time, as in `ax wait 250`",
                    ));
            };
            // The request asks for this pause; it does not wait for anything.
            let over = began + Duration::from_millis(ms);
            let limits = [call.deadline, args.timeout.map(|timeout| began + Duration::from_millis(timeout))];
            let end = limits.into_iter().flatten().fold(over, Instant::min);
            sleep_until(end).await;
            if end < over {
                let waited = began.elapsed().as_millis();
                let message = format!("wait: the time limit came after {waited} of {ms} ms");
                return Err(Error::new(ErrorCode::Timeout, message)
                    .suggest("increase --deadline-ms or --timeout, or wait for less"));
            }
            let data = WaitAnswer {
                met: vec![format!("{ms} ms")],
                waited_ms: began.elapsed().as_millis() as u64,
                observed: Observed::Event,
                nodes: Vec::new(),
                windows: Vec::new(),
                events: Vec::new(),
            };
            answer.value(Some(self.clock.now()), None, &data);
            return Ok(());
        }
        if args.ms.is_some() {
            return Err(Error::new(
                ErrorCode::InvalidArgs,
                "wait: a time and a condition exclude each other",
            )
            .suggest("limit the wait for a condition with --timeout"));
        }
        let mut wait = self.change_wait(end, &call.gate);
        let mut watches: Vec<(u32, Watch)> = Vec::new();
        loop {
            self.watch(&conditions, &mut watches);
            let mut next = end;
            let mut holds: Vec<Option<Holds>> = Vec::with_capacity(conditions.len());
            for condition in &mut conditions {
                holds.push(self.holds(condition, end, &mut next).await?);
            }
            if self.fence_idle(&mut conditions, end).await {
                continue;
            }
            let met = holds.iter().filter(|holds| holds.is_some()).count();
            if met == conditions.len() || (args.any && met > 0) {
                let data = report(&conditions, holds, began);
                answer.value(Some(self.clock.now()), None, &data);
                return Ok(());
            }
            match wait.next_until(next).await {
                Next::Check => {}
                Next::TimedOut => return Err(self.not_met(&conditions, &holds, began)),
                Next::Cancelled => return Err(Error::new(ErrorCode::Cancelled, "wait was cancelled")),
            }
        }
    }

    fn conditions(self: &Arc<Self>, call: &Call, args: &Wait) -> Result<Vec<Condition>> {
        let mut conditions = Vec::new();
        let mut add = |label: String, app: Option<String>, test: Test| {
            let app = app.or_else(|| args.app.clone());
            let reader = self.reader(call);
            let rests_until = Instant::now();
            conditions.push(Condition { label, app, reader, test, checked: None, rests_until });
        };
        let selectors = args.r#for.len() + args.gone.len();
        if selectors > MAX_SELECTORS {
            let said = format!("wait: {selectors} selectors; the maximum is {MAX_SELECTORS}");
            return Err(Error::new(ErrorCode::InvalidArgs, said)
                .suggest("join alternatives with commas, as in 'dialog,alert'"));
        }
        for (selectors, gone) in [(&args.r#for, false), (&args.gone, true)] {
            for text in selectors {
                let selector = parse_selector(text)?;
                let app = selector.leading_app().map(str::to_owned);
                let label = format!("{} {text}", if gone { "gone" } else { "for" });
                let test = match gone {
                    true => Test::Gone { selector, seen: Vec::new() },
                    false => Test::Match(selector),
                };
                add(label, app, test);
            }
        }
        let named = |what: &str| -> Result<(Named, Option<String>)> {
            let text = args.target.as_deref().ok_or_else(|| {
                Error::new(ErrorCode::InvalidArgs, format!("wait: {what} needs a target"))
                    .suggest("name the element with --target")
            })?;
            Ok(match parse_target(text)? {
                Target::Id(id) => (Named::Id(id), None),
                Target::Selector(selector) => {
                    let app = selector.leading_app().map(str::to_owned);
                    (Named::Selector(selector), app)
                }
                Target::Point { .. } | Target::Mark(_) => {
                    return Err(Error::new(ErrorCode::InvalidArgs, "target: a point cannot be waited on")
                        .suggest("run `ax element-at X,Y` to get the id of the element at a point"));
                }
            })
        };
        if let Some(text) = &args.state {
            let (target, app) = named("state")?;
            let (state, on) = StateWord::parse(text)?;
            add(format!("state {text}"), app, Test::State { target, state, on });
        }
        let regex = |pattern: &String| -> Result<Fits> {
            CostedRegex::new(pattern, false)
                .map(Fits::Matches)
                .map_err(|fault| Error::new(ErrorCode::InvalidArgs, format!("value_matches: {fault}")))
        };
        let tests: [Option<Result<(String, Fits)>>; 3] = [
            args.value.as_ref().map(|text| Ok((format!("value {text}"), Fits::Is(text.clone())))),
            args.value_contains
                .as_ref()
                .map(|text| Ok((format!("value-contains {text}"), Fits::Contains(text.clone())))),
            args.value_matches.as_ref().map(|text| Ok((format!("value-matches {text}"), regex(text)?))),
        ];
        for test in tests.into_iter().flatten() {
            let (label, fits) = test?;
            let (target, app) = named("value")?;
            add(label, app, Test::Value { target, fits });
        }
        if args.target.is_some()
            && args.state.is_none()
            && args.value.is_none()
            && args.value_contains.is_none()
            && args.value_matches.is_none()
        {
            return Err(Error::new(ErrorCode::InvalidArgs, "wait: --target needs a condition")
                .suggest("add --state, --value, --value-contains or --value-matches"));
        }
        if let Some(title) = &args.window {
            add(format!("window {title}"), None, Test::Window { title: title.to_lowercase(), came: None });
        }
        if args.idle {
            let quiet = args.quiet_ms.map_or(QUIET, Duration::from_millis);
            add(
                "idle".to_owned(),
                None,
                Test::Idle { quiet, seen: None, since: Instant::now(), fenced: None, wants_fence: false },
            );
        }
        let now = self.clock.now();
        let since = args.since.filter(|since| since.boot == now.boot);
        let from = match since {
            Some(since) => self.event_log.lock().first_after(since.tick),
            None => self.event_log.lock().next(),
        };
        for kind in &args.event {
            let after = since.map_or(now.tick, |since| since.tick);
            add(format!("event {}", kind.name()), None, Test::Event { kind: *kind, from, after });
        }
        // A wait is about the app that was in front when it began, whatever comes to the front meanwhile.
        let frontmost = self.desktop.read().frontmost().map(|seen| seen.pid.to_string()).ok();
        for condition in conditions.iter_mut().filter(|condition| condition.app.is_none()) {
            if !matches!(condition.test, Test::Window { .. } | Test::Event { .. }) {
                condition.app.clone_from(&frontmost);
            }
        }
        Ok(conditions)
    }

    /// Starts interests in the elements that are waited on, so that they are read again with or without events.
    fn watch(self: &Arc<Self>, conditions: &[Condition], watches: &mut Vec<(u32, Watch)>) {
        for condition in conditions {
            if matches!(condition.test, Test::Window { .. } | Test::Event { .. }) {
                continue;
            }
            if let Some(app) = self.app_of(condition)
                && !watches.iter().any(|(slot, _)| *slot == app.slot)
            {
                watches.push((app.slot, Watch::whole(self, &app)));
            }
        }
    }

    /// The app of a condition, if it is running.
    fn app_of(self: &Arc<Self>, condition: &Condition) -> Option<Arc<App>> {
        if let Test::State { target: Named::Id(id), .. } | Test::Value { target: Named::Id(id), .. } =
            &condition.test
        {
            let known = |app: &Arc<App>| !matches!(app.tree.read().resolve(*id), Resolved::Unknown);
            if let Some(app) = self.readable_apps(&condition.reader).into_iter().find(known) {
                return Some(app);
            }
        }
        let spec = condition.app.as_deref()?;
        let seen = self.desktop.read().named(spec).ok()?.clone();
        Some(self.attached(&seen)).filter(|app| self.may_read(&condition.reader, app))
    }

    /// What makes a condition true, if it is true. `next` is set to the time at which it may become true without any change.
    async fn holds(
        self: &Arc<Self>,
        condition: &mut Condition,
        end: Instant,
        next: &mut Instant,
    ) -> Result<Option<Holds>> {
        match &mut condition.test {
            Test::Window { title, came } => {
                return Ok(self.window_holds(condition.app.as_deref(), &condition.reader, title, came, next));
            }
            &mut Test::Event { kind, from, after } => {
                return Ok(self.event_holds(condition, kind, from, after));
            }
            _ => {}
        }
        let Some(app) = self.app_of(condition) else {
            // An app that is not running contains nothing.
            return Ok(matches!(condition.test, Test::Gone { .. }).then(Holds::default));
        };
        if let Test::Idle { .. } = condition.test {
            return Ok(idle_holds(&app, &mut condition.test, next));
        }
        let seen: Seen = (app.slot, app.tree.read().tick(), app.is_complete(), app.was_reread());
        // In the same state of its app a condition holds or does not hold, as before. One that takes long to check is not
        // checked at every change.
        let rests = Instant::now() < condition.rests_until.min(end);
        if let Some((at, held)) = &condition.checked
            && (*at == seen || rests)
        {
            if *at != seen {
                *next = condition.rests_until.min(*next);
            }
            return Ok(held.clone());
        }
        let began = Instant::now();
        let test = &mut condition.test;
        #[cfg(test)]
        LOOKS.set(LOOKS.get() + 1);
        let held = match self.search(&app, end, |tree| Ok(tree_holds(&app, tree, test))).await {
            // It was not met in time.
            Err(error) if error.code == ErrorCode::Timeout => None,
            held => held?,
        };
        if began.elapsed() > LONG_CHECK {
            condition.rests_until = Instant::now() + rest_after(began.elapsed());
        }
        condition.checked = Some((seen, held.clone()));
        Ok(held)
    }

    /// The window system reports a window before its app does. The condition holds when the window can be acted on: when its
    /// app is known and, if the app is attached, the window is in its tree. Some windows never get there.
    fn window_holds(
        &self,
        app: Option<&str>,
        reader: &Reader,
        title: &str,
        came: &mut Option<Instant>,
        next: &mut Instant,
    ) -> Option<Holds> {
        let windows: Vec<axd_platform::DesktopWindow> = {
            let desktop = self.desktop.read();
            let pid = match app {
                Some(spec) => Some(desktop.named(spec).ok()?.pid),
                None => None,
            };
            let fits = |window: &&axd_platform::DesktopWindow| {
                pid.is_none_or(|pid| window.pid == pid) && window.title.to_lowercase().contains(title)
            };
            desktop.windows.iter().filter(fits).cloned().collect()
        };
        let may_see =
            |window: &axd_platform::DesktopWindow| self.may_see_pid(reader, window.pid, Some(&window.title));
        let window = windows.into_iter().find(may_see)?;
        let window = self.window_info(&window);
        let is_attached = self.by_pid(window.pid).is_some();
        let late = *came.get_or_insert_with(Instant::now) + IN_TREE;
        if Instant::now() < late && (window.app.is_empty() || is_attached && window.id.is_none()) {
            *next = late.min(*next);
            return None;
        }
        let node = window.id.map(|id| NodeRef {
            id,
            role: axd_protocol::Role::Window,
            name: Some(window.title.clone()),
        });
        Some(Holds { nodes: node.into_iter().collect(), windows: vec![window], ..Holds::default() })
    }

    fn event_holds(
        self: &Arc<Self>,
        condition: &Condition,
        kind: EventKind,
        from: u64,
        after: Tick,
    ) -> Option<Holds> {
        if kind == EventKind::Changes {
            let app = match &condition.app {
                Some(_) => vec![self.app_of(condition)?],
                None => self.readable_apps(&condition.reader),
            };
            return app.iter().any(|app| app.tree.read().tick() > after).then(Holds::default);
        }
        let wanted = condition.app.as_deref().map(|spec| {
            let desktop = self.desktop.read();
            desktop.named(spec).map(|seen| seen.pid).ok().or_else(|| desktop.pid_of_ended(spec))
        });
        let fits = |event: &&Event| {
            event_data(event).is_some_and(|(other, data)| {
                other == kind && wanted.is_none_or(|pid| pid == Some(data.app.pid))
            })
        };
        // Taken out first: who may see them depends on the desktop, whose lock is not taken with the log's.
        let events: Vec<Event> = {
            let log = self.event_log.lock();
            log.between(from, log.next()).filter(fits).cloned().collect()
        };
        let event = events.into_iter().find(|event| self.may_see_event(&condition.reader, event))?;
        Some(Holds { events: vec![event], ..Holds::default() })
    }
}

/// What makes a condition on the tree of an app true, if it is true.
fn tree_holds(app: &App, tree: &Tree, test: &mut Test) -> Option<Holds> {
    let reread = app.was_reread();
    let holding = |nodes| Some(Holds { nodes, reread, ..Holds::default() });
    let find = |selector: &Selector| {
        let root = tree.root()?;
        Some(tree.find(selector, Scope { root }, Some(NODES)))
    };
    let one = |target: &Named| match target {
        Named::Id(id) => match tree.resolve(*id) {
            Resolved::Alive(ix) => Some(ix),
            _ => None,
        },
        Named::Selector(selector) => find(selector)?.matches.first().copied(),
    };
    match test {
        Test::Match(selector) => {
            let found = find(selector)?;
            (found.count > 0).then_some(())?;
            holding(found.matches.iter().map(|ix| tree.node_ref(*ix)).collect())
        }
        Test::Gone { selector, seen } => {
            let all = |root| tree.find(selector, Scope { root }, None).matches;
            let found = tree.root().map_or_else(Vec::new, all);
            seen.extend(found.iter().map(|ix| tree.id(*ix)));
            seen.sort_unstable();
            seen.dedup();
            (found.is_empty() && app.is_complete()).then_some(())?;
            is_gone(tree, selector, seen).then_some(())?;
            holding(Vec::new())
        }
        Test::State { target, state, on } => {
            let ix = one(target)?;
            (state.is_of(tree.states(ix)) == *on).then_some(())?;
            holding(vec![tree.node_ref(ix)])
        }
        Test::Value { target, fits } => {
            let ix = one(target)?;
            let value = tree.value(ix)?;
            let is = match fits {
                Fits::Is(text) => value == text,
                Fits::Contains(text) => value.contains(text.as_str()),
                Fits::Matches(regex) => regex.is_match(value),
            };
            is.then_some(())?;
            holding(vec![tree.node_ref(ix)])
        }
        Test::Idle { .. } | Test::Window { .. } | Test::Event { .. } => None,
    }
}

/// Whether nothing has changed in an app for long enough.
fn idle_holds(app: &App, test: &mut Test, next: &mut Instant) -> Option<Holds> {
    let Test::Idle { quiet, seen, since, fenced, wants_fence } = test else { return None };
    let tick = app.tree.read().tick();
    if *seen != Some(tick) {
        // The first check counts from the beginning of the wait: an app that was at rest before still is.
        if seen.is_some() {
            *since = Instant::now();
        }
        *seen = Some(tick);
    }
    let idle = *since + *quiet;
    if Instant::now() < idle {
        *next = (*next).min(idle);
    } else if app.is_complete() {
        if *fenced == Some(tick) {
            return Some(Holds { reread: app.was_reread(), ..Holds::default() });
        }
        *wants_fence = true;
    }
    None
}

/// Whether the elements that a selector matched before, and does not match now, are gone: all elements that could match were
/// read, or all earlier matches are known to be gone or to have changed.
fn is_gone(tree: &Tree, selector: &Selector, seen: &[NodeId]) -> bool {
    let Some(root) = tree.root() else { return true };
    tree.unread(selector, Scope { root }).is_empty()
        || match seen {
            [] => tree.has_removed(selector),
            seen => !seen.iter().any(|id| tree.is_unseen(*id)),
        }
}

fn report(conditions: &[Condition], holds: Vec<Option<Holds>>, began: Instant) -> WaitAnswer {
    let mut data = WaitAnswer {
        met: Vec::new(),
        waited_ms: began.elapsed().as_millis() as u64,
        observed: Observed::Event,
        nodes: Vec::new(),
        windows: Vec::new(),
        events: Vec::new(),
    };
    for (condition, holds) in conditions.iter().zip(holds) {
        if let Some(holds) = holds {
            data.met.push(condition.label.clone());
            data.nodes.extend(holds.nodes);
            data.windows.extend(holds.windows);
            data.events.extend(holds.events);
            if holds.reread {
                data.observed = Observed::Reread;
            }
        }
    }
    data
}

#[cfg(test)]
thread_local! {
    /// How often waits looked for what they wait for.
    pub(crate) static LOOKS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
