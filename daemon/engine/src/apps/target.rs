//! Resolves the subject of a request: app, window, element. Which of several matches a selector means, `one_match` decides.

use std::sync::Arc;

use axd_protocol::selector::{Selector, SelectorError, Target, fold};
use axd_protocol::{Error, ErrorCode, NodeId, NodeRef, Point, Result, Role, Unread};
use tokio::time::Instant;

use crate::Engine;
use crate::apps::app::App;
use crate::apps::one_match::{Choice, Chosen, one_match};
use crate::failure::{Subject, error_of};
use axd_platform::WorkerRequest;
use axd_service::Call;
use axd_tree::{Ix, Resolved, Tree};

/// Where to look for a target.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Where<'a> {
    pub app: Option<&'a str>,
    pub window: Option<&'a str>,
    /// Which of several matches of a selector is taken.
    pub choice: Choice,
}

/// An element that was found. Its id stays valid after the tree is unlocked.
pub(crate) struct Located {
    pub app: Arc<App>,
    pub id: NodeId,
    /// Why it was taken and no other match of its selector.
    pub why: Option<String>,
}

impl Located {
    /// An element that no selector was needed for.
    pub fn at(app: Arc<App>, id: NodeId) -> Located {
        Located { app, id, why: None }
    }
}

impl Engine {
    /// The app of a request: the one it names, else the frontmost. Waits for its first walk.
    pub(crate) async fn app(
        self: &Arc<Self>,
        call: &Call,
        spec: Option<&str>,
        deadline: Instant,
    ) -> Result<Arc<App>> {
        let seen = match spec {
            Some(spec) => self.desktop.read().named(spec)?.clone(),
            None => self.desktop.read().frontmost()?.clone(),
        };
        let app = self.attached(&seen);
        self.permit_app(call, &app)?;
        self.wait_for_walk(&app, deadline).await?;
        Ok(app)
    }

    /// Waits until the first walk of an app is complete, and returns whether it is. Fails at once if apps must not be read.
    pub(crate) async fn wait_for_walk(&self, app: &App, deadline: Instant) -> Result<bool> {
        if app.is_complete() {
            return Ok(true);
        }
        match self.platform.access_error() {
            Some(failure) => Err(error_of(&failure, Subject::Desktop)),
            None => Ok(app.completed(deadline).await),
        }
    }

    /// The one element that a target means.
    pub(crate) async fn locate(
        self: &Arc<Self>,
        call: &Call,
        target: &str,
        place: Where<'_>,
        deadline: Instant,
    ) -> Result<Located> {
        match parse_target(target)? {
            Target::Id(id) => self.locate_id(call, id, place, deadline).await,
            Target::Point { x, y } => self.locate_point(call, Point { x, y }, deadline).await,
            Target::Mark(mark) => self.locate_mark(call, &mark, deadline).await,
            Target::Selector(selector) => {
                let app = self.app(call, place.app.or(selector.leading_app()), deadline).await?;
                let (id, why) = self
                    .search(&app, deadline, |tree| {
                        let root = self.scope(&app, tree, place.window, None)?;
                        let Chosen { ix, why } = one_match(&app, tree, &selector, root, place.choice)?;
                        Ok((tree.id(ix), why))
                    })
                    .await?;
                Ok(Located { app, id, why })
            }
        }
    }

    pub(crate) async fn locate_id(
        self: &Arc<Self>,
        call: &Call,
        id: NodeId,
        place: Where<'_>,
        deadline: Instant,
    ) -> Result<Located> {
        let apps = match place.app {
            Some(spec) => vec![self.app(call, Some(spec), deadline).await?],
            None => self.readable_apps(&self.reader(call)),
        };
        if let Some(found) = among(&apps, id)? {
            self.permit_app(call, &found.app)?;
            return Ok(found);
        }
        // After a restart of the daemon no app is attached yet, but ids are unchanged.
        if place.app.is_none()
            && let Ok(app) = self.app(call, None, deadline).await
            && let Some(found) = among(&[app], id)?
        {
            return Ok(found);
        }
        if let Some(warming) = apps.iter().find(|app| !app.is_complete()) {
            return Err(still_reading(warming));
        }
        Err(Error::new(ErrorCode::ElementNotFound, format!("{id} not found"))
            .suggest(
                "take a new `ax snapshot`; if the app of this id is not attached yet, name it with --app",
            )
            .retry("snapshot"))
    }

    /// The deepest element at a point of the screen.
    pub(crate) async fn locate_point(
        self: &Arc<Self>,
        call: &Call,
        point: Point,
        deadline: Instant,
    ) -> Result<Located> {
        let nothing =
            || Error::new(ErrorCode::ElementNotFound, format!("no element at {},{}", point.x, point.y));
        let seen = {
            let desktop = self.desktop.read();
            let window = desktop
                .window_at(point)
                .ok_or_else(|| nothing().suggest("run `ax list-windows` to see where windows are"))?;
            desktop.by_pid(window.pid).cloned().ok_or_else(nothing)?
        };
        let app = self.attached(&seen);
        self.permit_app(call, &app)?;
        self.wait_for_walk(&app, deadline).await?;
        self.locate_point_in(app, point, deadline).await
    }

    /// The deepest element of an app at a point of the screen, whatever covers it.
    pub(crate) async fn locate_point_in(
        &self,
        app: Arc<App>,
        point: Point,
        deadline: Instant,
    ) -> Result<Located> {
        let nothing =
            || Error::new(ErrorCode::ElementNotFound, format!("no element at {},{}", point.x, point.y));
        let hit = app.ask(deadline, |reply| WorkerRequest::HitTest { point, reply }).await?;
        let Some(key) = hit else { return Err(nothing()) };
        let tree = app.tree.read();
        let id = tree.by_key(key).map(|ix| tree.id(ix)).ok_or_else(nothing)?;
        drop(tree);
        Ok(Located::at(app, id))
    }

    /// The root of a search: `root` within `window` within the app.
    pub(crate) fn scope(
        &self,
        app: &Arc<App>,
        tree: &Tree,
        window: Option<&str>,
        root: Option<&str>,
    ) -> Result<Ix> {
        let top = tree.root().ok_or_else(|| no_tree(app))?;
        let within = match window {
            Some(window) => find_window(app, tree, window)?,
            None => top,
        };
        match root.map(parse_target).transpose()? {
            None => Ok(within),
            Some(Target::Id(id)) => alive(app, tree, id),
            Some(Target::Selector(selector)) => {
                Ok(one_match(app, tree, &selector, within, Choice::Exact)?.ix)
            }
            Some(Target::Point { .. } | Target::Mark(_)) => {
                Err(Error::new(ErrorCode::InvalidArgs, "root must be an element, not a point").suggest(
                    "use an id or a selector; `ax element-at X,Y` shows the id of the element at a point",
                ))
            }
        }
    }

    /// The default window of a snapshot: the active one, else the one with the focus, else the first.
    pub(crate) fn focused_window(&self, tree: &Tree) -> Option<Ix> {
        let active = self.desktop.read().active_window;
        let by_number =
            active.and_then(|active| tree.windows().find(|ix| tree.window_number(*ix) == Some(active)));
        let by_focus = || {
            tree.focused().and_then(|focused| tree.windows().find(|window| tree.is_within(focused, *window)))
        };
        by_number.or_else(by_focus).or_else(|| tree.windows().next())
    }
}

/// The slot of an id that was found earlier, if the element still exists now that the tree is locked again.
pub(crate) fn alive(app: &App, tree: &Tree, id: NodeId) -> Result<Ix> {
    match tree.resolve(id) {
        Resolved::Alive(ix) => Ok(ix),
        Resolved::Dead { was, candidates } => Err(stale(app, tree, &was, candidates)),
        Resolved::Unknown => {
            Err(Error::new(ErrorCode::ElementNotFound, format!("{id} not found in {}", app.seen().name)))
        }
    }
}

/// Parses a target; the error shows where parsing failed.
pub(crate) fn parse_target(text: &str) -> Result<Target> {
    Target::parse(text).map_err(|fault| invalid_selector(&fault))
}

/// Parses a selector; the error shows where parsing failed.
pub(crate) fn parse_selector(text: &str) -> Result<Selector> {
    Selector::parse(text).map_err(|fault| invalid_selector(&fault))
}

fn invalid_selector(fault: &SelectorError) -> Error {
    let error = Error::new(ErrorCode::InvalidArgs, format!("selector: {}", fault.position()));
    match &fault.hint {
        Some(hint) => error.suggest(hint.clone()),
        None => error.suggest("selectors look like button:Save, list > row:nth(3) or *[text~=\"total\"]"),
    }
}

/// The element with an id, in one of these apps.
pub(crate) fn among(apps: &[Arc<App>], id: NodeId) -> Result<Option<Located>> {
    let mut dead = None;
    let mut found: Option<Located> = None;
    for app in apps {
        let tree = app.tree.read();
        match tree.resolve(id) {
            Resolved::Alive(_) if found.is_some() => {
                return Err(Error::new(
                    ErrorCode::AmbiguousTarget,
                    format!("{id} names an element in more than one app"),
                )
                .suggest("name the app with --app"));
            }
            Resolved::Alive(_) => found = Some(Located::at(Arc::clone(app), id)),
            Resolved::Dead { was, candidates } => dead = Some(stale(app, &tree, &was, candidates)),
            Resolved::Unknown => {}
        }
    }
    match (found, dead) {
        (Some(found), _) => {
            found.app.touch();
            Ok(Some(found))
        }
        (None, Some(error)) => Err(error),
        (None, None) => Ok(None),
    }
}

fn stale(app: &App, tree: &Tree, was: &NodeRef, candidates: Vec<NodeRef>) -> Error {
    let name = app.seen().name;
    let mut what = String::new();
    axd_protocol::text::write_ref(was, &mut what);
    if let Some(unread) = tree.unseen_in(was.id) {
        let said = format!("{what} is out of view in {name}");
        let error = Error::new(ErrorCode::StaleRef, said).candidates(candidates);
        return not_looked_at(error, vec![unread]);
    }
    let again = match &was.name {
        Some(text) if !text.is_empty() => format!("find '{}:{}' --app '{name}'", was.role, quoted(text)),
        _ => format!("snapshot --app '{name}'"),
    };
    let said = match app.how_ended() {
        Some(how) => format!("{what} is gone: {name} {how}"),
        None => format!("{what} is gone from {name}"),
    };
    Error::new(ErrorCode::StaleRef, said).candidates(candidates).retry(again)
}

fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    axd_protocol::text::quote(text, &mut quoted);
    quoted
}

fn no_tree(app: &App) -> Error {
    if app.is_complete() {
        Error::new(
            ErrorCode::ApplicationNotFound,
            match app.how_ended() {
                Some(how) => format!("{} {how}", app.seen().name),
                None => format!("{} has no visible content", app.seen().name),
            },
        )
    } else {
        still_reading(app)
    }
}

pub(crate) fn still_reading(app: &App) -> Error {
    Error::new(ErrorCode::Timeout, format!("{} is still being read for the first time", app.seen().name))
        .suggest("try again, or increase --deadline-ms")
}

/// Adds to an error that containers were only partly read, so the search was incomplete.
pub(crate) fn not_looked_at(error: Error, unread: Vec<Unread>) -> Error {
    let Some(first) = unread.first() else { return error };
    let what = match first.node.role {
        Role::Menu => {
            "read the items of closed menus with `ax find menuitem`, or pick one with `ax menu`".to_owned()
        }
        _ => format!(
            "search all of it with `ax find --deep`, or scroll to a row with `ax scroll-to {} --row N`",
            first.node.id
        ),
    };
    let said = format!("{}; not all of it was searched", error.message);
    Error { message: said, retry_command: None, ..error }.suggest(what).unread(unread)
}

/// The suggestion of errors with candidates.
pub(crate) const CANDIDATES_HINT: &str =
    "use one of the candidates if it is the right one; otherwise see `ax snapshot`";

/// The window with an id, a number or a title: the whole title, else a part of it.
fn find_window(app: &App, tree: &Tree, spec: &str) -> Result<Ix> {
    let windows: Vec<Ix> = tree.windows().collect();
    let by_id = NodeId::parse(spec).and_then(|id| windows.iter().copied().find(|ix| tree.id(*ix) == id));
    let by_number = || {
        spec.parse()
            .ok()
            .and_then(|number| windows.iter().copied().find(|ix| tree.window_number(*ix) == Some(number)))
    };
    if let Some(ix) = by_id.or_else(by_number) {
        return Ok(ix);
    }
    let wanted = fold(spec);
    let title = |ix: &Ix| fold(tree.name(*ix).unwrap_or_default()).into_owned();
    let whole: Vec<Ix> = windows.iter().copied().filter(|ix| title(ix) == wanted).collect();
    let part = || windows.iter().copied().filter(|ix| title(ix).contains(&*wanted)).collect();
    let matching = if whole.is_empty() { part() } else { whole };
    let refs = |windows: &[Ix]| windows.iter().map(|ix| tree.node_ref(*ix)).collect();
    match matching[..] {
        [ix] => Ok(ix),
        [] if !app.is_complete() => Err(still_reading(app)),
        [] => {
            Err(Error::new(ErrorCode::WindowNotFound, format!("{} has no window '{spec}'", app.seen().name))
                .candidates(refs(&windows))
                .retry(format!("list-windows --app '{}'", app.seen().name)))
        }
        _ => Err(Error::new(
            ErrorCode::AmbiguousTarget,
            format!("{} windows of {} are called '{spec}'", matching.len(), app.seen().name),
        )
        .candidates(refs(&matching))),
    }
}
