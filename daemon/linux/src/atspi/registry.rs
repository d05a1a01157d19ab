//! Which apps are on the accessibility bus, and what they are called.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::task::JoinSet;
use tracing::debug;

use crate::atspi::dbus::{Link, bus_call, call, get};
use crate::atspi::protocol::{ACCESSIBLE, REGISTRY, ROOT, Ref, body, text};
use crate::launch;
use crate::process;
use crate::read::handles::Handle;
use axd_platform::RunningApp;

/// An app on the bus.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    /// Its own element.
    pub root: Handle,
    /// As the desktop sees it.
    pub seen: RunningApp,
    /// Whether it is known to act late, which its worker finds out.
    pub late: Arc<AtomicBool>,
}

/// The apps the registry lists.
pub(crate) async fn list(calls: &Link) -> Vec<Handle> {
    let answer = calls.ask(call(REGISTRY, ROOT, ACCESSIBLE, "GetChildren", &())).await;
    let refs: Vec<Ref> = answer.ok().as_ref().and_then(body).unwrap_or_default();
    let apps = refs.iter().filter(|at| at.is_some());
    apps.map(|at| Handle { bus: at.bus.as_str().into(), path: at.path.as_str().into() }).collect()
}

/// What these apps are, all asked at once: one that hangs delays nobody by more than its own patience.
pub(crate) async fn describe_all(calls: &Link, roots: Vec<Handle>) -> Vec<Listed> {
    let mut asking = JoinSet::new();
    for (order, root) in roots.into_iter().enumerate() {
        let calls = calls.clone();
        asking.spawn(async move { (order, describe(&calls, root).await) });
    }
    let mut found = Vec::new();
    while let Some(answer) = asking.join_next().await {
        if let Ok((order, Some(listed))) = answer {
            found.push((order, listed));
        }
    }
    found.sort_by_key(|(order, _)| *order);
    found.into_iter().map(|(_, listed)| listed).collect()
}

/// What one app is. `None` if it is gone, or this daemon itself.
pub(crate) async fn describe(calls: &Link, root: Handle) -> Option<Listed> {
    let answer = calls.ask(bus_call("GetConnectionUnixProcessID", &(&*root.bus,))).await.ok()?;
    let pid: u32 = body(&answer)?;
    if pid == std::process::id() {
        return None;
    }
    let name = calls.ask(get(&root.bus, &root.path, ACCESSIBLE, "Name")).await;
    let name = name.ok().as_ref().and_then(text).filter(|name| !name.is_empty());
    let program = process::of_process(pid);
    let identity = program.or_else(|| name.clone()).unwrap_or_else(|| format!("pid-{pid}"));
    let name = name.unwrap_or_else(|| identity.clone());
    // Reading files is nothing to wait for here.
    let program = process::executable(pid);
    let of = identity.clone();
    let aliases = tokio::task::spawn_blocking(move || launch::aliases(&of, program.as_deref()));
    let aliases = aliases.await.unwrap_or_default();
    debug!(pid, name, identity, ?aliases, bus = &*root.bus, "an app");
    Some(Listed { root, seen: RunningApp { pid, name, identity, aliases }, late: Arc::default() })
}
