//! What this agent has seen: answers about a window are the difference since then, or the tree where that is smaller.
//!
//! The difference is exact, because axd computes it between two clocks. What is kept here are clocks only: for each app, up to which
//! one the agent was told everything, for each way in which it has looked.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axd_client::Reply;
use axd_protocol::command::{Look, LookAnswer, Snapshot, SnapshotAnswer};
use axd_protocol::text::write_tree;
use axd_protocol::{Clock, Command, ErrorCode, NodeId};
use serde_json::{Value, json};

use crate::answer::{Answer, Failure};
use crate::arguments::Arguments;
use crate::call::Call;
use crate::link::is_of_another_run;
use crate::schema::Input;

/// The budget of an answer, in tokens.
pub const MAX_TOKENS: u64 = 2_000;
/// The approximate number of bytes per token, as axd has it.
const BYTES_PER_TOKEN: usize = 4;
/// The size below which a difference is taken without comparing it with the tree.
const SMALL_TOKENS: usize = 120;
/// The maximum number of apps whose clocks are kept.
const MAX_APPS: usize = 64;

/// How much of a window an answer shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// What changed since the agent last saw it, or the tree where that is smaller.
    Auto,
    /// The tree.
    Full,
    /// What changed.
    Changes,
    /// Nothing.
    None,
}

impl Mode {
    const fn name(self) -> &'static str {
        match self {
            Mode::Auto => "auto",
            Mode::Full => "full",
            Mode::Changes => "changes",
            Mode::None => "none",
        }
    }
}

/// How much of a window a call wants to see.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// What.
    pub mode: Mode,
    /// The budget in tokens.
    pub max_tokens: usize,
}

impl Wanted {
    /// Takes the arguments out that say it.
    pub fn take(args: &mut Arguments) -> Wanted {
        let mode = match args.take_text("mode").as_deref() {
            Some("full") => Mode::Full,
            Some("changes") => Mode::Changes,
            Some("none") => Mode::None,
            _ => Mode::Auto,
        };
        let max_tokens = args.take_number("max_tokens").unwrap_or(MAX_TOKENS).clamp(50, 200_000);
        Wanted { mode, max_tokens: max_tokens as usize }
    }
}

/// The arguments that say how much of a window is wanted.
pub fn arguments(input: Input) -> Input {
    let modes: Vec<&str> = [Mode::Auto, Mode::Full, Mode::Changes, Mode::None].map(Mode::name).to_vec();
    input
        .own("mode", json!({ "type": "string", "enum": modes }))
        .own("max_tokens", json!({ "type": "integer" }))
}

/// The fields of the answer that go with them.
pub fn output(mut own: Value) -> crate::schema::Object {
    for name in ["clock", "text"] {
        own[name] = json!({ "type": "string" });
    }
    crate::schema::output(own)
}

/// How an agent looks at an app.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct How {
    /// The app; else the frontmost one.
    pub app: Option<String>,
    /// The window.
    pub window: Option<String>,
    /// The element below which is looked.
    pub root: Option<String>,
    /// The maximum depth.
    pub depth: Option<u32>,
    /// Whether everything is wanted: what is not visible, and what says nothing.
    pub all: bool,
    /// Whether places are wanted.
    pub bounds: bool,
}

/// What a look shows.
struct Shown {
    root: Option<NodeId>,
    lines: String,
    nodes: u32,
    truncated: bool,
    complete: bool,
}

impl How {
    /// A look at all windows of an app.
    fn at_app(pid: u32) -> How {
        How { app: Some(pid.to_string()), ..How::default() }
    }

    /// Whether the whole tree is shown, and not only what can be seen.
    pub fn is_whole(&self) -> bool {
        self.all || self.bounds
    }

    fn command(&self, max_tokens: usize) -> Command {
        let How { app, window, root, depth, bounds, .. } = self.clone();
        let max_tokens = Some(max_tokens as u32);
        if !self.is_whole() {
            return Command::Look(Look { app, window, root, depth, max_tokens });
        }
        Command::Snapshot(Snapshot {
            app,
            window,
            root,
            depth,
            interactive: false,
            skeleton: false,
            visible: false,
            bounds,
            actions: false,
            menubar: self.all,
            max_nodes: None,
            max_tokens,
            since: None,
            sync: false,
            verify: false,
        })
    }

    fn shown(&self, reply: &Reply) -> Result<Shown, Failure> {
        let wrong = |fault: axd_client::ClientError| Failure::Axd(fault.to_error());
        if !self.is_whole() {
            let LookAnswer { complete, nodes, truncated, root, lines } = reply.data().map_err(wrong)?;
            return Ok(Shown { root, lines, nodes, truncated, complete });
        }
        let SnapshotAnswer { complete, nodes, truncated, tree, .. } = reply.data().map_err(wrong)?;
        let mut lines = String::new();
        tree.iter().for_each(|root| write_tree(root, 0, &mut lines));
        Ok(Shown { root: tree.map(|root| root.id), lines, nodes, truncated, complete })
    }
}

/// A way of looking at an app: differences are told between looks of the same way only.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Way {
    root: NodeId,
    depth: Option<u32>,
    whole: bool,
}

/// Up to when the agent was told everything that it asked for.
#[derive(Debug, Clone, Copy)]
struct Seen {
    clock: Clock,
    /// The budget, if it left something out.
    cut_at: Option<usize>,
}

#[derive(Debug, Default)]
struct AppView {
    seen: HashMap<Way, Seen>,
    /// How the agent last looked.
    last: Option<How>,
    /// The number of the last use, by which the oldest is found.
    used: u64,
}

/// What the agent has seen of each app.
#[derive(Debug, Default)]
pub struct Views {
    apps: Mutex<(u64, HashMap<u32, AppView>)>,
}

impl Views {
    fn lock(&self) -> MutexGuard<'_, (u64, HashMap<u32, AppView>)> {
        // A panic leaves nothing half done in the map, so it is used all the same.
        self.apps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seen(&self, pid: u32, way: &Way) -> Option<Seen> {
        self.lock().1.get(&pid)?.seen.get(way).copied()
    }

    /// The latest clock at which the agent saw anything of an app.
    pub fn latest(&self, pid: u32) -> Option<Clock> {
        let apps = self.lock();
        apps.1.get(&pid)?.seen.values().map(|seen| seen.clock).max_by_key(|clock| clock.tick)
    }

    /// How the agent last looked at an app.
    fn last(&self, pid: u32) -> Option<How> {
        self.lock().1.get(&pid)?.last.clone()
    }

    /// The agent has seen the tree.
    fn looked(&self, pid: u32, way: Way, seen: Seen, how: &How) {
        let mut apps = self.lock();
        apps.0 += 1;
        let used = apps.0;
        let app = apps.1.entry(pid).or_default();
        app.used = used;
        app.last = Some(how.clone());
        app.seen.insert(way, seen);
        if apps.1.len() > MAX_APPS
            && let Some(oldest) = apps.1.iter().min_by_key(|(_, app)| app.used).map(|(pid, _)| *pid)
        {
            apps.1.remove(&oldest);
        }
    }

    /// The agent was told all that changed in an app between two clocks.
    fn told(&self, pid: u32, since: Clock, clock: Clock) {
        for seen in self.lock().1.get_mut(&pid).into_iter().flat_map(|app| app.seen.values_mut()) {
            let reaches = seen.clock.boot == clock.boot && since.tick <= seen.clock.tick;
            if reaches && seen.clock.tick < clock.tick {
                seen.clock = clock;
            }
        }
    }
}

/// The approximate number of tokens of a text.
fn tokens(text: &str) -> usize {
    text.len().div_ceil(BYTES_PER_TOKEN)
}

/// Answers with a tree, or with what changed since the agent last looked at it in the same way.
pub async fn look(call: &Call<'_>, how: How, wanted: Wanted) -> Result<Answer, Failure> {
    let reply = call.request(&how.command(wanted.max_tokens)).await?;
    let shown = how.shown(&reply)?;
    let (Some(app), Some(clock)) = (&reply.app, reply.clock) else {
        return Ok(Answer::new("axd does not say which app that is"));
    };
    let views = &call.shared.views;
    let way = shown.root.map(|root| Way { root, depth: how.depth, whole: how.is_whole() });
    let before = way.as_ref().and_then(|way| views.seen(app.pid, way));
    let restarted = before.is_some_and(|seen| is_of_another_run(seen.clock, clock));
    // A larger budget than the one that cut the tree asks for what it left out.
    let comparable = before
        .filter(|seen| !restarted && seen.cut_at.is_none_or(|budget| wanted.max_tokens <= budget))
        // Where elements are is not part of differences.
        .filter(|_| !how.bounds);
    let mut told = None;
    if let Some(seen) = comparable.filter(|_| matches!(wanted.mode, Mode::Auto | Mode::Changes)) {
        let changes = call.changes(app.pid, seen.clock, !how.is_whole()).await?;
        let size = tokens(&changes.lines);
        let smaller = size <= SMALL_TOKENS || size < tokens(&shown.lines);
        let fits = size <= wanted.max_tokens;
        if !changes.fresh && (wanted.mode == Mode::Changes || (smaller && fits)) {
            told = Some((seen, changes));
        }
    }
    let mut answer = Answer::default();
    match told {
        Some((seen, changes)) => {
            let clock = changes.clock.unwrap_or(clock);
            answer.clock(clock);
            answer.set("mode", "changes");
            answer.set("since", seen.clock);
            let (lines, cut) = within(&changes.lines, wanted.max_tokens);
            if lines.is_empty() {
                answer.note("nothing changed since you last looked");
            } else {
                answer.note("what changed since you last looked");
                answer.lines(lines);
            }
            if cut > 0 {
                answer.note(&format!("cut: {cut} more lines, use a larger max_tokens"));
                answer.set("truncated", true);
            } else {
                views.told(app.pid, seen.clock, clock);
            }
        }
        None if wanted.mode == Mode::None => {
            answer.clock(clock);
            answer.set("mode", "none");
        }
        None => {
            answer.clock(clock);
            answer.set("mode", "full");
            if restarted {
                answer.note("axd was restarted: this is the whole tree");
                answer.set("fresh", true);
            }
            answer.lines(&shown.lines);
            if shown.truncated {
                answer.note(&format!(
                    "cut: {} elements shown, use a larger max_tokens, or a root",
                    shown.nodes
                ));
                answer.set("truncated", true);
            }
            if let Some(way) = way {
                let cut_at = shown.truncated.then_some(wanted.max_tokens);
                views.looked(app.pid, way, Seen { clock, cut_at }, &how);
            }
        }
    }
    if !shown.complete {
        answer.note("the app is still being read: call wait with idle, then look");
        answer.set("complete", false);
    }
    if let Some(root) = shown.root {
        answer.set("root", root);
    }
    answer.app(app);
    answer.lines_in_data();
    Ok(answer)
}

/// Adds to the answer of an action, or of a wait, what the app shows now. `since` is the clock just before it.
pub async fn after(
    call: &Call<'_>,
    pid: u32,
    since: Clock,
    wanted: Wanted,
    answer: &mut Answer,
) -> Result<(), Failure> {
    let views = &call.shared.views;
    if wanted.mode == Mode::None {
        answer.set("mode", "none");
        return Ok(());
    }
    if wanted.mode == Mode::Full {
        return look_again(call, pid, wanted, answer).await;
    }
    // `changes` is what came of this call; `auto` is all that the agent has not been told.
    let latest = views.latest(pid).filter(|latest| latest.boot == since.boot && latest.tick <= since.tick);
    let from = if wanted.mode == Mode::Auto { latest.unwrap_or(since) } else { since };
    let brief = views.last(pid).is_none_or(|how| !how.is_whole());
    let changes = match call.changes(pid, from, brief).await {
        Err(Failure::Axd(error)) if error.code == ErrorCode::ApplicationNotFound => {
            answer.note("the app has ended");
            answer.set("mode", "none");
            return Ok(());
        }
        changes => changes?,
    };
    let clock = changes.clock.unwrap_or(since);
    if changes.fresh || (wanted.mode == Mode::Auto && tokens(&changes.lines) > wanted.max_tokens) {
        return look_again(call, pid, wanted, answer).await;
    }
    answer.clock(clock);
    answer.set("mode", "changes");
    answer.set("since", from);
    let (lines, cut) = within(&changes.lines, wanted.max_tokens);
    if lines.is_empty() {
        answer.note("nothing changed");
    }
    answer.lines(lines);
    if cut > 0 {
        answer.note(&format!("cut: {cut} more lines, call look"));
        answer.set("truncated", true);
    } else {
        views.told(pid, from, clock);
    }
    answer.lines_in_data();
    Ok(())
}

/// Adds the tree, in the way the agent last looked at the app.
async fn look_again(call: &Call<'_>, pid: u32, wanted: Wanted, answer: &mut Answer) -> Result<(), Failure> {
    let how = call.shared.views.last(pid).unwrap_or_else(|| How::at_app(pid));
    let wanted = Wanted { mode: Mode::Full, ..wanted };
    let looked = Box::pin(look(call, how, wanted)).await;
    let looked = match looked {
        // The window that was looked at last may be gone.
        Err(Failure::Axd(error))
            if matches!(
                error.code,
                ErrorCode::WindowNotFound | ErrorCode::ElementNotFound | ErrorCode::StaleRef
            ) =>
        {
            Box::pin(look(call, How::at_app(pid), wanted)).await
        }
        looked => looked,
    };
    match looked {
        Err(Failure::Axd(error)) if error.code == ErrorCode::ApplicationNotFound => {
            answer.note("the app has ended");
            answer.set("mode", "none");
            Ok(())
        }
        looked => {
            answer.append(looked?);
            Ok(())
        }
    }
}

/// The lines that fit into a budget, and how many more there are.
fn within(lines: &str, max_tokens: usize) -> (&str, usize) {
    if tokens(lines) <= max_tokens {
        return (lines, 0);
    }
    let mut end = max_tokens * BYTES_PER_TOKEN;
    while !lines.is_char_boundary(end) {
        end -= 1;
    }
    let end = lines[..end].rfind('\n').map_or(0, |end| end + 1);
    (&lines[..end], lines[end..].lines().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(tick: u64) -> Clock {
        Clock { boot: 1, tick }
    }

    fn way(root: &str) -> Way {
        Way { root: NodeId::parse(root).unwrap(), depth: None, whole: false }
    }

    #[test]
    fn what_was_told_moves_only_the_looks_that_it_reaches_back_to() {
        let views = Views::default();
        let seen = |tick| Seen { clock: clock(tick), cut_at: None };
        views.looked(7, way("win_000001"), seen(10), &How::at_app(7));
        views.looked(7, way("win_000002"), seen(20), &How::at_app(7));
        assert_eq!(views.latest(7), Some(clock(20)));
        views.told(7, clock(20), clock(30));
        let clock_of = |root| views.seen(7, &way(root)).unwrap().clock;
        assert_eq!(clock_of("win_000002"), clock(30));
        assert_eq!(clock_of("win_000001"), clock(10), "what changed between 10 and 20 was never told");
        views.told(7, clock(5), clock(40));
        assert_eq!(clock_of("win_000001"), clock(40));
        views.told(7, clock(5), Clock { boot: 2, tick: 99 });
        assert_eq!(clock_of("win_000001"), clock(40), "clocks of two runs cannot be compared");
    }

    #[test]
    fn a_budget_cuts_between_lines_and_says_how_many_are_left() {
        assert_eq!(within("ab\ncd\n", 10), ("ab\ncd\n", 0));
        let many = "x".repeat(30) + "\n" + &"ä".repeat(30) + "\nlast\n";
        assert_eq!(within(&many, 10), (&many[..31], 2));
        assert_eq!(within(&"ä".repeat(100), 3), ("", 1));
    }

    #[test]
    fn the_clocks_of_apps_that_were_not_looked_at_for_long_are_dropped() {
        let views = Views::default();
        for pid in 0..=MAX_APPS as u32 {
            views.looked(pid, way("win_000001"), Seen { clock: clock(1), cut_at: None }, &How::at_app(pid));
        }
        assert!(views.latest(0).is_none() && views.latest(1).is_some());
    }
}
